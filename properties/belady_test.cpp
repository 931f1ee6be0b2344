// On straight-line code where stores are free, the fewest refills come from evicting the value that is used again last (Belady,
// 1966). The allocation of that rule must pass all judges, no choice of any kind has fewer refills, no allocator has fewer, and the
// bound of the quality judge for any straight-line code (oracles/quality/refill_bound.h) says the same.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "duel/duel.h"
#include "generate/generator.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/quality/quality.h"
#include "oracles/quality/refill_bound.h"
#include "properties/testing.h"

namespace regduel::properties {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

// Straight-line code: each step reads some values and then writes one; values are numbered from 0 in the order of their defs.
struct Line {
  std::vector<std::vector<int>> uses;  // distinct, of earlier values
  std::vector<int> def;                // -1 = none
  int num_values = 0;
};

Line make_line(Random& random, int steps, int most_uses) {
  Line line;
  for (int k = 0; k < steps; ++k) {
    std::set<int> uses;
    for (int u = random.between(0, most_uses); u > 0 && line.num_values > 0; --u)
      uses.insert(random.between(0, line.num_values - 1));
    line.uses.emplace_back(uses.begin(), uses.end());
    line.def.push_back(random.chance(line.num_values < 3 ? 100 : 60) ? line.num_values++ : -1);
  }
  return line;
}

ir::Function program_of(const Line& line) {
  ir::Function f;
  f.name = "line";
  Writer w(f);
  for (int v = 0; v < line.num_values; ++v) (void)w.value();
  f.begin_block();
  for (std::size_t k = 0; k < line.uses.size(); ++k) {
    std::vector<Operand> ops;
    if (line.def[k] >= 0) ops.push_back(Operand::of_vreg(Role::Def, VRegId(line.def[k])));
    for (const int u : line.uses[k]) ops.push_back(Operand::of_vreg(Role::Use, VRegId(u)));
    w.inst(Op::Named, ops);
  }
  w.inst(Op::Exit, {});
  return f;
}

// Evicts what is used again last. Every value that is refilled is stored where it is defined.
struct Belady {
  int refills = 0;
  ir::Function program;

  // Requires: no step reads more than `registers` values, registers >= 1.
  Belady(const Line& line, const ir::Function& before, int registers)
      : line_(line), holder_(static_cast<std::size_t>(registers), -1), in_(static_cast<std::size_t>(line.num_values), -1) {
    std::set<int> refilled;
    walk(
        [&](std::size_t, int value, int, bool is_refill) {
          if (is_refill) refilled.insert(value), ++refills;
        },
        [](std::size_t) {});
    write(before, refilled);
  }

 private:
  [[nodiscard]] std::size_t next_use(int value, std::size_t from) const {
    for (std::size_t k = from; k < line_.uses.size(); ++k)
      if (std::find(line_.uses[k].begin(), line_.uses[k].end(), value) != line_.uses[k].end()) return k;
    return line_.uses.size();
  }
  // A register for something, at the reads of step k or (`from` one further) at its write; `keep` may not go.
  int take(std::size_t from, const std::vector<int>& keep) {
    int best = -1;
    std::size_t farthest = 0;
    for (std::size_t r = 0; r < holder_.size(); ++r) {
      const int v = holder_[r];
      if (v >= 0 && std::find(keep.begin(), keep.end(), v) != keep.end()) continue;
      const std::size_t next = v < 0 ? line_.uses.size() + 1 : next_use(v, from);
      if (best < 0 || next > farthest) best = static_cast<int>(r), farthest = next;
    }
    const int old = holder_[static_cast<std::size_t>(best)];
    if (old >= 0) in_[static_cast<std::size_t>(old)] = -1;
    return best;
  }
  void put(int value, int r) {
    holder_[static_cast<std::size_t>(r)] = value;
    in_[static_cast<std::size_t>(value)] = r;
  }
  // Calls placed(step, value, register, is_refill) for refills and defs, and reads(step) between the two.
  template <class Placed, class Reads>
  void walk(Placed placed, Reads reads) {
    std::fill(holder_.begin(), holder_.end(), -1);
    std::fill(in_.begin(), in_.end(), -1);
    for (std::size_t k = 0; k < line_.uses.size(); ++k) {
      for (const int u : line_.uses[k]) {
        if (in_[static_cast<std::size_t>(u)] >= 0) continue;
        const int r = take(k, line_.uses[k]);
        put(u, r);
        placed(k, u, r, true);
      }
      reads(k);
      if (line_.def[k] < 0) continue;
      const int r = take(k + 1, {});
      put(line_.def[k], r);
      placed(k, line_.def[k], r, false);
    }
  }
  void write(const ir::Function& before, const std::set<int>& refilled) {
    program = before.clone_header();
    program.phase = ir::Phase::Allocated;
    std::map<int, ir::SlotId> slots;
    for (const int v : refilled) slots[v] = program.add_slot({.offset = static_cast<std::uint32_t>(4 * slots.size())});
    program.local_frame = static_cast<std::uint32_t>(4 * slots.size());
    program.begin_block();
    std::uint32_t next = before.next_inst_id().value;
    const auto insert = [&](Op op, const std::vector<Operand>& ops) {
      ir::Inst i;
      i.id = ir::InstId(next++);
      i.op = op;
      i.flags = ir::kInserted;
      program.append(i, ops);
    };
    std::vector<Operand> uses;
    const auto original = [&](std::size_t k, std::vector<Operand> ops) {
      ops.insert(ops.end(), uses.begin(), uses.end());
      program.append(before.insts[k], ops);
    };
    walk(
        [&](std::size_t k, int value, int r, bool is_refill) {
          if (is_refill) return insert(Op::Refill, {reg(Role::Def, r), Operand::of_slot(slots[value])});
          original(k, {reg(Role::Def, r)});
          if (slots.contains(value)) insert(Op::Spill, {reg(Role::Use, r), Operand::of_slot(slots[value])});
        },
        [&](std::size_t k) {
          uses.clear();
          for (const int u : line_.uses[k]) uses.push_back(reg(Role::Use, in_[static_cast<std::size_t>(u)]));
          if (line_.def[k] < 0) original(k, {});
        });
    program.append(before.insts.back(), {});
  }

