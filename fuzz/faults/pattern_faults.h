// What the files of pattern_faults() share: how their operators find places. They are found in the allocation by their
// instructions, so that the faults apply to whatever an allocator makes of this kind by itself, too. Tested by
// pattern_faults_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/faults/choose.h"
#include "fuzz/faults/facts.h"
#include "fuzz/faults/operators.h"
#include "fuzz/faults/pack_bits.h"

namespace regduel::fuzz {

// The faults by file.
[[nodiscard]] std::vector<FaultOperator> pack_faults();    // pattern_faults_packs.cpp
[[nodiscard]] std::vector<FaultOperator> remat_faults();   // pattern_faults_remats.cpp
[[nodiscard]] std::vector<FaultOperator> memory_faults();  // pattern_faults_slots.cpp
[[nodiscard]] std::vector<FaultOperator> move_faults();    // pattern_faults_moves.cpp
[[nodiscard]] std::vector<FaultOperator> save_faults();    // pattern_faults_saves.cpp

// An operator that takes a place only where the fault should show as one of `kCodes`, of those that expected_codes() knows.
template <bool (*kApply)(EditProgram&, const Subject&, Random&), int... kCodes>
bool shown_as(EditProgram& p, const Subject& s, Random& random) {
  constexpr int kTries = 4;
  constexpr std::uint32_t kWanted = (... | (1u << kCodes));
  const FactsOf facts(s);
  for (int k = 0; k < kTries; ++k) {
    EditProgram trial = p;
    if (!kApply(trial, s, random)) return false;
    if ((expected_codes(*facts, trial.build(), kWanted) & kWanted) == 0) continue;
    p = std::move(trial);
    return true;
  }
  return false;
}

// Spots of reachable blocks where `take(instruction, units live behind it)` is true.
template <class Take>
[[nodiscard]] std::vector<Spot> spots(const EditProgram& p, const Subject& s, Take take) {
  const AfterFactsOf facts(s);
  const UnitLiveness& live = facts->liveness();
  std::vector<Spot> list;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    if (!live.is_reachable(b)) continue;
    const auto points = live.points(b);
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k)
      if (take(p.blocks[b].insts[k], points[k + 1])) list.push_back({b, k});
  }
  return list;
}
[[nodiscard]] inline bool is_live(const ir::Operand& op, const UnitSet& live) { return (touched_units(op) & live).any(); }
[[nodiscard]] std::uint32_t bytes_of(const ir::Operand& reg);

// A plain def of a whole root: not fixed, tied, early-clobber, architectural.
[[nodiscard]] bool is_free_def(const ir::Function& before, const ir::Inst& inst, std::size_t operand);
// The first def of the original instruction fills its register: no undefined upper bytes.
[[nodiscard]] bool is_full(const BeforeFacts& facts, const EditInst& inst);

// The original instruction, no move and under no guard, whose def is what `reg` holds in front of `s`: found backwards in the block
// and in single predecessors, through inserted copies. Nothing where it is not as simple as that.
[[nodiscard]] std::optional<Spot> plain_writer(const EditProgram& p, Spot s, ir::PReg reg);

// An original operation of the block that reads, behind `s`, what `reg` holds there: itself or through copies, not through
// memory or a pack; and before allocation all that it reads there was defined, whatever way led there. So the fault of the value
// shows at that operation, and under no other name than its own.
[[nodiscard]] std::optional<OperandRead> plain_reader(const BeforeFacts& facts, const EditProgram& p, Spot s, ir::PReg reg);
[[nodiscard]] inline bool has_plain_reader(const BeforeFacts& facts, const EditProgram& p, Spot s, ir::PReg reg) {
  return plain_reader(facts, p, s, reg).has_value();
}

// Spots of reachable blocks where `take(instruction)` is true, whose first def is live, and has a plain reader.
template <class Take>
[[nodiscard]] std::vector<Spot> read_spots(const EditProgram& p, const Subject& s, Take take) {
  auto list =
      spots(p, s, [&](const EditInst& i, const UnitSet& live) { return take(i) && !i.ops.empty() && is_live(i.ops[0], live); });
  const FactsOf facts(s);
  std::erase_if(list, [&](Spot spot) { return !has_plain_reader(*facts, p, spot, at(p, spot).ops[0].preg()); });
  return list;
}

// A register of the same file and size that the program mentions, allocatable, and not overlapping `r`.
[[nodiscard]] std::optional<ir::PReg> another_register(const EditProgram& p, const Subject& s, ir::PReg r, Random& random);

// By slot: those that hold nothing but what original instructions made and what was stored from their registers at once.
[[nodiscard]] std::vector<bool> plain_slots(const EditProgram& p);

}  // namespace regduel::fuzz
