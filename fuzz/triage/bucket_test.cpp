#include "fuzz/triage/bucket.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/triage/testing.h"

namespace regduel::fuzz {
namespace {

TEST(Nature, ForgetsWhichJudgeOfValuesAndWhere) {
  const struct {
    const char *signature, *nature;
  } rows[] = {
      {"memcheck/memcheck-6-extra-defs-introduced@fma.acc:use", "wrong-value"},
      {"symbolic/symbolic-lost-value@+spill:use", "wrong-value"},
      {"execution/execution-undefined@function", "wrong-value"},
      {"memcheck/memcheck-6-extra-defs-introduced@ret:use", "wrong-value"},
      {"memcheck/memcheck-6-extra-defs-introduced@ret", "callee-saved"},
      {"symbolic/callee-saved@ret", "callee-saved"},
      {"execution/execution-callee-saved@ret", "callee-saved"},
      {"structure/early-clobber@op:use", "wrong-value"},
      {"structure/def-overlap@op:def", "wrong-value"},
      {"structure/fixed-register@ret:use", "wrong-value"},
      {"structure/reserved-register@ret", "structure/reserved-register"},
      {"structure/tied-operand@mad:def", "structure/tied-operand"},
      {"structure/slot-overlap@function", "structure/slot"},
      {"structure/slot-outside-frame@+refill:use", "structure/slot"},
      {"quality/claims-registers@function", "quality/claims-registers"},
      {"harness/internal-error", "harness/internal-error"},
      {"harness/internal-error@emit.cpp: first >= 0", "harness/internal-error: first >= 0"},
      {"harness/crash-SIGSEGV@allocation", "harness/crash-SIGSEGV@allocation"},
      {"harness/hang@judgement", "harness/hang@judgement"},
      {"completeness/completeness", "completeness/completeness"},
  };
  for (const auto& row : rows) EXPECT_EQ(nature_of(row.signature), row.nature) << row.signature;
}

std::vector<std::string> names_of(const std::string& body, const char* signature = kFailing, const char* decision = "") {
  return bucket_names({"x", signature}, decision, traits_of(case_of(body)));
}

TEST(BucketNames, SayEachConstraintOfTheCoreTheMostTellingFirst) {
  const std::string vregs =
      "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  vreg %3 R b64\n  vreg %4 R b32\n  vreg %5 R b32 alias %3.lo\n"
      "  block b0\n";
  const std::string plain = "  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 P pred\n  block b0\n";
  using testing::ElementsAre;
  EXPECT_THAT(names_of(plain + "    #0 %0 = op\n    #1 exit\n"), ElementsAre("x: wrong-value"));
  EXPECT_THAT(names_of(plain + "    #0 %0 = op\n    #1 bra -> b1\n  block b1\n    #2 exit\n"),
              ElementsAre("x: wrong-value with branch", "x: wrong-value"));
  EXPECT_THAT(names_of(plain + "    #0 %2 = op\n    #1 @%2 op\n    #2 exit\n"), ElementsAre("x: wrong-value"))
      << "what a guard holds back defines nothing";
  EXPECT_THAT(names_of(plain + "    #0 %1 = op\n    #1 %1 = copy %1\n    #2 bra -> b1\n  block b1\n    #3 exit\n"),
              ElementsAre("x: wrong-value with affinity"));
  EXPECT_THAT(names_of("  vreg %0 R b32\n  vreg %1 R b32 hint %0\n  block b0\n    #0 %0 = op\n    #1 exit\n"),
              ElementsAre("x: wrong-value with affinity"))
      << "a hint";
  EXPECT_THAT(names_of(vregs + "    #0 %0 = op clobbers R0\n    #1 bra -> b1\n  block b1\n    #2 exit\n"),
              ElementsAre("x: wrong-value with clobber"))
      << "what nearly every program has is not named beside a constraint";
  EXPECT_THAT(names_of(vregs + "    #0 %2 = op\n    #1 @%2 %3.lo = op clobbers R9\n    #2 exit\n"),
              ElementsAre("x: wrong-value with guard", "x: wrong-value with part", "x: wrong-value with clobber",
                          "x: wrong-value with tuple"));
  EXPECT_THAT(names_of("  vreg %0 R b64 fixed R4:R5\n  block b0\n    #0 %0 = op\n    #1 exit\n"),
              ElementsAre("x: wrong-value with fixed", "x: wrong-value with tuple"));
  EXPECT_THAT(names_of(vregs + "    #0 %5 = op\n    #1 exit\n"), ElementsAre("x: wrong-value with part"));
  EXPECT_THAT(names_of(vregs + "    #0 %0{early} = op !remat\n    #1 %1{tied 2}, %2 = op %0\n    #2 bra -> b1\n  block b1\n"
                               "    #3 %1 = phi b0: %0\n    #4 exit\n"),
              ElementsAre("x: wrong-value with remat", "x: wrong-value with early-clobber", "x: wrong-value with tied",
                          "x: wrong-value with phi", "x: wrong-value with two-defs", "x: wrong-value with affinity"));
  EXPECT_THAT(names_of(plain + "    #0 %0 = op\n    #1 bra -> b1\n  block b1\n    #2 %0 = phi b0: %1\n    #3 %1 = phi b0: %0\n"
                               "    #4 exit\n"),
              ElementsAre("x: wrong-value with two-phis", "x: wrong-value with phi", "x: wrong-value with affinity"));
  EXPECT_THAT(names_of(plain + "    #0 %0 = op\n    #1 bra -> b0\n"), ElementsAre("x: wrong-value with loop"));
}

TEST(BucketNames, SayThatACaseNeedsALowerLimitAndWhatIsReturned) {
  using testing::ElementsAre;
  const auto names = [](const duel::Case& input) { return bucket_names({"x", kFailing}, "", traits_of(input)); };
  const std::string plain = "  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 exit\n";
  EXPECT_THAT(names(case_of(plain, "// limit: R=8\n")), ElementsAre("x: wrong-value under pressure"));
  EXPECT_THAT(names(case_of("  vreg %0 R b32\n  block b0\n    #0 %0 = op clobbers R0\n    #1 exit\n", "// limit: R=8\n")),
              ElementsAre("x: wrong-value with clobber under pressure"));
  duel::Case device = case_of(plain);
  device.program.kind = ir::FunctionKind::Device;
  EXPECT_THAT(names(device), ElementsAre("x: wrong-value with return"));
}

TEST(BucketNames, AreMadeFromNatureAndDecision) {
  using testing::ElementsAre;
  const std::string guarded = "  vreg %0 P pred\n  vreg %1 R b32\n  block b0\n    #0 %0 = op\n    #1 @%0 %1 = op\n    #2 exit\n";
  for (const char* ordinary : {"", "keep-in-register", "fewest-units", "another-attempt", "spill-round"})
    EXPECT_THAT(names_of(guarded, kFailing, ordinary), ElementsAre("x: wrong-value with guard")) << ordinary;
  for (const char* told : {"coalesce-copy", "evict"})
    EXPECT_THAT(names_of(guarded, kFailing, told), ElementsAre(std::string("x: wrong-value by ") + told));
  const std::string fixed =
      "  vreg %0 R b32 fixed R4\n  vreg %1 R b32\n  block b0\n    #0 %0 = op\n    #1 %1 = copy %0\n    #2 exit\n";
  EXPECT_THAT(names_of(fixed, "structure/early-clobber@op:def", "coalesce-copy"),
              ElementsAre("x: wrong-value by coalesce-copy with fixed", "x: wrong-value by coalesce-copy with affinity",
                          "x: wrong-value by coalesce-copy"));
  EXPECT_THAT(names_of(fixed, kFailing, "evict"), ElementsAre("x: wrong-value by evict"));
  EXPECT_THAT(names_of(guarded, "structure/register-limit@op:use", "another-attempt"),
              ElementsAre("x: structure/register-limit by another-attempt", "x: structure/register-limit"));
  EXPECT_THAT(names_of(guarded, "harness/internal-error@emit.cpp: first >= 0", "evict"),
              ElementsAre("x: harness/internal-error: first >= 0 by evict"));
  for (const char* decision : {"", "coalesce-copy", "spill-round"}) {
    EXPECT_THAT(names_of(guarded, "structure/register-alignment@op:use", decision), ElementsAre("x: structure/register-alignment"));
    EXPECT_THAT(names_of(guarded, "symbolic/callee-saved@ret", decision), ElementsAre("x: callee-saved"));
    EXPECT_THAT(names_of(guarded, "quality/claims-registers@function", decision), ElementsAre("x: quality/claims-registers"));
  }
}

TEST(BucketNames, BeginWithTheKnobsThatAreLeft) {
  const auto names_with = [](const std::string& body, const char* decision) {
    const duel::Case input = case_of(body, "// limit: R=8\n");
    return bucket_names({"x", kFailing}, decision, traits_of(input), {{"Walk", "1"}});
  };
  using testing::ElementsAre;
  const std::string plain = "  vreg %0 R b32\n  block b0\n    #0 %0 = op\n    #1 exit\n";
  EXPECT_THAT(names_with(plain, ""), ElementsAre("x: wrong-value with Walk under pressure", "x: wrong-value under pressure"));
  EXPECT_THAT(names_with(plain, "evict"), ElementsAre("x: wrong-value by evict"));
}

// The bucket of a case with these names among buckets of these titles.
std::string choose(const std::vector<std::string>& names, const std::vector<std::string>& rest,
                   const std::vector<std::string>& titles) {
  KnownBuckets known;
  for (const std::string& title : titles) known[title] = "";
  return choose_bucket({"wrong-value", names, rest, names.front()}, "", known);
}

TEST(ChooseBucket, TakesTheFirstThatIsKnownElseMakesOne) {
  const std::vector<std::string> names = {"x: wrong-value with phi", "x: wrong-value with part", "x: wrong-value with tuple"};
  EXPECT_EQ(choose(names, {}, {}), "x: wrong-value with phi");
  EXPECT_EQ(choose(names, {}, {"x: wrong-value with part", "x: wrong-value with remat", "x: wrong-value with tuple"}),
            "x: wrong-value with part");
  EXPECT_EQ(choose(names, {}, {"x: wrong-value with part", "x: wrong-value with phi"}), "x: wrong-value with phi");
  EXPECT_EQ(choose(names, {}, {"x: wrong-value with remat", "y: wrong-value with part"}), "x: wrong-value with phi");
}

TEST(ChooseBucket, TakesTheSameConstraintWithoutPressureOrUnderAnotherDecision) {
  EXPECT_EQ(choose({"x: wrong-value with phi under pressure", "x: wrong-value with part under pressure"}, {},
                   {"x: wrong-value with part"}),
            "x: wrong-value with part");
  EXPECT_EQ(choose({"x: wrong-value with phi"}, {}, {"x: wrong-value with phi under pressure"}),
            "x: wrong-value with phi under pressure");
  EXPECT_EQ(choose({"x: wrong-value"}, {}, {"x: wrong-value under pressure", "y: wrong-value"}), "x: wrong-value under pressure");
  EXPECT_EQ(choose({"x: wrong-value with fixed"}, {}, {"x: wrong-value by coalesce-copy with fixed"}),
            "x: wrong-value by coalesce-copy with fixed");
  EXPECT_EQ(choose({"x: wrong-value by coalesce-copy with fixed", "x: wrong-value by coalesce-copy"}, {},
                   {"x: wrong-value with fixed under pressure"}),
            "x: wrong-value with fixed under pressure");
  EXPECT_EQ(choose({"x: wrong-value by coalesce-copy"}, {}, {"x: wrong-value by evict", "x"}), "x: wrong-value by coalesce-copy");
  EXPECT_EQ(choose({"x: wrong-value with fixed"}, {}, {"x: wrong-value with phi", "y: wrong-value with fixed"}),
            "x: wrong-value with fixed");
}

TEST(ChooseBucket, IsNotMisledByWhatElseATitleSays) {
  const std::string phi = "x: wrong-value with phi", evict = "x: wrong-value by evict";
  EXPECT_EQ(choose({phi}, {}, {phi + " and part"}), phi + " and part");
  EXPECT_EQ(choose({phi}, {}, {phi + " and part under pressure"}), phi + " and part under pressure");
  EXPECT_EQ(choose({"x: wrong-value with part"}, {}, {phi + " and part"}), "x: wrong-value with part");
  EXPECT_EQ(choose({evict}, {}, {evict + " with phi and part"}), evict + " with phi and part");
  EXPECT_EQ(choose({phi}, {}, {evict + " with phi"}), phi) << "evictions are not about phis because one had one";
}

TEST(ChooseBucket, TakesTheSameDecisionUnlessItIsThatOfMostPrograms) {
  const auto choose_by = [](const std::string& name, const char* decision, const KnownBuckets& known,
                            const char* nature = "wrong-value") {
    return choose_bucket({nature, {name}, {}, name}, decision, known);
  };
  const std::string phi = "x: wrong-value with phi", part = "x: wrong-value with part", limit = "x: structure/register-limit";
  EXPECT_EQ(choose_by(part, "another-attempt", {{phi, "another-attempt"}}), phi);
  EXPECT_EQ(choose_by(part, "another-attempt", {{limit, "another-attempt"}}), limit);
  EXPECT_EQ(choose_by(part, "another-attempt", {{"y" + phi, "another-attempt"}}), part) << "another allocator";
  EXPECT_EQ(choose_by(part, "", {{phi, ""}}), part);
  EXPECT_EQ(choose_by(part, "keep-in-register", {{phi, "keep-in-register"}}), part);
  EXPECT_EQ(choose_by(part, "evict", {{"x: wrong-value by evict with phi", ""}}), "x: wrong-value by evict with phi");
  EXPECT_EQ(choose_by("x: wrong-value by coalesce-copy with affinity", "", {{"x: wrong-value by coalesce-copy with fixed", ""}}),
            "x: wrong-value by coalesce-copy with fixed");
  const std::string claims = "x: quality/claims-registers";
  EXPECT_EQ(choose_by(claims, "evict", {{phi, "evict"}}, "quality/claims-registers"), claims);
}

TEST(ChooseBucket, TakesThatOfADecisionWhichTheCaseNeeds) {
  const std::string evict = "x: wrong-value by evict with phi", guard = "x: wrong-value with guard",
                    packs = "x: wrong-value by pack-predicate";
  const auto choose_needing = [](const std::string& name, std::vector<std::string> needed, const KnownBuckets& known) {
    return choose_bucket({"wrong-value", {name}, {}, name, std::move(needed)}, "pack-predicate", known);
  };
  EXPECT_EQ(choose_needing(packs, {"evict", "pack-predicate"}, {{evict, "evict"}}), evict);
  EXPECT_EQ(choose_needing(packs, {"evict", "pack-predicate"}, {{evict, "evict"}, {packs + " with part", ""}}),
            packs + " with part");
  EXPECT_EQ(choose_needing(packs, {"pack-predicate"}, {{evict, "evict"}}), packs);
  EXPECT_EQ(choose_needing(packs, {"move-homes"}, {{guard, "move-homes"}}), packs) << "most programs need that";
}

TEST(ChooseBucket, TakesThatOfThePassWhereItDecidesTheSame) {
  const std::string pair = "cssa+x: wrong-value by merge-phi-web", pass = "cssa: wrong-value by merge-phi-web with phi";
  EXPECT_EQ(choose({pair}, {}, {pass}), pass);
  EXPECT_EQ(choose({pair}, {}, {"cs: wrong-value by merge-phi-web"}), pair);
  EXPECT_EQ(choose({"cssa: wrong-value by merge-phi-web"}, {}, {pair}), "cssa: wrong-value by merge-phi-web");
}

TEST(ChooseBucket, TakesACommandForWhatItIs) {
  const std::string x = "exec:run by hand with care and luck: wrong-value";
  EXPECT_EQ(choose({x + " with phi"}, {}, {x + " with phi and part"}), x + " with phi and part");
  EXPECT_EQ(choose({x + " with phi"}, {}, {x + " with part"}), x + " with phi");
  EXPECT_EQ(choose({x + " by evict"}, {}, {x + " by evict with phi"}), x + " by evict with phi");
  EXPECT_EQ(title_of(x + " with guard", 0), x + " with guard");
}

TEST(ChooseBucket, TakesOneOfWhatElseIsLeftWhereThereIsSuchABucket) {
  const std::vector<std::string> names = {"x: wrong-value with fixed", "x: wrong-value with tuple"},
                                 rest = {"x: wrong-value with guard", "x: wrong-value with branch"};
  EXPECT_EQ(choose(names, rest, {"x: wrong-value with branch"}), "x: wrong-value with branch");
  EXPECT_EQ(choose(names, rest, {"x: wrong-value with branch", "x: wrong-value with guard under pressure"}),
            "x: wrong-value with guard under pressure");
  EXPECT_EQ(choose(names, rest, {"x: wrong-value with branch", "x: wrong-value with tuple"}), "x: wrong-value with tuple");
  EXPECT_EQ(choose(names, rest, {"x: wrong-value with phi"}), "x: wrong-value with fixed") << "and makes none";
}

TEST(TitleOf, SaysASecondConstraint) {
  const std::string guarded = "  vreg %0 P pred\n  vreg %1 R b32\n  block b0\n    #0 %0 = op\n";
  const auto title = [&](const std::string& body, const std::string& name, const duel::Knobs& knobs = {}) {
    return title_of(name, traits_of(case_of(guarded + body)), knobs);
  };
  const std::string one = "    #1 @%0 %1 = op\n    #2 exit\n", two = "    #1 @%0 %1 = op clobbers R0\n    #2 exit\n";
  const std::string none = "    #1 op %1\n    #2 exit\n";
  EXPECT_EQ(title(one, "x: wrong-value with guard"), "x: wrong-value with guard");
  EXPECT_EQ(title(two, "x: wrong-value with guard"), "x: wrong-value with guard and clobber");
  EXPECT_EQ(title(two, "x: wrong-value with guard under pressure"), "x: wrong-value with guard and clobber under pressure");
  EXPECT_EQ(title(two, "x: wrong-value with Walk", {{"Walk", "1"}}), "x: wrong-value with Walk and guard");
  EXPECT_EQ(title(two, "x: wrong-value by evict"), "x: wrong-value by evict with guard and clobber");
  EXPECT_EQ(title(none, "x: wrong-value by evict"), "x: wrong-value by evict");
  EXPECT_EQ(title(two, "x: wrong-value by coalesce-copy with fixed"), "x: wrong-value by coalesce-copy with fixed and guard");
  EXPECT_EQ(title(two, "x: wrong-value by coalesce-copy"), "x: wrong-value by coalesce-copy");
  EXPECT_EQ(title(none, "x: wrong-value"), "x: wrong-value");
  EXPECT_EQ(title(two, "x: structure/register-limit"), "x: structure/register-limit");
}

TEST(BucketNames, OfTheRestSpeakOfWhatTheNamesDoNot) {
  const auto rest_of = [](const std::string& body, const char* signature, const char* decision, const duel::Knobs& knobs = {}) {
    const Failure failure{"x", signature};
    const Traits traits = traits_of(case_of(body));
    return names_of_the_rest(failure, traits, knobs, bucket_names(failure, decision, traits, knobs));
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  const std::string body =
      "  vreg %0 P pred\n  vreg %1 R b64\n  block b0\n    #0 %0 = op\n    #1 @%0 %1 = copy %1\n"
      "    #2 bra -> b1\n  block b1\n    #3 exit\n";
  EXPECT_THAT(rest_of(body, kFailing, ""), ElementsAre("x: wrong-value with branch"));
  EXPECT_THAT(rest_of(body, kFailing, "evict"), ElementsAre("x: wrong-value with guard", "x: wrong-value with branch"));
  EXPECT_THAT(rest_of(body, "structure/register-limit@op:use", "evict"), IsEmpty());
  EXPECT_THAT(rest_of(body, kFailing, "evict", {{"Walk", "1"}}),
              ElementsAre("x: wrong-value with Walk", "x: wrong-value with guard", "x: wrong-value with branch"));
  EXPECT_THAT(rest_of(body, kFailing, "", {{"Walk", "1"}}), ElementsAre("x: wrong-value with branch"));
}

}  // namespace
}  // namespace regduel::fuzz
