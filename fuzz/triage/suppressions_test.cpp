#include "fuzz/triage/suppressions.h"

#include <string>

#include <gtest/gtest.h>

namespace regduel::fuzz {
namespace {

TEST(Suppressions, CoverUntilTheirDay) {
  const auto list = parse_suppressions(
      "# known\n\nbriggs memcheck/3@*:use until 2026-12-31  # a slow fix\n* quality/* until 2027-02-28\n", "s.txt");
  ASSERT_TRUE(list) << to_string(list.error());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].line, 3);
  EXPECT_TRUE(is_suppressed(*list, {"briggs", "memcheck/3@fma:use"}, "2026-12-31"));
  EXPECT_FALSE(is_suppressed(*list, {"briggs", "memcheck/3@fma:use"}, "2027-01-01"));
  EXPECT_FALSE(is_suppressed(*list, {"fatpoint", "memcheck/3@fma:use"}, "2026-12-31"));
  EXPECT_FALSE(is_suppressed(*list, {"briggs", "memcheck/3@fma:def"}, "2026-12-31"));
  EXPECT_TRUE(is_suppressed(*list, {"fatpoint", "quality/registers@function"}, "2027-01-01"));
  EXPECT_EQ(expired(*list, "2027-01-01").size(), 1u);
}

TEST(Suppressions, AWrongLineIsNamed) {
  const auto error = [](std::string_view text) {
    const auto list = parse_suppressions(text, "s.txt");
    return list ? std::string("none") : to_string(list.error());
  };
  EXPECT_EQ(error("briggs"),
            "s.txt:1:7: error: expected a signature: ALLOCATOR SIGNATURE until YYYY-MM-DD, found the end of the line");
  EXPECT_EQ(error("\nbriggs a/b 2026-12-31"), "s.txt:2:12: error: expected \"until\", found 2026-12-31");
  EXPECT_EQ(error("briggs a/b until 2026-02-30"), "s.txt:1:18: error: expected a date, YYYY-MM-DD, found 2026-02-30");
  EXPECT_EQ(error("briggs a/b until"), "s.txt:1:17: error: expected a date, YYYY-MM-DD, found the end of the line");
  EXPECT_EQ(error("briggs a/b until 2026-02-20 because"),
            "s.txt:1:29: error: expected the end of the line, or # and a reason, found because");
}

}  // namespace
}  // namespace regduel::fuzz
