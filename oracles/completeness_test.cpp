// Demands counted by hand, and thousands of random instructions against brute force over all homes of all operands.

#include "oracles/completeness.h"

#include "base/random.h"
#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const std::string kVregs = R"(  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b64
  vreg %3 R b96
  vreg %4 R b128
  vreg %5 P pred
  vreg %6 R b64 align 1
  vreg %7 R b32 fixed R3
  vreg %8 R b256
  vreg %9 R b32
  vreg %10 R b64
)";

ir::Function with(const std::string& inst, const std::string& kind = "kernel") {
  return parse_function("func @t " + kind + " target sm_90 threads 32\n" + kVregs + "  block b0\n    #0 " + inst +
                        "\n    #1 exit\n");
}
int demand_r(const std::string& inst) {
  const ir::Function f = with(inst);
  return demand(f, f.insts[0], ir::RegFile::R, *ir::find_target("sm_90")).value_or(-1);
}

TEST(Demand, CountsUsesAndDefsAtTheirMoments) {
  EXPECT_EQ(demand_r("bar 0"), 0);
  EXPECT_EQ(demand_r("use %0"), 1);
  EXPECT_EQ(demand_r("use %0, %0"), 1);
  EXPECT_EQ(demand_r("use %0, %1"), 2);
  EXPECT_EQ(demand_r("%0 = add %1"), 1);  // the def takes the use's place
  EXPECT_EQ(demand_r("%0{early} = add %1"), 2);
  EXPECT_EQ(demand_r("%0 = add %0"), 1);
  EXPECT_EQ(demand_r("%0{inout} = add %1"), 2);
  EXPECT_EQ(demand_r("%0{inout} = add %0"), 1);
  EXPECT_EQ(demand_r("@%5 %0 = add %1"), 2);  // keeps its old value
  EXPECT_EQ(demand_r("%2.lo = add %0"), 3);   // the other half too
  EXPECT_EQ(demand_r("%0, %1 = two %9"), 2);
  EXPECT_EQ(demand_r("%2.lo, %2.hi = two %9"), 3);
}

TEST(Demand, CountsTies) {
  EXPECT_EQ(demand_r("%0{tied 1} = mad %1"), 1);
  EXPECT_EQ(demand_r("%0{tied 1} = mad %1, %0"), 2);
  EXPECT_EQ(demand_r("%0{tied 2}, %1{tied 3} = mad %9, %9"), 2);  // one vreg tied twice
  EXPECT_EQ(demand_r("%0{tied 1} = mad %9, %9"), 1);
  EXPECT_EQ(demand_r("%2{tied 1} = mad %10, %0"), 3);
}

TEST(Demand, KnowsAlignmentAndFixedRegisters) {
  EXPECT_EQ(demand_r("use %2, %0, %10"), 5);
  EXPECT_EQ(demand_r("use %3"), 3);
  EXPECT_EQ(demand_r("use %3, %0"), 4);
  EXPECT_EQ(demand_r("use %3, %2"), 6);
  EXPECT_EQ(demand_r("use %3, %0, %2, %9"), 7);
  EXPECT_EQ(demand_r("use %4, %3"), 7);
  EXPECT_EQ(demand_r("use %8, %3, %0"), 12);
  EXPECT_EQ(demand_r("use %7"), 4);  // R3
  EXPECT_EQ(demand_r("use %7, %6, %0"), 4);
  EXPECT_EQ(demand_r("use %7, %3"), 4);  // three units below R3
  EXPECT_EQ(demand_r("use %7, %4"), 8);
  EXPECT_EQ(demand_r("use %0{=R1}, %6"), 4);
  EXPECT_EQ(demand_r("use %0{=R1}, %0{=R2}, %6"), 5);
  EXPECT_EQ(demand_r("use %0{=R1}, %0"), 2);  // shares that home
  EXPECT_EQ(demand_r("%0{inout} = add %0{=R1}"), 2);
  EXPECT_EQ(demand_r("%0{inout}, %1{=R1} = add %0{=R1}"), 2);  // R1 is taken by the other def
  EXPECT_EQ(demand_r("%0{inout}, %1{=R1} = add %0{=R1}, %6, %9"), 5);
}

TEST(Demand, KnowsClobbers) {
  EXPECT_EQ(demand_r("%0 = add %1 clobbers R0:R3"), 1);
  EXPECT_EQ(demand_r("%0{inout} = add %1 clobbers R0:R3"), 2);
  EXPECT_EQ(demand_r("%2.lo = add %1 clobbers R0:R3"), 6);  // the half that is kept would be lost
}

