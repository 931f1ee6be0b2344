// See failure.h.
#include "fuzz/triage/failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/isolate.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/exec/exec_allocator.h"
#include "fuzz/triage/usual_cost.h"
#include "oracles/judges.h"
#include "oracles/proof/proof.h"
#include "passes/series.h"

namespace regduel::fuzz {
namespace {

constexpr std::array<std::string_view, 4> kFigures = {"registers", "spill_store_bytes", "spill_load_bytes", "weighted_spill_bytes"};
constexpr std::array<std::string_view, 5> kCliffFigures = {"heap_bytes", "microseconds", "spill_store_bytes", "spill_load_bytes",
                                                           "weighted_spill_bytes"};

std::optional<std::int64_t> figure_of(const duel::Bout& b, std::string_view figure) {
  if (figure == "registers") return b.registers();
  if (figure == "spill_store_bytes") return b.measures.spill_store_bytes;
  if (figure == "spill_load_bytes") return b.measures.spill_load_bytes;
  return b.measures.weighted_spill_bytes;
}

}  // namespace

bool ends_the_process(const Failure& f) {
  return f.signature.starts_with("harness/crash-") || f.signature.starts_with("harness/hang@");
}

bool is_hang(const Failure& f) { return f.signature.starts_with("harness/hang@") || f.signature == "harness/broken-hang"; }

std::vector<const ir::Allocator*> provers_beaten(const Failure& failure) {
  for (const auto kind : {ir::Bound::Kind::Registers, ir::Bound::Kind::SpillBytes, ir::Bound::Kind::SpillBytesByPoint}) {
    if (!failure.signature.starts_with(fmt::format("proof/{}@", oracles::beaten(kind)))) continue;
    std::vector<const ir::Allocator*> provers = duel::provers(kind);
    std::erase_if(provers, [&](const ir::Allocator* a) { return a->name() == failure.allocator; });
    return provers;
  }
  return {};
}

bool reproduces(const duel::Case& input, const Failure& failure, ir::Fuel* fuel) {
  const ir::Allocator* const allocator = duel::find_allocator(failure.allocator);
  if (allocator == nullptr) return false;
  if (is_gap(failure)) {
    const std::optional<Gap> gap = gap_of(failure);
    return gap && reproduces(input, *gap, fuel);
  }
  if (ends_the_process(failure)) {
    const std::optional<Failure> crash = crash_of(input, *allocator, kHangSeconds, fuel);
    return crash && crash->signature == failure.signature;
  }
  const std::string judge = failure.signature.substr(0, failure.signature.find('/'));
  std::vector<std::string> judges;
  if (oracles::find_judge(judge) != nullptr || judge == "harness" || judge == "completeness" || judge == "metamorphic")
    judges.push_back(oracles::find_judge(judge) != nullptr ? judge : "structure");
  std::vector<const ir::Allocator*> asked = {allocator};
  // Two allocators contradict each other only where both are there.
  if (failure.signature.starts_with("disagreement/completeness-vs-success"))
    for (const ir::Allocator* other : duel::all_duelists())
      if (other != allocator) asked.push_back(other);
  for (const ir::Allocator* prover : provers_beaten(failure)) asked.push_back(prover);
  std::optional<duel::ShortTimeout> short_timeout;
  if (is_hang(failure)) short_timeout.emplace(kHangSeconds);
  const duel::Duel d =
      duel::duel(input, {.duelists = asked, .judges = judges, .metamorphic = judge == "metamorphic", .fuel = fuel});
  for (const duel::Bout& b : d.bouts) {
    if (b.allocator != failure.allocator) continue;
    const std::vector<std::string> all = b.signatures();
    if (std::find(all.begin(), all.end(), failure.signature) != all.end()) return true;
  }
  return false;
}

std::optional<Failure> crash_of(const duel::Case& input, const ir::Allocator& allocator, int seconds, ir::Fuel* fuel) {
  const std::array one = {&allocator};
  const auto allocate = [&] {
    ir::AllocOptions options;
    options.limits = input.limits;
    options.knobs = duel::known_to(allocator, input.knobs);
    options.fuel = fuel;
    try {
      static_cast<void>(allocator.allocate(input.program, *input.target, options));
    } catch (const InternalError&) {  // a finding of its own, which does not end the process
    }
    return std::string();
  };
  const auto judge = [&] {
    static_cast<void>(duel::duel(input, {.duelists = one, .fuel = fuel}));
    return std::string();
  };
  const auto outcome = [&](const std::function<std::string()>& work, std::string_view where) -> std::optional<Failure> {
    const Isolated r = isolated(work, seconds);
    if (r.end == Isolated::End::Returned) return std::nullopt;
    const std::string what = r.end == Isolated::End::Hung ? "hang" : "crash-" + r.how;
    return Failure{std::string(allocator.name()), fmt::format("harness/{}@{}", what, where)};
  };
  if (auto f = outcome(allocate, "allocation")) return f;
  return outcome(judge, "judgement");
}

std::vector<Failure> failures_of(const duel::Case& input, std::span<const ir::Allocator* const> duelists, bool metamorphic) {
  std::vector<Failure> result;
  if (duelists.empty()) duelists = duel::all_duelists();
  for (const duel::Bout& b : duel::duel(input, {.duelists = duelists, .metamorphic = metamorphic}).bouts) {
    if (b.verdict() != oracles::Verdict::Fail) continue;
    for (const std::string& signature : b.signatures()) {
      const bool is_known = std::any_of(result.begin(), result.end(),
                                        [&](const Failure& f) { return f.allocator == b.allocator && f.signature == signature; });
      if (!is_known) result.push_back({b.allocator, signature});
    }
  }
  return result;
}

namespace {

// ", from a.cu:12:3"; "" where that is not known.
std::string source_of(const ir::Function& program, ir::InstId inst) {
  const ir::Inst* const i = program.find_inst(inst);
  return i == nullptr || !i->line.is_valid() ? "" : ", from " + program.source_place(*i);
}

}  // namespace

std::string describe(const duel::Case& input, const duel::Duel& duel) {
  std::string out;
  for (const duel::Bout& bout : duel.bouts) {
    if (bout.verdict() != oracles::Verdict::Fail) continue;
    const std::vector<std::string> signatures = bout.signatures();
    const std::vector<oracles::Finding> findings = bout.findings();
    for (std::size_t k = 0; k < findings.size(); ++k) {
      const oracles::Finding& f = findings[k];
      out += fmt::format("FINDING {}: {}: {}", bout.allocator, signatures[k], f.message);
      if (f.inst.is_valid())
        out += fmt::format(" (instruction {}, operand {}{})", f.inst.value, f.operand, source_of(input.program, f.inst));
      if (f.other.is_valid()) out += fmt::format(" (see instruction {})", f.other.value);
      out += '\n';
    }
  }
  return out + duel::print_case(input);
}

std::optional<std::string> find_in(const duel::Case& input) {
  std::vector<const ir::Allocator*> duelists(duel::all_duelists().begin(), duel::all_duelists().end());
  const auto is_order = [](const auto& knob) { return knob.first == passes::kSeriesOrder; };
  if (std::any_of(input.knobs.begin(), input.knobs.end(), is_order))
    for (const ir::Allocator*& a : duelists) a = duel::find_allocator(fmt::format("{}+{}", passes::kSeries, a->name()));
  const duel::Duel result = duel::duel(input, {.duelists = duelists});
  if (result.verdict() != oracles::Verdict::Fail) return std::nullopt;
  return describe(input, result);
}

namespace {

// The ratio of "…>=1.5" in hundredths, exactly: no floating point decides. nullopt where it is none.
std::optional<int> percent_in(std::string_view ratio) {
  int whole = 0, hundredths = 0;
  const char* const last = ratio.data() + ratio.size();
  auto [at, error] = std::from_chars(ratio.data(), last, whole);
  if (error != std::errc() || whole < 0 || whole > 1'000'000) return std::nullopt;
  if (at != last) {
    if (*at != '.' || last - at < 2 || last - at > 3) return std::nullopt;
    for (const char* digit = at + 1; digit != last; ++digit)
      if (*digit < '0' || *digit > '9') return std::nullopt;
    hundredths = (at[1] - '0') * 10 + (last - at == 3 ? at[2] - '0' : 0);
  }
  return whole * 100 + hundredths;
}

std::optional<std::string> complaint(const std::string& allocator) {
  if (duel::find_allocator(allocator) != nullptr) return std::nullopt;
  return fmt::format("there is no allocator \"{}\" (there are {})", allocator, duel::duelist_names());
}
std::optional<std::string> complaint(const std::string& figure, std::span<const std::string_view> figures) {
  if (std::ranges::find(figures, figure) != figures.end()) return std::nullopt;
  return fmt::format("there is no figure \"{}\" (there are {})", figure, fmt::join(figures, ", "));
}

}  // namespace

std::expected<Gap, std::string> parse_gap(std::string_view text) {
  const auto usage = [&] {
    return std::unexpected(
        fmt::format("expected WORSE/BETTER:FIGURE>=RATIO, like briggs/fatpoint:spill_load_bytes>=1.5, found \"{}\"", text));
  };
  const auto ge = text.rfind(">="), colon = text.substr(0, ge).rfind(':'), slash = text.substr(0, colon).find('/');
  if (slash == std::string_view::npos || colon == std::string_view::npos || ge == std::string_view::npos) return usage();
  Gap gap;
  // A command may have slashes itself.
  const std::string_view both = text.substr(0, colon);
  for (auto at = slash; at != std::string_view::npos; at = both.find('/', at + 1)) {
    const std::string_view worse = both.substr(0, at), better = both.substr(at + 1);
    const bool are_known = duel::find_allocator(worse) != nullptr && duel::find_allocator(better) != nullptr;
    if (at != slash && !are_known) continue;
    gap.worse = worse;
    gap.better = better;
    if (are_known) break;
  }
  gap.figure = text.substr(colon + 1, ge - colon - 1);
  for (const std::string& name : {gap.worse, gap.better})
    if (const auto none = complaint(name)) return std::unexpected(*none);
  if (const auto none = complaint(gap.figure, kFigures)) return std::unexpected(*none);
  const std::optional<int> percent = percent_in(text.substr(ge + 2));
  if (!percent) return usage();
  gap.percent = *percent;
  return gap;
}

std::expected<Gap, std::string> parse_cliff(std::string_view text) {
  const auto ge = text.rfind(">="), colon = text.substr(0, ge).rfind(':');
  const std::optional<int> percent = ge == std::string_view::npos ? std::nullopt : percent_in(text.substr(ge + 2));
  if (!percent || colon == std::string_view::npos)
    return std::unexpected(
        fmt::format("expected ALLOCATOR:FIGURE>=RATIO, like fatpoint:weighted_spill_bytes>=2, found \"{}\"", text));
  Gap cliff{std::string(text.substr(0, colon)), "", std::string(text.substr(colon + 1, ge - colon - 1)), *percent};
  if (const auto none = complaint(cliff.worse)) return std::unexpected(*none);
  if (const auto none = complaint(cliff.figure, kCliffFigures)) return std::unexpected(*none);
  if (cliff.figure == "heap_bytes" && duel::find_external(cliff.worse) != nullptr)
    return std::unexpected(fmt::format("the memory of {} is that of another process and is not known", cliff.worse));
  return cliff;
}

std::string to_string(const Gap& gap) {
  return fmt::format("{}{}{}:{}>={}.{:02}", gap.worse, gap.is_cliff() ? "" : "/", gap.better, gap.figure, gap.percent / 100,
                     gap.percent % 100);
}

namespace {

// The bout of an allocator, where it passed.
const duel::Bout* passed(const duel::Duel& duel, const std::string& allocator) {
  for (const duel::Bout& b : duel.bouts)
    if (b.allocator == allocator) return b.verdict() == oracles::Verdict::Pass && b.has_figures() ? &b : nullptr;
  return nullptr;
}

std::optional<std::int64_t> percent_between(const std::optional<std::int64_t>& much, const std::optional<std::int64_t>& little) {
  std::int64_t hundredfold = 0;
  if (!much || !little || __builtin_mul_overflow(*much, 100, &hundredfold)) return std::nullopt;
  return hundredfold / std::max<std::int64_t>(1, *little);
}

// The case with one general register more or less; nullopt beyond the target's file.
std::optional<duel::Case> with_registers(const duel::Case& input, int more) {
  duel::Case other = input;
  int& limit = other.limits.units[ir::index(ir::RegFile::R)];
  limit += more;
  if (limit < 1 || limit > input.target->units[ir::index(ir::RegFile::R)]) return std::nullopt;
  return other;
}

// Of time and memory, against what is usual.
std::optional<std::int64_t> percent_of_cost(const duel::Case& input, const duel::Bout& bout, const Gap& cliff, ir::Fuel* fuel) {
  const ir::Allocator* const allocator = duel::find_allocator(cliff.worse);
  const Cost cost = *find_cost(cliff.figure);
  const std::optional<UsualCost> usual = allocator != nullptr ? usual_cost(*allocator, cost) : std::nullopt;
  if (!usual) return std::nullopt;
  const auto expected = static_cast<std::int64_t>(usual->of(input.program.insts.size()));
  if (cost == Cost::HeapBytes) return percent_between(bout.heap_bytes, expected);
  // What the clock on the wall says is more than that of the processor, which is asked only where it might matter.
  const auto once = percent_between(static_cast<std::int64_t>(bout.seconds * 1e6), expected);
  return !once || *once < cliff.percent / 2 ? once : percent_between(cost_of(*allocator, input, cost, fuel), expected);
}

// Of spill bytes, against what they are with a register less.
std::optional<std::int64_t> percent_of_register(const duel::Case& input, const duel::Bout& more, const Gap& cliff) {
  if (figure_of(more, cliff.figure) == 0) return 0;
  const auto fewer = with_registers(input, -1);
  const ir::Allocator* const allocator = duel::find_allocator(cliff.worse);
  if (!fewer || allocator == nullptr) return std::nullopt;
  const std::array one = {allocator};
  const duel::Duel other = duel::duel(*fewer, {.duelists = one});
  const duel::Bout* const less = passed(other, cliff.worse);
  return less == nullptr ? std::nullopt : percent_between(figure_of(more, cliff.figure), figure_of(*less, cliff.figure));
}

std::optional<std::int64_t> percent_with(const duel::Case& input, const duel::Duel& duel, const Gap& gap, ir::Fuel* fuel) {
  const duel::Bout* const worse = passed(duel, gap.worse);
  if (worse == nullptr) return std::nullopt;
  if (gap.is_cliff())
    return find_cost(gap.figure) ? percent_of_cost(input, *worse, gap, fuel) : percent_of_register(input, *worse, gap);
  const duel::Bout* const better = passed(duel, gap.better);
  return better == nullptr ? std::nullopt : percent_between(figure_of(*worse, gap.figure), figure_of(*better, gap.figure));
}

}  // namespace

std::optional<std::int64_t> percent_of(const duel::Case& input, const duel::Duel& duel, const Gap& gap) {
  return percent_with(input, duel, gap, nullptr);
}

bool reproduces(const duel::Case& input, const Gap& gap, ir::Fuel* fuel) {
  const ir::Allocator* const worse = duel::find_allocator(gap.worse);
  const ir::Allocator* const better = duel::find_allocator(gap.better);
  if (worse == nullptr || (better == nullptr && !gap.is_cliff())) return false;
  const std::array first = {worse}, second = {better};
  const ir::Fuel whole = fuel != nullptr ? *fuel : ir::Fuel();
  duel::Duel both = duel::duel(input, {.duelists = first, .fuel = fuel});
  if (better != nullptr) {
    duel::Duel other = duel::duel(input, {.duelists = second});
    for (duel::Bout& b : other.bouts) both.bouts.push_back(std::move(b));
  }
  ir::Fuel again = whole;
  const std::optional<std::int64_t> percent = percent_with(input, both, gap, fuel != nullptr ? &again : nullptr);
  return percent && *percent >= gap.percent;
}

namespace {

constexpr std::string_view kGap = "gap/", kCliff = "cliff/";

}  // namespace

Failure failure_of(const Gap& gap) { return {gap.worse, std::string(gap.is_cliff() ? kCliff : kGap) + to_string(gap)}; }
bool is_gap(const Failure& failure) { return failure.signature.starts_with(kGap) || failure.signature.starts_with(kCliff); }
std::optional<Gap> gap_of(const Failure& failure) {
  const std::string_view signature = failure.signature;
  auto gap =
      signature.starts_with(kCliff) ? parse_cliff(signature.substr(kCliff.size())) : parse_gap(signature.substr(kGap.size()));
  return gap ? std::optional(std::move(*gap)) : std::nullopt;
}

std::string describe(const Gap& gap, const duel::Case& input, std::int64_t percent) {
  const std::string times = fmt::format("{} has {}.{:02} times the {}", gap.worse, percent / 100, percent % 100, gap.figure);
  if (!gap.is_cliff()) return fmt::format("{} of {}", times, gap.better);
  if (find_cost(gap.figure)) return fmt::format("{} that are usual for {} instructions", times, input.program.insts.size());
  const int limit = input.limits.of(ir::RegFile::R);
  return fmt::format("{} with a limit of {} registers that it has with {}", times, limit, limit - 1);
}

}  // namespace regduel::fuzz
