// Exact packing of one instruction's items into the register files: proves an instruction possible or impossible, and gives
// the homes for the last resort, in which everything else is in memory.
//
// Source: FORMAT.md "Demand". Fixed items first; then first fit, widest first. Where that fails, a search over the items that hold
// their units at both moments, identical ones in ascending order only, that goes on while reads and writes, each by itself, could
// take all items that are to come; below it, reads and writes are two independent packings. One moment is packed from unit 0 on,
// item behind item, each at its first place; of the dead ends the least end of each choice of items is kept, so there are at most
// units x groups x product(items of a group + 1) steps. A failure is proven. Tested by packing_test.cpp, exhaustively against a
// search without any cleverness for small files, and by properties/exact_packing_test.cpp at the limit for large ones.
//
// Most instructions need far less than there is. With round_up(item) = its units rounded up to a multiple of its alignment,
//   sum of round_up(item) over the items of a file <= length of a run of allocatable units that begins at a multiple of each alignment
// implies that the items fit side by side, the strictest alignment first, whatever is read and whatever written: is_roomy(). So
// is_roomy(x) implies !pack(x).failed, which packing_test.cpp checks.
#pragma once

#include <optional>
#include <vector>

#include "ir/target.h"
#include "reference/instruction/shape.h"

namespace regduel::reference {

struct Homes {
  std::vector<ir::PReg> of_item;      // parallel to Shape::items
  std::optional<ir::RegFile> failed;  // the first file whose items do not fit; of_item is then without meaning
};

// Units [first, end), all allocatable.
struct UnitRun {
  int first = 0, end = 0;
};
[[nodiscard]] UnitRun longest_run(const ir::UnitSet& allocatable);

// Whether the items fit for want of any constraint but size and alignment; false says nothing. Cost O(items).
[[nodiscard]] bool is_roomy(const Shape& shape, const ir::PerFile<UnitRun>& runs);

// Low units are preferred; units in `avoid` are used only where the items do not fit otherwise.
[[nodiscard]] Homes pack(const Shape& shape, const ir::PerFile<UnitSet>& allocatable, const ir::PerFile<UnitSet>& avoid);

}  // namespace regduel::reference
