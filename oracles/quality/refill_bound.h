// A lower bound for the refilled bytes of an allocation of straight-line code. If stores are free, evicting the value that is read
// again last gives the fewest refills (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966). The bound
// takes units of four bytes, each with a place of its own, so that widths, alignment and fixed registers cost nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::oracles {

// The least number of bytes that the refills of a right allocation of `before` move, each instruction counted once, if vregs of R
// are kept in R or in memory (FORMAT.md would allow copies to other files). nullopt if control flow is not one path from the entry
// to an end, or if the operands of some instruction do not fit the limit together. A value that copies, phis, packs and unpacks
// move stays one value.
//
// Left out, which can only lower the bound: values that need no refill (of instructions that may be repeated, uniform ones), values
// that need not be whole (defs under a guard, reads that may be undefined, reads and writes of less than a unit), and all files but
// R. Requires: well-formed, in phase Virtual. Cost: O(units read and written x log).
[[nodiscard]] std::optional<std::int64_t> fewest_refill_bytes(const ir::Function& before, const ir::Target& target,
                                                              const ir::Limits& limits);

}  // namespace regduel::oracles
