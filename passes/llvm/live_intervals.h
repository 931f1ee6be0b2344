// Live intervals with value numbers: for each root, the segments of the program in which it is live, and the value that it holds
// in each (LLVM's LiveInterval and VNInfo; source 004, "Standard LLVM RegisterCoalescer").
//
// Slots. The program is a line of indices: one for the head of each block, with all its phis, then one for each other instruction.
// An index has four slots:
//     4n      a value that is read is live until 4n + 2, and a value that lives on through all four
//     4n + 1  early-clobber defs begin
//     4n + 2  other defs begin. A def without a reader is live in [4n + 2, 4n + 3)
// The uses of a phi live to the end of the predecessor, which is the head of the next block.
//
// Values. Each instruction that writes a root makes a value of it, guarded ones and those that write a part as well (the old value
// is read then); so does the head of a block where different values arrive, or none on some path. So a value's instruction, or
// block, dominates all where the value is, as in SSA form, whatever the program looks like.
//   original(v) = original(u) where v is made by an unguarded copy, whole root to whole root, of u; by a phi of only one; else v
// Two roots whose values have one original hold the same wherever both are live: the instruction of the original dominates
// those of both chains of copies, so that after each new run of it both chains are run again before either value is looked at. In
// blocks that are not reachable nothing dominates, and each value is its own original. Segments carry originals.
//
// Cost: O((instructions + blocks x roots that are live there) log). Tested by live_intervals_test.cpp.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"
#include "passes/live/segments.h"
#include "passes/liveness.h"

namespace regduel::passes::llvm {

using Slot = live::Point;
using live::ValueId;
inline constexpr std::uint32_t kNone = live::kNoValue;

// A written operand: its slot, and its number among the operands of its instruction, or that of the phi among those of its block.
using DefKey = std::uint64_t;
[[nodiscard]] constexpr DefKey def_key(Slot slot, std::size_t k) { return DefKey{slot} << 32 | k; }
[[nodiscard]] constexpr Slot slot_of(DefKey key) { return static_cast<Slot>(key >> 32); }
[[nodiscard]] constexpr std::size_t number_of(DefKey key) { return key & 0xFFFFFFFFu; }

struct Interval {
  live::Segments segments;  // with originals
  std::set<DefKey> defs;
  std::uint32_t values = 0;

  [[nodiscard]] ValueId value_at(Slot slot) const { return segments.value_at(slot); }
  [[nodiscard]] std::size_t size() const { return segments.size() + defs.size(); }
};

struct Value {
  ir::VRegId root;
  std::uint32_t inst = kNone;  // position in the function; none for what begins at the head of a block
  ir::BlockId head;            // that block
  ValueId original = kNone;
};

class LiveIntervals {
 public:
  LiveIntervals(const ir::Function& f, const ir::Cfg& cfg);

  [[nodiscard]] Interval& of(ir::VRegId root) { return intervals_[root.index()]; }
  [[nodiscard]] const Interval& of(ir::VRegId root) const { return intervals_[root.index()]; }
  [[nodiscard]] const Value& value(ValueId v) const { return values_[v]; }

  [[nodiscard]] Slot base(std::uint32_t inst) const { return 4 * index_of_[inst]; }  // of the head of its block, for a phi
  [[nodiscard]] Slot begin_of(ir::BlockId b) const { return 4 * first_index_[b.index()]; }
  [[nodiscard]] Slot end_of(ir::BlockId b) const { return 4 * first_index_[b.index() + 1]; }
  [[nodiscard]] ir::BlockId block_at(Slot slot) const { return block_of_[slot / 4]; }
  // The instruction of a def. Requires one of this program.
  [[nodiscard]] std::uint32_t inst_of(DefKey key) const;
  // Another phi of its block writes the same root: the two together make its value.
  [[nodiscard]] bool is_shared_phi(std::uint32_t inst) const { return is_shared_phi_[inst] != 0; }
  // All of it lies in one block, and none of it at its borders.
  [[nodiscard]] bool is_in_one_block(const Interval& i) const;

 private:
  struct Def {
    ir::VRegId root;
    std::uint32_t inst;
    Slot begin;
    bool kills;
  };
  struct Raw {
    ir::VRegId root;
    Slot begin, end;
    ValueId value;
  };
  void number_slots();
  void list_defs();
  void find_head_values(const Liveness& live);
  void list_segments(const Liveness& live);
  void fill(bool with_originals);
  void find_originals();
  ValueId new_value(ir::VRegId root, ir::BlockId head);
  [[nodiscard]] bool is_free(const ir::Operand& op) const;

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::vector<std::uint32_t> index_of_;     // by instruction
  std::vector<std::uint32_t> first_index_;  // by block, and one behind the last
  std::vector<std::uint32_t> inst_at_;      // by index; that of a head is where the instructions of its block begin
  std::vector<ir::BlockId> block_of_;       // by index
  std::vector<Def> defs_;                   // in program order: their numbers are those of their values
  std::vector<std::uint32_t> first_def_;    // by instruction, and one behind the last
  std::vector<Value> values_;
  std::vector<char> is_shared_phi_;        // by instruction
  std::vector<std::uint32_t> first_head_;  // by block: its first in head_values_
  std::vector<ValueId> head_values_;       // of what is live into each block, by root
  std::vector<Raw> raw_;
  std::vector<Raw> beside_early_;  // what is read beside an early-clobber def has a place even where no def reaches it
  std::vector<Interval> intervals_;
};

}  // namespace regduel::passes::llvm