TEST(Demand, TakesThePhisOneByOne) {
  const ir::Function f = parse_function("func @t kernel target sm_90 threads 32\n" + kVregs + R"(
  block b0
    #0 bra -> b1
  block b1
    #1 %4 = phi b0: %4, b1: %4
    #2 bra -> b1
)");
  EXPECT_EQ(demand(f, f.insts[1], ir::RegFile::R, *ir::find_target("sm_90")), 4);
}

TEST(Demand, FilesAreProblemsOfTheirOwn) {
  const ir::Function f = with("@%5 %0 = add %1, %5");
  const ir::Target& target = *ir::find_target("sm_90");
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::P, target), 1);
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::UR, target), 0);
}

TEST(Demand, MoreThanTheTargetHasIsImpossible) {
  std::string inst = "use %8";
  std::string vregs = kVregs;
  for (int k = 0; k < 32; ++k) {
    vregs += "  vreg %" + std::to_string(11 + k) + " R b256\n";
    inst += ", %" + std::to_string(11 + k);
  }
  const ir::Function f =
      parse_function("func @t kernel target sm_90 threads 32\n" + vregs + "  block b0\n    #0 " + inst + "\n    #1 exit\n");
  const ir::Target& target = *ir::find_target("sm_90");
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::R, target), std::nullopt);
  EXPECT_EQ(find_impossible(f, target, ir::Limits::of(target)), ir::InstId(0));
}

TEST(Completeness, AFailureIsJustifiedByAnImpossibleInstruction) {
  const ir::Function f = with("use %4, %3");
  const ir::Target& target = *ir::find_target("sm_90");
  EXPECT_EQ(find_impossible(f, target, ir::Limits::of(target, 6)), ir::InstId(0));
  EXPECT_EQ(judge_completeness({f, target}, ir::Limits::of(target, 6)).verdict, Verdict::Pass);
  EXPECT_EQ(find_impossible(f, target, ir::Limits::of(target, 7)), std::nullopt);
  const JudgeResult r = judge_completeness({f, target}, ir::Limits::of(target, 7));
  EXPECT_EQ(r.verdict, Verdict::Fail);
  EXPECT_EQ(r.judge, "completeness");
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].category, "completeness");
}

TEST(Completeness, CalleeSavedRegistersCountUnlessTheEntryIsALoop) {
  const std::string vregs = R"(
  vreg %0 R b256
  vreg %1 R b256 fixed R0:R7
  vreg %2 R b256 fixed R8:R15
  vreg %3 R b256 fixed R16:R23
)";
  const std::string use = "    #0 use %0, %1, %2, %3\n";
  const ir::Target& target = *ir::find_target("sm_90");
  const ir::Function straight =
      parse_function("func @t device target sm_90 threads 32\n" + vregs + "  block b0\n" + use + "    #1 ret\n");
  const ir::Function loop =
      parse_function("func @t device target sm_90 threads 32\n" + vregs + "  block b0\n" + use + "    #1 bra -> b0\n");
  const ir::Function kernel =
      parse_function("func @t kernel target sm_90 threads 32\n" + vregs + "  block b0\n" + use + "    #1 bra -> b0\n");
  EXPECT_EQ(find_impossible(straight, target, ir::Limits::of(target, 32)), std::nullopt);
  EXPECT_EQ(find_impossible(loop, target, ir::Limits::of(target, 32)), ir::InstId(0));
  EXPECT_EQ(find_impossible(loop, target, ir::Limits::of(target, 40)), std::nullopt);
  EXPECT_EQ(find_impossible(kernel, target, ir::Limits::of(target, 32)), std::nullopt);
  // What the function has given up need not be saved: it is free in the loop as well.
  const ir::Function given_up = parse_function("func @t device target sm_90 threads 32\n" + vregs + "  block b0\n" + use +
                                               "    #1 op clobbers R24:R31\n    #2 bra -> b0\n");
  EXPECT_EQ(find_impossible(given_up, target, ir::Limits::of(target, 32)), std::nullopt);
}

// --- against brute force -----------------------------------------------------------------------------------------------

