// See spill_rounds.h.

#include "allocator/classic/spill_rounds.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocator/classic/candidates_to_spill.h"
#include "allocator/classic/instruction_walk.h"
#include "allocator/classic/nospill.h"
#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// Rounds of the alternate allocator.
constexpr int kWalks = 16;

// Of two attempts at one program: fewer instructions to pin, then less to spill.
bool is_cheaper(const ClassicAttempt& a, const ClassicAttempt& b) {
  const auto rank = [](const ClassicAttempt& x) {
    return std::tuple(!x.attempt.fits, x.attempt.to_pin.size(), x.attempt.spill_cost, x.held_back.size());
  };
  return rank(a) < rank(b);
}

}  // namespace

bool SpillRounds::is_pressure_high() {
  const Run& run = progress_.run;
  const RoundIndex& index = index_.emplace(run.facts.f, run.facts.live, run.budget.points_of(run.facts.f));
  bool is_high = false;
  for (const RegFile file : kFileOrder) {
    const std::size_t k = ir::index(file);
    progress_.high_pressure[k] = index.max_live[k] > run.budget.units_everywhere(file);
    is_high = is_high || progress_.high_pressure[k];
  }
  return is_high;
}

void SpillRounds::find_victims(Found& found) {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  if (facts.knobs[Knob::Guidance] == 0) return;
  const auto ask = [&](SpillGuidance& guidance) {
    for (const RegFile file : kFileOrder) {
      std::vector<VRegId>& victims = found.victims[ir::index(file)];
      victims = guidance.victims(file);
      if (!victims.empty()) run.instruments.line("file {}: round {}, guidance spills {}", ir::name(file), round_, victims.size());
    }
  };
  if (progress_.has_program()) return ask(progress_.program().guidance());
  SpillGuidance guidance({facts.f, facts.live, *index_, progress_.costs(), run.budget, facts.model, facts.slots,
                          progress_.plan.if_spilled, Spilled::of(facts.f, progress_.plan)});
  ask(guidance);
}

std::optional<Homes> SpillRounds::run() {
  const Run& run = progress_.run;
  const std::int64_t rounds = run.facts.knobs[Knob::SpillRounds];
  for (; round_ <= rounds; ++round_) {
    ir::PassScope scope(run.instruments.passes, "spill_round", &run.facts.f);
    Found found;
    find_victims(found);
    if (progress_.has_program())
      if (auto homes = attempt_all(found)) return homes;
    if (progress_.has_program() && !run.instruments.may("spill-round")) break;
    if (!change_plan(found) && progress_.has_program()) break;
    progress_.insert_spill_code();
    scope.made(progress_.program().code().f);
  }
  return std::nullopt;
}

std::optional<Homes> SpillRounds::run_alternate() {
  const Run& run = progress_.run;
  if (run.facts.knobs[Knob::InstructionWalk] == 0 || !run.instruments.may("instruction-walk")) return std::nullopt;
  kept_ = {};
  for (int n = 0; n < kWalks; ++n, ++round_) {
    ir::PassScope scope(run.instruments.passes, "instruction_walk", &run.facts.f);
    if (!progress_.has_program()) progress_.insert_spill_code();
    Found found;
    find_victims(found);
    if (auto homes = walk_all(found)) return homes;
    if (!change_plan(found)) break;
    progress_.insert_spill_code();
    scope.made(progress_.program().code().f);
  }
  return std::nullopt;
}

std::optional<Homes> SpillRounds::run_fallback() {
  const Run& run = progress_.run;
  ir::PassScope scope(run.instruments.passes, "last_fallback", &run.facts.f);
  run.instruments.line("last fallback: everything in memory");
  kept_ = {};
  progress_.keep_all_in_memory(round_, {});
  progress_.insert_spill_code();
  scope.made(progress_.program().code().f);
  Found found;
  return attempt_all(found);
}

