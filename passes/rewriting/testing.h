// For the tests of rewritings: programs as text.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::passes::testing {

inline ir::Function parsed(const std::string& text) {
  const auto module = ir::parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

}  // namespace regduel::passes::testing
