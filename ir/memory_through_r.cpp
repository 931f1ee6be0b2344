#include "ir/memory_through_r.h"

#include <algorithm>

namespace regduel::ir {

bool reaches_memory_through_r(const Function& f, const Target& target, const Limits& limits) {
  const Abi& abi = target.abi(f.abi);
  if (!abi.memory_through_r) return false;
  for (int unit = 0; unit < std::min(limits.of(RegFile::R), target.units[index(RegFile::R)]); ++unit) {
    const PReg r{RegFile::R, 1, static_cast<std::uint16_t>(unit)};
    const bool is_kept =
        f.kind == FunctionKind::Device && std::ranges::any_of(abi.callee_saved, [&](PReg kept) { return kept.overlaps(r); });
    const bool is_architectural =
        std::ranges::any_of(f.vregs, [&](const VReg& v) { return v.is_architectural() && v.fixed.overlaps(r); });
    if (!is_kept && !is_architectural && is_allocatable(target, f.abi, limits, RegFile::R, unit)) return true;
  }
  return false;
}

}  // namespace regduel::ir
