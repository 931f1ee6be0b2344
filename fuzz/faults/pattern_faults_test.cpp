// Faults of the patterns on patterned allocations: each operator finds places, its result is well-formed, and where the execution
// trace changes, memcheck says so with the code that the operator is named for, and structure where it always shows there.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fuzz/duel/allocators.h"
#include "fuzz/faults/contents.h"
#include "fuzz/faults/patterns.h"
#include "fuzz/generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/report.h"

namespace regduel::fuzz {
namespace {

struct Tally {
  int applied = 0, changed = 0, caught = 0, right_code = 0;
};

struct Verdicts {
  bool trace_changed = false, structure = false, caught = false, right_code = false, right_structure = false;
  std::string findings;
};

Verdicts judge(const Subject& s, const FaultOperator& o, const ir::Function& damaged) {
  Verdicts v;
  const oracles::Report report = oracles::judge({s.before, damaged, s.target, s.limits});
  for (const oracles::JudgeResult& r : report.results) {
    if (r.judge == "execution") v.trace_changed = r.verdict == oracles::Verdict::Fail;
    for (const oracles::Finding& f : r.findings) {
      v.findings += fmt::format("{}@{}.{} ", f.category, f.inst.value, f.operand);
      v.caught = v.caught || r.judge == "structure" || r.judge == "memcheck" || r.judge == "symbolic";
      for (const int code : o.memcheck) v.right_code = v.right_code || f.category.starts_with(fmt::format("memcheck-{}-", code));
      for (const std::string_view category : o.structure)
        v.right_structure = v.right_structure || (r.judge == "structure" && f.category == category);
    }
  }
  return v;
}

TEST(PatternFaults, AreCaughtUnderTheirNames) {
  constexpr std::uint64_t kCases = 240;
  constexpr int kPatterns = 4;
  std::map<std::string, Tally> tallies;
  const std::vector<FaultOperator> operators = pattern_faults();
  int subjects = 0;
  for (std::uint64_t n = 0; n < kCases; ++n) {
    const StandardCase c = standard_mix(91, n);
    if (c.program.insts.size() > 300) continue;
    const ir::Target& target = *ir::find_target(c.target);
    const BeforeFacts facts(c.program);
    for (const std::string& name : allocator_names()) {
      const auto allocation = find_allocator(name)->allocate(c.program, target, {.limits = c.limits, .knobs = {}});
      if (!allocation) continue;
      Random random(hash_combine(n, name.size()));
      Patterned now{allocation->program, c.limits};
      std::vector<std::size_t> choices;
      for (int k = 0; k < kPatterns; ++k) choices.push_back(random.below(static_cast<std::uint32_t>(patterns().size())));
      for (int k = 0; k < kPatterns; ++k) {
        // There are few device functions.
        const bool device = c.program.kind == ir::FunctionKind::Device && k == 0;
        const Pattern& p = *std::find_if(patterns().begin(), patterns().end(), [&](const Pattern& one) {
          return device ? one.name == "callee-saved" : &one == &patterns()[choices[static_cast<std::size_t>(k)]];
        });
        if (auto next = p.apply({c.program, now.program, target, now.limits}, random)) now = std::move(*next);
      }
      ++subjects;
      const Subject subject{c.program, now.program, target, now.limits, &facts};
      for (const FaultOperator& o : operators) {
        EditProgram program(now.program);
        if (!o.apply(program, subject, random)) continue;
        Tally& t = tallies[std::string(o.name)];
        ++t.applied;
        const ir::Function damaged = program.build();
        const auto faults = ir::check(damaged, 1);
        ASSERT_TRUE(faults.empty()) << o.name << ", case " << n << ": " << ir::to_string(damaged, faults[0]);
        ASSERT_NE(ir::print(damaged), ir::print(now.program)) << o.name << ", case " << n;
        const Verdicts v = judge(subject, o, damaged);
        EXPECT_TRUE(o.structure.empty() || v.right_structure) << o.name << ", " << name << ", case " << n;
        if (!v.trace_changed) continue;
        ++t.changed;
        t.caught += v.caught ? 1 : 0;
        t.right_code += v.right_code ? 1 : 0;
        EXPECT_TRUE(v.caught && (v.right_code || o.memcheck.empty()))
            << o.name << ", " << name << ", case " << n << (v.caught ? ": another code: " : ": not caught: ") << v.findings
            << "\nrir 1\n"
            << ir::print(c.program) << ir::print(now.program) << ir::print(damaged);
      }
    }
  }
  fmt::print("{} subjects\n{:28} {:>7} {:>13} {:>6} {:>10}\n", subjects, "operator", "applied", "trace changed", "caught",
             "right code");
  for (const FaultOperator& o : operators) {
    const Tally& t = tallies[std::string(o.name)];
    fmt::print("{:28} {:7} {:13} {:6} {:10}\n", o.name, t.applied, t.changed, t.caught, t.right_code);
    EXPECT_GE(t.applied, 3) << o.name;
    // A remat that names the wrong one of two like instructions still computes the right value from its own immediates.
    EXPECT_TRUE(t.changed > 0 || o.name == "remat-wrong-number") << o.name;
  }
}

}  // namespace
}  // namespace regduel::fuzz
