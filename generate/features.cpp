// See features.h. The figures are chosen so that at 24 registers more than half of the programs spill
// (generator_test.cpp measures the pressure), and each kind that a profile is named after is common in it.
#include "generate/features.h"

#include <utility>

#include "base/check_macro.h"

namespace regduel::generate {
namespace {

using ir::RegFile;

void live(Features& x, RegFile file, int low, int high) {
  x.live_low[ir::index(file)] = low;
  x.live_high[ir::index(file)] = high;
}
int& weight(Features& x, Emit e) { return x.weights[static_cast<std::size_t>(e)]; }

// The common ground of all profiles: a plausible kernel with a little of everything.
Features base() {
  Features x;
  for (const auto& [emit, value] :
       {std::pair{Emit::Alu, 100}, {Emit::Load, 22},     {Emit::Store, 12},     {Emit::Const, 8},  {Emit::Copy, 10},
        {Emit::ParallelCopy, 1},   {Emit::CrossCopy, 1}, {Emit::Pack, 3},       {Emit::Unpack, 3}, {Emit::PartBuild, 1},
        {Emit::PartDef, 2},        {Emit::SetP, 8},      {Emit::PredLogic, 2},  {Emit::Select, 4}, {Emit::Uniform, 2},
        {Emit::UniformPred, 1},    {Emit::Tensor, 1},    {Emit::BarrierReg, 1}, {Emit::Call, 1},   {Emit::Bar, 1},
        {Emit::InOut, 4},          {Emit::Tied, 1},      {Emit::Early, 1},      {Emit::Fixed, 1},  {Emit::MultiDef, 2},
        {Emit::Atomic, 1},         {Emit::ManyUses, 1},  {Emit::NoOperands, 1}, {Emit::Ramp, 1},   {Emit::MayDefFirst, 1},
        {Emit::Alias, 1},          {Emit::PackChain, 1}, {Emit::GuardedRun, 1}})
    weight(x, emit) = value;
  x.shape.extra_edges = 1;
  x.shape.double_edges = 8;
  x.shape.unreachable = 6;
  x.shape.endless = 3;
  x.shape.entry_preds = 3;
  live(x, RegFile::R, 10, 44);
  live(x, RegFile::P, 0, 3);
  live(x, RegFile::UR, 0, 4);
  return x;
}

}  // namespace

Features features_of(Profile p) {
  Features x = base();
  switch (p) {
    case Profile::Straight:
      x.block_size = 0;
      x.shape = {};
      break;
    case Profile::Loops:
      x.shape.loop_weight = 9;
      x.block_size = 7;
      x.shape.endless = 6;
      x.merges = 45;
      break;
    case Profile::Irreducible:
      x.shape.extra_edges = 25;
      x.shape.double_edges = 50;
      x.shape.unreachable = 40;
      x.shape.endless = 25;
      x.shape.entry_preds = 30;
      x.shape.switch_weight = 3;
      x.block_size = 5;
      x.merges = 40;
      break;
    case Profile::Pressure:
      live(x, RegFile::R, 48, 180);
      live(x, RegFile::P, 2, 9);
      live(x, RegFile::UR, 0, 80);
      x.low_pressure = 0;
      weight(x, Emit::Ramp) = 6;
      break;
    case Profile::Tuples:
      x.widths = {0, 1, 20, 35, 12, 30, 10};
      x.odd_align = 20;
      live(x, RegFile::R, 28, 90);
      weight(x, Emit::Pack) = 25;
      weight(x, Emit::Unpack) = 25;
      weight(x, Emit::PackChain) = 10;
      weight(x, Emit::PartBuild) = 8;
      x.part = 12;
      break;
    case Profile::Predicates:
      live(x, RegFile::P, 4, 14);
      live(x, RegFile::UP, 0, 9);
      weight(x, Emit::SetP) = 50;
      weight(x, Emit::PredLogic) = 40;
      weight(x, Emit::Select) = 30;
      weight(x, Emit::UniformPred) = 8;
      x.guard = 30;
      break;
    case Profile::Uniform:
      live(x, RegFile::UR, 8, 90);
      live(x, RegFile::UP, 0, 9);
      live(x, RegFile::UB, 0, 4);
      weight(x, Emit::Uniform) = 70;
      weight(x, Emit::UniformPred) = 15;
      weight(x, Emit::CrossCopy) = 20;
      weight(x, Emit::BarrierReg) = 8;
      x.ralt = 25;
      break;
    case Profile::Tensor:
      x.widths = {0, 4, 40, 20, 0, 30, 12};
      live(x, RegFile::R, 32, 110);
      live(x, RegFile::Acc, 16, 120);
      weight(x, Emit::Tensor) = 50;
      weight(x, Emit::Acc) = 40;
      weight(x, Emit::Pack) = 8;
      weight(x, Emit::Unpack) = 8;
      break;
    case Profile::Calls:
      weight(x, Emit::Call) = 25;
      x.device = 60;
      break;
    case Profile::Copies:
      weight(x, Emit::Copy) = 90;
      weight(x, Emit::ParallelCopy) = 25;
      weight(x, Emit::CrossCopy) = 12;
      x.hint = 30;
      x.phis = 40;
      break;
    case Profile::Phis:
      x.phis = 85;
      x.merges = 30;
      x.block_size = 6;
      x.shape.loop_weight = 6;
      weight(x, Emit::Copy) = 25;
      break;
    case Profile::Guarded:
      x.guard = 60;
      weight(x, Emit::MayDefFirst) = 12;
      weight(x, Emit::SetP) = 15;
      live(x, RegFile::P, 2, 8);
      break;
    case Profile::Converted:
      x.block_size = 60;
      weight(x, Emit::GuardedRun) = 25;
      weight(x, Emit::SetP) = 15;
      live(x, RegFile::P, 0, 6);
      break;
    case Profile::MixedSize:
      x.widths = {25, 25, 30, 15, 3, 6, 2};
      weight(x, Emit::Alias) = 30;
      weight(x, Emit::Pack) = 10;
      weight(x, Emit::Unpack) = 10;
      x.part = 15;
      live(x, RegFile::R, 26, 70);
      break;
    case Profile::Subregs:
      x.part = 40;
      x.widths = {2, 8, 30, 30, 8, 20, 6};
      weight(x, Emit::PartBuild) = 30;
      weight(x, Emit::PartDef) = 50;
      weight(x, Emit::Alias) = 6;
      live(x, RegFile::R, 28, 80);
      break;
    case Profile::Cliffs:
      weight(x, Emit::Ramp) = 30;
      live(x, RegFile::R, 2, 12);
      x.low_pressure = 0;
      break;
    case Profile::Undefined:
      x.undefined = true;
      weight(x, Emit::MayDefFirst) = 10;
      weight(x, Emit::GuardedRun) = 6;
      weight(x, Emit::PartBuild) = 6;
      x.guard = 20;
      break;
    case Profile::Constraints:
      x.constrained_moves = 35;
      weight(x, Emit::InOut) = 42;
      weight(x, Emit::Tied) = 40;
      weight(x, Emit::Early) = 30;
      weight(x, Emit::Fixed) = 30;
      weight(x, Emit::Precoloured) = 15;
      weight(x, Emit::MultiDef) = 15;
      weight(x, Emit::ManyUses) = 6;
      x.early = 8;
      x.clobbers = 12;
      x.architectural = 25;
      live(x, RegFile::B, 0, 12);
      weight(x, Emit::BarrierReg) = 4;
      break;
    case Profile::Mix: REGDUEL_CHECK(false, "mix has no features of its own"); break;
  }
  return x;
}

Features blend(const Features& a, const Features& b) {
  Features x = a;
  const auto mean = [](int& value, int other) { value = (value + other + 1) / 2; };
  for (std::size_t i = 0; i < x.weights.size(); ++i) mean(x.weights[i], b.weights[i]);
  for (std::size_t i = 0; i < x.widths.size(); ++i) mean(x.widths[i], b.widths[i]);
  for (std::size_t i = 0; i < x.live_low.size(); ++i) {
    mean(x.live_low[i], b.live_low[i]);
    mean(x.live_high[i], b.live_high[i]);
  }
  mean(x.shape.loop_weight, b.shape.loop_weight);
  mean(x.shape.switch_weight, b.shape.switch_weight);
  mean(x.shape.extra_edges, b.shape.extra_edges);
  mean(x.shape.double_edges, b.shape.double_edges);
  mean(x.shape.unreachable, b.shape.unreachable);
  mean(x.shape.endless, b.shape.endless);
  mean(x.shape.entry_preds, b.shape.entry_preds);
  if (x.block_size == 0 || b.block_size == 0) x.block_size += b.block_size;
  else mean(x.block_size, b.block_size);
  mean(x.low_pressure, b.low_pressure);
  mean(x.guard, b.guard);
  mean(x.redefine, b.redefine);
  mean(x.part, b.part);
  mean(x.odd_align, b.odd_align);
  mean(x.ralt, b.ralt);
  mean(x.hint, b.hint);
  mean(x.phis, b.phis);
  mean(x.merges, b.merges);
  mean(x.constrained_moves, b.constrained_moves);
  mean(x.early, b.early);
  mean(x.clobbers, b.clobbers);
  mean(x.architectural, b.architectural);
  mean(x.device, b.device);
  x.undefined = a.undefined || b.undefined;
  return x;
}

}  // namespace regduel::generate
