#include "fuzz/triage/bisect.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "generate/standard_mix.h"
#include "ir/text/text.h"
#include "oracles/judge.h"

namespace regduel::fuzz {
namespace {

duel::Case case_of(std::string_view text) {
  auto c = duel::parse_case(text);
  if (!c) {
    ADD_FAILURE() << to_string(c.error());
    return {};
  }
  return std::move(*c);
}

std::string allocated(const duel::Case& input, const ir::Allocator& allocator, ir::Fuel* fuel) {
  ir::AllocOptions options;
  options.limits = input.limits;
  options.knobs = duel::known_to(allocator, input.knobs);
  options.fuel = fuel;
  const auto allocation = allocator.allocate(input.program, *input.target, options);
  return allocation ? ir::print(allocation->program) : allocation.error().message;
}

TEST(Fuel, IsSpentUpToItsLimitAndSaysWhatItRefusedFirst) {
  ir::Fuel fuel{.limit = 2};
  EXPECT_TRUE(fuel.spend("a"));
  EXPECT_TRUE(ir::may(&fuel, "b"));
  EXPECT_FALSE(fuel.spend("c"));
  EXPECT_FALSE(ir::may(&fuel, "d"));
  EXPECT_EQ(fuel.spent, 2);
  EXPECT_EQ(fuel.refused, "c");
  EXPECT_TRUE(ir::may(nullptr, "e"));
  std::set<std::string_view> taken;
  ir::Fuel without{.without = "b", .taken = &taken};
  EXPECT_TRUE(without.spend("c"));
  EXPECT_FALSE(without.spend("b"));
  EXPECT_TRUE(without.spend("a"));
  EXPECT_TRUE(without.spend("a"));
  EXPECT_EQ(without.spent, 3);
  EXPECT_EQ(without.refused, "b");
  EXPECT_THAT(taken, testing::ElementsAre("a", "c"));
}

// Whatever the limit: the result is right, and the same each time; with enough, it is that without fuel.
TEST(Fuel, AnyLimitGivesARightAllocation) {
  constexpr std::uint64_t kCases = 60;
  std::map<std::string, int> differ, differ_without;
  for (std::uint64_t k = 0; k < kCases; ++k) {
    generate::StandardCase c = generate::standard_mix(2026, k);
    if (c.program.insts.size() > 500) continue;
    duel::Case input{ir::find_target(c.target), c.limits, duel::draw_knobs(duel::all_duelists(), c.knob_seed),
                     std::move(c.program)};
    for (const ir::Allocator* allocator : duel::all_duelists()) {
      const std::array one = {allocator};
      const std::string plain = allocated(input, *allocator, nullptr);
      std::set<std::string_view> taken;
      ir::Fuel enough{.taken = &taken};
      EXPECT_EQ(allocated(input, *allocator, &enough), plain) << "case " << k;
      for (const std::string_view kind : taken) {
        ir::Fuel fuel{.without = kind};
        const duel::Duel d = duel::duel(input, {.duelists = one, .fuel = &fuel});
        EXPECT_NE(d.verdict(), oracles::Verdict::Fail) << "case " << k << ", without " << kind << "\n" << describe(input, d);
        differ_without[std::string(kind)] += !d.bouts[0].program || ir::print(*d.bouts[0].program) != plain ? 1 : 0;
      }
      Random random(hash_combine(k, 7));
      std::set<std::int64_t> limits = {0, 1, enough.spent / 2, enough.spent - 1, enough.spent};
      for (int n = 0; n < 4; ++n) limits.insert(random.below(static_cast<std::uint32_t>(enough.spent) + 1));
      for (const std::int64_t limit : limits) {
        if (limit < 0) continue;
        ir::Fuel fuel{.limit = limit}, again = fuel;
        const duel::Duel d = duel::duel(input, {.duelists = one, .fuel = &fuel});
        EXPECT_NE(d.verdict(), oracles::Verdict::Fail) << "case " << k << ", fuel " << limit << "\n" << describe(input, d);
        EXPECT_LE(fuel.spent, limit);
        const std::string text = allocated(input, *allocator, &again);
        if (d.bouts[0].program) {
          EXPECT_EQ(ir::print(*d.bouts[0].program), text) << "case " << k << ", fuel " << limit;
        }
        if (limit == enough.spent) {
          EXPECT_EQ(text, plain) << "case " << k;
        }
        differ[std::string(allocator->name())] += text != plain ? 1 : 0;
      }
    }
  }
  for (const auto& [name, count] : differ) EXPECT_GT(count, 50) << name << ": fuel hardly makes a difference";
  const auto matter = std::ranges::count_if(differ_without, [](const auto& kind) { return kind.second > 0; });
  EXPECT_GT(matter, 20) << "of " << differ_without.size() << " kinds of decisions";
}

TEST(NeededDecisions, AreThoseWithoutWhichItDoesNotFail) {
  const auto needed_where = [](bool ever) {
    return needed_decisions([ever](ir::Fuel& fuel) {
      bool taken[3] = {};
      for (int k = 0; k < 3; ++k) taken[k] = fuel.spend(std::array{"pack", "evict", "share"}[static_cast<std::size_t>(k)]);
      return ever && taken[0] && taken[2];
    });
  };
  EXPECT_THAT(needed_where(true), testing::ElementsAre("pack", "share"));
  EXPECT_THAT(needed_where(false), testing::IsEmpty());
}

TEST(FirstBadDecision, IsFoundBetweenTwoNeighbours) {
  // A made-up allocator that takes 1,000 decisions of two kinds in turn.
  int questions = 0;
  const auto bad_from = [&](std::int64_t first) {
    return first_bad_decision([&questions, first](ir::Fuel& fuel) {
      ++questions;
      for (int k = 0; k < 1000; ++k) static_cast<void>(fuel.spend(k % 2 == 0 ? "even" : "odd"));
      return fuel.spent >= first;
    });
  };
  for (const std::int64_t first : {1, 2, 3, 4, 7, 8, 9, 500, 999, 1000}) {
    questions = 0;
    const BadDecision found = bad_from(first);
    EXPECT_EQ(found.number, first);
    EXPECT_EQ(found.kind, first % 2 == 1 ? "even" : "odd");  // decision 1 is the first of the even ones
    EXPECT_LE(questions, 24) << first;
  }
  EXPECT_EQ(bad_from(0).number, 0);
  EXPECT_EQ(bad_from(0).kind, "");
}

TEST(FirstBadDecision, IsNoneWhereFuelMakesNoDifference) {
  int calls = 0;
  const BadDecision found = first_bad_decision([&calls](ir::Fuel&) { return ++calls > 1'000'000; });
  EXPECT_EQ(found.number, 0);
  EXPECT_EQ(found.kind, "");
  EXPECT_LT(calls, 64);
}

// Of what an allocation shows, which decision made it: the kinds in place of a failure.
struct Effect {
  const char* allocator;
  const char* program;
  bool (*shows)(const ir::Function&);
  const char* kind;
};

bool has_no_copy(const ir::Function& f) {
  return std::none_of(f.insts.begin(), f.insts.end(), [](const ir::Inst& i) { return i.is_copy() && !i.is_deleted(); });
}
template <ir::Op kOp>
bool has(const ir::Function& f) {
  return std::any_of(f.insts.begin(), f.insts.end(), [](const ir::Inst& i) { return i.op == kOp; });
}
bool has_no_memory(const ir::Function& f) { return !has<ir::Op::Spill>(f) && !has<ir::Op::Refill>(f); }
bool has_no_edge_block(const ir::Function& f) {
  return std::none_of(f.blocks.begin(), f.blocks.end(), [](const ir::Block& b) { return b.is_edge_block(); });
}

constexpr const char* kOneCopy = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %1 = copy %0
    #2 st %1, %0 !write
    #3 exit
)";
constexpr const char* kRemat = R"(// limit: R=2
rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b64
  block b0
    #0 %0 = const 5 !remat
    #1 %1 = ld 1 !read
    #2 st %1 !write
    #3 st %0 !write
    #4 exit
)";
constexpr const char* kPhi = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  block b0
    #0 %0 = ld 0 !read
    #1 %3 = test %0
    #2 cbra %3 -> b1, b2
  block b1
    #3 %1 = ld 1 !read
    #4 bra -> b3
  block b2
    #5 bra -> b3
  block b3
    #6 %2 = phi b1: %1, b2: %0
    #7 st %2, %0 !write
    #8 exit
)";

