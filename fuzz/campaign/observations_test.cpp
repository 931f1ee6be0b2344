// Campaigns that look for quality: gaps between allocators and cliffs of one are observations, no findings.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "duel/allocators.h"
#include "fuzz/campaign/testing.h"

namespace regduel::fuzz {
namespace {

using testing::HasSubstr;

// A right allocator that keeps every tied value in memory besides: no judge objects, and a campaign that looks for gaps sees it.
class Wasteful : public ir::Allocator {
 public:
  std::string_view name() const override { return "wasteful"; }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    ir::AllocOptions less = options;
    const bool has_tie =
        std::any_of(program.operands.begin(), program.operands.end(), [](const ir::Operand& op) { return op.is_tied(); });
    int& limit = less.limits.units[ir::index(ir::RegFile::R)];
    const int whole = limit;
    if (has_tie) limit = std::max(4, limit / 3);
    auto result = duel::find_allocator("briggs")->allocate(program, target, less);
    if (!result && has_tie) {
      limit = whole;
      result = duel::find_allocator("briggs")->allocate(program, target, less);
    }
    return result;
  }
};

TEST_F(CampaignTest, AGapIsAnObservation) {
  const Wasteful wasteful;
  const duel::Entered entered(wasteful);
  const std::array<const ir::Allocator*, 2> duelists = {duel::find_allocator("briggs"), &wasteful};
  CampaignOptions o = options(duelists, 300);
  o.gaps = {*parse_gap("wasteful/briggs:weighted_spill_bytes>=3")};
  o.reduce_budget = 400'000;
  const CampaignResult r = run(o);
  EXPECT_TRUE(r.found.empty());
  ASSERT_FALSE(r.observed.empty());
  const Found& f = r.observed[0];
  EXPECT_EQ(f.failure.signature, "gap/wasteful/briggs:weighted_spill_bytes>=3.00");
  EXPECT_LE(f.instructions, 30u);
  EXPECT_THAT(f.message, HasSubstr(" times the weighted_spill_bytes of briggs"));
  EXPECT_TRUE(reproduces(played(f.path), o.gaps[0])) << f.path;
  EXPECT_THAT(read_file(f.path).value(), HasSubstr("--with wasteful,briggs"));
  EXPECT_THAT(r.totals, HasSubstr(" 0 findings"));
  o.is_gap_finding = true;
  o.db = path("other.sqlite");
  EXPECT_FALSE(run(o).found.empty());
}

// Takes a third of the registers where their number is odd: one more costs spills.
class Odd : public ir::Allocator {
 public:
  std::string_view name() const override { return "odd"; }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    ir::AllocOptions less = options;
    int& limit = less.limits.units[ir::index(ir::RegFile::R)];
    if (limit % 2 != 0 && limit > 12) limit /= 3;
    auto result = duel::find_allocator("briggs")->allocate(program, target, less);
    return result ? std::move(result) : duel::find_allocator("briggs")->allocate(program, target, options);
  }
};

TEST_F(CampaignTest, ACliffIsAnObservation) {
  const Odd odd;
  const duel::Entered entered(odd);
  const std::array<const ir::Allocator*, 1> duelists = {&odd};
  CampaignOptions o = options(duelists, 200);
  o.gaps = {*parse_cliff("odd:weighted_spill_bytes>=3")};
  o.registers = {13, 15};
  o.reduce_budget = 400'000;
  const CampaignResult r = run(o);
  EXPECT_TRUE(r.found.empty());
  ASSERT_FALSE(r.observed.empty());
  const Found& f = r.observed[0];
  EXPECT_EQ(f.failure.signature, "cliff/odd:weighted_spill_bytes>=3.00");
  EXPECT_LE(f.instructions, 40u);
  EXPECT_THAT(f.message, HasSubstr("times the weighted_spill_bytes with a limit of "));
  EXPECT_TRUE(reproduces(played(f.path), o.gaps[0])) << f.path;
  EXPECT_THAT(read_file(f.path).value(), HasSubstr("--with odd "));
  EXPECT_THAT(r.totals, HasSubstr(" 0 findings"));
}

}  // namespace
}  // namespace regduel::fuzz
