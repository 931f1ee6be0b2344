// An explanation agrees with the run: it does not change the allocation, its home is the emitted one, and no unit that it ranks above
// the choice was free. Checked on random programs, and one by one for each reason.

#include "allocator/explain/explain.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/driver.h"
#include "allocator/explain/observer.h"
#include "allocator/knobs.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::limits;
using testing::program;

Explanation explained(const ir::Function& f, int vreg, const ir::Limits& l,
                      std::vector<std::pair<std::string, std::string>> knobs = {},
                      const ir::Target& target = ir::default_target()) {
  const auto e = explain(f, target, {.limits = l, .knobs = std::move(knobs)}, VRegId(vreg));
  EXPECT_TRUE(e.has_value()) << (e ? "" : e.error().message);
  return e ? *e : Explanation{};
}
// Of the attempt that decided.
Step last_step(const Explanation& e) {
  if (e.shown < 0 || e.attempts[static_cast<std::size_t>(e.shown)].steps.empty()) {
    ADD_FAILURE() << "nothing was shown of %" << e.root.value;
    return {};
  }
  return e.attempts[static_cast<std::size_t>(e.shown)].steps.back();
}
const SeenUnit& unit(const Step& s, int k) { return s.units.at(static_cast<std::size_t>(k)); }
UnitReason reason(const Step& s, int k) { return unit(s, k).reason; }

const char* const kPair =
    "  vreg %0 R b32\n  vreg %1 R b64\n  vreg %2 R b32\n  block b0\n"
    "    #0 %0 = ld 0 !read\n    #1 %1 = ld %0 !read\n    #2 %2 = add %0, %1.lo\n    #3 st %2, %1, %0 !write\n    #4 exit\n";

TEST(Explain, SaysWhoTakesASlotAndWhatIsMisaligned) {
  const Explanation e = explained(program(kPair), 1, limits(255));
  EXPECT_TRUE(e.lives);
  EXPECT_EQ(e.root_text, "%1 R b64");
  EXPECT_EQ(e.home, 2);
  const Step s = last_step(e);
  EXPECT_EQ(s.kind, StepKind::Alone);
  EXPECT_EQ(s.unit, 2);
  EXPECT_EQ(s.geometry.units, 2);
  EXPECT_EQ(reason(s, 0), UnitReason::Taken);
  EXPECT_EQ(unit(s, 0).by, "%0");
  EXPECT_EQ(reason(s, 1), UnitReason::Misaligned);
  EXPECT_EQ(reason(s, 2), UnitReason::Chosen);
  EXPECT_EQ(reason(s, 4), UnitReason::HigherUnit);
  EXPECT_EQ(reason(s, 254), UnitReason::OutsideFile);
  ASSERT_EQ(s.range.size(), 1u);
  EXPECT_EQ(s.range[0].first, "#1");
  EXPECT_EQ(s.range[0].first_moment, 'W');
  EXPECT_EQ(s.range[0].last, "#3");
  EXPECT_EQ(s.range[0].last_moment, 'R');
  EXPECT_EQ(reason(last_step(explained(program(kPair), 1, limits(4))), 4), UnitReason::AboveLimit);
}

TEST(Explain, AnAliasHasTheHomeOfItsRoot) {
  const Explanation e = explained(
      program(
          "  vreg %0 R b32\n  vreg %1 R b16 alias %0.h1\n  block b0\n    #0 %0 = ld 0 !read\n    #1 st %1 !write\n    #2 exit\n"),
      1, limits(255));
  EXPECT_EQ(e.asked, VRegId(1));
  EXPECT_EQ(e.root, VRegId(0));
  EXPECT_EQ(e.home, 0);
}

TEST(Explain, WhoNeverLivesHasNoAttempt) {
  const Explanation e =
      explained(program("  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n    #0 %0 = ld 0 !read\n    #1 st %0 !write\n    #2 exit\n"),
                1, limits(255));
  EXPECT_FALSE(e.lives);
  EXPECT_EQ(e.home, -1);
  EXPECT_EQ(e.shown, 0);  // the attempt at its file, which never had it in hand
  EXPECT_TRUE(e.attempts[0].steps.empty());
}

