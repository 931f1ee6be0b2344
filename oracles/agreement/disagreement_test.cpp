// Which pairs of verdicts contradict each other: every combination of the four judges' verdicts, against the table of the header.
#include "oracles/agreement/disagreement.h"

#include "oracles/judges.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const std::vector<std::string> kJudges = {"structure", "memcheck", "symbolic", "execution"};

// p pass, f fail, i inconclusive, s skipped, - not asked; in the order of kJudges.
Report report_of(std::string_view verdicts) {
  Report report;
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    JudgeResult r;
    r.judge = kJudges[k];
    switch (verdicts[k]) {
      case 'p': r.verdict = Verdict::Pass; break;
      case 'f':
        r.verdict = Verdict::Fail;
        r.findings.push_back(
            {r.judge, r.judge + "-rule", ir::InstId(k + 1), static_cast<int>(k), ir::InstId(9), r.judge + " objects."});
        break;
      case 'i': r.verdict = Verdict::Inconclusive, r.reason = "fuel"; break;
      case 's': r.verdict = Verdict::Skipped, r.reason = "unreadable"; break;
      default: continue;
    }
    report.results.push_back(r);
  }
  return report;
}

std::vector<std::string> contradictions(std::string_view verdicts, Origin origin) {
  const JudgeResult r = judge_disagreement(report_of(verdicts), {origin});
  EXPECT_EQ(r.verdict == Verdict::Fail, !r.findings.empty()) << verdicts;
  EXPECT_EQ(r.verdict == Verdict::Skipped, !r.reason.empty()) << verdicts;
  return categories(r);
}

TEST(Disagreement, ExecutionIsAWitness) {
  for (const Origin origin : {Origin::Unknown, Origin::BelievedValid}) {
    EXPECT_THAT(contradictions("pppf", origin), ElementsAre("execution-vs-static"));
    EXPECT_THAT(contradictions("fppf", origin), IsEmpty());
    EXPECT_THAT(contradictions("ppff", origin), IsEmpty());
    EXPECT_THAT(contradictions("pfff", origin), IsEmpty());
    EXPECT_THAT(contradictions("ppif", origin), IsEmpty());
    EXPECT_THAT(contradictions("pspf", origin), IsEmpty());
    EXPECT_THAT(contradictions("pp-f", origin), IsEmpty());
  }
}

TEST(Disagreement, SymbolicSeesMoreThanMemcheck) {
  for (const Origin origin : {Origin::Unknown, Origin::BelievedValid}) {
    EXPECT_THAT(contradictions("pfpp", origin), ElementsAre("memcheck-vs-symbolic"));
    EXPECT_THAT(contradictions("pfpf", origin), ElementsAre("memcheck-vs-symbolic"));
    EXPECT_THAT(contradictions("pfip", origin), IsEmpty());
    EXPECT_THAT(contradictions("pffp", origin), IsEmpty());
    EXPECT_THAT(contradictions("ffpp", origin), IsEmpty());
    EXPECT_THAT(contradictions("fpfp", origin), IsEmpty());
  }
  EXPECT_THAT(contradictions("ppfp", Origin::Unknown), IsEmpty());
  EXPECT_THAT(contradictions("ppfp", Origin::BelievedValid), ElementsAre("symbolic-vs-memcheck"));
  EXPECT_THAT(contradictions("ppfi", Origin::BelievedValid), ElementsAre("symbolic-vs-memcheck"));
  EXPECT_THAT(contradictions("ppff", Origin::BelievedValid), IsEmpty());
}

TEST(Disagreement, PacksAreMovesToOneAndDefinitionsToTheOther) {
  EXPECT_EQ(judge_disagreement(report_of("pfpp"), {Origin::Unknown, true}).verdict, Verdict::Pass);
  EXPECT_EQ(judge_disagreement(report_of("pfpp"), {Origin::BelievedValid, true}).verdict, Verdict::Fail);
  EXPECT_EQ(judge_disagreement(report_of("pppf"), {Origin::Unknown, true}).verdict, Verdict::Fail);
  const ir::Function with = parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b64
  vreg %1 R b32
  block b0
    #0 %1 = a
    #1 %0 = pack %1, %1
    #2 exit
)");
  const ir::Function without = parse_function(R"(
func @t kernel target sm_90 threads 32
  block b0
    #2 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  EXPECT_TRUE(circumstances_of({with, with, target, {}}).has_packs);
  EXPECT_FALSE(circumstances_of({without, with, target, {}}).has_packs);
  EXPECT_EQ(circumstances_of({with, with, target, {}, nullptr, true}).origin, Origin::BelievedValid);
  EXPECT_EQ(circumstances_of({with, with, target, {}}).origin, Origin::Unknown);
}

