#include "allocator/assign/retry.h"

#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

Knobs knobs(std::initializer_list<std::pair<std::string, std::string>> settings) {
  const std::vector<std::pair<std::string, std::string>> list(settings);
  return *Knobs::parse(list);
}

// The table of source 000 "Retry Loop".
TEST(Retry, AttemptsWithoutSpilling) {
  EXPECT_EQ(attempts_without_spilling(knobs({}), true), 2);
  EXPECT_EQ(attempts_without_spilling(knobs({}), false), 0);
  EXPECT_EQ(attempts_without_spilling(knobs({{"639", "5"}}), true), 2);
  for (const bool low : {true, false}) {
    EXPECT_EQ(attempts_without_spilling(knobs({{"638", "1"}}), low), 1);
    EXPECT_EQ(attempts_without_spilling(knobs({{"638", "1"}, {"639", "5"}}), low), 5);
    EXPECT_EQ(attempts_without_spilling(knobs({{"638", "1"}, {"639", "0"}}), low), 0);
    EXPECT_EQ(attempts_without_spilling(knobs({{"FastCompile", "3"}}), low), 0);
    EXPECT_EQ(attempts_without_spilling(knobs({{"FastCompile", "3"}, {"639", "5"}}), low), 0);
    EXPECT_EQ(attempts_without_spilling(knobs({{"FastCompile", "2"}}), low), 1);
    EXPECT_EQ(attempts_without_spilling(knobs({{"FastCompile", "1"}}), low), 2);
  }
}

}  // namespace
}  // namespace regduel::allocator
