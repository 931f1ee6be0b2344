// See features.h. The figures are chosen so that at 24 registers more than half of the programs spill
// (generator_test.cpp measures the pressure), and each kind that a profile is named after is common in it.
#include "generate/features.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check_macro.h"

namespace regduel::generate {
namespace {

using ir::RegFile;
using F = Features;
using S = ShapeOptions;

struct LongLived {  // units, lowest and highest
  RegFile file;
  int low, high;
};

// The figures of a profile. Every figure that a row leaves out is that of kCommon, and where kCommon leaves it out, its default.
struct Row {
  Profile profile = Profile::Mix;
  std::vector<std::pair<int F::*, int>> figures = {};
  std::vector<std::pair<int S::*, int>> shape = {};
  std::vector<std::pair<Emit, int>> weights = {};
  std::vector<LongLived> live = {};
  std::optional<std::array<int, 7>> widths = {};
  bool undefined = false;
};

// A plausible kernel with a little of everything.
const Row& common() {
  static const Row row = {
      .shape = {{&S::extra_edges, 1}, {&S::double_edges, 8}, {&S::unreachable, 6}, {&S::endless, 3}, {&S::entry_preds, 3}},
      .weights = {{Emit::Alu, 100},        {Emit::Load, 22},     {Emit::Store, 12},     {Emit::Const, 8},  {Emit::Copy, 10},
                  {Emit::ParallelCopy, 1}, {Emit::CrossCopy, 1}, {Emit::Pack, 3},       {Emit::Unpack, 3}, {Emit::PartBuild, 1},
                  {Emit::PartDef, 2},      {Emit::SetP, 8},      {Emit::PredLogic, 2},  {Emit::Select, 4}, {Emit::Uniform, 2},
                  {Emit::UniformPred, 1},  {Emit::Tensor, 1},    {Emit::BarrierReg, 1}, {Emit::Call, 1},   {Emit::Bar, 1},
                  {Emit::InOut, 4},        {Emit::Tied, 1},      {Emit::Early, 1},      {Emit::Fixed, 1},  {Emit::MultiDef, 2},
                  {Emit::Atomic, 1},       {Emit::ManyUses, 1},  {Emit::NoOperands, 1}, {Emit::Ramp, 1},   {Emit::MayDefFirst, 1},
                  {Emit::Alias, 1},        {Emit::PackChain, 1}, {Emit::GuardedRun, 1}},
      .live = {{RegFile::R, 10, 44}, {RegFile::P, 0, 3}, {RegFile::UR, 0, 4}},
  };
  return row;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      {.profile = Profile::Straight,
       .figures = {{&F::block_size, 0}},
       .shape = {{&S::extra_edges, 0}, {&S::double_edges, 0}, {&S::unreachable, 0}, {&S::endless, 0}, {&S::entry_preds, 0}}},
      {.profile = Profile::Loops,
       .figures = {{&F::block_size, 7}, {&F::merges, 45}},
       .shape = {{&S::loop_weight, 9}, {&S::endless, 6}}},
      {.profile = Profile::Irreducible,
       .figures = {{&F::block_size, 5}, {&F::merges, 40}},
       .shape = {{&S::extra_edges, 25},
                 {&S::double_edges, 50},
                 {&S::unreachable, 40},
                 {&S::endless, 25},
                 {&S::entry_preds, 30},
                 {&S::switch_weight, 3}}},
      {.profile = Profile::Pressure,
       .figures = {{&F::low_pressure, 0}},
       .weights = {{Emit::Ramp, 6}},
       .live = {{RegFile::R, 48, 180}, {RegFile::P, 2, 9}, {RegFile::UR, 0, 80}}},
      {.profile = Profile::Tuples,
       .figures = {{&F::odd_align, 20}, {&F::part, 12}},
       .weights = {{Emit::Pack, 25}, {Emit::Unpack, 25}, {Emit::PackChain, 10}, {Emit::PartBuild, 8}},
       .live = {{RegFile::R, 28, 90}},
       .widths = {{0, 1, 20, 35, 12, 30, 10}}},
      {.profile = Profile::Predicates,
       .figures = {{&F::guard, 30}},
       .weights = {{Emit::SetP, 50}, {Emit::PredLogic, 40}, {Emit::Select, 30}, {Emit::UniformPred, 8}},
       .live = {{RegFile::P, 4, 14}, {RegFile::UP, 0, 9}}},
      {.profile = Profile::Uniform,
       .figures = {{&F::ralt, 25}},
       .weights = {{Emit::Uniform, 70}, {Emit::UniformPred, 15}, {Emit::CrossCopy, 20}, {Emit::BarrierReg, 8}},
       .live = {{RegFile::UR, 8, 90}, {RegFile::UP, 0, 9}, {RegFile::UB, 0, 4}}},
      {.profile = Profile::Tensor,
       .weights = {{Emit::Tensor, 50}, {Emit::Acc, 40}, {Emit::Pack, 8}, {Emit::Unpack, 8}},
       .live = {{RegFile::R, 32, 110}, {RegFile::Acc, 16, 120}},
       .widths = {{0, 4, 40, 20, 0, 30, 12}}},
      {.profile = Profile::Calls, .figures = {{&F::device, 60}}, .weights = {{Emit::Call, 25}}},
      {.profile = Profile::Copies,
       .figures = {{&F::hint, 30}, {&F::phis, 40}},
       .weights = {{Emit::Copy, 90}, {Emit::ParallelCopy, 25}, {Emit::CrossCopy, 12}}},
      {.profile = Profile::Phis,
       .figures = {{&F::phis, 85}, {&F::merges, 30}, {&F::block_size, 6}},
       .shape = {{&S::loop_weight, 6}},
       .weights = {{Emit::Copy, 25}}},
      {.profile = Profile::Guarded,
       .figures = {{&F::guard, 60}},
       .weights = {{Emit::MayDefFirst, 12}, {Emit::SetP, 15}},
       .live = {{RegFile::P, 2, 8}}},
      {.profile = Profile::Converted,
       .figures = {{&F::block_size, 60}},
       .weights = {{Emit::GuardedRun, 25}, {Emit::SetP, 15}},
       .live = {{RegFile::P, 0, 6}}},
      {.profile = Profile::MixedSize,
       .figures = {{&F::part, 15}},
       .weights = {{Emit::Alias, 30}, {Emit::Pack, 10}, {Emit::Unpack, 10}},
       .live = {{RegFile::R, 26, 70}},
       .widths = {{25, 25, 30, 15, 3, 6, 2}}},
      {.profile = Profile::Subregs,
       .figures = {{&F::part, 40}},
       .weights = {{Emit::PartBuild, 30}, {Emit::PartDef, 50}, {Emit::Alias, 6}},
       .live = {{RegFile::R, 28, 80}},
       .widths = {{2, 8, 30, 30, 8, 20, 6}}},
      {.profile = Profile::Cliffs,
       .figures = {{&F::low_pressure, 0}},
       .weights = {{Emit::Ramp, 30}},
       .live = {{RegFile::R, 2, 12}}},
      {.profile = Profile::Undefined,
       .figures = {{&F::guard, 20}},
       .weights = {{Emit::MayDefFirst, 10}, {Emit::GuardedRun, 6}, {Emit::PartBuild, 6}},
       .undefined = true},
      {.profile = Profile::Constraints,
       .figures = {{&F::constrained_moves, 35}, {&F::early, 8}, {&F::clobbers, 12}, {&F::architectural, 25}},
       .weights = {{Emit::InOut, 42},
                   {Emit::Tied, 40},
                   {Emit::Early, 30},
                   {Emit::Fixed, 30},
                   {Emit::Precoloured, 15},
                   {Emit::MultiDef, 15},
                   {Emit::ManyUses, 6},
                   {Emit::BarrierReg, 4}},
       .live = {{RegFile::B, 0, 12}}},
      {.profile = Profile::Plain,
       .figures = {{&F::guard, 0},
                   {&F::part, 0},
                   {&F::odd_align, 0},
                   {&F::ralt, 0},
                   {&F::hint, 0},
                   {&F::phis, 0},
                   {&F::constrained_moves, 0},
                   {&F::early, 0},
                   {&F::clobbers, 0},
                   {&F::architectural, 0},
                   {&F::device, 0}},
       .shape = {{&S::extra_edges, 0}, {&S::double_edges, 0}, {&S::unreachable, 0}, {&S::endless, 0}, {&S::entry_preds, 0}},
       .weights = {{Emit::Copy, 0},    {Emit::ParallelCopy, 0}, {Emit::CrossCopy, 0},  {Emit::Pack, 0},
                   {Emit::Unpack, 0},  {Emit::PartBuild, 0},    {Emit::PartDef, 0},    {Emit::PredLogic, 0},
                   {Emit::Uniform, 0}, {Emit::UniformPred, 0},  {Emit::Tensor, 0},     {Emit::BarrierReg, 0},
                   {Emit::Call, 0},    {Emit::InOut, 0},        {Emit::Tied, 0},       {Emit::Early, 0},
                   {Emit::Fixed, 0},   {Emit::MultiDef, 0},     {Emit::ManyUses, 0},   {Emit::MayDefFirst, 0},
                   {Emit::Alias, 0},   {Emit::PackChain, 0},    {Emit::GuardedRun, 0}, {Emit::Select, 0},
                   {Emit::Atomic, 0}},
       .live = {{RegFile::P, 0, 0}, {RegFile::UR, 0, 0}},
       .widths = {{0, 0, 1, 0, 0, 0, 0}}},
  };
  return rows;
}

void apply(const Row& row, Features& x) {
  for (const auto& [figure, value] : row.figures) x.*figure = value;
  for (const auto& [figure, value] : row.shape) x.shape.*figure = value;
  for (const auto& [emit, weight] : row.weights) x.weights[static_cast<std::size_t>(emit)] = weight;
  for (const LongLived& live : row.live) {
    x.live_low[ir::index(live.file)] = live.low;
    x.live_high[ir::index(live.file)] = live.high;
  }
  if (row.widths) x.widths = *row.widths;
  x.undefined = row.undefined;
  x.plain = row.profile == Profile::Plain;
}

void take_mean(int& value, int other) { value = (value + other + 1) / 2; }
template <class List>
void take_means(List& values, const List& others) {
  for (std::size_t k = 0; k < values.size(); ++k) take_mean(values[k], others[k]);
}

}  // namespace

