#include "ir/ptx/opcodes.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace regduel::ir::ptx {
namespace {

constexpr std::uint16_t kBoth = kMemRead | kMemWrite;

struct Row {
  std::string_view root;
  Destination destination;
  std::uint16_t flags = 0;
};
using enum Destination;

// In alphabetical order, for the search. Roots whose flags depend on more than the root are completed in classify().
constexpr Row kRows[] = {
    {"abs", Required},
    {"activemask", Required, kConvergent},
    {"add", Required, kCommutative},
    {"addc", Required, kCommutative},
    {"alloca", Required, kBoth},
    {"and", Required, kCommutative},
    {"applypriority", None, kMemRead},
    {"atom", Required, kBoth},
    {"bar", None, kBarrier | kConvergent},
    {"barrier", None, kBarrier | kConvergent},
    {"bfe", Required},
    {"bfi", Required},
    {"bfind", Required},
    {"bmsk", Required},
    {"brev", Required},
    {"brkpt", None, kMemWrite},
    {"clusterlaunchcontrol", IfAny, kBoth},
    {"clz", Required},
    {"cnot", Required},
    {"copysign", Required},
    {"cos", Required},
    {"cp", None, kBoth},
    {"createpolicy", Required},
    {"cvt", Required},
    {"cvta", Required},
    {"discard", None, kMemWrite},
    {"div", Required},
    {"dp2a", Required},
    {"dp4a", Required},
    {"elect", Required, kConvergent},
    {"ex2", Required},
    {"fence", None, kBarrier | kConvergent},
    {"fma", Required, kCommutative},
    {"fns", Required},
    {"getctarank", Required},
    {"griddepcontrol", None, kBoth | kConvergent},
    {"isspacep", Required},
    {"istypep", Required},
    {"ld", Required, kMemRead},
    {"ldmatrix", Required, kMemRead | kConvergent},
    {"ldu", Required, kMemRead | kReadOnly},
    {"lg2", Required},
    {"lop3", Required},
    {"mad", Required, kCommutative},
    {"mad24", Required, kCommutative},
    {"madc", Required, kCommutative},
    {"mapa", Required},
    {"match", Required, kConvergent},
    {"max", Required, kCommutative},
    {"mbarrier", IfAny, kBoth},
    {"membar", None, kBarrier | kConvergent},
    {"min", Required, kCommutative},
    {"mma", Required, kConvergent},
    {"mov", Required},
    {"movmatrix", Required, kConvergent},
    {"mul", Required, kCommutative},
    {"mul24", Required, kCommutative},
    {"multimem", IfAny, kBoth},
    {"nanosleep", None},
    {"neg", Required},
    {"not", Required},
    {"or", Required, kCommutative},
    {"pmevent", None, kMemWrite},
    {"popc", Required},
    {"prefetch", None, kMemRead},
    {"prefetchu", None, kMemRead},
    {"prmt", Required},
    {"rcp", Required},
    {"red", None, kBoth},
    {"redux", Required, kConvergent},
    {"rem", Required},
    {"rsqrt", Required},
    {"sad", Required},
    {"selp", Required},
    {"set", Required},
    {"setmaxnreg", None, kConvergent},
    {"setp", Required},
    {"shf", Required},
    {"shfl", Required, kConvergent},
    {"shl", Required},
    {"shr", Required},
    {"sin", Required},
    {"slct", Required},
    {"sqrt", Required},
    {"st", None, kMemWrite},
    {"stackrestore", None, kMemWrite},
    {"stacksave", Required, kMemRead},
    {"stmatrix", None, kMemWrite | kConvergent},
    {"sub", Required},
    {"subc", Required},
    {"suld", Required, kMemRead},
    {"suq", Required},
    {"sured", None, kBoth},
    {"sust", None, kMemWrite},
    {"szext", Required},
    {"tanh", Required},
    {"tensormap", None, kBoth},
    {"testp", Required},
    {"tex", Required, kMemRead},
    {"tld4", Required, kMemRead},
    {"trap", None, kMemWrite},
    {"txq", Required},
    {"vote", Required, kConvergent},
    {"wgmma", None, kBoth | kConvergent},
    {"wmma", Required, kConvergent},
    {"xor", Required, kCommutative},
};
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), [](const Row& a, const Row& b) { return a.root < b.root; }));

}  // namespace

Opcode::Opcode(std::string_view opcode) : text(opcode) {
  for (std::size_t begin = 0;;) {
    const std::size_t dot = opcode.find('.', begin);
    parts.push_back(opcode.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return;
    begin = dot + 1;
  }
}

bool Opcode::has(std::string_view part) const { return std::find(parts.begin() + 1, parts.end(), part) != parts.end(); }

TypeInfo Opcode::type() const {
  for (std::size_t k = parts.size(); k-- > 1;)
    if (const TypeInfo t = type_from_name(parts[k]); t.bits != 0) return t;
  return {};
}

OpcodeInfo classify(const Opcode& o, bool has_address) {
  OpcodeInfo info;
  const std::string_view root = o.root();
  const auto* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), root, [](const Row& r, std::string_view name) { return r.root < name; });
  const auto add = [&](int flags) { info.flags = static_cast<std::uint16_t>(info.flags | flags); };
  const auto drop = [&](int flags) { info.flags = static_cast<std::uint16_t>(info.flags & ~flags); };
  if (row == std::end(kRows) || row->root != root) {
    if (has_address) add(kBoth);
    if (o.has("sync")) add(kConvergent);
    if (root == "tcgen05") {
      add(kBoth | kConvergent);
      // The address operand of tcgen05.dealloc is a register without brackets.
      if (!o.has("ld")) info.destination = None;
    }
    return info;
  }
  info.is_known = true;
  info.destination = row->destination;
  info.flags = row->flags;
  info.carry_in = root == "addc" || root == "subc" || root == "madc";
  info.carry_out = o.has("cc");
  if (root == "bar" || root == "barrier") {
    if (o.has("red")) info.destination = Required;
    else info.is_barrier = true;
  } else if (root == "fence" || root == "membar") {
    info.is_barrier = true;
  } else if (root == "ld") {
    if (o.has("nc") || o.has("const")) add(kReadOnly);
  } else if (root == "wmma") {
    if (o.has("load")) add(kMemRead);
    if (o.has("store")) {
      add(kMemWrite);
      info.destination = None;
    }
  } else if (root == "wgmma") {
    if (o.has("mma_async")) info.destination = Updated;
  } else if (root == "mbarrier") {
    // init, inval, expect_tx and complete_tx return nothing; arrive and the tests begin with what they return, or with "_".
    if (o.has("pending_count")) drop(kBoth);
  }
  if (o.has("sync")) add(kConvergent);
  return info;
}

}  // namespace regduel::ir::ptx
