// See items.h.

#include "allocator/instruction/items.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::PReg;
using ir::Role;
using ir::VRegId;

namespace {

Item item_of(const Function& f, const Operand& op) {
  const ir::VReg& v = f.vreg(op.vreg());
  Item item;
  item.file = v.file();
  item.units = v.units();
  item.align = v.alignment();
  item.fixed = op.fixed();
  return item;
}

bool is_part(const Function& f, const Operand& op) {
  if (op.part.is_whole() && !f.vreg(op.vreg()).alias.is_valid()) return false;
  const ir::Storage s = f.storage(op);
  return s.size != f.vreg(s.root).bytes();
}

}  // namespace

void build_items(const Function& f, const Inst& inst, Items& out) {
  const auto ops = f.operands_of(inst);
  out.items.clear();
  out.items.reserve(ops.size());
  out.of_operand.assign(ops.size(), kNoItem);
  const bool guarded = ir::is_guarded(ops);
  const auto add = [&](std::size_t k, const Item& item) {
    out.of_operand[k] = static_cast<std::uint16_t>(out.items.size());
    out.items.push_back(item);
  };

  for (std::size_t k = 0; k < ops.size(); ++k) {
    const Operand& op = ops[k];
    if (!op.is_vreg() || !op.writes()) continue;
    Item item = item_of(f, op);
    item.writes = op.vreg();
    item.at_writes = true;
    item.early = op.is_early_clobber();
    item.keeps = is_part(f, op);
    if (item.keeps) {
      const auto same = std::find_if(out.items.begin(), out.items.end(),
                                     [&](const Item& other) { return other.keeps && other.writes == op.vreg(); });
      if (same != out.items.end()) {
        same->early = same->early || item.early;
        if (item.fixed.is_valid()) same->fixed = item.fixed;
        out.of_operand[k] = static_cast<std::uint16_t>(same - out.items.begin());
        continue;
      }
    }
    bool is_tied = op.is_tied();
    if (REGDUEL_PLANTED("fatpoint-tie-dropped")) is_tied = false;
    item.at_reads = item.keeps || item.early || guarded || op.role == Role::DefUse || is_tied;
    if (item.at_reads) item.reads = op.vreg();
    if (is_tied) {
      const Operand& use = ops[op.tied];
      const Item other = item_of(f, use);
      item.reads = use.vreg();
      item.align = std::max(item.align, other.align);
      if (!item.fixed.is_valid()) item.fixed = other.fixed;
      out.of_operand[op.tied] = static_cast<std::uint16_t>(out.items.size());
    }
    add(k, item);
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
      Item item = item_of(f, op);
      item.reads = op.vreg();
      item.at_reads = true;
      add(k, item);
    }
}

}  // namespace regduel::allocator
