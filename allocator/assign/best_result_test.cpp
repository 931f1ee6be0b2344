#include "allocator/assign/best_result.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

constexpr ResultRecord kBase = {.attempt = 0, .fits = true, .register_count = 10, .cost = 5, .class_width = 8};

// Whether kBase becomes better by a change, and not also worse.
template <class Change>
bool is_improved(Change change, ResultOrder order) {
  ResultRecord r = kBase;
  change(r);
  return is_better(r, kBase, order) && !is_better(kBase, r, order);
}

// Each field decides where all before it agree.
TEST(BestResult, WithoutSpillingRegistersComeFirst) {
  const auto better = [](auto change) { return is_improved(change, ResultOrder::NoSpill); };
  EXPECT_TRUE(better([](ResultRecord& r) { r = {.attempt = 1, .fits = true, .register_count = 9, .cost = 9, .class_width = 9}; }));
  EXPECT_TRUE(better([](ResultRecord& r) { r.cost = 4, r.class_width = 9; }));
  EXPECT_TRUE(better([](ResultRecord& r) { r.class_width = 7; }));
  EXPECT_FALSE(better([](ResultRecord&) {}));
  EXPECT_FALSE(better([](ResultRecord& r) { r = {.attempt = 1, .fits = false}; }));
}

TEST(BestResult, WithSpillingCostComesFirst) {
  const auto better = [](auto change) { return is_improved(change, ResultOrder::Spill); };
  EXPECT_TRUE(better([](ResultRecord& r) { r.cost = 4, r.register_count = 11; }));
  EXPECT_TRUE(better([](ResultRecord& r) { r.register_count = 9, r.class_width = 9; }));
  EXPECT_TRUE(better([](ResultRecord& r) { r.class_width = 7; }));
  EXPECT_FALSE(better([](ResultRecord& r) { r.fits = false, r.cost = 0; }));
}

TEST(BestResult, AnythingIsBetterThanNothing) {
  EXPECT_TRUE(is_better({.attempt = 0}, {}, ResultOrder::NoSpill));
  EXPECT_TRUE(is_better({.attempt = 0}, {}, ResultOrder::Spill));
}

}  // namespace
}  // namespace regduel::allocator
