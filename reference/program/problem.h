// The allocation problem that all rounds share, made once from the program, the target and the limits.
//
//   units      those that may be used at all, and of them the callee-saved ones, which have to be saved
//   shapes     what each instruction asks for (shape.h), and whether it fits at all (packing.h)
//   values     each root vreg, and one value a phi
//   useful     values that something but copies and phis reads, through however many of these: the others need no copies
//   remat      values whose only def can be repeated
//   edges      where the copies into a phi go: before the predecessor's terminator where that has one successor, at the head of a
//              block with one predecessor, else into an edge block
// Tested by lower_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/allocator.h"
#include "ir/cfg.h"
#include "ir/program.h"
#include "ir/target.h"
#include "reference/instruction/packing.h"
#include "reference/instruction/shape.h"
#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/point_limits.h"

namespace regduel::reference {

class Problem {
 public:
  // Requires a well-formed virtual program; `loop_base` is that of block frequencies. Cost O(size of program).
  Problem(const ir::Function& f, const ir::Cfg& cfg, const ir::Target& target, const ir::Limits& limits, std::int64_t loop_base,
          ir::Fuel* fuel = nullptr);

  // The file of the first instruction for which no packing exists. With it, all that follows is without meaning.
  [[nodiscard]] std::optional<ir::RegFile> impossible() const { return impossible_; }
  // That instruction; invalid where there is none.
  [[nodiscard]] ir::InstId impossible_inst() const { return impossible_inst_; }

  [[nodiscard]] const ir::Function& program() const { return f_; }
  [[nodiscard]] const ir::Cfg& cfg() const { return cfg_; }
  [[nodiscard]] std::uint64_t freq(ir::BlockId b) const { return static_cast<std::uint64_t>(freq_[b.index()]); }
  // Where the limit of R varies by point, below the highest one.
  [[nodiscard]] const ir::PerFile<UnitSet>& allocatable() const { return allocatable_; }
  [[nodiscard]] const PointLimits& limits() const { return limits_; }
  // The units of R above the limit at each instruction of a block of the code, inserted ones too; empty where the limit is the same
  // everywhere.
  [[nodiscard]] std::vector<UnitSet> closed_in(const Code& code, std::uint32_t block) const;
  [[nodiscard]] const ir::Target& target() const { return target_; }
  // Of file R, the bank of a register of this number.
  [[nodiscard]] int bank(std::uint32_t unit) const { return target_.bank(static_cast<int>(unit)); }
  // Whether registers of other files than R go to memory, and come from there, through registers of R.
  [[nodiscard]] bool memory_through_r() const { return memory_through_r_; }
  // A predicate that goes through R is one bit of a register.
  [[nodiscard]] std::uint32_t slot_bytes(const Temp& value) const {
    return memory_through_r() && ir::is_predicate(value.file) ? 4 : value.bytes;
  }
  // Callee-saved registers that may be used if they are saved; empty in a kernel, and where nothing returns.
  [[nodiscard]] const ir::PerFile<UnitSet>& callee_saved() const { return callee_saved_; }

  // By index of instruction. Of a phi the shape is empty.
  [[nodiscard]] const Shape& shape(std::size_t inst) const { return shapes_[inst]; }
  // The exact packing of its items.
  [[nodiscard]] Homes packed(std::size_t inst) const;
  // Whether the instruction is an unconstrained copy of one whole root to another, which may become a spill, a refill or nothing.
  [[nodiscard]] bool is_plain_copy(std::size_t inst) const;
  [[nodiscard]] TempId phi_value(std::size_t inst) const { return phi_value_[inst]; }

  // By index of operand: the root of a vreg, kNoTemp for all others.
  [[nodiscard]] const std::vector<TempId>& operand_roots() const { return operand_roots_; }

  // Roots by vreg index (aliases have an unused entry), then phis.
  [[nodiscard]] const std::vector<Temp>& values() const { return values_; }
  [[nodiscard]] bool is_useful(TempId v) const { return is_useful_[v] != 0; }
  [[nodiscard]] bool can_remat(TempId v) const { return remat_def(v) != kNoSource; }
  // Index of the only def of a value that can be repeated, else kNoSource.
  [[nodiscard]] std::uint32_t remat_def(TempId v) const { return v < remat_def_.size() ? remat_def_[v] : kNoSource; }

  struct Edge {
    ir::BlockId from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  [[nodiscard]] const std::vector<Edge>& tail_edges() const { return tail_edges_; }    // copies before the terminator; by from
  [[nodiscard]] const std::vector<Edge>& head_edges() const { return head_edges_; }    // copies at the head; by to
  [[nodiscard]] const std::vector<Edge>& split_edges() const { return split_edges_; }  // copies in an edge block; by from, to

  // Everything in registers, as far as the fuel goes; the rest in slots of their own.
  [[nodiscard]] Plan all_in_registers(ir::Fuel* fuel = nullptr) const;
  // The last resort: all values in memory, all instructions pinned.
  [[nodiscard]] Plan all_in_memory() const;

 private:
  void find_units(const ir::Target& target, ir::Limits limits);
  // The units of R above the limit at an instruction of the program.
  [[nodiscard]] UnitSet closed_at(std::size_t inst) const;
  void find_shapes();
  void find_values();
  void prove_possible();
  void find_remats();
  void find_useful();
  void find_edges(ir::Fuel* fuel);

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const ir::Target& target_;
  const PointLimits limits_;
  const bool memory_through_r_;
  ir::PerFile<UnitSet> allocatable_, callee_saved_;
  std::vector<std::int64_t> freq_;
  std::optional<ir::RegFile> impossible_;
  ir::InstId impossible_inst_;
  std::vector<Shape> shapes_;
  std::vector<Temp> values_;
  std::vector<TempId> phi_value_;
  std::vector<TempId> operand_roots_;
  std::vector<std::uint32_t> remat_def_;
  std::vector<std::uint8_t> is_useful_;
  std::vector<Edge> tail_edges_, head_edges_, split_edges_;
};

}  // namespace regduel::reference
