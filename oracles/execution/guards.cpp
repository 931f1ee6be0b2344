// The design: columns are bit sets over the 11 cyclic rows.

#include "oracles/execution/guards.h"

#include <array>
#include <numeric>

#include "base/random.h"

namespace regduel::oracles {
namespace {

// The quadratic residues modulo 11, and 0.
constexpr std::array<bool, kGroupColumns> kGenerator = {true, true, false, true, true, true, false, false, false, true, false};

using Design = std::array<std::uint16_t, kDesignColumns>;  // of each column, the rows in which it holds

// The rows of one group in random orders, until all its columns are new.
Design make_design() {
  Design design = {};
  std::vector<bool> is_used(1 << kGroupColumns, false);
  std::array<std::uint32_t, kGroupColumns> order;
  std::iota(order.begin(), order.end(), 0u);
  Random random(0xDE51);
  for (std::uint32_t group = 0; group < kDesignGroups;) {
    bool is_new = true;
    for (std::uint32_t c = 0; c < kGroupColumns; ++c) {
      std::uint32_t rows = 0;
      for (std::uint32_t r = 0; r < kGroupColumns; ++r)
        if (kGenerator[(c + order[r]) % kGroupColumns]) rows |= 1u << r;
      design[group * kGroupColumns + c] = static_cast<std::uint16_t>(rows);
      is_new = is_new && !is_used[rows];
    }
    if (is_new) {
      for (std::uint32_t c = 0; c < kGroupColumns; ++c) is_used[design[group * kGroupColumns + c]] = true;
      ++group;
    }
    shuffle(random, order);
  }
  return design;
}

}  // namespace

bool holds(int run, std::uint32_t column, std::uint32_t nth) {
  static const Design design = make_design();
  const int row = run % kDesignRuns;
  if (row < 2) return row == 0;
  // 5 and 12 have no common divisor: all groups in turn.
  const std::uint32_t turn = (nth + static_cast<std::uint32_t>(run / kDesignRuns)) % kDesignGroups;
  const std::uint32_t at = (column + turn * 5 * kGroupColumns) % kDesignColumns;
  return (design[at] >> (row - 2) & 1) != 0;
}

PredicateColumns::PredicateColumns(const Before& before) : of_operand(before.program().operands.size(), kNoColumn) {
  const ir::Function& f = before.program();
  std::vector<bool> guards(f.vregs.size(), false);
  for (const ir::Operand& op : f.operands)
    if (op.role == ir::Role::Guard && op.is_vreg()) guards[f.storage(op).root.index()] = true;
  constexpr std::uint32_t kHalf = kDesignGroups / 2 * kGroupColumns;
  std::uint32_t num_guards = 0, num_others = 0;
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const ir::Operand& op = f.operands[k];
    if (!op.is_vreg() || !op.writes() || f.vregs[op.vreg().index()].width != 1) continue;
    const bool is_guard = guards[f.storage(op).root.index()];
    of_operand[k] = static_cast<std::uint8_t>(is_guard ? num_guards++ % kHalf : kHalf + num_others++ % kHalf);
  }
}

}  // namespace regduel::oracles
