#include "llvm/mapping/rir.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace regduel::llvm {
namespace {

std::string in_quotes(std::string_view s) {
  std::string text = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F)
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else text += c;
  }
  return text + "\"";
}

std::string ranges(const std::set<int>& units) {
  std::string text;
  for (auto it = units.begin(); it != units.end();) {
    const int first = *it;
    int last = first;
    while (++it != units.end() && *it == last + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += first == last ? fmt::format("ACC{}", first) : fmt::format("ACC{}:ACC{}", first, last);
  }
  return text;
}

}  // namespace

std::string print(const RirInst& i, const NameOf& name, bool with_attributes) {
  std::string s = fmt::format("#{} ", i.id);
  if (i.kind == RirKind::Terminator) {
    if (i.successors.empty()) return s + "exit";
    if (i.successors.size() == 1) return s + fmt::format("bra -> b{}", i.successors[0]);
    s += fmt::format("mbra {} -> ", name(i.uses.at(0)));
    for (std::size_t k = 0; k < i.successors.size(); ++k) s += fmt::format("{}b{}", k ? ", " : "", i.successors[k]);
    return s;
  }
  for (std::size_t k = 0; k < i.defs.size(); ++k) {
    s += (k ? ", " : "") + name(i.defs[k]);
    if (with_attributes && !i.defs[k].attribute.empty()) s += "{" + i.defs[k].attribute + "}";
  }
  if (!i.defs.empty()) s += " = ";
  s += i.kind == RirKind::Copy ? "copy" : in_quotes(i.op);
  std::string uses;
  for (const RirOperand& u : i.uses) uses += (uses.empty() ? " " : ", ") + name(u);
  if (!i.text.empty()) uses += (uses.empty() ? " " : ", ") + in_quotes(i.text);
  s += uses;
  if (!i.clobbers.empty()) s += " clobbers " + ranges(i.clobbers);
  return s + i.flags;
}

std::string deleted(const RirInst& i) {
  return fmt::format("#{} {}{} !deleted", i.id, i.kind == RirKind::Copy ? "copy" : in_quotes(i.op), i.flags);
}

std::string text_of(const Inst& i, const Dump& dump, const Cells& cells, const Tables& tables) {
  std::string s;
  const auto add = [&](const std::string& word) { s += (s.empty() ? "" : " ") + word; };
  for (const Operand& o : i.ops) switch (o.kind) {
      case OperandKind::Mask: add("mask"); break;
      case OperandKind::Immediate: add(fmt::format("{}", o.value)); break;
      case OperandKind::Frame: add(fmt::format("fi{}", o.value)); break;
      case OperandKind::Block: add(fmt::format("bb{}", o.value)); break;
      case OperandKind::Text: add(o.text); break;
      case OperandKind::Register:
        if (o.is_implicit || cells.sees(o, dump)) break;
        // Of a vreg that is left out, the number may change: splits.
        add(o.vreg >= 0 ? "%" + o.sub : o.preg >= 0 ? "$" + tables.registers[o.preg].name : "$");
        break;
    }
  return s;
}

bool is_no_code(const Inst& i) {
  constexpr std::array<std::string_view, 4> names = {"LIFETIME_START", "LIFETIME_END", "BUNDLE", "ANNOTATION_LABEL"};
  return i.has('B') || (i.has('z') && i.op != "IMPLICIT_DEF") || std::ranges::find(names, i.op) != names.end();
}

}  // namespace regduel::llvm
