// See raise.h.

#include "oracles/pair/raise.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/limit_by_point.h"
#include "oracles/pair/preserved.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::PReg;
using ir::RegFile;
using ir::Role;

constexpr std::size_t kMostFaults = 64;                     // a nonsense program has no million of them
constexpr std::int64_t kFar = std::int64_t{1} << 40;        // no frame is as large
constexpr std::int64_t kMostTimes = std::int64_t{1} << 20;  // no stride either
constexpr std::int64_t kFrameAlign = 16;                    // of a callee's frame
constexpr std::array<std::int64_t, 5> kStrides = {1, 2, 4, 8, 16};

// The value of a register; see raise.h.
struct Value {
  enum class Base : std::uint8_t { Unknown, Local, Shared };
  Base base = Base::Unknown;
  bool is_masked = false;
  std::int64_t times = 1, per = 1, plus = 0;

  [[nodiscard]] bool is_known() const { return base != Base::Unknown; }
  [[nodiscard]] bool counts_bytes() const { return is_known() && times == per; }
  [[nodiscard]] Value in_range() const {
    if (!is_known() || plus > kFar || plus < -kFar || times > kMostTimes || times < 1) return {};
    Value v = *this;
    const std::int64_t common = std::gcd(times, per);
    v.times /= common, v.per /= common;
    return v;
  }
  friend bool operator==(const Value&, const Value&) = default;
};

struct State {
  bool is_reached = false;
  std::optional<std::int64_t> base = 0;  // of the base register of the thread: bytes from where the frame begins
  std::vector<Value> registers;          // by number of the address register

  // True where this has changed.
  bool meet(const State& o) {
    if (!o.is_reached) return false;
    if (!is_reached) {
      *this = o;
      return true;
    }
    bool changed = false;
    if (base && base != o.base) base.reset(), changed = true;
    for (std::size_t k = 0; k < registers.size(); ++k)
      if (registers[k].is_known() && !(registers[k] == o.registers[k])) registers[k] = {}, changed = true;
    return changed;
  }
};

bool is_address_step(Op op) {
  switch (op) {
    case Op::GetLocalBase:
    case Op::AddressMov:
    case Op::AddressAdd:
    case Op::AddressMad:
    case Op::AddressShl:
    case Op::AddressAnd: return true;
    default: return false;
  }
}

class Raising {
 public:
  Raising(const Function& before, const Function& after, const ir::Target& target, const ir::Limits& limits)
      : before_(before), f_(after), target_(target), limits_(limits),
        least_limit_(LimitByPoint(before, limits.of(RegFile::R)).least()), cfg_(after) {
    number_of_.fill(kNone);
    for (std::size_t s = 0; s < after.slots.size(); ++s) slots_.push_back(s);
    std::sort(slots_.begin(), slots_.end(), [&](std::size_t a, std::size_t b) {
      const ir::Slot &x = after.slots[a], &y = after.slots[b];
      return std::pair(x.space, x.offset) < std::pair(y.space, y.offset);
    });
  }

