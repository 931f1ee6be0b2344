#include "reference/by_point/point_packing.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace regduel::reference {
namespace {

bool may_stand(const std::vector<Tenant>& tenants, const std::vector<int>& units, std::size_t k, int unit) {
  const Tenant& t = tenants[k];
  if (unit % (1 << t.align_log2) != 0 || !t.room.has_all(unit, unit + t.units)) return false;
  for (std::size_t o = 0; o < k; ++o) {
    const Tenant& other = tenants[o];
    const bool meet = (t.at_reads && other.at_reads) || (t.at_writes && other.at_writes);
    if (meet && unit < units[o] + other.units && units[o] < unit + t.units) return false;
  }
  return true;
}
bool fits(const std::vector<Tenant>& tenants, std::vector<int>& units, std::size_t k = 0) {
  if (k == tenants.size()) return true;
  for (int u = 0; u < 12; ++u) {
    if (!may_stand(tenants, units, k, u)) continue;
    units[k] = u;
    if (fits(tenants, units, k + 1)) return true;
  }
  return false;
}

TEST(PointPacking, FindsAPlaceWhereThereIsOne) {
  Random rng(7);
  int impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    const int size = 4 + static_cast<int>(rng.below(7));
    std::vector<Tenant> tenants;
    for (std::uint32_t n = 1 + rng.below(6); n > 0; --n) {
      Tenant t;
      t.align_log2 = static_cast<int>(rng.below(3));
      t.units = std::max(1, (1 << t.align_log2) - static_cast<int>(rng.below(2)));
      t.room = ir::UnitSet::range(0, size);
      if (rng.below(4) == 0) t.room.clear(static_cast<int>(rng.below(static_cast<std::uint32_t>(size))));
      const std::uint32_t when = rng.below(3);
      t.at_reads = when != 1;
      t.at_writes = when != 0;
      t.preferred = rng.below(3) == 0 ? static_cast<int>(rng.below(10)) : -1;
      tenants.push_back(t);
    }
    std::vector<int> units(tenants.size()), found;
    const bool expected = fits(tenants, units);
    ASSERT_EQ(pack_point(tenants, found), expected ? Packing::Fits : Packing::Impossible) << round;
    impossible += !expected;
    for (std::size_t k = 0; expected && k < tenants.size(); ++k) ASSERT_TRUE(may_stand(tenants, found, k, found[k])) << round;
  }
  EXPECT_GT(impossible, 100);
}

TEST(PointPacking, StaysWhereItIsPreferred) {
  std::vector<int> units;
  const std::vector<Tenant> tenants = {{1, 0, ir::UnitSet::range(0, 8), true, true, 5},
                                       {2, 1, ir::UnitSet::range(0, 8), true, false, 2}};
  ASSERT_EQ(pack_point(tenants, units), Packing::Fits);
  EXPECT_EQ(units, (std::vector<int>{5, 2}));
}

}  // namespace
}  // namespace regduel::reference