// Gives each operand a home of its own, in every way, and asks the rules of FORMAT.md of each pair.
class BruteForce {
 public:
  BruteForce(const ir::Function& f, const ir::Target& t, const ir::Limits& l)
      : f_(f), ops_(f.operands_of(f.insts[0])), target_(t), limits_(l) {
    for (const ir::Operand& op : ops_) guarded_ = guarded_ || op.role == ir::Role::Guard;
  }
  bool run(std::size_t k = 0) {
    if (k == ops_.size()) return true;
    if (!is_ours(ops_[k])) {
      homes_.push_back({});
      const bool found = run(k + 1);
      homes_.pop_back();
      return found;
    }
    const ir::VReg& root = f_.vreg(f_.root(ops_[k].vreg()));
    for (int at = 0; at + root.units() <= limits_.of(ir::RegFile::R); at += root.alignment()) {
      homes_.push_back({ir::RegFile::R, static_cast<std::uint8_t>(root.units()), static_cast<std::uint16_t>(at)});
      const bool found = is_right(k) && run(k + 1);
      homes_.pop_back();
      if (found) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool is_ours(const ir::Operand& op) const {
    return op.is_vreg() && f_.vreg(f_.root(op.vreg())).file() == ir::RegFile::R;
  }
  [[nodiscard]] bool is_part(std::size_t k) const {
    const ir::Storage s = f_.storage(ops_[k]);
    return s.size != f_.vreg(s.root).bytes();
  }
  [[nodiscard]] bool at_reads(std::size_t k) const {
    return ops_[k].reads() || ops_[k].is_early_clobber() || (ops_[k].writes() && (guarded_ || is_part(k)));
  }
  // The root whose value stands there while the uses are read; invalid for what holds no value yet.
  [[nodiscard]] ir::VRegId read_root(std::size_t k) const {
    return ops_[k].reads() || guarded_ || is_part(k) ? f_.root(ops_[k].vreg()) : ir::VRegId();
  }
  [[nodiscard]] bool is_right(std::size_t k) const {
    const ir::PReg home = homes_[k];
    for (int u = home.begin(); u < home.end(); ++u) {
      if (!ir::is_allocatable(target_, f_.abi, limits_, home.file, u)) return false;
      if (!ops_[k].writes() || !is_part(k)) continue;
      for (const ir::Operand& c : ops_)
        if (c.role == ir::Role::Clobber && c.preg().file == home.file && u >= c.preg().begin() && u < c.preg().end()) return false;
    }
    const ir::PReg fixed = f_.fixed_of(ops_[k]);
    if (fixed.is_valid() && fixed != home) return false;
    for (std::size_t m = 0; m < k; ++m) {
      if (!is_ours(ops_[m])) continue;
      const bool same = homes_[m] == home;
      if (ops_[m].is_tied() && ops_[m].tied == k && !same) return false;
      const bool same_root = f_.root(ops_[m].vreg()) == f_.root(ops_[k].vreg());
      // Parts of one value are written in one home.
      if (same_root && ops_[m].writes() && ops_[k].writes() && !same) return false;
      if (!homes_[m].overlaps(home)) continue;
      if (at_reads(m) && at_reads(k) && !(same && read_root(m).is_valid() && read_root(m) == read_root(k))) return false;
      if (ops_[m].writes() && ops_[k].writes() && !(same && same_root)) return false;
      // A tied def holds its use's register from the reads on; the use itself is there too, so nothing more to ask.
    }
    return true;
  }

  const ir::Function& f_;
  std::span<const ir::Operand> ops_;
  const ir::Target& target_;
  ir::Limits limits_;
  bool guarded_ = false;
  std::vector<ir::PReg> homes_;
};

ir::Function random_instruction(Random& random) {
  ir::Function f;
  f.name = "t";
  const int num_vregs = random.between(1, 4);
  for (int v = 0; v < num_vregs; ++v) {
    static constexpr std::uint16_t kWidths[] = {16, 32, 32, 64, 64, 96, 128};
    ir::VReg reg;
    reg.width = kWidths[random.below(7)];
    reg.align_log2 = static_cast<std::uint8_t>(random.chance(70) ? ir::natural_align_log2(reg.width) : random.between(0, 2));
    f.add_vreg(reg);
  }
  ir::VReg predicate;
  predicate.cls = ir::RegClass::P;
  predicate.type = ir::TypeKind::Pred;
  predicate.width = 1;
  const ir::VRegId guard = f.add_vreg(predicate);
  f.begin_block();
  std::vector<ir::Operand> ops;
  const auto operand = [&](ir::Role role) {
    ir::Operand op = ir::Operand::of_vreg(role, ir::VRegId(random.between(0, num_vregs - 1)));
    const ir::VReg& reg = f.vreg(op.vreg());
    if (reg.width > 32 && random.chance(25)) op.part = ir::Part::of(2, random.between(0, reg.units() - 1));
    if (random.chance(15))
      op.set_fixed({ir::RegFile::R, static_cast<std::uint8_t>(reg.units()),
                    static_cast<std::uint16_t>(random.between(0, 1) * reg.alignment())});
    return op;
  };
  const int num_defs = random.between(0, 2), num_uses = random.between(0, 3);
  for (int d = 0; d < num_defs; ++d) {
    ir::Operand op = operand(random.chance(25) ? ir::Role::DefUse : ir::Role::Def);
    if (op.role == ir::Role::Def && random.chance(20)) op.flags = ir::kEarlyClobber;
    else if (op.role == ir::Role::Def && num_uses > 0 && random.chance(30))
      op.tied = static_cast<std::uint16_t>(num_defs + random.between(0, num_uses - 1));
    ops.push_back(op);
  }
  for (int u = 0; u < num_uses; ++u) ops.push_back(operand(ir::Role::Use));
  if (random.chance(20)) ops.push_back(ir::Operand::of_vreg(ir::Role::Guard, guard));
  if (random.chance(25))
    ops.push_back(ir::Operand::of_preg(ir::Role::Clobber, {ir::RegFile::R, static_cast<std::uint8_t>(random.between(1, 5)),
                                                           static_cast<std::uint16_t>(random.between(0, 4))}));
  ir::Inst inst;
  inst.id = ir::InstId(0);
  inst.mnemonic = f.symbols.intern("op");
  f.append(inst, ops);
  ir::Inst end;
  end.id = ir::InstId(1);
  end.op = ir::Op::Exit;
  f.append(end, {});
  return f;
}

TEST(Demand, AgreesWithBruteForce) {
  const auto target = ir::parse_target(R"({"name": "tiny", "units": {"R": 12, "P": 2}, "reserved": ["R5"]})");
  ASSERT_TRUE(target.has_value());
  Random random(17);
  int judged = 0, impossible = 0;
  for (int k = 0; k < 60000; ++k) {
    const ir::Function f = random_instruction(random);
    if (!ir::check(f).empty()) continue;
    const ir::Limits limits = ir::Limits::of(*target, random.between(1, 12));
    const bool fits = BruteForce(f, *target, limits).run();
    ASSERT_EQ(is_feasible(f, f.insts[0], *target, limits), fits) << ir::print(f) << " at " << limits.of(ir::RegFile::R);
    ++judged;
    impossible += fits ? 0 : 1;
  }
  // Both answers are common, or the comparison would say little.
  EXPECT_GT(judged, 10000);
  EXPECT_GT(impossible, judged / 10);
  EXPECT_LT(impossible, judged * 9 / 10);
}

// `count` operands of `width` bits, aligned to `align` units (0 = naturally); fixed ones one after another at R(first), R(first +
// step), ...
struct Operands {
  ir::Role role;
  std::uint16_t width;
  int count;
  int align = 0;
  int first = -1, step = 0;
};
ir::Function with_operands(const std::vector<Operands>& kinds) {
  ir::Function f;
  f.name = "t";
  std::vector<ir::Operand> ops;
  for (const Operands& kind : kinds)
    for (int k = 0; k < kind.count; ++k) {
      ir::VReg reg;
      reg.width = kind.width;
      reg.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(kind.width));
      while (1 << reg.align_log2 < kind.align) ++reg.align_log2;
      ops.push_back(ir::Operand::of_vreg(kind.role, f.add_vreg(reg)));
      if (kind.first >= 0) ops.back().set_fixed({ir::RegFile::R, 1, static_cast<std::uint16_t>(kind.first + k * kind.step)});
    }
  f.begin_block();
  ir::Inst inst;
  inst.id = ir::InstId(0);
  inst.mnemonic = f.symbols.intern("op");
  f.append(inst, ops);
  ir::Inst end;
  end.id = ir::InstId(1);
  end.op = ir::Op::Exit;
  f.append(end, {});
  return f;
}

TEST(Demand, IsFastForFortyOperandsAtATightLimit) {
  // 12 guarded pairs and 12 singles that are read and written, 6 quads and 4 triples read, at one unit short of enough.
  const ir::Function f =
      with_operands({{ir::Role::DefUse, 64, 12}, {ir::Role::DefUse, 32, 12}, {ir::Role::Use, 128, 6}, {ir::Role::Use, 96, 4}});
  // 24 + 12 + 24 + 12 = 72 units: the singles fill the holes of the triples.
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::R, ir::default_target()), 72);
  EXPECT_FALSE(is_feasible(f, f.insts[0], ir::default_target(), ir::Limits::of(ir::default_target(), 71)));
}

