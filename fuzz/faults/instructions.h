// Instructions of a program that is taken apart: what they touch, where they stand, how new ones are made. Shared by the fault
// operators and the patterns; tested through patterns_test.cpp and pattern_faults_test.cpp.
#pragma once

#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

#include "fuzz/edit/edit.h"

namespace regduel::fuzz {

// --- units ----------------------------------------------------------------------------------------------------------

using UnitSet = std::bitset<static_cast<std::size_t>(ir::kNumFiles) * ir::kMaxUnits>;
[[nodiscard]] inline std::size_t unit_number(ir::RegFile file, int unit) {
  return ir::index(file) * ir::kMaxUnits + static_cast<std::size_t>(unit);
}
// Units of a tuple, or those that a register operand touches; of the latter, those of which it covers every byte.
[[nodiscard]] UnitSet units_of(ir::PReg r);
[[nodiscard]] UnitSet touched_units(const ir::Operand& op);
[[nodiscard]] UnitSet covered_units(const ir::Operand& op);
// Units that the instruction reads, writes or destroys.
[[nodiscard]] UnitSet mentioned_units(const EditInst& inst);
[[nodiscard]] UnitSet written_units(const EditInst& inst);        // also by clobbers, also under a guard
[[nodiscard]] UnitSet read_units(const EditInst& inst);           // also by the guard
[[nodiscard]] const ir::Operand* guard_of(const EditInst& inst);  // null where there is none
[[nodiscard]] inline bool has_guard(const EditInst& inst) { return guard_of(inst) != nullptr; }

// --- places ---------------------------------------------------------------------------------------------------------

struct Spot {
  std::size_t block = 0;
  std::size_t inst = 0;

  friend auto operator<=>(const Spot&, const Spot&) = default;
};
[[nodiscard]] inline EditInst& at(EditProgram& p, Spot s) { return p.blocks[s.block].insts[s.inst]; }
[[nodiscard]] inline const EditInst& at(const EditProgram& p, Spot s) { return p.blocks[s.block].insts[s.inst]; }

// Takes the instruction out.
void erase(EditProgram& p, Spot s);
// Puts a new instruction in front of `s`, under the next free number.
void insert_before(EditProgram& p, Spot s, EditInst inst);

// Changes at places of a program as it stands, made all at once.
class Changes {
 public:
  void before(Spot s, EditInst inst) { list_.push_back({s, 0, list_.size(), std::move(inst)}); }
  void after(Spot s, EditInst inst) { list_.push_back({s, 2, list_.size(), std::move(inst)}); }
  void remove(Spot s) { list_.push_back({s, 1, list_.size(), {}}); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  // At one place in the order in which they were entered.
  void apply(EditProgram& p);

 private:
  struct Change {
    Spot spot;
    int kind;  // before, remove, after
    std::size_t order;
    EditInst inst;
  };
  std::vector<Change> list_;
};

// --- kinds ----------------------------------------------------------------------------------------------------------

// May the instruction of the program before be repeated at all, by remats?
[[nodiscard]] bool is_repeatable(const ir::Function& before, const ir::Inst& inst);
[[nodiscard]] inline bool is_spill(const EditInst& i) { return i.inst.op == ir::Op::Spill && !i.inst.is_deleted(); }
[[nodiscard]] inline bool is_refill(const EditInst& i) { return i.inst.op == ir::Op::Refill && !i.inst.is_deleted(); }
[[nodiscard]] bool is_spill_or_refill(const EditInst& inst);
// An original instruction as a deleted one.
void mark_deleted(EditInst& inst);

// --- new instructions -----------------------------------------------------------------------------------------------

// Inserted, without a number.
[[nodiscard]] EditInst inserted(ir::Op op, std::vector<ir::Operand> ops);
[[nodiscard]] EditInst make_copy(ir::PReg to, ir::PReg from);
[[nodiscard]] EditInst make_swap(ir::PReg a, ir::PReg b);
[[nodiscard]] EditInst make_spill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
[[nodiscard]] EditInst make_refill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
// Gives each instruction without a number the next free one.
void number_inserted(EditProgram& p);

}  // namespace regduel::fuzz
