// The knobs of the allocator: one typed table, and the values of one run.
//
// Source: seeds 000 and 001; ids are theirs. Where the source has an id but no name, the name is ours and the table says
// so. A knob stands here only if it changes what the allocator does. Tested by knobs_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/allocator.h"

namespace regduel::allocator {

enum class Knob : std::uint8_t {
  EstimatedLoopIterations,  // 623
  FastAllocation,           // 638
  NoSpillAttempts,          // 639
  InterferenceThreshold,    // 684
  SpillRounds,              // ours
  Rematerialise,            // ours
  RefillReuse,              // ours
  LargeProgram,             // ours
};
inline constexpr int kNumKnobs = 8;

enum class KnobType : std::uint8_t { Bool, Int };

struct KnobRow {
  Knob knob;
  std::string_view name;
  int id;  // -1 = ours
  KnobType type;
  std::int64_t default_value, low, high;  // range: both included
  std::string_view source, help;
};
[[nodiscard]] std::span<const KnobRow> knob_table();

class Knobs {
 public:
  Knobs();  // all at their defaults

  // Sets by name or by decimal id. The error says what is wrong with the name or the value.
  [[nodiscard]] std::expected<void, std::string> set(std::string_view name, std::string_view value);
  [[nodiscard]] std::int64_t operator[](Knob k) const { return values_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool is_set(Knob k) const { return set_[static_cast<std::size_t>(k)]; }

  // Later settings win.
  [[nodiscard]] static std::expected<Knobs, std::string> parse(
      std::span<const std::pair<std::string, std::string>> settings);

 private:
  std::int64_t values_[kNumKnobs];
  bool set_[kNumKnobs] = {};
};

// The table as the interface of every allocator has it.
[[nodiscard]] std::vector<ir::KnobInfo> knob_infos();

}  // namespace regduel::allocator
