// Each knob of each coalescer changes what the pass makes of a share of the standard mix, or what its trace says of it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generate/standard_mix.h"
#include "ir/text/text.h"
#include "passes/cssa/cssa.h"
#include "passes/llvm/llvm.h"
#include "passes/nvptx/nvptx.h"

namespace regduel::properties {
namespace {

constexpr std::uint64_t kPrograms = 300;

using Setting = std::vector<std::pair<std::string, std::string>>;

struct Lines final : ir::Trace {
  void line(std::string text) override { all += text + "\n"; }
  std::string all;
};

struct Made {
  ir::Function program;
  std::string text, trace;
};

Made run(const passes::Pass& pass, const generate::StandardCase& c, const Setting& knobs) {
  Lines trace;
  auto after = pass.run(c.program, *ir::find_target(c.target), {.knobs = knobs, .trace = &trace});
  EXPECT_TRUE(after.has_value()) << (after ? "" : after.error());
  if (!after) return {};
  std::string text = ir::print(*after);
  return {std::move(*after), std::move(text), std::move(trace.all)};
}

struct Expected {
  Setting setting;
  int fewest = 0;         // of the programs change
  bool in_trace = false;  // and what changes is the trace alone
};

void expect_changes(const passes::Pass& pass, std::uint64_t seed, const std::vector<Expected>& cases) {
  std::vector<int> changed(cases.size(), 0);
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    const generate::StandardCase c = generate::standard_mix(seed, n);
    const Made usual = run(pass, c, {});
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Made other = run(pass, c, cases[k].setting);
      if (cases[k].in_trace) {
        EXPECT_EQ(other.text, usual.text) << cases[k].setting[0].first;
      }
      changed[k] += cases[k].in_trace ? other.trace != usual.trace : other.text != usual.text;
    }
  }
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto& [name, value] = cases[k].setting[0];
    fmt::print("{}={}: {} of {} programs\n", name, value, changed[k], kPrograms);
    EXPECT_GE(changed[k], cases[k].fewest) << name << "=" << value;
  }
}

// The limits of large intervals are low enough here to bite in programs of a few hundred instructions.
TEST(PassKnobs, OfLlvm) {
  expect_changes(passes::llvm_coalescer(), 18,
                 {{{{"llvm-join-liveintervals", "false"}}, 150},
                  {{{"llvm-join-splitedges", "false"}}, 3},
                  {{{"llvm-join-globalcopies", "false"}}, 10},
                  {{{"llvm-terminal-rule", "false"}}, 1},
                  {{{"llvm-twoaddr-reschedule", "false"}}, 3},
                  {{{"llvm-large-interval-size-threshold", "4"}, {"llvm-large-interval-freq-threshold", "4"}}, 3},
                  {{{"llvm-large-interval-freq-threshold", "0"}, {"llvm-large-interval-size-threshold", "4"}}, 3},
                  {{{"llvm-verify-coalescing", "true"}}, kPrograms, true}});
}

// late-remat-update-threshold only puts off what a repeated def changes: passes/llvm/llvm_test.cpp has a program in which the knob
// stops a join, and defs are repeated in the mix.
TEST(PassKnobs, DefsAreRepeatedByLlvm) {
  int repeats = 0;
  for (std::uint64_t n = 0; n < kPrograms; ++n)
    repeats += run(passes::llvm_coalescer(), generate::standard_mix(18, n), {}).trace.find("repeat #") != std::string::npos ? 1 : 0;
  EXPECT_GE(repeats, 3);
}

TEST(PassKnobs, OfNvptx) {
  expect_changes(passes::nvptx_coalescer(), 4,
                 {{{{"nvptx-copy-limit", "0"}}, 150},
                  {{{"nvptx-copy-limit", "10"}}, 30},
                  {{{"nvptx-coalesce-limit", "0"}}, 150},
                  {{{"nvptx-coalesce-limit", "10"}}, 30},
                  {{{"nvptx-block-level", "0"}}, 3},
                  {{{"nvptx-cross-block", "0"}}, 50},
                  {{{"nvptx-block-frequency", "0"}}, 3},
                  {{{"nvptx-wide", "0"}}, 10},
                  {{{"nvptx-parameters", "0"}}, 5},
                  {{{"nvptx-phis", "0"}}, 30},
                  {{{"nvptx-guarded", "1"}}, 10},
                  {{{"nvptx-verify", "1"}}, 150, true}});
}

TEST(PassKnobs, OfCssa) {
  expect_changes(passes::cssa(), 4,
                 {{{{"cssa-coalesce", "0"}}, 30},
                  {{{"cssa-usedessa", "1"}}, 3},
                  {{{"cssa-verbosity", "1"}}, 30, true},
                  {{{"cssa-verbosity", "2"}}, 30, true},
                  {{{"cssa-verbosity", "3"}}, 30, true},
                  {{{"cssa-dump-before", "1"}}, kPrograms, true}});
}

// The knobs of cssa change the copies and phis that are left.
TEST(PassKnobs, CssaLeavesFewerCopiesByValuesAndMoreWithoutCoalescing) {
  const auto moves_left = [](const generate::StandardCase& c, const Setting& knobs) {
    int moves = 0;
    for (const ir::Inst& i : run(passes::cssa(), c, knobs).program.insts) moves += i.is_copy() || i.op == ir::Op::Phi ? 1 : 0;
    return moves;
  };
  int none = 0, liveness = 0, values = 0;
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    const generate::StandardCase c = generate::standard_mix(4, n);
    none += moves_left(c, {{"cssa-coalesce", "0"}});
    liveness += moves_left(c, {});
    values += moves_left(c, {{"cssa-usedessa", "1"}});
  }
  fmt::print("copies and phis left: {} without coalescing, {} by liveness, {} by values\n", none, liveness, values);
  EXPECT_GT(none, liveness);
  EXPECT_GT(liveness, values);
}

}  // namespace
}  // namespace regduel::properties
