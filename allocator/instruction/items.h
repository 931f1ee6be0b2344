// The items of one instruction: which of its operands stand in one home, and at which moments they hold it.
//
// FORMAT.md "Demand" defines items; this is that table as code. The packer finds homes for all items of an instruction. Spill code
// gives an item a temporary where it cannot stand in the home that its vreg has between instructions.
//
//   item                                   reads (R)  writes (W)
//   uses and guard of one root             x                      unfixed ones join any other item of their root that holds R
//   def                                               x
//   early-clobber def                      x          x           shares R with nothing, not even its own root
//   def-use, guarded def, tied def + use   x          x
//   defs of parts of one root, together    x          x           "keeps": not in a clobbered unit
//
// Tested by packing_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

struct Item {
  ir::VRegId reads;   // root whose old bytes are read or kept; invalid where it does not hold R
  ir::VRegId writes;  // root written; invalid = none
  ir::RegFile file = ir::RegFile::R;
  int units = 1;
  int align = 1;
  ir::PReg fixed;
  bool at_reads = false;
  bool at_writes = false;
  bool keeps = false;
  bool early = false;          // destroyed before the uses are read: shares its home with no other item
  bool architectural = false;  // has its register anyway: takes no unit from any other

  // The root whose shape the home has.
  [[nodiscard]] ir::VRegId root() const { return writes.is_valid() ? writes : reads; }
};

inline constexpr std::uint16_t kNoItem = 0xFFFF;

struct Items {
  std::vector<Item> items;
  std::vector<std::uint16_t> of_operand;  // by operand of the instruction; kNoItem for operands that are no vregs
};

// Units of a file that an instruction clobbers.
[[nodiscard]] ir::UnitSet clobbered_units(const ir::Function& f, const ir::Inst& inst, ir::RegFile file);

// Requires: operands name roots, and say their fixed registers (out_of_ssa). Reuses the memory of `out`.
void build_items(const ir::Function& f, const ir::Inst& inst, Items& out);

}  // namespace regduel::allocator
