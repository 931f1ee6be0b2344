// What is known of a program before anything is decided: built once a run, read by every phase and round.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/explain/observers.h"
#include "allocator/instruction/packing.h"
#include "allocator/knobs.h"
#include "allocator/program/liveness.h"
#include "allocator/program/mode.h"
#include "allocator/spill/budget_model.h"
#include "allocator/spill/plan.h"
#include "allocator/spill/shared_memory.h"
#include "ir/cfg.h"

namespace regduel::allocator {

// What is asked of a run. What it refers to outlives the run.
struct RunOptions {
  const ir::Target& target;
  const ir::Limits& limits;
  const Knobs& knobs;
  Observers observers = {};
};

struct Analysis {
  Analysis(const ir::Function& original, const RunOptions& options);

  // A round costs a large program too much to have many: a vreg that gives way to others leaves room for the temporaries to come,
  // and from the second round on these serve one instruction each.
  [[nodiscard]] bool is_large() const { return static_cast<std::int64_t>(f.insts.size()) > knobs[Knob::LargeProgram]; }

  const ir::Function& original;
  const ir::Target& target;
  const Knobs& knobs;
  const Observers observers;
  Budget budget;
  BudgetModel model;
  SlotStrategy slots;
  SpillSetup spilling;
  ir::Function f;                       // without phis and dead copies
  ir::Cfg cfg;                          // of f; spill code changes neither blocks nor edges
  Liveness live;                        // of f; of what dead copies read more than there is
  std::vector<std::int64_t> frequency;  // by block
  ir::PerFile<AllocationMode> modes;
};

// Everything in registers, with what the options allow (rematerialisation, shared memory, reuse of refills).
[[nodiscard]] Plan first_plan(const Analysis& analysis);

}  // namespace regduel::allocator
