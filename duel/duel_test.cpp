// The body of a duel against duelists that are wrong on purpose: each kind of misconduct has its finding.
#include "duel/duel.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check_macro.h"
#include "duel/allocators.h"
#include "generate/generator.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

using Answer = std::expected<ir::Allocation, ir::AllocFailure>;

template <class Body>
class Duelist : public ir::Allocator {
 public:
  explicit Duelist(Body body) : body_(body) {}
  std::string_view name() const override { return "rogue"; }
  std::span<const ir::KnobInfo> knobs() const override {
    static const ir::KnobInfo knob = {.name = "known", .type = "int", .default_value = "0", .samples = {"1", "2"}};
    return {&knob, 1};
  }
  Answer allocate(const ir::Function& f, const ir::Target&, const ir::AllocOptions& o) const override { return body_(f, o); }

 private:
  Body body_;
};

template <class Body>
Bout fight(Body body, const ir::Limits& limits = ir::Limits::of(ir::default_target()), const Knobs& knobs = {}) {
  const Duelist<Body> rogue(body);
  const ir::Allocator* duelists[] = {&rogue};
  const ir::Function f = generate::generate({.profile = generate::Profile::Loops, .seed = 1, .size = 60});
  Duel d = duel({f, ir::default_target()}, {.duelists = duelists, .limits = limits, .knobs = knobs});
  EXPECT_EQ(d.bouts.size(), 1u);
  EXPECT_EQ(d.verdict(), d.bouts.at(0).verdict());
  return std::move(d.bouts.at(0));
}

TEST(Duel, AnInternalErrorIsAFinding) {
  const Bout b = fight([](const ir::Function&, const ir::AllocOptions&) -> Answer { throw InternalError("broken"); });
  EXPECT_EQ(b.verdict(), oracles::Verdict::Fail);
  EXPECT_THAT(b.signatures(), testing::ElementsAre("harness/internal-error"));
}

TEST(Duel, AnInternalErrorIsToldFromOthersByItsInvariant) {
  const Bout b = fight([](const ir::Function&, const ir::AllocOptions& o) -> Answer {
    REGDUEL_CHECK(o.limits.of(ir::RegFile::R) < 0, "5 of 7: no");
    return std::unexpected(ir::AllocFailure{});
  });
  EXPECT_EQ(b.findings().at(0).category, "internal-error");
  EXPECT_THAT(b.signatures(), testing::ElementsAre("harness/internal-error@duel_test.cpp: o.limits.of(ir::RegFile::R) < 0"));
}

TEST(Duel, AProgramThatIsNotAllocatedIsAFinding) {
  const Bout b = fight([](const ir::Function& f, const ir::AllocOptions&) -> Answer { return ir::Allocation{f, {}}; });
  EXPECT_THAT(b.signatures(), testing::ElementsAre("harness/ill-formed"));
}

TEST(Duel, AnAllocatedProgramWithVRegsIsAFinding) {
  const Bout b = fight([](const ir::Function& f, const ir::AllocOptions&) -> Answer {
    ir::Allocation a{f, {}};
    a.program.phase = ir::Phase::Allocated;
    return a;
  });
  EXPECT_THAT(b.signatures(), testing::Each(testing::StartsWith("structure/unallocated-operand@")));
  EXPECT_FALSE(b.findings().empty());
}

TEST(Duel, GivingUpWithoutNeedIsAFinding) {
  const Bout b = fight([](const ir::Function&, const ir::AllocOptions&) -> Answer {
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Impossible, "no"});
  });
  EXPECT_EQ(b.verdict(), oracles::Verdict::Fail);
  EXPECT_THAT(b.signatures(), testing::ElementsAre(testing::StartsWith("completeness/")));
}

TEST(Duel, GivingUpForAReasonIsSkipped) {
  ir::Limits none = ir::Limits::of(ir::default_target(), 1);
  const Bout b = fight(
      [](const ir::Function&, const ir::AllocOptions&) -> Answer {
        return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Impossible, "no"});
      },
      none);
  EXPECT_EQ(b.verdict(), oracles::Verdict::Skipped);
  EXPECT_EQ(b.reason(), "impossible");
}

TEST(Duel, OnlyKnownKnobsArePassedOn) {
  Knobs seen;
  fight(
      [&](const ir::Function& f, const ir::AllocOptions& o) -> Answer {
        seen = o.knobs;
        return ir::Allocation{f, {}};
      },
      ir::Limits::of(ir::default_target()), {{"known", "1"}, {"unknown", "2"}});
  EXPECT_EQ(seen, (Knobs{{"known", "1"}}));
}

