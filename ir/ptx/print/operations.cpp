#include "ir/ptx/print/operations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regduel::ir::ptx {
namespace {

// One letter an operand of PTX, in order, after the destination:
//   A  an address         T  a texture or a surface, with coordinates
//   M  the address of a map of a tensor, with coordinates           O  offsets in its image, two fewer than it has dimensions
//   X  one operand        V  one operand, a vector where the opcode has .v2 or the like
//   F  a fragment         D  a fragment or a descriptor
//   ?  whatever is left
struct Pattern {
  std::string_view root;
  std::string_view with;  // a modifier that the opcode has, "" = any; with "-", one that it has not
  std::string_view operands;
};
constexpr Pattern kPatterns[] = {
    {"ld", "", "A?"},
    {"ldu", "", "A?"},
    {"st", "async", "AVA"},
    {"st", "bulk", "AXX"},
    {"st", "", "AV?"},
    {"atom", "cas", "AXX?"},
    {"atom", "", "AV?"},
    {"red", "async", "AVA"},
    {"red", "", "AV?"},
    {"prefetch", "", "A"},
    {"prefetchu", "", "A"},
    {"applypriority", "", "AX"},
    {"discard", "", "AX"},
    {"ldmatrix", "", "A"},
    {"stmatrix", "", "AF"},
    {"multimem", "ld_reduce", "A"},
    {"multimem", "", "AV"},
    {"cp", "commit_group", ""},
    {"cp", "wait_all", ""},
    {"cp", "wait_group", "X"},
    {"cp", "mbarrier", "A"},
    {"cp", "prefetch", "AX?"},
    {"cp", "mbarrier::complete_tx::bytes", "AAXA?"},
    {"cp", "", "AAX?"},
    {"mbarrier", "init", "AX"},
    {"mbarrier", "inval", "A"},
    {"mbarrier", "expect_tx", "AX"},
    {"mbarrier", "complete_tx", "AX"},
    {"mbarrier", "noComplete", "AX"},
    {"mbarrier", "test_wait", "AX"},
    {"mbarrier", "try_wait", "AX?"},
    {"mbarrier", "pending_count", "X"},
    {"mbarrier", "", "A?"},
    {"wmma", "load", "A?"},
    {"wmma", "store", "AF?"},
    {"wmma", "", "FFF"},
    {"mma", "block_scale", "FFFXBXB"},
    {"mma", "", "FFF?"},
    {"wgmma", "mma_async", "D?"},
    {"tex", "", "T?"},
    {"tld4", "", "T?"},
    {"suld", "", "T?"},
    {"sust", "", "TV"},
    {"sured", "", "TX"},
    {"txq", "level", "AX"},
    {"suq", "", "A"},
    {"txq", "", "A"},
    {"fence", "tensormap::generic", "AX"},
    {"createpolicy", "range", "AXX"},
    {"createpolicy", "range::global", "AXX"},
    {"tensormap", "cp_fenceproxy", "AAX"},
    {"tensormap", "box_dim", "AXX"},
    {"tensormap", "global_dim", "AXX"},
    {"tensormap", "global_stride", "AXX"},
    {"tensormap", "element_stride", "AXX"},
    {"tensormap", "", "AX"},
};

// The dimensions of a copy of a tensor, 0 of others.
int tensor_dimensions(const Opcode& o) {
  const auto at = std::ranges::find(o.parts, "tensor");
  return at == o.parts.end() || at + 1 == o.parts.end() || !(at + 1)->ends_with('d') ? 0 : (*(at + 1))[0] - '0';
}

std::string_view pattern_of(const Opcode& o) {
  if (o.root() == "cp" && tensor_dimensions(o) > 0) {
    if (o.has("prefetch")) return o.has("im2col") ? "MO?" : "M?";
    if (o.has("mbarrier::complete_tx::bytes")) return o.has("im2col") ? "AMAO?" : "AMA?";
    return "MA?";
  }
  for (const Pattern& p : kPatterns)
    if (p.root == o.root() && (p.with.empty() || o.has(p.with))) return p.operands;
  return "?";
}

// The N of .v2, .v4 and the like, or of .x4 of matrices; 0 = none.
int vector_length(const Opcode& o) {
  for (std::size_t k = 1; k < o.parts.size(); ++k) {
    const std::string_view p = o.parts[k];
    int n = 0;
    if (p.size() < 2 || (p[0] != 'v' && p[0] != 'x')) continue;
    const auto [end, error] = std::from_chars(p.data() + 1, p.data() + p.size(), n);
    if (error == std::errc() && end == p.data() + p.size()) return n;
  }
  return 0;
}

bool is_matrix(const Opcode& o) {
  return o.root() == "mma" || o.root() == "wmma" || o.root() == "wgmma" || o.root() == "ldmatrix" || o.root() == "stmatrix";
}

bool is_texture(const Opcode& o) {
  return o.root() == "tex" || o.root() == "tld4" || o.root() == "suld" || o.root() == "sust" || o.root() == "sured";
}

// A tuple that the reader made of a vector in braces has no name, a register has one.
bool is_in_braces(const Function& f, const Operand& op) { return op.is_vreg() && !f.vreg(f.root(op.vreg())).name.is_valid(); }

bool is_video(const Opcode& o) {
  for (const std::string_view root : {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vavrg"})
    if (o.root().starts_with(root)) return true;
  return false;
}

bool has_fragments(std::string_view pattern) { return pattern.find_first_of("FD") != std::string_view::npos; }

// A number whose type is not that of the instruction.
TypeInfo type_of_number(const Opcode& o, std::size_t use) {
  if ((o.root() == "shl" || o.root() == "shr") && use == 1) return {TypeKind::U, 32};
  if (o.root() == "wgmma" || o.root() == "mma" || o.root() == "wmma") return {TypeKind::S, 32};
  if (o.root() == "createpolicy" && o.has("fractional")) return {TypeKind::F, 32};
  if (o.root() == "slct" && o.parts.size() > 2) return type_from_name(o.parts[o.parts.size() - 2]);
  return o.type;
}

// The operands of one instruction as text, from left to right.
class Operands {
 public:
  Operands(const Function& f, const Inst& i, const Opcode& o, const NameOf& name_of, Lines& lines)
      : f_(f), i_(i), o_(o), name_of_(name_of), lines_(lines), uses_(uses_of(f.operands_of(i))), defs_(defs_of(f.operands_of(i))) {
    // The carry flag is no operand in PTX.
    if (o.info.carry_out && defs_.size() > 1) defs_ = defs_.first(defs_.size() - 1);
    if (o.info.carry_in && uses_.size() > 1) uses_ = uses_.first(uses_.size() - 1);
  }

  std::vector<std::string> all() {
    std::vector<std::string> list;
    std::string selector;  // of the destination
    if (!uses_.empty() && is_selector(0) && !defs_.empty()) selector = symbol(next_++);
    if (std::string d = destination(); !d.empty()) list.push_back(d + selector);
    const std::string_view pattern = pattern_of(o_);
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      if (next_ >= uses_.size()) break;
      const std::string_view rest = pattern.substr(k + 1);
      switch (pattern[k]) {
        case 'A': {
          const std::string text = address(needed(rest));
          list.push_back(text.ends_with(']') ? text : fmt::format("[{}]", text));  // "g[%r]" is one as it is
          break;
        }
        case 'M': {
          const std::string map = is_symbol(next_) ? name_of_(i_, symbol(next_)) : plain_at(next_);
          ++next_;
          list.push_back(fmt::format("[{}, {}]", map, coordinates(tensor_dimensions(o_), 4)));
          break;
        }
        case 'O': list.push_back(coordinates(tensor_dimensions(o_) - 2, 2)); break;
        case 'T': list.push_back(texture()); break;
        case 'F':
        case 'D': list.push_back(fragment(static_cast<std::size_t>(std::ranges::count(rest, 'F')))); break;
        case 'V': list.push_back(value(needed(rest))); break;
        case 'B': list.push_back(fmt::format("{{{}, {}}}", plain(), plain())); break;
        case '?':
          while (next_ < uses_.size()) list.push_back(plain());
          break;
        default: list.push_back(plain());
      }
    }
    return list;
  }

 private:
  [[nodiscard]] std::string symbol(std::size_t k) const { return std::string(f_.symbols[uses_[k].symbol()]); }
  [[nodiscard]] bool is_symbol(std::size_t k) const { return k < uses_.size() && uses_[k].kind == OperandKind::Symbol; }
  [[nodiscard]] bool is_selector(std::size_t k) const { return is_symbol(k) && symbol(k)[0] == '.'; }

  // Operands of RIR that the rest of a pattern takes at least.
  [[nodiscard]] std::size_t needed(std::string_view rest) const {
    std::size_t n = 0;
    for (const char c : rest) n += c == '?' ? 0 : c == 'V' ? values() : c == 'B' ? 2 : 1;
    const bool is_to_many = o_.root() == "cp" && o_.has("multicast::cluster");  // which ones comes last but for hints
    return n + hints() + (is_to_many ? 1u : 0u);
  }
  [[nodiscard]] std::size_t hints() const { return o_.text.find("cache_hint") != std::string::npos ? 1 : 0; }
  // Operands that a vector is: one tuple, or each element where no register has so many bytes.
  [[nodiscard]] std::size_t values() const {
    const int n = vector_length(o_);
    const std::size_t last = uses_.size() - hints();
    if (n < 2 || last == 0 || !uses_[last - 1].is_vreg()) return 1;
    return f_.operand_bytes(uses_[last - 1]) * 8 >= n * std::max(o_.type.bits, 8) ? 1u : static_cast<std::size_t>(n);
  }

  std::string pieces(const Operand& op, int element) { return braced(lines_.read(f_.storage(op), element)); }

  std::string destination() {
    if (defs_.empty()) {
      const bool is_sunk = o_.info.destination == Destination::Required || o_.root() == "atom" ||
                           (o_.root() == "mbarrier" && (o_.has("arrive") || o_.has("arrive_drop")));
      return is_sunk && !o_.has("inval") ? "_" : "";
    }
    const int element = vector_element_bytes(f_, i_, o_, 0);
    const bool updated = defs_[0].role == Role::DefUse;
    if (element == 0 && !updated && defs_.size() <= 2 && !(defs_.size() == 2 && vector_length(o_) == 2)) {
      std::string text = one_destination(defs_[0]);
      // Of a pair the other one is not wanted.
      const bool is_pair =
          o_.root() == "elect" || (o_.root() == "match" && o_.has("all")) || (o_.root() == "lop3" && o_.parts.size() > 2);
      if (is_pair && defs_.size() == 1 && lines_.element_bytes(f_.root(defs_[0].vreg())) == 0) text.insert(0, "_|");
      if (defs_.size() == 2) text += "|" + one_destination(defs_[1]);
      return text;
    }
    std::vector<std::string> names;
    std::string flag;  // beside the texels
    for (const Operand& d : defs_) {
      if (is_texture(o_) && lines_.element_bytes(f_.root(d.vreg())) == 0) {
        flag = "|" + one_destination(d);
        continue;
      }
      const int bytes = std::min(element == 0 ? 16 : element, f_.operand_bytes(d));
      for (std::string& n : lines_.destination(f_.storage(d), bytes)) names.push_back(std::move(n));
    }
    return braced(names) + flag;
  }
  std::string one_destination(const Operand& d) { return lines_.destination(f_.storage(d), f_.operand_bytes(d))[0]; }

  std::string address(std::size_t needed_later) {
    std::string text = is_symbol(next_) ? name_of_(i_, symbol(next_)) : plain_at(next_);
    const bool is_number = uses_[next_].kind == OperandKind::Imm;
    ++next_;
    if (is_number) return text;
    const bool is_access = o_.kind == Opcode::Kind::Ld || o_.kind == Opcode::Kind::Ldu || o_.kind == Opcode::Kind::St;
    if (is_access && is_symbol(next_ - 1) && next_ < uses_.size() && uses_[next_].is_vreg() &&
        uses_.size() - next_ - 1 >= needed_later)
      return fmt::format("{}[{}]", text, plain_at(next_++));
    // Behind the last address of such a copy stands its size, a number, too.
    const bool is_size = o_.root() == "cp" && !o_.has("bulk") && needed_later == 1 + hints() &&
                         (next_ + 1 >= uses_.size() || uses_[next_ + 1].kind != OperandKind::Imm ||
                          (o_.has("cg") && uses_[next_ + 1].imm() != kLine));
    if (is_size) return text;
    if (next_ < uses_.size() && uses_[next_].kind == OperandKind::Imm && uses_.size() - next_ - 1 >= needed_later)
      text += fmt::format("+{}", uses_[next_++].imm());
    return text;
  }

  static constexpr int kLine = 16;  // bytes that cp.async.cg copies

  // One tuple, or as many registers of so many bytes.
  std::string coordinates(int dimensions, int bytes) {
    if (next_ < uses_.size() && uses_[next_].is_vreg() && f_.operand_bytes(uses_[next_]) == dimensions * bytes && dimensions > 1)
      return pieces(uses_[next_++], bytes);
    std::vector<std::string> names;
    for (; dimensions > 0 && next_ < uses_.size(); --dimensions) names.push_back(plain());
    return braced(names);
  }

  // "[tex0, {x, y}]", with a sampler between them where there is one.
  std::string texture() {
    std::string text = plain_at(next_++);
    const bool is_sampler = next_ + 1 < uses_.size() && uses_[next_].is_vreg() && f_.operand_bytes(uses_[next_]) == 8 &&
                            !is_in_braces(f_, uses_[next_]) && (o_.root() == "tex" || o_.root() == "tld4");
    if (is_symbol(next_) || is_sampler) text += ", " + plain_at(next_++);
    if (next_ >= uses_.size()) return fmt::format("[{}]", text);
    std::string where = plain();
    if (!where.starts_with('{')) where = fmt::format("{{{}}}", where);
    return fmt::format("[{}, {}]", text, where);
  }

  std::string value(std::size_t needed_later) {
    const int element = vector_element_bytes(f_, i_, o_, defs_.size() + next_);
    if (element > 0) return pieces(uses_[next_++], element);
    if (vector_length(o_) < 2 || (is_texture(o_) && !is_in_braces(f_, uses_[next_]))) return plain();
    std::vector<std::string> names;
    while (next_ + needed_later < uses_.size()) names.push_back(plain());
    return braced(names);
  }

  // A fragment of a matrix: one tuple, or registers of which none makes a tuple, in as many as the destination has, or as are left.
  std::string fragment(std::size_t later) {
    const int element = o_.type.bits == 64 ? 8 : 4;
    const Operand& op = uses_[next_];
    if (o_.root() == "wgmma" && op.is_vreg() && f_.operand_bytes(op) == 8) return plain();  // a descriptor
    if (op.is_vreg() && f_.operand_bytes(op) > element) return pieces(uses_[next_++], element);
    std::size_t n = 1;
    if (later == 0 && o_.root() != "wmma" && defs_.size() > 1) n = defs_.size();
    if (later == 2) n = uses_.size() - next_ - 1 - (defs_.size() > 1 ? defs_.size() : 1);
    std::vector<std::string> names;
    for (; n > 0 && next_ < uses_.size(); --n) names.push_back(plain());
    return braced(names);
  }

  std::string plain() {
    std::string text = plain_at(next_++);
    if (text == "-" && next_ < uses_.size()) text += plain_at(next_++);
    const Operand& op = uses_[next_ - 1];
    if (op.is_vreg() && is_selector(next_)) text += symbol(next_++);
    const bool has_offset = o_.root() == "mov" || ((o_.root() == "cvta" || o_.root() == "mapa" || o_.root() == "add") &&
                                                   uses_.size() > (o_.root() == "cvta" ? 1u : 2u));
    if (op.kind == OperandKind::Symbol && text[0] != '%' && text != "_" && has_offset && next_ < uses_.size() &&
        uses_[next_].kind == OperandKind::Imm)
      text += fmt::format("+{}", uses_[next_++].imm());
    return text;
  }

  std::string plain_at(std::size_t k) {
    const Operand& op = uses_[k];
    if (op.kind == OperandKind::Imm) return number_text(op.imm(), type_of_number(o_, k));
    if (op.kind == OperandKind::Symbol) {
      const std::string s = symbol(k);
      if (!s.starts_with("c[")) return name_of_(i_, s);
      // A parameter of the kernel that is an operand.
      const int bytes = std::max(type_of_number(o_, k).bits, 16) / 8;
      std::string t = lines_.temp(bytes);
      lines_.add(fmt::format("ld.param.b{} {}, [{}]", bytes * 8, t, s.substr(2, s.size() - 3)));
      return t;
    }
    if (!op.is_vreg()) return "?";
    if (lines_.element_bytes(f_.root(op.vreg())) == 0) return lines_.predicate(op);
    if (const int element = vector_element_bytes(f_, i_, o_, defs_of(f_.operands_of(i_)).size() + k); element > 0)
      return pieces(op, element);
    if (is_video_ && !op.part.is_whole())
      return fmt::format("{}.{}{}", lines_.name(f_.root(op.vreg()), 0), op.part.size_bytes() == 1 ? 'b' : 'h', op.part.element());
    return lines_.read(f_.storage(op), f_.operand_bytes(op))[0];
  }

  const Function& f_;
  const Inst& i_;
  const Opcode& o_;
  const NameOf& name_of_;
  Lines& lines_;
  std::span<const Operand> uses_, defs_;
  std::size_t next_ = 0;
  bool is_video_ = is_video(o_);  // such an instruction reads a byte or a half of a register
};

}  // namespace

std::string number_text(std::int64_t value, TypeInfo type) {
  if (type.kind == TypeKind::F && type.bits == 64) return fmt::format("0d{:016X}", static_cast<std::uint64_t>(value));
  if (type.kind == TypeKind::F && type.bits == 32) {
    // A number above 32 bits is a decimal literal, which has become the bits of a double.
    const auto bits = static_cast<std::uint64_t>(value);
    const auto word = bits >> 32 == 0 ? static_cast<std::uint32_t>(bits)
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    return fmt::format("0f{:08X}", word);
  }
  return fmt::format("{}", value);
}

int vector_element_bytes(const Function& f, const Inst& i, const Opcode& o, std::size_t k) {
  const auto ops = f.operands_of(i);
  if (!ops[k].is_vreg() || f.vreg(f.root(ops[k].vreg())).file() == RegFile::P) return 0;
  const std::string_view pattern = pattern_of(o);
  const int bytes = f.operand_bytes(ops[k]), n = vector_length(o);
  const bool is_def = ops[k].writes();
  if (pattern.starts_with('A') && k == defs_of(ops).size()) return 0;
  if (is_matrix(o) || o.root() == "tcgen05") {
    const int element = o.type.bits == 64 && is_matrix(o) ? 8 : 4;
    const bool is_fragment = is_def || has_fragments(pattern);
    if (bytes > element && is_fragment && !(o.root() == "wgmma" && bytes == 8)) return element;
    return is_fragment && is_def ? std::min(bytes, element) : 0;
  }
  const std::size_t defs = defs_of(ops).size();
  const bool is_hint = o.text.find("cache_hint") != std::string::npos && k + 1 == defs + uses_of(ops).size();
  if (is_hint || (is_texture(o) && k == defs)) return 0;
  if (is_texture(o) && !is_def && !is_in_braces(f, ops[k])) return bytes > 8 ? 4 : 0;
  const std::size_t address_operands = is_texture(o) ? 2 : 1;  // a texture and its coordinates
  const bool is_value = is_def ? defs == 1 : pattern.find('V') != std::string_view::npos && k >= defs + address_operands;
  if (n >= 2 && is_value && bytes * 8 >= n * 8 && (is_def || bytes * 8 == n * std::max(o.type.bits, 8) || bytes > 8))
    return bytes / n;
  if (bytes > 8 && !(o.has("b128") && bytes == 16)) return 4;
  // Coordinates of a texture, and the like.
  return bytes == 8 && is_texture(o) && !is_def ? 4 : 0;
}

void print_operation(const Function& f, const Inst& i, const Opcode& o, const NameOf& name_of, Lines& lines) {
  auto operands = Operands(f, i, o, name_of, lines).all();
  // Its source has 8 bits in a register of 16, which the other conversions take.
  const bool is_of_byte = o.text.ends_with(".bf16.s8") || o.text.ends_with(".bf16.u8");
  const bool is_to_byte = o.text.ends_with(".s8.bf16") || o.text.ends_with(".u8.bf16");
  if (o.root() == "cvt" && is_to_byte && operands.size() == 2) {
    const char sign = o.text[o.text.size() - 7];
    lines.add_bare("{");
    lines.add_bare("\t.reg .b8 %byte;");
    lines.add(fmt::format("{} %byte, {}", o.text, operands[1]));
    lines.add(fmt::format("cvt.{0}16.{0}8 {1}, %byte", sign, operands[0]));
    lines.add_bare("}");
    lines.settle();
    return;
  }
  if (o.root() == "cvt" && is_of_byte && operands.size() == 2) {
    const std::string wide = lines.temp(2);
    const char sign = o.text[o.text.size() - 2];
    lines.add(fmt::format("cvt.{0}16.{0}8 {1}, {2}", sign, wide, operands[1]));
    lines.add(fmt::format("{}16 {}, {}", std::string_view(o.text).substr(0, o.text.size() - 1), operands[0], wide));
    lines.settle();
    return;
  }
  lines.add(operands.empty() ? o.text : fmt::format("{} {}", o.text, fmt::join(operands, ", ")));
  lines.settle();
}

bool is_instruction(const Function& f, const Inst& i, const Opcode& o) {
  if (!o.info.is_known) return false;
  const auto ops = f.operands_of(i);
  if (o.kind == Opcode::Kind::Ld || o.kind == Opcode::Kind::Ldu || o.kind == Opcode::Kind::St) return o.type.bits > 0;
  // Random programs have names of instructions with any number of operands.
  static constexpr std::pair<std::string_view, std::size_t> kCounts[] = {
      {"add", 2}, {"sub", 2}, {"mul", 2}, {"and", 2},  {"or", 2},  {"xor", 2}, {"min", 2},  {"max", 2}, {"shl", 2},
      {"shr", 2}, {"mad", 3}, {"fma", 3}, {"lop3", 4}, {"shf", 3}, {"sad", 3}, {"selp", 3}, {"bfi", 4}, {"neg", 1},
      {"abs", 1}, {"not", 1}, {"cvt", 1}, {"popc", 1}, {"rcp", 1}, {"mov", 1}, {"cvta", 1}};
  for (const auto& [root, count] : kCounts)
    if (o.root() == root && root != "mov" && root != "cvt") {
      const std::size_t uses = uses_of(ops).size() - (o.info.carry_in ? 1u : 0u);
      if (uses < count || (o.type.bits == 0 && root != "add")) return false;
      // ptxas takes the address of a variable from a register there.
      const auto is_address = [&](const Operand& op) {
        if (op.kind != OperandKind::Symbol) return false;
        const std::string_view s = f.symbols[op.symbol()];
        return !s.empty() && std::isalpha(static_cast<unsigned char>(s[0])) != 0 && !s.starts_with("c[");
      };
      if (root != "cvta" && std::ranges::any_of(uses_of(ops), is_address)) return false;
      const auto defs = defs_of(ops);
      if (defs.empty()) return false;
      if (defs.size() != 1u + (o.info.carry_out ? 1u : 0u) && root != "lop3" && root != "add" && root != "sub") return false;
    }
  return true;
}

}  // namespace regduel::ir::ptx