  const Line& line_;
  std::vector<int> holder_;  // of each register: the value
  std::vector<int> in_;      // of each value: the register, -1 = none
};

// The fewest refills, by trying every choice: the cheapest way to each set of values in registers. At most 12 values.
int fewest_refills(const Line& line, int registers) {
  constexpr int kNever = 1 << 20;
  const std::uint32_t sets = 1u << line.num_values;
  const auto size = [](std::uint32_t s) { return __builtin_popcount(s); };
  std::vector<int> cost(sets, kNever);
  cost[0] = 0;
  std::uint32_t defined = 0;
  for (std::size_t k = 0; k < line.uses.size(); ++k) {
    std::uint32_t reads = 0;
    for (const int u : line.uses[k]) reads |= 1u << u;
    std::vector<int> at_reads(sets, kNever), after(sets, kNever);
    for (std::uint32_t s = 0; s < sets; ++s)
      for (std::uint32_t t = 0; cost[s] < kNever && t < sets; ++t)
        if ((t & reads) == reads && (t & ~defined) == 0 && size(t) <= registers)
          at_reads[t] = std::min(at_reads[t], cost[s] + size(t & ~s));
    const std::uint32_t def = line.def[k] < 0 ? 0 : 1u << line.def[k];
    for (std::uint32_t s = 0; s < sets; ++s)
      for (std::uint32_t t = s; at_reads[s] < kNever; t = (t - 1) & s) {
        if (size(t | def) <= registers) after[t | def] = std::min(after[t | def], at_reads[s]);
        if (t == 0) break;
      }
    defined |= def;
    cost = std::move(after);
  }
  return *std::min_element(cost.begin(), cost.end());
}

TEST(ExactTruths, BeladyIsTheFewestOfAllChoices) {
  int spilling = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(hash_combine(seed, 1));
    Line line = make_line(random, random.between(3, 11), 2);
    if (line.num_values > 7) continue;
    const ir::Function f = program_of(line);
    for (int registers = 2; registers <= 3; ++registers) {
      const Belady b(line, f, registers);
      ASSERT_EQ(b.refills, fewest_refills(line, registers)) << ir::print(f) << ir::print(b.program);
      ASSERT_EQ(oracles::fewest_refill_bytes(f, ir::default_target(), only_r(registers)), 4 * b.refills) << ir::print(f);
      spilling += b.refills > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(spilling, 30);
}

TEST(ExactTruths, NobodyRefillsLessThanBelady) {
  int spilling = 0, best = 0, fought = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(hash_combine(seed, 2));
    const Line line = make_line(random, random.between(5, 90), 3);
    const ir::Function f = program_of(line);
    ASSERT_TRUE(ir::check(f, ir::default_target()).empty()) << ir::print(f);
    const int registers = random.between(3, 8);
    const Belady belady(line, f, registers);
    expect_all_pass(f, belady.program, only_r(registers));
    ASSERT_EQ(oracles::measure({f, ir::default_target()}, belady.program).spill_loads, belady.refills);
    ASSERT_EQ(oracles::fewest_refill_bytes(f, ir::default_target(), only_r(registers)), 4 * belady.refills) << ir::print(f);
    if (HasFailure()) return;
    spilling += belady.refills > 0 ? 1 : 0;
    const duel::Duel d = duel::duel({f, ir::default_target()}, {.duelists = duel::all_duelists(), .limits = only_r(registers)});
    for (const duel::Bout& b : d.bouts) {
      ASSERT_EQ(b.verdict(), oracles::Verdict::Pass) << b.allocator << ir::print(f);
      // In words, for one instruction could refill several of them.
      const std::int64_t refills = b.measures.spill_load_bytes / 4;
      ASSERT_GE(refills, belady.refills) << b.allocator << " limit " << registers << ir::print(f) << ir::print(*b.program);
      best += refills == belady.refills ? 1 : 0;
      ++fought;
    }
  }
  EXPECT_GT(spilling, 150);
  RecordProperty("allocations_with_fewest_refills_percent", 100 * best / fought);
}

// The bound of straight-line code of any kind: widths, fixed and tied operands, guards, clobbers, copies, uniform values.
TEST(ExactTruths, NobodyRefillsLessThanTheBound) {
  int refilling = 0, reached = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(hash_combine(seed, 3));
    const ir::Function f = generate::generate({.profile = generate::Profile::Straight, .seed = seed});
    const ir::Limits limits = ir::Limits::of(ir::default_target(), random.between(4, 40));
    for (const duel::Bout& b : duel::duel({f, ir::default_target()}, {.duelists = duel::all_duelists(), .limits = limits}).bouts) {
      if (b.verdict() != oracles::Verdict::Pass) continue;
      if (!b.fewest_refill_bytes) continue;
      ASSERT_GE(b.measures.spill_load_bytes, *b.fewest_refill_bytes)
          << b.allocator << " limit " << limits.of(ir::RegFile::R) << ir::print(f) << ir::print(*b.program);
      refilling += b.measures.spill_load_bytes > 0 ? 1 : 0;
      reached += *b.fewest_refill_bytes > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(refilling, 50);
  EXPECT_GT(reached, 30);
}

}  // namespace
}  // namespace regduel::properties
