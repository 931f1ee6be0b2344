// Variants of a program that mean the same: other numbers, other names, another order of the blocks, code that does nothing. Their
// allocations may differ in quality, never in verdict (metamorphic.h).
//
// Source: metamorphic testing (Chen, Cheung, Yiu 1998). A *renaming* works on both sides of a pair (before, after) alike, so that
// judges can be tested with it; the additions work on a program over vregs.
// Tested by variants_test.cpp, metamorphic_test.cpp, properties/judge_invariance_test.cpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::oracles {

// New numbers. An empty map changes nothing; an id that a map does not mention keeps its number.
struct Renaming {
  std::vector<ir::VRegId> vregs;                               // a permutation; the parent of an alias stays before it
  std::vector<ir::BlockId> blocks;                             // a permutation; the entry stays first, edge blocks stay last
  std::vector<ir::SlotId> slots;                               // a permutation
  std::vector<std::pair<std::uint32_t, std::uint32_t>> insts;  // old number, new number; sorted by the old one
  bool names = false;  // function, blocks and vregs get other names, and all symbols other numbers
};
enum class Rename { VRegs, Blocks, Slots, Insts, Names, Everything };
// A renaming for both programs; `after` may be the program before itself. Requires both well-formed.
[[nodiscard]] Renaming draw_renaming(Rename what, const ir::Function& before, const ir::Function& after, std::uint64_t seed);
// Well-formed where `f` is one of the two programs that the renaming was drawn for. Cost: O(size of f x log).
[[nodiscard]] ir::Function renamed(const ir::Function& f, const Renaming& renaming);

// `f` with defs that are not read: of new vregs, by operations and by copies of what the instruction before has defined. Only in
// files that have an allocatable unit at these limits, so that an instruction is impossible here only if one is in `f`.
//   Requires  `f` well-formed, in phase Virtual.
[[nodiscard]] ir::Function with_dead_defs(const ir::Function& f, const ir::Target& target, const ir::Limits& limits,
                                          std::uint64_t seed);
// With unreachable blocks at the end, which read vregs that `f` reads, and go on into `f` or end.
[[nodiscard]] ir::Function with_unreachable_blocks(const ir::Function& f, std::uint64_t seed);
// With vregs that stand in no operand.
[[nodiscard]] ir::Function with_unused_vregs(const ir::Function& f);

}  // namespace regduel::oracles
