// Joining the live intervals of two roots, by the values that they hold (LLVM's JoinVals; source 004, "Coalescing Algorithm").
//
// Two roots may share a register where, at each point at which both are live, both hold the same. That holds everywhere if it holds
// behind each def of one of them that lies in the other's live range. Such a def is no conflict where it
//     copies the other root, or the same part of it          (`%a = copy %b` with %b live behind it)
//     has the same original as what the other one holds      (`%a = copy %c` where %b is a copy of the same value of %c)
//     is a phi all of whose uses on all edges are so
// and is *erased* by the join: the register holds the value already. Two defs in one copy, or by two phis of one block, have to
// move the same value; one of them is erased. Anything else is a conflict. An undefined value is equal to any other.
//
// The argument, by induction over an execution: where both are live, each of them is undefined or the register holds its value.
// A def of the first kind moves between the two what the register holds anyway; where the source is undefined, so is the def.
// A def of the second kind is of a value whose chain of copies, as the other's, was run since its original was (live_intervals.h).
// On an edge nothing happens but phis; where one root is not live at the end of the predecessor, no def of it reaches there, and it
// is undefined on that path.
//
// Which roots may share at all is for may_share() to say: one class, width, alignment, fixed register, flags, and both or neither
// of floating-point type. So no instruction demands more registers than before: what changes is that two items become one.
//
// A value that a guarded copy hands on is that of its source where it matters, but only an argument about the guard says so. Where
// the source can be computed again an allocator may do that behind such a copy, and no judge follows it there; so of a join that
// makes a guarded copy do nothing, no side is defined by what is rematerialisable.
//
// A join costs O(s log l) with s the size of the smaller interval and l that of the larger, and O(log l) a def that is erased.
// Tested by joiner_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "passes/llvm/live_intervals.h"

namespace regduel::passes::llvm {

class Joiner {
 public:
  // Both outlive this.
  Joiner(const ir::Function& f, LiveIntervals& intervals);

  // The root that stands for all that were joined with this one.
  [[nodiscard]] ir::VRegId find(ir::VRegId root);
  [[nodiscard]] bool may_share(ir::VRegId a, ir::VRegId b) const;

  // The defs that a join of two representatives erases; nullopt if the two conflict. Requires a != b.
  [[nodiscard]] std::optional<std::vector<DefKey>> plan(ir::VRegId a, ir::VRegId b);
  // Carries it out, and returns the representative of both: the lower number. Requires `erased` to be plan(a, b).
  ir::VRegId join(ir::VRegId a, ir::VRegId b, const std::vector<DefKey>& erased);

  // Counts the changes of a representative's interval.
  [[nodiscard]] std::uint32_t version(ir::VRegId root) const { return version_[root.index()]; }

  // A copy of several pairs that has to stay as it is, since an allocator could not insert what is left of it: it writes an
  // architectural vreg, or copies between a narrow vreg, which has a whole unit, and a part. Or any copy that gives up registers
  // (pass.h). Or one of two phis that write one root.
  [[nodiscard]] bool is_pinned(std::uint32_t inst) const;
  // Erases a pair of a copy, or a phi (k = 0), that writes a value which the register holds already or which no instruction needs.
  void erase(std::uint32_t inst, std::size_t k);
  [[nodiscard]] bool is_erased(std::uint32_t inst, std::size_t k) const;
  // Replaces a copy by a repetition of the def of its value `v`. The repetition reads no register, so other joins may put another
  // value where the copy's use was.
  void rematerialise(std::uint32_t inst, ValueId v) { repeated_value_[inst] = v; }
  [[nodiscard]] bool is_rematerialised(std::uint32_t inst) const { return repeated_value_[inst] != kNone; }
  // Makes the interval of a representative as small as what is left of its uses allows. Cost: O(its size log its size + uses).
  void shrink(ir::VRegId root);
  [[nodiscard]] const std::vector<ir::VRegId>& members(ir::VRegId root) const { return members_[root.index()]; }
  // Copies of whole roots and phis that still read a representative.
  [[nodiscard]] int copies_from(ir::VRegId root) const;

 private:
  // A use and where it lies: the use of a phi, at the end of its predecessor.
  struct Use {
    std::uint32_t inst, operand;
    Slot end;
  };
  void list_uses();
  [[nodiscard]] bool is_live_use(const Use& use) const;
  [[nodiscard]] bool is_harmless(DefKey def, ir::VRegId x, ir::VRegId y);
  [[nodiscard]] bool copies_other(const ir::Operand& def, const ir::Operand& use, ir::VRegId x, ir::VRegId y);
  [[nodiscard]] bool are_same(DefKey a, DefKey b, ir::VRegId x, ir::VRegId y);
  [[nodiscard]] bool same_source(const ir::Operand& a, const ir::Operand& b, ir::VRegId x, ir::VRegId y, Slot slot);
  [[nodiscard]] bool hides_guard(ir::VRegId a, ir::VRegId b, const std::vector<DefKey>& erased);
  [[nodiscard]] ValueId value_of(const ir::Operand& use, Slot slot);

  const ir::Function& f_;
  LiveIntervals& intervals_;
  const ir::Cfg cfg_;
  std::vector<ir::VRegId> parent_;
  std::vector<std::vector<ir::VRegId>> members_;
  std::vector<std::uint32_t> version_;
  std::vector<std::uint32_t> first_flag_;  // by instruction: of its pairs in is_erased_
  std::vector<char> is_erased_;
  std::vector<ValueId> repeated_value_;  // by instruction; kNone = as it was
  std::vector<std::vector<Use>> uses_;   // by root
  // By representative: copies under a guard, by the root on their other side; whether a join has made one of them, or a like one,
  // do nothing; whether a rematerialisable instruction defines it.
  std::vector<std::vector<ir::VRegId>> guarded_;
  std::vector<char> has_hidden_guard_, is_repeatable_;
};

}  // namespace regduel::passes::llvm
