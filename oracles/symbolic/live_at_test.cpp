// Live names and locations at the heads of blocks, on hand-made allocations.

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/symbolic/plan.h"
#include "oracles/symbolic/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

// Live vregs and registers at the head of `block`: "%0 R4", and how many words of the frames.
std::string live_at(const Pair& p, std::uint32_t block) {
  const ir::Function before = parse_function(p.before_text()), after = parse_function(p.after_text());
  const auto plan = symbolic::make_plan({before, after, *ir::find_target("sm_90"), limits_of(before, 255)});
  if (!plan) return plan.error();
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t name : plan->live_names[block])
    for (std::size_t v = 0; v < before.vregs.size(); ++v) {
      const Place at = plan->names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v)));
      if (name >= at.cell && name < at.cell + at.cells()) text += fmt::format("%{} ", v);
    }
  for (const std::uint32_t l : plan->live_locations[block])
    for (const ir::RegFile file : {ir::RegFile::R, ir::RegFile::P})
      for (int u = 0; u < 100; ++u)
        if (l == plan->locations.of_unit(file, u)) {
          text += fmt::format("{}{} ", file == ir::RegFile::R ? "R" : "P", u);
          ++named;
        }
  return text + fmt::format("+{}", plan->live_locations[block].size() - named);
}

// The bodies of `p` in a second block, which the first one branches to.
Pair two_blocks(Pair p) {
  p.before = "  block b0\n    #90 bra -> b1\n  block b1\n" + p.before + "    #91 exit\n";
  p.after = "  block b0\n    #90 bra -> b1\n  block b1\n" + p.after + "    #91 exit\n";
  return p;
}

