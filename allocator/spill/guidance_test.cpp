// The points at which guidance spills, by the knobs of the budget model; the limit of the slot pool; and the victims of each file.

#include "allocator/spill/guidance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "allocator/phases/progress.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

// `n` values of `bits` bits that live at the same time, with up to three uses each, so that it matters which are spilled.
ir::Function many(int n, int bits = 32, std::string_view cls = "R") {
  std::string text;
  for (int v = 0; v < n; ++v) text += fmt::format("vreg %{} {} b{}\n", v, cls, bits);
  text += "block b0\n";
  int id = 0;
  for (int v = 0; v < n; ++v) text += fmt::format("#{} %{} = ld {}\n", id++, v, v);
  for (int use = 0; use < 3; ++use)
    for (int v = 0; v < n; ++v)
      if (v % 3 >= use) text += fmt::format("#{} st %{} !write\n", id++, v);
  return testing::program(text + fmt::format("#{} exit\n", id));
}

struct Outcome {
  std::string program;
  int guided = 0;  // vregs that guidance named
  bool evicted = false;
};
//   limit   of the files R and UR
Outcome outcome(const ir::Function& f, int limit, Settings settings = {}) {
  settings.emplace_back("FatPointMovingHomes", "0");
  ir::Limits limits = testing::limits(limit);
  limits.units[ir::index(ir::RegFile::UR)] = limit;
  testing::Lines trace;
  Outcome o{.program = ir::print(testing::allocate(f, limits, std::move(settings), &trace).program)};
  for (const std::string& line : trace.lines) {
    if (const auto at = line.find("guidance spills "); at != std::string::npos) o.guided += std::stoi(line.substr(at + 16));
    o.evicted = o.evicted || line.starts_with("  spills %");
  }
  return o;
}
// Guidance names vregs with the first settings, none with the second; eviction has to do it then, and the allocation is
// another.
void expect_silenced(const ir::Function& f, int limit, const Settings& settings, const std::pair<std::string, std::string>& knob) {
  const Outcome a = outcome(f, limit, settings);
  Settings with = settings;
  with.push_back(knob);
  const Outcome b = outcome(f, limit, with);
  EXPECT_GT(a.guided, 0);
  EXPECT_EQ(b.guided, 0);
  EXPECT_TRUE(b.evicted);
  EXPECT_NE(a.program, b.program);
}

TEST(SpillGuidance, Knob664RaisesTheLowerBound) { expect_silenced(many(9), 8, {}, {"664", "3"}); }

TEST(SpillGuidance, Knob661IsTheUpperBound) { expect_silenced(many(9), 8, {{"665", "3"}}, {"661", "3"}); }

TEST(SpillGuidance, Knob665IsWhereTheSlopeBegins) { expect_silenced(many(9), 8, {{"661", "3"}}, {"665", "3"}); }

TEST(SpillGuidance, Knob663MovesTheSlopeToSmallerCounts) { expect_silenced(many(9), 8, {{"661", "1000"}}, {"663", "4"}); }

TEST(SpillGuidance, Knob660EndsTheSecondTier) {
  // At level 10 the tiers end at 16 registers, unless these knobs reach further. The level lowers the limit of the general file
  // alone, so that the budget of the uniform one lies beyond.
  const Settings settings = {{"RegisterUsageLevel", "10"}, {"661", "3"}, {"663", "8"}};
  expect_silenced(many(21, 32, "UR"), 20, settings, {"660", "8"});
}

TEST(SpillGuidance, TheLevelEndsTheThirdTier) {
  const Settings settings = {{"660", "8"}, {"661", "3"}, {"663", "8"}};
  expect_silenced(many(21, 32, "UR"), 20, settings, {"RegisterUsageLevel", "10"});
}

TEST(SpillGuidance, PointsFarOverBudgetStayItsBusiness) {
  EXPECT_GT(outcome(many(40), 8, {{"664", "3"}}).guided, 0);
  EXPECT_GT(outcome(many(9), 8, {{"664", "1.2"}}).guided, 0);
  EXPECT_EQ(outcome(many(9), 8, {{"664", "1.3"}}).guided, 0);
}

