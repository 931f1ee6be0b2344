// Helpers of the symbolic judge's tests: what it says of a pair of programs.
#pragma once

#include <string>
#include <string_view>

#include "oracles/symbolic/symbolic.h"
#include "oracles/testing.h"

namespace regduel::oracles::testing {

inline JudgeResult judge(const Pair& p) { return judge_pair(symbolic_judge(), p); }
inline void expect_pass(const Pair& p) { expect_pass(symbolic_judge(), p); }
inline void expect_category(const Pair& p, std::string_view category) { expect_category(symbolic_judge(), p, category); }
// The same pair with one edit of the program after.
inline Pair with(Pair p, std::string_view from, std::string_view to) {
  p.after = edit(p.after, from, to);
  return p;
}

inline constexpr std::string_view kWrong = "symbolic-wrong-value";
inline constexpr std::string_view kLost = "symbolic-lost-value";
inline constexpr std::string_view kRemat = "remat-mismatch";

inline const std::string kThreeR = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n";
inline const std::string kAndP = kThreeR + "  vreg %3 P pred\n  vreg %4 P pred\n";
inline const std::string kPairVregs = "  vreg %0 R b64\n  vreg %1 R b32\n  vreg %2 R b32\n";

// Pairs that several tests damage.
inline Pair two_values() {
  return {kThreeR, "  block b0\n    #0 %0 = a\n    #1 %1 = b\n    #2 use %0, %1 !write\n    #3 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 R1 = b\n    #2 use R0, R1 !write\n    #3 exit\n"};
}
inline Pair repeated() {
  return {
      kThreeR,
      "  block b0\n    #0 %0 = a\n    #1 %1 = add %0, 4 !remat\n    #2 use %1, %0 !write\n    #3 %0 = b\n    #4 use %0 !write\n    "
      "#5 exit\n",
      "  block b0\n    #0 R0 = a\n    #1 add !remat !deleted\n    +9 R1 = remat #1 R0, 4\n    #2 use R1, R0 !write\n    #3 R0 = b\n"
      "    #4 use R0 !write\n    #5 exit\n"};
}
// Something is stored before a branch, and destroyed on one side.
inline Pair diamond() {
  return {kAndP,
          "  block b0\n    #0 %0 = a\n    #1 %3 = p\n    #2 cbra %3 -> b1, b2\n  block b1\n    #3 %1 = b\n    #4 use %1 !write\n   "
          " #5 bra -> b3\n"
          "  block b2\n    #6 bra -> b3\n  block b3\n    #7 use %0 !write\n    #8 exit\n",
          "  block b0\n    #0 R0 = a\n    #1 P0 = p\n    +20 spill R0, slot 0\n    #2 cbra P0 -> b1, b2\n"
          "  block b1\n    #3 R0 = b\n    #4 use R0 !write\n    +21 R0 = refill slot 0\n    #5 bra -> b3\n  block b2\n    #6 bra "
          "-> b3\n"
          "  block b3\n    #7 use R0 !write\n    #8 exit\n"};
}

}  // namespace regduel::oracles::testing
