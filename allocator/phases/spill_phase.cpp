// See spill_phase.h.

#include "allocator/phases/spill_phase.h"

#include <algorithm>
#include <utility>

#include "allocator/phases/attempts.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"
#include "allocator/walk/file_walk.h"
#include "allocator/walk/rejoin.h"
#include "allocator/walk/write_moves.h"

namespace regduel::allocator {

// Attempts of the table in one round.
constexpr std::int64_t kAttemptsOfARound = 3;
SpillPhase::SpillPhase(Progress& progress) : progress_(progress), is_guided_(progress.run.facts.knobs[Knob::Guidance] != 0) {
  if (const RunListener* listener = progress.run.instruments.listener) rank_.vreg = listener->vreg();
}

bool SpillPhase::is_over_before_spill_code() {
  const Run& run = progress_.run;
  const ProgramFacts& facts = run.facts;
  const RoundIndex index(facts.f, facts.live, run.budget.points_of(facts.f));
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

bool SpillPhase::may_pack(ir::RegFile file) const {
  return ir::is_predicate(file) && progress_.run.facts.knobs[Knob::PredicatePacks] != 0;
}

std::int64_t SpillPhase::moves_of_victims(bool is_split) {
  const std::vector<std::int64_t>& moves = progress_.moves();
  std::int64_t sum = 0;
  for (const ir::RegFile file : kFileOrder) {
    if (is_split && !may_pack(file)) continue;
    for (const VRegId v : victims_[ir::index(file)])
      if (!progress_.plan.if_spilled[v.index()].is_recomputed()) sum += moves[v.index()];
  }
  return sum;
}

void SpillPhase::begin_with(const SpillPhase& whole) {
  for (const ir::RegFile file : kFileOrder)
    if (may_pack(file))
      for (const VRegId v : whole.victims_[ir::index(file)]) progress_.spill(v, round_, whole.rank_);
}

std::optional<Placed> SpillPhase::run_rounds() {
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
    progress_.insert_spill_code();
    scope.made(progress_.program().code().f);
  }
  return std::nullopt;
}

std::optional<Placed> SpillPhase::run_fallback() {
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

// A move on one way of a branch would be seen on the other in files that the threads of a warp share.
bool SpillPhase::may_walk(ir::RegFile file) const {
  return !ir::is_uniform(file) && progress_.run.facts.knobs[Knob::MovingHomes] != 0 && progress_.run.instruments.may("move-homes");
}

std::optional<Placed> SpillPhase::attempt_all() {
  PlannedProgram& program = progress_.program();
  const ProgramFacts& facts = progress_.run.facts;
  std::vector<FileAttempts> fitting;
  fitting.reserve(ir::kNumFiles);
  std::vector<Walk> walks;
  std::vector<ir::RegFile> walked;
  std::vector<std::int16_t> unit_of;  // of the walks
  bool all_fit = true;
  misfits_ = {};
  for (const ir::RegFile file : kFileOrder) {
    if (program.vregs(file).empty()) continue;
    const std::size_t k = ir::index(file);
    FileAttempts attempts(progress_.run, program, file, {.round = round_, .most = kAttemptsOfARound});
    // A file over budget cannot fit. Without guidance its vregs are all still there.
    const bool may_fit = victims_[k].empty() && kept_[k].empty() && (is_guided_ || !program.guidance().is_over(file));
    if (may_fit) attempts.try_until_one_fits();
    progress_.high_pressure[k] = !attempts.fits();
    if (attempts.fits()) {
      fitting.push_back(std::move(attempts));
      continue;
    }
    if (!may_walk(file)) {
      misfits_[k] = attempts.evict({.kept = kept_[k], .absent = victims_[k], .num_long_lived = progress_.plan.num_long_lived()});
      progress_.high_pressure[k] = !attempts.fits();
      if (attempts.fits()) {
        fitting.push_back(std::move(attempts));
        continue;
      }
    } else if (victims_[k].empty() && (all_fit || !has_walked_[k])) {
      unit_of.resize(program.code().f.operands.size(), -1);
      const HomesForWalk homes = attempts.homes_for_walk();
      if (attempts.fits()) {
        progress_.high_pressure[k] = false;
        fitting.push_back(std::move(attempts));
        continue;
      }
      Walk w = walk(attempts.allocator(), facts.cfg, facts.frequency, homes.preferred, homes.used, unit_of);
      progress_.run.instruments.line("file {}: round {}, {} moves, {} on edges, spills {}, pins {}", ir::name(file), round_,
                                     w.moves.size(), w.edge_moves.size(), w.to_spill.size(), w.to_pin.size());
      if (RunListener* const listener = progress_.run.instruments.of(file)) listener->walked(attempts.allocator(), w);
      if (w.fits) {
        walks.push_back(std::move(w));
        walked.push_back(file);
        has_walked_[k] = true;
        continue;
      }
      misfits_[k].to_spill = std::move(w.to_spill);
      misfits_[k].to_pin = std::move(w.to_pin);
    }
    if (all_fit) progress_.first_misfit = file;
    all_fit = false;
  }
  if (!all_fit) return std::nullopt;
  Placed placed{improved_homes(program, fitting)};
  if (walks.empty()) return placed;
  placed.moved = write_moves(program.code(), facts.cfg, facts.frequency, walks, placed.homes, unit_of);
  const Liveness live(placed.moved->code.f, placed.moved->cfg, placed.moved->code.f.vregs.size());
  for (const ir::RegFile file : walked) rejoin(*placed.moved, live, file, progress_.run.budget, facts.target);
  return placed;
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
