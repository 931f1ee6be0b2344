#include "fuzz/triage/reduce.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/case_file.h"
#include "fuzz/edit/cut.h"
#include "fuzz/triage/failure.h"
#include "generate/program_facts.h"
#include "generate/standard_mix.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

using ir::Op;

duel::Case mix_input(std::uint64_t index) {
  generate::StandardCase s = generate::standard_mix(5, index);
  duel::Case input;
  input.target = ir::find_target(s.target);
  input.limits = s.limits;
  input.program = std::move(s.program);
  return input;
}

bool any_inst(const duel::Case& input, const std::function<bool(const ir::Function&, const ir::Inst&)>& wanted) {
  return std::any_of(input.program.insts.begin(), input.program.insts.end(),
                     [&](const ir::Inst& i) { return wanted(input.program, i); });
}

// One question a row, and the program that is left when nothing else matters.
struct Question {
  const char* name;
  StillFails still_fails;
  const char* minimum;  // null: there are several, of at most 7 instructions
};

std::vector<Question> questions() {
  return {
      {"anything", [](const duel::Case&) { return true; },
       "  block b0\n"
       "    #0 exit\n"},
      {"an early-clobber def",
       [](const duel::Case& input) {
         return std::any_of(input.program.operands.begin(), input.program.operands.end(),
                            [](const ir::Operand& o) { return o.is_early_clobber(); });
       },
       "  vreg %0 R b32\n"
       "  block b0\n"
       "    #0 %0{early} = op\n"
       "    #1 exit\n"},
      {"a loop",
       [](const duel::Case& input) {
         const ir::Cfg cfg(input.program);
         for (const ir::BlockId b : cfg.reverse_postorder())
           for (const ir::BlockId t : cfg.successors(b))
             if (cfg.rpo_index(t) <= cfg.rpo_index(b)) return true;
         return false;
       },
       "  block b0\n"
       "    #0 bra -> b0\n"},
      {"a value that is stored",
       [](const duel::Case& input) {
         return any_inst(input, [](const ir::Function& f, const ir::Inst& i) {
           const auto ops = f.operands_of(i);
           return i.has(ir::kMemWrite) &&
                  std::any_of(ops.begin(), ops.end(), [](const ir::Operand& o) { return o.is_vreg() && o.role == ir::Role::Use; });
         });
       },
       "  vreg %0 R b32\n"
       "  block b0\n"
       "    #0 %0 = op\n"
       "    #1 op %0 !write\n"
       "    #2 exit\n"},
      {"three units live at once", [](const duel::Case& input) { return generate::max_live(input.program, ir::RegFile::R) >= 3; },
       nullptr},  // one vreg of three units, or two, or three
  };
}

class ReduceMix : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ReduceMix, TheMinimumIsReachedFromAnyProgram) {
  const duel::Case input = mix_input(GetParam());
  for (const Question& q : questions()) {
    if (!q.still_fails(input)) continue;
    std::uint64_t asked = 0;
    const Reduced r = reduce(input, [&](const duel::Case& c) {
      ++asked;
      EXPECT_TRUE(ir::check(c.program, *c.target, 1).empty());
      return q.still_fails(c);
    });
    EXPECT_TRUE(r.is_minimal);
    EXPECT_EQ(r.tries, asked);
    const std::string text = ir::print(r.input.program);
    if (q.minimum == nullptr) EXPECT_LE(r.input.program.insts.size(), 7u) << q.name << " of program " << GetParam() << "\n" << text;
    else EXPECT_EQ(text.substr(text.find('\n') + 1), q.minimum) << q.name << " of program " << GetParam();
    EXPECT_TRUE(r.input.knobs.empty());
    EXPECT_EQ(r.input.limits.units, ir::Limits::of(*r.input.target).units) << "the limit does not matter here";
  }
}
INSTANTIATE_TEST_SUITE_P(StandardMix, ReduceMix, testing::Range<std::uint64_t>(0, 12));

TEST(Reduce, TheSameCaseAndQuestionGiveTheSameResult) {
  const duel::Case input = mix_input(3);
  const StillFails spills = [](const duel::Case& c) { return generate::max_live(c.program, ir::RegFile::R) > 9; };
  ASSERT_TRUE(spills(input));
  const Reduced a = reduce(input, spills), b = reduce(input, spills);
  EXPECT_EQ(duel::encode_case(a.input), duel::encode_case(b.input));
  EXPECT_EQ(a.tries, b.tries);
}