ir::Function predicates(const std::string& blocks) {
  return parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred fixed P7 architectural
  vreg %3 P pred
)" + blocks);
}

TEST(Disagreement, AGuardMayHaveNoValue) {
  const std::string use = "    #90 @%0 st 1 !write\n    #91 exit\n", join = "  block b2\n" + use;
  const std::string fork = R"(
  block b0
    #1 %1 = p
    #2 cbra %1 -> b1, b2
  block b1
)";
  const std::vector<std::pair<std::string, bool>> cases = {
      {R"(
  block b0
    #91 exit
)",
       false},
      {"  block b0\n" + use, true},
      {R"(
  block b0
    #1 %0 = p
)" + use,
       false},
      {R"(
  block b0
    #1 @%2 st 1 !write
    #91 exit
)",
       false},
      // One path of two, both.
      {fork + "    #3 %0 = p\n    #4 bra -> b2\n" + join, true},
      {R"(
  block b0
    #0 %0 = q
    #1 %1 = p
    #2 cbra %1 -> b1, b2
  block b1
    #3 %0 = p
    #4 bra -> b2
)" + join,
       false},
      // Moves, in parallel.
      {R"(
  block b0
    #1 %0 = copy %1
)" + use,
       true},
      {R"(
  block b0
    #1 %1 = p
    #2 %0 = copy %1
)" + use,
       false},
      {R"(
  block b0
    #1 %1 = p
    #2 %1, %0 = copy %0, %1
)" + use,
       false},
      {R"(
  block b0
    #1 %0 = p
    #2 %1, %0 = copy %0, %1
)" + use,
       true},
      // A result is a value, whatever it is made of.
      {R"(
  block b0
    #1 %0 = not %1
)" + use,
       false},
      // Under a guard.
      {R"(
  block b0
    #1 @%2 %0 = p
)" + use,
       true},
      {R"(
  block b0
    #1 %0 = p
    #2 @%2 %0 = q
)" + use,
       false},
      {R"(
  block b0
    #1 %0 = p
    #2 @%2 %0 = copy %1
)" + use,
       true},
      // Phis, in parallel; one of another predecessor.
      {fork + R"(
    #3 %0 = p
    #4 bra -> b2
  block b2
    #5 %0 = phi b0: %1, b1: %0
)" + use,
       false},
      {fork + R"(
    #4 bra -> b2
  block b2
    #5 %0 = phi b0: %1, b1: %0
)" + use,
       true},
      {fork + R"(
    #4 bra -> b2
  block b2
    #5 %1 = phi b0: %0, b1: %0
    #6 %0 = phi b0: %1, b1: %1
)" + use,
       false},
      // On the second visit, on the third; never.
      {R"(
  block b0
    #1 %0 = p
    #2 bra -> b1
  block b1
    #3 @%0 st 1 !write
    #4 %0 = copy %1
    #5 bra -> b1
)",
       true},
      {R"(
  block b0
    #1 %0 = p
    #2 %1 = p
    #3 bra -> b1
  block b1
    #4 @%0 st 1 !write
    #5 %0 = copy %1
    #6 %1 = copy %3
    #7 bra -> b1
)",
       true},
      // Around two loops, and on from there.
      {R"(
  block b0
    #1 %0 = p
    #2 bra -> b1
  block b1
    #3 bra -> b2
  block b2
    #4 @%0 st 1 !write
    #5 bra -> b3
  block b3
    #6 cbra %3 -> b1, b4
  block b4
    #7 %0 = copy %1
    #8 cbra %3 -> b3, b5
  block b5
    #9 exit
)",
       true},
      {R"(
  block b0
    #1 exit
  block b1
)" + use,
       false},
  };
  const ir::Target& target = *ir::find_target("sm_90");
  for (const auto& [blocks, expected] : cases) {
    const ir::Function f = predicates(blocks);
    EXPECT_EQ(circumstances_of({f, f, target, {}}).has_undefined_guard, expected) << blocks;
    EXPECT_FALSE(circumstances_of({f, f, target, {}, nullptr, true}).has_undefined_guard) << "not asked for";
  }
}

