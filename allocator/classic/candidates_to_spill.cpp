// See candidates_to_spill.h.

#include "allocator/classic/candidates_to_spill.h"

#include <algorithm>

#include "allocator/program/names.h"

namespace regduel::allocator {

std::vector<char> candidates_to_spill(const Function& f, const Liveness& live, const RoundIndex& index, RegFile file,
                                      const Budget& budget, const BudgetModel& model, std::int64_t spilled) {
  const std::span<const VRegId> vregs = index.vregs[ir::index(file)];
  const std::int32_t units = budget.units_everywhere(file);
  const bool is_paired = std::ranges::all_of(vregs, [&](VRegId v) { return f.vreg(v).units() == 2 && f.vreg(v).alignment() == 2; });
  // By row: the change of live units there; then how many rows before it trigger.
  std::vector<std::int32_t> rows(2 * static_cast<std::size_t>(live.num_numbered()) + 2, 0);
  for (const VRegId v : vregs)
    for (const Interval& i : live.range(v.index())) {
      rows[first_row(i)] += f.vreg(v).units();
      rows[end_row(i)] -= f.vreg(v).units();
    }
  std::vector<char> triggers(static_cast<std::size_t>(index.max_live[ir::index(file)]) + 1);  // by count
  for (std::size_t n = 0; n < triggers.size(); ++n) {
    const auto count = static_cast<std::int64_t>(n);
    triggers[n] = model.triggers(spilled, std::max<std::int64_t>(count - units, 0), count, {.budget = units}, is_paired) ? 1 : 0;
  }
  std::int32_t count = 0, triggering = 0;
  for (std::int32_t& row : rows) {
    count += row;
    row = triggering;
    triggering += triggers[static_cast<std::size_t>(count)];
  }
  std::vector<char> is_candidate(f.vregs.size(), 0);
  for (const VRegId v : vregs)
    for (const Interval& i : live.range(v.index()))
      if (rows[first_row(i)] < rows[end_row(i)]) is_candidate[v.index()] = 1;
  return is_candidate;
}

}  // namespace regduel::allocator
