// The spill statistics of one allocated program, with the names, the order and the lines of ptxas, measured from the program.
//
// Source: source 001 "Spill Statistics": its table of nine fields, and the three formats in which they and the latency are printed.
// The layout of the lines is that of the format strings of ptxas 13.0.88 (where the source breaks a line, they do not):
// scripts/check/ptxas-test compares function_properties() and spill_warning() with what ptxas prints. The source says of most fields no
// more than what their names say; what they mean here stands beside each. Bytes are those that the instructions of the text move,
// each counted once, as in the other measures. Tested by spill_statistics_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "oracles/quality/quality.h"

namespace regduel::oracles {

struct SpillStatistics {
  // est latency: cycles of one thread, nothing overlapping, each instruction times the weight of its block (Measures,
  // estimated_latency). ptxas estimates with a model of its own that the source does not describe. nullopt = saturated.
  std::optional<std::int64_t> estimated_latency = 0;

  // LSpillB: bytes that spill stores move to slots of local memory. Saves of callee-saved registers are spill stores.
  std::int64_t local_spill_bytes = 0;
  // LRefillB: bytes that refills move from slots of local memory.
  std::int64_t local_refill_bytes = 0;
  // SRefillB: bytes that refills move from slots of shared memory.
  std::int64_t shared_refill_bytes = 0;
  // SSpillB: bytes that spill stores move to slots of shared memory.
  std::int64_t shared_spill_bytes = 0;
  // LowLmemSpillSize: the least local memory in which these slots have room: the sum of their sizes, without gaps between them.
  // The source has "low-bound local memory spill size"; it could as well be what ptxas puts at low addresses, outside a frame.
  std::int64_t low_local_size = 0;
  // FrameLmemSpillSize: bytes of the local frame in which the slots stand, gaps and final alignment included; never below the
  // former where slots stand in the frame, as they must. The program's own variables are not in it.
  std::int64_t frame_local_size = 0;
  // LNonSpillB: bytes that the program's own stores move to local memory: st with the qualifier .local, by its type and vector.
  // The source has "non-spill local memory bytes". Stores through generic addresses cannot be told from others and do not count;
  // nor do arguments of calls in memory (st.param).
  std::int64_t local_own_store_bytes = 0;
  // LNonRefillB: bytes that its own loads move from local memory: ld.local, the same way; a remat that repeats one included.
  std::int64_t local_own_load_bytes = 0;
  // NonSpillSize: bytes of its own variables in local memory, at the beginning of the frame.
  std::int64_t own_size = 0;

  friend bool operator==(const SpillStatistics&, const SpillStatistics&) = default;
};

// The fields behind the latency in the order of the source, under its names.
inline constexpr std::array<std::pair<std::string_view, std::int64_t SpillStatistics::*>, 9> kSpillFields = {{
    {"LSpillB", &SpillStatistics::local_spill_bytes},
    {"LRefillB", &SpillStatistics::local_refill_bytes},
    {"SRefillB", &SpillStatistics::shared_refill_bytes},
    {"SSpillB", &SpillStatistics::shared_spill_bytes},
    {"LowLmemSpillSize", &SpillStatistics::low_local_size},
    {"FrameLmemSpillSize", &SpillStatistics::frame_local_size},
    {"LNonSpillB", &SpillStatistics::local_own_store_bytes},
    {"LNonRefillB", &SpillStatistics::local_own_load_bytes},
    {"NonSpillSize", &SpillStatistics::own_size},
}};

//   measures   measure() of this program
//   before     the program over vregs, which says how much of the frame its own variables take
// Requires well-formed programs. Cost: O(size).
[[nodiscard]] SpillStatistics spill_statistics(const Measures& measures, const ir::Function& before, const ir::Function& after);

// Two lines, each with its end. The latency is *saturated* where it is no number.
[[nodiscard]] std::string report_lines(const SpillStatistics& s);

// Two lines without the end of the second: as ptxas -v has them behind "ptxas info    : ". Spill bytes are those of local memory; the
// stack has the local variables of the program as well.
[[nodiscard]] std::string function_properties(std::string_view function, const SpillStatistics& s, std::int64_t stack_bytes);

// The text of --warn-on-spills; nullopt where nothing is spilled to local memory. ptxas 13.0.88 is silent about some device
// functions that it lists with spill bytes and a frame of 0 bytes; here each function with such bytes is named, as the source says.
[[nodiscard]] std::optional<std::string> spill_warning(std::string_view function, const SpillStatistics& s);

}  // namespace regduel::oracles