  std::shared_ptr<const Raised> run() {
    find_registers();
    find_strangers();
    solve();
    raised_.program = f_.clone_header();
    out_ = &raised_.program;
    out_->reserve(f_.insts.size(), f_.operands.size());
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      out_->begin_block(f_.blocks[b]);
      State state = entry_of(BlockId(b));
      block(BlockId(b), state);
    }
    return std::make_shared<const Raised>(std::move(raised_));
  }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  void fault(std::string_view category, const Inst& i, int operand, std::string message, ir::InstId other = {}) {
    if (out_ == nullptr && !is_before_solving_) return;  // reported in the last pass only
    if (raised_.faults.size() < kMostFaults) raised_.faults.push_back({category, i.id, operand, std::move(message), other});
  }

  // --- address registers -------------------------------------------------------------------------------------------
  // In which operand an instruction names an address register, by right.
  static bool is_address_operand(const Inst& i, std::size_t k) {
    if (is_address_step(i.op)) return k <= 1;
    if (i.op == Op::SetLocalBase) return k == 0;
    return ir::is_lowered_access(i.op) && k == 1;
  }

  void find_registers() {
    for (const Inst& i : f_.insts) {
      if (!is_address_step(i.op) || i.is_deleted()) continue;
      const int unit = f_.operands_of(i)[0].preg().begin();
      std::uint16_t& number = number_of_[static_cast<std::size_t>(unit)];
      if (number != kNone) continue;
      number = static_cast<std::uint16_t>(num_registers_++);
      may_hold_addresses(i, unit);
    }
  }
  void may_hold_addresses(const Inst& i, int unit) {
    const PReg r = {RegFile::R, 1, static_cast<std::uint16_t>(unit)};
    if (unit >= least_limit_ || !ir::is_allocatable(target_, before_.abi, limits_, RegFile::R, unit))
      fault("lowered-register", i, 0, fmt::format("{} is above the limit or reserved", to_string(before_, r)));
    for (std::size_t v = 0; v < before_.vregs.size(); ++v)
      if (before_.vregs[v].is_architectural() && before_.vregs[v].fixed.overlaps(r))
        fault("lowered-register", i, 0, fmt::format("{} is that of %{} alone", to_string(before_, r), v));
    if (owed_.empty() && before_.kind == ir::FunctionKind::Device) owed_ = preserved_units(before_, target_);
    if (std::find(owed_.begin(), owed_.end(), r) != owed_.end())
      fault("lowered-register", i, 0, fmt::format("{} is the caller's", to_string(before_, r)));
  }
  // Operands of anything else in such a register.
  void find_strangers() {
    for (const Inst& i : f_.insts) {
      const auto ops = f_.operands_of(i);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!ops[k].is_preg() || ops[k].preg().file != RegFile::R) continue;
        if (ops[k].role == Role::Clobber) {
          if (ir::is_lowered(i.op) && !ir::is_lowered_access(i.op))
            fault("lowered-register", i, static_cast<int>(k), "the computing of an address clobbers nothing");
          continue;
        }
        if (is_address_operand(i, k)) continue;
        const PReg r = ops[k].preg();
        for (int u = r.begin(); u < r.end() && u < ir::kMaxUnits; ++u)
          if (number_of_[static_cast<std::size_t>(u)] != kNone) {
            fault("lowered-register", i, static_cast<int>(k), fmt::format("R{} holds addresses of spill code", u));
            break;
          }
      }
    }
    is_before_solving_ = false;
  }

  // --- the forward analysis ----------------------------------------------------------------------------------------
  [[nodiscard]] State unknown() const {
    State s;
    s.is_reached = true;
    s.registers.resize(num_registers_);
    return s;
  }
  [[nodiscard]] State entry_of(BlockId b) const { return cfg_.is_reachable(b) ? in_[b.index()] : unknown(); }

  void solve() {
    in_.resize(f_.blocks.size());
    if (!f_.blocks.empty()) in_[0] = unknown();
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        if (!in_[b.index()].is_reached) continue;
        State state = in_[b.index()];
        block(b, state);
        for (const BlockId to : cfg_.successors(b)) changed = in_[to.index()].meet(state) || changed;
      }
    }
  }

  // Through a block; in the last pass it is written too.
  void block(BlockId b, State& state) {
    is_unreachable_ = !cfg_.is_reachable(b);
    const auto insts = f_.insts_of(b);
    for (std::size_t k = 0; k < insts.size(); ++k) {
      const Inst& i = insts[k];
      if (i.op != Op::SkipBra || i.is_deleted()) {
        instruction(i, nullptr, state);
        continue;
      }
      const std::size_t behind = find_end_of_skip(insts, k);
      if (behind == 0) continue;
      Operand guard = *ir::guard_of(f_.operands_of(i));
      guard.flags ^= ir::kNegated;
      State skipped = state;
      for (++k; k < behind; ++k) instruction(insts[k], &guard, state);
      state.meet(skipped);
      k = behind - 1;
    }
  }
  // One behind the last instruction that the branch at `at` jumps over; 0 where it may not.
  std::size_t find_end_of_skip(std::span<const Inst> insts, std::size_t at) {
    const auto ops = f_.operands_of(insts[at]);
    const std::int64_t length = ops[0].imm();
    if (length < 1 || length >= static_cast<std::int64_t>(insts.size() - at)) {
      fault("lowered-branch", insts[at], 0, "leads out of the block");
      return 0;
    }
    const std::size_t last = at + static_cast<std::size_t>(length);
    for (std::size_t k = at + 1; k <= last; ++k) {
      const Inst& i = insts[k];
      if (i.is_deleted()) {
        fault("lowered-branch", insts[at], 0, "jumps over a deleted instruction", i.id);
        return 0;
      }
      if (k < last ? is_address_step(i.op) : ir::is_lowered_access(i.op) && !ir::is_guarded(f_.operands_of(i))) continue;
      fault("lowered-branch", insts[at], 0, "jumps over anything but an address and then one access without a guard", i.id);
      return 0;
    }
    return last + 1;
  }

  void instruction(const Inst& i, const Operand* guard, State& state) {
    const auto ops = f_.operands_of(i);
    if (i.is_deleted()) {
      if (out_ != nullptr) out_->append(i, ops, f_.targets_of(i));
      return;
    }
    if (is_address_step(i.op)) {
      if (!i.is_inserted()) fault("lowered-address", i, -1, "only an inserted instruction computes an address");
      const Value value = computed(i, ops, state);
      state.registers[number_of(ops[0])] = value;
    } else if (i.op == Op::SetLocalBase) {
      set_base(i, ops, state);
    } else if (ir::is_lowered_access(i.op)) {
      access(i, ops, guard, state);
    } else {
      if (i.op == Op::Call) at_call(i, state);
      if (i.op == Op::Ret && (!state.base || *state.base != 0))
        fault("lowered-address", i, -1, "the base of local memory is not what it was at entry");
      if (out_ != nullptr) out_->append(i, ops, f_.targets_of(i));
    }
    forget_written(i, ops, state);
  }
  // Writes of other values into an address register, and clobbers of it.
  void forget_written(const Inst& i, std::span<const Operand> ops, State& state) {
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_preg() || ops[k].preg().file != RegFile::R) continue;
      if (ops[k].role != Role::Clobber && (!ops[k].writes() || is_address_operand(i, k))) continue;
      const PReg r = ops[k].preg();
      for (int u = r.begin(); u < r.end() && u < ir::kMaxUnits; ++u)
        if (const std::uint16_t n = number_of_[static_cast<std::size_t>(u)]; n != kNone) state.registers[n] = {};
    }
  }

  [[nodiscard]] std::uint16_t number_of(const Operand& op) const { return number_of_[static_cast<std::size_t>(op.preg().begin())]; }
  [[nodiscard]] Value held(const Operand& op, const State& state) const {
    const std::uint16_t n = number_of(op);
    return n == kNone ? Value() : state.registers[n];
  }

  Value computed(const Inst& i, std::span<const Operand> ops, const State& state) {
    if (i.op == Op::GetLocalBase) {
      if (!is_stride(i, ops[1].imm()) || !state.base || *state.base % ops[1].imm() != 0) return {};
      return {Value::Base::Local, false, 1, ops[1].imm(), *state.base / ops[1].imm()};
    }
    if (i.op == Op::AddressMov) {
      if (f_.symbols[ops[1].symbol()] != ir::kSmemPhaseSymbol) return {};
      return {Value::Base::Shared, false, 1, ir::kSmemWordBytes, 0};
    }
    Value v = held(ops[1], state);
    if (i.op == Op::AddressAnd) {
      const bool is_in_frame = v.base == Value::Base::Shared && v.counts_bytes() && v.plus >= 0 && v.plus <= f_.shared_frame;
      v.is_masked = true;
      return is_in_frame && f_.symbols[ops[2].symbol()] == ir::kSmemMaskSymbol ? v : Value();
    }
    v.is_masked = false;
    const std::int64_t n = ops[2].imm();
    if (i.op == Op::AddressAdd) {
      if (n > kFar || n < -kFar) return {};
      v.plus += n;
      return v.in_range();
    }
    const bool is_shift = i.op == Op::AddressShl;
    const std::int64_t least = is_shift ? 0 : 1, most = is_shift ? 16 : 1 << 16;
    if (n < least || n > most) return {};
    const std::int64_t factor = is_shift ? std::int64_t{1} << n : n, plus = is_shift ? 0 : ops[3].imm();
    if (plus > kFar || plus < -kFar) return {};
    v.times *= factor;
    v.plus = v.plus * factor + plus;  // below 2 ^ 57
    return v.in_range();
  }
  bool is_stride(const Inst& i, std::int64_t n) {
    if (std::find(kStrides.begin(), kStrides.end(), n) != kStrides.end()) return true;
    fault("lowered-address", i, 1, fmt::format("a stride of {} bytes (there are 1, 2, 4, 8 and 16)", n));
    return false;
  }

  void set_base(const Inst& i, std::span<const Operand> ops, State& state) {
    state.base.reset();
    if (!is_stride(i, ops[1].imm())) return;
    const Value v = held(ops[0], state);
    if (v.base == Value::Base::Local && v.times == 1 && v.per == ops[1].imm()) state.base = v.plus * v.per;
    else fault("lowered-address", i, 0, "is not known to be a base of local memory in these strides");
  }
  void at_call(const Inst& i, const State& state) {
    if (!state.base) fault("lowered-address", i, -1, "what the callee finds as the base of local memory is not known");
    else if (*state.base < f_.local_frame || *state.base % kFrameAlign != 0)
      fault("lowered-address", i, -1,
            fmt::format("the callee's frame begins at byte {}, this one has {}; or that is no multiple of {}", *state.base,
                        f_.local_frame, kFrameAlign));
  }

  void access(const Inst& i, std::span<const Operand> ops, const Operand* guard, const State& state) {
    const auto at = slot_at(i, ops, state);
    if (out_ == nullptr) return;
    Inst inst = i;
    if (!at) {
      if (i.is_inserted()) return;
      inst.op = Op::Copy;
      inst.flags |= ir::kDeleted;
      out_->append(inst, {});
      return;
    }
    inst.op = ir::is_lowered_store(i.op) ? Op::Spill : Op::Refill;
    ops_.assign({ops[0], *at});
    if (guard != nullptr) ops_.push_back(*guard);
    for (const Operand& op : ops.subspan(3)) ops_.push_back(op);
    out_->append(inst, ops_);
  }
  std::optional<Operand> slot_at(const Inst& i, std::span<const Operand> ops, const State& state) {
    const bool is_shared = i.op == Op::StoreShared || i.op == Op::LoadShared;
    const Value v = held(ops[1], state);
    const auto wrong = [&](std::string message) {
      fault("lowered-address", i, 1, std::move(message));
      return std::nullopt;
    };
    if (!v.is_known() && is_unreachable_) return std::nullopt;
    if (!v.is_known()) return wrong("is not known to hold an address of a frame");
    if ((v.base == Value::Base::Shared) != is_shared)
      return wrong(is_shared ? "holds an address in local memory" : "holds an address in shared memory");
    if (!v.counts_bytes()) return wrong(fmt::format("holds an address in units of {}/{} bytes", v.per, v.times));
    if (is_shared && !v.is_masked) return wrong(fmt::format("the address was not masked with {}", ir::kSmemMaskSymbol));
    const std::int64_t size = f_.operand_bytes(ops[0]);
    if (ops[2].imm() > kFar || ops[2].imm() < -kFar) return wrong("is an address outside the frame");
    const std::int64_t at = v.plus + ops[2].imm();
    const MemSpace space = is_shared ? MemSpace::Shared : MemSpace::Local;
    const auto behind = std::upper_bound(slots_.begin(), slots_.end(), std::pair(space, at), [&](const auto& key, std::size_t s) {
      return key < std::pair(f_.slots[s].space, std::int64_t{f_.slots[s].offset});
    });
    const ir::Slot* const slot = behind == slots_.begin() ? nullptr : &f_.slots[behind[-1]];
    if (slot == nullptr || slot->space != space || at + size > std::int64_t{slot->offset} + slot->size)
      return wrong(fmt::format("bytes {} to {} of the {} frame are in no slot", at, at + size, is_shared ? "shared" : "local"));
    return Operand::of_slot(ir::SlotId(behind[-1]), static_cast<std::uint32_t>(at - slot->offset));
  }

  const Function& before_;
  const Function& f_;
  const ir::Target& target_;
  const ir::Limits& limits_;
  const int least_limit_;  // of R, at any point: no register for addresses is above it
  ir::Cfg cfg_;
  std::array<std::uint16_t, ir::kMaxUnits> number_of_;  // of an address register, by unit of R
  std::size_t num_registers_ = 0;
  std::vector<PReg> owed_;
  std::vector<std::size_t> slots_;  // by space and offset
  std::vector<State> in_;           // by block
  bool is_before_solving_ = true;
  bool is_unreachable_ = false;  // the block at hand
  Raised raised_;
  Function* out_ = nullptr;  // set in the last pass
  std::vector<Operand> ops_;
};

}  // namespace

std::shared_ptr<const Raised> raise(const Function& before, const Function& after, const ir::Target& target,
                                    const ir::Limits& limits) {
  if (std::none_of(after.insts.begin(), after.insts.end(), [](const Inst& i) { return ir::is_lowered(i.op) && !i.is_deleted(); }))
    return nullptr;
  return Raising(before, after, target, limits).run();
}

}  // namespace regduel::oracles