TEST(Disagreement, WhatAnUndefinedGuardWritesIsUndefinedToOneAndDefinedToTheOther) {
  EXPECT_EQ(judge_disagreement(report_of("pfpp"), {Origin::Unknown, false, true}).verdict, Verdict::Pass);
  EXPECT_EQ(judge_disagreement(report_of("pfpp"), {Origin::BelievedValid, false, true}).verdict, Verdict::Fail);
  EXPECT_EQ(judge_disagreement(report_of("pppf"), {Origin::Unknown, false, true}).verdict, Verdict::Fail);
  const std::string vregs = R"(
  vreg %0 R b32
  vreg %1 P pred
  block b0
)";
  const ir::Function before = parse_function("func @t kernel target sm_90 threads 32\n" + vregs + R"(
    #0 %0 = a
    #1 @%1 %0 = b
    #2 st %0 !write
    #3 exit
)");
  const ir::Function after = parse_function("func @t kernel target sm_90 threads 32 allocated\n" + vregs +
                                            R"(
    #0 R0 = a
    #1 @P0 R1 = b
    #2 st R0 !write
    #3 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  const Report report = judge({before, after, target, ir::Limits::of(target)});
  for (const std::string_view other : {"memcheck", "symbolic", "execution"})
    EXPECT_EQ(report.result_of(other)->verdict, Verdict::Pass) << other;
  EXPECT_EQ(report.result_of("disagreement"), nullptr);
}

// Whatever the verdicts: unanimity is no contradiction, structure takes part in none, and each difference is either
// tolerated for a reason or named.
TEST(Disagreement, EveryCombination) {
  constexpr std::string_view kAll = "pfis-";
  for (const Origin origin : {Origin::Unknown, Origin::BelievedValid})
    for (int n = 0; n < 625; ++n) {
      std::string verdicts;
      for (int k = 0, rest = n; k < 4; ++k, rest /= 5) verdicts += kAll[static_cast<std::size_t>(rest % 5)];
      const Report report = report_of(verdicts);
      int open = 0;
      for (const Difference& d : differences(report)) {
        EXPECT_EQ(report.result_of(d.objector)->verdict, Verdict::Fail);
        EXPECT_EQ(report.result_of(d.defender)->verdict, Verdict::Pass);
        const bool contradicts = tolerated(report, d, {origin}).empty();
        open += contradicts ? 1 : 0;
        if (contradicts) {
          EXPECT_TRUE(d.objector != "structure" && d.defender != "structure" && d.defender != "execution") << verdicts;
        }
      }
      EXPECT_EQ(judge_disagreement(report, {origin}).verdict == Verdict::Fail, open > 0) << verdicts;
      if (verdicts.find('f') == std::string::npos || verdicts.find('p') == std::string::npos) {
        EXPECT_EQ(open, 0) << verdicts;
      }
    }
}

// Quality is no judge of correctness.
TEST(Disagreement, OnlyJudgesOfCorrectnessCount) {
  JudgeResult quality;
  quality.judge = "quality";
  for (const Verdict v : {Verdict::Pass, Verdict::Fail}) {
    quality.verdict = v;
    Report report = report_of("ffff");
    report.results.push_back(quality);
    EXPECT_TRUE(differences(report).empty());
    report = report_of("pppp");
    report.results.push_back(quality);
    EXPECT_TRUE(differences(report).empty());
    report = report_of("p---");
    report.results.push_back(quality);
    EXPECT_EQ(judge_disagreement(report, {}).verdict, Verdict::Skipped);
  }
}

TEST(Disagreement, TheFindingHoldsWhatBothSay) {
  const JudgeResult r = judge_disagreement(report_of("pppf"), {});
  ASSERT_EQ(r.findings.size(), 1u);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.judge, "disagreement");
  EXPECT_EQ(f.inst, ir::InstId(4));
  EXPECT_EQ(f.operand, 3);
  EXPECT_EQ(f.other, ir::InstId(9));
  EXPECT_EQ(f.message,
            "execution: fail at instruction 4, operand 3: execution objects. [execution-rule]; structure: pass; memcheck: pass; "
            "symbolic: pass");
  const JudgeResult both = judge_disagreement(report_of("pfpp"), {});
  ASSERT_EQ(both.findings.size(), 1u);
  EXPECT_EQ(both.findings[0].message,
            "memcheck: fail at instruction 2, operand 1: memcheck objects. [memcheck-rule]; symbolic: pass");
}

// An allocation that fits a limit at which an instruction is impossible cannot be: here made up by judging at another limit.
TEST(Disagreement, SuccessWhereNoneIsPossible) {
  const std::string text = R"(
  vreg %0 R b64
  vreg %1 R b64
  block b0
    #0 %0, %1 = a
    #1 b %0, %1
    #2 exit
)";
  const ir::Function before = parse_function("func @t kernel target sm_90 threads 32\n" + text);
  const ir::Target& target = *ir::find_target("sm_90");
  Report passed = report_of("pp-p");
  const auto verdict_at = [&](int limit) {
    return judge_success_against_completeness(passed, {before, before, target, ir::Limits::of(target, limit)});
  };
  EXPECT_EQ(verdict_at(4).verdict, Verdict::Pass);
  const JudgeResult r = verdict_at(3);
  EXPECT_THAT(categories(r), ElementsAre("completeness-vs-success"));
  EXPECT_EQ(r.findings.at(0).inst, ir::InstId(0));
  passed = report_of("pf-p");
  EXPECT_EQ(verdict_at(3).verdict, Verdict::Skipped);
  passed = report_of("-p-p");
  EXPECT_EQ(verdict_at(3).verdict, Verdict::Skipped);
}

