// A program lowered under an empty plan, with everything that an attempt needs: for the tests of this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "allocator/assign/assign.h"
#include "allocator/assign/banks.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/program/precoloured.h"
#include "allocator/spill/cost.h"
#include "allocator/spill/shared_memory.h"
#include "allocator/spill_code/insert_spill_code.h"
#include "allocator/testing.h"
#include "ir/loops.h"

namespace regduel::allocator::testing {

struct LoweredRound {
  ir::Function program;
  const ir::Target& target = ir::default_target();
  Budget budget;
  ir::Function f;
  ir::Cfg cfg;
  Liveness live;
  std::vector<std::int64_t> frequency;
  Plan plan;
  SpillCode lowered;
  ir::Cfg lowered_cfg;
  Liveness lowered_live;
  RoundIndex index;
  ConstraintLists constraints;
  std::vector<std::int64_t> cost;  // may be changed before an attempt
  BankPairs banks;                 // of four; counts where an attempt is bank-aware
  Round round;

  explicit LoweredRound(const ir::Function& before, int limit = 255)
      : program(before), budget(Budget::of(program, target, limits(limit))), f(out_of_ssa(program)), cfg(f), live(f, cfg),
        frequency(block_frequencies(f, cfg, 10)), plan(plan_with_remats()), lowered(insert_spill_code(f, cfg, live, plan, budget)),
        lowered_cfg(lowered.f), lowered_live(lowered.f, lowered_cfg, f.vregs.size()), index(lowered.f, lowered_live),
        constraints(program, lowered, frequency, lowered_live),
        cost(spill_costs(f, spill_moves(f, cfg, live, frequency, plan.if_spilled), plan.if_spilled, {})),
        banks(lowered.f, lowered_live, frequency, 4),
        round{lowered, lowered_live, index, constraints, cost, budget, target, nullptr, true, &banks} {
    cost.resize(lowered.f.vregs.size(), kUnspillable);
  }
  LoweredRound(int limit, std::string_view body) : LoweredRound(testing::program(body), limit) {}
  LoweredRound(const LoweredRound&) = delete;
  LoweredRound& operator=(const LoweredRound&) = delete;

  Plan plan_with_remats() const {
    Plan p = plan_without_spills(f, find_precoloured(f, live, budget), set_up_spilling(program, target, Knobs()).slots);
    rematerialise(p, f, cfg, {});
    return p;
  }
  // As if it were a temporary of the instruction with this index.
  void make_temporary(std::size_t v, std::uint32_t inst) {
    cost[v] = kUnspillable;
    lowered.temp_of[v] = inst;
  }
};

}  // namespace regduel::allocator::testing
