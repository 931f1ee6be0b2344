#include "fuzz/triage/triage.h"

#include <array>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/testing.h"
#include "ir/text/text.h"
#include "trial/planted/catalogue.h"

namespace regduel::trial {
namespace {

// A copy of the program's, a pair and a guard, none of which each of these bugs needs.
constexpr const char* kCase = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b64
  vreg %4 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %3 = ld 4 !read
    #2 %2 = test %0
    #3 %1 = copy %0
    #4 %1 = add %1, 1
    #5 @%2 %4 = ld 8 !read
    #6 %4{tied 1} = mad %0, %1
    #7 call "f" clobbers R0:R23
    #8 st %0, %1, %4, %3 !write
    #9 exit
)";

TEST(Understand, ReducesBisectsAndNames) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  const struct {
    const char *bug, *name;
  } rows[] = {
      {"fatpoint-tie-dropped", "fatpoint: structure/tied-operand"},
      {"fatpoint-clobber-missed", "fatpoint: wrong-value with clobber"},
      {"fatpoint-coalesces-across-a-def", "fatpoint: wrong-value by coalesce-copy with affinity"},
      {"briggs-coalesces-what-interferes", "briggs: wrong-value by coalesce-copy"},
  };
  for (const auto& row : rows) {
    plant(row.bug);
    const duel::Case input = fuzz::case_of(kCase);
    const std::vector<fuzz::Failure> failures = fuzz::failures_of(input);
    ASSERT_FALSE(failures.empty()) << row.bug;
    std::set<std::string> names;
    for (const fuzz::Failure& f : failures) {
      if (fuzz::nature_of(f.signature).starts_with("disagreement/")) continue;
      const fuzz::Understood u = fuzz::understand(input, f, 1'000'000);
      EXPECT_TRUE(fuzz::reproduces(u.reduced, f)) << f.signature;
      EXPECT_TRUE(fuzz::shows_alike(u.core, f)) << f.signature;
      EXPECT_TRUE(u.is_minimal);
      EXPECT_LE(u.core.program.insts.size(), u.reduced.program.insts.size());
      EXPECT_LT(u.reduced.program.insts.size(), input.program.insts.size());
      EXPECT_EQ(u.bucket, u.naming.title);
      names.insert(u.naming.names.begin(), u.naming.names.end());
    }
    EXPECT_THAT(names, testing::Contains(row.name)) << row.bug;
  }
  plant("");
}

// What a pass gets wrong is wrong without an allocator.
TEST(Understand, NamesThePassWhereItIsWrongAlone) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  const duel::Case input = fuzz::case_of(R"(  vreg %0 R b32
  vreg %1 P pred
  vreg %2 R b32
  block b0
    #0 %0 = op
    #1 cbra %1 -> b1, b2
  block b1
    #2 op %0
    #3 exit
  block b2
    #4 %2 = phi b0: %0
    #5 %0 = phi b0: %2
    #6 %1 = op
    #7 exit
)");
  plant("cssa-lost-copy");
  const std::array one = {duel::find_allocator("cssa+briggs")};
  const std::vector<fuzz::Failure> failures = fuzz::failures_of(input, one);
  ASSERT_FALSE(failures.empty());
  for (const fuzz::Failure& f : failures) {
    const fuzz::Understood u = fuzz::understand(input, f, 1'000'000);
    EXPECT_EQ(u.culprit, "cssa") << f.signature;
    EXPECT_THAT(u.bucket, testing::StartsWith("cssa: wrong-value by merge-phi-web with"));
    EXPECT_EQ(u.failure.allocator, "cssa+briggs");
  }
  plant("fatpoint-guarded-def-kills");
  EXPECT_EQ(fuzz::culprit_of(input, {"cssa+fatpoint", fuzz::kFailing}), "cssa+fatpoint") << "the pass is right here";
  EXPECT_EQ(fuzz::culprit_of(input, {"fatpoint", fuzz::kFailing}), "fatpoint");
  plant("");
}

// Between the two there is a clobber, but a def that nobody reads would do as well: the bug is not about clobbers.
TEST(Understand, DoesNotNameAClobberThatADefCanStandFor) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  plant("briggs-liveness-of-first-successor");
  const duel::Case input = fuzz::case_of(R"(  vreg %0 R b32
  vreg %1 P pred
  block b0
    #0 %1 = op
    #1 %0 = op
    #2 op clobbers R0:R23
    #3 cbra %1 -> b1, b2
  block b1
    #4 exit
  block b2
    #5 op %0
    #6 exit
)");
  const std::vector<fuzz::Failure> failures = fuzz::failures_of(input);
  ASSERT_FALSE(failures.empty());
  for (const fuzz::Failure& f : failures)
    EXPECT_THAT(fuzz::understand(input, f, 1'000'000).naming.names,
                testing::ElementsAre("briggs: wrong-value with branch", "briggs: wrong-value"))
        << f.signature;
  plant("");
}

// The same lines under a limit of two predicates: what is wrong in one of the two is a store, in the other a live range.
TEST(Understand, TellsPressureThatIsNeededFromPressureThatIsNot) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  const duel::Case input = fuzz::case_of(R"(  vreg %0 P pred
  vreg %1 P pred
  vreg %2 P pred
  block b0
    #0 %0 = op
    #1 %1 = op
    #2 %2 = op
    #3 op %1
    #4 op %1
    #5 op %1
    #6 @%1 %0 = op
    #7 op %1
    #8 op %0
    #9 exit
)",
                                         "// limit: P=2\n");
  const struct {
    const char *bug, *name;
  } rows[] = {
      {"fatpoint-guarded-def-kills", "fatpoint: wrong-value with guard"},
      {"fatpoint-guarded-store-without-refill", "fatpoint: wrong-value with guard under pressure"},
  };
  for (const auto& row : rows) {
    plant(row.bug);
    const std::vector<fuzz::Failure> failures = fuzz::failures_of(input);
    ASSERT_FALSE(failures.empty()) << row.bug;
    EXPECT_THAT(fuzz::understand(input, failures.front(), 1'000'000).naming.names, testing::ElementsAre(row.name));
  }
  plant("");
}

}  // namespace
}  // namespace regduel::trial
