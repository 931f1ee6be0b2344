// Failures of a case, as a command is asked about them.
#include "cli/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bad_input.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "fuzz/campaign/testing.h"

namespace regduel::cli {
namespace {

// The prover is asked although --with names the one alone that beats it.
TEST(FailureShown, AProofIsBeatenByTheOneThatIsAskedAbout) {
  const fuzz::ProvesTooMuch prover;
  const duel::Entered entered(prover);
  const duel::Case input = *duel::parse_case("rir 1\nfunc @f kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  for (const char* with : {"briggs", ""}) {
    FailureQuery query;
    query.signature = "proof/beats-registers@function";
    query.with = with;
    const fuzz::Failure failure = failure_shown(query, input);
    EXPECT_THAT(failure.allocator, ::testing::AnyOf("briggs", "fatpoint"));
    EXPECT_TRUE(fuzz::reproduces(input, failure));
  }
}

}  // namespace
}  // namespace regduel::cli
