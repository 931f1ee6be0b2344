// What one instruction asks of the register files: its operands grouped into *items*, each of which needs one home.
//
// Source: FORMAT.md "Meaning" and "Demand". Operands that must or may share a home without cost are one item: a def with the
// use that it is tied to; all defs of parts of one root; the reads of one root. Both the exact packing (packing.h) and the
// lowering (lower.h) start from here, so that what the one proves possible the other can express.
// Tested by packing_test.cpp and lower_test.cpp.
#pragma once

#include <vector>

#include "ir/program.h"
#include "reference/unit_set.h"

namespace regduel::reference {

struct Item {
  ir::VRegId read_root;   // whose value must be in the home before the instruction; invalid = nobody's
  ir::VRegId write_root;  // whose value is in the home afterwards; invalid = the item is only read
  ir::RegFile file = ir::RegFile::R;
  int units = 1;
  int align_log2 = 0;
  ir::PReg fixed;                     // invalid = free to choose
  bool at_reads = false;              // holds its units when uses are read
  bool at_writes = false;             // holds its units when defs are written
  bool early = false;                 // destroyed before the uses are read: shares with no read, not even of its own root
  bool partial = false;               // a def of a part is among it: not in a clobbered unit
  bool reads_only_old_bytes = false;  // read_root stands there only for the bytes that a def of a part keeps
};

struct Shape {
  std::vector<Item> items;
  std::vector<std::int32_t> item_of;  // for each operand of the instruction; -1 = no register operand (or a clobber)
  ir::PerFile<UnitSet> clobbers;
  bool has_clobbers = false;
  bool is_guarded = false;
};

// Requires a well-formed virtual program. Cost O(operands + operands x items).
[[nodiscard]] Shape shape_of(const ir::Function& f, const ir::Inst& inst);

}  // namespace regduel::reference
