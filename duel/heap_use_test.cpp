#include "duel/heap_use.h"

#include <gtest/gtest.h>

namespace regduel::duel {
namespace {

TEST(HeapUse, ThePeakIsAboveWhatWasHeldBefore) {
  heap_is_counted = true;
  heap_use = {};
  heap_use.add(1000);
  {
    const HeapPeak outer;
    EXPECT_EQ(outer.bytes(), 0);
    heap_use.add(50);
    {
      const HeapPeak inner;
      heap_use.add(7);
      heap_use.add(-7);
      EXPECT_EQ(inner.bytes(), 7);
    }
    heap_use.add(-50);
    EXPECT_EQ(outer.bytes(), 57);
  }
  EXPECT_EQ(heap_use.most, 1057);
  heap_use = {};
  heap_is_counted = false;
}

TEST(HeapUse, IsNotKnownWhereNobodyCounts) {
  ASSERT_FALSE(heap_is_counted);
  EXPECT_EQ(HeapPeak().bytes(), std::nullopt);
}

}  // namespace
}  // namespace regduel::duel