TEST(SpillGuidance, PairsCountHalf) {
  EXPECT_GT(outcome(many(9), 8, {{"664", "1"}}).guided, 0);
  EXPECT_GT(outcome(many(5, 64), 8).guided, 0);
  EXPECT_EQ(outcome(many(5, 64), 8, {{"664", "1"}}).guided, 0);  // 2 + 5 <= 9
}

// With the defaults, each point over budget counts: all the knobs that could say otherwise, at values that say the same, change
// nothing.
TEST(SpillGuidance, DefaultsLeaveNothingToEviction) {
  for (const int n : {9, 12, 40})
    for (const int bits : {32, 64}) {
      const Outcome plain = outcome(many(n, bits), 8);
      EXPECT_GT(plain.guided, 0);
      EXPECT_EQ(plain.program, outcome(many(n, bits), 8, {{"660", "160"}, {"661", "1.0"}, {"664", "0.2"}, {"665", "0.3"}}).program);
      EXPECT_EQ(plain.program, outcome(many(n, bits), 8, {{"664", "0"}, {"661", "0"}, {"665", "0"}}).program);
    }
}

TEST(SpillGuidance, NamesNoVregOnceThePoolIsFull) {
  const ir::Function f = many(20);
  const Outcome plain = outcome(f, 8);
  ASSERT_GT(plain.guided, 8);
  EXPECT_EQ(outcome(f, 8, {{"FatPointPoolLimit", "0"}}).guided, 0);
  EXPECT_EQ(outcome(f, 8, {{"FatPointPoolLimit", "15"}}).guided, 2);  // two slots to a bucket
  EXPECT_EQ(outcome(f, 8, {{"FatPointPoolLimit", "16"}}).guided, 4);
  EXPECT_EQ(outcome(f, 8, {{"FatPointPoolLimit", "1000"}}).program, plain.program);
  EXPECT_NE(outcome(f, 8, {{"FatPointPoolLimit", "16"}}).program, plain.program);
  // 16 bytes a bucket where values are wide.
  EXPECT_EQ(outcome(many(10, 64), 8, {{"FatPointPoolLimit", "31"}}).guided, 2);
  // A value that is computed again needs no slot.
  const auto remat = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = const 1 !remat
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1, %2 !write
      #4 st %0 !write
      #5 exit
)");
  EXPECT_EQ(outcome(remat, 2, {{"FatPointPoolLimit", "0"}}).guided, 1);
}

// The numbers of the victims of one file, before anything is spilled.
std::vector<std::uint32_t> victims(const ir::Function& f, ir::RegFile file, int limit,
                                   const ir::Target& target = ir::default_target()) {
  ir::Limits limits = ir::Limits::of(target);
  limits.units[ir::index(file)] = limit;
  const Knobs knobs;
  const ProgramFacts facts(f, target, knobs);
  const Run run(facts, limits);
  Progress progress(run);
  progress.insert_spill_code();
  SpillGuidance& guidance = progress.program().guidance();
  std::vector<std::uint32_t> numbers;
  for (const ir::VRegId v : guidance.victims(file)) numbers.push_back(v.value);
  for (const ir::RegFile other : ir::kAllFiles) EXPECT_EQ(guidance.is_over(other), other == file && !numbers.empty());
  return numbers;
}
std::vector<std::uint32_t> victims(int limit, std::string_view body) {
  return victims(testing::program(body), ir::RegFile::R, limit);
}

TEST(SpillGuidance, EachOfTheSevenFilesHasItsQueueAndTheLowerNumberGoesFirstAmongEquals) {
  const ir::Target& target = *ir::find_target("sm_100");
  const std::pair<std::string_view, ir::RegFile> kClasses[] = {
      {"R b32", ir::RegFile::R},    {"P pred", ir::RegFile::P},  {"B b32", ir::RegFile::B},    {"UR b32", ir::RegFile::UR},
      {"UP pred", ir::RegFile::UP}, {"UB b32", ir::RegFile::UB}, {"ACC b32", ir::RegFile::Acc}};
  for (const auto& [cls, file] : kClasses) {
    if (target.units[ir::index(file)] == 0) continue;
    const ir::Function f =
        testing::program(fmt::format("vreg %0 {0}\nvreg %1 {0}\nvreg %2 {0}\nblock b0\n#0 %0, %1 = op 0\n#1 %2 = op 1\n#2 op 2\n#3 "
                                     "op %2\n#4 op %0, %1\n#5 exit\n",
                                     cls));
    EXPECT_THAT(victims(f, file, 2, target), ElementsAre(0)) << cls;
    EXPECT_THAT(victims(f, file, 3, target), ElementsAre()) << cls;
  }
}

