// Helpers of the symbolic judge's tests: what it says of a pair of programs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "oracles/symbolic/symbolic.h"
#include "oracles/testing.h"

namespace regduel::oracles::testing {

inline JudgeResult judge(const Pair& p) { return judge_pair(symbolic_judge(), p); }
inline void expect_pass(const Pair& p) { expect_pass(symbolic_judge(), p); }
inline void expect_category(const Pair& p, std::string_view category) { expect_category(symbolic_judge(), p, category); }

inline constexpr std::string_view kWrong = "symbolic-wrong-value";
inline constexpr std::string_view kLost = "symbolic-lost-value";
inline constexpr std::string_view kRemat = "remat-mismatch";

inline const std::string kThreeR = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)";
inline const std::string kAndP = kThreeR + R"(
  vreg %3 P pred
  vreg %4 P pred
)";
inline const std::string kPairVregs = R"(
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 R b32
)";

// Pairs that several tests damage.
inline Pair two_values() {
  return {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %1 = b            | R1 = b
    #2 use %0, %1 !write | use R0, R1 !write
    #3 exit
)")};
}
inline Pair repeated() {
  return {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a                | R0 = a
    #1 %1 = add %0, 4 !remat | add !remat !deleted
    +9                       | R1 = remat #1 R0, 4
    #2 use %1, %0 !write     | use R1, R0 !write
    #3 %0 = b                | R0 = b
    #4 use %0 !write         | use R0 !write
    #5 exit
)")};
}
// Something is stored before a branch, and destroyed on one side.
inline Pair diamond() {
  return {kAndP, side_by_side(R"(
  block b0
    #0 %0 = a            | R0 = a
    #1 %3 = p            | P0 = p
    +20                  | spill R0, slot 0
    #2 cbra %3 -> b1, b2 | cbra P0 -> b1, b2
  block b1
    #3 %1 = b            | R0 = b
    #4 use %1 !write     | use R0 !write
    +21                  | R0 = refill slot 0
    #5 bra -> b3
  block b2
    #6 bra -> b3
  block b3
    #7 use %0 !write     | use R0 !write
    #8 exit
)")};
}

// With %9 as the predicate that decides.
inline std::string up_to_nine(std::string vregs) {
  for (auto k = std::count(vregs.begin(), vregs.end(), '%'); k < 9; ++k) vregs += fmt::format("  vreg %{} R b32\n", k);
  return vregs + "  vreg %9 P pred\n";
}

}  // namespace regduel::oracles::testing
