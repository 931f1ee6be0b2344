#include "reference/colourer.h"

#include <fmt/format.h>

#include "reference/colour/tiers.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// With K = the limit, unless a knob says otherwise.
ir::Allocation by_cicc(const std::string& body, int registers, std::vector<std::pair<std::string, std::string>> knobs = {}) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  knobs.insert(knobs.begin(), {"cicc-registers", std::to_string(registers)});
  options.knobs = std::move(knobs);
  auto a = make_cicc()->allocate(testing::parse_body(body), ir::default_target(), options);
  if (!a) {
    ADD_FAILURE() << a.error().message;
    return {};
  }
  for (const ir::Diagnostic& d : ir::check(a->program, ir::default_target())) ADD_FAILURE() << ir::to_string(a->program, d);
  return std::move(*a);
}

std::string many_live(int values) {
  std::string vregs, defs, uses;
  for (int v = 0; v < values; ++v) {
    vregs += "vreg %" + std::to_string(v) + " R b32\n";
    defs += "#" + std::to_string(v) + " %" + std::to_string(v) + " = ld " + std::to_string(v) + "\n";
    uses += "#" + std::to_string(values + v) + " st %" + std::to_string(v) + " !write\n";
  }
  return vregs + "block b0\n" + defs + uses + "#" + std::to_string(2 * values) + " exit\n";
}

// 64 accumulators and a load with 64 registers. One by one, the parts of the accumulators took 51 slots.
TEST(Cicc, AnAccumulatorGoesToMemoryAsOne) {
  constexpr int kAccumulators = 64;
  std::string text, init, phis, adds, stores;
  for (int v = 0; v <= 3 * kAccumulators; ++v) text += fmt::format("vreg %{} R b32\n", v);
  for (int v = 0; v < kAccumulators; ++v) {
    const int phi = v + kAccumulators, next = phi + kAccumulators;
    init += fmt::format("#{} %{} = ld !read\n", v, v);
    phis += fmt::format("#{} %{} = phi b0:%{}, b1:%{}\n", 100 + v, phi, v, next);
    adds += fmt::format("#{} %{} = fma %{}, %192\n", 200 + v, next, phi);
    stores += fmt::format("#{} st %{} !write\n", 400 + v, next);
  }
  text += "vreg %193 P pred\nblock b0 depth 0\n" + init + "#90 bra -> b1\nblock b1 depth 1\n" + phis + "#199 %192 = ld !read\n" +
          adds + "#300 %193 = setp %192\n#301 cbra %193 -> b1, b2\nblock b2 depth 0\n" + stores + "#500 exit\n";
  const ir::Allocation a = by_cicc(text, kAccumulators);
  EXPECT_LE(a.program.local_frame, 16u) << ir::print(a.program);
}

TEST(Cicc, TakesKRegistersAtMost) {
  EXPECT_EQ(by_cicc(many_live(20), 255).claims.spill_store_bytes, 0);
  EXPECT_EQ(std::ranges::find(make_cicc()->knobs(), "cicc-registers", &ir::KnobInfo::name)->default_value, "15");
  const ir::Allocation a = by_cicc(many_live(20), 255, {{"cicc-registers", "15"}});
  EXPECT_GT(a.claims.spill_store_bytes, 0);
  EXPECT_LE(a.claims.registers[ir::index(ir::RegFile::R)], 15);
  EXPECT_THAT(a.notes,
              ElementsAre("cicc: at most 15 registers of a file; the limit allows 255, and --knob cicc-registers=255 takes them"));
  EXPECT_THAT(by_cicc(many_live(10), 255, {{"cicc-registers", "15"}}).notes, IsEmpty());
}

TEST(Cicc, GivesUpWhereTooMuchWouldHaveToBeSpilled) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), 10);
  options.knobs = {{"cicc-spill-limit", "4"}};
  const auto a = make_cicc()->allocate(testing::parse_body(many_live(20)), ir::default_target(), options);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Unsupported);
  EXPECT_EQ(a.error().message, "more than 4 values would have to be spilled (cicc-spill-limit)");
  EXPECT_EQ(by_cicc(many_live(20), 30, {{"cicc-spill-limit", "0"}}).claims.spill_store_bytes, 0);
}

