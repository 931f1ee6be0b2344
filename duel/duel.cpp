#include "duel/duel.h"

#include <algorithm>
#include <chrono>
#include <expected>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "duel/allocators.h"
#include "duel/figures_only.h"
#include "duel/heap_use.h"
#include "ir/check.h"
#include "oracles/agreement/disagreement.h"
#include "oracles/calls/calls.h"
#include "oracles/completeness.h"
#include "oracles/judges.h"
#include "oracles/proof/proof.h"
#include "oracles/quality/refill_bound.h"
#include "oracles/rewrite/rewrite.h"

namespace regduel::duel {
namespace {

constexpr std::string_view kInternalError = "internal-error";

// "@emit.cpp: first >= 0" of "allocator/frame/emit.cpp:63: broken invariant: first >= 0: a vreg without a home" (check_macro.h): which
// invariant it is, wherever the sources lie and on whatever line. "" where the text is of another kind.
std::string place_of(std::string_view text) {
  constexpr std::string_view kBroken = ": broken invariant: ";
  const auto broken = text.find(kBroken);
  if (broken == std::string_view::npos) return "";
  const std::string_view condition = text.substr(broken + kBroken.size());
  std::string_view file = text.substr(0, text.rfind(':', broken - 1));
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return fmt::format("@{}: {}", file, condition.substr(0, condition.find(": ")));
}

// Adds a finding of the harness itself.
void object(Bout& bout, std::string category, std::string message) {
  oracles::Finding f;
  f.judge = "harness";
  f.category = std::move(category);
  f.message = std::move(message);
  bout.report.results.push_back({f.judge, oracles::Verdict::Fail, "", {f}});
}

void judge_failure(Bout& bout, const ir::AllocFailure& failure, const oracles::Before& before, const ir::Limits& limits) {
  switch (failure.kind) {
    case ir::AllocFailure::Kind::Unsupported: bout.unsupported = failure.message; return;
    case ir::AllocFailure::Kind::BadKnob: object(bout, "bad-knob", failure.message); return;
    case ir::AllocFailure::Kind::Broken:
      object(bout, failure.category.empty() ? "broken" : fmt::format("broken-{}", failure.category), failure.message);
      return;
    case ir::AllocFailure::Kind::Impossible: bout.report.results.push_back(oracles::judge_completeness(before, limits)); return;
  }
}

int rank(oracles::Verdict v) {
  switch (v) {
    case oracles::Verdict::Fail: return 3;
    case oracles::Verdict::Inconclusive: return 2;
    case oracles::Verdict::Pass: return 1;
    case oracles::Verdict::Skipped: return 0;
  }
  return 0;
}

// What the runs before this one have moved.
void add_moves(oracles::Measures& to, const oracles::Measures& of) {
  to.spill_stores += of.spill_stores, to.spill_loads += of.spill_loads;
  to.spill_store_bytes += of.spill_store_bytes, to.spill_load_bytes += of.spill_load_bytes;
  to.inserted_copies += of.inserted_copies, to.remats += of.remats;
  if (to.weighted_spill_bytes && of.weighted_spill_bytes) *to.weighted_spill_bytes += *of.weighted_spill_bytes;
  to.registers[ir::index(ir::RegFile::R)] += of.registers[ir::index(ir::RegFile::R)];
}

oracles::Report judge_run(const ir::OwnRun& run, const oracles::Before& before, const oracles::Measures& measures,
                          const ir::Limits& limits, std::span<const std::string> judges) {
  oracles::Report report = oracles::judge({before, run.after, limits, nullptr, false, &measures}, judges);
  if (run.words != nullptr)
    for (oracles::JudgeResult& r : report.results)
      for (oracles::Finding& f : r.findings) f.message = run.words->of(f.message, f.inst, f.other);
  return report;
}

// A form for the very target of the program is a rewriting of it (passes/pass.h). All others have registers of their own.
bool is_rewriting(const ir::OwnRun& run, const oracles::Before& program) { return run.target.name == program.target().name; }

// Each run by itself, against its own program and target; a rewriting also as a pair with the program that came in.
void judge_runs(Bout& bout, std::vector<ir::OwnRun>& runs, const oracles::Before& program, const DuelOptions& options) {
  bout.is_own_form = true;
  int worst = -1;
  for (ir::OwnRun& run : runs) {
    for (const ir::Function* f : {&run.before, &run.after})
      if (const auto faults = ir::check(*f, run.target, 1); !faults.empty())
        return object(bout, "ill-formed", ir::to_string(*f, faults[0]));
    const oracles::Before before(run.before, run.target);
    oracles::Measures measures = oracles::measure(before, run.after);
    const bool rewrites = is_rewriting(run, program);
    oracles::Report report =
        judge_run(run, before, measures, rewrites ? options.limits : ir::Limits::of(run.target), options.judges);
    if (rewrites) report.results.push_back(oracles::judge_rewrite(program.program(), run.before, run.target));
    else measures.registers[ir::index(ir::RegFile::R)] = run.registers;
    add_moves(measures, bout.measures);
    bout.measures = measures;
    if (const int of_this = rank(report.verdict()); of_this >= worst) {
      worst = of_this;
      bout.report = std::move(report);
      bout.program = std::move(run.after);
    }
  }
}

void judge_result(Bout& bout, ir::Allocation& allocation, const oracles::Before& before, const DuelOptions& options) {
  if (!allocation.runs.empty()) {
    bout.notes = std::move(allocation.notes);
    return judge_runs(bout, allocation.runs, before, options);
  }
  if (allocation.program.phase != ir::Phase::Allocated) return object(bout, "ill-formed", "the result is not marked as allocated");
  if (const auto faults = ir::check(allocation.program, 1); !faults.empty())
    return object(bout, "ill-formed", ir::to_string(allocation.program, faults[0]));
  bout.program = std::move(allocation.program);
  bout.notes = std::move(allocation.notes);
  bout.measures = oracles::measure(before, *bout.program);
  bout.report = oracles::judge({before, *bout.program, options.limits, allocation.has_claims ? &allocation.claims : nullptr,
                                allocation.has_claims, &bout.measures},
                               options.judges);
}

using Bounds = std::vector<oracles::ClaimedBound>;

// The allocator's result. Time and memory of the allocation go into `bout`, without those of the judges.
std::expected<ir::Allocation, ir::AllocFailure> timed(const ir::Allocator& allocator, const oracles::Before& before,
                                                      const ir::AllocOptions& options, Bout& bout, Bounds& claimed) {
  const HeapPeak heap;
  const auto start = std::chrono::steady_clock::now();
  const auto* const prover = dynamic_cast<const ir::Prover*>(&allocator);
  std::vector<ir::Bound> bounds;
  auto allocation = prover != nullptr ? prover->prove(before.program(), before.target(), options, bounds)
                                      : allocator.allocate(before.program(), before.target(), options);
  bout.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bout.heap_bytes = heap.bytes();
  for (const ir::Bound& bound : bounds) claimed.push_back({bout.allocator, bound});
  return allocation;
}

bool is_impossible(const Bout& b) { return b.verdict() == oracles::Verdict::Skipped && !b.program && b.unsupported.empty(); }

// Without fuel.
ir::AllocOptions settings_of(const ir::Allocator& allocator, const DuelOptions& options) {
  ir::AllocOptions settings;
  settings.limits = options.limits;
  settings.knobs = known_to(allocator, options.knobs);
  return settings;
}

// What an allocator says that shows no allocation.
void take_figures(const FiguresOnly& allocator, const oracles::Before& before, const ir::AllocOptions& settings, Bout& bout) {
  const auto start = std::chrono::steady_clock::now();
  const auto known = allocator.figures(before.program(), before.target(), settings);
  bout.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!known) return judge_failure(bout, known.error(), before, settings.limits);
  bout.is_figures_only = true;
  bout.measures = oracles::measure(before, before.program());
  bout.measures.registers = {};
  bout.measures.registers[ir::index(ir::RegFile::R)] = known->registers;
  bout.measures.spill_store_bytes = known->store_bytes;
  bout.measures.spill_load_bytes = known->load_bytes;
  bout.measures.local_frame_bytes = known->frame_bytes;
  bout.measures.weighted_spill_bytes = std::nullopt;
  oracles::set_occupancy(bout.measures, before.program().threads, before.target());
}

// Where an allocator without judges says that a program does not fit and another one allocates it, or the other way round, it says so.
void note_floors(Duel& d, const ir::Limits& limits) {
  const auto fits = std::ranges::find_if(d.bouts, [](const Bout& b) { return b.program && b.verdict() == oracles::Verdict::Pass; });
  for (Bout& b : d.bouts) {
    const int limit = limits.of(ir::RegFile::R);
    if (b.unsupported.find("C7602") != std::string::npos && fits != d.bouts.end())
      b.notes.push_back(fmt::format("refuses at {} registers what {} allocates: {}", limit, fits->allocator, b.unsupported));
    if (b.is_figures_only && fits == d.bouts.end() && std::ranges::any_of(d.bouts, is_impossible))
      b.notes.push_back(fmt::format(
          "compiles at {} registers what does not fit: its instructions have no operands that must be in registers at once",
          limit));
  }
}

Bout bout_of(const ir::Allocator& allocator, const oracles::Before& before, const DuelOptions& options, Bounds& claimed) {
  Bout bout;
  bout.allocator = allocator.name();
  ir::AllocOptions settings = settings_of(allocator, options);
  settings.fuel = options.fuel;
  if (ir::Fuel* const fuel = options.fuel) *fuel = {.limit = fuel->limit, .without = fuel->without, .taken = fuel->taken};
  try {
    if (const auto* const figures_only = dynamic_cast<const FiguresOnly*>(&allocator)) {
      take_figures(*figures_only, before, settings, bout);
      return bout;
    }
    auto allocation = timed(allocator, before, settings, bout, claimed);
    if (allocation) judge_result(bout, *allocation, before, options);
    else judge_failure(bout, allocation.error(), before, options.limits);
  } catch (const InternalError& e) {
    object(bout, std::string(kInternalError), e.what());
  }
  return bout;
}

// The findings of judge "calls" in the program. Callees that cannot be allocated at these limits say nothing.
void add_calls(Duel& d, const oracles::Before& before, const DuelOptions& options) {
  std::vector<oracles::FunctionOfFile> file = {{&before.program(), nullptr, &before.target()}};
  for (const ir::Function& callee : options.callees) file.push_back({&callee, nullptr, &before.target()});
  if (!oracles::has_calls_inside(file) || !oracles::lists_what_callees_may_write(file)) return;
  for (std::size_t k = 0; k < options.duelists.size(); ++k) {
    Bout& bout = d.bouts[k];
    if (!bout.program || bout.is_own_form) continue;
    std::vector<std::optional<ir::Function>> after;
    for (const ir::Function& callee : options.callees) {
      Bout of_callee;
      Bounds none;
      try {
        auto allocation = timed(*options.duelists[k], oracles::Before(callee, before.target()),
                                settings_of(*options.duelists[k], options), of_callee, none);
        if (allocation) judge_result(of_callee, *allocation, oracles::Before(callee, before.target()), options);
      } catch (const InternalError& e) {
        object(bout, std::string(kInternalError), e.what());
      }
      after.push_back(of_callee.verdict() == oracles::Verdict::Fail ? std::nullopt : std::move(of_callee.program));
    }
    file[0].after = &*bout.program;
    for (std::size_t c = 0; c < after.size(); ++c) file[c + 1].after = after[c] ? &*after[c] : nullptr;
    oracles::JudgeResult result = std::move(oracles::judge_calls(file)[0]);
    if (result.verdict == oracles::Verdict::Fail) bout.report.results.push_back(std::move(result));
  }
}

// The findings of judge "proof".
void add_beaten_proofs(Duel& d, const oracles::Before& before, const Bounds& claimed) {
  if (claimed.empty()) return;
  for (Bout& b : d.bouts) {
    if (b.verdict() != oracles::Verdict::Pass || !b.program) continue;
    oracles::JudgeResult result = oracles::judge_proof(before, *b.program, b.measures, claimed);
    if (result.verdict == oracles::Verdict::Fail) b.report.results.push_back(std::move(result));
  }
}

// The findings of the metamorphic judge go to the bouts, too, which fail by them.
void add_metamorphic(Duel& d, const oracles::Before& before, const DuelOptions& options) {
  for (std::size_t k = 0; k < options.duelists.size(); ++k) {
    const ir::Allocator& allocator = *options.duelists[k];
    const bool shows_none = dynamic_cast<const FiguresOnly*>(&allocator) != nullptr;
    if (d.bouts[k].is_own_form || shows_none) {
      const char* const why = shows_none ? "it shows no allocation" : "it allocates a form of its own";
      oracles::JudgeResult none{"metamorphic", oracles::Verdict::Skipped, why, {}};
      d.metamorphic.push_back({std::string(allocator.name()), {std::move(none), {}}});
      continue;
    }
    d.metamorphic.push_back(
        {std::string(allocator.name()), oracles::judge_metamorphic(before, allocator, settings_of(allocator, options))});
    const oracles::JudgeResult& result = d.metamorphic.back().metamorphic.result;
    if (result.verdict == oracles::Verdict::Fail) d.bouts[k].report.results.push_back(result);
  }
}

}  // namespace

