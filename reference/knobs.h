// The knobs of the reference allocator.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "reference/colour/coalesce.h"

namespace regduel::reference {

struct Knobs {
  bool coalesce = true;
  bool bold_coalescing = true;
  Ratio coalescing_factor;  // numerator and denominator in [1, 1000]
  int loop_base = 10;       // [1, 1000]
  bool biased_select = true;
  bool rematerialise = true;
  bool fewest_units = true;
  bool lazy_refill = true;
  int refill_distance = 256;  // [1, 1000]
  int max_rounds = 40;        // [1, 1000]
};

[[nodiscard]] std::vector<ir::KnobInfo> knob_infos();
// Later settings win. The error is one line that names the knob.
[[nodiscard]] std::expected<Knobs, std::string> parse_knobs(std::span<const std::pair<std::string, std::string>> settings);

}  // namespace regduel::reference
