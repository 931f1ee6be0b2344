#include "oracles/pair/preserved.h"

#include <bitset>

namespace regduel::oracles {

std::vector<ir::PReg> preserved_units(const ir::Function& before, const ir::Target& target) {
  std::vector<ir::PReg> result;
  if (before.kind != ir::FunctionKind::Device) return result;
  ir::PerFile<std::bitset<ir::kMaxUnits>> owed;
  const auto each_unit = [](ir::PReg r, auto&& visit) {
    for (int u = r.begin(); u < r.end() && u < ir::kMaxUnits; ++u) visit(static_cast<std::size_t>(u));
  };
  for (const ir::PReg r : target.abi(before.abi).callee_saved) each_unit(r, [&](std::size_t u) { owed[ir::index(r.file)].set(u); });
  for (const ir::VReg& v : before.vregs)
    if (v.is_architectural()) each_unit(v.fixed, [&](std::size_t u) { owed[ir::index(v.fixed.file)].reset(u); });
  for (const ir::Operand& op : before.operands)
    if (op.role == ir::Role::Clobber) each_unit(op.preg(), [&](std::size_t u) { owed[ir::index(op.preg().file)].reset(u); });
  for (const ir::RegFile file : ir::kAllFiles)
    for (std::size_t u = 0; u < ir::kMaxUnits; ++u)
      if (owed[ir::index(file)].test(u)) result.push_back({file, 1, static_cast<std::uint16_t>(u)});
  return result;
}

}  // namespace regduel::oracles