// A compiler with a program of its own, of which `after` is its allocation.
ir::OwnRun own_run(const std::string& after) {
  const std::string head = "rir 1\nfunc @own kernel target own threads 32";
  const std::string body = "\n  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n";
  struct Words final : ir::OwnWords {
    std::string of(const std::string& message, ir::InstId, ir::InstId) const override { return "in its words: " + message; }
  };
  return {.target = ir::parse_target(R"({"name": "own", "sm": 90, "units": {"R": 64}})").value(),
          .before = ir::parse(head + body + "    #0 %0 = a\n    #1 %1 = b\n    #2 c %0, %1\n    #3 exit\n").value().functions[0],
          .after = ir::parse(head + " allocated" + body + after).value().functions[0],
          .registers = 7,
          .words = std::make_shared<Words>()};
}
const std::string kRight = "    #0 R1 = a\n    #1 R2 = b\n    #2 c R1, R2\n    #3 exit\n";
const std::string kWrong = "    #0 R1 = a\n    #1 R1 = b\n    #2 c R1, R1\n    #3 exit\n";

Bout fight_own(std::vector<std::string> runs) {
  return fight([&](const ir::Function&, const ir::AllocOptions&) -> Answer {
    ir::Allocation a{{}, {}};
    for (const std::string& after : runs) a.runs.push_back(own_run(after));
    return a;
  });
}

TEST(Duel, AFormOfItsOwnIsJudgedByItself) {
  const Bout right = fight_own({kRight, kRight});
  EXPECT_EQ(right.verdict(), oracles::Verdict::Pass);
  EXPECT_TRUE(right.is_own_form);
  EXPECT_EQ(right.measures.registers[ir::index(ir::RegFile::R)], 14) << "of both runs";
  EXPECT_FALSE(right.fewest_refill_bytes.has_value()) << "the bound is of another program";
}

TEST(Duel, TheWorstRunOfItsOwnFormIsShownInItsWords) {
  for (const auto& runs : {std::vector{kWrong, kRight}, std::vector{kRight, kWrong}}) {
    const Bout wrong = fight_own(runs);
    EXPECT_EQ(wrong.verdict(), oracles::Verdict::Fail);
    EXPECT_THAT(ir::print(*wrong.program), testing::HasSubstr("c R1, R1"));
    ASSERT_FALSE(wrong.findings().empty());
    for (const oracles::Finding& f : wrong.findings()) EXPECT_THAT(f.message, testing::StartsWith("in its words: "));
  }
}

TEST(Duel, TheMetamorphicJudgeHasNoWordOnAFormOfItsOwn) {
  const auto body = [](const ir::Function&, const ir::AllocOptions&) -> Answer {
    ir::Allocation a{{}, {}};
    a.runs.push_back(own_run(kRight));
    return a;
  };
  const Duelist<decltype(body)> rogue(body);
  const ir::Allocator* duelists[] = {&rogue};
  const ir::Function f = generate::generate({.profile = generate::Profile::Loops, .seed = 1, .size = 60});
  const Duel d =
      duel({f, ir::default_target()}, {.duelists = duelists, .limits = ir::Limits::of(ir::default_target()), .metamorphic = true});
  EXPECT_EQ(d.metamorphic.at(0).metamorphic.result.verdict, oracles::Verdict::Skipped);
  EXPECT_EQ(d.verdict(), oracles::Verdict::Pass);
}

TEST(Duel, TheDuelistsPass) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const ir::Function f = generate::generate({.profile = generate::Profile::Mix, .seed = seed, .size = 80});
    const Duel d =
        duel({f, ir::default_target()}, {.duelists = all_duelists(), .limits = ir::Limits::of(ir::default_target(), 24)});
    ASSERT_EQ(d.bouts.size(), allocator_names().size());
    for (const Bout& b : d.bouts) {
      EXPECT_EQ(b.verdict(), oracles::Verdict::Pass) << b.allocator << " " << seed;
      EXPECT_TRUE(b.program.has_value());
      EXPECT_LE(b.measures.registers[ir::index(ir::RegFile::R)], 24);
    }
  }
}

