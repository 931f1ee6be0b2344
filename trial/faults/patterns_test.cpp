// Patterns are correct: over the standard mix, on the results of every allocator, alone and one after another, each result is
// well-formed and no judge has anything against it.
#include "trial/faults/patterns.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/judges.h"

namespace regduel::trial {
namespace {

// The objections of the judges; empty where there is none.
std::string complaint(const ir::Function& before, const Patterned& p, const ir::Target& target) {
  if (const auto faults = ir::check(p.program, target, 1); !faults.empty())
    return "ill-formed: " + ir::to_string(p.program, faults[0]);
  const oracles::Report report = oracles::judge({before, p.program, target, p.limits});
  for (const oracles::JudgeResult& r : report.results)
    for (const oracles::Finding& f : r.findings)
      return fmt::format("{} at {} operand {} (other {}): {}", oracles::signature(f, p.program), f.inst.value, f.operand,
                         f.other.value, f.message);
  return {};
}

TEST(Patterns, EveryJudgePassesThem) {
  constexpr std::uint64_t kCases = 60;
  std::map<std::string, int> applied, chained;
  int subjects = 0;
  for (std::uint64_t n = 0; n < kCases; ++n) {
    const generate::StandardCase c = generate::standard_mix(77, n);
    if (c.program.insts.size() > 1200) continue;
    const ir::Target& target = *ir::find_target(c.target);
    for (const std::string& name : duel::allocator_names()) {
      const auto allocation = duel::find_allocator(name)->allocate(c.program, target, {.limits = c.limits, .knobs = {}});
      if (!allocation) continue;
      ++subjects;
      Random random(hash_combine(n, name.size()));
      for (const Pattern& p : patterns()) {
        const Subject subject{c.program, allocation->program, target, c.limits};
        const auto result = p.apply(subject, random);
        if (!result) continue;
        ++applied[std::string(p.name)];
        ASSERT_EQ(complaint(c.program, *result, target), "") << p.name << ", " << name << ", case " << n << "\nrir 1\n"
                                                             << ir::print(c.program) << ir::print(result->program);
      }
      // Two or three, one after another.
      Patterned now{allocation->program, c.limits};
      std::string history;
      for (int k = random.between(2, 3); k > 0; --k) {
        const Pattern& p = patterns()[random.below(static_cast<std::uint32_t>(patterns().size()))];
        const auto next = p.apply({c.program, now.program, target, now.limits}, random);
        if (!next) continue;
        now = *next;
        history += fmt::format("{} ", p.name);
        ++chained[std::string(p.name)];
      }
      ASSERT_EQ(complaint(c.program, now, target), "") << history << ", " << name << ", case " << n << "\nrir 1\n"
                                                       << ir::print(c.program) << ir::print(now.program);
    }
  }
  for (const Pattern& p : patterns()) {
    fmt::print("{:16} {:4} of {}, in chains {}\n", p.name, applied[std::string(p.name)], subjects, chained[std::string(p.name)]);
    EXPECT_GT(applied[std::string(p.name)], p.name == "callee-saved" ? 0 : subjects / 8) << p.name;
  }
  EXPECT_GT(subjects, 60);
}

TEST(Patterns, RepeatByteByByte) {
  const generate::StandardCase c = generate::standard_mix(78, 3);
  const ir::Target& target = *ir::find_target(c.target);
  const auto allocation = duel::find_allocator("fatpoint")->allocate(c.program, target, {.limits = c.limits, .knobs = {}});
  ASSERT_TRUE(allocation.has_value());
  const Subject subject{c.program, allocation->program, target, c.limits};
  int compared = 0;
  for (const Pattern& p : patterns()) {
    Random one(5), two(5);
    const auto a = p.apply(subject, one), b = p.apply(subject, two);
    ASSERT_EQ(a.has_value(), b.has_value()) << p.name;
    if (!a) continue;
    EXPECT_EQ(ir::print(a->program), ir::print(b->program)) << p.name;
    EXPECT_NE(ir::print(a->program), ir::print(allocation->program)) << p.name;
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

}  // namespace
}  // namespace regduel::trial
