// Live names of random programs with guards, against walks along all paths.

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "oracles/symbolic/plan.h"
#include "oracles/testing.h"

namespace regduel::oracles::symbolic {
namespace {

using namespace testing;

constexpr int kNames = 6, kPredicates = 3;  // vregs %0 to %5, and %6 to %8
constexpr std::uint32_t kBlocks = 8;

struct Access {
  bool is_write = false;
  int of = 0;      // a vreg
  int guard = -1;  // a predicate's vreg, or none
  bool sense = true;
};
struct PhiOperand {
  std::uint32_t from = 0;
  int of = 0;
};
struct Phi {
  int of = 0;
  std::vector<PhiOperand> operands;
};
struct RandomProgram {
  std::array<std::vector<Phi>, kBlocks> phis;
  std::array<std::vector<Access>, kBlocks> accesses;  // a block ends with the reading of %8, if it branches

  // A chain of blocks with two loops and a way past two blocks.
  static std::vector<std::uint32_t> successors(std::uint32_t b) {
    if (b == 1) return {2, 4};
    if (b == 3) return {1, 4};
    if (b == 6) return {2, 7};
    return b + 1 == kBlocks ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{b + 1};
  }

  //   one_guard   each name has a guard of its own: two accesses under guards are under the same one
  RandomProgram(Random& random, bool one_guard) {
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      for (std::uint32_t k = random.below(5); k > 0; --k) {
        Access a{.is_write = random.chance(50), .of = static_cast<int>(random.below(kNames + kPredicates))};
        const bool is_predicate = a.of >= kNames;
        if (is_predicate) a.is_write = true;
        else if (random.chance(75)) {
          a.guard = kNames + (one_guard ? a.of % kPredicates : static_cast<int>(random.below(kPredicates)));
          a.sense = one_guard ? a.of < kPredicates : random.chance(50);
        }
        accesses[b].push_back(a);
      }
      std::vector<std::uint32_t> preds;
      for (std::uint32_t p = 0; p < kBlocks; ++p)
        for (const std::uint32_t s : successors(p))
          if (s == b) preds.push_back(p);
      if (preds.size() < 2 || !random.chance(40)) continue;
      Phi phi{.of = static_cast<int>(random.below(kNames + kPredicates)), .operands = {}};
      const bool is_predicate = phi.of >= kNames;
      for (const std::uint32_t p : preds)
        phi.operands.push_back(
            {p, is_predicate ? kNames + static_cast<int>(random.below(kPredicates)) : static_cast<int>(random.below(kNames))});
      phis[b].push_back(phi);
    }
  }

  // Name `of` at the head of block `b`, behind its phis: whether some path reads what it is there.
  [[nodiscard]] bool is_live(int of, std::uint32_t b) const {
    // By predicate, as it is now: under which of its two outcomes the name has been written.
    using Written = std::array<unsigned, kPredicates>;
    std::vector<std::pair<std::uint32_t, Written>> work = {{b, Written{}}};
    std::set<std::pair<std::uint32_t, Written>> seen;
    while (!work.empty()) {
      auto [at, written] = work.back();
      work.pop_back();
      if (!seen.emplace(at, written).second) continue;
      bool is_gone = false;
      for (const Access& a : accesses[at]) {
        const int guard = a.guard - kNames;
        const unsigned outcome = a.sense ? 1 : 2;
        if (a.of >= kNames) written[static_cast<std::size_t>(a.of - kNames)] = 0;
        if (a.of != of || is_gone) continue;
        if (!a.is_write && (a.guard < 0 || (written[static_cast<std::size_t>(guard)] & outcome) == 0)) return true;
        if (!a.is_write) continue;
        if (a.guard >= 0) written[static_cast<std::size_t>(guard)] |= outcome;
        is_gone = a.guard < 0 || written[static_cast<std::size_t>(guard)] == 3;
      }
      if (is_gone) continue;
      for (const std::uint32_t s : successors(at)) {
        Written next = written;
        bool is_renamed = false;
        for (const Phi& phi : phis[s]) {
          for (const PhiOperand& o : phi.operands)
            if (o.from == at && o.of == of) return true;
          is_renamed = is_renamed || phi.of == of;
          if (phi.of >= kNames) next[static_cast<std::size_t>(phi.of - kNames)] = 0;
        }
        if (!is_renamed) work.emplace_back(s, next);
      }
    }
    return false;
  }

