// The metamorphic judge, with allocators that break one relation each, and with one that breaks none.
#include "oracles/metamorphic/metamorphic.h"

#include <functional>

#include "base/check_macro.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

const std::string kProgram = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  vreg %3 R b32
  block b0
    #0 %0 = first
    #1 %1 = second
    #2 %2 = setp %0
    #3 cbra %2 -> b1, b2
  block b1
    #4 %3 = sum %0, %1
    #5 use %3
    #6 bra -> b3
  block b2
    #7 use %1
    #8 bra -> b3
  block b3
    #9 use %0
    #10 exit
)";

// What a test wants to go wrong, and when.
enum class Wrong { Nothing, Register, Impossible, Crash, IllFormed, Claims, Message, Broken, BadKnob, Unsupported, Spills };
using When = std::function<bool(const ir::Function&, const ir::Limits&, int call)>;

// Gives each vreg that occurs a register of its own, in the order of the program, from 0 or (with `low` off) from a place that
// depends on the number of vregs; fails as impossible where they do not fit. Right for programs without aliases, phis and
// constraints.
class OneRegisterEach : public ir::Allocator {
 public:
  OneRegisterEach(Wrong wrong, When when, bool low = true) : wrong_(wrong), when_(std::move(when)), low_(low) {}
  [[nodiscard]] std::string_view name() const override { return "one-each"; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target&,
                                                                         const ir::AllocOptions& options) const override {
    const Wrong wrong = when_(program, options.limits, calls_++) ? wrong_ : Wrong::Nothing;
    REGDUEL_CHECK(wrong != Wrong::Crash, "made to crash");
    const int limit = options.limits.of(ir::RegFile::R);
    const auto failure =
        ir::AllocFailure{ir::AllocFailure::Kind::Impossible, wrong == Wrong::Message ? "another" : ir::failure_message(limit)};
    if (wrong == Wrong::Impossible || wrong == Wrong::Message) return std::unexpected(failure);
    if (wrong == Wrong::Broken) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Broken, "no answer"});
    if (wrong == Wrong::Unsupported)
      return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "too many tuples"});
    if (wrong == Wrong::BadKnob) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, "no such knob"});
    if (options.trace != nullptr) options.trace->line("allocated");
    ir::Allocation a;
    a.program = program.clone_header();
    a.program.phase = wrong == Wrong::IllFormed ? ir::Phase::Virtual : ir::Phase::Allocated;
    std::vector<int> unit(program.vregs.size(), -1);
    ir::PerFile<int>& next = a.claims.registers;
    if (!low_) next[0] = static_cast<int>(program.vregs.size());
    for (const ir::Block& b : program.blocks) {
      a.program.begin_block(b);
      for (const ir::Inst& i : program.insts_of(b)) {
        std::vector<ir::Operand> ops(program.operands_of(i).begin(), program.operands_of(i).end());
        for (ir::Operand& op : ops) {
          if (!op.is_vreg()) continue;
          const ir::RegFile file = program.vreg(op.vreg()).file();
          int& u = unit[op.vreg().index()];
          if (u < 0) u = next[ir::index(file)]++;
          if (u >= options.limits.of(file)) return std::unexpected(failure);
          op = program.placed_at(op, {file, 1, static_cast<std::uint16_t>(u)});
        }
        if (wrong == Wrong::Register && program.mnemonic(i) == "sum") ops[1] = ops[2];
        a.program.append(i, ops, program.targets_of(i));
        if (wrong == Wrong::Spills && program.mnemonic(i) == "first") spill_and_refill(a, ops[0]);
      }
    }
    if (wrong == Wrong::Claims) ++a.claims.spill_load_bytes;
    return a;
  }

 private:
  // Stores what `op` holds, and refills it twice.
  static void spill_and_refill(ir::Allocation& a, const ir::Operand& op) {
    a.program.local_frame = 4;
    const ir::Operand slot = ir::Operand::of_slot(a.program.add_slot({}));
    for (int k = 0; k < 3; ++k) {
      ir::Inst i;
      i.id = ir::InstId(5000 + k);
      i.op = k == 0 ? ir::Op::Spill : ir::Op::Refill;
      i.flags = ir::kInserted;
      const ir::Operand ops[] = {ir::Operand::of_preg(k == 0 ? ir::Role::Use : ir::Role::Def, op.preg()), slot};
      a.program.append(i, ops);
    }
    a.claims.spill_store_bytes = 4;
    a.claims.spill_load_bytes = 8;
  }
  Wrong wrong_;
  When when_;
  bool low_;
  mutable int calls_ = 0;
};

