#include "fuzz/triage/usual_cost.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/heap_use.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/testing.h"

namespace regduel::fuzz {
namespace {

// Holds 1,000 bytes and 10 an instruction; ten times as much where an operand is tied.
class Hungry final : public ir::Allocator {
 public:
  std::string_view name() const override { return "hungry"; }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    const bool has_tie = std::ranges::any_of(program.operands, [](const ir::Operand& op) { return op.is_tied(); });
    const std::int64_t bytes = (1000 + 10 * static_cast<std::int64_t>(program.insts.size())) * (has_tie ? 10 : 1);
    duel::heap_use.add(bytes);
    duel::heap_use.add(-bytes);
    return duel::find_allocator("briggs")->allocate(program, target, options);
  }
};

class UsualCostTest : public testing::Test {
 protected:
  void SetUp() override { duel::heap_is_counted = true; }
  void TearDown() override { duel::heap_is_counted = was_counted_; }

  const bool was_counted_ = duel::heap_is_counted;
  const Hungry hungry_;
  const duel::Entered entered_{hungry_};
};

constexpr const char* kPlain = R"(  vreg %0 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 st 4, %0 !write
    #2 exit
)";
constexpr const char* kTied = R"(  vreg %0 R b32
  block b0
    #0 %0 = ld 0 !read
    #1 %0{tied 1} = add %0, 1
    #2 st 4, %0 !write
    #3 exit
)";

TEST_F(UsualCostTest, IsALineOverTheSizeOfPrograms) {
  const auto usual = usual_cost(hungry_, Cost::HeapBytes);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->base, 1010);  // with its one instruction
  EXPECT_GT(usual->each, 9);
  EXPECT_EQ(cost_of(hungry_, case_of(kPlain), Cost::HeapBytes), 1030);
}

TEST_F(UsualCostTest, ManyTimesWhatIsUsualIsACliff) {
  const auto cliff = parse_cliff("hungry:heap_bytes>=2");
  ASSERT_TRUE(cliff) << cliff.error();
  EXPECT_TRUE(reproduces(case_of(kTied), *cliff));
  EXPECT_FALSE(reproduces(case_of(kPlain), *cliff));
  EXPECT_TRUE(reproduces(case_of(kTied), failure_of(*cliff)));
}

TEST_F(UsualCostTest, WithoutACountThereIsNone) {
  duel::heap_is_counted = false;
  EXPECT_FALSE(cost_of(hungry_, case_of(kPlain), Cost::HeapBytes));
}

TEST_F(UsualCostTest, TimeIsThatOfTheProcessor) {
  const auto usual = usual_cost(hungry_, Cost::Microseconds);
  ASSERT_TRUE(usual);
  EXPECT_GE(usual->base, 1);
  EXPECT_GE(cost_of(hungry_, case_of(kPlain), Cost::Microseconds), 1);
}

}  // namespace
}  // namespace regduel::fuzz
