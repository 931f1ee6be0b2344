// What is kept of a program before: built once, and the same as when built for a single case.

#include "oracles/before.h"

#include "oracles/judges.h"
#include "oracles/pair/preserved.h"
#include "oracles/quality/quality.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const ir::Target& target() { return *ir::find_target("sm_90"); }

ir::Function device() {
  return parse_function(R"(
func @t device target sm_90 threads 32
  vreg %0 R b32
  block b0
    #5 %0 = a 1
    #1 bra -> b1
  block b1
    #2 use %0
    #9 ret
)");
}

struct CountedPart {
  explicit CountedPart(const Before& before) : program(&before.program()) { ++made; }
  const ir::Function* program;
  int uses = 0;
  static inline int made = 0;
};
struct OtherPart {
  explicit OtherPart(const Before&) {}
  int uses = 10;
};

TEST(Before, HoldsWhatIsReadOffTheProgram) {
  const ir::Function f = device();
  const Before before(f, target());
  EXPECT_EQ(&before.program(), &f);
  EXPECT_EQ(&before.target(), &target());
  EXPECT_EQ(before.cfg().reverse_postorder().size(), 2u);
  EXPECT_EQ(before.ids().find(ir::InstId(9)), 3u);
  EXPECT_FALSE(before.preserved().empty());
  EXPECT_THAT(before.preserved(), ::testing::ElementsAreArray(preserved_units(f, target())));
}

TEST(Before, MakesEachPartOnceAtItsFirstUse) {
  const ir::Function f = device();
  const Before before(f, target()), other(f, target());
  CountedPart::made = 0;
  ++before.part<CountedPart>().uses;
  ++before.part<OtherPart>().uses;
  ++before.part<CountedPart>().uses;
  EXPECT_EQ(CountedPart::made, 1);
  EXPECT_EQ(before.part<CountedPart>().uses, 2);
  EXPECT_EQ(before.part<CountedPart>().program, &f);
  EXPECT_EQ(before.part<OtherPart>().uses, 11);
  EXPECT_EQ(other.part<CountedPart>().uses, 0);
  EXPECT_EQ(CountedPart::made, 2);
}

// One Before for many cases: each report is that of the case on its own.
TEST(Before, ServesManyCasesAsAFreshOneWould) {
  const ir::Function before = device();
  const std::string head = R"(
func @t device target sm_90 threads 32 allocated
  frame local 16 shared 0
  vreg %0 R b32
)";
  const std::string slot = "  slot 0 local size 4 align 4 offset 0\n";
  const std::vector<std::string> bodies = {
      R"(
  block b0
    #5 R0 = a 1
    #1 bra -> b1
  block b1
    #2 use R0
    #9 ret
)", R"(
  block b0
    #5 R0 = a 1
    #1 bra -> b1
  block b1
    #2 use R1
    #9 ret
)", R"(
  block b0
    #5 R24 = a 1
    #1 bra -> b1
  block b1
    #2 use R24
    #9 ret
)", R"(
  block b0
    #5 R0 = a 1
    +20 spill R0, slot 0
    #1 bra -> b1
  block b1
    +21 R2 = refill slot 0
    #2 use R2
    #9 ret
)", R"(
  block b0
    #5 R0 = a 1
    #1 bra -> b1
  block b1
    #2 use R0
    #9 ret
)",
  };
  const Before shared(before, target());
  int num_failed = 0;
  for (const int registers : {255, 2})
    for (const std::string& body : bodies) {
      const ir::Function after = parse_function(head + slot + body);
      const ir::Limits limits = ir::Limits::of(target(), registers);
      const Report one = judge(Case(shared, after, limits)), fresh = judge({before, after, target(), limits});
      ASSERT_EQ(one.results.size(), fresh.results.size());
      for (std::size_t k = 0; k < one.results.size(); ++k) EXPECT_EQ(describe(one.results[k]), describe(fresh.results[k]));
      num_failed += one.verdict() == Verdict::Fail ? 1 : 0;
      EXPECT_EQ(measure(shared, after), measure({before, target()}, after));
    }
  EXPECT_EQ(num_failed, 5);
}

}  // namespace
}  // namespace regduel::oracles
