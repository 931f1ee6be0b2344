// See worker.h.
#include "fuzz/campaign/worker.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/edges.h"
#include "base/isolate.h"
#include "base/random.h"
#include "fuzz/campaign/findings.h"
#include "fuzz/campaign/results_message.h"
#include "fuzz/campaign/store.h"
#include "fuzz/campaign/tally.h"
#include "fuzz/explore/behaviour.h"
#include "fuzz/triage/triage.h"

namespace regduel::fuzz {
namespace {

using nlohmann::json;

constexpr std::size_t kR = ir::index(ir::RegFile::R);
constexpr int kUnderstandSeconds = 600;                   // of the processor
constexpr std::uint64_t kMetamorphicStream = 0x6D657461;  // which cases are varied does not depend on what is in them

class Worker {
 public:
  Worker(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer)
      : channel_(channel), current_(current), options_(options), log_(log), explorer_(std::move(explorer)) {
    std::vector<const ir::Allocator*> with_passes;
    for (const ir::Allocator* a : options.duelists)
      if (a->name().find('+') != std::string_view::npos) with_passes.push_back(a);
    explorer_.change_knobs_of(std::move(with_passes));
  }

  void run() {
    while (const auto asked = channel_.receive()) {
      const std::string what = (*asked)["do"];
      json answer = what == "understand" ? understand(*asked)
                    : what == "again"    ? again(*asked)
                    : what == "locate"   ? locate(*asked)
                    : what == "try"      ? try_seed(*asked)
                                         : batch(*asked, what == "mix");
      answer["done"] = what;
      if (!results_.empty()) answer["results"] = std::exchange(results_, json::array());
      if (!channel_.send(answer)) return;
    }
  }

 private:
  json batch(const json& asked, bool is_mix) {
    if (asked.contains("learn"))
      for (const json& known : asked["learn"]) explorer_.learn(duel::decode_case(bytes_of(known["input"])), known["features"]);
    const std::uint64_t first = asked["first"], count = asked["count"];
    Tally tally(options_.duelists);
    std::uint64_t tried = 0;
    const std::int64_t start = steady_nanoseconds();
    while (tried < count) {
      const std::uint64_t index = first + tried;
      if (is_mix) {
        try_one(duel::standard_case(options_.seed, index, options_.duelists), index, tally, Keep::Nothing);
      } else {
        try_one(explorer_.next(), index, tally, Keep::News);
      }
      ++tried;
      if (static_cast<double>(steady_nanoseconds() - start) > kBatchSeconds * 1e9) break;
    }
    return {{"first", first}, {"tried", tried}, {"tally", tally.state()}};
  }

  json try_seed(const json& asked) {
    Tally tally(options_.duelists);
    try_one(duel::decode_case(bytes_of(asked["input"])), asked["first"], tally,
            asked["pinned"].get<bool>() ? Keep::Always : Keep::News);
    return {{"first", asked["first"]}, {"tried", 1}, {"tally", tally.state()}};
  }

  // In a process of its own: a case on the way may crash or hang. Then each case is tried in one of its own, and where even that
  // comes to no end, the case stays as it is.
  json understand(const json& asked) {
    const duel::Case input = duel::decode_case(bytes_of(asked["input"]));
    const Failure failure{asked["allocator"], asked["signature"]};
    const auto attempt = [&](Trials trials) -> std::optional<json> {
      const Isolated r = isolated([&] { return to_bytes(understand(input, failure, trials)); }, kUnderstandSeconds);
      if (r.end != Isolated::End::Returned) return std::nullopt;
      return json::from_cbor(r.result);
    };
    std::optional<json> answer = attempt(Trials::Here);
    if (!answer) answer = attempt(Trials::Apart);
    return answer ? *answer : json_of(not_reduced(input, failure), failure);
  }
  [[nodiscard]] json understand(const duel::Case& input, const Failure& failure, Trials trials) const {
    if (trials == Trials::Here && !reproduces(input, failure))
      return {{"allocator", failure.allocator}, {"signature", failure.signature}, {"fails", false}};
    return json_of(fuzz::understand(input, failure, options_.reduce_budget, trials), failure);
  }
  static json json_of(const Understood& u, const Failure& asked) {
    return {{"allocator", asked.allocator},
            {"signature", asked.signature},
            {"fails", true},
            {"understood",
             {{"input", to_message(duel::encode_case(u.reduced))},
              {"allocator", u.failure.allocator},
              {"signature", u.failure.signature},
              {"decision", u.decision},
              {"nature", u.naming.nature},
              {"names", u.naming.names},
              {"rest", u.naming.rest},
              {"title", u.naming.title},
              {"needed", u.naming.needed}}}};
  }
  static std::string to_bytes(const json& message) {
    std::string bytes;
    json::to_cbor(message, bytes);
    return bytes;
  }

