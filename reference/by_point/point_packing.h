// Whether what is in registers around one instruction finds places there, each tuple aligned: an exact search.
//
// Two tenants conflict where both hold their units while the instruction reads, or both while it writes. First each takes its
// preferred place; then the smallest gap that is left, widest first, those that hold their units at both moments before the others,
// which always succeeds where all may stand anywhere; then all choices. Tested by point_packing_test.cpp, against all choices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/unit_set.h"

namespace regduel::reference {

struct Tenant {
  int units = 1, align_log2 = 0;
  ir::UnitSet room;  // units that it may hold
  bool at_reads = false, at_writes = false;
  int preferred = -1;  // a unit
};

enum class Packing : std::uint8_t { Fits, Impossible, Unknown };

// Where they fit, the first unit of each. Cost: exponential at worst, bounded by 200'000 steps; then the answer is Unknown.
[[nodiscard]] Packing pack_point(const std::vector<Tenant>& tenants, std::vector<int>& unit_of);

}  // namespace regduel::reference
