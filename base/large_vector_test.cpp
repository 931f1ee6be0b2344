#include "base/large_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace regduel {
namespace {

TEST(LargeVector, HoldsWhatIsPutIntoItOnBothSidesOfTheSizeOfHugePages) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{1} << 20, (std::size_t{3} << 20) + 1}) {
    LargeVector<std::uint32_t> v;
    v.resize(size);
    std::iota(v.begin(), v.end(), 7u);
    const LargeVector<std::uint32_t> copy = v;
    for (std::size_t k = 0; k < size; ++k) ASSERT_EQ(copy[k], k + 7);
    v.assign(size, 0);
    for (const std::uint32_t x : v) ASSERT_EQ(x, 0u);
  }
}

TEST(LargeVector, LargeOnesBeginWithAPage) {
  LargeVector<std::uint64_t> v;
  v.resize(LargeAllocator<std::uint64_t>::kLeastBytes / sizeof(std::uint64_t));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % LargeAllocator<std::uint64_t>::kHugePage, 0u);
}

}  // namespace
}  // namespace regduel