oracles::Verdict Bout::verdict() const {
  const oracles::Verdict v = report.verdict();
  if (is_figures_only) return oracles::Verdict::Pass;
  return v == oracles::Verdict::Pass && !program ? oracles::Verdict::Skipped : v;
}

std::optional<std::int64_t> Bout::registers() const {
  const int count = measures.registers[ir::index(ir::RegFile::R)];
  return count < 0 ? std::nullopt : std::optional<std::int64_t>(count);
}

std::string Bout::reason() const {
  if (!unsupported.empty()) return fmt::format("unsupported: {}", unsupported);
  const oracles::Verdict v = verdict();
  if (v == oracles::Verdict::Skipped && !program) return "impossible";
  for (const oracles::JudgeResult& r : report.results)
    if (r.verdict == v && !r.reason.empty()) return r.reason;
  return "";
}

std::vector<oracles::Finding> Bout::findings() const {
  std::vector<oracles::Finding> all;
  for (const oracles::JudgeResult& r : report.results) all.insert(all.end(), r.findings.begin(), r.findings.end());
  return all;
}

std::vector<std::string> Bout::signatures() const {
  std::vector<std::string> result;
  for (const oracles::Finding& f : findings()) {
    if (program) result.push_back(oracles::signature(f, *program));
    else if (f.category == kInternalError) result.push_back(fmt::format("{}/{}{}", f.judge, f.category, place_of(f.message)));
    else result.push_back(fmt::format("{}/{}", f.judge, f.category));
  }
  return result;
}

