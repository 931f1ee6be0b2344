// A lower bound beside the refilled bytes of an allocation: on straight-line code, where stores are free, to put out of the
// registers what is read again last gives the fewest refills (Belady, "A study of replacement algorithms for a virtual-storage
// computer", 1966). Here by units of four bytes, each with a place of its own, so that widths, alignment and fixed registers cost
// nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::oracles {

// Bytes that the refills of a right allocation of `before` move at the least, each instruction counted once, where what the program
// keeps in R is kept in R or in memory (FORMAT.md would allow copies to other files); nullopt where control flow is not one path
// from the entry to an end, or where the operands of some instruction do not fit the limit together. What copies, phis, packs and
// unpacks hand on stays one value.
//
// Left out, which can only make the bound less: what may be had without a refill (values of instructions that may be repeated,
// uniform ones), what need not be whole (defs under a guard, reads that may be undefined, reads and writes of less than a unit),
// and all files but R. Requires: well-formed, in phase Virtual. Cost: O(units read and written x log).
[[nodiscard]] std::optional<std::int64_t> fewest_refill_bytes(const ir::Function& before, const ir::Target& target,
                                                              const ir::Limits& limits);

}  // namespace regduel::oracles
