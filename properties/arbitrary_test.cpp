#include "properties/arbitrary.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/case_file.h"
#include "fuzz/triage/reduce.h"
#include "generate/program_facts.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::properties {
namespace {

using testing::HasSubstr;

constexpr int kSize = rc::kNominalSize;

duel::Case drawn(const rc::Gen<duel::Case>& gen, std::uint64_t seed, int size = kSize) {
  return gen(rc::Random(seed), size).value();
}
std::string shown(const duel::Case& input) {
  std::ostringstream out;
  showValue(input, out);
  return out.str();
}

// The case to which RapidCheck shrinks a failing one, and how many cases it asks about on the way.
template <class T, class Fails>
std::pair<T, int> shrunk(rc::Shrinkable<T> from, Fails fails) {
  int tries = 0;
  for (bool found = true; found;) {
    found = false;
    auto shrinks = from.shrinks();
    while (auto next = shrinks.next()) {
      ++tries;
      if (!fails(next->value())) continue;
      from = *next;
      found = true;
      break;
    }
  }
  return {from.value(), tries};
}

bool has_loop(const ir::Function& f) {
  const ir::Cfg cfg(f);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const ir::BlockId t : cfg.successors(b))
      if (cfg.rpo_index(t) <= cfg.rpo_index(b)) return true;
  return false;
}

// Code that is not reached has no effect, and an edge to it can't be cut without it.
template <class Is>
bool any_operand(const ir::Function& f, Is is) {
  const ir::Cfg cfg(f);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const ir::Inst& i : f.insts_of(b))
      if (std::ranges::any_of(f.operands_of(i), is)) return true;
  return false;
}

// One question a row, and the program that is left when nothing else matters.
struct Question {
  const char* name;
  bool (*fails)(const ir::Function&);
  const char* minimum;
};
constexpr std::array kQuestions = {
    Question{"anything", [](const ir::Function&) { return true; },
             "  block b0\n"
             "    #0 exit\n"},
    Question{"an early-clobber def",
             [](const ir::Function& f) { return any_operand(f, [](const ir::Operand& o) { return o.is_early_clobber(); }); },
             "  vreg %0 R b32\n"
             "  block b0\n"
             "    #0 %0{early} = op\n"
             "    #1 exit\n"},
    Question{"a guard",
             [](const ir::Function& f) {
               return any_operand(
                   f, [&](const ir::Operand& o) { return o.role == ir::Role::Guard && f.vreg(o.vreg()).cls == ir::RegClass::P; });
             },
             "  vreg %0 P pred\n"
             "  block b0\n"
             "    #0 %0 = op\n"
             "    #1 @%0 op\n"
             "    #2 exit\n"},
    Question{"a loop", has_loop,
             "  block b0\n"
             "    #0 bra -> b0\n"},
};

TEST(Arbitrary, ShrinksToWhatMatters) {
  const auto inputs = arbitrary_case();
  const auto programs = arbitrary_program(*ir::find_target("sm_80"));
  for (const Question& q : kQuestions) {
    SCOPED_TRACE(q.name);
    int asked = 0;
    for (std::uint64_t seed = 0; seed < 40 && asked < 4; ++seed) {
      const rc::Random random(seed);
      const auto input = inputs(random, kSize);
      const auto program = programs(random, kSize);
      if (!q.fails(input.value().program) || !q.fails(program.value())) continue;
      ++asked;
      const auto [small, tries] = shrunk(input, [&](const duel::Case& c) { return q.fails(c.program); });
      EXPECT_EQ(ir::print(small.program), std::string("func @f kernel target sm_90 threads 256\n") + q.minimum);
      EXPECT_LT(tries, 1500);
      EXPECT_TRUE(small.knobs.empty());
      EXPECT_EQ(ir::print(shrunk(program, q.fails).first), std::string("func @f kernel target sm_80 threads 256\n") + q.minimum);
    }
    EXPECT_EQ(asked, 4);
  }
}

TEST(Arbitrary, LimitsShrinkWithTheProgram) {
  // More values than registers, and not one of them is needed otherwise.
  const auto fails = [](const duel::Case& c) {
    return generate::max_live(c.program, ir::RegFile::R) > c.limits.of(ir::RegFile::R);
  };
  int asked = 0;
  for (std::uint64_t seed = 0; asked < 3; ++seed) {
    const auto input = arbitrary_case({.profiles = {generate::Profile::Pressure}})(rc::Random(seed), kSize);
    if (!fails(input.value())) continue;
    ++asked;
    const duel::Case small = shrunk(input, fails).first;
    EXPECT_LE(small.program.insts.size(), 5u) << shown(small);
    EXPECT_LE(small.limits.of(ir::RegFile::R), 2) << shown(small);
    EXPECT_EQ(small.limits.of(ir::RegFile::P), small.target->units[ir::index(ir::RegFile::P)])
        << "what does not matter is as usual";
  }
}

TEST(Arbitrary, EachShrinkIsWellFormedSmallerAndDefined) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto from = arbitrary_case()(rc::Random(seed), 40);
    const duel::Case input = from.value();
    const bool is_defined = generate::undefined_reads(input.program).empty();
    auto shrinks = from.shrinks();
    int number = 0;
    while (const auto next = shrinks.next()) {
      ++number;
      const duel::Case c = next->value();
      ASSERT_THAT(ir::check(c.program, *c.target), testing::IsEmpty()) << shown(c);
      ASSERT_LE(c.program.insts.size(), input.program.insts.size());
      ASSERT_NE(shown(c), shown(input));
      if (is_defined) {
        ASSERT_THAT(generate::undefined_reads(c.program), testing::IsEmpty()) << shown(c);
      }
      for (const ir::RegFile file : ir::kAllFiles) {
        ASSERT_LE(c.limits.of(file), c.target->units[ir::index(file)]);
        ASSERT_EQ(c.limits.of(file) > 0, c.target->has(file));
      }
    }
    EXPECT_GT(number, static_cast<int>(input.program.insts.size())) << shown(input);
  }
}

