// The duelists by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"

namespace regduel::fuzz {

// "fatpoint" or "briggs"; null for any other name. The allocators live as long as the program and may be used by several
// threads at once: allocate() is const and keeps no state.
[[nodiscard]] const ir::Allocator* find_allocator(std::string_view name);
[[nodiscard]] std::vector<std::string> allocator_names();  // in the order of the tables

}  // namespace regduel::fuzz
