// One function in detail, for the page: what each allocator made of it, as people want to see it. All of it is made anew from the
// program: the judges judge again, and fatpoint explains itself again.
//
//   limits, files            {"R": 24, ...}; of each file in use: pressure of the program before, a figure an instruction
//   before                   listing: text, id and position (-1: a block's head) of each row
//   allocations[]            allocator (its column on the page), verdict, reason, judges, findings; measures: those that are compared, by
//                            name, null where there is no program; where there is one: listing with `mark` (spill, refill, remat,
//                            copy, pack, edge, deleted, ""), and by file the pressure and the live ranges [unit, first moment, end,
//                            number of the vreg or -1] (live_map.h); spilled: spilled_values.h
//   explained                the column of the last fatpoint, which explains itself
//   vregs[]                  the most spilled vregs and those with most neighbours: the state when fatpoint decided (units, both
//                            arrays, reasons), and the interference graph of the neighbourhood
//   reproducer               an .rir file whose head replays the case
//
// Tested by document_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "duel/case.h"
#include "ir/allocator.h"

namespace regduel::cli {

inline constexpr std::size_t kMostDetailedInstructions = 2000;
inline constexpr std::size_t kMostDetailedVRegs = 12;
inline constexpr std::size_t kMostNeighbours = 16;

// Allocators that play under the same knobs.
struct DetailedSide {
  std::vector<const ir::Allocator*> allocators;
  std::vector<std::string> columns;  // their names on the page
  duel::Knobs knobs;
};

// Requires: at most kMostDetailedInstructions. Deterministic. The knobs of the input are those of its reproducer alone.
[[nodiscard]] nlohmann::ordered_json function_detail(const duel::Case& input, std::span<const DetailedSide> sides);

}  // namespace regduel::cli
