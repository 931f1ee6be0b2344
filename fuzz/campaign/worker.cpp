// See worker.h.
#include "fuzz/campaign/worker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <expected>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/edges.h"
#include "base/isolate.h"
#include "base/random.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "duel/figures_only.h"
#include "fuzz/campaign/messages.h"
#include "fuzz/explore/behaviour.h"
#include "fuzz/triage/triage.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

constexpr std::size_t kR = ir::index(ir::RegFile::R);
constexpr int kUnderstandSeconds = 600;                   // of the processor
constexpr std::uint64_t kMetamorphicStream = 0x6D657461;  // which cases are varied does not depend on what is in them

class Worker {
 public:
  Worker(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer)
      : channel_(channel), current_(current), options_(options), log_(log), explorer_(std::move(explorer)) {
    explorer_.change_knobs_of(options.duelists);
  }

  void run() {
    while (const std::optional<Message> asked = channel_.receive()) {
      const std::expected<Job, std::string> job = decode_job(*asked);
      REGDUEL_CHECK(job.has_value(), job.error());
      const Report answer = std::visit([&](const auto& j) { return Report(answer_to(j)); }, *job);
      if (!channel_.send(encode(answer))) return;
    }
  }

 private:
  Tried answer_to(const TryMix& job) {
    return tried(job.programs, [&](std::uint64_t index, Tried& sums) {
      try_one(duel::standard_case(options_.seed, index, options_.duelists), index, sums, Keep::Nothing);
    });
  }

  Tried answer_to(const Explore& job) {
    for (const News& known : job.learn) explorer_.learn(duel::decode_case(known.input), known.features);
    return tried(job.programs, [&](std::uint64_t index, Tried& sums) { try_one(explorer_.next(), index, sums, Keep::News); });
  }

  Tried answer_to(const TrySeed& job) {
    return tried(job.programs, [&](std::uint64_t index, Tried& sums) {
      try_one(duel::decode_case(job.input), index, sums, job.is_pinned ? Keep::Always : Keep::News);
    });
  }

  // Tries one program after the other, until the time of a batch is up.
  template <class TryOne>
  Tried tried(Schedule::Range programs, const TryOne& step) {
    Tried sums{{programs.first, 0}, Tally(options_.duelists), {}};
    const std::int64_t start = steady_nanoseconds();
    while (sums.programs.count < programs.count) {
      step(programs.first + sums.programs.count, sums);
      ++sums.programs.count;
      if (static_cast<double>(steady_nanoseconds() - start) > kBatchSeconds * 1e9) break;
    }
    return sums;
  }

  // In a process of its own, since a case on the way may crash or hang. Then each case is tried in one of its own, and where even that comes to no
  // end, the case stays as it is.
  [[nodiscard]] Understanding answer_to(const Understand& job) const {
    const duel::Case input = duel::decode_case(job.input);
    for (const Trials trials : {Trials::Here, Trials::Apart}) {
      const auto encoded = [&] {
        const results::Blob bytes = encode(Report(understanding_of(input, job.failure, trials)));
        return std::string(bytes.begin(), bytes.end());
      };
      const Isolated r = isolated(encoded, kUnderstandSeconds);
      if (r.end != Isolated::End::Returned) continue;
      const std::expected<Report, std::string> report = decode_report(results::Blob(r.result.begin(), r.result.end()));
      REGDUEL_CHECK(report.has_value(), report.error());
      return std::get<Understanding>(*report);
    }
    return {job.failure, reduction_of(not_reduced(input, job.failure))};
  }
  [[nodiscard]] Understanding understanding_of(const duel::Case& input, const Failure& failure, Trials trials) const {
    if (trials == Trials::Here && !reproduces(input, failure)) return {failure, std::nullopt};
    return {failure, reduction_of(understand(input, failure, options_.reduce_budget, trials))};
  }
  static Reduction reduction_of(const Understood& u) {
    return {duel::encode_case(u.reduced), u.failure, u.decision, u.naming, answer_to(u.reduced, u.failure)};
  }
  // What an external allocator makes of it; "" where it makes nothing.
  static std::string answer_to(const duel::Case& input, const Failure& failure) {
    if (duel::find_external(failure.allocator) == nullptr || ends_the_process(failure) || is_hang(failure)) return "";
    const ir::Allocator* const allocator = duel::find_allocator(failure.allocator);
    const std::array one = {allocator};
    const std::vector<std::string> judges = {"structure"};
    const duel::Duel duel = duel::duel(input, {.duelists = one, .judges = judges});
    return duel.bouts[0].program ? ir::print_file(*duel.bouts[0].program) : "";
  }

  [[nodiscard]] Located answer_to(const Locate& job) const {
    const duel::Case input = duel::decode_case(job.input);
    Located answer{{job.input, job.index, {}}, job.signature};
    for (const ir::Allocator* a : options_.duelists)
      if (const auto crash = crash_of(input, *a, static_cast<int>(std::ceil(options_.timeout))))
        answer.failed.objections.push_back({*crash, job.message});
    return answer;
  }

  [[nodiscard]] static TriedAgain answer_to(const TryAgain& job) {
    return {job.bucket, reproduces(duel::decode_case(job.input), job.failure)};
  }

