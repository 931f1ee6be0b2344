// The workshop of the patterns: a correct allocation taken apart, the registers that it leaves free, and the changes that several
// patterns make. Tested by patterns_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "trial/faults/pattern.h"

namespace regduel::trial {

[[nodiscard]] inline ir::PReg one_unit(ir::RegFile file, int unit) { return {file, 1, static_cast<std::uint16_t>(unit)}; }

class Workshop {
 public:
  Workshop(const Subject& s, Random& r);

  const Subject& subject;
  Random& random;
  EditProgram program;
  ir::Limits limits;
  std::set<ir::PReg> mentioned, preserved;  // units; by either program, in whatever role; callee-saved ones

  // --- registers
  [[nodiscard]] bool is_allocatable(ir::PReg r) const;
  [[nodiscard]] bool is_architectural(ir::PReg r) const;  // some unit of it
  [[nodiscard]] bool is_preserved(ir::PReg r) const;      // some unit of it
  // A device function whose entry has no predecessors can save callee-saved registers.
  [[nodiscard]] bool can_save() const;
  // Units that nothing mentions, callee-saved ones excepted (or only those), mostly the lowest ones above all registers in use, the
  // first a multiple of `alignment`; the limit is raised.
  enum class Kind { CallerSaved, CalleeSaved };
  [[nodiscard]] std::optional<ir::PReg> take(ir::RegFile file, int count, int alignment = 1, Kind kind = Kind::CallerSaved);
  void use(ir::PReg r);
  // The largest alignment of a vreg, or of a wide access, in units. Of any file: a value may visit another one than its own.
  [[nodiscard]] int widest_alignment() const;
  // A spill or refill may name it: aligned as the least aligned vreg of so many units, or as their number asks.
  [[nodiscard]] bool fits_memory(ir::PReg r) const;

  // --- operands
  // The instruction of the program before that `i` is or repeats; null where it is neither.
  [[nodiscard]] const ir::Inst* original(const EditInst& i) const;
  // Whether operand k of `i` may stand in its register only: fixed, or numbered like it.
  [[nodiscard]] bool is_pinned(const EditInst& i, std::size_t k) const;

  // --- changes
  // Shared memory, where a slot of so many bytes still fits a block's.
  [[nodiscard]] ir::MemSpace shared_if_room(std::uint32_t bytes) const;
  // Calls put(block, position, instruction, out) for each instruction; put appends to `out` what takes the place of the
  // instruction.
  template <class Put>
  void rewrite(Put put) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      std::vector<EditInst> out;
      for (std::size_t k = 0; k < program.blocks[b].insts.size(); ++k) put(b, k, std::move(program.blocks[b].insts[k]), out);
      program.blocks[b].insts = std::move(out);
    }
  }
  // Puts an original copy, whose replacement is there, behind it as a deleted one.
  static void retire(EditInst i, std::vector<EditInst>& out);
  // Spills up to `count` registers from one instruction that mentions them to the next in the block, and destroys them meanwhile.
  // Slots are used again where no two of their stretches overlap, at other offsets and by other widths.
  bool spill_stretches(bool predicates, int count);
  [[nodiscard]] Patterned finish();

 private:
  void mention(ir::PReg r);

  std::map<int, std::uint8_t> least_align_log2_;                  // by units: of the vregs of so many
  std::unordered_map<std::uint32_t, const ir::Inst*> originals_;  // of subject.before, by id; never iterated
};

[[nodiscard]] EditInst guarded_like(EditInst i, const EditInst& access);

}  // namespace regduel::trial
