// Rows of the database on their way from a worker to the coordinator.
#pragma once

#include <nlohmann/json.hpp>

#include "results/results.h"

namespace regduel::fuzz {

[[nodiscard]] nlohmann::json to_message(const results::CaseResults& results);
// Requires: made by the above.
[[nodiscard]] results::CaseResults results_in(const nlohmann::json& message);

}  // namespace regduel::fuzz
