// The knobs of the graph colourers, and the rules that they make.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "reference/rules.h"

namespace regduel::reference {

[[nodiscard]] std::vector<ir::KnobInfo> briggs_knobs();
[[nodiscard]] std::vector<ir::KnobInfo> cicc_knobs();
// Later settings win. The error is one line that names the knob.
[[nodiscard]] std::expected<Rules, std::string> parse_briggs_knobs(std::span<const std::pair<std::string, std::string>> settings);
[[nodiscard]] std::expected<Rules, std::string> parse_cicc_knobs(std::span<const std::pair<std::string, std::string>> settings);

}  // namespace regduel::reference