TEST(Demand, KnowsHolesAndAlignmentBeyondTheSize) {
  const auto demand_of = [](const std::vector<Operands>& kinds) {
    const ir::Function f = with_operands(kinds);
    EXPECT_TRUE(ir::check(f).empty());
    return demand(f, f.insts[0], ir::RegFile::R, ir::default_target());
  };
  // One pair more than there are quads, each with a hole in its first half.
  EXPECT_EQ(demand_of({{ir::Role::DefUse, 64, 13}, {.role = ir::Role::Use, .width = 32, .count = 12, .first = 1, .step = 4}}), 50);
  // Pairs that are aligned to four units stand in three quads.
  EXPECT_EQ(demand_of({{ir::Role::DefUse, 32, 2}, {ir::Role::Use, 64, 3, 4}}), 10);
  // Where the sum alone does not fit, nothing is tried.
  EXPECT_EQ(demand_of({{ir::Role::DefUse, 32, 5}}), 5);
}

// Reads alone want the quad below R7 and the pair above it, writes alone the quad above R3 and the pair below. The pair stands in
// one place.
TEST(Demand, WhatIsReadAndWrittenHasOnePlaceAtBothMoments) {
  const std::string reads = "%4, %0{=R7}";
  EXPECT_EQ(demand_r("%2{inout} = op " + reads), 8);
  const ir::Function f = parse_function("func @t kernel target sm_90 threads 32\n" + kVregs + R"(
  vreg %11 R b128
  block b0
    #0 %2{inout}, %11, %1{=R3} = op )" + reads +
                                        R"(
    #1 %11, %1{=R3}, %2 = op
    #2 exit
)");
  EXPECT_EQ(demand(f, f.insts[1], ir::RegFile::R, ir::default_target()), 8);
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::R, ir::default_target()), 10);
}