TEST(Explain, ClobbersAndChains) {
  const ir::Function f = program(
      "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  block b0\n    #0 %0 = ld 0 !read\n    #1 call \"f\" clobbers R0:R3\n   "
      " #2 %1 = copy %0\n"
      "    #3 %2 = add %1, 1\n    #4 st %2, %1 !write\n    #5 exit\n");
  const Explanation e = explained(f, 1, limits(255));
  EXPECT_EQ(e.home, 4);
  const Step s = last_step(e);
  EXPECT_EQ(s.kind, StepKind::Class);
  EXPECT_THAT(s.members, ::testing::ElementsAre("%0", "%1"));
  EXPECT_EQ(reason(s, 3), UnitReason::Clobbered);
  EXPECT_EQ(unit(s, 3).at, "#1");
  ASSERT_FALSE(s.constraints.empty());
  EXPECT_TRUE(std::any_of(s.constraints.begin(), s.constraints.end(), [](const SeenConstraint& c) {
    return c.type == ConstraintType::Range && c.counted == Counted::InClass;
  }));
}

// The upper half of a pair that dies at the copy: that is where the copy would vanish.
const char* const kHalf =
    "  vreg %0 R b64\n  vreg %1 R b32\n  block b0\n    #0 %0 = ld 0 !read\n    #1 %1 = copy %0.hi\n    #2 st %1 !write\n    #3 "
    "exit\n";

TEST(Explain, SecondaryWeightsRank) {
  const Step s = last_step(explained(program(kHalf), 1, limits(255)));
  EXPECT_EQ(s.unit, 1);
  ASSERT_EQ(s.constraints.size(), 1u);
  EXPECT_EQ(s.constraints[0].type, ConstraintType::Range);
  EXPECT_EQ(s.constraints[0].partner, "%0");
  EXPECT_EQ(s.constraints[0].target, 1);
  EXPECT_EQ(unit(s, 1).secondary, 0);
  EXPECT_EQ(unit(s, 0).secondary, s.constraints[0].weight);
  EXPECT_EQ(reason(s, 0), UnitReason::HeavierSecondary);
  EXPECT_EQ(reason(s, 2), UnitReason::HeavierSecondary);
}

TEST(Explain, PrecolouredVregs) {
  const ir::Function f = program(
      "  vreg %0 R b32 fixed R7\n  vreg %1 R b32\n  block b0\n    #0 %0 = ld 0 !read\n    #1 %1 = add %0, 1\n    #2 st %1, %0 "
      "!write\n    #3 exit\n");
  const Explanation e = explained(f, 0, limits(255));
  EXPECT_EQ(e.home, 7);
  EXPECT_EQ(last_step(e).kind, StepKind::Precoloured);
  EXPECT_EQ(reason(last_step(e), 7), UnitReason::Chosen);
  EXPECT_EQ(reason(last_step(e), 0), UnitReason::NotLookedAt);
}

TEST(Explain, CalleeSavedRegistersComeLast) {
  const ir::Function f =
      program("  vreg %0 R b32\n  block b0\n    #0 %0 = ld 0 !read\n    #1 st %0 !write\n    #2 ret\n", "device");
  const Step s = last_step(explained(f, 0, limits(255)));
  EXPECT_EQ(reason(s, 24), UnitReason::CalleeSavedFirst);
  EXPECT_EQ(reason(s, 32), UnitReason::HigherUnit);
}

// Eight values at once within six registers.
ir::Function pressed() {
  std::string text;
  for (int v = 0; v < 8; ++v) text += "  vreg %" + std::to_string(v) + " R b32\n";
  text += "  block b0\n";
  for (int v = 0; v < 8; ++v)
    text += "    #" + std::to_string(v) + " %" + std::to_string(v) + " = ld " + std::to_string(v) + " !read\n";
  for (int v = 0; v < 8; ++v) text += "    #" + std::to_string(8 + v) + " st %" + std::to_string(v) + " !write\n";
  return program(text + "    #16 exit\n");
}

