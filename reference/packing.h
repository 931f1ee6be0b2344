// Exact packing of one instruction's items into the register files: proves an instruction possible or impossible, and gives
// the homes for the last resort, in which everything else is in memory.
//
// Source: FORMAT.md "Demand". Fixed items first; then a backtracking search over the items that hold their units at both moments,
// widest first; below it, reads and writes are two independent packings. Identical items are placed in ascending order only.
// The search is cut off after 2^22 steps an instruction and file, and then counts as failed. Tested by packing_test.cpp,
// exhaustively against a search without any cleverness for small files.
//
// Most instructions need far less than there is. With round_up(item) = its units rounded up to a multiple of its alignment,
//   sum of round_up(item) over the items of a file <= length of the run of allocatable units that begins at unit 0
// implies that the items fit side by side, the strictest alignment first, whatever is read and whatever written: is_roomy(). So
// is_roomy(x) implies !pack(x).failed, which packing_test.cpp checks.
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

// Whether the items fit for want of any constraint but size and alignment; false says nothing. `run` by file: how many units from
// unit 0 on are allocatable. Cost O(items).
[[nodiscard]] bool is_roomy(const Shape& shape, const ir::PerFile<int>& run);

// Low units are preferred; units in `avoid` are used only where the items do not fit otherwise.
[[nodiscard]] Homes pack(const Shape& shape, const ir::PerFile<UnitSet>& allocatable, const ir::PerFile<UnitSet>& avoid);

}  // namespace regduel::reference