TEST(SymbolicPlanTest, OnlyWhatIsReadLaterIsKept) {
  EXPECT_EQ(live_at(two_blocks({kThreeR, "    #0 use %0 !write\n", "    #0 use R4 !write\n"}), 1), "%0 R4 +0");
  // Written before it is read; in two parts; by a copy; by a clobber; by a refill of its two bytes.
  EXPECT_EQ(live_at(two_blocks({kThreeR, "    #0 %0 = a\n    #1 use %0 !write\n", "    #0 R4 = a\n    #1 use R4 !write\n"}), 0),
            "+0");
  EXPECT_EQ(live_at(two_blocks({kThreeR, side_by_side(R"(
    #0 %0.h0 = a     | R4.h0 = a
    #1 %0.h1 = a     | R4.h1 = a
    #2 use %0 !write | use R4 !write
)")}),
                    0),
            "+0");
  EXPECT_EQ(
      live_at(two_blocks({kThreeR, "    #0 %0.h0 = a\n    #2 use %0 !write\n", "    #0 R4.h0 = a\n    #2 use R4 !write\n"}), 0),
      "%0 R4 +0");
  EXPECT_EQ(
      live_at(two_blocks({kThreeR, "    #0 %0 = copy %1\n    #1 use %0 !write\n", "    #0 R4 = copy R5\n    #1 use R4 !write\n"}),
              0),
      "%1 R5 +0");
  EXPECT_EQ(live_at(two_blocks({kThreeR, "    #0 call \"f\" clobbers R4\n    #1 use %0 !write\n",
                                "    #0 call \"f\" clobbers R4\n    #1 use R4 !write\n"}),
                    0),
            "%0 +0");
  EXPECT_EQ(live_at(two_blocks({"  vreg %0 R b16\n", "    #0 %0 = a\n    #1 use %0 !write\n", R"(
    #0 R0 = a
    +9 spill R0.h0, slot 0
    +8 R1.h0 = refill slot 0
    #1 use R1 !write
)"}),
                    0),
            "R1 +0");
  // Not under a guard.
  EXPECT_EQ(
      live_at(two_blocks({kAndP, "    #0 @%3 %0 = a\n    #1 use %0 !write\n", "    #0 @P0 R4 = a\n    #1 use R4 !write\n"}), 0),
      "%0 %3 R4 P0 +0");
  EXPECT_EQ(live_at(two_blocks({kAndP, "    #0 use %3 !write\n", "    +9 P1 = r2p R4\n    #0 use P1 !write\n"}), 0), "%3 R4 +0");
  EXPECT_EQ(live_at(two_blocks({kThreeR, "    #0 %1 = add %0 !remat\n    #1 use %1 !write\n", R"(
    #0 add !remat !deleted
    +9 R1 = remat #0 R4
    #1 use R1 !write
)"}),
                    0),
            "%0 R4 +1");
  // What a phi writes is not live before it.
  const Pair phi = {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a          | R0 = a
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0 | phi !deleted
    #3 bra -> b2
  block b2
    #4 use %1 !write   | use R0 !write
    #5 exit
)")};
  EXPECT_EQ(live_at(phi, 0), "+0");
  // What it reads is not all written by a part.
  const Pair part = {kThreeR, side_by_side(R"(
  block b0
    #0 bra -> b1
  block b1
    #1 %0.h0 = a       | R0.h0 = a
    #2 bra -> b2
  block b2
    #3 %1 = phi b1: %0 | R1 = phi b1: R0
    #4 use %1 !write   | use R1 !write
    #5 exit
)")};
  EXPECT_EQ(live_at(part, 1), "%0 R0 R1 +0");
  EXPECT_EQ(live_at(phi, 1), "%1 R0 +0");
}

// What is written under a guard and read under the same one stays in its block; two opposite guards write together.
TEST(SymbolicPlanTest, WhatAGuardKeepsToItselfIsNotLiveBefore) {
  const auto live = [](const Programs& both) { return live_at(two_blocks({kAndP, both}), 0); };
  EXPECT_EQ(live({"    #0 @%3 %0 = a\n    #1 @%3 use %0 !write\n", "    #0 @P0 R4 = a\n    #1 @P0 use R4 !write\n"}), "%3 P0 +0");
  EXPECT_EQ(live(side_by_side(R"(
    #0 @%3 %0 = a        | @P0 R4 = a
    #1 @%3 %1 = copy %0  | @P0 R5 = copy R4
    #2 @%3 use %1 !write | @P0 use R5 !write
)")),
            "%3 P0 +0");
  EXPECT_EQ(live({"    #0 @%3 %0 = a\n    #1 @!%3 use %0 !write\n", "    #0 @P0 R4 = a\n    #1 @!P0 use R4 !write\n"}),
            "%0 %3 R4 P0 +0");
  EXPECT_EQ(live(side_by_side(R"(
    #0 @%3 %0 = a    | @P0 R4 = a
    #1 @!%3 %0 = b   | @!P0 R4 = b
    #2 use %0 !write | use R4 !write
)")),
            "%3 P0 +0");
  // Half of it under one guard, all of it under the other.
  EXPECT_EQ(live(side_by_side(R"(
    #0 @%3 %0.h0 = a | @P0 R4.h0 = a
    #1 @!%3 %0 = b   | @!P0 R4 = b
    #2 use %0 !write | use R4 !write
)")),
            "%0 %3 R4 P0 +0");
  // The guard is another one meanwhile, on one side or on both.
  EXPECT_EQ(live(side_by_side(R"(
    #0 @%3 %0 = a        | @P0 R4 = a
    #1 %3 = p            | P0 = p
    #2 @%3 use %0 !write | @P0 use R4 !write
)")),
            "%0 %3 R4 P0 +0");
  EXPECT_EQ(live({"    #0 @%3 %0 = a\n    #1 @%3 use %0 !write\n", R"(
    #0 @P0 R4 = a
    +9 P1 = copy P0
    #1 @P1 use R4 !write
)"}),
            "%3 R4 P0 +0");
}

// Under a guard a name is live from block to block, up to a def under the same guard; above where the guard is written it is live
// as any other is.
TEST(SymbolicPlanTest, NamesAreLiveUnderAGuardAcrossBlocks) {
  // The names that are live at the head of a block, where the program after is the one before with R0 to R2 and P0 in it.
  const auto names = [](const std::string& before, std::uint32_t block) {
    std::string after = before;
    for (const auto& [name, place] : {std::pair("%0", "R0"), {"%1", "R1"}, {"%2", "R2"}, {"%3", "P0"}})
      for (std::size_t at = 0; (at = after.find(name)) != std::string::npos;) after.replace(at, 2, place);
    const std::string live = live_at({kAndP, before, after}, block);
    return live.substr(0, live.find_first_of("RP+"));
  };
  const std::string use = R"(
  block b2
    #8 @%3 use %0 !write
    #9 exit
)";
  const std::string kept = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 @%3 %0 = a
    #2 bra -> b2
)" + use;
  EXPECT_EQ(names(kept, 0), "%3 ");
  EXPECT_EQ(names(kept, 1), "%3 ");
  EXPECT_EQ(names(kept, 2), "%0 %3 ");
  const std::string other_sense = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 @!%3 %0 = a
    #2 bra -> b2
)" + use;
  EXPECT_EQ(names(other_sense, 0), "%0 %3 ");
  // The guard is written behind the def: what is read is what was there under the guard of then.
  const std::string rewritten = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 @%3 %0 = a
    #2 %3 = p
    #3 bra -> b2
)" + use;
  EXPECT_EQ(names(rewritten, 0), "%0 %3 ");
  const std::string made = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 %3 = p
    #2 @%3 %0 = a
    #3 bra -> b2
)" + use;
  EXPECT_EQ(names(made, 0), "");
  // Round a loop that another def of the guard is in: read under it at the top, written under it at the end of the lap.
  const std::string loop = R"(
  block b0
    #0 bra -> b1
  block b1
    #1 @%3 use %0 !write
    #2 %3 = p
    #3 @%3 %0 = a
    #4 cbra %3 -> b1, b2
  block b2
    #9 exit
)";
  EXPECT_EQ(names(loop, 0), "%0 %3 ");
  // One of two ways past the def.
  const std::string diamond = R"(
  block b0
    #0 cbra %3 -> b1, b3
  block b1
    #1 @%3 %0 = a
    #2 bra -> b2
)" + use + "  block b3\n    #3 bra -> b2\n";
  EXPECT_EQ(names(diamond, 0), "%0 %3 ");
  EXPECT_EQ(names(diamond, 1), "%3 ");
  EXPECT_EQ(names(diamond, 3), "%0 %3 ");
  // The guard is a phi's: before it, another one.
  const std::string phi = R"(
  block b0
    #0 @%3 %0 = a
    #1 cbra %3 -> b1, b2
  block b1
    #2 bra -> b2
  block b2
    #3 %3 = phi b0: %3, b1: %3
    #8 @%3 use %0 !write
    #9 exit
)";
  EXPECT_EQ(names(phi, 0), "%0 %3 ");
  EXPECT_EQ(names(phi, 1), "%0 %3 ");
}

// 100 names and as many registers, so more than one word of bits of each, against a look along every path.
TEST(SymbolicPlanTest, ManyPlacesAreLiveWhereAPathReadsThem) {
  constexpr std::uint32_t kBlocks = 9, kVregs = 100;
  Random random(1);
  // A chain of blocks with two loops, the blocks 1 to 3 and 2 to 7; the last one leaves.
  const auto successors = [](std::uint32_t b) -> std::vector<std::uint32_t> {
    if (b == 3) return {1, 4};
    if (b == 7) return {2, 8};
    if (b + 1 == kBlocks) return {};
    return {b + 1};
  };
  std::string vregs = "  vreg %100 P pred\n", before, after;
  std::vector<std::uint32_t> def(kVregs), use(kVregs);  // in a block the defs come first
  for (std::uint32_t v = 0; v < kVregs; ++v) {
    vregs = fmt::format("  vreg %{} R b32\n", kVregs - 1 - v) + vregs;
    def[v] = random.below(kBlocks + 1);  // kBlocks: nowhere
    use[v] = random.below(kBlocks);
  }
  int id = 0;
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    const auto line = [&](std::string_view form, std::uint32_t v) {
      before += fmt::format("    #{} {}\n", id, fmt::format(fmt::runtime(form), fmt::format("%{}", v)));
      after += fmt::format("    #{} {}\n", id++, fmt::format(fmt::runtime(form), v == kVregs ? "P0" : fmt::format("R{}", v)));
    };
    for (std::string* text : {&before, &after}) *text += fmt::format("  block b{}\n", b);
    for (std::uint32_t v = 0; v < kVregs; ++v)
      if (def[v] == b) line("{} = a", v);
    for (std::uint32_t v = 0; v < kVregs; ++v)
      if (use[v] == b) line("use {} !write", v);
    const auto next = successors(b);
    if (next.empty()) line("exit", 0);
    if (next.size() == 1) line(fmt::format("bra -> b{}", next[0]), 0);
    if (next.size() == 2) line("{} = p", kVregs), line("cbra {} " + fmt::format("-> b{}, b{}", next[0], next[1]), kVregs);
  }
  const auto is_live = [&](std::uint32_t v, std::uint32_t from) {
    std::vector<std::uint32_t> work = {from};
    std::vector<bool> is_seen(kBlocks, false);
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (is_seen[b] || def[v] == b) continue;
      is_seen[b] = true;
      if (use[v] == b) return true;
      for (const std::uint32_t to : successors(b)) work.push_back(to);
    }
    return false;
  };
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    std::string names, registers;
    for (std::uint32_t v = 0; v < kVregs; ++v)
      if (is_live(v, b)) {
        names += fmt::format("%{} ", v);
        registers += fmt::format("R{} ", v);
      }
    EXPECT_EQ(live_at({vregs, before, after}, b), names + registers + "+0") << b;
  }
}

