// The behaviour of a duel, as a set of features. An input that shows a new feature is worth keeping. This guides a campaign in any build,
// without instrumentation; where code coverage is there as well, both count.
//
// A feature of behaviour is a number below kNumFeatures, the hash of something that happened in an allocation: which instruction
// was inserted, for which file and width, beside what; how much was spilled, copied, rematerialised (as a power of two); which
// kinds of operands and flags the program has; how each bout ended. Deterministic: a function of the input and of the allocators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "duel/case.h"
#include "duel/duel.h"

namespace regduel::fuzz {

inline constexpr std::uint32_t kNumFeatures = 1u << 16;

// Ascending, each once. Cost: O(size of the programs).
[[nodiscard]] std::vector<std::uint32_t> behaviour_of(const duel::Case& input, const duel::Duel& duel);
// The same and, in a build that counts them, the edges that were run through since clear_edges(): numbers from kNumFeatures on.
[[nodiscard]] std::vector<std::uint32_t> features_of(const duel::Case& input, const duel::Duel& duel);
// To features: a ratio that no input has had yet is a feature of its own, so that selection climbs from one to the next, four steps for
// each doubling.
//   percents   one for each ratio that is climbed (fuzz/triage/failure.h), the same ones each time
void add_ratios(std::span<const std::optional<std::int64_t>> percents, std::vector<std::uint32_t>& features);

// The features seen so far.
class FeatureSet {
 public:
  // How many of them are new; they are seen from then on.
  std::size_t add(const std::vector<std::uint32_t>& features);
  [[nodiscard]] std::size_t size() const { return size_; }
  // How many edges of the code are among them, however often each was run through.
  [[nodiscard]] std::size_t num_edges() const;

 private:
  std::vector<bool> seen_;
  std::size_t size_ = 0;
};

}  // namespace regduel::fuzz