// Of a moment by itself: what cannot be completed is not tried again for each order that leads there, of which there are more than
// 10^15 here.
TEST(Demand, EachDeadEndIsMetOnce) {
  const ir::Function f = with_operands({{ir::Role::DefUse, 96, 12},
                                        {ir::Role::DefUse, 128, 10, 2},
                                        {ir::Role::DefUse, 32, 8, 8},
                                        {.role = ir::Role::DefUse, .width = 32, .count = 4, .first = 5, .step = 8}});
  EXPECT_TRUE(ir::check(f).empty());
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::R, ir::default_target()), 135);
}

// What an architectural register holds is the program's own affair: no other operand can stand there.
TEST(Demand, ArchitecturalRegistersAreTaken) {
  const std::string vregs = R"(
  vreg %0 R b64
  vreg %1 R b32 fixed R1 architectural
)",
                    use = R"(
  block b0
    #0 use %0
    #1 exit
)";
  const ir::Function f = parse_function("func @t kernel target sm_90 threads 32\n" + vregs + use);
  EXPECT_EQ(demand(f, f.insts[0], ir::RegFile::R, ir::default_target()), 4);
  EXPECT_EQ(find_impossible(f, ir::default_target(), ir::Limits::of(ir::default_target(), 3)), ir::InstId(0));
}

// At a ret the callee-saved registers hold what the caller left in them: nothing else can stand there.
TEST(Demand, CalleeSavedRegistersAreTakenAtARet) {
  const std::string ret = R"(
func @t device target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = const 1
    #1 ret %0{=R24})";
  const ir::Target& target = *ir::find_target("sm_90");
  const ir::Function taken = parse_function(ret + "\n");
  EXPECT_EQ(find_impossible(taken, target, ir::Limits::of(target)), ir::InstId(1));
  // Unless the function has given the register up.
  const ir::Function given_up = parse_function(ret + " clobbers R24\n");
  EXPECT_EQ(find_impossible(given_up, target, ir::Limits::of(target)), std::nullopt);
}

}  // namespace
}  // namespace regduel::oracles
