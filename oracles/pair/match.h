// How a program after allocation stands to the program before: which instruction came from which, what the hardware touches for an
// operand, along which blocks an edge leads, which use of a phi a predecessor brings, which predicate stands in which bit of a
// pack. Read off the two texts alone; what follows from it is for each judge to say, so no judge's reasoning is here. Tested by
// match_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/program.h"

namespace regduel::oracles {

// Why two programs cannot be gone through side by side: the first reason given.
class Unreadable {
 public:
  void because(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  void because(const ir::Inst& i, std::string_view why) {
    if (why_.empty()) why_ = fmt::format("#{}: {}", i.id.value, why);
  }
  [[nodiscard]] bool is_set() const { return !why_.empty(); }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

// The instructions of block b of the program after, in order: original(k, a) for an original one, inserted(a) for the others, where
// k and a are indices into the instructions before and after. The original instructions of a block must all be there, in order; an
// edge block has none.
template <class Original, class Inserted>
void match_block(const ir::Function& before, const ir::Function& after, ir::BlockId b, Unreadable& unreadable,
                 const Original& original, const Inserted& inserted) {
  std::uint32_t next = 0, end = 0;
  if (b.index() < before.blocks.size()) {
    next = before.block(b).first_inst;
    end = next + before.block(b).num_insts;
  }
  const ir::Block& block = after.block(b);
  for (std::uint32_t a = block.first_inst; a < block.first_inst + block.num_insts; ++a) {
    if (after.insts[a].is_inserted()) {
      inserted(a);
      continue;
    }
    if (next == end || before.insts[next].id != after.insts[a].id)
      return unreadable.because(fmt::format("block b{} does not hold its original instructions in order", b.value));
    original(next++, a);
  }
  if (next != end) unreadable.because(fmt::format("block b{} does not hold all its original instructions", b.value));
}

// Where the hardware has operand k of an original instruction: in `bytes` where `is_fixed`, else where operand `operand` of the
// instruction after says that it is. A fixed operand is in its fixed register, whatever the program after says, and a tied pair is
// in the register of the def.
struct HardwareHome {
  bool is_fixed = false;
  ir::FileBytes bytes = {};
  std::size_t operand = 0;
};
//   want   the operands of the instruction before
[[nodiscard]] HardwareHome hardware_home(const ir::Function& before, std::span<const ir::Operand> want, std::size_t k);
[[nodiscard]] ir::FileBytes bytes_of_register(ir::PReg r);

// The blocks along which edge k of block `from` leads after allocation.
struct EdgePath {
  std::vector<ir::BlockId> blocks;  // edge blocks
  bool arrives = false;             // where the edge led before
};
// Requires: `from` has as many successors in both. A path that does not arrive is no longer than the edge blocks are many, and one.
void find_path(const ir::Function& before, const ir::Function& after, ir::BlockId from, std::size_t k, EdgePath& path);

// Phis of one block mostly name their predecessors in one order, so a search begins where the last one ended.
class PhiPredecessor {
 public:
  // Index of `wanted` among the predecessors of a phi; their number where it is none of them.
  [[nodiscard]] std::size_t find(std::span<const ir::BlockId> incoming, ir::BlockId wanted);

 private:
  std::size_t at_ = 0;
};

// p2r, r2p, bit_spill, bit_refill: predicates that go into a pack, or come from it.
struct PackedPredicate {
  const ir::Operand* predicate = nullptr;
  std::uint64_t bit = 0;  // may be more than a pack has
};
struct PackForm {
  bool is_into_pack = false;
  const ir::Operand* pack = nullptr;  // null where there is none
  std::vector<PackedPredicate> predicates;
};
// Requires: an instruction of one of those opcodes.
[[nodiscard]] PackForm pack_form(const ir::Function& after, const ir::Inst& i);

}  // namespace regduel::oracles
