#include "passes/nvptx/constrained_copies.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

bool first_is_constrained(const std::string& copy) {
  const ir::Function f = testing::program(testing::words(4) + "  block b0\n    #0 " + copy + "\n    #1 exit\n");
  const std::vector<Candidate> found = collect_candidates(f, participants(f), Origins(f, false), {});
  EXPECT_FALSE(found.empty());
  return !found.empty() && is_constrained(f, found[0]);
}

TEST(ConstrainedCopies, TiesToAnotherPair) {
  EXPECT_FALSE(first_is_constrained("%0, %1 = copy %2, %3"));
  EXPECT_FALSE(first_is_constrained("%0{tied 2}, %1 = copy %2, %3"));
  EXPECT_TRUE(first_is_constrained("%0{tied 3}, %1 = copy %2, %3"));
}

TEST(ConstrainedCopies, FixedAndEarlyOnesBesideOtherPairs) {
  EXPECT_FALSE(first_is_constrained("%0{=R1} = copy %2{=R2}")) << "it goes as a whole";
  EXPECT_TRUE(first_is_constrained("%0{=R1}, %1 = copy %2{=R2}, %3"));
  EXPECT_FALSE(first_is_constrained("%0{=R1}, %1 = copy %2{=R1}, %3"));
  EXPECT_FALSE(first_is_constrained("%0{early} = copy %2"));
  EXPECT_TRUE(first_is_constrained("%0{early}, %1 = copy %2, %3"));
}

}  // namespace
}  // namespace regduel::passes::nvptx
