// Lowering: a program and the spill decisions so far become Code (code.h). Done afresh in every round from the program itself,
// so that no round has to patch what an earlier one made.
//
//   phis       isolated: a value of its own for each phi, copied into on each incoming edge and out of at the head of the block;
//              no order of these copies can be wrong (Sreedhar et al. 1999, method I). Coalescing removes what is not needed.
//   edges      copies stand before the predecessor's terminator where that has one successor, at the head of a block with
//              one predecessor, else in an edge block.
//   ties       the use's value is copied into a local temp that the instruction reads and writes, and from there to the def's.
//   fixed      a local precoloured temp, copied into before and out of after.
//   pinned     all items of the instruction become precoloured local temps, with the homes that the exact packing found.
//   spilled    a refill into a local temp before each use, a store after each def; both around a may-def or a def of a part.
//              A copy between two spilled values goes through a local temp, or vanishes where they share a slot.
//   remat      a value whose only def can be repeated is repeated before each use; the def itself is deleted.
//   dead       copies and phis whose value nobody but copies and phis reads are dropped.
// Tested by lower_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/allocator.h"
#include "ir/cfg.h"
#include "ir/program.h"
#include "ir/target.h"
#include "reference/code.h"
#include "reference/packing.h"
#include "reference/shape.h"

namespace regduel::reference {

// Where a value lives: in a register, in a slot (index >= 0), or nowhere because it is computed again.
inline constexpr std::int32_t kInRegister = -1;
inline constexpr std::int32_t kRematerialised = -2;

struct SpillSlot {
  std::uint32_t bytes = 4;
};

struct Decisions {
  std::vector<std::int32_t> place;  // by value
  std::vector<SpillSlot> slots;
  std::vector<std::uint8_t> pinned;  // by index of instruction
};

class Lowering {
 public:
  // Requires a well-formed virtual program; `freq` by block. Cost O(size of program).
  Lowering(const ir::Function& f, const ir::Cfg& cfg, const ir::Target& target, const ir::Limits& limits,
           std::vector<std::uint64_t> freq, ir::Fuel* fuel = nullptr);

  // The file of the first instruction for which no packing exists.
  [[nodiscard]] std::optional<ir::RegFile> impossible() const { return impossible_; }
  // Everything in registers, as far as the fuel goes; the rest in slots of their own.
  [[nodiscard]] Decisions no_decisions(ir::Fuel* fuel = nullptr) const;
  // The last resort: all values in memory, all instructions pinned.
  [[nodiscard]] Decisions everything_in_memory() const;
  [[nodiscard]] bool can_remat(TempId value) const { return remat_def_[value] != kNoSource; }
  [[nodiscard]] std::size_t num_values() const { return values_.size(); }
  [[nodiscard]] const Temp& value(TempId v) const { return values_[v]; }
  [[nodiscard]] const ir::PerFile<UnitSet>& allocatable() const { return allocatable_; }
  // Callee-saved registers that may be used if they are saved; empty in a kernel.
  [[nodiscard]] const ir::PerFile<UnitSet>& callee_saved() const { return callee_saved_; }
  [[nodiscard]] const Shape& shape(std::size_t inst_index) const { return shapes_[inst_index]; }

  // Cost O(size of program).
  [[nodiscard]] Code lower(const Decisions& decisions, ir::Fuel* fuel = nullptr) const;

 private:
  friend class BlockLowerer;
  void find_values();
  void find_remats();
  void find_useful();
  void find_edges(ir::Fuel* fuel);
  void prove_possible();

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  ir::PerFile<UnitSet> allocatable_, callee_saved_;
  std::vector<std::uint64_t> freq_;
  std::optional<ir::RegFile> impossible_;
  std::vector<Shape> shapes_;                 // by instruction; empty for phis
  std::vector<std::vector<ir::PReg>> homes_;  // exact packing, by instruction, parallel to the items
  std::vector<Temp> values_;                  // roots by vreg index (aliases have an unused entry), then phis
  std::vector<TempId> phi_value_;             // by instruction
  std::vector<std::uint32_t> remat_def_;      // by value: index of its only def if that can be repeated
  std::vector<std::uint8_t> useful_;          // by value: somebody reads it to compute
  struct Edge {
    ir::BlockId from, to;
  };
  std::vector<Edge> tail_edges_;   // copies before the terminator of `from`; sorted by from
  std::vector<Edge> head_edges_;   // copies at the head of `to`
  std::vector<Edge> split_edges_;  // copies in an edge block
};

}  // namespace regduel::reference
