#include "duel/duel.h"

#include <algorithm>
#include <chrono>
#include <expected>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/random.h"
#include "duel/allocators.h"
#include "duel/heap_use.h"
#include "ir/check.h"
#include "oracles/completeness.h"
#include "oracles/quality/refill_bound.h"
#include "passes/series.h"

namespace regduel::fuzz {
namespace {

oracles::Finding harness_finding(std::string category, std::string message) {
  oracles::Finding f;
  f.judge = "harness";
  f.category = std::move(category);
  f.message = std::move(message);
  return f;
}

constexpr std::string_view kInternalError = "internal-error";

// "@emit.cpp: first >= 0" of "allocator/emit.cpp:63: broken invariant: first >= 0: a vreg without a home" (check_macro.h): which
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

void judge_failure(Bout& bout, const ir::AllocFailure& failure, const oracles::Before& before, const ir::Limits& limits) {
  if (failure.kind == ir::AllocFailure::Kind::Unsupported) {
    bout.verdict = oracles::Verdict::Skipped;
    bout.reason = fmt::format("unsupported: {}", failure.message);
    bout.is_unsupported = true;
    return;
  }
  if (failure.kind != ir::AllocFailure::Kind::Impossible) {
    const std::string broken = failure.category.empty() ? "broken" : fmt::format("broken-{}", failure.category);
    bout.verdict = oracles::Verdict::Fail;
    bout.findings.push_back(
        harness_finding(failure.kind == ir::AllocFailure::Kind::BadKnob ? "bad-knob" : broken, failure.message));
    return;
  }
  oracles::JudgeResult result = oracles::judge_completeness(before, limits);
  bout.opinions.push_back({result.judge, result.verdict, result.reason});
  if (result.verdict == oracles::Verdict::Pass) {
    bout.verdict = oracles::Verdict::Skipped;
    bout.reason = "impossible";
  } else {
    bout.verdict = result.verdict;
    bout.reason = result.reason;
    bout.findings = std::move(result.findings);
  }
}

void judge_result(Bout& bout, ir::Allocation& allocation, const oracles::Before& before, const ir::Limits& limits,
                  std::span<const std::string> judges) {
  if (allocation.program.phase != ir::Phase::Allocated) {
    bout.verdict = oracles::Verdict::Fail;
    bout.findings.push_back(harness_finding("ill-formed", "the result is not marked as allocated"));
    return;
  }
  if (const auto faults = ir::check(allocation.program, 1); !faults.empty()) {
    bout.verdict = oracles::Verdict::Fail;
    bout.findings.push_back(harness_finding("ill-formed", ir::to_string(allocation.program, faults[0])));
    return;
  }
  bout.program = std::move(allocation.program);
  bout.notes = std::move(allocation.notes);
  bout.measures = oracles::measure(before, *bout.program);
  const oracles::Report report = oracles::judge(
      {before, *bout.program, limits, allocation.has_claims ? &allocation.claims : nullptr, true, &bout.measures}, judges);
  bout.verdict = report.verdict();
  for (const oracles::JudgeResult& r : report.results) {
    bout.opinions.push_back({r.judge, r.verdict, r.reason});
    bout.findings.insert(bout.findings.end(), r.findings.begin(), r.findings.end());
    if (r.verdict == bout.verdict && bout.reason.empty()) bout.reason = r.reason;
  }
}

// What the allocator makes of the program, and into `bout` what it took: nothing of the judges' time and memory.
std::expected<ir::Allocation, ir::AllocFailure> timed(const ir::Allocator& allocator, const oracles::Before& before,
                                                      const ir::AllocOptions& options, Bout& bout) {
  const HeapPeak heap;
  const auto start = std::chrono::steady_clock::now();
  auto allocation = allocator.allocate(before.program(), before.target(), options);
  bout.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bout.heap_bytes = heap.bytes();
  return allocation;
}

}  // namespace

std::vector<std::string> Bout::signatures() const {
  std::vector<std::string> result;
  for (const oracles::Finding& f : findings) {
    if (program) result.push_back(oracles::signature(f, *program));
    else if (f.category == kInternalError) result.push_back(fmt::format("{}/{}{}", f.judge, f.category, place_of(f.message)));
    else result.push_back(fmt::format("{}/{}", f.judge, f.category));
  }
  return result;
}

oracles::Verdict Duel::verdict() const {
  oracles::Verdict worst = oracles::Verdict::Skipped;
  const auto rank = [](oracles::Verdict v) {
    switch (v) {
      case oracles::Verdict::Fail: return 3;
      case oracles::Verdict::Inconclusive: return 2;
      case oracles::Verdict::Pass: return 1;
      case oracles::Verdict::Skipped: return 0;
    }
    return 0;
  };
  for (const Bout& b : bouts)
    if (rank(b.verdict) > rank(worst)) worst = b.verdict;
  return worst;
}

Knobs known_to(const ir::Allocator& allocator, const Knobs& knobs) {
  Knobs result;
  for (const auto& knob : knobs)
    if (std::ranges::find(allocator.knobs(), knob.first, &ir::KnobInfo::name) != allocator.knobs().end()) result.push_back(knob);
  return result;
}

Knobs draw_knobs(std::span<const ir::Allocator* const> duelists, std::uint64_t seed) {
  constexpr std::uint64_t kKnobStream = 0x6B6E6F62, kOrderStream = 0x6F726465;
  Random random(hash_combine(seed, kKnobStream));
  Knobs knobs;
  // The order of passes is drawn in each case, the other knobs in half of them.
  for (const ir::Allocator* allocator : duelists) {
    const auto order = std::ranges::find(allocator->knobs(), passes::kSeriesOrder, &ir::KnobInfo::name);
    if (order != allocator->knobs().end() && knobs.empty())
      knobs.emplace_back(
          order->name,
          order->samples[Random(hash_combine(seed, kOrderStream)).below(static_cast<std::uint32_t>(order->samples.size()))]);
  }
  if (random.chance(50)) return knobs;
  for (const ir::Allocator* allocator : duelists)
    for (const ir::KnobInfo& knob : allocator->knobs())
      if (!knob.samples.empty() && knob.name != passes::kSeriesOrder && random.chance(25))
        knobs.emplace_back(knob.name, knob.samples[random.below(static_cast<std::uint32_t>(knob.samples.size()))]);
  return knobs;
}

Duel duel(const ir::Function& program, const ir::Target& target, const ir::Limits& limits,
          std::span<const ir::Allocator* const> duelists, const Knobs& knobs, std::span<const std::string> judges, ir::Fuel* fuel) {
  return duel(oracles::Before(program, target), limits, duelists, knobs, judges, fuel);
}

Duel duel(const oracles::Before& before, const ir::Limits& limits, std::span<const ir::Allocator* const> duelists,
          const Knobs& knobs, std::span<const std::string> judges, ir::Fuel* fuel) {
  Duel result;
  for (const ir::Allocator* allocator : duelists) {
    Bout bout;
    bout.allocator = allocator->name();
    ir::AllocOptions options;
    options.limits = limits;
    options.knobs = known_to(*allocator, knobs);
    options.fuel = fuel;
    if (fuel != nullptr) *fuel = {.limit = fuel->limit, .without = fuel->without, .taken = fuel->taken};
    try {
      auto allocation = timed(*allocator, before, options, bout);
      if (allocation) judge_result(bout, *allocation, before, limits, judges);
      else judge_failure(bout, allocation.error(), before, limits);
    } catch (const InternalError& e) {
      bout.verdict = oracles::Verdict::Fail;
      bout.findings.push_back(harness_finding(std::string(kInternalError), e.what()));
    }
    result.bouts.push_back(std::move(bout));
  }
  // The bound is of the program and the limits alone.
  if (std::ranges::any_of(result.bouts, [](const Bout& b) { return b.program.has_value(); })) {
    const auto fewest = oracles::fewest_refill_bytes(before.program(), before.target(), limits);
    for (Bout& b : result.bouts)
      if (b.program) b.fewest_refill_bytes = fewest;
  }
  return result;
}

}  // namespace regduel::fuzz