TEST(Explain, ASpilledVregSaysByWhomAndForHowMuch) {
  const ir::Function f = pressed();
  int spilled = 0;
  std::size_t refills = 0, stores = 0;
  for (int v = 0; v < 8; ++v) {
    const Explanation e = explained(f, v, limits(6));
    if (e.spill.by == Spiller::None) continue;
    ++spilled;
    EXPECT_EQ(e.home, -1);
    EXPECT_EQ(e.spill.by, Spiller::Guidance);
    EXPECT_GT(e.spill.cost, 0);
    EXPECT_GT(e.spill.relief, 0);
    EXPECT_FALSE(e.spill.next.empty());
    refills += static_cast<std::size_t>(e.spill.refills);
    stores += static_cast<std::size_t>(e.spill.stores);
  }
  EXPECT_EQ(spilled, 2);
  // All of the program's, and no more.
  const auto a = make_fatpoint()->allocate(f, ir::default_target(), {.limits = limits(6), .knobs = {}});
  ASSERT_TRUE(a.has_value());
  std::size_t all_refills = 0, all_stores = 0;
  for (const ir::Inst& i : a->program.insts) {
    all_refills += i.op == ir::Op::Refill ? 1 : 0;
    all_stores += i.op == ir::Op::Spill ? 1 : 0;
  }
  EXPECT_EQ(refills, all_refills);
  EXPECT_EQ(stores, all_stores);
}

// Where ranges of R are split, the predicates that have to go leave before the first round.
TEST(Explain, APredicateThatLeavesBeforeTheFirstRoundSaysItsCost) {
  const ir::Function f = program(R"(  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
  vreg %3 R b32
  vreg %4 R b32
  vreg %5 R b32
  vreg %6 R b32
  vreg %7 R b32
  block b0
    #0 %0 = a
    #1 %1 = b
    #2 %2 = c
    #3 %3 = d
    #4 %4 = d
    #5 %5 = d
    #6 %6 = d
    #7 %7 = d
    #8 st %3, %4 !write
    #9 st %5, %6 !write
    #10 @%0 st %3 !write
    #11 @%1 st %4 !write
    #12 @%2 st %5, %6 !write
    #13 @%0 st %7, %3 !write
    #14 st %3, %4 !write
    #15 @%1 st %5, %6 !write
    #16 exit
)");
  int spilled = 0;
  for (int v = 0; v < 3; ++v) {
    const Explanation e = explained(f, v, limits(4, 2));
    if (e.spill.by == Spiller::None) continue;
    ++spilled;
    EXPECT_GT(e.spill.cost, 0);
  }
  EXPECT_GT(spilled, 0);
}

// Pressure fits, places do not: a pair finds no aligned place, and a vreg has to go.
constexpr std::string_view kNoPair =
    "  vreg %0 R b32 fixed R1\n  vreg %1 R b32 fixed R3\n  vreg %2 R b64\n  block b0\n    #0 %0 = ld 0 !read\n    #1 %1 = ld 1 "
    "!read\n    #2 %2 = ld 2 !read\n    #3 st %2 !write\n    #4 st %0 !write\n    #5 st %1 !write\n    #6 exit\n";

TEST(Explain, AWalkThatSpillsIsNamed) {
  const ir::Function f = program(kNoPair);
  int by_walk = 0;
  for (int v = 0; v < 3; ++v) {
    const Explanation e = explained(f, v, limits(4));
    EXPECT_TRUE(e.spill.by == Spiller::None || e.spill.by == Spiller::Walk) << name(e.spill.by);
    if (e.spill.by != Spiller::Walk) continue;
    ++by_walk;
    EXPECT_LT(e.home, 0);
    EXPECT_GT(e.spill.cost, 0);
    EXPECT_EQ(e.spill.round, 1);
  }
  EXPECT_EQ(by_walk, 1);
}

TEST(Explain, WhoGivesWayToOthersSaysToWhom) {
  const ir::Function f = program(kNoPair);
  bool is_seen = false;
  for (int v = 0; v < 3; ++v) {
    const Explanation e = explained(f, v, limits(4), {{"RegAllocSpillBitLowRegScale", "0"}, {"FatPointMovingHomes", "0"}});
    if (e.spill.by != Spiller::Eviction) continue;
    is_seen = true;
    const Step s = last_step(e);
    EXPECT_TRUE(s.kind == StepKind::ToMemory || s.kind == StepKind::Displaced) << name(s.kind);
    if (s.kind == StepKind::Displaced) {
      EXPECT_FALSE(s.by.empty());
    }
    EXPECT_GT(s.own_cost, 0);
  }
  EXPECT_TRUE(is_seen);
}