TEST(SpillGuidance, GivesBackWhatLaterVictimsHaveMadeSuperfluous) {
  // %0 is cheapest for what it relieves, and goes first. But %1 has to go beside %3 and %4: then there is room for %0.
  EXPECT_THAT(victims(2, R"(
    vreg %0..%4 R b32
    block b0
      #0 %1 = op 0
      #1 %3 = op 1
      #2 %4 = op 2
      #3 op %3, %4
      #4 op %3, %4
      #5 op %3, %4
      #6 %2 = op 3
      #7 %0 = op 4
      #8 op 5
      #9 op 6
      #10 op 7
      #11 op 8
      #12 op %0
      #13 op %2
      #14 op %2
      #15 op %2
      #16 op %1
      #17 op %1
      #18 op %1
      #19 op %1
      #20 op %1
      #21 exit
)"),
              ElementsAre(1));
}

TEST(SpillGuidance, TakesNoMoreThanThePointsOverBudgetNeed) {
  // %0 lives over both stretches over budget, %1 and %2 over one each: without %0 these no longer help, and leave the queue.
  EXPECT_THAT(victims(1, R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = op 0
      #1 %1 = op 1
      #2 op 2
      #3 op %1
      #4 %2 = op 3
      #5 op 4
      #6 op %2
      #7 op %0
      #8 exit
)"),
              ElementsAre(0));
}

TEST(SpillGuidance, TakesTheCheapestAUnitAndPoint) {
  EXPECT_THAT(victims(1, R"(
    vreg %0..%1 R b32
    block b0
      #0 %1 = op 0
      #1 %0 = op 1
      #2 op %0
      #3 op %0
      #4 op %0
      #5 op %1
      #6 exit
)"),
              ElementsAre(1));
}

// Behind #3, where four units are live and two are to come: %0 is read there, and need not be in a register any more.
TEST(SpillGuidance, AUseIsOverOnceItIsRead) {
  EXPECT_THAT(victims(4, R"(
    vreg %0..%2 R b32
    vreg %3 R b64
    block b0
      #0 %0 = op 0
      #1 %1 = op 1
      #2 %2 = op 2
      #3 %3 = op %0
      #4 op %3, %1, %2
      #5 op %1, %2
      #6 op %1, %2
      #7 op %0
      #8 exit
)"),
              ElementsAre(0));
}

// %3 is over budget at its def alone, which goes if %3 is computed again: nowhere, as nothing reads it.
TEST(SpillGuidance, TheDefOfWhatIsComputedAgainGoes) {
  EXPECT_THAT(victims(12, R"(
    vreg %0..%1 R b128
    vreg %2 R b64
    vreg %3 R b128
    block b0
      #0 %0 = op 0
      #1 %1 = op 1
      #2 %2 = op 2
      #3 %3 = const 3 !remat
      #4 op %0
      #5 op %1
      #6 op %2
      #7 exit
)"),
              ElementsAre(3));
}

TEST(Spilled, CountsVregsAndTheirSlots) {
  const ir::Function f = many(3, 64);
  Plan plan;
  plan.location = {Location::slot(ir::MemSpace::Local), Location(), Location::recomputed_by(2)};
  const Spilled s = Spilled::of(f, plan);
  EXPECT_EQ(s.vregs[ir::index(ir::RegFile::R)], 2);
  EXPECT_EQ(s.vregs[ir::index(ir::RegFile::P)], 0);
  EXPECT_EQ(s.slot_bytes, 8);
}

}  // namespace
}  // namespace regduel::allocator