constexpr int kFree = 255;

MetamorphicResult run(const ir::Allocator& allocator, int limit = kFree, const std::string& text = kProgram) {
  const ir::Function program = parse_function(text);
  const ir::Target& target = *ir::find_target("sm_90");
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, limit);
  return judge_metamorphic({program, target}, allocator, options);
}
MetamorphicResult run(Wrong wrong, When when, int limit = kFree) { return run(OneRegisterEach(wrong, std::move(when)), limit); }

TEST(Metamorphic, NothingToFind) {
  const MetamorphicResult r = run(Wrong::Nothing, [](const auto&, const auto&, int) { return false; });
  EXPECT_EQ(r.result.verdict, Verdict::Pass) << describe(r.result);
  EXPECT_EQ(r.result.judge, "metamorphic");
}

TEST(Metamorphic, TheSecondAnswerMustBeTheFirst) {
  const When second = [](const auto&, const auto&, int call) { return call == 1; };
  for (const Wrong wrong : {Wrong::Register, Wrong::Impossible, Wrong::Crash, Wrong::IllFormed, Wrong::Claims}) {
    const MetamorphicResult r = run(wrong, second);
    EXPECT_THAT(categories(r.result), ElementsAre("nondeterministic")) << static_cast<int>(wrong);
  }
  const MetamorphicResult r = run(Wrong::Register, second);
  EXPECT_THAT(r.result.findings.at(0).message, HasSubstr("\"#4 R2 = sum R0, R1\", then \"#4 R2 = sum R1, R1\""));
  // A failure has to be worded alike, too.
  EXPECT_THAT(categories(run(Wrong::Message, second, 2).result), Contains("nondeterministic"));
}

// One allocator a variant, wrong exactly when it sees that variant's mark; what goes wrong is seen whatever it is.
TEST(Metamorphic, EachVariantIsCompared) {
  const ir::Function program = parse_function(kProgram);
  const auto has = [](const ir::Function& f, std::string_view mnemonic) {
    return std::any_of(f.insts.begin(), f.insts.end(), [&](const ir::Inst& i) { return f.mnemonic(i) == mnemonic; });
  };
  const std::vector<std::pair<std::string, When>> marks = {
      {"rename-vregs",
       [&](const ir::Function& f, const auto&, int) {
         return f.operands[0].raw().value != program.operands[0].raw().value ||
                f.operands[1].raw().value != program.operands[1].raw().value;
       }},
      {"rename-insts", [](const ir::Function& f, const auto&, int) { return f.insts[0].id.value != 0 && f.name == "t"; }},
      {"permute-blocks", [&](const ir::Function& f, const auto&,
                             int) { return f.blocks.size() == 4 && f.mnemonic(f.insts[4]) != program.mnemonic(program.insts[4]); }},
      {"names", [](const ir::Function& f, const auto&, int) { return f.name != "t"; }},
      {"unreachable-blocks", [](const ir::Function& f, const auto&, int) { return f.blocks.size() > 4; }},
      {"unused-vregs",
       [&](const ir::Function& f, const auto&, int) { return f.vregs.size() > 4 && f.insts.size() == program.insts.size(); }},
      {"one-register-more", [](const ir::Function&, const ir::Limits& limits, int) { return limits.of(ir::RegFile::R) == 9; }},
  };
  for (const auto& [variant, when] : marks)
    for (const Wrong wrong : {Wrong::Register, Wrong::Impossible, Wrong::Crash, Wrong::IllFormed, Wrong::Claims}) {
      const MetamorphicResult r = run(wrong, when, 8);
      EXPECT_THAT(categories(r.result), ElementsAre("verdict-changed-" + variant)) << static_cast<int>(wrong) << describe(r.result);
    }
  const MetamorphicResult r = run(Wrong::Register, marks[3].second, 8);
  EXPECT_THAT(r.result.findings.at(0).message, HasSubstr("the judges say pass, and with names they say fail ("));
  EXPECT_THAT(r.result.findings.at(0).message, HasSubstr("memcheck/memcheck-6-extra-defs-introduced@sum:use"));

  std::string large = kProgram;
  for (int k = 0; k < 40; ++k) large.insert(large.find("    #3 cbra"), "    #" + std::to_string(100 + k) + " %1 = more %1\n");
  const MetamorphicResult dead =
      run(OneRegisterEach(Wrong::Register,
                          [&](const ir::Function& f, const auto&, int) { return has(f, "dead.def") && f.blocks.size() == 4; }),
          kFree, large);
  EXPECT_THAT(categories(dead.result), ElementsAre("verdict-changed-dead-defs"));
}

