// What is known of a program before anything is decided: built once a run, read by every phase and round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/explain/observers.h"
#include "allocator/instruction/packing.h"
#include "allocator/knobs.h"
#include "allocator/program/liveness.h"
#include "allocator/program/mode.h"
#include "allocator/spill/budget_model.h"
#include "allocator/spill/plan.h"
#include "allocator/spill/shared_memory.h"
#include "allocator/split/split_program.h"
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
  // The same of a program whose live ranges were split.
  Analysis(const Analysis& unsplit, SplitProgram split);

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
  std::vector<ir::VRegId> stands_for;        // by vreg: the one that it is one with (merge_copies.h); empty = each is itself
  std::vector<ir::VRegId> first_of;          // by vreg of f, where live ranges were split (split_program.h); else empty
  std::vector<ir::VRegId> starts_in_memory;  // pieces that the first plan spills
};

// Everything in registers, with what the options allow (rematerialisation, shared memory, reuse of refills).
[[nodiscard]] Plan first_plan(const Analysis& analysis);

// The program with its live ranges split so that no point of these files is over budget; nothing where there is nothing to split.
// Predicates are left to their packs (spill/predicate_packs.h), where there are any.
//   plan   the first one
[[nodiscard]] std::optional<SplitProgram> split_program(const Analysis& analysis, const Plan& plan,
                                                        const ir::PerFile<bool>& scarce);

}  // namespace regduel::allocator
