// See result.h.

#include "allocator/phases/result.h"

#include <algorithm>

#include "allocator/frame/emit.h"
#include "ir/check.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

// FORMAT.md, "Allocated programs": the largest weight of a block. Sums are capped, so that they do not overflow.
constexpr std::int64_t kMostWeighted = std::int64_t{1} << 60;

// Pairs of a copy whose two registers differ.
std::int64_t num_moves(const ir::Function& f, const ir::Inst& copy) {
  std::int64_t moves = 0;
  for (const auto [def, use] : ir::copy_pairs(f.operands_of(copy))) moves += def.is_preg() && def.names_same(use) ? 0 : 1;
  return moves;
}

// True if a value that would be in shared memory but for the ABI is in local memory.
bool had_to_go_to_local_memory(const SpillSetup& spilling, const ir::Function& result) {
  return spilling.is_refused && std::any_of(result.insts.begin(), result.insts.end(), [&](const ir::Inst& i) {
           return ir::is_slot_move(i.op) && spilling.concerns(result.operands_of(i)[0].preg().file);
         });
}

}  // namespace

std::int64_t SpillCost::sum() const { return std::min(kMostWeighted, bytes + instructions); }

SpillCost SpillCost::of(const ir::Function& f) {
  const std::vector<std::int64_t> weights = ir::block_weights(f, ir::Cfg(f));
  SpillCost cost;
  const auto add = [](std::int64_t& to, std::int64_t more) { to = std::min(kMostWeighted, to + more); };
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& inst : f.insts_of(ir::BlockId(b))) {
      if (inst.op == ir::Op::Spill || inst.op == ir::Op::Refill)
        add(cost.bytes, f.operand_bytes(f.operands_of(inst)[0]) * weights[b]);
      if (inst.op == ir::Op::Remat) add(cost.instructions, weights[b]);
      if (inst.op == ir::Op::Copy) add(cost.instructions, num_moves(f, inst) * weights[b]);
    }
  return cost;
}

Result emit_result(Progress& progress, const Placed& placed, bool is_fallback) {
  const Run& run = progress.run;
  const ProgramFacts& facts = run.facts;
  const Instruments& instruments = run.instruments;
  const MovedProgram* const moved = placed.moved ? &*placed.moved : nullptr;
  const SpillCode& code = moved != nullptr ? moved->code : progress.program().code();
  const Homes& homes = moved != nullptr ? moved->homes : placed.homes;
  if (instruments.listener != nullptr) instruments.listener->finish(code, homes, progress.plan, is_fallback);
  ir::PassScope scope(instruments.passes, "emit", &code.f);
  ir::Allocation result = emit({facts.original, facts.f, moved != nullptr ? moved->cfg : facts.cfg, code, homes, run.budget,
                                moved != nullptr ? moved->frequency : facts.frequency, facts.slots.align_bytes,
                                facts.knobs[Knob::WideAccesses] != 0, instruments.fuel});
  if (had_to_go_to_local_memory(facts.spilling, result.program)) result.notes.emplace_back(kSmemRefusal);
  // The check of the result is repeated here only if passes are watched, since a duel checks each result itself.
  scope.made(result.program,
             [&](const ir::Function& f) { return instruments.passes == nullptr || ir::check(f, facts.target).empty(); });
  return {std::move(result)};
}

Result emit_spilled(Progress& progress, const Placed& placed, bool is_fallback) {
  Result result = emit_result(progress, placed, is_fallback);
  result.cost = SpillCost::of(result.allocation->program);
  return result;
}

Result impossible_result(const Run& run, ir::RegFile file, ir::InstId inst) {
  return {std::unexpected(ir::AllocFailure{.message = ir::failure_message(run.budget.limit[ir::index(file)]), .inst = inst})};
}

}  // namespace regduel::allocator
