// How a program after allocation corresponds to the program before: original instructions, the registers that the hardware touches
// for an operand, the edge blocks of an edge, the use of a phi for a predecessor, the predicates in the bits of a pack. All of it
// is read off the two texts; the reasoning of the judges is not shared. Tested by match_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/program.h"

namespace regduel::oracles {

// Why two programs cannot be walked side by side: the first reason.
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

// The register of operand k of an original instruction in the hardware: `bytes` if `is_fixed`, else the register that operand
// `operand` of the instruction after names. A fixed operand is in its fixed register, whatever the program after says, and a tied
// pair is in the register of the def.
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
