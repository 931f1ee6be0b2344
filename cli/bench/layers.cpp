// See layers.h.
#include "cli/bench/layers.h"

#include <ctime>

#include <algorithm>

#include "duel/duel.h"
#include "fuzz/explore/behaviour.h"
#include "fuzz/explore/explorer.h"
#include "fuzz/triage/failure.h"
#include "ir/check.h"
#include "oracles/judges.h"
#include "oracles/quality/quality.h"
#include "targets/targets.h"

namespace regduel::cli {
namespace {

double cpu_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Stopwatch {
 public:
  explicit Stopwatch(Layers& result) : result_(result), last_(cpu_seconds()) {}
  void restart() { last_ = cpu_seconds(); }
  // What has passed since the last lap is this layer's.
  void lap(std::string_view name) {
    const double now = cpu_seconds();
    auto at = std::find_if(result_.layers.begin(), result_.layers.end(), [&](const Layer& l) { return l.name == name; });
    if (at == result_.layers.end()) at = result_.layers.insert(at, {std::string(name), 0});
    at->seconds += now - last_;
    last_ = now;
  }

 private:
  Layers& result_;
  double last_;
};

// What the judges keep of the program counts for the one that asks for it first, as in a duel.
void duel_in_layers(const duel::Case& input, Stopwatch& watch) {
  const oracles::Before before(input.program, *input.target);
  watch.lap("prepare");
  for (const ir::Allocator* a : duel::all_duelists()) {
    ir::AllocOptions options;
    options.limits = input.limits;
    options.knobs = duel::known_to(*a, input.knobs);
    const auto allocation = a->allocate(input.program, *input.target, options);
    watch.lap(a->name());
    if (!allocation) continue;
    static_cast<void>(ir::check(allocation->program, 1));
    watch.lap("well-formed?");
    const oracles::Case c(before, allocation->program, input.limits, &allocation->claims, true);
    for (const oracles::Judge* judge : oracles::judges()) {
      static_cast<void>(judge->judge(c));
      watch.lap(judge->name());
    }
  }
}

}  // namespace

std::vector<duel::Case> breed_inputs(std::uint64_t seed, int inputs) {
  fuzz::Explorer explorer(fuzz::campaign_exploration(seed));
  std::vector<duel::Case> bred;
  for (int k = 0; k < inputs; ++k) {
    bred.push_back(explorer.next());
    explorer.learn(bred.back(), fuzz::features_of(bred.back(), duel::duel(bred.back(), {.duelists = duel::all_duelists()})));
  }
  return bred;
}

Layers measure_layers(std::uint64_t seed, int inputs) {
  Layers result;
  Stopwatch watch(result);
  fuzz::Explorer explorer(fuzz::campaign_exploration(seed));
  std::vector<std::vector<std::uint8_t>> bred;
  for (int k = 0; k < inputs; ++k) {
    watch.restart();
    duel::Case input = explorer.next();
    watch.lap("breed");
    bred.push_back(duel::encode_case(input));
    input = duel::decode_case(bred.back());
    watch.lap("read and write");
    result.instructions += static_cast<std::int64_t>(input.program.insts.size());
    duel_in_layers(input, watch);
    const duel::Duel duel = duel::duel(input, {.duelists = duel::all_duelists()});
    watch.restart();
    explorer.learn(input, fuzz::features_of(input, duel));
    watch.lap("features");
  }
  result.inputs = inputs;
  const double start = cpu_seconds();
  for (const auto& bytes : bred) static_cast<void>(targets::try_duel(bytes));
  result.target_seconds = cpu_seconds() - start;
  return result;
}

std::string_view sanitizer() {
#if defined(__SANITIZE_ADDRESS__)
  return "AddressSanitizer";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return "AddressSanitizer";
#else
  return "";
#endif
#else
  return "";
#endif
}

}  // namespace regduel::cli
