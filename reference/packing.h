// Exact packing of one instruction's items into the register files: proves an instruction possible or impossible, and gives
// the homes for the last resort, in which everything else is in memory.
//
// Source: FORMAT.md "Demand". Fixed items first; then a backtracking search over the items that hold their units at both moments,
// widest first; below it, reads and writes are two independent packings. Identical items are placed in ascending order only.
// The search is cut off after 2^22 steps an instruction and file, and then counts as failed. Tested by packing_test.cpp,
// exhaustively against a search without any cleverness for small files.
#pragma once

#include <optional>
#include <vector>

#include "ir/target.h"
#include "reference/shape.h"

namespace regduel::reference {

struct Homes {
  std::vector<ir::PReg> of_item;      // parallel to Shape::items
  std::optional<ir::RegFile> failed;  // the first file whose items do not fit; of_item is then without meaning
};

// Low units are preferred; units in `avoid` are used only where the items do not fit otherwise.
[[nodiscard]] Homes pack(const Shape& shape, const ir::PerFile<UnitSet>& allocatable, const ir::PerFile<UnitSet>& avoid);

}  // namespace regduel::reference
