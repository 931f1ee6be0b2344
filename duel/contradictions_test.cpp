// The metamorphic judge and the judge of success against demand, beside a duel: with duelists that are wrong on purpose.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "generate/generator.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

using Answer = std::expected<ir::Allocation, ir::AllocFailure>;

const ir::Allocator& briggs() { return *find_allocator("briggs"); }
Answer give_up() { return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Impossible, "no"}); }

template <class Body>
class Duelist : public ir::Allocator {
 public:
  explicit Duelist(Body body) : body_(body) {}
  std::string_view name() const override { return "rogue"; }
  Answer allocate(const ir::Function& f, const ir::Target& t, const ir::AllocOptions& o) const override { return body_(f, t, o); }

 private:
  Body body_;
};

TEST(Contradictions, FindingsGoToTheBout) {
  const Duelist rogue([](const ir::Function& f, const ir::Target& t, const ir::AllocOptions& o) -> Answer {
    if (f.name == "renamed") return give_up();
    return briggs().allocate(f, t, o);
  });
  const ir::Allocator* duelists[] = {&briggs(), &rogue};
  const ir::Function f = generate::generate({.profile = generate::Profile::Loops, .seed = 1, .size = 60});
  const ir::Target& target = ir::default_target();
  const ir::Limits limits = ir::Limits::of(target, 20);
  const oracles::Before before(f, target);
  ASSERT_EQ(duel(before, {.duelists = duelists, .limits = limits}).verdict(), oracles::Verdict::Pass);
  const Duel d = duel(before, {.duelists = duelists, .limits = limits, .metamorphic = true});
  const auto& bouts = d.metamorphic;
  ASSERT_EQ(bouts.size(), 2u);
  EXPECT_EQ(bouts[0].allocator, "briggs");
  EXPECT_EQ(bouts[0].metamorphic.result.verdict, oracles::Verdict::Pass);
  EXPECT_EQ(d.bouts[0].verdict(), oracles::Verdict::Pass);
  EXPECT_EQ(bouts[1].metamorphic.result.verdict, oracles::Verdict::Fail);
  EXPECT_EQ(d.bouts[1].verdict(), oracles::Verdict::Fail);
  EXPECT_THAT(d.bouts[1].signatures(), testing::ElementsAre("metamorphic/verdict-changed-names@function"));
}

// A success at a limit that completeness calls impossible: the bout is made up, for no allocator can win it.
TEST(Contradictions, SuccessAgainstAProvenFailure) {
  const auto parsed = ir::parse(
      "rir 1\nfunc @t kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 R b32\n  block b0\n    #0 %0, %1 = a\n    #1 b "
      "%0, %1\n    #2 exit\n");
  ASSERT_TRUE(parsed.has_value());
  const ir::Function& f = parsed->functions[0];
  const ir::Target& target = ir::default_target();
  const Duelist gives_up([](const ir::Function&, const ir::Target&, const ir::AllocOptions&) -> Answer { return give_up(); });
  const ir::Allocator* duelists[] = {&gives_up, &briggs()};
  Duel d = duel({f, target}, {.duelists = duelists, .limits = ir::Limits::of(target, 1)});
  ASSERT_EQ(d.verdict(), oracles::Verdict::Skipped);
  Duel won = duel({f, target}, {.duelists = duelists, .limits = ir::Limits::of(target, 2)});
  ASSERT_EQ(won.bouts[1].verdict(), oracles::Verdict::Pass);
  d.bouts[1] = won.bouts[1];
  add_completeness_disagreement(d, oracles::Before(f, target), ir::Limits::of(target, 1));
  EXPECT_EQ(d.bouts[0].verdict(), oracles::Verdict::Skipped);
  EXPECT_EQ(d.bouts[1].verdict(), oracles::Verdict::Fail);
  EXPECT_THAT(d.bouts[1].signatures(), testing::ElementsAre("disagreement/completeness-vs-success@a"));
  // At the limit where it is possible, no judge contradicts another.
  d.bouts[1] = won.bouts[1];
  add_completeness_disagreement(d, oracles::Before(f, target), ir::Limits::of(target, 2));
  EXPECT_EQ(d.bouts[1].verdict(), oracles::Verdict::Pass);
}

}  // namespace
}  // namespace regduel::duel