// %0 was spilled in round 1, and has a register in the end.
// %0 and %1 stand in one half, %3 and %4 in the other. Then %0 and %3 are left, and %5 has no pair unless one of them moves.
TEST(Explain, AMoveIsSaid) {
  const ir::Function f = program(R"(
    vreg %0..%1 R b32
    vreg %2 R b64
    vreg %3..%4 R b32
    vreg %5 R b64
    block b0
      #0 %0, %1 = ld 0
      #1 %2 = ld 1
      #2 st %2 !write
      #3 %3, %4 = ld 3
      #4 st %1, %4 !write
      #5 %5 = ld 5
      #6 st %5 !write
      #7 st %0, %3 !write
      #8 exit
)");
  const Explanation first = explained(f, 0, limits(4)), second = explained(f, 3, limits(4));
  EXPECT_TRUE(first.is_walked);
  ASSERT_EQ(first.moves.size() + second.moves.size(), 1u);
  const Explanation& e = first.moves.empty() ? second : first;
  EXPECT_EQ(e.spill.by, Spiller::None);
  EXPECT_EQ(e.moves[0].where, "before #5");
  EXPECT_EQ(e.moves[0].from, e.home);
  EXPECT_NE(e.moves[0].to, e.home);
}

TEST(Explain, TheLastFallbackIsNamed) {
  const Explanation e = explained(pressed(), 0, limits(2), {{"FatPointSpillRounds", "0"}, {"FatPointMovingHomes", "0"}});
  EXPECT_EQ(e.spill.by, Spiller::Fallback);
  EXPECT_FALSE(e.pinned.empty());
}

TEST(Explain, HalfWidthPredicatesStandInHalves) {
  ir::Target target = ir::default_target();
  target.predicate_halves = true;
  ir::Function f = program(
      "  vreg %0 P pred\n  vreg %1 P pred\n  block b0\n    #0 %0, %1 = setp\n    #1 cbra %0 -> b1, b2\n  block b1\n    #2 st %1 "
      "!write\n    #3 exit\n  block b2\n    #4 exit\n");
  f.predicate_halves = true;
  const Explanation e = explained(f, 1, limits(255), {}, target);
  const Step s = last_step(e);
  EXPECT_EQ(s.geometry.pair_mode, PairMode::Half);
  EXPECT_EQ(s.unit, 1);
  ASSERT_FALSE(e.places.empty());
  for (const auto& place : e.places) EXPECT_EQ(place.where, "P0.hi");
}

TEST(Explain, BadKnobsAndImpossibleLimitsAreErrors) {
  ir::AllocOptions options{.limits = limits(2), .knobs = {{"nonsense", "1"}}};
  EXPECT_EQ(explain(program(kPair), ir::default_target(), options, VRegId(0)).error().kind, ir::AllocFailure::Kind::BadKnob);
  options.knobs.clear();
  EXPECT_EQ(explain(program(kPair), ir::default_target(), options, VRegId(0)).error().kind, ir::AllocFailure::Kind::Impossible);
}

// A program of loads, sums of all widths, copies, calls and one branch, as `seed` says.
ir::Function random_program(std::uint64_t seed, int vregs) {
  Random random(seed);
  std::string text;
  std::vector<int> wide;
  for (int v = 0; v < vregs; ++v) {
    wide.push_back(random.below(4) == 0 ? 1 : 0);
    text += "  vreg %" + std::to_string(v) + " R b" + (wide.back() != 0 ? "64" : "32") + "\n";
  }
  text += "  vreg %" + std::to_string(vregs) + " P pred\n  block b0\n";
  int id = 0;
  const auto line = [&](const std::string& s) { text += "    #" + std::to_string(id++) + " " + s + "\n"; };
  const auto reg = [&](int v) { return "%" + std::to_string(v); };
  const auto some = [&] { return static_cast<int>(random.below(static_cast<std::uint32_t>(vregs))); };
  for (int v = 0; v < vregs; ++v) line(reg(v) + " = ld " + std::to_string(v) + " !read");
  line(reg(vregs) + " = setp " + reg(0));
  const auto body = [&] {
    for (int k = 0; k < 12; ++k) {
      const int d = some(), a = some(), b = some();
      if (random.below(8) == 0) line("call \"f\" clobbers R0:R3");
      else if (random.below(3) == 0 && d != a && wide[static_cast<std::size_t>(d)] == wide[static_cast<std::size_t>(a)])
        line(reg(d) + " = copy " + reg(a));
      else if (random.below(6) == 0) line("@" + reg(vregs) + " " + reg(d) + " = add " + reg(a) + ", " + reg(b));
      else line(reg(d) + " = add " + reg(a) + ", " + reg(b));
    }
  };
  body();
  line("cbra " + reg(vregs) + " -> b1, b2");
  text += "  block b1 depth 1\n";
  body();
  line("cbra " + reg(vregs) + " -> b1, b2");
  text += "  block b2\n";
  for (int v = 0; v < vregs; ++v) line("st " + reg(v) + " !write");
  line("exit");
  return program(text);
}

