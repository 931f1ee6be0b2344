// See refill_bound.h. First the values: each def of a unit makes one; copies, phis, packs and unpacks pass it on, so that several
// vregs can hold one value. Then each instruction is three moments: reads (with early-clobber defs), clobbers, writes. A moment
// brings in the values that it must have, and evicts the values that are read again last until the rest fits. Tested by
// refill_bound_test.cpp, and against a search over all choices by properties/belady_test.cpp.

#include "oracles/quality/refill_bound.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ir/register_limit.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;

constexpr std::uint32_t kUnitBytes = 4;
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

using Value = std::uint32_t;
constexpr Value kNoValue = kNever;

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

// The content of a unit of a vreg.
struct Content {
  Value value = kNoValue;  // none: undefined, or not one that takes part
  bool is_defined = false;
};

struct Access {
  Value value;
  std::uint32_t next = kNever;  // the step that reads it next; of a read that another one of its step repeats: the step
};

// The accesses of one instruction, as ranges.
struct Step {
  std::uint32_t reads, early, defs, end;
  int behind_clobbers;  // units that its clobbers leave
};

class Line {
 public:
  Line(const Function& f, const ir::Target& target, const ir::Limits& limits) : f_(f), target_(target), limits_(limits) {
    for (int u = 0; u < limits.of(ir::RegFile::R); ++u) capacity_ += is_allocatable(u) ? 1 : 0;
    std::uint32_t units = 0;
    for (const ir::VReg& v : f.vregs) {
      base_.push_back(units);
      units += (static_cast<std::uint32_t>(v.bytes()) + kUnitBytes - 1) / kUnitBytes;
    }
    contents_.resize(units);
    is_known_.resize(f.vregs.size());
  }

  std::optional<std::int64_t> run() {
    const std::vector<BlockId> path = only_path(f_);
    if (path.empty()) return std::nullopt;
    for (const BlockId b : path) {
      copy_phis(b);
      for (const Inst& i : f_.insts_of(b))
        if (!i.is_phi()) add_step(i);
    }
    find_next_reads();
    return evict();
  }

 private:
  [[nodiscard]] bool is_allocatable(int unit) const { return ir::is_allocatable(target_, f_.abi, limits_, ir::RegFile::R, unit); }

  // --- values

  // Whether a value in this operand is in R or in memory, and nowhere else.
  [[nodiscard]] bool is_in_r(const Operand& op) const {
    const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
    if (root.file() != ir::RegFile::R || root.is_architectural() || (root.flags & ir::kVRegUniform) != 0) return false;
    const ir::PReg r = f_.fixed_of(op);
    for (int u = r.begin(); r.is_valid() && u < r.end(); ++u)
      if (!is_allocatable(u)) return false;
    return true;
  }
  // The units that the operand touches.
  [[nodiscard]] std::span<Content> contents_of(const Operand& op) {
    if (!op.is_vreg()) return {};
    const Storage s = f_.storage(op);
    const std::uint32_t begin = s.offset / kUnitBytes, end = (s.offset + std::uint32_t{s.size} + kUnitBytes - 1) / kUnitBytes;
    return std::span(contents_).subspan(base_[s.root.index()] + begin, end - begin);
  }
  // It touches whole units.
  [[nodiscard]] bool is_of_units(const Operand& op) const {
    if (!op.is_vreg()) return false;
    const Storage s = f_.storage(op);
    return s.offset % kUnitBytes == 0 && s.size % kUnitBytes == 0;
  }
  // The value of the operand needs no refill, or a smaller one.
  void leave_out(const Operand& op) {
    for (const Content& c : contents_of(op)) leave_out(c.value);
  }
  void leave_out(Value v) {
    if (v != kNoValue) takes_part_[v] = 0;
  }

  // `from`: what is moved into the units of `op`, one after the other; empty where that is not known.
  void move_into(const Operand& op, std::span<const Content> from, bool is_guarded) {
    const std::span<Content> to = contents_of(op);
    const bool is_whole = !is_guarded && is_of_units(op) && from.size() == to.size();
    if (!is_whole || !is_in_r(op))
      for (const Content& c : from) leave_out(c.value);
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = is_whole ? from[k] : Content{kNoValue, to[k].is_defined && is_guarded && k < from.size() && from[k].is_defined};
  }