// The old value of %1 is none, so that it may stand where its guard stands.
TEST(Disagreement, WhatKeepsNothingMayBeImpossible) {
  const auto verdict_of = [](const std::string& first) {
    const std::string text = R"(
func @t kernel target sm_90 threads 32
  vreg %0 P pred
  vreg %1 P pred
  block b0
)" + first + R"(
    #1 %0 = a
    #2 @%0 %1 = b
    #3 exit
)";
    const ir::Function before = parse_function(text);
    const ir::Target& target = *ir::find_target("sm_90");
    ir::Limits limits = ir::Limits::of(target, 255);
    limits.units[ir::index(ir::RegFile::P)] = 1;
    return judge_success_against_completeness(report_of("pp-p"), {before, before, target, limits}).verdict;
  };
  EXPECT_EQ(verdict_of(""), Verdict::Pass);
  EXPECT_EQ(verdict_of("    #0 %1 = a\n"), Verdict::Fail);
  EXPECT_EQ(verdict_of(R"(
    #0 exit
  block b1
    #4 %1 = a
)"),
            Verdict::Pass)
      << "not reached";
}

// One register serves both where one is a copy of the other, or a part of it.
TEST(Disagreement, ValuesThatMayBeEqualMayShare) {
  const auto verdict_of = [](const std::string& joins, int limit, const std::string& reads = "%0, %1, %2") {
    const std::string text = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  block b0
)" + joins + "    #8 use " + reads +
                             "\n    #9 exit\n";
    const ir::Function before = parse_function(text);
    const ir::Target& target = *ir::find_target("sm_90");
    return judge_success_against_completeness(report_of("pp-p"), {before, before, target, ir::Limits::of(target, limit)}).verdict;
  };
  const std::string defs = R"(
    #0 %0 = a
    #1 %1 = a
    #2 %2 = a
)";
  EXPECT_EQ(verdict_of(defs, 4), Verdict::Pass);
  EXPECT_EQ(verdict_of(defs, 3), Verdict::Fail);
  EXPECT_EQ(verdict_of(defs + "    #3 %1 = copy %0\n", 3), Verdict::Pass);
  EXPECT_EQ(verdict_of(defs + "    #3 %1 = copy %0\n", 2, "%1, %2"), Verdict::Fail) << "%0 is read by another one";
  EXPECT_EQ(verdict_of("    #0 %0, %1 = a\n    #2 %2 = pack %0, %1\n", 3), Verdict::Pass);
  EXPECT_EQ(verdict_of("    #2 %2 = a\n    #0 %0, %1 = unpack %2\n", 3), Verdict::Pass);
}

TEST(Disagreement, WhatIsDeletedMayBeImpossible) {
  const std::string head = "func @t kernel target sm_90 threads 32";
  const std::string vregs = R"(

  vreg %0 R b64
  vreg %1 R b64
  vreg %2 R b32
  block b0
)";
  const ir::Function before = parse_function(head + vregs + R"(
    #4 %0 = c
    #5 %1 = c
    #0 %2 = a
    #1 %0, %1 = copy %0, %1
    #2 b %2
    #3 exit
)");
  const std::string defs = "    #4 R0:R1 = c\n    #5 R0:R1 = c\n";
  const ir::Function after = parse_function(head + " allocated" + vregs + defs + R"(
    #0 R0 = a
    #1 copy !deleted
    #2 b R0
    #3 exit
)");
  const ir::Function kept = parse_function(head + " allocated" + vregs + defs + R"(
    #0 R0 = a
    #1 R0:R1, R2:R3 = copy R0:R1, R2:R3
    #2 b !deleted
    #3 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  const Report passed = report_of("pp-p");
  EXPECT_EQ(judge_success_against_completeness(passed, {before, after, target, ir::Limits::of(target, 2)}).verdict, Verdict::Pass);
  EXPECT_EQ(judge_success_against_completeness(passed, {before, kept, target, ir::Limits::of(target, 2)}).verdict, Verdict::Fail);
}

}  // namespace
}  // namespace regduel::oracles