TEST(Explain, AgreesWithTheAllocationAndChangesNothing) {
  const auto fatpoint = make_fatpoint();
  const std::vector<std::vector<std::pair<std::string, std::string>>> settings = {{}, {{"641", "1"}}, {{"FatPointChains", "0"}}};
  std::set<StepKind> kinds;
  std::set<UnitReason> reasons;
  std::set<Spiller> spillers;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const int vregs = 6 + static_cast<int>(seed % 5);
    const ir::Function f = random_program(seed, vregs);
    const auto& knobs = settings[seed % settings.size()];
    const Knobs parsed = Knobs::parse(knobs).value();
    for (const int regs : {7, 10, 255}) {
      const ir::Limits l = limits(regs);
      const auto plain = fatpoint->allocate(f, ir::default_target(), {.limits = l, .knobs = knobs});
      ASSERT_TRUE(plain.has_value());
      Observer observer(f, VRegId(static_cast<std::uint32_t>(seed) % static_cast<std::uint32_t>(vregs)));
      const auto observed = run_driver(f, {ir::default_target(), l, parsed, {.listener = &observer}});
      ASSERT_TRUE(observed.has_value());
      EXPECT_EQ(ir::print(observed->program), ir::print(plain->program)) << "seed " << seed;
      for (int v = 0; v < vregs; ++v) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << regs << " registers, %" << v);
        const Explanation e = explained(f, v, l, knobs);
        // The operands of the emitted program are where the explanation says, and stand there without it too.
        for (const Place& p : e.places) {
          const auto inst = std::find_if(plain->program.insts.begin(), plain->program.insts.end(),
                                         [&](const ir::Inst& i) { return i.id.value == p.inst; });
          ASSERT_NE(inst, plain->program.insts.end());
          EXPECT_THAT(ir::print(plain->program, *inst), ::testing::HasSubstr(p.where));
        }
        if (e.spill.by == Spiller::Split) {
          EXPECT_GE(e.pieces, 2);
        } else {
          EXPECT_EQ(e.home < 0, e.spill.by != Spiller::None || !e.lives);
        }
        spillers.insert(e.spill.by);
        for (const SeenAttempt& a : e.attempts) {
          int home = -1;
          for (const Step& s : a.steps) {
            kinds.insert(s.kind);
            if (s.unit >= 0) home = s.unit;
            else if (s.kind == StepKind::Displaced) home = -1;
            for (int k = 0; k < static_cast<int>(s.units.size()); ++k) {
              reasons.insert(reason(s, k));
              EXPECT_EQ(reason(s, k) == UnitReason::Chosen, k == s.unit);
              const bool is_scan = (s.kind == StepKind::Alone || s.kind == StepKind::Class) && s.unit >= 0;
              if (is_scan) {
                EXPECT_NE(reason(s, k), UnitReason::NotLookedAt) << "unit " << k << " was free and not worse than " << s.unit;
              }
              if (reason(s, k) == UnitReason::Taken) {
                EXPECT_FALSE(unit(s, k).by.empty());
              }
            }
          }
          if (!a.is_given_up && !a.steps.empty()) {
            EXPECT_EQ(home, a.home) << "attempt " << a.number << " of round " << a.round;
          }
          if (a.is_emitted && a.home >= 0) {
            EXPECT_EQ(a.home, e.home);
          }
        }
      }
    }
  }
  EXPECT_THAT(kinds, ::testing::IsSupersetOf({StepKind::Alone, StepKind::Class}));
  EXPECT_THAT(reasons,
              ::testing::IsSupersetOf({UnitReason::Taken, UnitReason::Clobbered, UnitReason::HigherUnit, UnitReason::HeavierPrimary,
                                       UnitReason::Misaligned, UnitReason::AboveLimit, UnitReason::BankConflict}));
  EXPECT_THAT(spillers, ::testing::IsSupersetOf({Spiller::Guidance, Spiller::Split}));
}

}  // namespace
}  // namespace regduel::allocator
