#include "ir/register_limit.h"

#include <utility>

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

Function parsed(const char* text) {
  auto module = parse(text);
  EXPECT_TRUE(module.has_value());
  return std::move(module->functions.at(0));
}

TEST(RegisterLimit, IsTheNumberOfASetmaxnreg) {
  const Function f = parsed(R"(rir 1
func @f kernel target sm_90 threads 128
  block b0
    #0 setmaxnreg.dec.sync.aligned.u32 40 !convergent
    #1 setmaxnreg.inc.sync.aligned.u32 0
    #2 setmaxnreg.other
    #3 setmaxnregister 40
    #4 exit
)");
  EXPECT_EQ(new_register_limit(f, f.insts[0]), 40);
  for (std::size_t k = 1; k < f.insts.size(); ++k) EXPECT_EQ(new_register_limit(f, f.insts[k]), std::nullopt) << k;
  EXPECT_TRUE(changes_register_limit(f));
}

TEST(RegisterLimit, StaysWithoutOne) {
  EXPECT_FALSE(changes_register_limit(parsed(R"(rir 1
func @f kernel target sm_90 threads 128
  block b0
    #0 setmaxnreg.other
    #1 exit
)")));
}

}  // namespace
}  // namespace regduel::ir