  json again(const json& asked) {
    const Failure failure{asked["allocator"], asked["signature"]};
    return {{"bucket", asked["bucket"]}, {"fails", reproduces(duel::decode_case(bytes_of(asked["input"])), failure)}};
  }

  json locate(const json& asked) {
    const duel::Case input = duel::decode_case(bytes_of(asked["input"]));
    json found = json::array();
    for (const ir::Allocator* a : options_.duelists)
      if (const auto crash = crash_of(input, *a, static_cast<int>(std::ceil(options_.timeout))))
        found.push_back(bout_message(crash->allocator, crash->signature, asked["message"]));
    return {{"input", asked["input"]}, {"index", asked["index"]}, {"signature", asked["signature"]}, {"bouts", std::move(found)}};
  }

  enum class Keep { Nothing, News, Always };
  // At each limit that was asked for; what the judges need of the program is made once.
  void try_one(duel::Case input, std::uint64_t index, Tally& tally, Keep keep) {
    const bool metamorphic =
        Random(hash_combine(hash_combine(options_.seed, kMetamorphicStream), index)).chance(options_.metamorphic);
    std::optional<oracles::Before> before;
    for (const int limit : limits_for(input)) {
      input.limits.units[kR] = limit;
      const results::Blob bytes = duel::encode_case(input);
      current_.begin(index, bytes);
      clear_edges();
      if (!before) before.emplace(input.program, *input.target);
      const duel::Duel duel = duel::duel(
          *before, {.duelists = options_.duelists, .limits = input.limits, .knobs = input.knobs, .metamorphic = metamorphic});
      current_.end();
      tally.add(input, duel);
      const bool fails = duel.verdict() == oracles::Verdict::Fail;
      if (fails) report(duel, index, bytes);
      const bool is_kept = !fails && keep != Keep::Nothing && learn(input, duel, bytes, keep);
      if (options_.with_results && (fails || is_kept || keep == Keep::Nothing)) add_results(input, duel, index, keep);
    }
  }

  [[nodiscard]] std::vector<int> limits_for(const duel::Case& input) const {
    if (options_.registers.empty()) return {input.limits.units[kR]};
    std::vector<int> limits;
    for (const int limit : options_.registers) limits.push_back(std::min(limit, input.target->units[kR]));
    return limits;
  }

  void add_results(const duel::Case& input, const duel::Duel& duel, std::uint64_t index, Keep keep) {
    const bool is_mix = keep == Keep::Nothing;
    const std::string source =
        is_mix ? results::mix_source(options_.seed, index) : fmt::format("exploration, seed {}, case {}", options_.seed, index);
    results_.push_back(
        to_message(results::results_of(input, source, duel, is_mix ? results::Content::MadeAgain : results::Content::Kept)));
  }

  // Whether it was kept.
  bool learn(const duel::Case& input, const duel::Duel& duel, const results::Blob& bytes, Keep keep) {
    const std::vector<std::uint32_t> features = features_of(input, duel);
    if (!explorer_.learn(input, features) && keep != Keep::Always) return false;
    log_.add({{"entry", results::content_hash(bytes)}});
    channel_.send({{"entry",
                    {{"input", to_message(bytes)},
                     {"features", features},
                     {"pinned", keep == Keep::Always},
                     {"instructions", input.program.insts.size()}}}});
    return true;
  }

  void report(const duel::Duel& duel, std::uint64_t index, const results::Blob& bytes) {
    json bouts = json::array();
    for (const duel::Bout& b : duel.bouts) {
      if (b.verdict() != oracles::Verdict::Fail) continue;
      json findings = json::array();
      const std::vector<std::string> signatures = b.signatures();
      for (std::size_t k = 0; k < signatures.size(); ++k) {
        const bool is_known = std::any_of(findings.begin(), findings.end(), [&](const json& f) { return f[0] == signatures[k]; });
        if (!is_known) findings.push_back({signatures[k], b.findings()[k].message});
      }
      for (const json& f : findings) log_.add({{"failure", b.allocator + ": " + f[0].get<std::string>()}});
      bouts.push_back({{"allocator", b.allocator}, {"findings", std::move(findings)}});
    }
    channel_.send({{"failed", {{"input", to_message(bytes)}, {"index", index}, {"bouts", std::move(bouts)}}}});
  }

  Channel& channel_;
  CurrentInput& current_;
  const WorkerOptions& options_;
  const EventLog& log_;
  Explorer explorer_;
  json results_ = json::array();  // since the last answer
};

}  // namespace

void work(Channel& channel, CurrentInput& current, const WorkerOptions& options, const EventLog& log, Explorer explorer) {
  Worker(channel, current, options, log, std::move(explorer)).run();
}

}  // namespace regduel::fuzz