TEST(Reduce, AQuestionThatOnlyTheWholeCaseAnswersLeavesItAsItIs) {
  const duel::Case input = mix_input(1);
  const std::string whole = ir::print(input.program);
  ReduceOptions options;
  options.budget = 2'000'000;
  const Reduced r = reduce(
      input, [&](const duel::Case& c) { return ir::print(c.program) == whole && c.limits.units == input.limits.units; }, options);
  EXPECT_EQ(ir::print(r.input.program), whole);
  EXPECT_LE(size_of(r.input), size_of(input));
}

TEST(Reduce, TheBudgetEndsIt) {
  const duel::Case input = mix_input(2);
  ReduceOptions options;
  options.budget = 3 * input.program.insts.size();
  const Reduced r = reduce(input, [](const duel::Case& c) { return c.program.insts.size() > 4; }, options);
  EXPECT_FALSE(r.is_minimal);
  EXPECT_LE(r.tries, 10u);
  EXPECT_LT(size_of(r.input), size_of(input));
}

TEST(Reduce, ReadsStayDefined) {
  const duel::Case input = mix_input(3);
  ASSERT_TRUE(generate::undefined_reads(input.program, 1).empty());
  const Reduced r = reduce(input, [](const duel::Case& c) {
    return any_inst(c, [](const ir::Function& f, const ir::Inst& i) {
      const auto ops = f.operands_of(i);
      return std::count_if(ops.begin(), ops.end(), [](const ir::Operand& o) { return o.is_vreg() && o.role == ir::Role::Use; }) >=
             2;
    });
  });
  EXPECT_TRUE(generate::undefined_reads(r.input.program, 1).empty());
  EXPECT_LE(r.input.program.insts.size(), 4u) << ir::print(r.input.program);
}

TEST(Reduce, AGapBetweenTwoAllocatorsIsKept) {
  const Gap gap{"briggs", "fatpoint", "spill_load_bytes", 120};
  // The first program of the mix that shows it.
  for (std::uint64_t index = 0; index < 60; ++index) {
    const duel::Case input = mix_input(index);
    if (input.program.insts.size() > 250 || !reproduces(input, gap)) continue;
    ReduceOptions options;
    options.budget = 400'000;
    const Reduced r = reduce(input, [&](const duel::Case& c) { return reproduces(c, gap); }, options);
    EXPECT_TRUE(reproduces(r.input, gap));
    EXPECT_LT(r.input.program.insts.size() * 4, input.program.insts.size()) << ir::print(r.input.program);
    return;
  }
  FAIL() << "no program shows the gap";
}

ir::Function parsed(const std::string& body) {
  return ir::parse(
             "rir 1\nfunc @f kernel target sm_90 threads 256\n  vreg %0 R b32\n  vreg %1 R b32\n  vreg %2 R b32\n  vreg %3 R b32\n "
             " vreg %4 P pred\n  block b0\n" +
             body + "    #9 exit\n")
      ->functions[0];
}

TEST(JoinWithNext, PutsTheOperandsOfBothTogetherOrDoesNothing) {
  const struct {
    const char *before, *after;  // null: it can't be done
  } cases[] = {
      {"    #0 %0 = op %1\n    #1 %2 = op %3 !write\n", "    #0 %0, %2 = op %1, %3 !write\n"},
      {"    #0 op %1\n    #1 %1 = op\n", "    #0 %1 = op %1\n"},
      {"    #0 %0 = op\n    #1 op %0\n", nullptr},
      {"    #0 %0 = op\n    #1 %0 = op\n", nullptr},
      {"    #0 %0{early} = op %1\n    #1 op %3\n", nullptr},
      {"    #0 op %1\n    #1 %2{tied 1} = op %3\n", nullptr},
      {"    #0 op %1\n    #1 @%4 %2 = op %3\n", nullptr},
      {"    #0 op %1 clobbers R0\n    #1 op %3\n", nullptr},
      {"    #0 %0 = copy %1\n    #1 op %3\n", nullptr},
      {"    #0 op %1, %1, %1, %1\n    #1 op %2, %2, %2, %2, %2\n", nullptr},
      {"", nullptr},
  };
  for (const auto& c : cases) {
    EditProgram p(parsed(c.before));
    EXPECT_EQ(join_with_next(p, {0, 0}), c.after != nullptr) << c.before;
    EXPECT_EQ(ir::print(p.build()), ir::print(parsed(c.after != nullptr ? c.after : c.before)));
  }
}

