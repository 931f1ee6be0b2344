// All passes.
#pragma once

#include <span>
#include <string_view>

#include "passes/pass.h"

namespace regduel::passes {

// They live as long as the program and keep no state.
[[nodiscard]] std::span<const Pass* const> passes();
// Null where there is none of that name.
[[nodiscard]] const Pass* find_pass(std::string_view name);

}  // namespace regduel::passes
