// One run: a program under one register limit, with the instruments that watch it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "allocator/instruction/packing.h"
#include "allocator/phases/instruments.h"
#include "allocator/phases/program_facts.h"
#include "allocator/spill_code/plan.h"
#include "allocator/split/split_program.h"

namespace regduel::allocator {

// The facts outlive the run.
struct Run {
  Run(const ProgramFacts& of, const ir::Limits& limits, const Instruments& with = {})
      : facts(of), budget(Budget::of(of.original, of.target, limits)), instruments(with) {}
  // The same run of the program with its live ranges split.
  Run(const ProgramFacts& split, const Run& unsplit) : facts(split), budget(unsplit.budget), instruments(unsplit.instruments) {}

  const ProgramFacts& facts;
  const Budget budget;
  const Instruments instruments;
};

// The plan with all values in registers, and with the rematerialisation, shared memory and reuse of refills that the knobs allow.
[[nodiscard]] Plan first_plan(const Run& run);

// The program with its live ranges split so that no point of these files is over budget; nothing if no live range is split, or the
// program is not wanted. Predicates are not split if they may be packed (spill/predicate_packs.h).
//   plan        first_plan()
//   is_wanted   as of split_live_ranges()
[[nodiscard]] std::optional<SplitProgram> split_program(const Run& run, const Plan& plan, const ir::PerFile<bool>& scarce,
                                                        const std::function<bool(std::int64_t)>& is_wanted);

// The limits with so many registers of file R.
[[nodiscard]] ir::Limits with_registers(ir::Limits limits, int registers);
// Traces which files spill to shared memory, or why none does.
void show_spill_setup(const Run& run);

}  // namespace regduel::allocator
