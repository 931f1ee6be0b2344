#include "cli/ipra.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "oracles/calls/calls.h"
#include "oracles/pair/preserved.h"

namespace regduel::cli {
namespace {

template <class Visit>
void each_unit(ir::PReg r, Visit visit) {
  for (int u = r.begin(); u < std::min(r.end(), ir::kMaxUnits); ++u) visit(static_cast<std::size_t>(u));
}

}  // namespace

BottomUp bottom_up(std::span<const Program> programs) {
  std::map<std::string_view, std::size_t> index;
  std::set<std::string_view> twice;
  for (std::size_t k = 0; k < programs.size(); ++k)
    if (!index.emplace(programs[k].function.name, k).second) twice.insert(programs[k].function.name);
  std::vector<std::set<std::size_t>> callers(programs.size());
  std::vector<std::size_t> waits_for(programs.size(), 0);
  for (std::size_t k = 0; k < programs.size(); ++k) {
    const ir::Function& f = programs[k].function;
    for (const ir::Inst& i : f.insts) {
      if (i.op != ir::Op::Call) continue;
      const auto callee = index.find(oracles::callee_name(f, i));
      if (callee != index.end() && callers[callee->second].insert(k).second) ++waits_for[k];
    }
  }
  BottomUp result;
  result.is_known.resize(programs.size(), false);
  std::set<std::size_t> ready;
  for (std::size_t k = 0; k < programs.size(); ++k)
    if (waits_for[k] == 0) ready.insert(k);
  while (!ready.empty()) {
    const std::size_t k = *ready.begin();
    ready.erase(ready.begin());
    result.order.push_back(k);
    result.is_known[k] = !twice.contains(programs[k].function.name) && !programs[k].declared.is_weak;
    for (const std::size_t caller : callers[k])
      if (--waits_for[caller] == 0) ready.insert(caller);
  }
  for (std::size_t k = 0; k < programs.size(); ++k)
    if (waits_for[k] > 0) result.order.push_back(k);
  return result;
}

void CalleeClobbers::add(const ir::Function& before, const ir::Function& after, const ir::Target& target) {
  if (before.kind != ir::FunctionKind::Device) return;
  Units units;
  for (const ir::Operand& op : after.operands)
    if (op.is_preg() && (op.writes() || op.role == ir::Role::Clobber))
      each_unit(op.preg(), [&](std::size_t u) { units[ir::index(op.preg().file)].set(u); });
  for (const ir::PReg r : oracles::preserved_units(before, target))
    each_unit(r, [&](std::size_t u) { units[ir::index(r.file)].reset(u); });
  const ir::Abi& abi = target.abi(before.abi);
  Units kept;
  for (const ir::PReg r : abi.callee_saved) each_unit(r, [&](std::size_t u) { kept[ir::index(r.file)].set(u); });
  for (const ir::PReg r : abi.clobbered)
    each_unit(r, [&](std::size_t u) {
      if (kept[ir::index(r.file)].test(u)) units[ir::index(r.file)].set(u);
    });
  Units& known = known_[before.name];
  for (std::size_t f = 0; f < known.size(); ++f) known[f] |= units[f];
}

ir::Function CalleeClobbers::applied_to(const ir::Function& f) const {
  ir::Function out = f.clone_header();
  out.reserve(f.insts.size(), f.operands.size());
  std::vector<ir::Operand> ops;
  for (const ir::Block& b : f.blocks) {
    out.begin_block(b);
    for (const ir::Inst& i : f.insts_of(b)) {
      const auto callee = i.op == ir::Op::Call ? known_.find(oracles::callee_name(f, i)) : known_.end();
      if (callee == known_.end()) {
        out.append(i, f.operands_of(i), f.targets_of(i));
        continue;
      }
      ops.clear();
      for (const ir::Operand& op : f.operands_of(i)) {
        if (op.role != ir::Role::Clobber) {
          ops.push_back(op);
          continue;
        }
        // The runs of units that the callee destroys.
        const ir::PReg r = op.preg();
        for (int u = r.begin(); u < r.end(); ++u) {
          if (!callee->second[ir::index(r.file)].test(static_cast<std::size_t>(u))) continue;
          int end = u + 1;
          while (end < r.end() && callee->second[ir::index(r.file)].test(static_cast<std::size_t>(end))) ++end;
          ops.push_back(
              ir::Operand::of_preg(ir::Role::Clobber, {r.file, static_cast<std::uint8_t>(end - u), static_cast<std::uint16_t>(u)}));
          u = end;
        }
      }
      out.append(i, ops, f.targets_of(i));
    }
  }
  return out;
}

}  // namespace regduel::cli
