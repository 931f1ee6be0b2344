// See worker.h.
#include "cli/campaign/worker.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/edges.h"
#include "base/random.h"
#include "cli/campaign/store.h"
#include "cli/finding.h"
#include "cli/tally.h"
#include "fuzz/campaign/behaviour.h"
#include "fuzz/triage/triage.h"

namespace regduel::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMetamorphicStream = 0x6D657461;  // which cases are varied does not depend on what is in them

class Worker {
 public:
  Worker(Channel& channel, Slot& slot, const WorkerOptions& options, fuzz::Explorer explorer)
      : channel_(channel), slot_(slot), options_(options), explorer_(std::move(explorer)) {}

  void run() {
    while (const auto asked = channel_.receive()) {
      const std::string what = (*asked)["do"];
      json answer = what == "understand" ? understand(*asked)
                    : what == "again"    ? again(*asked)
                    : what == "locate"   ? locate(*asked)
                    : what == "try"      ? try_seed(*asked)
                                         : batch(*asked, what == "mix");
      answer["done"] = what;
      if (!channel_.send(answer)) return;
    }
  }

 private:
  json batch(const json& asked, bool is_mix) {
    if (asked.contains("learn"))
      for (const json& known : asked["learn"]) explorer_.learn(fuzz::decode_input(bytes_of(known["input"])), known["features"]);
    const std::uint64_t first = asked["first"], count = asked["count"];
    Tally tally(options_.duelists);
    std::uint64_t tried = 0;
    const std::int64_t start = steady_nanoseconds();
    while (tried < count) {
      const std::uint64_t index = first + tried;
      if (is_mix) {
        try_one(standard_case(options_.seed, index, options_.duelists), index, tally, Keep::Nothing);
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
    try_one(fuzz::decode_input(bytes_of(asked["input"])), asked["first"], tally,
            asked["pinned"].get<bool>() ? Keep::Always : Keep::News);
    return {{"first", asked["first"]}, {"tried", 1}, {"tally", tally.state()}};
  }

  json understand(const json& asked) {
    const fuzz::FuzzInput input = fuzz::decode_input(bytes_of(asked["input"]));
    const fuzz::Failure failure{asked["allocator"], asked["signature"]};
    json answer = {{"allocator", failure.allocator}, {"signature", failure.signature}, {"fails", fuzz::reproduces(input, failure)}};
    if (!answer["fails"].get<bool>()) return answer;
    const fuzz::Understood u = fuzz::understand(input, failure, options_.reduce_budget);
    answer["understood"] = {{"input", to_message(fuzz::encode_input(u.reduced))},
                            {"allocator", u.failure.allocator},
                            {"signature", u.failure.signature},
                            {"decision", u.decision},
                            {"bucket", u.bucket}};
    return answer;
  }

  json again(const json& asked) {
    const fuzz::Failure failure{asked["allocator"], asked["signature"]};
    return {{"bucket", asked["bucket"]}, {"fails", fuzz::reproduces(fuzz::decode_input(bytes_of(asked["input"])), failure)}};
  }

  json locate(const json& asked) {
    const fuzz::FuzzInput input = fuzz::decode_input(bytes_of(asked["input"]));
    json found = json::array();
    for (const ir::Allocator* a : options_.duelists)
      if (const auto crash = fuzz::crash_of(input, *a))
        found.push_back(bout_message(crash->allocator, crash->signature, asked["message"]));
    return {{"input", asked["input"]}, {"index", asked["index"]}, {"signature", asked["signature"]}, {"bouts", std::move(found)}};
  }

  enum class Keep { Nothing, News, Always };
  void try_one(fuzz::FuzzInput input, std::uint64_t index, Tally& tally, Keep keep) {
    const Blob bytes = fuzz::encode_input(input);
    slot_.size = bytes.size() <= Slot::kCapacity ? static_cast<std::uint32_t>(bytes.size()) : 0;
    std::memcpy(slot_.input, bytes.data(), slot_.size);
    slot_.index = index;
    slot_.since = steady_nanoseconds();
    const bool metamorphic =
        Random(hash_combine(hash_combine(options_.seed, kMetamorphicStream), index)).chance(options_.metamorphic);
    clear_edges();
    PlayedCase fought{std::move(input), {}};
    fought.duel = fuzz::run_duel(fought.input, options_.duelists, metamorphic);
    slot_.since = 0;
    tally.add(fought);
    if (fought.duel.verdict() == oracles::Verdict::Fail) return report(fought, index, bytes);
    if (keep == Keep::Nothing) return;
    const std::vector<std::uint32_t> features = fuzz::features_of(fought.input, fought.duel);
    if (explorer_.learn(fought.input, features) || keep == Keep::Always) {
      log_event(options_.log, {{"entry", input_hash(bytes)}});
      channel_.send({{"entry",
                      {{"input", to_message(bytes)},
                       {"features", features},
                       {"pinned", keep == Keep::Always},
                       {"instructions", fought.input.program.insts.size()}}}});
    }
  }

  void report(const PlayedCase& fought, std::uint64_t index, const Blob& bytes) {
    json bouts = json::array();
    for (const fuzz::Bout& b : fought.duel.bouts) {
      if (b.verdict != oracles::Verdict::Fail) continue;
      json findings = json::array();
      const std::vector<std::string> signatures = b.signatures();
      for (std::size_t k = 0; k < signatures.size(); ++k) {
        const bool is_known = std::any_of(findings.begin(), findings.end(), [&](const json& f) { return f[0] == signatures[k]; });
        if (!is_known) findings.push_back({signatures[k], b.findings[k].message});
      }
      for (const json& f : findings) log_event(options_.log, {{"failure", b.allocator + ": " + f[0].get<std::string>()}});
      bouts.push_back({{"allocator", b.allocator}, {"findings", std::move(findings)}});
    }
    channel_.send({{"failed", {{"input", to_message(bytes)}, {"index", index}, {"bouts", std::move(bouts)}}}});
  }

  Channel& channel_;
  Slot& slot_;
  const WorkerOptions& options_;
  fuzz::Explorer explorer_;
};

}  // namespace

json bout_message(const std::string& allocator, const std::string& signature, const std::string& message) {
  return {{"allocator", allocator}, {"findings", json::array({json::array({signature, message})})}};
}

void log_event(int file, json line) {
  if (file < 0) return;
  line["time"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string text = line.dump() + "\n";
  static_cast<void>(!::write(file, text.data(), text.size()));  // in one piece: others write there too
}

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void work(Channel& channel, Slot& slot, const WorkerOptions& options, fuzz::Explorer explorer) {
  Worker(channel, slot, options, std::move(explorer)).run();
}

}  // namespace regduel::cli