  [[nodiscard]] ir::Function function(bool is_before) const {
    std::string text = "func @f kernel target sm_90 threads 32";
    text += is_before ? "\n" : " allocated\n";
    for (int v = 0; v < kNames + kPredicates; ++v) text += fmt::format("  vreg %{} {}\n", v, v < kNames ? "R b32" : "P pred");
    const auto name = [&](int v) {
      return is_before ? fmt::format("%{}", v) : v < kNames ? fmt::format("R{}", v) : fmt::format("P{}", v - kNames);
    };
    int id = 0;
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      text += fmt::format("  block b{}\n", b);
      for (const Phi& phi : phis[b]) {
        text += fmt::format("    #{} {} = phi", id++, name(phi.of));
        for (const PhiOperand& o : phi.operands)
          text += fmt::format("{} b{}: {}", &o == phi.operands.data() ? "" : ",", o.from, name(o.of));
        text += "\n";
      }
      for (const Access& a : accesses[b]) {
        const std::string guard = a.guard < 0 ? "" : fmt::format("@{}{} ", a.sense ? "" : "!", name(a.guard));
        text += a.is_write ? fmt::format("    #{} {}{} = a\n", id++, guard, name(a.of))
                           : fmt::format("    #{} {}use {} !write\n", id++, guard, name(a.of));
      }
      const auto next = successors(b);
      if (next.empty()) text += fmt::format("    #{} exit\n", id++);
      else if (next.size() == 1) text += fmt::format("    #{} bra -> b{}\n", id++, next[0]);
      else text += fmt::format("    #{} cbra {} -> b{}, b{}\n", id++, name(kNames + kPredicates - 1), next[0], next[1]);
    }
    return parse_function(text);
  }
};

struct Counts {
  int live = 0, dead = 0, more = 0;  // more: live, though no path reads it
};

Counts compare(std::uint64_t seed, bool one_guard) {
  Random random(seed);
  const RandomProgram program(random, one_guard);
  const ir::Function before = program.function(true), after = program.function(false);
  const auto plan = make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  EXPECT_TRUE(plan) << (plan ? "" : plan.error());
  Counts counts;
  if (!plan) return counts;
  for (std::uint32_t b = 0; b < kBlocks; ++b)
    for (int v = 0; v < kNames; ++v) {
      const auto live = plan->live_names[b];
      EXPECT_TRUE(std::is_sorted(live.begin(), live.end()));
      EXPECT_EQ(std::adjacent_find(live.begin(), live.end()), live.end());
      const std::uint32_t cell = plan->names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v))).cell;
      const bool is_live = std::binary_search(live.begin(), live.end(), cell), truth = program.is_live(v, b);
      EXPECT_TRUE(is_live || !truth) << "seed " << seed << ": %" << v << " at b" << b;
      ++(truth ? counts.live : is_live ? counts.more : counts.dead);
    }
  return counts;
}

TEST(SymbolicLiveness, UnderOneGuardEachANameIsLiveWhereAPathReadsIt) {
  Counts all;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Counts c = compare(seed, true);
    EXPECT_EQ(c.more, 0) << "seed " << seed;
    all.live += c.live;
    all.dead += c.dead;
  }
  EXPECT_GT(all.live, 10000);
  EXPECT_GT(all.dead, 10000);
}

// Opposite guards write together within a block; from block to block it takes some for live that are not.
TEST(SymbolicLiveness, UnderManyGuardsNothingIsMissed) {
  Counts all;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Counts c = compare(seed, false);
    all.live += c.live;
    all.dead += c.dead;
    all.more += c.more;
  }
  EXPECT_GT(all.live, 10000);
  EXPECT_GT(all.dead, 5000);
  EXPECT_LT(all.more, all.dead / 20);
}

}  // namespace
}  // namespace regduel::oracles::symbolic
