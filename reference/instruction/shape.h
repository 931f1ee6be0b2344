// The demand of one instruction on the register files: its operands grouped into *items*, each of which needs one home.
//
// Source: FORMAT.md "Meaning" and "Demand". Operands that must or may share a home without cost are one item: a def with the
// use that it is tied to; all defs of parts of one root; the reads of one root. Both the exact packing (packing.h) and the
// lowering (lower.h) start from here, so that what the one proves possible the other can express.
// Tested by packing_test.cpp and lower_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include <boost/container/small_vector.hpp>

#include "ir/program.h"
#include "ir/unit_set.h"
#include "reference/program/code.h"

namespace regduel::reference {

using ir::UnitSet;

struct Item {
  ir::VRegId read_root;   // whose value must be in the home before the instruction; invalid = that of none
  ir::VRegId write_root;  // whose value is in the home afterwards; invalid = the item is only read
  ir::RegFile file = ir::RegFile::R;
  std::uint8_t units = 1;
  std::uint8_t align_log2 = 0;
  bool at_reads : 1 = false;              // holds its units when uses are read
  bool at_writes : 1 = false;             // holds its units when defs are written
  bool early : 1 = false;                 // destroyed before the uses are read: shares with no read, not even of its own root
  bool partial : 1 = false;               // a def of a part is among it: not in a clobbered unit
  bool architectural : 1 = false;         // has its register anyway: takes no unit from any other
  bool reads_only_old_bytes : 1 = false;  // read_root stands there only for the bytes that a def of a part keeps
  bool has_parts : 1 = false;             // an operand names a part of its root
  std::uint8_t ref_flags = 0;             // RefFlags of the temp that stands for it
  RefBytes bytes;                         // with has_parts: what it reads and writes of its root
  ir::PReg fixed;                         // invalid = free to choose

  // The root that it is shaped like.
  [[nodiscard]] ir::VRegId root() const { return write_root.is_valid() ? write_root : read_root; }
  // Whether it reads one value and writes another: a tie.
  [[nodiscard]] bool moves() const { return read_root.is_valid() && write_root.is_valid() && read_root != write_root; }
};

// Nearly all instructions have no more items and operands than fit into the object.
struct Shape {
  boost::container::small_vector<Item, 3> items;
  boost::container::small_vector<std::int32_t, 8> item_of;  // by operand; -1 = no register operand (or a clobber)
  std::shared_ptr<const ir::PerFile<UnitSet>> clobbers;     // null = none
  bool is_guarded = false;
  // No item is fixed or moves a value, and the instruction is no copy: with all roots in registers these are its refs as they are.
  bool is_simple = false;

  [[nodiscard]] bool has_clobbers() const { return clobbers != nullptr; }
};

// Requires a well-formed virtual program, and an empty shape. Cost O(operands + operands x items).
void find_shape(const ir::Function& f, const ir::Inst& inst, Shape& shape);
[[nodiscard]] inline Shape shape_of(const ir::Function& f, const ir::Inst& inst) {
  Shape shape;
  find_shape(f, inst, shape);
  return shape;
}

}  // namespace regduel::reference