  enum class Keep { Nothing, News, Always };
  using Percents = std::vector<std::optional<std::int64_t>>;  // of each gap that is looked for
  // At each limit that was asked for; what the judges need of the program is made once.
  void try_one(duel::Case input, std::uint64_t index, Tried& sums, Keep keep) {
    const bool metamorphic =
        Random(hash_combine(hash_combine(options_.seed, kMetamorphicStream), index)).chance(options_.metamorphic);
    std::optional<oracles::Before> before;
    if (asks_figures_only()) {
      // Such an allocator limits no other file.
      const int limit = input.limits.units[kR];
      input.limits = ir::Limits::of(*input.target);
      input.limits.units[kR] = limit;
    }
    for (const int limit : limits_for(input)) {
      input.limits.units[kR] = limit;
      const results::Blob bytes = duel::encode_case(input);
      current_.begin(index, bytes);
      clear_edges();
      if (!before) before.emplace(input.program, *input.target);
      const duel::Duel duel = duel::duel(*before, {.duelists = options_.duelists,
                                                   .limits = input.limits,
                                                   .knobs = input.knobs,
                                                   .metamorphic = metamorphic,
                                                   .callees = input.callees});
      current_.end();
      sums.tally.add(input, duel);
      const bool fails = duel.verdict() == oracles::Verdict::Fail;
      if (fails) report(duel, index, bytes);
      const Percents percents = fails ? Percents() : gaps_in(input, duel);
      if (!fails) report_gaps(input, percents, index, bytes);
      const bool is_kept = !fails && keep != Keep::Nothing && learn(input, duel, percents, bytes, keep);
      if (options_.with_results && (fails || is_kept || keep == Keep::Nothing))
        sums.results.push_back(results_of(input, duel, index, keep));
    }
  }

  [[nodiscard]] bool asks_figures_only() const {
    return std::ranges::any_of(options_.duelists,
                               [](const ir::Allocator* a) { return dynamic_cast<const duel::FiguresOnly*>(a) != nullptr; });
  }

  [[nodiscard]] std::vector<int> limits_for(const duel::Case& input) const {
    if (options_.registers.empty()) return {input.limits.units[kR]};
    std::vector<int> limits;
    for (const int limit : options_.registers) limits.push_back(std::min(limit, input.target->units[kR]));
    return limits;
  }

  [[nodiscard]] results::CaseResults results_of(const duel::Case& input, const duel::Duel& duel, std::uint64_t index,
                                                Keep keep) const {
    if (keep == Keep::Nothing)
      return results::results_of(input, results::mix_source(options_.seed, index), duel, results::Content::MadeAgain);
    const std::string source = fmt::format("exploration, seed {}, case {}", options_.seed, index);
    return results::results_of(input, source, duel, results::Content::Kept);
  }

  // Whether the input was kept.
  bool learn(const duel::Case& input, const duel::Duel& duel, const Percents& percents, const results::Blob& bytes, Keep keep) {
    std::vector<std::uint32_t> features = features_of(input, duel);
    add_ratios(percents, features);
    if (!explorer_.learn(input, features) && keep != Keep::Always) return false;
    const std::string hash = results::content_hash(bytes);
    log_.add("entry", hash);
    channel_.send(encode(StoredInput{.hash = hash,
                                     .input = bytes,
                                     .features = features,
                                     .is_pinned = keep == Keep::Always,
                                     .instructions = static_cast<std::uint32_t>(input.program.insts.size())}));
    return true;
  }

  [[nodiscard]] Percents gaps_in(const duel::Case& input, const duel::Duel& duel) const {
    Percents percents;
    for (const Gap& gap : options_.gaps) percents.push_back(percent_of(input, duel, gap));
    return percents;
  }

  void report_gaps(const duel::Case& input, const Percents& percents, std::uint64_t index, const results::Blob& bytes) {
    Failed observed{bytes, index, {}};
    for (std::size_t k = 0; k < percents.size(); ++k) {
      const Gap& gap = options_.gaps[k];
      if (percents[k] && *percents[k] >= gap.percent)
        observed.objections.push_back({failure_of(gap), describe(gap, input, *percents[k])});
    }
    if (!observed.objections.empty()) channel_.send(encode(observed));
  }

  void report(const duel::Duel& duel, std::uint64_t index, const results::Blob& bytes) {
    Failed failed{bytes, index, {}};
    for (const duel::Bout& b : duel.bouts) {
      if (b.verdict() != oracles::Verdict::Fail) continue;
      std::set<std::string> known;
      const std::vector<std::string> signatures = b.signatures();
      const std::vector<oracles::Finding> findings = b.findings();
      for (std::size_t k = 0; k < signatures.size(); ++k) {
        if (!known.insert(signatures[k]).second) continue;
        log_.add("failure", b.allocator + ": " + signatures[k]);
        failed.objections.push_back({{b.allocator, signatures[k]}, findings[k].message});
      }
    }
    channel_.send(encode(failed));
  }

  Channel& channel_;
  CurrentInput& current_;
  const WorkerOptions& options_;
  const EventLog& log_;
  Explorer explorer_;
};

}  // namespace

void work(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer) {
  Worker(channel, current, options, log, std::move(explorer)).run();
}

}  // namespace regduel::fuzz
