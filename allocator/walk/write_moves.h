// Writes the moves of walks: a vreg becomes one vreg for each register in which it stands, and copies between them stand where it moves.
//
// Moves on an edge stand at the end of the edge that has no other edge, or in an edge block. Tested by write_moves_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/spill_code/spill_code.h"
#include "allocator/walk/file_walk.h"
#include "ir/cfg.h"

namespace regduel::allocator {

struct MovedProgram {
  SpillCode code;  // without now_at, is_changed and temp_of
  ir::Cfg cfg;
  std::vector<std::int64_t> frequency;  // by block
  std::vector<int> homes;               // by vreg: first unit
};

//   walks     all of them fit
//   homes     by vreg of `code`: its home; -1 = a walk says so
//   unit_of   by operand, of the walks; negative = the home of its vreg
[[nodiscard]] MovedProgram write_moves(const SpillCode& code, const ir::Cfg& cfg, std::span<const std::int64_t> frequency,
                                       std::span<const Walk> walks, std::vector<int> homes, std::span<const std::int16_t> unit_of);

}  // namespace regduel::allocator
