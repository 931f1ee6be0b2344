// How many registers a thread may have by what a kernel says of its launches, as ptxas 13.0 decides it: `.maxnreg`, and the threads of an SM
// that `.maxntid` (or `.reqntid`) and `.minnctapersm` ask for. FORMAT.md, "Launch bounds", has the rules. Tested by launch_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/target.h"

namespace regduel::ir {

// 0 = not given.
struct LaunchBounds {
  std::uint32_t threads = 0;    // `.maxntid` or `.reqntid`: a block has at most as many
  std::uint32_t blocks = 0;     // `.minnctapersm`: as many blocks at least fit an SM
  std::uint32_t registers = 0;  // `.maxnreg`: a thread has at most as many

  friend bool operator==(const LaunchBounds&, const LaunchBounds&) = default;
};

struct LaunchLimit {
  int registers = 0;               // 0 = the function gives no bound
  std::string reason;              // ".maxntid 384 .minnctapersm 2"
  std::vector<std::string> notes;  // bounds that are not followed, and why
};
[[nodiscard]] LaunchLimit launch_limit(const LaunchBounds& bounds, const Target& target);

// The most registers a thread with which an SM holds so many blocks of so many threads at once; at most those of a thread.
[[nodiscard]] int registers_of_blocks(const Target& target, std::uint32_t threads, std::uint32_t blocks);

// A sentence about an allocation that spills so many bytes where the bounds leave fewer registers than are live at once.
[[nodiscard]] std::string cost_of_bounds(const LaunchLimit& limit, int max_live, std::int64_t spill_bytes);

// Of a kernel that says how many threads a block has, and cannot be launched with so many registers: one sentence; else "".
[[nodiscard]] std::string why_not_launched(const LaunchBounds& bounds, const Target& target, int registers);

}  // namespace regduel::ir
