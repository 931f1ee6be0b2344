#include "fuzz/edit/mutator.h"

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

std::vector<Mutation> mutations() {
  std::vector<Mutation> all;
  for (int m = 0; m < kNumMutations; ++m) all.push_back(static_cast<Mutation>(m));
  return all;
}

Mutation named(std::string_view wanted) {
  for (const Mutation m : mutations())
    if (name(m) == wanted) return m;
  ADD_FAILURE() << "there is no mutation " << wanted;
  return {};
}

class MutationTest : public testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, StaysWellFormedAndOftenWorks) {
  int applied = 0;
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    duel::Case input = duel::derive_case(seed % 40);
    const std::vector<std::uint8_t> before = duel::encode_case(input);
    const bool changed = apply(GetParam(), input, seed);
    ASSERT_TRUE(ir::check(input.program, *input.target).empty()) << seed;
    EXPECT_EQ(changed, duel::encode_case(input) != before) << seed;
    for (std::size_t k = 0; k < input.limits.units.size(); ++k) ASSERT_LE(input.limits.units[k], input.target->units[k]);
    applied += changed ? 1 : 0;
  }
  EXPECT_GE(applied, kSeeds / 20);
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest, testing::ValuesIn(mutations()),
                         [](const auto& param) { return std::string(name(param.param)); });

TEST(Mutate, ChainsStayWellFormedAndRepeat) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    duel::Case a = duel::derive_case(seed), b = duel::derive_case(seed);
    for (std::uint64_t step = 0; step < 40; ++step) {
      mutate(a, seed * 1000 + step);
      mutate(b, seed * 1000 + step);
      ASSERT_TRUE(ir::check(a.program, *a.target).empty());
    }
    EXPECT_EQ(duel::encode_case(a), duel::encode_case(b));
  }
}

TEST(Cross, ChildrenAreWellFormedRepeatAndHaveSomethingOfBoth) {
  int grown = 0, limits = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const duel::Case a = duel::derive_case(seed), b = duel::derive_case(seed + 1000);
    const duel::Case child = cross(a, b, seed);
    ASSERT_TRUE(ir::check(child.program, *child.target).empty()) << seed;
    EXPECT_EQ(duel::encode_case(child), duel::encode_case(cross(a, b, seed)));
    EXPECT_EQ(duel::encode_case(duel::decode_case(duel::encode_case(child))), duel::encode_case(child));
    grown += child.program.insts.size() > a.program.insts.size() ? 1 : 0;
    limits += child.limits.units != a.limits.units ? 1 : 0;
  }
  EXPECT_GT(grown, 40);
  EXPECT_GT(limits, 15);
}

// A source line belongs to the program that it stands in.
TEST(Cross, ChildrenOfProgramsWithSourceLinesAreWellFormed) {
  const auto with_lines = [](duel::Case input, const char* file, std::uint32_t lines) {
    ir::Function& f = input.program;
    const ir::SymbolId name = f.symbols.intern(file);
    for (std::uint32_t k = 0; k < lines; ++k) f.add_source_line({name, k + 1, 0});
    for (std::size_t k = 0; k < f.insts.size(); ++k) f.insts[k].line = ir::SourceLineId(k % lines);
    return input;
  };
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    duel::Case child =
        cross(with_lines(duel::derive_case(seed), "a.cu", 1), with_lines(duel::derive_case(seed + 1000), "b.cu", 40), seed);
    for (std::uint64_t step = 0; step < 10; ++step) mutate(child, seed * 100 + step);
    ASSERT_TRUE(ir::check(child.program, *child.target).empty()) << seed;
    for (const ir::Inst& i : child.program.insts) EXPECT_NE(child.program.source_place(i).substr(0, 4), "b.cu");
  }
}

// Each mutation does what its name says.
TEST(Mutation, GrowthGrows) {
  const auto after = [](Mutation m, auto holds) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      duel::Case input = duel::derive_case(seed, 80);
      const duel::Case before = input;
      if (apply(m, input, seed) && holds(before.program, input.program)) ++count;
    }
    return count;
  };
  const auto count_of = [](const ir::Function& f, ir::Op op) {
    return std::count_if(f.insts.begin(), f.insts.end(), [&](const ir::Inst& i) { return i.op == op; });
  };
  const auto has_self_loop = [](const ir::Function& f) {
    for (std::size_t b = 0; b < f.blocks.size(); ++b)
      for (const ir::BlockId t : f.successors(ir::BlockId(static_cast<std::uint32_t>(b))))
        if (t.index() == b) return true;
    return false;
  };
  EXPECT_GE(after(named("insert_call"),
                  [&](const ir::Function& b, const ir::Function& a) {
                    return count_of(a, ir::Op::Call) == count_of(b, ir::Op::Call) + 1;
                  }),
            40);
  EXPECT_GE(after(named("inline_call"),
                  [&](const ir::Function& b, const ir::Function& a) {
                    return count_of(a, ir::Op::Call) + 1 == count_of(b, ir::Op::Call);
                  }),
            3);
  EXPECT_GE(after(named("insert_copy"),
                  [&](const ir::Function& b, const ir::Function& a) {
                    return count_of(a, ir::Op::Copy) == count_of(b, ir::Op::Copy) + 1;
                  }),
            30);
  EXPECT_GE(
      after(named("insert_phi"),
            [&](const ir::Function& b, const ir::Function& a) { return count_of(a, ir::Op::Phi) == count_of(b, ir::Op::Phi) + 1; }),
      15);
  EXPECT_GE(after(named("return_values"),
                  [](const ir::Function& b, const ir::Function& a) {
                    return a.kind != b.kind || a.operands.size() == b.operands.size() + 1;
                  }),
            30);
  const auto aliases = [](const ir::Function& f) {
    return std::count_if(f.vregs.begin(), f.vregs.end(), [](const ir::VReg& v) { return v.alias.is_valid(); });
  };
  EXPECT_GE(after(named("toggle_alias"), [&](const ir::Function& b, const ir::Function& a) { return aliases(a) != aliases(b); }),
            20);
  const auto parts = [](const ir::Function& f) {
    return std::count_if(f.operands.begin(), f.operands.end(), [](const ir::Operand& o) { return !o.part.is_whole(); });
  };
  EXPECT_GE(after(named("change_part"), [&](const ir::Function& b, const ir::Function& a) { return parts(a) != parts(b); }), 15);
  EXPECT_GE(
      after(named("add_edge"), [](const ir::Function& b, const ir::Function& a) { return a.targets.size() > b.targets.size(); }),
      10);
  EXPECT_GE(after(named("make_irreducible"),
                  [](const ir::Function& b, const ir::Function& a) { return a.targets.size() > b.targets.size(); }),
            5);
  EXPECT_GE(after(named("wrap_in_loop"), [&](const ir::Function&, const ir::Function& a) { return has_self_loop(a); }), 40);
  EXPECT_GE(
      after(named("raise_pressure"), [](const ir::Function& b, const ir::Function& a) { return a.vregs.size() > b.vregs.size(); }),
      50);
  EXPECT_GE(after(named("splice"), [](const ir::Function& b, const ir::Function& a) { return a.insts.size() > b.insts.size(); }),
            40);
}

}  // namespace
}  // namespace regduel::fuzz
