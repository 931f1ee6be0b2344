// See nospill.h.

#include "allocator/classic/nospill.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocator/assign/by_source/preallocation.h"
#include "allocator/assign/retry.h"
#include "allocator/program/names.h"

namespace regduel::allocator {
namespace {

PreallocationOptions preallocation_of(const Knobs& knobs) {
  return {.is_enabled = knobs[Knob::PreAllocation] != 0,
          .follows_classes = knobs[Knob::CoalescingPreAllocation] != 0,
          .does_uniform_files = knobs[Knob::UniformPreAllocation] != 0,
          .priority = static_cast<int>(knobs[Knob::PreAllocationPriority])};
}

int target_of(const FileAllocator& a) {
  constexpr int kLanes = 32;
  const int granule = a.file() == RegFile::R ? std::max(a.round().target.register_granularity / kLanes, 1) : 1;
  return std::min((a.max_live() + granule - 1) / granule * granule, a.limit());
}

// The best attempt at a file; nothing if none fits.
std::optional<Attempt> attempts_at(Progress& progress, const SourceConstraints& constraints, RegFile file, std::int64_t most) {
  const Run& run = progress.run;
  const ClassicFile facts(progress.program().round(), constraints, file);
  const Candidates candidates = preallocate(facts.allocator, run.facts.modes[ir::index(file)], preallocation_of(run.facts.knobs));
  const int target = target_of(facts.allocator);
  Attempt best;
  std::int64_t number = 0;
  for (std::int64_t n = 0; n < most; ++n) {
    ClassicOptions options = options_of(run, n);
    options.candidates = candidates.results().size() > 0 ? &candidates : nullptr;
    Attempt attempt = place_all(facts, options).attempt;
    run.instruments.line("-CLASS NOSPILL REGALLOC: attemp {}, used {}, target {}", n, attempt.used, target);
    run.instruments.line("file {}: cumulative pressure {}, copies {}", ir::name(file), attempt.pressure, attempt.copy_weight);
    const bool is_better = n == 0 || is_better_attempt(attempt, best);
    if (is_better) {
      best = std::move(attempt);
      number = n;
    }
    if (!is_better || (best.fits && best.used <= target)) break;
    if (best.fits && !run.instruments.may("another-attempt")) break;
  }
  if (!best.fits) return std::nullopt;
  show_choices(run, file, number, best);
  return best;
}

}  // namespace

SourceConstraints source_constraints_of(Progress& progress) {
  const ProgramFacts& facts = progress.run.facts;
  const Round& round = progress.program().round();
  return {facts.original, round.lowered.f,   facts.frequency,
          round.live,     round.constraints, static_cast<std::uint32_t>(facts.knobs[Knob::ConstraintTypes])};
}

ClassicOptions options_of(const Run& run, std::int64_t iteration) {
  const Knobs& knobs = run.facts.knobs;
  return {.relaxation = {iteration, knobs[Knob::RelaxationStep], knobs[Knob::RelaxationCeiling], knobs[Knob::BankAware] != 0},
          .threshold = static_cast<int>(knobs[Knob::InterferenceThreshold]),
          .has_points = (knobs[Knob::ConstraintTypes] & 1) != 0,
          .counts_on = run.instruments.trace != nullptr};
}

void show_choices(const Run& run, RegFile file, std::int64_t iteration, const Attempt& attempt) {
  const PlacedBy& by = attempt.placed_by;
  run.instruments.line("file {}: attempt {} placed {} by first fit, {} by the secondary array, {} by the primary", ir::name(file),
                       iteration, by.first_fit, by.secondary, by.primary);
}

bool is_better_attempt(const Attempt& a, const Attempt& b) {
  const auto rank = [](const Attempt& attempt) {
    return std::tuple(!attempt.fits, attempt.used, attempt.copy_weight, attempt.pressure, attempt.units.count());
  };
  return rank(a) < rank(b);
}

std::optional<Homes> place_without_spilling(Progress& p) {
  const Knobs& knobs = p.run.facts.knobs;
  PlannedProgram& program = p.program();
  ir::PassScope scope(p.run.instruments.passes, "nospill", &program.code().f);
  Homes homes(program.code().f.vregs.size(), -1);
  std::optional<SourceConstraints> constraints;
  for (const RegFile file : kFileOrder) {
    if (program.vregs(file).empty()) continue;
    bool& is_high = p.high_pressure[ir::index(file)];
    is_high = program.guidance().is_over(file);
    p.first_misfit = file;
    std::int64_t most = is_high ? 0 : attempts_without_spilling(knobs, true);
    // Barriers are allocated by a mechanism of their own (source 000 "Per-Class Iteration"): one attempt.
    if (ir::is_barrier(file)) most = std::min<std::int64_t>(most, 1);
    if (!constraints) constraints.emplace(source_constraints_of(p));
    std::optional<Attempt> best = most > 0 ? attempts_at(p, *constraints, file, most) : std::nullopt;
    is_high = !best;
    if (is_high) return std::nullopt;
    for (const VRegId v : program.vregs(file)) homes[v.index()] = best->home[v.index()];
  }
  return homes;
}

}  // namespace regduel::allocator
