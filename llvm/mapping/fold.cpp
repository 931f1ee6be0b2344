#include "llvm/mapping/fold.h"

#include <algorithm>

#include <fmt/format.h>

namespace regduel::llvm {
namespace {

// Operands that could have gone into memory together: one, a def with the use that it is tied to, two uses of one vreg.
std::vector<std::vector<int>> candidates(const Inst& original, const std::vector<int>& operands, int home, int value) {
  std::vector<std::vector<int>> list;
  const auto is_wanted = [&](int k) {
    const Operand& o = original.ops[k];
    if (o.vreg < 0) return false;
    return home >= 0 ? o.vreg == home : !o.is_def && o.def == value;
  };
  for (const int k : operands) {
    if (!is_wanted(k)) continue;
    const Operand& o = original.ops[k];
    if (o.is_def && o.tied >= 0 && is_wanted(o.tied)) list.push_back({std::min(k, o.tied), std::max(k, o.tied)});
    for (const int other : operands)
      if (other > k && is_wanted(other) && !o.is_def && !original.ops[other].is_def && original.ops[other].vreg == o.vreg)
        list.push_back({k, other});
    list.push_back({k});
  }
  return list;
}

}  // namespace

Fold find_fold(const Inst& original, const Dump& before, const Inst& now, const Dump& after, const Cells& cells, int home,
               int value) {
  std::vector<int> from, to;
  for (int k = 0; k < std::ssize(original.ops); ++k)
    if (const Operand& o = original.ops[k]; o.is_register() && !o.is_implicit && (o.vreg >= 0 || cells.sees(o, before)))
      from.push_back(k);
  for (int k = 0; k < std::ssize(now.ops); ++k)
    if (const Operand& o = now.ops[k]; !o.is_implicit && cells.sees(o, after)) to.push_back(k);
  std::vector<Fold> good;
  for (const std::vector<int>& c : candidates(original, from, home, value)) {
    Fold fold{c, {}};
    for (const int k : from) {
      if (std::ranges::find(c, k) != c.end()) continue;
      if (fold.in_place.size() == to.size()) {
        fold.in_place.emplace_back(-1, -1);  // too many are left
        break;
      }
      fold.in_place.emplace_back(k, to[fold.in_place.size()]);
    }
    if (fold.in_place.size() != to.size()) continue;
    const bool fits = std::ranges::all_of(fold.in_place, [&](const auto& pair) {
      if (pair.first < 0) return false;
      const Operand &o = original.ops[pair.first], &n = now.ops[pair.second];
      if (o.is_def != n.is_def) return false;
      if (o.vreg < 0) return o.preg == n.preg;
      const std::vector<int> units = cells.units(n.preg);
      return std::ssize(units) == std::ssize(cells.lanes(o, before));
    });
    if (fits) good.push_back(std::move(fold));
  }
  if (good.empty()) throw Refusal{"fold", fmt::format("{} to {}: no operands fit", original.op, now.op)};
  const auto more = [](const Fold& a, const Fold& b) { return a.in_memory.size() < b.in_memory.size(); };
  return *std::ranges::max_element(good, more);
}

}  // namespace regduel::llvm
