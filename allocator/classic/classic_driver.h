// The driver of `classic`: NOSPILL, SPILL, the alternate allocator and the last fallback.
//
//   point  where it can fail or fall back                        what then
//   1      the level of register usage is below the demand       again, with the limit
//   2      an instruction that no path leads to is impossible    failure
//   3      NOSPILL: pressure is high, or no attempt fits         SPILL
//   4      an instruction that is reached is impossible          failure
//   5      SPILL: rounds used up, or nothing changes any more    the alternate allocator, and behind it the last fallback
//   6      the last fallback does not fit                        failure; only architectural registers could be the reason
//
// Source: source 000 "Retry Loop", "Per-Class Iteration"; source 001 "Spill Retry Loop", "Allocation Failure". Tested by
// classic_test.cpp.
#pragma once

#include <expected>

#include "allocator/driver.h"
#include "ir/allocator.h"

namespace regduel::allocator {

[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> run_classic(const ir::Function& program, const RunOptions& options);

}  // namespace regduel::allocator
