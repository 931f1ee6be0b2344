// See program_facts.h.

#include "allocator/phases/program_facts.h"

#include <algorithm>

#include "allocator/program/dead_copies.h"
#include "allocator/program/merge_copies.h"
#include "allocator/program/out_of_ssa.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

ir::Function without_phis(const ir::Function& program, const Instruments& instruments) {
  ir::PassScope scope(instruments.passes, "out_of_ssa", &program);
  ir::Function f = out_of_ssa(program, instruments.fuel, find_dead_copies(program, instruments.fuel));
  scope.made(f, [](const ir::Function& made) {
    return std::none_of(made.insts.begin(), made.insts.end(), [](const ir::Inst& i) { return i.is_phi() && !i.is_deleted(); });
  });
  return f;
}

}  // namespace

ProgramFacts::ProgramFacts(const ir::Function& program, const ir::Target& program_target, const Knobs& program_knobs,
                           const Instruments& instruments)
    : original(program), target(program_target), knobs(program_knobs), model(target, knobs), slots(slot_strategy(program, knobs)),
      spilling(set_up_spilling(program, target, knobs)), f(without_phis(program, instruments)), cfg(f), live(f, cfg),
      frequency(block_frequencies(f, cfg, knobs[Knob::EstimatedLoopIterations])), modes(modes_of(program)) {
  if (knobs[Knob::MergeCopies] != 0) {
    ir::PassScope scope(instruments.passes, "merge_copies", &f);
    stands_for = merge_copies(f, live, instruments.fuel);
    if (!stands_for.empty()) live = Liveness(f, cfg);
    scope.made(f);
  }
  ir::PassScope scope(instruments.passes, "drop_dead_copies", &f);
  drop_dead_copies(f, live, instruments.fuel);
  scope.made(f);
}

ProgramFacts::ProgramFacts(const ProgramFacts& a, SplitProgram split)
    : original(a.original), target(a.target), knobs(a.knobs), model(a.model), slots(a.slots), spilling(a.spilling),
      f(std::move(split.f)), cfg(f), live(f, cfg), frequency(block_frequencies(f, cfg, knobs[Knob::EstimatedLoopIterations])),
      modes(a.modes), first_of(std::move(split.first_of)), starts_in_memory(std::move(split.in_memory)) {}

}  // namespace regduel::allocator
