// Attempts without spilling: which of two is the better one.

#include "allocator/classic/nospill.h"

#include <gtest/gtest.h>

namespace regduel::allocator {
namespace {

Attempt fitting(int used, std::int64_t copies, std::int64_t pressure, int different) {
  Attempt a;
  a.fits = true;
  a.used = used;
  a.copy_weight = copies;
  a.pressure = pressure;
  a.units = ir::UnitSet::range(0, different);
  return a;
}

TEST(NoSpill, ComparesByRegistersCopiesCumulativePressureAndWidth) {
  EXPECT_TRUE(is_better_attempt(fitting(7, 9, 9, 7), fitting(8, 0, 0, 1)));
  EXPECT_TRUE(is_better_attempt(fitting(8, 1, 9, 7), fitting(8, 2, 0, 1)));
  EXPECT_TRUE(is_better_attempt(fitting(8, 1, 3, 7), fitting(8, 1, 4, 1)));
  EXPECT_TRUE(is_better_attempt(fitting(8, 1, 3, 6), fitting(8, 1, 3, 7)));
  EXPECT_FALSE(is_better_attempt(fitting(8, 1, 3, 6), fitting(8, 1, 3, 6)));
  EXPECT_TRUE(is_better_attempt(fitting(9, 9, 9, 9), Attempt())) << "one that fits";
}

TEST(NoSpill, OptionsComeFromTheKnobs) {
  const ir::Function f;
  Knobs knobs(Owner::Classic);
  knobs.set(Knob::InterferenceThreshold, 7, KnobState::Integer);
  knobs.set(Knob::RelaxationStep, 3, KnobState::Integer);
  knobs.set(Knob::ConstraintTypes, 0xFFFE, KnobState::Integer);
  const ProgramFacts facts(f, ir::default_target(), knobs);
  const allocator::Run run(facts, ir::Limits::of(ir::default_target(), 8));
  const ClassicOptions options = options_of(run, 2);
  EXPECT_EQ(options.threshold, 7);
  EXPECT_EQ(options.relaxation.iteration, 2);
  EXPECT_EQ(options.relaxation.each, 3);
  EXPECT_FALSE(options.has_points);
}

}  // namespace
}  // namespace regduel::allocator