Features features_of(Profile p) {
  const auto row = std::ranges::find(rows(), p, &Row::profile);
  REGDUEL_CHECK(row != rows().end(), "mix has no features of its own");
  Features x;
  apply(common(), x);
  apply(*row, x);
  return x;
}

Features blend(const Features& a, const Features& b) {
  constexpr int F::* kFigures[] = {&F::low_pressure, &F::guard,    &F::redefine,      &F::part,   &F::odd_align,
                                   &F::ralt,         &F::hint,     &F::phis,          &F::merges, &F::constrained_moves,
                                   &F::early,        &F::clobbers, &F::architectural, &F::device, &F::immediates,
                                   &F::sequence};
  constexpr int S::* kShape[] = {&S::loop_weight, &S::switch_weight, &S::extra_edges, &S::double_edges,
                                 &S::unreachable, &S::endless,       &S::entry_preds};
  Features x = a;
  take_means(x.weights, b.weights);
  take_means(x.widths, b.widths);
  take_means(x.live_low, b.live_low);
  take_means(x.live_high, b.live_high);
  for (int F::* const figure : kFigures) take_mean(x.*figure, b.*figure);
  for (int S::* const figure : kShape) take_mean(x.shape.*figure, b.shape.*figure);
  if (x.block_size == 0 || b.block_size == 0) x.block_size += b.block_size;
  else take_mean(x.block_size, b.block_size);
  x.undefined = a.undefined || b.undefined;
  return x;
}

}  // namespace regduel::generate
