// Phis taken apart: each phi gets a vreg of its own, its *hub*, which is written at the end of every predecessor and read at the
// head of its block. The hubs of a program interfere with nothing that the phis did not make them interfere with, so that the
// program in this form is conventional whatever it was before (Sreedhar, Ju, Gillies, Santhanam, "Translating Out of Static Single
// Assignment Form", 1999, method I; Boissinot et al., "Revisiting Out-of-SSA Translation", 2009, III.A).
//
//   b3: %0 = phi b1: %1, b2: %2          b1: ... hub = %1, bra      b2: ... hub = %2, bra      b3: %0 = hub ...
//
// All copies at one place are parallel, and the terminator reads its operands after the copies before it. No edge is split. A
// copy that belongs on a critical edge has no block to stand in, so it stays an operand of a phi of the hub: it costs nothing on
// the other paths, and nothing on them interferes with it.
//
// A phi stays as it is where
//   - its block is unreachable, or another phi of its block writes some of the same bytes;
//   - a copy of it would demand more registers than any instruction of the program does (ir/FORMAT.md, "Demand");
//   - the fuel does not pay for it ("isolate-phi").
// Tested by phi_copies_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "ir/allocator.h"
#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes::conventional {

// The properties that two vregs must share to become one: the type class of source 004 ("The NVPTX register classes are
// completely disjoint"), and everything that an allocator may ask of a home.
struct Kind {
  ir::RegClass cls = ir::RegClass::R;
  bool is_float = false, is_uniform = false;
  std::uint16_t width = 0;
  std::uint8_t align_log2 = 0;

  [[nodiscard]] static Kind of(const ir::VReg& v);
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

// A copy between a hub and what stands in the phi.
struct PhiCopy {
  ir::BlockId block;        // at its end, before the terminator; or at its head, behind the phis that stay
  bool at_head = false;     // hub to `outside`; else the other way
  bool on_edge = false;     // not at the end of `block`, but on the critical edge from there: an operand of a phi that stays
  std::uint32_t phi = 0;    // index of PhiCopies::phis()
  ir::Operand outside;      // as it stands in the phi
  std::int64_t weight = 1;  // executions of the block, or of the edge, at most 10^9
};

struct Phi {
  std::uint32_t inst = 0;                        // index of Function::insts
  ir::VReg hub;                                  // how it would be declared: not fixed, no alias, no hint, no name
  std::uint32_t first_copy = 0, num_copies = 0;  // of copies(): the one at the head first
};

class PhiCopies {
 public:
  // `weight_of` by block. All of these live as long as this.
  PhiCopies(const ir::Function& f, const ir::Cfg& cfg, std::span<const std::int64_t> weight_of, ir::Fuel* fuel);

  [[nodiscard]] std::span<const Phi> phis() const { return phis_; }          // in program order
  [[nodiscard]] std::span<const PhiCopy> copies() const { return copies_; }  // phi after phi
  // Indices of copies(), at the head and at the end of a block.
  [[nodiscard]] std::span<const std::uint32_t> at_head(ir::BlockId b) const { return at_head_[b.index()]; }
  [[nodiscard]] std::span<const std::uint32_t> at_end(ir::BlockId b) const { return at_end_[b.index()]; }
  // And on the critical edges from a block.
  [[nodiscard]] std::span<const std::uint32_t> on_edges(ir::BlockId from) const { return on_edges_[from.index()]; }
  // By instruction: a phi that has been taken apart.
  [[nodiscard]] bool is_apart(const ir::Inst& i) const { return is_apart_[static_cast<std::size_t>(&i - f_.insts.data())] != 0; }
  // A vreg that can become one with others: a root bound to no register.
  [[nodiscard]] bool is_free(ir::VRegId v) const {
    const ir::VReg& d = f_.vreg(v);
    return !d.alias.is_valid() && !d.fixed.is_valid() && !d.is_architectural();
  }

 private:
  void find_demand();
  [[nodiscard]] std::int64_t weight_on_edge(ir::BlockId from, ir::BlockId to) const;
  [[nodiscard]] bool is_demanded(const ir::VReg& v) const;
  [[nodiscard]] bool may_be_copied(const ir::Operand& op) const;
  [[nodiscard]] bool may_take_apart(const ir::Inst& i, const ir::VReg& hub) const;
  [[nodiscard]] ir::VReg hub_of(ir::BlockId b, const ir::Inst& i) const;

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::span<const std::int64_t> weight_of_;
  // The most units of one root of some instruction that is no phi, by file and by least alignment (log2).
  ir::PerFile<std::array<int, 9>> demanded_ = {};
  std::vector<Phi> phis_;
  std::vector<PhiCopy> copies_;
  Grouped<std::uint32_t> at_head_, at_end_, on_edges_;
  std::vector<char> is_apart_;
};

}  // namespace regduel::passes::conventional