// What was wrong from the beginning, and stays so, is other judges' business; a wrong verdict that a variant cures is a change.
TEST(Metamorphic, OnlyChangesCount) {
  EXPECT_THAT(run(Wrong::Register, [](const auto&, const auto&, int) { return true; }).result.findings, IsEmpty());
  EXPECT_THAT(run(Wrong::Crash, [](const auto&, const auto&, int) { return true; }).result.findings, IsEmpty());
  const MetamorphicResult cured = run(Wrong::Register, [](const ir::Function& f, const auto&, int) { return f.name == "t"; });
  EXPECT_THAT(categories(cured.result), ElementsAre("verdict-changed-names"));
}

// #4 needs two registers: at a limit of 1 it is impossible, and stays so in each variant; with one register more it need not.
TEST(Metamorphic, OneRegisterMoreMayMakeItPossible) {
  const std::string text = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0, %1 = a
    #1 exit
)";
  const OneRegisterEach right(Wrong::Nothing, [](const auto&, const auto&, int) { return false; });
  const MetamorphicResult r = run(right, 1, text);
  EXPECT_EQ(r.result.verdict, Verdict::Pass) << describe(r.result);
  // But what was possible must stay so.
  const OneRegisterEach wrong(Wrong::Impossible,
                              [](const auto&, const ir::Limits& limits, int) { return limits.of(ir::RegFile::R) == 3; });
  EXPECT_THAT(categories(run(wrong, 2, text).result), ElementsAre("verdict-changed-one-register-more"));
}

TEST(Metamorphic, QualityIsObservedNotJudged) {
  const OneRegisterEach high(Wrong::Nothing, [](const auto&, const auto&, int) { return false; }, false);
  const MetamorphicResult r = run(high);
  EXPECT_EQ(r.result.verdict, Verdict::Pass) << describe(r.result);
  EXPECT_THAT(r.observations, Contains(Observation{"unused-vregs", "registers", 7, 10}));
  for (const Observation& o : r.observations) EXPECT_TRUE(o.variant == "unused-vregs" || o.variant == "dead-defs") << o.variant;
}

// Registers left out: a dead def takes one.
std::vector<Observation> spills_of(const MetamorphicResult& r) {
  std::vector<Observation> list = r.observations;
  std::erase_if(list, [](const Observation& o) { return o.what == "registers"; });
  return list;
}

TEST(Metamorphic, EachFigureIsObserved) {
  const MetamorphicResult more = run(Wrong::Spills, [](const ir::Function& f, const auto&, int) { return f.name != "t"; });
  EXPECT_EQ(more.result.verdict, Verdict::Pass) << describe(more.result);
  EXPECT_THAT(spills_of(more),
              ElementsAre(Observation{"names", "spill_store_bytes", 0, 4}, Observation{"names", "spill_load_bytes", 0, 8},
                          Observation{"names", "weighted_spill_bytes", 0, 12}));
  // Of one register more, that it needs less is natural, and that it needs more is not.
  const When at_nine = [](const ir::Function&, const ir::Limits& limits, int) { return limits.of(ir::RegFile::R) == 9; };
  EXPECT_EQ(spills_of(run(Wrong::Spills, at_nine, 8)).size(), 3u);
  EXPECT_THAT(spills_of(run(
                  Wrong::Spills, [&](const ir::Function& f, const ir::Limits& l, int call) { return !at_nine(f, l, call); }, 8)),
              IsEmpty());
}

// What an outcome is called, seen from the change to it.
TEST(Metamorphic, EachOutcomeHasItsWords) {
  const When renamed = [](const ir::Function& f, const auto&, int) { return f.name != "t"; };
  const auto words = [&](Wrong wrong) {
    const MetamorphicResult r = run(wrong, renamed, 8);
    return r.result.findings.empty() ? std::string() : r.result.findings[0].message;
  };
  const std::string start = "the judges say pass, and with names they say ";
  EXPECT_EQ(words(Wrong::Broken), start + "fail (harness/broken)");
  EXPECT_EQ(words(Wrong::Crash), start + "fail (harness/internal-error)");
  EXPECT_EQ(words(Wrong::IllFormed), start + "fail (harness/ill-formed)");
  EXPECT_EQ(words(Wrong::Impossible), start + "fail (completeness/completeness@function)");
  EXPECT_EQ(words(Wrong::Claims), start + "fail (quality/claims-spill-load-bytes@function)");

  // From impossible to broken: #0 needs two registers.
  const std::string text = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0, %1 = a
    #1 exit
)";
  const MetamorphicResult r = run(OneRegisterEach(Wrong::Broken, renamed), 1, text);
  ASSERT_EQ(r.result.findings.size(), 1u);
  EXPECT_EQ(r.result.findings[0].message, "the judges say skipped (impossible), and with names they say fail (harness/broken)");
}