  struct Pair {
    Operand def, use;
  };
  // All at one time.
  void move(std::span<const Pair> pairs, bool is_guarded) {
    std::vector<Content> moved;
    std::vector<bool> known;
    for (const Pair& p : pairs) {
      const auto from = contents_of(p.use);
      moved.insert(moved.end(), from.begin(), from.end());
      known.push_back(is_known(p.use));
    }
    std::span<const Content> left = moved;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto& [def, use] = pairs[k];
      const std::size_t size = contents_of(use).size();
      if (!is_of_units(use)) leave_out(use);
      move_into(def, left.first(is_of_units(use) ? size : 0), is_guarded);
      left = left.subspan(size);
      know(def, known[k] && !is_guarded);
    }
  }
  void copy_phis(BlockId b) {
    std::vector<Pair> pairs;
    for (const Inst& i : f_.insts_of(b))
      if (i.is_phi()) pairs.push_back({f_.operands_of(i)[0], f_.operands_of(i)[1]});
    move(pairs, false);
  }
  void copy(std::span<const Operand> ops, bool is_guarded) {
    std::vector<Pair> pairs;
    for (const auto [def, use] : ir::copy_pairs(ops)) pairs.push_back({def, use});
    move(pairs, is_guarded);
  }
  void move_pieces(std::span<const Operand> ops, bool is_guarded) {
    std::vector<Content> moved;
    bool is_of_whole_units = true;
    for (const Operand& use : ir::uses_of(ops)) {
      is_of_whole_units = is_of_whole_units && is_of_units(use);
      const auto from = contents_of(use);
      moved.insert(moved.end(), from.begin(), from.end());
    }
    std::span<const Content> left = moved;
    if (!is_of_whole_units)
      for (const Operand& use : ir::uses_of(ops)) leave_out(use);
    for (const Operand& def : ir::defs_of(ops)) {
      const std::size_t size = is_of_whole_units ? std::min(contents_of(def).size(), left.size()) : 0;
      move_into(def, left.first(size), is_guarded);
      left = left.subspan(size);
    }
  }

  void define(const Operand& op, bool is_guarded, bool is_repeatable) {
    const bool is_value = !is_guarded && !is_repeatable && is_of_units(op) && is_in_r(op);
    for (Content& c : contents_of(op)) {
      c.value = kNoValue;
      c.is_defined = c.is_defined || (!is_guarded && is_of_units(op));
      if (!is_value) continue;
      c.value = static_cast<Value>(takes_part_.size());
      takes_part_.push_back(1);
      accesses_.push_back({c.value});
    }
  }
  void read(const Operand& op) {
    const auto contents = contents_of(op);
    if (!is_of_units(op) || !is_in_r(op)) return leave_out(op);
    if (!std::ranges::all_of(contents, &Content::is_defined)) return;
    for (const Content& c : contents)
      if (c.value != kNoValue) accesses_.push_back({c.value});
  }

  // This predicate is defined: the last instruction that wrote it always happens, and what a copy moved was defined.
  [[nodiscard]] bool is_known(const Operand& op) const { return op.is_vreg() && is_known_[f_.root(op.vreg()).index()] != 0; }
  void know(const Operand& op, bool known) { is_known_[f_.root(op.vreg()).index()] = known ? 1 : 0; }

  void add_step(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const Operand* const guard = ir::guard_of(ops);
    const bool is_guarded = guard != nullptr, happens = !is_guarded || is_known(*guard);
    if (ir::moves_value(i.op)) return copy(ops, is_guarded);  // it may go, with its clobbers
    Step step = {.reads = size(), .early = 0, .defs = 0, .end = 0, .behind_clobbers = capacity_};
    for (const Operand& op : ops)
      if (op.reads() && op.is_vreg() && happens) read(op);
    step.early = step.defs = step.end = size();
    if (ir::moves_pieces(i.op)) {
      move_pieces(ops, is_guarded);
    } else {
      for (const Operand& op : ops)
        if (op.is_vreg() && op.is_early_clobber()) define(op, is_guarded, i.is_repeatable());
      step.defs = size();
      for (const Operand& op : ops)
        if (op.is_vreg() && op.writes() && !op.is_early_clobber()) define(op, is_guarded, i.is_repeatable());
      step.end = size();
    }
    for (const Operand& op : ir::defs_of(ops))
      if (op.is_vreg()) know(op, !is_guarded);
    if (happens) step.behind_clobbers -= clobbered_by(ops);
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

  // --- registers

  void find_next_reads() {
    next_.assign(takes_part_.size(), kNever);
    for (std::uint32_t k = static_cast<std::uint32_t>(steps_.size()); k-- > 0;) {
      const Step& step = steps_[k];
      for (std::uint32_t a = step.early; a < step.end; ++a) accesses_[a].next = std::exchange(next_[accesses_[a].value], kNever);
      for (std::uint32_t a = step.reads; a < step.early; ++a) accesses_[a].next = std::exchange(next_[accesses_[a].value], k);
    }
  }

  // No value is in a register before its def: next_[v] is kNever, as find_next_reads() leaves it.
  // The registers hold the values with next_[v] != kNever, `held_` in number; by_next_ has an entry for each of them at least.
  std::optional<std::int64_t> evict() {
    std::int64_t bytes = 0;
    const auto defined = [&](std::uint32_t from, std::uint32_t to) {
      int n = 0;
      for (std::uint32_t a = from; a < to; ++a) n += takes_part_[accesses_[a].value];
      return n;
    };
    for (std::uint32_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      for (std::uint32_t a = step.reads; a < step.early; ++a) {
        const Value v = accesses_[a].value;
        if (takes_part_[v] == 0 || next_[v] != kNever) continue;
        hold(v, k);
        bytes += kUnitBytes;
      }
      if (!shrink_to(capacity_ - defined(step.early, step.defs), k)) return std::nullopt;
      for (std::uint32_t a = step.reads; a < step.early; ++a)
        if (takes_part_[accesses_[a].value] != 0 && accesses_[a].next != k) move(accesses_[a].value, accesses_[a].next);
      if (!shrink_to(step.behind_clobbers, k)) return std::nullopt;
      if (!shrink_to(capacity_ - defined(step.early, step.end), k)) return std::nullopt;
      for (std::uint32_t a = step.early; a < step.end; ++a)
        if (takes_part_[accesses_[a].value] != 0 && accesses_[a].next != kNever) hold(accesses_[a].value, accesses_[a].next);
    }
    return bytes;
  }
  void hold(Value v, std::uint32_t next) {
    ++held_;
    next_[v] = next;
    by_next_.emplace_back(next, v);
    std::ranges::push_heap(by_next_);
  }
  void move(Value v, std::uint32_t next) {
    --held_;
    next_[v] = kNever;
    if (next != kNever) hold(v, next);
  }
  // False where what step k reads would have to go.
  bool shrink_to(int capacity, std::uint32_t k) {
    while (held_ > capacity) {
      if (by_next_.empty()) return false;
      const auto [next, v] = by_next_.front();
      if (next <= k) return false;
      std::ranges::pop_heap(by_next_);
      by_next_.pop_back();
      if (next_[v] == next) move(v, kNever);
    }
    return capacity >= 0;
  }

  const Function& f_;
  const ir::Target& target_;
  const ir::Limits& limits_;
  int capacity_ = 0;
  std::vector<std::uint32_t> base_;  // of a root: its first unit in contents_
  std::vector<Content> contents_;
  std::vector<char> is_known_;    // of a root
  std::vector<char> takes_part_;  // of a value
  std::vector<Access> accesses_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> next_;                       // of a value that a register holds: the step that reads it next
  std::vector<std::pair<std::uint32_t, Value>> by_next_;  // a heap: (next read, value)
  int held_ = 0;
};

}  // namespace

std::optional<std::int64_t> fewest_refill_bytes(const ir::Function& before, const ir::Target& target, const ir::Limits& limits) {
  if (ir::changes_register_limit(before)) return std::nullopt;  // the bound knows one limit
  return Line(before, target, limits).run();
}

}  // namespace regduel::oracles
