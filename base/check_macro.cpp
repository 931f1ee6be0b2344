#include "base/check_macro.h"

#include <fmt/format.h>

namespace regduel {

void fail_check(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: broken invariant: {}: {}", file, line, condition, message));
}

}  // namespace regduel
