#include "ir/ptx/print/stand_ins.h"

#include <algorithm>

#include <fmt/format.h>

namespace regduel::ir::ptx {
namespace {

// A number of 31 bits that no other operation has: odd, so that a product with it loses nothing.
std::uint32_t number_of(const Inst& i, std::size_t k) {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(i.id.value) + 1) * 0x9E3779B97F4A7C15ULL + k * 0xC2B2AE3D27D4EB4FULL;
  return (static_cast<std::uint32_t>(mixed >> 33) & 0x7FFFFFFF) | 1;
}

class StandIn {
 public:
  StandIn(const Function& f, const Inst& i, const std::vector<char>& is_read, Lines& lines)
      : f_(f), i_(i), is_read_(is_read), lines_(lines), uses_(uses_of(f.operands_of(i))), defs_(defs_of(f.operands_of(i))) {}

  void run() {
    if (i_.has(kBarrier)) lines_.add("bar.sync 0");
    const bool has_registers = std::ranges::any_of(uses_, [](const Operand& op) { return op.is_vreg(); });
    const bool updates = std::ranges::any_of(defs_, [](const Operand& op) { return op.role == Role::DefUse; });
    if (!has_registers && !updates && !defs_.empty() && i_.has(kMemRead) && !i_.has(kMemWrite)) {
      for (const Operand& d : defs_) load(d);
      lines_.settle();
      return;
    }
    // Whatever an instruction reads is observed (ir/FORMAT.md, "Effects").
    if (i_.has(kMemWrite) || defs_.empty())
      for (const Operand& op : uses_)
        if (op.is_vreg()) store(op);
    if (defs_.empty()) return;
    const std::string sum = sum_of_uses();
    std::size_t k = 100;
    for (const Operand& d : defs_) define(d, sum, k);
    lines_.settle();
    const bool is_read = std::ranges::any_of(defs_, [&](const Operand& d) { return is_read_[f_.root(d.vreg()).index()] != 0; });
    if (!is_read) lines_.add(fmt::format("st.volatile.global.b32 [$memory+{}], {}", place(71), sum));
  }

 private:
  [[nodiscard]] bool is_predicate(const Operand& op) const { return lines_.element_bytes(f_.root(op.vreg())) == 0; }
  [[nodiscard]] Storage storage(const Operand& op) const { return f_.storage(op); }
  // Bytes at once: words, or the part of one.
  [[nodiscard]] int piece(const Storage& s) const {
    return s.size % 4 == 0 && s.offset % 4 == 0 ? 4 : s.size % 2 == 0 && s.offset % 2 == 0 ? 2 : 1;
  }

  std::vector<std::string> words_of(const Operand& op) {
    if (is_predicate(op)) {
      std::string t = lines_.temp(4);
      lines_.add(fmt::format("selp.b32 {}, {}, {}, {}", t, number_of(i_, 50), number_of(i_, 51),
                             f_.root(op.vreg()).is_valid() ? lines_.name(f_.root(op.vreg()), 0) : ""));
      return {t};
    }
    const Storage s = storage(op);
    const int bytes = piece(s);
    std::vector<std::string> words = lines_.read(s, bytes);
    if (bytes < 4)
      for (std::string& w : words) {
        std::string t = lines_.temp(4);
        lines_.add(fmt::format("cvt.u32.u{} {}, {}", bytes * 8, t, w));
        w = std::move(t);
      }
    return words;
  }

  // Where an operation reads and writes, away from the others.
  [[nodiscard]] std::uint32_t place(std::size_t k) const { return number_of(i_, k) % (kStandInBytes / 32) * 32; }

