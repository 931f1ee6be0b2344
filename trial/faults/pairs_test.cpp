// Pairs of a pass and files of several functions: each kind of fault is made, rejected, and told from what is right.
#include "trial/faults/pairs.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::trial {
namespace {

TEST(Pairs, EveryKindIsMadeRejectedAndToldFromWhatIsRight) {
  PairTable table;
  const std::size_t kinds = pair_faults().size();
  for (std::uint64_t k = 0; k < 60 * kinds; ++k) table.add(run_pair_on(1, k));
  for (const FaultMiss& m : table.misses())
    ADD_FAILURE() << m.kind << ' ' << m.operator_name << ", run " << m.index << '\n' << m.detail << m.before << m.after;
  for (std::size_t k = 0; k < kinds; ++k) {
    const PairRow& row = table.rows()[k];
    EXPECT_GT(row.made, 0) << pair_faults()[k].name;
    EXPECT_EQ(row.rejected, row.made) << pair_faults()[k].name;
    EXPECT_EQ(row.accepted, row.made) << pair_faults()[k].name;
  }
}

TEST(Pairs, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const PairFault& f : pair_faults()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_FALSE(f.what.empty()) << f.name;
    EXPECT_FALSE(f.category.empty()) << f.name;
  }
}

TEST(Pairs, TheSameRunIsTheSame) {
  for (std::uint64_t k = 0; k < 3 * pair_faults().size(); ++k) {
    const PairRun one = run_pair_on(7, k), other = run_pair_on(7, k);
    EXPECT_EQ(one.is_subject, other.is_subject);
    EXPECT_EQ(one.rejected, other.rejected);
  }
}

}  // namespace
}  // namespace regduel::trial
