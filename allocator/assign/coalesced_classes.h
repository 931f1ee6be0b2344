// Coalesced classes (the source's alias chains): vregs that a copy, a phi, a tie or a hint relates, and that can share a register.
//
// Which vregs can share a register is said in def_lists.h. A class is placed as one, so that the copies in it vanish. If it finds no
// place, its members are placed one by one. A class may have precoloured members, all in one register.
//
// Source: source 000 "Assignment", case 4 (alias chain propagation); the building of classes, which the source leaves to a pass
// before, is ours: union-find over the affinities, heaviest first. Tested by coalesced_classes_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/constraints.h"
#include "allocator/program/liveness.h"
#include "ir/allocator.h"

namespace regduel::allocator {

struct CoalescedClass {
  std::vector<ir::VRegId> members;  // ascending; at least two
  LiveRange range;                  // of all of them together
  int align_log2 = 0;
  ir::PReg fixed;
};

class CoalescedClasses {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  //   vregs   those of one file that have a live range, ascending
  // Cost: O(affinities x length of the ranges they join).
  CoalescedClasses(const ir::Function& f, const Liveness& live, const ConstraintLists& constraints,
                   std::span<const ir::VRegId> vregs, ir::Fuel* fuel = nullptr);

  [[nodiscard]] std::span<const CoalescedClass> all() const { return classes_; }
  // Index of the class of a vreg, kNone if it is in none.
  [[nodiscard]] std::uint32_t of(ir::VRegId v) const { return class_of_.empty() ? kNone : class_of_[v.index()]; }

 private:
  std::vector<CoalescedClass> classes_;
  std::vector<std::uint32_t> class_of_;  // by vreg; empty if there are no affinities
};

}  // namespace regduel::allocator
