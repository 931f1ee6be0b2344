// The allocation that a set of elements (model.h) stands for.
//
// The writer goes through the blocks in reverse postorder. Around each instruction what is in registers is packed anew, where it was as
// far as it fits; one parallel copy moves it there, then refills come, and stores where a content begins. The slot of a content is that
// of the contents from which it comes without a store. Tested by by_point_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/allocator.h"
#include "reference/by_point/points.h"
#include "reference/program/plan.h"

namespace regduel::reference {

struct WrittenByPoint {
  ir::Allocation allocation;
  std::int64_t cost = 0;  // weighted bytes of stores and refills, without callee-saved registers
};

// Nothing where two contents would share a slot at a time, or a point has no room for what passes through a register.
[[nodiscard]] std::optional<WrittenByPoint> write_by_point(const Problem& problem, const Plan& plan, const Code& code,
                                                           const ByPointModel& model, const std::vector<bool>& is_taken,
                                                           ir::Fuel* fuel);

}  // namespace regduel::reference
