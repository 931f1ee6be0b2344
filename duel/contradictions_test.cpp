// The metamorphic judge and the judge of success against demand, beside a duel: with duelists that are wrong on purpose.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "generate/generator.h"
#include "ir/prover.h"
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

// Proves a number of general registers or of bytes, and has no allocation.
class Wrongly : public ir::Prover {
 public:
  explicit Wrongly(std::int64_t at_least, ir::Bound::Kind kind = ir::Bound::Kind::Registers) : at_least_(at_least), kind_(kind) {}
  std::string_view name() const override { return "wrongly"; }
  ir::Bound::Kind kind() const override { return kind_; }
  Answer prove(const ir::Function&, const ir::Target&, const ir::AllocOptions&, std::vector<ir::Bound>& bounds) const override {
    bounds.push_back({.kind = kind_, .at_least = at_least_});
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "no allocation"});
  }

 private:
  std::int64_t at_least_;
  ir::Bound::Kind kind_;
};

// What was proved about Chaitin's graphs of these programs, in which values that copies make equal interfere, dead copies have edges,
// and so have the operands of one instruction. Briggs or fatpoint need less, with each value in one home.
TEST(Contradictions, NoAllocationBeatsAProof) {
  struct Wrong {
    const char* body;
    std::int64_t proved, truth;
  };
  const Wrong wrong[] = {{R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = copy %1
    #3 st %1 !write
    #4 st %2 !write
    #5 st %0 !write
    #6 exit
)",
                          2, 1},
                         {R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 %2 = ld
    #2 %1 = copy %0
    #3 st %0, %2 !write
    #4 %1 = ld
    #5 st %0, %1 !write
    #6 exit
)",
                          3, 2},
                         {R"(  vreg %0 R b64
  vreg %1 R b64
  vreg %2 R b32
  vreg %3 R b64
  vreg %4 R b64
  block b0
    #0 %3 = ld
    #1 %4 = ld
    #2 %0 = copy %4
    #3 %2 = ld
    #4 %1 = ld
    #5 st %0, %4, %3 !write
    #6 st %1, %4 !write
    #7 st %4, %2, %1 !write
    #8 exit
)",
                          9, 7}};
  const ir::Target& target = ir::default_target();
  for (const Wrong& w : wrong) {
    const auto parsed = ir::parse("rir 1\nfunc @t kernel target sm_90 threads 32\n" + std::string(w.body));
    ASSERT_TRUE(parsed.has_value());
    const oracles::Before before(parsed->functions[0], target);
    for (const bool is_wrong : {true, false}) {
      const Wrongly prover(is_wrong ? w.proved : w.truth);
      const ir::Allocator* duelists[] = {&prover, find_allocator("exact"), find_allocator("fatpoint")};
      const Duel d = duel(before, {.duelists = duelists, .limits = ir::Limits::of(target, 255)});
      EXPECT_EQ(d.bouts[1].measures.registers[0], w.truth);
      for (std::size_t k = 1; k < 3; ++k)
        if (is_wrong) EXPECT_THAT(d.bouts[k].signatures(), testing::ElementsAre("proof/beats-registers@function")) << w.body;
        else EXPECT_EQ(d.bouts[k].verdict(), oracles::Verdict::Pass) << w.body;
    }
  }
}

// What was proved too high: of a phi whose move stands on the edge behind a branch with clobbers, and of a copy that may vanish although
// it names a value twice.
TEST(Contradictions, NoAllocationOfTheRegressionCasesBeatsAProof) {
  struct Beaten {
    const char* file;
    int limit;
    const char *prover, *other;
  };
  for (const Beaten& c : {Beaten{"phi_behind_a_branch_with_clobbers.rir", 255, "exact", "fatpoint"},
                          Beaten{"parallel_copy_that_names_a_value_twice.rir", 24, "exact-split", "exact-spill"}}) {
    const auto parsed = ir::parse(read_file(fmt::format("{}/corpus/regression/{}", REGDUEL_SOURCE_DIR, c.file)).value());
    ASSERT_TRUE(parsed.has_value());
    const ir::Target& target = ir::default_target();
    const ir::Allocator* duelists[] = {find_allocator(c.prover), find_allocator(c.other)};
    const Duel d =
        duel(oracles::Before(parsed->functions[0], target), {.duelists = duelists, .limits = ir::Limits::of(target, c.limit)});
    for (const Bout& b : d.bouts) EXPECT_EQ(b.verdict(), oracles::Verdict::Pass) << c.file << ", " << b.allocator;
  }
}

// Three values of 4 bytes with two registers: one of them is stored and refilled once, 8 bytes.
TEST(Contradictions, NoAllocationBeatsAProofByPoint) {
  const auto parsed = ir::parse(R"(rir 1
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  block b0
    #0 %0 = ld
    #1 %1 = ld
    #2 %2 = ld
    #3 st %2 !write
    #4 st %1 !write
    #5 st %0 !write
    #6 exit
)");
  ASSERT_TRUE(parsed.has_value());
  const ir::Target& target = ir::default_target();
  const oracles::Before before(parsed->functions[0], target);
  for (const bool is_wrong : {true, false}) {
    const Wrongly prover(is_wrong ? 9 : 8, ir::Bound::Kind::SpillBytesByPoint);
    const ir::Allocator* duelists[] = {&prover, find_allocator("exact-split"), find_allocator("briggs"), find_allocator("chordal")};
    const Duel d = duel(before, {.duelists = duelists, .limits = ir::Limits::of(target, 2)});
    for (std::size_t k = 1; k < 4; ++k) {
      EXPECT_EQ(d.bouts[k].measures.weighted_spill_bytes, 8);
      if (is_wrong) EXPECT_THAT(d.bouts[k].signatures(), testing::ElementsAre("proof/beats-spill-bytes-by-point@function"));
      else EXPECT_EQ(d.bouts[k].verdict(), oracles::Verdict::Pass);
    }
  }
}

}  // namespace
}  // namespace regduel::duel