// Live names that come from an earlier plan of the same program are those that a plan of its own finds, along edge blocks too.
TEST(SymbolicPlanTest, LiveNamesAreKeptFromPlanToPlan) {
  const std::string vregs = kAndP + R"(
  vreg %5 R b32
  vreg %6 R b32
)";
  const std::string start = R"(
  block b0
    #0 %0 = a
    #1 %1 = b
    #9 %5 = c
    #2 bra -> b1
)";
  const std::string before = start + R"(
  block b1
    #3 %2 = phi b0: %0, b1: %0
    #4 %1 = phi b0: %1, b1: %6
    #10 %6 = d
    #5 %3 = p %2
    #6 cbra %3 -> b1, b2
  block b2
    #7 use %2, %1, %5 !write
    #8 exit
)";
  const auto after = [](std::string_view to, std::string_view edge_blocks) {
    return fmt::format(R"(
  block b0
    #0 R0 = a
    #1 R1 = b
    #9 R2 = c
    #2 bra -> b1
  block b1
    #3 phi !deleted
    #4 phi !deleted
    #10 R3 = d
    #5 P0 = p R0
    #6 cbra P0 -> {}, b2
  block b2
    #7 use R0, R1, R2 !write
    #8 exit
{})",
                       to, edge_blocks);
  };
  const std::string copies = "    +20 R0, R1 = copy R1, R0\n";
  const std::vector<std::string> afters = {after("b1", ""),
                                           after("b3", "  block b3 edge b1 -> b1\n" + copies + "    +21 bra -> b1\n"),
                                           after("b3", "  block b3 edge b1 -> b1\n" + copies + R"(
    +21 bra -> b4
  block b4 edge b1 -> b1
    +22 bra -> b1
)"),
                                           after("b2", "")};  // a branch that leads elsewhere
  const ir::Function program = parse_function(Pair{vregs, before, afters[0]}.before_text());
  const ir::Target& target = *ir::find_target("sm_90");
  const auto live_names = [&](const Before& prepared, const ir::Function& f) {
    const auto plan = symbolic::make_plan({prepared, f, limits_of(program, 255)});
    EXPECT_TRUE(plan) << plan.error();
    return std::pair(plan->live_names.begin, plan->live_names.places);
  };
  for (const std::string& first : afters)
    for (const std::string& second : afters) {
      const ir::Function f = parse_function(Pair{vregs, before, first}.after_text());
      const ir::Function g = parse_function(Pair{vregs, before, second}.after_text());
      const Before shared(program, target), own(program, target);
      (void)live_names(shared, f);
      EXPECT_EQ(shared.part<symbolic::NamesBefore>().live.begin.empty(), &first == &afters.back());
      EXPECT_EQ(live_names(shared, g), live_names(own, g)) << first << second;
    }
}

}  // namespace
}  // namespace regduel::oracles
