// Spill costs, counted by hand.

#include "allocator/spill/cost.h"

#include <gmock/gmock.h>

#include "allocator/phases/run.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::ElementsAre;

// By vreg, where the files of `high_pressure` are under high pressure.
std::vector<std::int64_t> costs(const ir::Function& f, const ir::PerFile<bool>& high_pressure = {}) {
  const ir::Limits limits = testing::limits(8);
  const Knobs knobs;
  const ProgramFacts a(f, ir::default_target(), knobs);
  const Plan plan = first_plan(Run(a, limits));
  const auto moves = spill_moves(a.f, a.cfg, a.live, a.frequency, plan.if_spilled);
  return spill_costs(a.f, moves, plan.if_spilled, high_pressure);
}

// %0 and %3 are read in a loop, %2 is never read after its last def, %4 can be computed again.
const ir::Function kLoop = testing::program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b32
    vreg %3 P pred
    vreg %4 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %4 = const 7 !remat
      #3 %2 = ld 2
      #4 st %2 !write
      #5 %3 = isetp 0
      #6 bra -> b1
    block b1
      #7 st %0 !write
      #8 cbra %3 -> b1, b2
    block b2
      #9 st %1, %4 !write
      #10 %2 = ld 3
      #11 exit
)");

TEST(SpillCost, FifteenAReferenceAndByteTimesTheFrequencyOfTheBlock) {
  EXPECT_THAT(costs(kLoop), ElementsAre(15 * 4 * (1 + 10), 15 * 8 * 2, 15 * 4 * 2, 15 * (1 + 10), 1));
}

TEST(SpillCost, ThreeWhereTheFileIsUnderHighPressure) {
  ir::PerFile<bool> high = {};
  high[ir::index(ir::RegFile::R)] = true;
  EXPECT_THAT(costs(kLoop, high), ElementsAre(3 * 4 * (1 + 10), 3 * 8 * 2, 3 * 4 * 2, 15 * (1 + 10), 1));
}

// Pieces of one value: %1 leaves its register for %0 in memory, and %2 comes back from there. In memory, neither moves.
TEST(SpillMoves, MovesBetweenAPieceAndItsMemoryAreSaved) {
  ir::Function f = testing::program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %1 = ld 0
      #1 %0 = copy %1
      #2 %2 = copy %0
      #3 st %2 !write
      #4 st %2 !write
      #5 exit
)");
  for (const std::size_t k : {1, 2}) f.insts[k].flags |= ir::kInserted;
  const ir::Cfg cfg(f);
  const Liveness live(f, cfg);
  const std::vector<std::int64_t> once(f.blocks.size(), 1);
  const std::vector<Location> in_slots(f.vregs.size());
  const std::vector<ir::VRegId> first_of(f.vregs.size(), ir::VRegId(1));
  const auto whole = spill_moves(f, cfg, live, once, in_slots), pieces = spill_moves(f, cfg, live, once, in_slots, first_of);
  EXPECT_EQ(whole[1], 8) << "a store and a refill";
  EXPECT_EQ(pieces[1], 0) << "its store stands at its def";
  EXPECT_EQ(whole[2], 12);
  EXPECT_EQ(pieces[2], 4) << "a refill at either use, and none at its def";
}

TEST(SpillCost, ArchitecturalRegistersCannotBeSpilled) {
  EXPECT_THAT(costs(testing::program(R"(
    vreg %0 R b32 fixed R9 architectural
    vreg %1 R b32
    block b0
      #0 %1 = ld %0
      #1 st %1 !write
      #2 exit
)")),
              ElementsAre(kUnspillable, 15 * 4 * 2));
}

// A part moves its own bytes, but a refill at least a word; what an instruction reads twice is refilled once; a narrow value moves
// its own bytes; a guarded def needs the old value too.
TEST(SpillCost, BytesThatAreMoved) {
  EXPECT_THAT(costs(testing::program(R"(
    vreg %0 R b64
    vreg %1 R b16
    vreg %2 P pred
    vreg %3 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = isetp 0
      #3 %3 = ld 2
      #4 @%2 %3 = ld 3
      #5 st %0.h0, %1, %1 !write
      #6 st %3 !write
      #7 exit
)")),
              ElementsAre(15 * (8 + 4), 15 * (2 + 2), 15 * (1 + 1), 15 * (4 + 4 + 4 + 4)));
}

}  // namespace
}  // namespace regduel::allocator