// %0 ends at the copy.
constexpr const char* kMove = R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %1 = copy %0
    #2 st %1 !write
    #3 exit
)";

TEST(FirstBadDecision, HasTheKindThatMadeTheEffect) {
  const Effect effects[] = {
      {"fatpoint", kOneCopy, has_no_memory, "keep-in-register"},
      {"briggs", kOneCopy, has_no_memory, "keep-in-register"},
      {"fatpoint", kOneCopy, has_no_copy, "merge-copy"},
      {"fatpoint", kMove, has_no_copy, "drop-identity-copy"},
      {"fatpoint", kRemat, has<ir::Op::Remat>, "rematerialise"},
      {"briggs", kRemat, has<ir::Op::Remat>, "spill-round"},  // the round that is lowered under what the one before decided
      {"fatpoint", kPhi, has_no_edge_block, "copies-at-tail"},
      {"briggs", kPhi, has_no_edge_block, "copies-at-tail"},
  };
  for (const Effect& e : effects) {
    const duel::Case input = case_of(e.program);
    const std::array one = {duel::find_allocator(e.allocator)};
    const BadDecision found = first_bad_decision([&](ir::Fuel& fuel) {
      const duel::Duel d = duel::duel(input, {.duelists = one, .fuel = &fuel});
      EXPECT_EQ(d.verdict(), oracles::Verdict::Pass);
      return d.bouts[0].program && e.shows(*d.bouts[0].program);
    });
    EXPECT_EQ(found.kind, e.kind) << e.allocator << "\n" << e.program;
    EXPECT_GT(found.number, 0);
  }
}

}  // namespace
}  // namespace regduel::fuzz
