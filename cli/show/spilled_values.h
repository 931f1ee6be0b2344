// The values of a program that an allocation keeps in memory or computes again: which, from which line of the source, at what cost, and how
// many registers would have kept them. For people to look at. Tested by spilled_values_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "ir/program.h"

namespace regduel::cli {

struct SpilledValue {
  ir::VRegId vreg;     // root of the program before; invalid where spill code stands between no two operands of it
  std::string name;    // of that vreg, or ""
  std::string source;  // the line of its first def, "a.cu:12:3"; "" where that is not known
  int stores = 0, refills = 0, remats = 0;
  std::int64_t store_bytes = 0, load_bytes = 0;
  std::int64_t weighted_bytes = 0;  // bytes times the weight of their block, at most INT64_MAX
  int depth = 0;                    // of loops, the deepest of its spill code
  int registers = 0;  // of its file: the most that are live at once while it is; with so many it could stay. 0 = not known
};

// The heaviest first: by weighted bytes, then remats, then number.
//   Requires  `after` is an allocation of `before` without lowered spill code.
// A spill is of the value that the last operand before it in its block wrote to the register, a refill or remat of the one that the next
// operand behind it reads there; where no such operand stands in the block, of the value that the other spill code of the slot is of.
// Cost: O(holders x instructions), as LiveMap.
[[nodiscard]] std::vector<SpilledValue> spilled_values(const ir::Function& before, const ir::Function& after);

// As a list of objects with the fields of SpilledValue; vreg is null where it is invalid.
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<SpilledValue>& values);

// As a table; "" where there is none.
//   columns   of the terminal, 0 = any
[[nodiscard]] std::string text_of(const std::vector<SpilledValue>& values, int columns);

}  // namespace regduel::cli