// Signatures are told once each, in order.
TEST(Metamorphic, SignaturesAreSortedAndUnique) {
  std::string text = kProgram;
  text.insert(text.find("    #5 use"), "    #11 %3 = sum %0, %1\n");
  const MetamorphicResult r =
      run(OneRegisterEach(Wrong::Register, [](const ir::Function& f, const auto&, int) { return f.name != "t"; }), 8, text);
  ASSERT_EQ(r.result.findings.size(), 1u);
  EXPECT_THAT(
      r.result.findings[0].message,
      HasSubstr("fail (execution/execution-wrong-value@sum:use, memcheck/memcheck-6-extra-defs-introduced@sum:use, symbolic/"));
}

TEST(Metamorphic, ARefusedKnobIsNoVerdict) {
  const MetamorphicResult r = run(Wrong::BadKnob, [](const auto&, const auto&, int) { return true; });
  EXPECT_EQ(r.result.verdict, Verdict::Skipped);
  EXPECT_EQ(r.result.reason, "no such knob");
}

// Nothing is compared with a program that the allocator does not take; a variant alone that it does not take is undecided.
TEST(Metamorphic, AnUnsupportedProgramIsNoVerdict) {
  const MetamorphicResult all = run(Wrong::Unsupported, [](const auto&, const auto&, int) { return true; });
  EXPECT_EQ(all.result.verdict, Verdict::Skipped);
  EXPECT_EQ(all.result.reason, "too many tuples");
  const MetamorphicResult one = run(Wrong::Unsupported, [](const auto&, const auto&, int call) { return call == 2; });
  EXPECT_EQ(one.result.verdict, Verdict::Inconclusive);
  EXPECT_THAT(one.result.reason, ::testing::HasSubstr("too many tuples"));
}

// A switch with more arms, behind a longer beginning, than there is fuel to execute.
TEST(Metamorphic, WhatIsInconclusiveComparesWithNothing) {
  std::string text = R"(
func @t kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = a
)",
              arms;
  for (int k = 1; k <= 10'000; ++k) text += "    #" + std::to_string(k) + " step\n";
  text += "    #10001 mbra %0 ->";
  for (int k = 1; k <= 2500; ++k) {
    text += (k == 1 ? " b" : ", b") + std::to_string(k);
    arms += "  block b" + std::to_string(k) + "\n    #" + std::to_string(10'001 + k) + " exit\n";
  }
  const MetamorphicResult r =
      run(OneRegisterEach(Wrong::Nothing, [](const auto&, const auto&, int) { return false; }), kFree, text + "\n" + arms);
  EXPECT_EQ(r.result.verdict, Verdict::Inconclusive);
  EXPECT_THAT(r.result.reason,
              ::testing::MatchesRegex("rename-vregs: fuel: .* of 2500 reachable edges were not taken, or not in two laps"));
}

// No trace is written of the variants, which are the judge's own.
TEST(Metamorphic, NothingIsTraced) {
  struct Counter final : ir::Trace {
    void line(std::string) override { ++lines; }
    int lines = 0;
  } counter;
  const ir::Function program = parse_function(kProgram);
  const ir::Target& target = *ir::find_target("sm_90");
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target);
  options.trace = &counter;
  const OneRegisterEach right(Wrong::Nothing, [](const auto&, const auto&, int) { return false; });
  EXPECT_EQ(judge_metamorphic({program, target}, right, options).result.verdict, Verdict::Pass);
  EXPECT_EQ(counter.lines, 0);
}

TEST(Metamorphic, VariantsAreNamedInOrder) {
  const auto names = metamorphic_variants();
  EXPECT_EQ(names.front(), "repeat");
  EXPECT_EQ(names.back(), "one-register-more");
}

}  // namespace
}  // namespace regduel::oracles
