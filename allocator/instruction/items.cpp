// See items.h.

#include "allocator/instruction/items.h"

#include <algorithm>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {

namespace {

bool is_part(const Function& f, const Operand& op) {
  if (op.part.is_whole() && !f.vreg(op.vreg()).alias.is_valid()) return false;
  const ir::Storage s = f.storage(op);
  return s.size != f.vreg(s.root).bytes();
}

}  // namespace

ir::UnitSet clobbered_units(const Function& f, const Inst& inst, RegFile file) {
  ir::UnitSet clobbered;
  const auto ops = f.operands_of(inst);
  for (std::size_t k = ops.size(); k-- > 0 && ops[k].role == Role::Clobber;)
    if (ops[k].preg().file == file) clobbered |= units_of(ops[k].preg());
  return clobbered;
}

void build_items(const Function& f, const Inst& inst, Items& out) {
  const auto ops = f.operands_of(inst);
  out.items.clear();
  out.items.reserve(ops.size());
  out.of_operand.assign(ops.size(), kNoItem);
  const bool guarded = ir::is_guarded(ops);
  // An item of the shape of operand k.
  const auto add = [&](std::size_t k) -> Item& {
    out.of_operand[k] = static_cast<std::uint16_t>(out.items.size());
    Item& item = out.items.emplace_back();
    const ir::VReg& v = f.vreg(ops[k].vreg());
    item.file = v.file();
    item.units = v.units();
    item.align = v.alignment();
    item.fixed = ops[k].fixed();
    item.architectural = v.is_architectural();
    return item;
  };

  for (std::size_t k = 0; k < ops.size(); ++k) {
    const Operand& op = ops[k];
    if (!op.is_vreg() || !op.writes()) continue;
    const bool keeps = is_part(f, op);
    if (keeps) {
      const auto same = std::find_if(out.items.begin(), out.items.end(),
                                     [&](const Item& other) { return other.keeps && other.writes == op.vreg(); });
      if (same != out.items.end()) {
        same->early = same->early || op.is_early_clobber();
        if (op.fixed().is_valid()) same->fixed = op.fixed();
        out.of_operand[k] = static_cast<std::uint16_t>(same - out.items.begin());
        continue;
      }
    }
    Item& item = add(k);
    item.writes = op.vreg();
    item.at_writes = true;
    item.early = op.is_early_clobber();
    item.keeps = keeps;
    bool is_tied = op.is_tied();
    if (REGDUEL_PLANTED("fatpoint-tie-dropped")) is_tied = false;
    item.at_reads = item.keeps || item.early || guarded || op.role == Role::DefUse || is_tied;
    if (item.at_reads) item.reads = op.vreg();
    if (is_tied) {
      const Operand& use = ops[op.tied];
      item.reads = use.vreg();
      item.align = std::max(item.align, f.vreg(use.vreg()).alignment());
      if (!item.fixed.is_valid()) item.fixed = use.fixed();
      out.of_operand[op.tied] = out.of_operand[k];
    }
  }
  const auto join = [&](std::size_t k, PReg fixed) {
    const auto same = std::find_if(out.items.begin(), out.items.end(), [&](const Item& item) {
      return item.at_reads && !item.early && item.reads == ops[k].vreg() && (!fixed.is_valid() || item.fixed == fixed);
    });
    if (same == out.items.end()) return false;
    out.of_operand[k] = static_cast<std::uint16_t>(same - out.items.begin());
    return true;
  };
  const bool any_fixed = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.fixed().is_valid(); });
  for (const bool fixed_ones : {true, false})
    for (std::size_t k = 0; k < ops.size() && (any_fixed || !fixed_ones); ++k) {
      const Operand& op = ops[k];
      if (!op.is_vreg() || !op.reads() || out.of_operand[k] != kNoItem) continue;
      if (any_fixed && op.fixed().is_valid() != fixed_ones) continue;
      if (join(k, op.fixed())) continue;
      Item& item = add(k);
      item.reads = op.vreg();
      item.at_reads = true;
    }
}

}  // namespace regduel::allocator
