// See spill_phase.h.

#include "allocator/phases/spill_phase.h"

#include <algorithm>
#include <utility>

#include "allocator/phases/attempts.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"

namespace regduel::allocator {

// Attempts of the table in one round.
constexpr std::int64_t kAttemptsOfARound = 3;
// Weighted spill bytes of all profiles at 75% of MaxLive, against those without: 0.940 with three, 0.935 with eight.
constexpr int kSecondChanceRounds = 8;
// A first attempt whose spills move more than twice the bytes of the result so far is not followed by others: 0.8 of the time of
// kernels, for the same bytes.
constexpr std::int64_t kHopelessAtFirst = 2;

SpillPhase::SpillPhase(Progress& progress) : progress_(progress), is_guided_(progress.run.facts.knobs[Knob::Guidance] != 0) {
  if (const RunListener* listener = progress.run.instruments.listener) rank_.vreg = listener->vreg();
}

bool SpillPhase::is_over_before_spill_code() {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  const RoundIndex index(facts.f, facts.live);
  SpillGuidance guidance({facts.f, facts.live, index, progress_.costs(), run.budget, facts.model, facts.slots,
                          progress_.plan.if_spilled, Spilled::of(facts.f, progress_.plan)});
  const auto over = std::find_if(std::begin(kFileOrder), std::end(kFileOrder), [&](ir::RegFile f) { return guidance.is_over(f); });
  if (over == std::end(kFileOrder)) return false;
  progress_.high_pressure[ir::index(*over)] = true;
  progress_.first_misfit = *over;
  find_victims(guidance);
  return has_victims();
}

void SpillPhase::find_first_victims() {
  if (!has_first_victims_) find_victims(progress_.program().guidance());
}

ir::PerFile<bool> SpillPhase::scarce_files() {
  ir::PerFile<bool> scarce = {};
  for (const ir::RegFile file : kFileOrder)
    scarce[ir::index(file)] =
        progress_.has_program() ? progress_.program().guidance().is_over(file) : !victims_[ir::index(file)].empty();
  return scarce;
}

std::int64_t SpillPhase::moves_of_victims() {
  const std::vector<std::int64_t>& moves = progress_.moves();
  std::int64_t sum = 0;
  for (const std::vector<VRegId>& victims : victims_)
    for (const VRegId v : victims)
      if (!progress_.plan.if_spilled[v.index()].is_recomputed()) sum += moves[v.index()];
  return sum;
}

std::optional<Homes> SpillPhase::run_rounds(std::int64_t most_moved) {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  const std::int64_t rounds = facts.knobs[Knob::SpillRounds];
  for (; round_ <= rounds; ++round_) {
    ir::PassScope scope(run.instruments.passes, "spill_round", &facts.f);
    const bool is_first_of_large = round_ == 1 && !progress_.has_program();
    if (round_ > 1 || !has_first_victims_) find_victims(progress_.program().guidance());
    if (round_ > 1 || !has_victims())
      if (auto homes = attempt_all()) return homes;
    if (!is_first_of_large && !run.instruments.may("spill-round")) break;
    if (!change_plan() && !is_first_of_large) break;
    if (progress_.moved() > most_moved) break;
    progress_.insert_spill_code();
    scope.made(progress_.program().code().f);
  }
  return std::nullopt;
}

std::optional<Homes> SpillPhase::run_second_chance() {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  Plan& plan = progress_.plan;
  const std::int64_t most_moved = progress_.moved();
  const std::vector<std::int64_t>& moves = progress_.moves();
  const std::vector<Location> before = plan.location;
  for (std::size_t v = 0; v < before.size(); ++v)
    if (moves[v] > 0 || before[v].is_recomputed()) plan.back_to_register(VRegId(v));
  if (plan.location == before || !run.instruments.may("unspill")) return std::nullopt;
  run.instruments.line("unspill: what is spilled goes back to registers");
  // Instructions are pinned again only if temporaries of spilled vregs find no room.
  plan.pinned.assign(plan.pinned.size(), {});
  plan.reuse.barred_insts.assign(plan.reuse.barred_insts.size(), 0);
  plan.reuse.distance = static_cast<int>(facts.knobs[Knob::RefillReuse]);
  is_guided_ = false;
  victims_ = {};
  kept_ = {};
  most_at_first_ = kHopelessAtFirst * most_moved;
  for (int n = 0; n < kSecondChanceRounds; ++n) {
    ir::PassScope scope(run.instruments.passes, "unspill", &facts.f);
    progress_.insert_spill_code();
    scope.made(progress_.program().code().f);
    ++round_;
    if (auto homes = attempt_all()) return homes;
    if (!change_plan() || progress_.moved() > most_moved || plan.location == before) break;
  }
  return std::nullopt;
}

std::optional<Homes> SpillPhase::run_fallback() {
  const Run& run = progress_.run;
  ir::PassScope scope(run.instruments.passes, "last_fallback", &run.facts.f);
  run.instruments.line("last fallback: everything in memory");
  progress_.keep_all_in_memory(round_, rank_);
  victims_ = {};
  kept_ = {};
  progress_.insert_spill_code();
  scope.made(progress_.program().code().f);
  return attempt_all();
}

void SpillPhase::find_victims(SpillGuidance& guidance) {
  has_first_victims_ = true;
  const Instruments& instruments = progress_.run.instruments;
  misfits_ = {};
  for (const ir::RegFile file : kFileOrder) {
    std::vector<VRegId>& victims = victims_[ir::index(file)];
    victims.clear();
    if (!is_guided_) continue;
    victims = guidance.victims(file, instruments.listener != nullptr ? &rank_ : nullptr);
    if (!victims.empty()) instruments.line("file {}: round {}, guidance spills {}", ir::name(file), round_, victims.size());
  }
}

bool SpillPhase::has_victims() const {
  return std::any_of(victims_.begin(), victims_.end(), [](const std::vector<VRegId>& v) { return !v.empty(); });
}

std::optional<Homes> SpillPhase::attempt_all() {
  PlannedProgram& program = progress_.program();
  std::vector<FileAttempts> fitting;
  fitting.reserve(ir::kNumFiles);
  bool all_fit = true;
  misfits_ = {};
  for (const ir::RegFile file : kFileOrder) {
    if (program.vregs(file).empty()) continue;
    const std::size_t k = ir::index(file);
    FileAttempts attempts(progress_.run, program, file, {.round = round_, .most = kAttemptsOfARound});
    // A file over budget cannot fit. Without guidance its vregs are all still there.
    const bool may_fit = victims_[k].empty() && kept_[k].empty() && (is_guided_ || !program.guidance().is_over(file));
    if (may_fit) attempts.try_until_one_fits();
    if (!attempts.fits())
      misfits_[k] = attempts.evict({.kept = kept_[k],
                                    .absent = victims_[k],
                                    .num_long_lived = progress_.plan.num_long_lived(),
                                    .if_spilled = progress_.plan.if_spilled,
                                    .moves = progress_.moves(),
                                    .most_moved = most_at_first_});
    progress_.high_pressure[k] = !attempts.fits();
    if (attempts.fits()) {
      fitting.push_back(std::move(attempts));
      continue;
    }
    if (all_fit) progress_.first_misfit = file;
    all_fit = false;
  }
  if (!all_fit) return std::nullopt;
  return improved_homes(program, fitting);
}

bool SpillPhase::change_plan() {
  bool changed = false;
  const auto spill = [&](std::span<const VRegId> vregs) {
    for (const VRegId v : vregs) changed = progress_.spill(v, round_, rank_) || changed;
  };
  // Predicates last, since vregs that leave file R make room for packs.
  for (const bool are_predicates : {false, true})
    for (const ir::RegFile file : kFileOrder) {
      if (ir::is_predicate(file) != are_predicates) continue;
      spill(victims_[ir::index(file)]);
      spill(misfits_[ir::index(file)].to_spill);
    }
  for (const Attempt& a : misfits_)
    for (const std::uint32_t inst : a.to_pin) changed = progress_.make_room_at(inst, round_, rank_) || changed;
  return changed;
}

}  // namespace regduel::allocator
