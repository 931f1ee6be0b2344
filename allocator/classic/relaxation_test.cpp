#include "allocator/classic/relaxation.h"

#include <string>

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

// One letter a soft constraint: kept or left out.
std::string kept(Relaxation r, int soft = 10) {
  std::string s;
  for (int n = 1; n <= soft; ++n) s += r.leaves_out(n, soft) ? '-' : 'k';
  return s;
}

TEST(Relaxation, FirstIterationKeepsAll) {
  EXPECT_EQ(kept({.iteration = 0, .each = 100, .ceiling_step = 100, .bank_aware = true}), "kkkkkkkkkk");
}

TEST(Relaxation, LaterOnesLeaveOutMoreAndMore) {
  EXPECT_EQ(kept({.iteration = 1, .each = 3}), "---kkkkkkk");
  EXPECT_EQ(kept({.iteration = 2, .each = 3}), "------kkkk");
  EXPECT_EQ(kept({.iteration = 4, .each = 3}), "----------");
  EXPECT_EQ(kept({.iteration = 2, .each = 0}), "kkkkkkkkkk");
}

TEST(Relaxation, CeilingCountsWhereBanksDo) {
  EXPECT_EQ(kept({.iteration = 1, .each = 3, .ceiling_step = 2, .bank_aware = true}), "---kkkkk--");
  EXPECT_EQ(kept({.iteration = 2, .each = 3, .ceiling_step = 2, .bank_aware = true}), "----------");
  EXPECT_EQ(kept({.iteration = 2, .each = 0, .ceiling_step = 2, .bank_aware = true}), "kkkkkk----");
  EXPECT_EQ(kept({.iteration = 1, .each = 3, .ceiling_step = 2, .bank_aware = false}), "---kkkkkkk");
}

}  // namespace
}  // namespace regduel::allocator
