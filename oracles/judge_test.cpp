// The verdict of a report, signatures, and the list of judges.

#include "oracles/judges.h"

#include "base/random.h"
#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

Report report_of(std::initializer_list<Verdict> verdicts) {
  Report r;
  for (const Verdict v : verdicts) {
    JudgeResult result;
    result.verdict = v;
    r.results.push_back(result);
  }
  return r;
}

TEST(Report, TheWorstVerdictCounts) {
  using enum Verdict;
  EXPECT_EQ(report_of({}).verdict(), Skipped);
  EXPECT_EQ(report_of({Skipped, Skipped}).verdict(), Skipped);
  EXPECT_EQ(report_of({Pass, Skipped}).verdict(), Pass);
  EXPECT_EQ(report_of({Pass, Inconclusive, Skipped}).verdict(), Inconclusive);
  EXPECT_EQ(report_of({Pass, Inconclusive, Fail}).verdict(), Fail);
}

const std::string kAfter = R"(
func @t kernel target sm_90 threads 32 allocated
  block b0
    #7 R3{inout}, R4 = "fma.acc" R5
    #8 @P0 call "f", R4 clobbers R0:R3
    +9 R1 = copy R2
    #12 exit
)";

TEST(Signature, NamesThePlaceWithoutNumbers) {
  const ir::Function after = parse_function(kAfter);
  const auto of = [&](std::uint32_t inst, int operand) {
    Finding f;
    f.judge = "structure";
    f.category = "tied-operand";
    if (inst != 0) f.inst = ir::InstId(inst);
    f.operand = operand;
    return signature(f, after);
  };
  EXPECT_EQ(of(7, 0), "structure/tied-operand@fma.acc:inout");
  EXPECT_EQ(of(7, 1), "structure/tied-operand@fma.acc:def");
  EXPECT_EQ(of(7, 2), "structure/tied-operand@fma.acc:use");
  EXPECT_EQ(of(8, 2), "structure/tied-operand@call:guard");
  EXPECT_EQ(of(8, 3), "structure/tied-operand@call:clobber");
  EXPECT_EQ(of(8, 9), "structure/tied-operand@call");
  EXPECT_EQ(of(9, -1), "structure/tied-operand@+copy");
  EXPECT_EQ(of(99, 0), "structure/tied-operand@missing");
  EXPECT_EQ(of(0, -1), "structure/tied-operand@function");
}

TEST(Judges, AreFoundByName) {
  ASSERT_FALSE(judges().empty());
  EXPECT_EQ(judges().front()->name(), "structure");
  for (const Judge* j : judges()) {
    EXPECT_EQ(find_judge(j->name()), j);
    EXPECT_FALSE(j->what_it_proves().empty());
  }
  EXPECT_EQ(find_judge("nobody"), nullptr);
}

TEST(Judges, ReportInOrderAndByName) {
  const auto [before, good] = parse_both(R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = a 1 | R0 = a 1
    #1 use %0   | use R0
    #2 exit
)");
  const ir::Function bad = parse_function(R"(
func @t kernel target sm_90 threads 32 allocated
  vreg %0 R b32
  block b0
    #0 R0 = a 1
    #1 use R1
    #2 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  const Report all = judge({before, good, target, ir::Limits::of(target), nullptr});
  ASSERT_EQ(all.results.size(), judges().size());
  for (std::size_t k = 0; k < all.results.size(); ++k) EXPECT_EQ(all.results[k].judge, judges()[k]->name());
  EXPECT_EQ(all.verdict(), Verdict::Pass);
  const std::vector<std::string> some = {"execution"};
  const Report one = judge({before, bad, target, ir::Limits::of(target), nullptr}, some);
  ASSERT_EQ(one.results.size(), 1u);
  EXPECT_EQ(one.verdict(), Verdict::Fail);
  ASSERT_NE(one.result_of("execution"), nullptr);
  EXPECT_EQ(one.result_of("structure"), nullptr);
  EXPECT_EQ(one.results[0].findings.at(0).category, "execution-undefined");
}

// The value that a loop reads is that of the iteration before last: the same definitions to memcheck, the same values by chance in
// an execution, another value to symbolic. Where an allocator is believed, that is a contradiction.
TEST(Judges, TheirContradictionIsReportedLast) {
  const std::string vregs = R"(
  vreg %0 R b32
  vreg %1 P pred
)";
  const ir::Function before = parse_function("func @t kernel target sm_90 threads 32\n" + vregs + R"(
  block b0
    #0 %0 = a
    #1 %1 = p
    #2 bra -> b1
  block b1
    #3 use %0
    #4 %0 = a
    #5 cbra %1 -> b1, b2
  block b2
    #6 exit
)");
  const ir::Function after = parse_function("func @t kernel target sm_90 threads 32 allocated\n" + vregs +
                                            R"(
  block b0
    #0 R0 = a
    +20 R1 = copy R0
    #1 P0 = p
    #2 bra -> b1
  block b1
    #3 use R0
    +21 R0 = copy R1
    #4 R1 = a
    #5 cbra P0 -> b1, b2
  block b2
    #6 exit
)");
  const ir::Target& target = *ir::find_target("sm_90");
  const Case c = {before, after, target, ir::Limits::of(target), nullptr, true};
  const Report report = judge(c);
  ASSERT_EQ(report.results.size(), judges().size() + 1);
  EXPECT_THAT(categories(report.results.back()), ::testing::ElementsAre("symbolic-vs-memcheck"));
  Case doubted = c;
  doubted.is_believed_valid = false;
  EXPECT_EQ(judge(doubted).results.size(), judges().size());
}

