// Facts of a program that do not depend on a register limit.
//
// Made once, and read by every run: with each limit that is tried, with each spill strategy, and again for a listener.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/knobs.h"
#include "allocator/phases/instruments.h"
#include "allocator/program/liveness.h"
#include "allocator/program/mode.h"
#include "allocator/spill/budget_model.h"
#include "allocator/spill/shared_memory.h"
#include "allocator/split/split_program.h"
#include "ir/cfg.h"

namespace regduel::allocator {

struct ProgramFacts {
  // The program, the target and the knobs outlive the facts. Optional simplifications spend fuel of the instruments.
  ProgramFacts(const ir::Function& original, const ir::Target& target, const Knobs& knobs, const Instruments& instruments = {});
  // The facts of the same program with its live ranges split.
  ProgramFacts(const ProgramFacts& unsplit, SplitProgram split);

  // A large program cannot afford many rounds: eviction also leaves room for the temporaries of the next round, and from the second
  // round on a temporary serves one instruction only.
  [[nodiscard]] bool is_large() const { return static_cast<std::int64_t>(f.insts.size()) > knobs[Knob::LargeProgram]; }

  const ir::Function& original;
  const ir::Target& target;
  const Knobs& knobs;
  BudgetModel model;
  SlotStrategy slots;
  SpillSetup spilling;
  ir::Function f;                       // without phis and dead copies
  ir::Cfg cfg;                          // of f; spill code changes neither blocks nor edges
  Liveness live;                        // of f; the sources of dead copies may be live for longer than they need to
  std::vector<std::int64_t> frequency;  // by block
  ir::PerFile<AllocationMode> modes;
  std::vector<ir::VRegId> stands_for;        // by vreg: the one that it is one with (merge_copies.h); empty = each is itself
  std::vector<ir::VRegId> first_of;          // by vreg of f, where live ranges were split (split_program.h); else empty
  std::vector<ir::VRegId> starts_in_memory;  // pieces that the first plan spills
};

}  // namespace regduel::allocator
