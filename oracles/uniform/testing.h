// Pairs with uniform registers for the tests of this folder.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "oracles/testing.h"
#include "oracles/uniform/uniform.h"

namespace regduel::oracles::testing {

inline constexpr std::string_view kShared = "uniform-register";

inline const std::string kUniformVregs = R"(
  vreg %0..%3 R b32
  vreg %4..%6 UR b32
  vreg %7 P pred
  vreg %8 UP pred
  vreg %9 R b32 uniform
  vreg %10 P pred
)";

inline Pair uniform_pair(const std::string& body) { return {side_by_side(kUniformVregs + "  block b0\n" + body)}; }
inline void expect_right(const std::string& body) { expect_pass(uniform_judge(), uniform_pair(body)); }
inline void expect_wrong(const std::string& body) { expect_category(uniform_judge(), uniform_pair(body), kShared); }

}  // namespace regduel::oracles::testing
