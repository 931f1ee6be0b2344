// See refill_bound.h. Each instruction is three moments: reads (early-clobber defs stand beside them), clobbers, writes. A moment
// brings in the units that it must have and puts out what is read again last until what is left fits. Tested by
// refill_bound_test.cpp, and against a search over all choices by fuzz/properties/exact_truths_test.cpp.

#include "oracles/quality/refill_bound.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;

constexpr std::uint32_t kUnitBytes = 4;
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

// The blocks from the entry on, each the only successor of the one before it; empty where there is a choice or a loop.
std::vector<BlockId> only_path(const Function& f) {
  std::vector<BlockId> path = {BlockId(0)};
  for (;;) {
    const auto successors = f.successors(path.back());
    if (successors.empty()) return path;
    const auto is_other = [&](BlockId b) { return b != successors[0]; };
    if (std::ranges::any_of(successors, is_other) || path.size() == f.blocks.size()) return {};
    path.push_back(successors[0]);
  }
}

// A read or a write of one unit of a root that takes part.
struct Access {
  std::uint32_t unit;
  std::uint32_t next =
      kNever;  // the step that reads the same content next; of a read that another one of its step repeats: the step
};

// What one instruction does, as ranges of the accesses.
struct Step {
  std::uint32_t reads, early, defs, end;
  int capacity;         // units at reads and writes
  int behind_clobbers;  // units that its clobbers leave
};

class Line {
 public:
  Line(const Function& f, const ir::Target& target, const ir::Limits& limits) : f_(f), target_(target), limits_(limits) {
    for (int u = 0; u < limits.of(ir::RegFile::R); ++u) capacity_ += is_allocatable(u) ? 1 : 0;
  }

  std::optional<std::int64_t> run() {
    const std::vector<BlockId> path = only_path(f_);
    if (path.empty()) return std::nullopt;
    choose_roots();
    for (const BlockId b : path)
      for (const Inst& i : f_.insts_of(b)) add_step(i);
    find_next_reads();
    return evict();
  }

 private:
  [[nodiscard]] bool is_allocatable(int unit) const { return ir::is_allocatable(target_, limits_, ir::RegFile::R, unit); }