std::optional<Homes> SpillRounds::attempt_all(Found& found) {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  PlannedProgram& program = progress_.program();
  const Round& round = program.round();
  const SourceConstraints constraints = source_constraints_of(progress_);
  const auto num_long_lived = static_cast<std::ptrdiff_t>(progress_.plan.num_long_lived());
  const Spilled spilled = Spilled::of(facts.f, progress_.plan);
  Homes homes(program.code().f.vregs.size(), -1);
  bool all_fit = true;
  for (const RegFile file : kFileOrder) {
    const std::size_t k = ir::index(file);
    const std::span<const VRegId> vregs = program.vregs(file);
    if (vregs.empty()) continue;
    Fitting& fitting = fitting_[k];
    if (found.victims[k].empty() && is_as_before(file)) {
      for (std::size_t n = 0; n < vregs.size(); ++n) homes[vregs[n].index()] = fitting.homes[n];
      continue;
    }
    std::vector<char> candidates;
    if (facts.knobs[Knob::Guidance] != 0)
      candidates = candidates_to_spill(program.code().f, round.live, round.index, file, run.budget, facts.model, spilled.vregs[k]);
    ClassicOptions options = options_of(run, round_);
    options.may_spill = true;
    options.may_leave = candidates;
    options.kept = kept_[k];
    options.absent = found.victims[k];
    options.guidance = &program.guidance();
    const ClassicFile facts_of_file(round, constraints, file);
    ClassicAttempt attempt = place_all(facts_of_file, options);
    if (!attempt.attempt.fits && !options.kept.empty()) {
      options.kept = {};
      if (ClassicAttempt anew = place_all(facts_of_file, options); is_cheaper(anew, attempt)) attempt = std::move(anew);
    }
    Attempt& placed = attempt.attempt;
    run.instruments.line("file {}: round {}, used {}, target {}, spills {}, cost {}, held back {}, pins {}", ir::name(file), round_,
                         placed.used, run.budget.limit[k], placed.to_spill.size(), placed.spill_cost, attempt.held_back.size(),
                         placed.to_pin.size());
    for (const VRegId v : placed.to_spill) run.instruments.line("  spills %{}", v.value);
    if (placed.fits && found.victims[k].empty()) show_choices(run, file, round_, placed);
    placed.fits = placed.fits && found.victims[k].empty();
    progress_.high_pressure[k] = !placed.fits;
    if (!placed.fits && all_fit) progress_.first_misfit = file;
    all_fit = all_fit && placed.fits;
    for (const VRegId v : vregs) homes[v.index()] = placed.home[v.index()];
    kept_[k].assign(placed.home.begin(), placed.home.begin() + num_long_lived);
    fitting = {};
    if (placed.fits) {
      fitting.vregs.assign(vregs.begin(), vregs.end());
      for (const VRegId v : vregs) fitting.homes.push_back(placed.home[v.index()]);
    }
    found.to_spill[k] = std::move(placed.to_spill);
    found.held_back[k] = std::move(attempt.held_back);
    found.to_pin.insert(found.to_pin.end(), placed.to_pin.begin(), placed.to_pin.end());
  }
  return all_fit ? std::optional(std::move(homes)) : std::nullopt;
}

bool SpillRounds::is_as_before(RegFile file) const {
  const std::vector<VRegId>& before = fitting_[ir::index(file)].vregs;
  if (before.empty() || !std::ranges::equal(progress_.program().vregs(file), before)) return false;
  const std::vector<char>& is_changed = progress_.program().code().is_changed;
  return std::ranges::none_of(before, [&](VRegId v) { return v.index() >= is_changed.size() || is_changed[v.index()] != 0; });
}

std::optional<Homes> SpillRounds::walk_all(Found& found) {
  const Run& run = progress_.run;
  PlannedProgram& program = progress_.program();
  const Round& round = program.round();
  const auto num_long_lived = static_cast<std::ptrdiff_t>(progress_.plan.num_long_lived());
  Homes homes(program.code().f.vregs.size(), -1);
  bool all_fit = true;
  for (const RegFile file : kFileOrder) {
    const std::size_t k = ir::index(file);
    if (program.vregs(file).empty()) continue;
    const FileAllocator allocator(round, file);
    const AttemptOptions options{.kind = AttemptKind::Evicting,
                                 .bank_aware = run.facts.knobs[Knob::BankAware] != 0,
                                 .kept = kept_[k],
                                 .absent = found.victims[k]};
    Attempt placed = walk_instructions(allocator, options, progress_.plan.if_spilled);
    const bool fits = placed.fits && found.victims[k].empty();
    run.instruments.line("file {}: round {}, the walk spills {}, cost {}, pins {}", ir::name(file), round_, placed.to_spill.size(),
                         placed.spill_cost, placed.to_pin.size());
    if (!fits && all_fit) progress_.first_misfit = file;
    all_fit = all_fit && fits;
    for (const VRegId v : program.vregs(file)) homes[v.index()] = placed.home[v.index()];
    kept_[k].assign(placed.home.begin(), placed.home.begin() + num_long_lived);
    found.to_spill[k] = std::move(placed.to_spill);
    found.to_pin.insert(found.to_pin.end(), placed.to_pin.begin(), placed.to_pin.end());
  }
  return all_fit ? std::optional(std::move(homes)) : std::nullopt;
}

// Predicates last, since vregs that leave file R make room for packs.
bool SpillRounds::spill(const ir::PerFile<std::vector<VRegId>>& vregs) {
  bool changed = false;
  for (const bool are_predicates : {false, true})
    for (const RegFile file : kFileOrder)
      if (ir::is_predicate(file) == are_predicates)
        for (const VRegId v : vregs[ir::index(file)]) changed = progress_.spill(v, round_, {}) || changed;
  return changed;
}

bool SpillRounds::change_plan(const Found& found) {
  bool changed = spill(found.victims);
  changed = spill(found.to_spill) || changed;
  if (!changed) changed = spill(found.held_back);
  for (const std::uint32_t inst : found.to_pin) changed = progress_.make_room_at(inst, round_, {}) || changed;
  return changed;
}

}  // namespace regduel::allocator