// A block of 32 threads is one warp, and 32 blocks are half of an SM's warps, with up to 64 registers.
TEST(Cicc, OccupancyLimitsRegisters) {
  const ir::Allocation all = by_cicc(many_live(80), 255), half = by_cicc(many_live(80), 255, {{"cicc-occupancy-target", "50"}});
  EXPECT_EQ(all.claims.spill_store_bytes, 0);
  EXPECT_LE(half.claims.registers[ir::index(ir::RegFile::R)], 64);
  EXPECT_GT(half.claims.spill_store_bytes, 0);
}

// The instruction needs eight, whatever K is.
TEST(Cicc, WhatAnInstructionNeedsComesBeforeK) {
  const ir::Allocation a = by_cicc(R"(vreg %0 R b256
block b0
#0 %0 = ld
#1 st %0 !write
#2 exit
)",
                                   255, {{"cicc-registers", "4"}});
  EXPECT_EQ(a.claims.registers[ir::index(ir::RegFile::R)], 8);
}

TEST(Cicc, ImpossibleAsBriggsHasIt) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), 3);
  const auto a = make_cicc()->allocate(testing::parse_body(R"(vreg %0 R b128
block b0
#0 %0 = ld
#1 st %0 !write
#2 exit
)"),
                                       ir::default_target(), options);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().message, ir::failure_message(3));
}

// A value that is defined once and read three times in two loops: 1 x 3 x 10 x 1.5 x 1.5, in 1/256.
TEST(Cicc, CostsAreProducts) {
  testing::Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld
#1 %1 = const 1 !remat
#2 bra -> b1
block b1 depth 2
#3 st %0, %1 !write
#4 st %0 !write
#5 st %0 !write
#6 %2 = setp
#7 cbra %2 -> b1, b2
block b2
#8 exit
)");
  Rules rules;
  fill_in_products(p.problem, p.code, p.plan, rules, p.graphs);
  const auto cost = [&](TempId v) { return p.r().cost(p.graphs.node_of[v]); };
  EXPECT_EQ(cost(0), 3u * 10u * 256u * 9u / 4u);
  EXPECT_EQ(cost(1), 256u * 9u / 4u) << "computed again";
  rules.rematerialise = false;
  rules.depth_base = {2, 1};
  fill_in_products(p.problem, p.code, p.plan, rules, p.graphs);
  EXPECT_EQ(cost(1), 10u * 256u * 4u);
  p.plan.add_slot(2000);
  fill_in_products(p.problem, p.code, p.plan, rules, p.graphs);
  EXPECT_EQ(cost(1), 40u * 256u * 4u) << "a frame above 1 KiB";
  p.plan.add_slot(20000);
  fill_in_products(p.problem, p.code, p.plan, rules, p.graphs);
  EXPECT_EQ(cost(1), 100u * 256u * 4u) << "a frame above 16 KiB";
}

// %0 and %4 are read together, and numbers 0 and 4 are in one of the four banks.
TEST(Cicc, OperandsOfOneBankAreConstraintEdges) {
  testing::Phases p(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
vreg %4 R b32
block b0
#0 %0 = ld
#1 %1 = ld
#2 %2 = ld
#3 %3 = ld
#4 %4 = ld
#5 st %0, %1, %4 !write
#6 st %2, %3 !write
#7 exit
)");
  const std::vector<ConstraintEdge> edges = same_bank_edges(p.problem, p.code, p.graphs, ir::RegFile::R);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].a, p.graphs.node_of[0]);
  EXPECT_EQ(edges[0].b, p.graphs.node_of[4]);
  EXPECT_EQ(edges[0].weight, 2);
}

}  // namespace
}  // namespace regduel::reference