const auto [kManyBefore, kManyAfter] = side_by_side(R"(
func @t device target sm_90 threads 32
  frame local 16 shared 8
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  vreg %4 R b16 alias %1.h1
  vreg %5 UR b32
  slot 0 local size 8 align 8 offset 0
  slot 1 shared size 8 align 4 offset 0
  block b0
    #0 %0 = ld.param "base" !read !readonly !remat | R8:R9 = ld.param "base" !read !readonly !remat
    +40                        | spill R8:R9, slot 0
    #1 %1 = const 5 !remat     | const !remat !deleted
    +41                        | R4 = remat #1 5
    #2 %2 = setp %1, %0.lo     | P0 = setp R4, R8:R9.lo
    +42                        | R10{inout} = p2r P0
    +43                        | @P0 spill R4, slot 1 + 4
    +44                        | R10{inout} = bit_spill P0, 31
    #3 @!%2 %1 = add %1, 1     | @!P0 R4 = add R4, 1
    #4 %3{inout} = fma %1      | R6{inout} = fma R4
    +45                        | R5 = copy R4
    #5 %3{=R0} = call "f", %1{=R4}, !%2 clobbers R0:R3 | R0 = call "f", R4, !P0 clobbers R0:R3
    #6 cbra %2 -> b1, b2       | cbra P0 -> b3, b2
  block b1
    #7 %3 = phi b0: %1, b1: %3 | phi !deleted
    +46                        | R8:R9 = refill slot 0
    #8 st %0, %4 !write        | st R8:R9, R5.h1 !write
    #9 mbra %3 -> b1, b2       | mbra R6 -> b1, b4
  block b2
    +47                        | P0 = r2p R10
    +48                        | P1 = bit_refill R10, 31
    #10 %5 = copy %3           | UR0 = copy R0
    #11 use %5                 | use UR0
    #12 ret
  block b3 edge b0 -> b1
    +50                        | R6 = copy R5
    +51                        | bra -> b1
  block b4 edge b1 -> b2
    +52                        | R0, R6 = copy R6, R0
    +53                        | bra -> b2
)");

void damage(ir::Function& f, Random& random) {
  switch (random.below(10)) {
    case 0: {
      ir::Operand& op = f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))];
      if (op.is_preg()) {
        ir::PReg r = op.preg();
        r.first = static_cast<std::uint16_t>(random.between(0, 511));
        op.set_preg(r);
      }
      break;
    }
    case 1: {
      ir::Operand& op = f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))];
      op.set_raw({random.below(600), op.raw().extra});
      break;
    }
    case 2: {
      ir::Operand& op = f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))];
      op.set_preg({static_cast<ir::RegFile>(random.below(7)), static_cast<std::uint8_t>(random.between(1, 255)),
                   static_cast<std::uint16_t>(random.below(512))});
      break;
    }
    case 3:
      f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))].part =
          ir::Part::from_code(static_cast<std::uint8_t>(random.below(256)));
      break;
    case 4: f.targets[random.below(static_cast<std::uint32_t>(f.targets.size()))] = ir::BlockId(random.between(0, 4)); break;
    case 5:
      f.insts[random.below(static_cast<std::uint32_t>(f.insts.size()))].flags ^= static_cast<std::uint16_t>(1u << random.below(9));
      break;
    case 6:
      f.insts[random.below(static_cast<std::uint32_t>(f.insts.size()))].op = ir::kOpcodes[random.below(ir::kOpcodes.size())].op;
      break;
    case 7: {
      ir::Inst& i = f.insts[random.below(static_cast<std::uint32_t>(f.insts.size()))];
      (random.chance(50) ? i.id : i.ref) = ir::InstId(random.between(0, 60));
      break;
    }
    case 8: {
      ir::Slot& s = f.slots[random.below(static_cast<std::uint32_t>(f.slots.size()))];
      s.offset = random.below(1u << 30) & ~7u;
      s.size = random.between(1, 1 << 30);
      break;
    }
    default:
      f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))].role = static_cast<ir::Role>(random.below(5));
      break;
  }
}

// Whatever is well-formed gets a verdict, and the findings and verdicts go together.
TEST(Judges, NeitherThrowNorStopOnNonsense) {
  const ir::Function before = parse_function(kManyBefore), after = parse_function(kManyAfter);
  const ir::Target& target = *ir::find_target("sm_90");
  const Report sound = judge({before, after, target, ir::Limits::of(target, 11), nullptr});
  EXPECT_EQ(sound.result_of("structure")->verdict, Verdict::Pass) << describe(*sound.result_of("structure"));
  Random random(5);
  int judged = 0, failed = 0;
  for (int k = 0; k < 30000; ++k) {
    ir::Function nonsense = after;
    for (int n = random.between(1, 4); n > 0; --n) damage(nonsense, random);
    if (!ir::check(nonsense).empty()) continue;
    const Report report = judge({before, nonsense, target, ir::Limits::of(target, 11), nullptr});
    ++judged;
    failed += report.verdict() == Verdict::Fail ? 1 : 0;
    for (const JudgeResult& r : report.results) {
      EXPECT_EQ(r.findings.empty(), r.verdict != Verdict::Fail) << r.judge;
      if (r.verdict == Verdict::Inconclusive || r.verdict == Verdict::Skipped) {
        EXPECT_FALSE(r.reason.empty()) << r.judge;
      }
      for (const Finding& finding : r.findings) EXPECT_FALSE(signature(finding, nonsense).empty());
    }
  }
  EXPECT_GT(judged, 3000);
  EXPECT_GT(failed, judged / 2);
}

}  // namespace
}  // namespace regduel::oracles