TEST(Reduce, JoinsWhatIsTooLongToBeSurveyed) {
  std::string body;
  duel::Case input;
  input.target = ir::find_target("sm_90");
  input.limits = ir::Limits::of(*input.target);
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 256\n";
  for (int k = 0; k < 20; ++k)
    text += "  vreg %" + std::to_string(k) + " R b32\n", body += "    #" + std::to_string(k) + " %" + std::to_string(k) + " = op\n";
  input.program = ir::parse(text + "  block b0\n" + body + "    #20 exit\n")->functions[0];
  const auto defines_all = [](const duel::Case& c) {
    std::vector<char> defined(c.program.vregs.size(), 0);
    for (const ir::Operand& o : c.program.operands)
      if (o.is_vreg() && o.writes()) defined[o.vreg().index()] = 1;
    return std::count(defined.begin(), defined.end(), 1) >= 20;
  };
  EXPECT_LE(reduce(input, defines_all).input.program.insts.size(), 8u);
}

TEST(GapText, RoundTripsAndSaysWhatIsWrong) {
  const auto gap = parse_gap("briggs/fatpoint:registers>=1.5");
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->percent, 150);
  EXPECT_EQ(to_string(*gap), "briggs/fatpoint:registers>=1.50");
  EXPECT_EQ(parse_gap(to_string(*gap))->percent, 150);
  EXPECT_EQ(parse_gap("briggs/fatpoint:registers>=2")->percent, 200);
  EXPECT_EQ(parse_gap("briggs/fatpoint:registers>=1.05")->percent, 105);
  for (const char* bad : {"", "briggs", "briggs/fatpoint", "briggs/fatpoint:registers",
                          "briggs/fatpoint:registers>=", "briggs/fatpoint:registers>=1.", "briggs/fatpoint:registers>=1.234",
                          "briggs/fatpoint:registers>=x", "briggs/fatpoint:registers>=1x", "briggs/nobody:registers>=2",
                          "briggs/fatpoint:colour>=2", "registers>=2:briggs/fatpoint"})
    EXPECT_FALSE(parse_gap(bad)) << bad;
}

TEST(CliffText, RoundTripsAndSaysWhatIsWrong) {
  const auto cliff = parse_cliff("fatpoint:weighted_spill_bytes>=2.5");
  ASSERT_TRUE(cliff);
  EXPECT_TRUE(cliff->is_cliff());
  EXPECT_EQ(to_string(*cliff), "fatpoint:weighted_spill_bytes>=2.50");
  EXPECT_EQ(failure_of(*cliff).signature, "cliff/fatpoint:weighted_spill_bytes>=2.50");
  EXPECT_EQ(to_string(*gap_of(failure_of(*cliff))), to_string(*cliff));
  for (const char* bad : {"", "fatpoint", "fatpoint:heap_bytes", "fatpoint:heap_bytes>=", "nobody:heap_bytes>=2",
                          "fatpoint:registers>=2", "fatpoint:colour>=2", "fatpoint/briggs:heap_bytes>=2", "heap_bytes>=2"})
    EXPECT_FALSE(parse_cliff(bad)) << bad;
}

TEST(Cut, APhiGoesWithItsDef) {
  const auto c = duel::parse_case(R"(rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0 = op
    #1 bra -> b1
  block b1
    #2 %1 = phi b0: %0
    #3 op %1
    #4 exit
)");
  ASSERT_TRUE(c) << to_string(c.error());
  EditProgram p(c->program);
  drop_operand_at(p, {1, 0}, 0);
  const ir::Function cut = p.build();
  EXPECT_TRUE(ir::check(cut, *c->target, 1).empty());
  EXPECT_EQ(std::count_if(cut.insts.begin(), cut.insts.end(), [](const ir::Inst& i) { return i.is_phi(); }), 0);
}

}  // namespace
}  // namespace regduel::fuzz
