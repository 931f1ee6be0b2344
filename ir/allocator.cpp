#include "ir/allocator.h"

#include <fmt/format.h>

namespace regduel::ir {

std::string failure_message(int limit) {
  return fmt::format("Register allocation failed with register count of '{}'. Compile the program with a higher register target",
                     limit);
}

}  // namespace regduel::ir
