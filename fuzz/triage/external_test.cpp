// Failures of external allocators, shown again and bisected.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/failure.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

constexpr const char* kProgram = R"(rir 1
func @f kernel target sm_90 threads 32
  block b0
    #0 bar !convergent
    #1 exit
)";

std::string name_of(const std::string& arguments) { return fmt::format("exec:'{}' {}", REGDUEL_TESTING_CHILD, arguments); }

duel::Case input() {
  const ir::Target* target = ir::find_target("sm_90");
  return {target, ir::Limits::of(*target), {}, ir::parse(kProgram)->functions[0]};
}

TEST(External, FuelFindsTheBadDecision) {
  const std::string name = name_of("fuel");
  ASSERT_TRUE(duel::enter_external(name, {}).has_value());
  const auto bad = first_bad_decision(input(), {name, "harness/broken-text"});
  EXPECT_EQ(bad.number, 3);
  EXPECT_EQ(bad.kind, "decision-3");
}

TEST(External, AHangIsShownAgainInLessTime) {
  const std::string name = name_of("spin ");
  ASSERT_TRUE(duel::enter_external(name, {.timeout = 60}).has_value());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(reproduces(input(), Failure{name, "harness/broken-hang"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace regduel::fuzz