// The first candidates of a case are the reducer's first; those of its n-th candidate begin with the n-th step and reach all
// others.
TEST(Arbitrary, ShrinksGoOnWhereTheyHelpedAndMissNothing) {
  const duel::Case input = drawn(arbitrary_case(), 3, 30);
  const auto all_of = [](const rc::Shrinkable<duel::Case>& from) {
    std::vector<std::string> all;
    auto shrinks = from.shrinks();
    while (const auto next = shrinks.next()) all.push_back(shown(next->value()));
    return all;
  };
  std::vector<std::string> offered;
  fuzz::each_candidate(input, 0, [&](duel::Case c, std::size_t) {
    if (fuzz::size_of(c) < fuzz::size_of(input)) offered.push_back(shown(c));
    return offered.size() < 5;
  });
  const std::vector<std::string> root = all_of(shrinkable(input));
  ASSERT_GT(root.size(), 20u);
  EXPECT_THAT(std::vector(root.begin(), root.begin() + 3), testing::IsSubsetOf(offered));

  auto shrinks = shrinkable(input).shrinks();
  for (int k = 0; k < 19; ++k) std::ignore = shrinks.next();
  const auto later = *shrinks.next();
  std::vector<std::string> rotated = all_of(later), plain = all_of(shrinkable(later.value()));
  EXPECT_NE(rotated.front(), plain.front());
  std::ranges::sort(rotated);
  std::ranges::sort(plain);
  EXPECT_EQ(rotated, plain);
}

TEST(Arbitrary, CandidatesAreNumberedTheSameWhereverOneBegins) {
  const duel::Case input = drawn(arbitrary_case(), 5, 30);
  std::vector<std::pair<std::size_t, std::string>> all, tail;
  fuzz::each_candidate(input, 0, [&](duel::Case c, std::size_t step) { return all.emplace_back(step, shown(c)), true; });
  ASSERT_GT(all.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &std::pair<std::size_t, std::string>::first));
  const std::size_t half = all.size() / 2;
  fuzz::each_candidate(input, all[half].first,
                       [&](duel::Case c, std::size_t step) { return tail.emplace_back(step, shown(c)), true; });
  EXPECT_EQ(tail, std::vector(all.begin() + static_cast<std::ptrdiff_t>(half), all.end()));
  int taken = 0;
  fuzz::each_candidate(input, 0, [&](duel::Case, std::size_t) { return ++taken < 3; });
  EXPECT_EQ(taken, 3);
}

TEST(Arbitrary, SeedsRepeatAndSizesBound) {
  const auto inputs = arbitrary_case();
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(shown(drawn(inputs, seed)), shown(drawn(inputs, seed)));
    different += shown(drawn(inputs, seed)) != shown(drawn(inputs, seed + 1)) ? 1 : 0;
    EXPECT_LE(drawn(arbitrary_case({.max_size = 1, .max_mutations = 0}), seed).program.insts.size(), 40u);
  }
  EXPECT_EQ(different, 20);
}

TEST(Arbitrary, DrawsWhatTheShapeSays) {
  const ir::Target& target = *ir::find_target("sm_75");
  std::size_t targets_kept = 0, with_knobs = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const duel::Case one =
        drawn(arbitrary_case({.profiles = {generate::Profile::Straight}, .target = &target, .max_mutations = 0}), seed);
    EXPECT_EQ(one.program.blocks.size(), 1u);
    targets_kept += one.target == &target && one.program.target == "sm_75" ? 1 : 0;
    with_knobs += one.knobs.empty() ? 0 : 1;
    EXPECT_TRUE(drawn(arbitrary_case({.max_mutations = 0, .knobs_of = {}}), seed).knobs.empty());
    EXPECT_EQ(drawn(arbitrary_case({.target = &target}), seed).target, &target);
  }
  EXPECT_EQ(targets_kept, 30u);
  EXPECT_GT(with_knobs, 5u);
}

TEST(Arbitrary, ATargetOfOnesOwnIsKeptWhileShrinking) {
  auto toy = ir::parse_target(R"({"name": "toy", "units": {"R": 48, "P": 4, "UR": 16}})");
  ASSERT_TRUE(toy.has_value());
  const auto [small, tries] =
      shrunk(arbitrary_case({.target = &*toy})(rc::Random(1), kSize), [](const duel::Case&) { return true; });
  EXPECT_EQ(small.target, &*toy);
  EXPECT_EQ(ir::print(small.program), "func @f kernel target toy threads 256\n  block b0\n    #0 exit\n");
  EXPECT_LT(tries, 200);
}

TEST(Arbitrary, IsShownAsACaseThatCanBeReplayed) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const duel::Case input = drawn(arbitrary_case(), seed);
    const auto again = duel::parse_case(shown(input));
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(ir::print(again->program), ir::print(input.program));
    EXPECT_EQ(again->knobs, input.knobs);
    EXPECT_EQ(again->target, input.target);
    EXPECT_EQ(again->limits.units, input.limits.units);
  }
  const ir::Function program = rc::Arbitrary<ir::Function>::arbitrary()(rc::Random(1), kSize).value();
  std::ostringstream out;
  rc::show(program, out);
  EXPECT_THAT(out.str(), HasSubstr("rir 1\nfunc @"));
  EXPECT_TRUE(ir::parse(out.str()).has_value());
}

}  // namespace
}  // namespace regduel::properties
