// What ptxas -v says of a file, said of our allocations of it; and what launch bounds mean for an allocation.
//
// The layout of the lines is that of ptxas 13.0.88: scripts/check/ptxas-test compares them. Tested by alloc_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input.h"
#include "ir/launch.h"
#include "oracles/quality/quality.h"
#include "oracles/quality/spill_statistics.h"

namespace regduel::cli {

class PtxasLines {
 public:
  explicit PtxasLines(const std::vector<Program>& programs)
      : programs_(programs), registers_(programs.size(), 0), stacks_(programs.size(), 0) {}

  // About function k, once it is allocated: the limit that it was given (0 = none) and by what, its stack, its spills.
  std::string of_function(std::size_t k, const ir::Target& target, const oracles::Measures& m,
                          const oracles::SpillStatistics& spills, int limit, std::string_view reason);
  // About a kernel, once all functions are allocated: its registers, barriers and stack with that of the functions that it calls. "" of a
  // device function.
  [[nodiscard]] std::string of_kernel(std::size_t k) const;

 private:
  [[nodiscard]] std::int64_t cumulative_stack(std::size_t k, std::vector<std::optional<std::int64_t>>& known) const;

  const std::vector<Program>& programs_;
  std::vector<int> registers_;
  std::vector<std::int64_t> stacks_;
};

// With how many registers a thread begins: as many as the allocation takes, but where `setmaxnreg` changes the limit, as many as it is given.
//   limit   0 = none
[[nodiscard]] int registers_at_entry(const ir::Function& f, const oracles::Measures& m, int limit);

// A kernel that cannot be launched with the registers that it got; and, where its bounds are the limit, bounds that are not followed or cost
// spills. A sentence each.
//   registers   at the entry
//   bounds      null = they are not the limit
[[nodiscard]] std::vector<std::string> notes_of_launch(const ir::LaunchBounds& declared, const ir::Target& target,
                                                       const oracles::Measures& m, int registers, const ir::LaunchLimit* bounds);

}  // namespace regduel::cli