  void load(const Operand& d) {
    const bool is_constant = i_.has(kReadOnly);
    const char* const memory = is_constant ? "ld.param" : "ld.volatile.global";
    const char* const base = is_constant && f_.kind == FunctionKind::Kernel ? "$params" : "$memory";
    const char* const opcode = is_constant && f_.kind != FunctionKind::Kernel ? "ld.const" : memory;
    const char* const from = is_constant && f_.kind != FunctionKind::Kernel ? "$constants" : base;
    const std::uint32_t at = place(static_cast<std::size_t>(&d - defs_.data()) + 7);
    if (is_predicate(d)) {
      const std::string t = lines_.temp(4);
      lines_.add(fmt::format("{}.b32 {}, [{}+{}]", opcode, t, from, at));
      lines_.add(fmt::format("setp.ne.u32 {}, {}, 0", lines_.destination(storage(d), 1)[0], t));
      return;
    }
    const Storage s = storage(d);
    const int bytes = piece(s);
    const auto to = lines_.destination(s, bytes);
    // A tuple needs aligned registers.
    for (std::size_t k = 0; k < to.size();) {
      const std::size_t left = to.size() - k;
      const std::size_t n = bytes < 4 || is_constant ? 1u : left >= 4 ? 4u : left >= 2 ? 2u : 1u;
      const std::string address = fmt::format("[{}+{}]", from, at + 4 * k);
      if (n == 1) lines_.add(fmt::format("{}.{}{} {}, {}", opcode, bytes == 1 ? "u" : "b", bytes * 8, to[k], address));
      else lines_.add(fmt::format("{}.v{}.b32 {}, {}", opcode, n, braced(std::span(to).subspan(k, n)), address));
      k += n;
    }
  }

  void store(const Operand& op) {
    const auto words = words_of(op);
    const std::uint32_t at = place(static_cast<std::size_t>(&op - uses_.data()) + 31);
    for (std::size_t k = 0; k < words.size();) {
      const std::size_t left = words.size() - k, n = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      const std::string address = fmt::format("[$memory+{}]", at + 4 * k);
      if (n == 1) lines_.add(fmt::format("st.volatile.global.b32 {}, {}", address, words[k]));
      else lines_.add(fmt::format("st.volatile.global.v{}.b32 {}, {}", n, address, braced(std::span(words).subspan(k, n))));
      k += n;
    }
  }

  // A register that depends on all words that are read.
  std::string sum_of_uses() {
    std::string sum;
    std::size_t k = 0;
    const auto add = [&](const std::string& word) {
      std::string next = lines_.temp(4);
      const std::string last = sum.empty() ? fmt::format("{}", number_of(i_, 99)) : sum;
      lines_.add(fmt::format("mad.lo.s32 {}, {}, {}, {}", next, word, number_of(i_, k++), last));
      sum = std::move(next);
    };
    for (const Operand& op : uses_)
      if (op.is_vreg())
        for (const std::string& w : words_of(op)) add(w);
    for (const Operand& op : defs_)
      if (op.role == Role::DefUse)
        for (const std::string& w : words_of(op)) add(w);
    if (i_.has(kMemRead) || sum.empty()) {
      std::string t = lines_.temp(4);
      const bool is_constant = !i_.has(kMemRead) || i_.has(kReadOnly);
      lines_.add(fmt::format("{}.b32 {}, [{}+{}]", is_constant ? "ld.const" : "ld.volatile.global", t,
                             is_constant ? "$constants" : "$memory", place(61)));
      add(t);
    }
    return sum;
  }

  void define(const Operand& d, const std::string& sum, std::size_t& k) {
    if (is_predicate(d)) {
      lines_.add(fmt::format("setp.lt.u32 {}, {}, {}", lines_.destination(storage(d), 1)[0], sum, number_of(i_, k++)));
      return;
    }
    const Storage s = storage(d);
    const int bytes = piece(s);
    for (const std::string& to : lines_.destination(s, bytes)) {
      if (bytes == 4) {
        lines_.add(fmt::format("xor.b32 {}, {}, {}", to, sum, number_of(i_, k++)));
        continue;
      }
      const std::string t = lines_.temp(4);
      lines_.add(fmt::format("xor.b32 {}, {}, {}", t, sum, number_of(i_, k++)));
      lines_.add(fmt::format("cvt.u16.u32 {}, {}", to, t));
    }
  }

  const Function& f_;
  const Inst& i_;
  const std::vector<char>& is_read_;
  Lines& lines_;
  std::span<const Operand> uses_, defs_;
};

}  // namespace

void print_stand_in(const Function& f, const Inst& i, const std::vector<char>& is_read, Lines& lines) {
  StandIn(f, i, is_read, lines).run();
}

std::vector<char> roots_that_are_read(const Function& f) {
  std::vector<char> is_read(f.vregs.size(), 0);
  for (const Operand& op : f.operands)
    if (op.is_vreg() && op.reads()) is_read[f.root(op.vreg()).index()] = 1;
  return is_read;
}

}  // namespace regduel::ir::ptx
