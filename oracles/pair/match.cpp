#include "oracles/pair/match.h"

#include <algorithm>

namespace regduel::oracles {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::Role;

ir::FileBytes bytes_of_register(ir::PReg r) {
  const auto unit = static_cast<std::uint32_t>(unit_bytes(r.file));
  return {r.file, r.first * unit, static_cast<std::uint32_t>(r.end()) * unit};
}

HardwareHome hardware_home(const ir::Function& before, std::span<const Operand> want, std::size_t k) {
  // Of a tied pair: the def, and the use.
  std::size_t def = k, use = k;
  if (want[k].is_tied()) {
    use = want[k].tied;
  } else if (want[k].role == Role::Use) {
    for (std::size_t d = 0; d < want.size() && want[d].writes(); ++d)
      if (want[d].is_tied() && want[d].tied == k) def = d;
  }
  ir::PReg fixed = before.fixed_of(want[def]);
  if (!fixed.is_valid() && use != def && use < want.size()) fixed = before.fixed_of(want[use]);
  if (!fixed.is_valid()) return {.operand = def};
  ir::FileBytes bytes = bytes_of_register(fixed);
  const ir::Storage s = before.storage(want[k]);
  if (s.offset != 0 || s.size != before.vreg(s.root).bytes()) {
    bytes.begin += s.offset;
    bytes.end = bytes.begin + s.size;
  }
  return {.is_fixed = true, .bytes = bytes};
}

void find_path(const ir::Function& before, const ir::Function& after, BlockId from, std::size_t k, EdgePath& path) {
  path.blocks.clear();
  const std::size_t num_edge_blocks = after.blocks.size() - before.blocks.size();
  BlockId at = after.successors(from)[k];
  while (at.index() >= before.blocks.size()) {
    path.blocks.push_back(at);
    const auto next = after.successors(at);
    if (next.size() != 1 || path.blocks.size() > num_edge_blocks) break;
    at = next[0];
  }
  path.arrives = at == before.successors(from)[k];
}

std::size_t PhiPredecessor::find(std::span<const BlockId> incoming, BlockId wanted) {
  if (at_ >= incoming.size() || incoming[at_] != wanted)
    at_ = static_cast<std::size_t>(std::find(incoming.begin(), incoming.end(), wanted) - incoming.begin());
  return at_;
}

PackForm pack_form(const ir::Function& after, const ir::Inst& i) {
  const bool is_numbered = i.op == Op::P2R || i.op == Op::R2P;  // predicate Pk is bit k
  PackForm form;
  form.is_into_pack = i.op == Op::P2R || i.op == Op::BitSpill;
  std::uint64_t bit = 0;
  for (const Operand& op : after.operands_of(i)) {
    if (op.kind == ir::OperandKind::Imm) bit = static_cast<std::uint64_t>(op.imm());
    if (!op.is_preg()) continue;
    if (op.role == (form.is_into_pack ? Role::DefUse : Role::Use)) form.pack = &op;
    if (op.role == (form.is_into_pack ? Role::Use : Role::Def)) form.predicates.push_back({&op, op.preg().first});
  }
  if (!is_numbered)
    for (PackedPredicate& p : form.predicates) p.bit = bit;
  return form;
}

}  // namespace regduel::oracles
