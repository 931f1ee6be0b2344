// Judges are judged: what they say of a pair (before, after) does not depend on the numbers, names and order of blocks in which
// both are written; and no two of them contradict each other (oracles/agreement/disagreement.h), whether the allocation is as an allocator
// made it or damaged.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "fuzz/edit/edit.h"
#include "generate/generator.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/judges.h"
#include "oracles/metamorphic/variants.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

using oracles::Rename;
using oracles::Verdict;

// One small change somewhere in an allocated program; what comes out may be ill-formed, or as right as before.
void damage(fuzz::EditProgram& p, Random& random) {
  fuzz::EditBlock& block = p.blocks[random.below(static_cast<std::uint32_t>(p.blocks.size()))];
  const std::size_t at = random.below(static_cast<std::uint32_t>(block.insts.size()));
  fuzz::EditInst& inst = block.insts[at];
  switch (random.below(6)) {
    case 0:
    case 1: {  // another register
      if (inst.ops.empty()) return;
      ir::Operand& op = inst.ops[random.below(static_cast<std::uint32_t>(inst.ops.size()))];
      if (!op.is_preg()) return;
      ir::PReg r = op.preg();
      r.first = static_cast<std::uint16_t>(std::max(0, r.first + random.between(0, 2) * r.count - r.count));
      op.set_preg(r);
      return;
    }
    case 2:  // something inserted is missing
      if (inst.inst.is_inserted() && !inst.inst.is_terminator())
        block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 3:  // two instructions the other way round
      if (at + 2 < block.insts.size()) std::swap(block.insts[at], block.insts[at + 1]);
      return;
    case 4:  // another slot
      for (ir::Operand& op : inst.ops)
        if (op.is_slot()) op.set_slot(ir::SlotId(random.below(static_cast<std::uint32_t>(p.header.slots.size()))));
      return;
    default:  // the other way
      if (inst.targets.size() > 1) std::swap(inst.targets[0], inst.targets[1]);
      return;
  }
}

// Signatures without repetition; of a result that was cut short, only the categories.
std::set<std::string> said(const oracles::JudgeResult& r, const ir::Function& after) {
  const bool cut = r.reason.find(" more of ") != std::string::npos;
  std::set<std::string> list;
  for (const oracles::Finding& f : r.findings) list.insert(cut ? f.category : oracles::signature(f, after));
  return list;
}

// Execution is a sample: another order of the blocks makes it take other paths, other symbols make other values. What it must not
// do is to object to a valid allocation, or to read a pair in one form and not in the other.
bool may_differ(const oracles::JudgeResult& a, const oracles::JudgeResult& b, bool is_valid) {
  return a.judge == "execution" && !is_valid && (a.verdict == Verdict::Skipped) == (b.verdict == Verdict::Skipped);
}

TEST(JudgeInvariance, RenamingChangesNoVerdict) {
  constexpr Rename kAll[] = {Rename::VRegs, Rename::Blocks, Rename::Slots, Rename::Insts, Rename::Names, Rename::Everything};
  int valid = 0, damaged = 0, rejected = 0;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    Random random(hash_combine(seed, 77));
    const ir::Target& target = ir::targets()[random.below(static_cast<std::uint32_t>(ir::targets().size()))];
    const ir::Function before = generate::generate({.profile = generate::profiles()[seed % generate::kNumProfiles],
                                                    .seed = seed,
                                                    .size = random.between(5, 120),
                                                    .target = target.name});
    const ir::Limits limits = generate::draw_limits(before, target, seed);
    for (const ir::Allocator* allocator : duel::all_duelists()) {
      const auto made = allocator->allocate(before, target, {.limits = limits, .knobs = {}});
      if (!made) continue;
      for (int copy = 0; copy < 4; ++copy) {
        fuzz::EditProgram edited(made->program);
        for (int k = 0; k < copy; ++k) damage(edited, random);
        const ir::Function after = edited.build();
        if (!ir::check(after).empty()) continue;
        const bool is_valid = copy == 0;
        const auto report_of = [&](const ir::Function& b, const ir::Function& a) {
          return oracles::judge({b, a, target, limits, &made->claims, is_valid});
        };
        const oracles::Report base = report_of(before, after);
        ++(is_valid ? valid : damaged);
        rejected += base.verdict() == Verdict::Fail ? 1 : 0;
        const oracles::JudgeResult* contradiction = base.result_of("disagreement");
        ASSERT_EQ(contradiction, nullptr) << contradiction->findings.at(0).category << ": " << contradiction->findings[0].message
                                          << "\nseed " << seed << ' ' << allocator->name() << ir::print(before) << ir::print(after);
        const oracles::Measures measures = oracles::measure({before, target}, after);
        const Rename what = kAll[random.below(std::size(kAll))];
        const oracles::Renaming renaming = oracles::draw_renaming(what, before, after, seed);
        const ir::Function other_before = oracles::renamed(before, renaming), other_after = oracles::renamed(after, renaming);
        const oracles::Report other = report_of(other_before, other_after);
        for (const oracles::JudgeResult& r : base.results) {
          const oracles::JudgeResult* o = other.result_of(r.judge);
          ASSERT_NE(o, nullptr) << r.judge;
          if (may_differ(r, *o, is_valid)) continue;
          ASSERT_EQ(oracles::name(r.verdict), oracles::name(o->verdict))
              << r.judge << " after renaming " << static_cast<int>(what) << ", seed " << seed << ' ' << allocator->name()
              << r.reason << o->reason << (o->findings.empty() ? "" : o->findings[0].message)
              << (r.findings.empty() ? "" : r.findings[0].message) << ir::print(before) << ir::print(after)
              << ir::print(other_before) << ir::print(other_after);
          ASSERT_EQ(said(r, after), said(*o, other_after))
              << r.judge << " after renaming " << static_cast<int>(what) << ", seed " << seed << ' ' << allocator->name()
              << ir::print(before) << ir::print(after) << ir::print(other_before) << ir::print(other_after);
        }
        ASSERT_TRUE(measures == oracles::measure({other_before, target}, other_after))
            << "figures after renaming " << static_cast<int>(what) << ", seed " << seed << ir::print(before) << ir::print(after)
            << ir::print(other_before) << ir::print(other_after);
      }
    }
  }
  EXPECT_GT(valid, 250);
  EXPECT_GT(damaged, 500);
  EXPECT_GT(rejected, damaged / 3);
}

}  // namespace
}  // namespace regduel::properties
