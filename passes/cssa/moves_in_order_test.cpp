// All parallel copies of up to five vregs, one by one, do what they do at once.

#include "passes/cssa/moves_in_order.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace regduel::passes::conventional {
namespace {

using ir::Operand;
using ir::Role;
using ir::VRegId;

TEST(MovesInOrder, DoWhatTheyDoAtOnce) {
  constexpr std::size_t kRegisters = 5;
  std::size_t cycles = 0;
  // source[k] is what k becomes; kRegisters: it is not written.
  std::size_t total = 1;
  for (std::size_t k = 0; k < kRegisters; ++k) total *= kRegisters + 1;
  for (std::size_t code = 0; code < total; ++code) {
    std::vector<std::size_t> source;
    for (std::size_t k = 0, rest = code; k < kRegisters; ++k, rest /= kRegisters + 1) source.push_back(rest % (kRegisters + 1));
    ir::Function f;
    for (std::size_t k = 0; k < kRegisters; ++k) f.add_vreg({});
    std::vector<Move> parallel;
    for (std::size_t k = 0; k < kRegisters; ++k)
      if (source[k] != kRegisters && source[k] != k)
        parallel.push_back({Operand::of_vreg(Role::Def, VRegId(k)), Operand::of_vreg(Role::Use, VRegId(source[k]))});
    const auto order = moves_in_order(f, parallel, [&](VRegId root) { return f.add_vreg(f.vreg(root)); });
    std::vector<std::size_t> value(f.vregs.size(), 99);
    for (std::size_t k = 0; k < kRegisters; ++k) value[k] = k;
    for (const Move& m : order) value[m.def.vreg().index()] = value[m.use.vreg().index()];
    for (std::size_t k = 0; k < kRegisters; ++k) ASSERT_EQ(value[k], source[k] == kRegisters ? k : source[k]) << code;
    // One more for each cycle, and no more.
    const std::size_t spares = f.vregs.size() - kRegisters;
    EXPECT_EQ(order.size(), parallel.size() + spares);
    EXPECT_LE(spares, kRegisters / 2);
    cycles += spares;
  }
  EXPECT_GT(cycles, 0u);
}

TEST(MovesInOrder, PartsOfOneVregWaitForItsReaders) {
  ir::Function f;
  ir::VReg pair;
  pair.width = 64;
  pair.align_log2 = 1;
  const VRegId p = f.add_vreg(pair), a = f.add_vreg({}), b = f.add_vreg({});
  const ir::Part lo = ir::Part::of(2, 0), hi = ir::Part::of(2, 1);
  const Move parallel[] = {{Operand::of_vreg(Role::Def, p, lo), Operand::of_vreg(Role::Use, a)},
                           {Operand::of_vreg(Role::Def, p, hi), Operand::of_vreg(Role::Use, b)},
                           {Operand::of_vreg(Role::Def, a), Operand::of_vreg(Role::Use, p, hi)}};
  const auto order = moves_in_order(f, parallel, [&](VRegId root) { return f.add_vreg(f.vreg(root)); });
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[0].use.vreg(), p) << "the pair is saved as a whole";
  EXPECT_TRUE(order[0].use.part.is_whole());
  const auto reader = std::find_if(order.begin(), order.end(), [&](const Move& m) { return m.def.vreg() == a; });
  EXPECT_EQ(reader->use.vreg(), order[0].def.vreg());
  EXPECT_EQ(reader->use.part, hi);
}

TEST(MovesInOrder, ManyMovesTakeLittleTime) {
  ir::Function f;
  constexpr std::size_t kMany = 100'000;
  for (std::size_t k = 0; k < kMany; ++k) f.add_vreg({});
  std::vector<Move> parallel;
  for (std::size_t k = 0; k < kMany; ++k)
    parallel.push_back({Operand::of_vreg(Role::Def, VRegId(k)), Operand::of_vreg(Role::Use, VRegId((k + 1) % kMany))});
  EXPECT_EQ(moves_in_order(f, parallel, [&](VRegId root) { return f.add_vreg(f.vreg(root)); }).size(), kMany + 1);
}

}  // namespace
}  // namespace regduel::passes::conventional
