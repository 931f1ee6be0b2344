// See driver.h.

#include "allocator/driver.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "allocator/phases/choose_spilling.h"
#include "allocator/phases/impossible.h"
#include "allocator/phases/nospill_phase.h"
#include "allocator/phases/occupancy_phase.h"
#include "allocator/phases/result.h"
#include "allocator/program/names.h"

namespace regduel::allocator {
namespace {

Result run_phases(const ProgramFacts& facts, const ir::Limits& limits, const Instruments& instruments,
                  bool tries_fewer_registers = true);

// For occupancy: with fewer registers an SM may hold more warps, at the price of some spill code. The result with fewer registers
// stays if the budget model says that this pays.
Result with_fewer_registers(const ir::Limits& limits, Progress& progress, Result plain) {
  const ProgramFacts& facts = progress.run.facts;
  const Instruments& instruments = progress.run.instruments;
  const auto goal = find_occupancy_goal(progress, plain.allocation->program);
  if (!goal || !instruments.may("occupancy-step")) return plain;
  const int registers = goal->step.registers;
  Result fewer = run_phases(facts, with_registers(limits, registers), instruments);
  const bool stays = fewer.allocation && is_worth(*goal, facts.knobs, plain.allocation->program, fewer.allocation->program);
  instruments.line("occupancy: {} registers {}", registers, stays ? "pay" : "do not pay");
  if (!stays) return plain;
  if (fewer.registers == 0) fewer.registers = registers;
  return fewer;
}

bool has_spill_code(const ir::Function& f, RegFile file) {
  return std::any_of(f.insts.begin(), f.insts.end(), [&](const ir::Inst& i) {
    return (i.op == ir::Op::Spill || i.op == ir::Op::Refill || i.op == ir::Op::Remat) && f.operands_of(i)[0].preg().file == file;
  });
}

// The first vregs to be placed decide what still fits, so now and then fewer registers make for less spill code. Of the limit and the
// next lower ones, the result that moves the fewest weighted bytes stays.
Result with_lower_limits(const ir::Limits& limits, const Run& run, Result best) {
  const int limit = run.budget.limit[ir::index(RegFile::R)];
  const std::int64_t most_below = run.facts.knobs[Knob::LowerLimits];
  for (int below = 1; below <= most_below && below < limit && has_spill_code(best.allocation->program, RegFile::R); ++below) {
    if (!run.instruments.may("lower-limit")) break;
    Result other = run_phases(run.facts, with_registers(limits, limit - below), run.instruments, false);
    if (!other.allocation) break;
    run.instruments.line("limit {}: weighted bytes moved {}, {} before", limit - below, other.cost.bytes, best.cost.bytes);
    if (other.cost >= best.cost) continue;
    other.registers = limit - below;
    best = std::move(other);
  }
  return best;
}

// All phases under one limit, or under fewer registers where that is worth it.
Result run_phases(const ProgramFacts& facts, const ir::Limits& limits, const Instruments& instruments, bool tries_fewer_registers) {
  const Run run(facts, limits, instruments);
  show_spill_setup(run);
  Progress progress(run);
  if (RunListener* const listener = instruments.listener) {
    listener->follow(facts.stands_for);
    listener->begin_run(facts.f, {}, !facts.live.range(listener->vreg().index()).empty());
  }

  // Instructions in unreachable blocks are packed one by one when the program is emitted. Spilling cannot help them, so they are
  // looked at first.
  if (const auto impossible = find_impossible(run, false)) return impossible_result(run, impossible->file, impossible->inst);

  // A large program that is over its budget before any spill code is spared the attempts without spilling.
  SpillPhase rounds(progress);
  const bool is_pressed = facts.is_large() && !is_first_enough(facts) && rounds.is_over_before_spill_code();

  // Most programs fit without spilling. Then only occupancy can ask for more.
  if (!is_pressed) {
    progress.insert_spill_code();
    if (const auto homes = run_nospill_phase(progress)) {
      Result plain = emit_result(progress, *homes);
      return tries_fewer_registers ? with_fewer_registers(limits, progress, std::move(plain)) : std::move(plain);
    }
  }

  // With all values in memory, an allocation exists exactly if each instruction can be packed by itself.
  if (const auto impossible = find_impossible(run, true)) return impossible_result(run, impossible->file, impossible->inst);

  // Some values have to leave their registers.
  Result spilled = choose_spilling(progress, rounds);

  // A lower limit may come out cheaper.
  if (!tries_fewer_registers || !spilled.allocation) return spilled;
  return with_lower_limits(limits, run, std::move(spilled));
}

// A register limit, and the result of a run under it without instruments.
struct Bent {
  int registers = 0;
  Result result;
};

// The register usage level aims below the limit. The fewest registers from there on that cost no more spill bytes than the limit does.
Bent bent_to(int aim, const ProgramFacts& facts, const ir::Limits& limits) {
  const auto bytes_of = [](const Result& r) {
    return r.allocation->claims.spill_store_bytes + r.allocation->claims.spill_load_bytes;
  };
  const auto run_with = [&](int registers) -> Bent {
    return {registers, run_phases(facts, with_registers(limits, registers), {})};
  };
  Bent enough = run_with(limits.of(RegFile::R));
  if (!enough.result.allocation) return enough;
  const std::int64_t most = bytes_of(enough.result);
  const auto is_enough = [&](int registers) {
    Bent fewer = run_with(registers);
    if (!fewer.result.allocation || bytes_of(fewer.result) > most) return false;
    enough = std::move(fewer);
    return true;
  };
  if (is_enough(aim)) return enough;
  for (int too_few = aim; enough.registers - too_few > 1;)
    if (const int middle = (too_few + enough.registers) / 2; !is_enough(middle)) too_few = middle;
  return enough;
}

// A listener is shown only the run whose result stays. A run without the listener finds it first.
Result run_for_listener(const ProgramFacts& facts, const ir::Limits& limits, const Instruments& instruments) {
  if (instruments.listener == nullptr) return run_phases(facts, limits, instruments);
  const Result decided = run_phases(facts, limits, {});
  return run_phases(facts, decided.registers != 0 ? with_registers(limits, decided.registers) : limits, instruments, false);
}

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> run_driver(const ir::Function& program, const RunOptions& options) {
  const Instruments& instruments = options.instruments;
  const ProgramFacts facts(program, options.target, options.knobs, instruments);

  const int limit = options.limits.of(RegFile::R);
  const auto level = static_cast<int>(options.knobs[Knob::RegisterUsageLevel]);
  const int aim = level_target(limit, level);
  std::optional<Bent> bent;
  if (aim != limit) bent = bent_to(aim, facts, options.limits);
  if (bent && bent->registers != aim)
    instruments.line("level {}: {} registers instead of {}, so that the level spills nothing by itself", level, bent->registers,
                     aim);
  if (bent && instruments.are_absent()) return std::move(bent->result.allocation);
  return run_for_listener(facts, with_registers(options.limits, bent ? bent->registers : limit), instruments).allocation;
}

}  // namespace regduel::allocator
