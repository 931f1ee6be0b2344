// See impossible.h.

#include "allocator/phases/impossible.h"

#include <algorithm>

namespace regduel::allocator {
namespace {

// A quick test without items: the operands one by one take at least as much room as their items.
bool surely_fits(const ir::Function& f, const ir::Inst& inst, const Budget& budget) {
  const auto ops = f.operands_of(inst);
  if (ops.empty()) return true;
  if (inst.op == ir::Op::Ret) return false;
  const bool has_clobbers = ops.back().role == ir::Role::Clobber;  // they come last
  ir::PerFile<int> needed = {};
  for (const ir::Operand& op : ops) {
    if (!op.is_vreg()) continue;
    if (op.fixed().is_valid() || (has_clobbers && op.writes() && !op.part.is_whole())) return false;
    const ir::VReg& v = f.vreg(op.vreg());
    int& sum = needed[ir::index(v.file())];
    sum += v.units() + v.alignment() - 1;
    if (sum > budget.most_in_a_row[ir::index(v.file())]) return false;
  }
  return true;
}

// Without fixed places and clobbers, aligned tuples fit if there is room for each at its worst alignment.
bool surely_fits(const ir::Inst& inst, const Items& items, const Budget& budget) {
  if (inst.op == ir::Op::Ret) return false;
  ir::PerFile<int> reads = {}, writes = {};
  for (const Item& item : items.items) {
    if (item.fixed.is_valid() || item.keeps) return false;
    const int most = item.units + item.align - 1;
    reads[ir::index(item.file)] += item.at_reads ? most : 0;
    writes[ir::index(item.file)] += item.at_writes ? most : 0;
  }
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t k = ir::index(file);
    if (std::max(reads[k], writes[k]) > budget.most_in_a_row[k]) return false;
  }
  return true;
}

}  // namespace

std::optional<Impossible> find_impossible(const ir::Function& f, ir::BlockId block, const Budget& budget) {
  Items items;
  for (const ir::Inst& inst : f.insts_of(block)) {
    if (inst.is_deleted() || inst.is_inserted()) continue;
    if (surely_fits(f, inst, budget)) continue;
    build_items(f, inst, items);
    if (surely_fits(inst, items, budget)) continue;
    if (const auto homes = pack(f, inst, items, budget); !homes) return Impossible{homes.error().file, inst.id};
  }
  return std::nullopt;
}

std::optional<Impossible> find_impossible(const Run& run, bool is_reachable) {
  const ProgramFacts& facts = run.facts;
  for (std::size_t b = 0; b < facts.f.blocks.size(); ++b)
    if (facts.cfg.is_reachable(ir::BlockId(b)) == is_reachable)
      if (const auto impossible = find_impossible(facts.f, ir::BlockId(b), run.budget)) return impossible;
  return std::nullopt;
}

}  // namespace regduel::allocator
