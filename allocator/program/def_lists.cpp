// See def_lists.h.

#include "allocator/program/def_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

DefLists::DefLists(const Function& f, const Liveness& live, std::span<const char> is_wanted) {
  std::vector<std::pair<std::uint32_t, Def>> list;
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    const auto ops = f.operands_of(inst);
    const auto is_listed = [&](const Operand& op) { return op.is_vreg() && is_wanted[op.vreg().index()] != 0; };
    std::size_t first = 0;
    while (first < ops.size() && ops[first].writes() && !is_listed(ops[first])) ++first;
    if (first == ops.size() || !ops[first].writes()) continue;
    const bool guarded = ir::is_guarded(ops);
    const std::size_t pairs = ir::defs_of(ops).size();
    for (std::size_t k = first; k < pairs; ++k) {
      if (!is_listed(ops[k])) continue;
      // An early-clobber def destroys its register before the source is read, even where it is a copy of it.
      const bool early = guarded || !ops[k].part.is_whole() || ops[k].is_early_clobber();
      const bool plain = inst.op == Op::Copy && !early && ops[pairs + k].part.is_whole();
      list.push_back({ops[k].vreg().value,
                      {early ? read_point(n) : write_point(n), write_point(n), plain ? ops[pairs + k].vreg() : VRegId()}});
    }
  }
  defs_.build_from(f.vregs.size(), list, [](const auto& x) { return x.first; }, [](const auto& x) { return x.second; });
}

bool DefLists::is_written_with(VRegId v, Point p) const {
  if (REGDUEL_PLANTED("fatpoint-swap-shares-a-register")) return false;
  const auto defs = defs_[v.index()];
  const auto at = std::lower_bound(defs.begin(), defs.end(), p, [](const Def& d, Point wanted) { return d.last < wanted; });
  return at != defs.end() && at->last == p;
}

}  // namespace regduel::allocator
