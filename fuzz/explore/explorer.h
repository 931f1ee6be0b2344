// Where the inputs of a campaign come from: seeds first, then children of what was kept, and now and then something new.
//
// The explorer keeps an input that shows a feature (behaviour.h, or code coverage) that none before has shown. Parents are drawn with a
// liking for small and for recent ones. Deterministic: the same seed, seeds and answers give the same inputs. Source: the power
// schedules of AFL and libFuzzer, reduced to what helps here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "fuzz/explore/behaviour.h"

namespace regduel::fuzz {

struct ExplorerOptions {
  std::uint64_t seed = 1;
  std::size_t most_instructions = 2000;  // larger children are not tried
  int percent_new = 15;                  // of the inputs come from the generator
  int percent_files = 30;                // of those get bodies for the functions that they call (callees.h)
  int percent_cross = 25;                // of the children have two parents
  int percent_impossible = 10;           // of the children keep a limit at which some instruction may not fit
  int percent_tight = 15;                // of the others get a limit close to what some instruction demands
  duel::Knobs knobs;                     // that each input has, seeds apart
};
// The options of a campaign. Its rounds look for what is wrong and compare no registers: briggs takes the limit as it is, and
// does not search for the smallest number of registers that would do.
[[nodiscard]] ExplorerOptions campaign_exploration(std::uint64_t seed = 1);

class Explorer {
 public:
  explicit Explorer(const ExplorerOptions& options) : options_(options), random_(options.seed) {}

  // Other inputs from here on, of what is known.
  void reseed(std::uint64_t seed) { random_ = Random(seed); }
  // Of these too knobs are changed: of those that are not among knob_owners(), which are allocators on request or with passes in
  // front. They outlive it.
  void change_knobs_of(std::span<const ir::Allocator* const> duelists);
  // A seed is tried as it is before anything else.
  void add_seed(duel::Case input) { seeds_.push_back(std::move(input)); }
  // The next input to try.
  [[nodiscard]] duel::Case next();
  // Whether `input` is kept: it has new features. Call it for each input that was tried.
  bool learn(const duel::Case& input, const std::vector<std::uint32_t>& features);

  [[nodiscard]] const std::vector<duel::Case>& corpus() const { return corpus_; }
  [[nodiscard]] std::size_t num_features() const { return features_.size(); }

 private:
  [[nodiscard]] duel::Case breed();
  [[nodiscard]] const duel::Case& parent();
  // Limits at which every instruction fits, now and then one at which some only just does.
  void make_possible(duel::Case& input);

  ExplorerOptions options_;
  Random random_;
  std::vector<duel::Case> seeds_;  // not tried yet, last first
  std::vector<duel::Case> corpus_;
  FeatureSet features_;
  std::vector<const ir::Allocator*> owners_;
};

}  // namespace regduel::fuzz