// All that a duel says, as text.
std::string told(const Duel& d) {
  std::string out;
  for (const Bout& b : d.bouts) {
    out += fmt::format("{} {} {}\n", b.allocator, oracles::name(b.verdict()), b.reason());
    for (const oracles::JudgeResult& r : b.report.results)
      out += fmt::format("{} {} {}\n", r.judge, oracles::name(r.verdict), r.reason);
    for (const oracles::Finding& f : b.findings()) out += f.message + "\n";
    if (b.program)
      out += fmt::format("{} {} {}\n{}", b.measures.spill_store_bytes, b.measures.spill_load_bytes, b.measures.max_live[0],
                         ir::print(*b.program));
  }
  return out;
}

// Whatever is kept from one duel to the next (tables of a thread, what the judges made of a program), a duel says what it says when
// it is the first one: here, the first one of its thread.
TEST(Duel, SaysTheSameAfterOtherDuels) {
  constexpr std::uint64_t kInputs = 10;
  const std::vector<int> registers = {16, 24, 255};
  const auto limits_of = [&](const Case& input, int r) {
    ir::Limits limits = input.limits;
    limits.units[0] = std::min(r, input.target->units[0]);
    return limits;
  };
  std::vector<Case> inputs;
  std::vector<std::vector<std::string>> first(kInputs);
  for (std::uint64_t seed = 0; seed < kInputs; ++seed) {
    inputs.push_back(derive_case(seed, 20 + 30 * static_cast<int>(seed % 4)));
    for (const int r : registers)
      std::jthread([&] {
        const Case& i = inputs.back();
        first[seed].push_back(
            told(duel({i.program, *i.target}, {.duelists = all_duelists(), .limits = limits_of(i, r), .knobs = i.knobs})));
      }).join();
  }
  for (const bool backwards : {false, true})
    for (std::uint64_t k = 0; k < kInputs; ++k) {
      const std::uint64_t seed = backwards ? kInputs - 1 - k : k;
      const Case& i = inputs[seed];
      const oracles::Before before(i.program, *i.target);
      for (std::size_t m = 0; m < registers.size(); ++m)
        ASSERT_EQ(told(duel(before, {.duelists = all_duelists(), .limits = limits_of(i, registers[m]), .knobs = i.knobs})),
                  first[seed][m])
            << "input " << seed << " at " << registers[m];
    }
}

TEST(Allocators, AreFoundByName) {
  for (const std::string& name : allocator_names()) {
    ASSERT_NE(find_allocator(name), nullptr);
    EXPECT_EQ(find_allocator(name)->name(), name);
  }
  EXPECT_EQ(find_allocator("nobody"), nullptr);
  EXPECT_EQ(all_duelists().size(), allocator_names().size());
}

TEST(Knobs, TheOrderOfASeriesIsAlwaysDrawnAndIsOne) {
  const std::array<const ir::Allocator*, 2> duelists = {find_allocator("series+fatpoint"), find_allocator("series+briggs")};
  std::map<std::string, int> orders;
  int with_others = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Knobs knobs = draw_knobs(duelists, seed);
    ASSERT_FALSE(knobs.empty());
    EXPECT_EQ(knobs.front().first, "series-order");
    EXPECT_EQ(std::count_if(knobs.begin(), knobs.end(), [](const auto& k) { return k.first == "series-order"; }), 1);
    ++orders[knobs.front().second];
    with_others += knobs.size() > 1;
  }
  EXPECT_GT(orders.size(), 30u);
  EXPECT_NEAR(with_others, 200, 60);
}

TEST(Knobs, EverySampleIsLegalAndSomeAreDrawn) {
  const auto m = ir::parse(
      "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 use %0\n    #2 exit\n");
  ASSERT_TRUE(m.has_value());
  for (const ir::Allocator* allocator : all_duelists())
    for (const ir::KnobInfo& knob : allocator->knobs()) {
      EXPECT_NE(knob.samples.size(), 1u) << knob.name;
      for (const std::string& value : knob.samples) {
        ir::AllocOptions options;
        options.limits = ir::Limits::of(ir::default_target());
        options.knobs = {{knob.name, value}};
        EXPECT_TRUE(allocator->allocate(m->functions[0], ir::default_target(), options).has_value()) << knob.name << '=' << value;
      }
    }
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Knobs knobs = draw_knobs(all_duelists(), seed);
    EXPECT_EQ(knobs, draw_knobs(all_duelists(), seed));
    drawn += knobs.empty() ? 0 : 1;
  }
  EXPECT_GT(drawn, 30u);
  EXPECT_LT(drawn, 70u);
}

}  // namespace
}  // namespace regduel::duel
