// What an allocator usually takes for a program of some size, in time or memory, so that a program can be told that takes many times that.
//
// The measure is a line: `base` is what a program of one instruction takes, `each` the median over the first kUsualPrograms of the
// standard mix of what an instruction takes beyond it. These programs are always the same. Memory is that of HeapPeak, which is the
// same each time but for what malloc rounds up; time is that of the processor and depends on the machine. A median needs no more than one
// measurement of each program; of one case time is the least of kTimings.
//
// Tested by usual_cost_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "duel/case.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

enum class Cost { HeapBytes, Microseconds };
inline constexpr int kUsualPrograms = 32;
inline constexpr int kTimings = 5;

// "heap_bytes", "microseconds"; nullopt for any other name.
[[nodiscard]] std::optional<Cost> find_cost(std::string_view name);

struct UsualCost {
  double base = 0, each = 0;
  [[nodiscard]] double of(std::size_t instructions) const { return base + each * static_cast<double>(instructions); }
};
// Found once in a process, and known in processes that are forked from it. nullopt where nothing counts it (heap_use.h), or the allocator makes none of the programs.
[[nodiscard]] std::optional<UsualCost> usual_cost(const ir::Allocator& allocator, Cost cost);

// Of one allocation of the case, whether it succeeds or not; of time the least of kTimings.
//   fuel   null = as much as it takes
[[nodiscard]] std::optional<std::int64_t> cost_of(const ir::Allocator& allocator, const duel::Case& input, Cost cost,
                                                  ir::Fuel* fuel = nullptr);

}  // namespace regduel::fuzz