oracles::Verdict Duel::verdict() const {
  oracles::Verdict worst = oracles::Verdict::Skipped;
  for (const Bout& b : bouts)
    if (rank(b.verdict()) > rank(worst)) worst = b.verdict();
  return worst;
}

void add_completeness_disagreement(Duel& d, const oracles::Before& before, const ir::Limits& limits) {
  if (std::ranges::none_of(d.bouts, is_impossible)) return;
  for (Bout& b : d.bouts) {
    if (b.verdict() != oracles::Verdict::Pass || b.is_own_form || !b.program) continue;
    oracles::JudgeResult result = oracles::judge_success_against_completeness(b.report, {before, *b.program, limits});
    if (result.verdict == oracles::Verdict::Fail) b.report.results.push_back(std::move(result));
  }
}

Duel duel(const oracles::Before& before, const DuelOptions& options) {
  Duel result;
  Bounds claimed;
  for (const ir::Allocator* const allocator : options.duelists)
    result.bouts.push_back(bout_of(*allocator, before, options, claimed));
  // The bound is of the program and the limits alone.
  const auto has_bound = [](const Bout& b) { return b.program.has_value() && !b.is_own_form; };
  if (std::ranges::any_of(result.bouts, has_bound)) {
    const auto fewest = oracles::fewest_refill_bytes(before.program(), before.target(), options.limits);
    for (Bout& b : result.bouts)
      if (has_bound(b)) b.fewest_refill_bytes = fewest;
  }
  add_completeness_disagreement(result, before, options.limits);
  note_floors(result, options.limits);
  if (options.judges.empty()) add_beaten_proofs(result, before, claimed);
  if (options.judges.empty() && !options.callees.empty()) add_calls(result, before, options);
  if (options.metamorphic) add_metamorphic(result, before, options);
  return result;
}

Duel duel(const Case& c, DuelOptions options) {
  options.limits = c.limits;
  options.knobs = c.knobs;
  options.callees = c.callees;
  return duel(oracles::Before(c.program, *c.target), options);
}

}  // namespace regduel::duel
