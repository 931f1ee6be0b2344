// The text of mir_program.h, as LLVM's MIR parser reads it.
#include <fmt/format.h>

#include "llvm/random/mir_program.h"

namespace regduel::llvm {
namespace {

using Kind = MirItem::Kind;

std::string text(const MirItem& i) { return i.vreg >= 0 ? fmt::format("%{}{}", i.vreg, i.sub) : i.preg; }

// Flag words of inline assembly, as LLVM defines them: the kind, and 8 for one register; with the upper bit set the rest says which operand it is tied to.
constexpr unsigned kUse = 9, kDef = 10, kEarlyDef = 11, kClobber = 12, kTied = 0x80000000;

// Of the def that a use is tied to, the number among the operand groups, and among the operands: a string and the flags of the
// whole stand before the first, and each is a flag word and a register.
std::string operand(const MirItem& i) {
  switch (i.kind) {
    case Kind::Def: return fmt::format("{}, def {}", kDef, text(i));
    case Kind::EarlyDef: return fmt::format("{}, def early-clobber {}", kEarlyDef, text(i));
    case Kind::Use: return fmt::format("{}, {}", kUse, text(i));
    case Kind::TiedUse:
      return fmt::format("{}, {}(tied-def {})", kTied | static_cast<unsigned>(i.tied) << 16 | kUse, text(i), 3 + 2 * i.tied);
    case Kind::Clobber: return fmt::format("{}, implicit-def dead early-clobber {}", kClobber, text(i));
  }
  return "";
}

// Defs stand first.
MirOperation sorted(const MirOperation& o) {
  MirOperation result;
  std::vector<int> now(o.items.size());
  for (const bool defs : {true, false})
    for (std::size_t k = 0; k < o.items.size(); ++k)
      if (o.items[k].is_def() == defs) now[k] = static_cast<int>(result.items.size()), result.items.push_back(o.items[k]);
  for (MirItem& i : result.items)
    if (i.tied >= 0) i.tied = now[static_cast<std::size_t>(i.tied)];
  return result;
}

std::string text(const MirOperation& o) {
  if (o.is_copy) return fmt::format("    {} = COPY {}\n", text(o.items[0]), text(o.items[1]));
  std::string s = "    INLINEASM &\"nop\", 1";
  for (const MirItem& i : sorted(o).items) s += ", " + operand(i);
  return s + "\n";
}

std::string branches(const MirBlock& b, const Machine& m) {
  if (b.successors.empty()) return fmt::format("    {}\n", m.end);
  std::string s;
  for (std::size_t k = 0; k + 1 < b.successors.size(); ++k)
    s += "    " + fmt::format(fmt::runtime(m.branch), b.successors[k]) + "\n";
  return s + "    " + fmt::format(fmt::runtime(m.jump), b.successors.back()) + "\n";
}

std::string text(const MirFunction& f, const Machine& m, std::size_t number) {
  std::string s = fmt::format("---\nname: p{}\ntracksRegLiveness: true\nregisters:\n", number);
  for (std::size_t v = 0; v < f.classes.size(); ++v) s += fmt::format("  - {{ id: {}, class: {} }}\n", v, f.classes[v]);
  s += std::string(m.function_info) + "body: |\n";
  for (const MirBlock& b : f.blocks) {
    s += fmt::format("  bb.{}:\n", b.number);
    for (std::size_t k = 0; k < b.successors.size(); ++k)
      s += fmt::format("{}%bb.{}{}", k == 0 ? "    successors: " : ", ", b.successors[k], k + 1 == b.successors.size() ? "\n" : "");
    s += "\n";
    for (const MirOperation& o : b.operations) s += text(o);
    s += branches(b, m);
  }
  return s + "...\n";
}

}  // namespace

std::string mir_file(std::span<const MirFunction> functions, const Machine& m) {
  std::string s = fmt::format("--- |\n  target triple = \"{}\"\n", m.triple);
  for (std::size_t k = 0; k < functions.size(); ++k)
    s += fmt::format("  define {}void @p{}() #0 {{ ret void }}\n", m.calling_convention, k);
  s += "  attributes #0 = { " + fmt::format(fmt::runtime(m.attributes), m.cpu) + " }\n...\n";
  for (std::size_t k = 0; k < functions.size(); ++k) s += text(functions[k], m, k);
  return s;
}

}  // namespace regduel::llvm
