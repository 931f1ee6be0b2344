// Pairs with uniform registers for the tests of this folder.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "oracles/symbolic/settled.h"
#include "oracles/testing.h"
#include "oracles/uniform/escapes.h"
#include "oracles/uniform/shared_values.h"
#include "oracles/uniform/uniform.h"

namespace regduel::oracles::testing {

inline constexpr std::string_view kShared = "uniform-register";

// The judge without the ways out that spare most programs the analysis.
inline const Judge& whole_uniform_judge() {
  static constexpr Judge judge("uniform", "", uniform_without_ways_out);
  return judge;
}

inline const std::string kUniformVregs = R"(
  vreg %0..%3 R b32
  vreg %4..%6 UR b32
  vreg %7 P pred
  vreg %8 UP pred
  vreg %9 R b32 uniform
  vreg %10 P pred
)";

inline Pair uniform_pair(const std::string& body) { return {side_by_side(kUniformVregs + "  block b0\n" + body)}; }
// With the ways out and without them.
inline void expect_right(const Pair& p) {
  expect_pass(uniform_judge(), p);
  expect_pass(whole_uniform_judge(), p);
}
inline void expect_wrong(const Pair& p) {
  expect_category(uniform_judge(), p, kShared);
  expect_category(whole_uniform_judge(), p, kShared);
}
inline void expect_right(const std::string& body) { expect_right(uniform_pair(body)); }
inline void expect_wrong(const std::string& body) { expect_wrong(uniform_pair(body)); }

// The shared values of a pair, without the judge around them.
struct SharedValuesOf {
  explicit SharedValuesOf(const std::string& body)
      : pair(uniform_pair(body)), before(parse_function(pair.before_text())), after(parse_function(pair.after_text())),
        target(*ir::find_target(before.target)), c(before, after, target, limits_of(before, 255)), settled(**symbolic::settled(c)),
        shared(c, settled.plan, settled.quick, uniform::declared_vregs(before)) {}

  // The low byte of the vreg at the head of the block.
  bool is_shared_at(std::uint32_t block, std::uint32_t vreg) {
    const std::uint32_t name = settled.plan.names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(vreg))).cell;
    const auto live = settled.plan.live_names[block];
    const auto at = static_cast<std::size_t>(std::ranges::find(live, name) - live.begin());
    shared.move_to(block);
    return shared.is_shared(settled.plan.values.byte(settled.quick.entry(block).names[at], 0));
  }

  Pair pair;
  ir::Function before, after;
  ir::Target target;
  Case c;
  symbolic::Settled& settled;
  uniform::SharedValues shared;
};

}  // namespace regduel::oracles::testing
