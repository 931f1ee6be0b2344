// Lowered spill code before the judges: of random programs by several allocators it is accepted, and what its addresses are
// changed to is found out.

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/frame/lower_spills.h"
#include "base/random.h"
#include "duel/allocators.h"
#include "duel/case.h"
#include "ir/check.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "oracles/judges.h"
#include "oracles/pair/raise.h"

namespace regduel::properties {
namespace {

constexpr std::uint64_t kPrograms = 250;

std::string findings_of(const oracles::Report& report) {
  std::string text;
  for (const oracles::JudgeResult& r : report.results)
    for (const oracles::Finding& f : r.findings) text += f.judge + "/" + f.category + ": " + f.message + "\n";
  return text;
}

struct Lowered {
  duel::Case input;
  ir::Allocation allocation;
};
// Calls visit(Lowered) for those that spill.
template <class Visit>
int each_lowered(const Visit& visit) {
  int count = 0;
  for (const char* name : {"fatpoint", "briggs"}) {
    const ir::Allocator* const allocator = duel::find_allocator(name);
    for (std::uint64_t k = 0; k < kPrograms; ++k) {
      Lowered l{duel::standard_case(20261123, k, std::array{allocator}), {}};
      if (l.input.program.insts.size() > 600) continue;
      ir::AllocOptions options;
      options.limits = l.input.limits;
      options.knobs = l.input.knobs;
      auto result = allocator::allocate_lowered(*allocator, l.input.program, *l.input.target, options);
      if (!result) continue;  // impossible without two registers
      l.allocation = std::move(*result);
      const bool is_lowered = oracles::raise(l.input.program, l.allocation.program, *l.input.target, l.input.limits) != nullptr;
      count += is_lowered ? 1 : 0;
      if (is_lowered) visit(l);
    }
  }
  return count;
}

oracles::Report judge(const Lowered& l, const ir::Function& after) {
  return oracles::judge({l.input.program, after, *l.input.target, l.input.limits});
}

TEST(Lowering, IsAcceptedByEveryJudge) {
  const int count = each_lowered([](const Lowered& l) {
    const ir::Function& f = l.allocation.program;
    ASSERT_TRUE(ir::check(f, *l.input.target, 1).empty()) << ir::to_string(f, ir::check(f, *l.input.target, 1)[0]);
    const oracles::Case c{l.input.program, f, *l.input.target, l.input.limits, &l.allocation.claims, true};
    const oracles::Report report = oracles::judge(c);
    EXPECT_NE(report.verdict(), oracles::Verdict::Fail) << findings_of(report) << ir::print(l.input.program) << ir::print(f);
    const auto decoded = ir::decode(ir::encode(f));
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(ir::print(*decoded), ir::print(f));
  });
  EXPECT_GT(count, 40);
}

// One number of one step is changed, or one step is lost. What then is another program when it is raised has to be found, but for
// accesses that nobody needs.
TEST(Lowering, ADamagedAddressIsFound) {
  Random random(7);
  int damaged = 0, accepted = 0;
  each_lowered([&](const Lowered& l) {
    const ir::Function& f = l.allocation.program;
    std::vector<std::size_t> steps;
    for (std::size_t k = 0; k < f.insts.size(); ++k)
      if (ir::is_lowered(f.insts[k].op)) steps.push_back(k);
    const std::size_t at = steps[random.below(static_cast<std::uint32_t>(steps.size()))];
    ir::Function other = f.clone_header();
    const bool is_lost = random.chance(30);
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      other.begin_block(f.blocks[b]);
      for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) {
        const bool is_it = static_cast<std::size_t>(&i - f.insts.data()) == at;
        if (is_it && is_lost && i.is_inserted()) continue;
        std::vector<ir::Operand> ops(f.operands_of(i).begin(), f.operands_of(i).end());
        if (is_it)
          for (ir::Operand& op : ops)
            if (op.kind == ir::OperandKind::Imm) {
              op.set_raw(ir::Operand::of_imm(op.imm() + random.between(1, 4)).raw());
              break;
            }
        other.append(i, ops, f.targets_of(i));
      }
    }
    if (!ir::check(other, *l.input.target, 1).empty()) return;
    const auto was = oracles::raise(l.input.program, f, *l.input.target, l.input.limits);
    const auto is = oracles::raise(l.input.program, other, *l.input.target, l.input.limits);
    if (is != nullptr && is->faults.empty() && ir::print(is->program) == ir::print(was->program)) return;
    ++damaged;
    if (judge(l, other).verdict() != oracles::Verdict::Fail) {
      ++accepted;
      if (is != nullptr) {
        EXPECT_TRUE(is->faults.empty());
      }
    }
  });
  EXPECT_GT(damaged, 30);
  EXPECT_LE(accepted * 10, damaged);
}

// Any well-formed program whatever comes back from the judges with a verdict.
TEST(Lowering, NonsenseIsJudgedToo) {
  constexpr std::int64_t kNumbers[] = {INT64_MIN, INT64_MAX, -1, 0, 1, 16, 31, 63, 64, 1 << 20, std::int64_t{1} << 40};
  Random random(11);
  int judged = 0;
  each_lowered([&](const Lowered& l) {
    ir::Function f = l.allocation.program;
    std::vector<std::size_t> steps;
    for (std::size_t k = 0; k < f.insts.size(); ++k)
      if (ir::is_lowered(f.insts[k].op)) steps.push_back(k);
    for (int k = 0; k < 8; ++k) {
      const ir::Function whole = f;
      ir::Inst& i = f.insts[steps[random.below(static_cast<std::uint32_t>(steps.size()))]];
      ir::Operand& op = f.operands_of(i)[random.below(i.num_operands)];
      switch (random.below(4)) {
        case 0: i.op = f.insts[steps[random.below(static_cast<std::uint32_t>(steps.size()))]].op; break;
        case 1: op.set_raw(f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))].raw()); break;
        case 2:
          if (op.kind == ir::OperandKind::Imm) op.set_raw(ir::Operand::of_imm(kNumbers[random.below(std::size(kNumbers))]).raw());
          break;
        default: i.flags ^= random.chance(50) ? ir::kInserted : ir::kDeleted; break;
      }
      if (!ir::check(f, 1).empty()) f = whole;
    }
    (void)judge(l, f);
    ++judged;
  });
  EXPECT_GT(judged, 40);
}

}  // namespace
}  // namespace regduel::properties