  // base_[root]: its first unit among those that take part; kNever where it does not.
  void choose_roots() {
    std::vector<char> takes_part(f_.vregs.size());
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const ir::VReg& r = f_.vregs[v];
      takes_part[v] =
          !r.alias.is_valid() && r.file() == ir::RegFile::R && !r.is_architectural() && (r.flags & ir::kVRegUniform) == 0;
    }
    for (const Inst& i : f_.insts) {
      const auto ops = f_.operands_of(i);
      const bool moves = ir::moves_value(i.op) || ir::moves_pieces(i.op);
      const bool defines_no_place = i.is_repeatable() || ir::is_guarded(ops);
      for (const Operand& op : ops) {
        if (!op.is_vreg()) continue;
        const Storage s = f_.storage(op);
        if (moves || (defines_no_place && op.writes()) || s.offset % kUnitBytes != 0 || s.size % kUnitBytes != 0 ||
            is_fixed_outside(op))
          takes_part[s.root.index()] = 0;
      }
    }
    base_.assign(f_.vregs.size(), kNever);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      if (takes_part[v] == 0) continue;
      base_[v] = num_units_;
      num_units_ += static_cast<std::uint32_t>(f_.vregs[v].units());
    }
    is_defined_.assign(num_units_, 0);
    is_known_.assign(f_.vregs.size(), 0);
  }
  [[nodiscard]] bool is_fixed_outside(const Operand& op) const {
    const ir::PReg r = f_.fixed_of(op);
    for (int u = r.begin(); r.is_valid() && u < r.end(); ++u)
      if (!is_allocatable(u)) return true;
    return false;
  }

  template <class Each>
  void each_unit(const Operand& op, const Each& each) const {
    if (!op.is_vreg()) return;
    const Storage s = f_.storage(op);
    if (base_[s.root.index()] == kNever) return;
    const std::uint32_t first = base_[s.root.index()] + s.offset / kUnitBytes;
    for (std::uint32_t u = first; u < first + s.size / kUnitBytes; ++u) each(u);
  }
  [[nodiscard]] bool is_whole(const Operand& op) const {
    bool whole = true;
    each_unit(op, [&](std::uint32_t u) { whole = whole && is_defined_[u] != 0; });
    return whole;
  }

  void add_step(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const Operand* const guard = ir::guard_of(ops);
    const bool happens = guard == nullptr || (guard->is_vreg() && is_known_[f_.storage(*guard).root.index()] != 0);
    Step step = {.reads = size(), .early = 0, .defs = 0, .end = 0, .capacity = capacity_, .behind_clobbers = capacity_};
    for (const Operand& op : ops)
      if (op.reads() && happens && is_whole(op)) each_unit(op, [&](std::uint32_t u) { accesses_.push_back({u}); });
    step.early = size();
    for (const Operand& op : ops)
      if (op.is_early_clobber()) each_unit(op, [&](std::uint32_t u) { accesses_.push_back({u}); });
    step.defs = size();
    for (const Operand& op : ops)
      if (op.writes() && !op.is_early_clobber()) each_unit(op, [&](std::uint32_t u) { accesses_.push_back({u}); });
    step.end = size();
    for (std::uint32_t k = step.early; k < step.end; ++k) is_defined_[accesses_[k].unit] = 1;
    for (const Operand& op : ops)
      if (op.is_vreg() && op.writes()) is_known_[f_.storage(op).root.index()] = guard == nullptr && !ir::moves_value(i.op);
    step.behind_clobbers -= clobbered_by(ops);
    steps_.push_back(step);
  }
  [[nodiscard]] int clobbered_by(std::span<const Operand> ops) const {
    std::vector<int> units;
    for (const Operand& op : ops)
      if (op.role == ir::Role::Clobber && op.preg().file == ir::RegFile::R)
        for (int u = op.preg().begin(); u < op.preg().end(); ++u)
          if (is_allocatable(u)) units.push_back(u);
    std::ranges::sort(units);
    return static_cast<int>(std::unique(units.begin(), units.end()) - units.begin());
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(accesses_.size()); }

  void find_next_reads() {
    next_.assign(num_units_, kNever);
    for (std::uint32_t k = static_cast<std::uint32_t>(steps_.size()); k-- > 0;) {
      const Step& step = steps_[k];
      for (std::uint32_t a = step.early; a < step.end; ++a) accesses_[a].next = next_[accesses_[a].unit];
      for (std::uint32_t a = step.early; a < step.end; ++a) next_[accesses_[a].unit] = kNever;
      for (std::uint32_t a = step.reads; a < step.early; ++a) accesses_[a].next = std::exchange(next_[accesses_[a].unit], k);
    }
  }

  // The registers hold the units with next_[u] != kNever, `held_` in number; by_next_ has an entry for each of them at least.
  std::optional<std::int64_t> evict() {
    std::int64_t bytes = 0;
    next_.assign(num_units_, kNever);
    for (std::uint32_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      for (std::uint32_t a = step.reads; a < step.early; ++a) {
        if (next_[accesses_[a].unit] != kNever) continue;
        hold(accesses_[a].unit, k);
        bytes += kUnitBytes;
      }
      if (!shrink_to(step.capacity - static_cast<int>(step.defs - step.early), k)) return std::nullopt;
      for (std::uint32_t a = step.reads; a < step.early; ++a)
        if (accesses_[a].next != k) move(accesses_[a].unit, accesses_[a].next);
      if (!shrink_to(step.behind_clobbers, k)) return std::nullopt;
      if (!shrink_to(step.capacity - static_cast<int>(step.end - step.early), k)) return std::nullopt;
      for (std::uint32_t a = step.early; a < step.end; ++a)
        if (accesses_[a].next != kNever) hold(accesses_[a].unit, accesses_[a].next);
    }
    return bytes;
  }
  void hold(std::uint32_t unit, std::uint32_t next) {
    ++held_;
    next_[unit] = next;
    by_next_.emplace_back(next, unit);
    std::ranges::push_heap(by_next_);
  }
  void move(std::uint32_t unit, std::uint32_t next) {
    --held_;
    next_[unit] = kNever;
    if (next != kNever) hold(unit, next);
  }
  // False where what step k reads would have to go.
  bool shrink_to(int capacity, std::uint32_t k) {
    while (held_ > capacity) {
      if (by_next_.empty()) return false;
      const auto [next, unit] = by_next_.front();
      if (next <= k) return false;
      std::ranges::pop_heap(by_next_);
      by_next_.pop_back();
      if (next_[unit] == next) move(unit, kNever);
    }
    return capacity >= 0;
  }

  const Function& f_;
  const ir::Target& target_;
  const ir::Limits& limits_;
  int capacity_ = 0;
  std::uint32_t num_units_ = 0;
  std::vector<std::uint32_t> base_;
  std::vector<char> is_defined_;  // units: some def stands before
  std::vector<char> is_known_;    // vregs: the last def is not a copy and happens whatever holds
  std::vector<Access> accesses_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> next_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_next_;  // a heap: (next read, unit)
  int held_ = 0;
};

}  // namespace

std::optional<std::int64_t> fewest_refill_bytes(const ir::Function& before, const ir::Target& target, const ir::Limits& limits) {
  return Line(before, target, limits).run();
}

}  // namespace regduel::oracles
