#include "ir/ptx/opcodes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regduel::ir::ptx {
namespace {

constexpr std::uint16_t kBoth = kMemRead | kMemWrite;

using enum Destination;

struct Row {
  std::string_view roots;  // with one space between them
  Destination destination;
  std::uint16_t flags = 0;
};

// Roots whose flags depend on more than the root are completed in classify().
constexpr Row kRows[] = {
    {"abs bfe bfi bfind bmsk brev clz cnot copysign cos createpolicy cvt cvta div dp2a dp4a ex2 fns getctarank isspacep istypep "
     "lg2 "
     "lop3 mapa mov neg not popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc suq szext tanh testp txq",
     Required},
    {"vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl "
     "vshr vsub vsub2 vsub4",
     Required},
    {"add addc and fma mad mad24 madc max min mul mul24 or xor", Required, kCommutative},
    {"activemask elect match mma movmatrix redux shfl vote wmma", Required, kConvergent},
    {"ld stacksave suld tex tld4", Required, kMemRead},
    {"ldmatrix", Required, kMemRead | kConvergent},
    {"ldu", Required, kMemRead | kReadOnly},
    {"alloca atom", Required, kBoth},
    {"clusterlaunchcontrol mbarrier multimem", IfAny, kBoth},
    {"nanosleep", None},
    {"setmaxnreg", None, kConvergent},
    {"applypriority prefetch prefetchu", None, kMemRead},
    {"brkpt discard pmevent st stackrestore sust trap", None, kMemWrite},
    {"stmatrix", None, kMemWrite | kConvergent},
    {"cp red sured tensormap", None, kBoth},
    {"griddepcontrol tcgen05 wgmma", None, kBoth | kConvergent},
    {"bar barrier fence membar", None, kBarrier | kConvergent},
};

bool lists(const Row& row, std::string_view root) {
  for (std::size_t at = row.roots.find(root); at != std::string_view::npos; at = row.roots.find(root, at + 1)) {
    const std::size_t end = at + root.size();
    if ((at == 0 || row.roots[at - 1] == ' ') && (end == row.roots.size() || row.roots[end] == ' ')) return true;
  }
  return false;
}

// `has_address`: some operand is an address.
OpcodeInfo classify(const Opcode& o, bool has_address) {
  OpcodeInfo info;
  const std::string_view root = o.root();
  const Row* const row = std::ranges::find_if(kRows, [&](const Row& r) { return lists(r, root); });
  const auto add = [&](int flags) { info.flags = static_cast<std::uint16_t>(info.flags | flags); };
  const auto drop = [&](int flags) { info.flags = static_cast<std::uint16_t>(info.flags & ~flags); };
  if (row == std::end(kRows)) {
    if (has_address) add(kBoth);
    if (o.has("sync")) add(kConvergent);
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
  } else if (root == "tcgen05") {
    if (o.has("ld")) info.destination = IfAny;  // and a second one with .red
  } else if (root == "wgmma") {
    if (o.has("mma_async")) info.destination = Updated;
  } else if (root == "mbarrier") {
    // init, inval, expect_tx and complete_tx return nothing; arrive and the tests begin with what they return, or with "_".
    if (o.has("pending_count")) drop(kBoth);
  }
  if (o.has("sync")) add(kConvergent);
  return info;
}

Opcode::Kind kind_of(std::string_view root) {
  using enum Opcode::Kind;
  static constexpr std::pair<std::string_view, Opcode::Kind> kKinds[] = {{"ld", Ld},     {"ldu", Ldu}, {"st", St},     {"mov", Mov},
                                                                         {"call", Call}, {"ret", Ret}, {"exit", Exit}, {"bra", Bra},
                                                                         {"brx", Brx},   {"mma", Mma}, {"wmma", Mma}};
  for (const auto& [name, kind] : kKinds)
    if (name == root) return kind;
  return Other;
}

}  // namespace

Opcode::Opcode(std::string_view opcode) : text(opcode) {
  const std::string_view whole = text;
  for (std::size_t begin = 0, dot = 0; dot != std::string_view::npos; begin = dot + 1) {
    dot = whole.find('.', begin);
    parts.push_back(whole.substr(begin, dot - begin));
  }
  for (std::size_t k = parts.size(); k-- > 1 && type.bits == 0;) type = type_from_name(parts[k]);
  kind = kind_of(root());
  if (kind == Kind::Mma && root() == "wmma" && !has("mma")) kind = Kind::Other;
  is_param_space =
      std::any_of(parts.begin(), parts.end(), [](std::string_view p) { return p == "param" || p.starts_with("param::"); });
  info = classify(*this, false);
  info_of_addresses = classify(*this, true);
}

bool Opcode::has(std::string_view part) const { return std::find(parts.begin() + 1, parts.end(), part) != parts.end(); }

const Opcode& OpcodeTable::find(std::string_view text) {
  if (const int known = index_.find(text); known >= 0) return opcodes_[static_cast<std::size_t>(known)];
  Opcode& o = opcodes_.emplace_back(text);
  o.index = static_cast<int>(opcodes_.size()) - 1;
  index_.insert(o.text, o.index);
  return o;
}

}  // namespace regduel::ir::ptx
