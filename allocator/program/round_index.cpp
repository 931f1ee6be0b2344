// See round_index.h.

#include "allocator/program/round_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "allocator/program/names.h"

namespace regduel::allocator {

std::vector<std::uint32_t> RoundIndex::find_bound(const Function& f, const Liveness& live, const PointLimits& limits) {
  std::vector<std::uint32_t> bound;
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    const auto ops = f.operands_of(inst);
    const bool is_clobbering = !ops.empty() && ops.back().role == Role::Clobber;
    if (inst.op == Op::Ret || is_clobbering || limits.is_lower(live.inst_at(n))) bound.push_back(n);
  }
  return bound;
}

RoundIndex::RoundIndex(const Function& f, const Liveness& live, PointLimits of_points)
    : limits(std::move(of_points)), bound(find_bound(f, live, limits)) {
  vregs.build(ir::kNumFiles, [&](auto add) {
    for (std::size_t v = 0; v < f.vregs.size(); ++v)
      if (!live.range(v).empty()) add(ir::index(f.vregs[v].file()), VRegId(v));
  });
  // By row: how many more units live from there on, and in one bit whether it is so. All zero again after each file.
  std::vector<std::int32_t> rows(2 * static_cast<std::size_t>(live.num_numbered()) + 1, 0);
  std::vector<std::uint64_t> changes(rows.size() / 64 + 1, 0);
  const auto change = [&](std::uint32_t row, std::int32_t units) {
    rows[row] += units;
    changes[row / 64] |= std::uint64_t{1} << (row % 64);
  };
  for (std::size_t file = 0; file < ir::kNumFiles; ++file) {
    for (const VRegId v : vregs[file])
      for (const Interval& i : live.range(v.index())) {
        change(first_row(i), f.vreg(v).units());
        change(end_row(i), -f.vreg(v).units());
      }
    if (vregs[file].empty()) continue;
    std::int32_t sum = 0;
    for (std::size_t w = 0; w < changes.size(); ++w)
      for (std::uint64_t rest = std::exchange(changes[w], 0); rest != 0; rest &= rest - 1) {
        const std::size_t row = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        max_live[file] = std::max(max_live[file], sum += std::exchange(rows[row], 0));
      }
  }
}

TemporaryLists::TemporaryLists(const Function& f, const Liveness& live) {
  at_.build(f.vregs.size(), [&](auto add) {
    std::vector<std::uint32_t> last(f.vregs.size(), Liveness::kUnnumbered);
    for (std::uint32_t k = 0; k < live.num_numbered(); ++k) {
      const Inst& inst = f.insts[live.inst_at(k)];
      if (inst.is_copy() || inst.op == Op::Refill || inst.op == Op::Spill) continue;
      const auto ops = f.operands_of(inst);
      const bool is_guarded = ir::is_guarded(ops);
      for (const ir::Operand& first : ops) {
        if (!first.is_vreg() || std::exchange(last[first.vreg().index()], k) == k) continue;
        At at{k, is_guarded, false, inst.has(ir::kRematerialisable)};
        for (const ir::Operand& op : ops) {
          if (!op.is_vreg() || op.vreg() != first.vreg()) continue;
          at.while_reading = at.while_reading || op.reads() || op.is_early_clobber() || !op.part.is_whole();
          at.after = at.after || op.writes();
        }
        add(first.vreg().index(), at);
      }
    }
  });
}

}  // namespace regduel::allocator
