// See cut.h.
#include "fuzz/edit/cut.h"

#include <algorithm>
#include <utility>

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::Role;
using ir::VRegId;

ir::VRegId root_of(const EditProgram& p, VRegId v) { return p.header.root(v); }

// Roots that some instruction writes.
std::vector<bool> defined_roots(const EditProgram& p) {
  std::vector<bool> defined(p.header.vregs.size(), false);
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& o : i.ops)
        if (o.is_vreg() && o.writes()) defined[root_of(p, o.vreg()).index()] = true;
  return defined;
}

// Whether the instruction keeps a meaning without one of its operands.
bool does_without(const EditInst& i) {
  return i.inst.op == Op::Named || i.inst.op == Op::Call || i.inst.op == Op::Ret || i.inst.op == Op::Exit;
}

enum class Mended { Untouched, Changed, Gone };

// Takes the pair out of a copy to which operand `k`, a def or a use, belongs. False, and nothing done, where there is no other.
bool drop_pair(EditInst& copy, std::size_t k) {
  const auto defs =
      static_cast<std::size_t>(std::count_if(copy.ops.begin(), copy.ops.end(), [](const Operand& o) { return o.writes(); }));
  if (defs < 2) return false;
  drop_operand(copy, k < defs ? k + defs : k);
  drop_operand(copy, k < defs ? k : k - defs);
  return true;
}

// Takes the reads of orphans out of one instruction.
Mended mend(EditInst& i, const std::function<bool(const Operand&)>& is_orphan) {
  Mended result = Mended::Untouched;
  for (std::size_t k = i.ops.size(); k-- > 0;) {
    if (!is_orphan(i.ops[k])) continue;
    result = Mended::Changed;
    if (i.inst.op == Op::CBra || i.inst.op == Op::MBra) {
      i.inst.op = Op::Bra;
      i.inst.mnemonic = {};
      i.targets.resize(1);
      i.ops.clear();
      return result;
    }
    if (does_without(i) || i.ops[k].role == Role::Guard) {
      drop_operand(i, k);
    } else if (i.inst.op == Op::Copy) {
      if (!drop_pair(i, k)) return Mended::Gone;
      k = i.ops.size();
    } else {
      return Mended::Gone;
    }
  }
  return result;
}

// To a fixed point: instructions lose the operands that read orphans; an instruction that cannot do without one goes, which may
// make more orphans.
void mend_all(EditProgram& p, const std::vector<bool>& had_def) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> has_def = defined_roots(p);
    const auto is_orphan = [&](const Operand& o) {
      if (!o.is_vreg() || !o.reads() || o.writes()) return false;
      const std::size_t root = root_of(p, o.vreg()).index();
      return had_def[root] && !has_def[root];
    };
    for (EditBlock& b : p.blocks)
      for (std::size_t k = b.insts.size(); k-- > 0;) {
        const Mended m = mend(b.insts[k], is_orphan);
        if (m == Mended::Gone) b.insts.erase(b.insts.begin() + static_cast<std::ptrdiff_t>(k));
        changed = changed || m != Mended::Untouched;
      }
    if (changed) drop_unreachable(p);
  }
}

std::vector<std::vector<BlockId>> predecessors(const EditProgram& p) {
  std::vector<std::vector<BlockId>> preds(p.blocks.size());
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (const BlockId t : p.blocks[b].insts.back().targets) {
      std::vector<BlockId>& list = preds[t.index()];
      if (list.empty() || list.back().index() != b) list.push_back(BlockId(static_cast<std::uint32_t>(b)));
    }
  return preds;
}

}  // namespace

std::vector<InstPlace> body_places(const EditProgram& p) {
  std::vector<InstPlace> places;
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 0; k + 1 < p.blocks[b].insts.size(); ++k) places.push_back({b, k});
  return places;
}

void drop_insts(EditProgram& p, const std::vector<InstPlace>& places) {
  const std::vector<bool> had_def = defined_roots(p);
  std::size_t next = 0;
  for (std::size_t b = 0; b < p.blocks.size() && next < places.size(); ++b) {
    std::vector<EditInst> kept;
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k) {
      if (next < places.size() && places[next].block == b && places[next].inst == k) ++next;
      else kept.push_back(std::move(p.blocks[b].insts[k]));
    }
    p.blocks[b].insts = std::move(kept);
  }
  mend_all(p, had_def);
}

void drop_operand(EditInst& i, std::size_t k) {
  if (i.inst.op == Op::Phi && i.ops[k].reads()) i.targets.erase(i.targets.begin() + static_cast<std::ptrdiff_t>(k - 1));
  i.ops.erase(i.ops.begin() + static_cast<std::ptrdiff_t>(k));
  for (Operand& o : i.ops) {
    if (!o.is_tied()) continue;
    if (o.tied == k) o.tied = ir::kNotTied;
    else if (o.tied > k) --o.tied;
  }
}

void drop_operand_at(EditProgram& p, InstPlace at, std::size_t k) {
  const std::vector<bool> had_def = defined_roots(p);
  EditBlock& block = p.blocks[at.block];
  EditInst& i = block.insts[at.inst];
  const bool is_of_pair = i.inst.op == Op::Copy && (i.ops[k].writes() || i.ops[k].role == Role::Use);
  const bool is_of_phi = i.inst.is_phi() && i.ops[k].writes();
  if (!is_of_pair && !is_of_phi) drop_operand(i, k);
  else if (is_of_phi || !drop_pair(i, k)) block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(at.inst));
  mend_all(p, had_def);
}

void drop_vreg(EditProgram& p, VRegId root) {
  const std::vector<bool> had_def = defined_roots(p);
  for (EditBlock& b : p.blocks)
    for (std::size_t k = b.insts.size(); k-- > 0;) {
      EditInst& i = b.insts[k];
      bool gone = false, dropped = false;
      for (std::size_t o = i.ops.size(); o-- > 0 && !gone;) {
        if (!i.ops[o].is_vreg() || !i.ops[o].writes() || root_of(p, i.ops[o].vreg()) != root) continue;
        dropped = true;
        if (does_without(i)) {
          drop_operand(i, o);
        } else {
          gone = i.inst.op != Op::Copy || !drop_pair(i, o);
        }
      }
      if (gone || (dropped && i.ops.empty() && i.inst.op == Op::Named))
        b.insts.erase(b.insts.begin() + static_cast<std::ptrdiff_t>(k));
    }
  mend_all(p, had_def);
}

void end_block_with(EditProgram& p, std::size_t b, BlockId target) {
  const std::vector<bool> had_def = defined_roots(p);
  EditInst& i = p.blocks[b].insts.back();
  i.inst.op = target.is_valid() ? Op::Bra : p.header.kind == ir::FunctionKind::Kernel ? Op::Exit : Op::Ret;
  i.inst.mnemonic = {};
  i.inst.flags = 0;
  i.ops.clear();
  i.targets.clear();
  if (target.is_valid()) i.targets.push_back(target);
  drop_unreachable(p);
  mend_all(p, had_def);
}

void drop_target(EditProgram& p, std::size_t b, std::size_t k) {
  const std::vector<bool> had_def = defined_roots(p);
  std::vector<BlockId>& targets = p.blocks[b].insts.back().targets;
  targets.erase(targets.begin() + static_cast<std::ptrdiff_t>(k));
  drop_unreachable(p);
  mend_all(p, had_def);
}

bool lead_past(EditProgram& p, std::size_t b) {
  if (p.blocks[b].insts.size() != 1 || p.blocks[b].insts[0].inst.op != Op::Bra) return false;
  const BlockId self(static_cast<std::uint32_t>(b)), next = p.blocks[b].insts[0].targets[0];
  if (next == self) return false;
  const auto preds = predecessors(p);
  if (b == 0) {
    // The next block becomes the entry, which has no phis.
    if (!preds[0].empty() || p.blocks[next.index()].insts[0].inst.is_phi()) return false;
    std::swap(p.blocks[0], p.blocks[next.index()]);
    for (EditBlock& block : p.blocks)
      for (EditInst& i : block.insts)
        for (BlockId& t : i.targets)
          if (t == next) t = self;
    p.blocks[next.index()].insts[0].targets[0] = self;
    drop_unreachable(p);
    return true;
  }
  for (EditInst& i : p.blocks[next.index()].insts) {
    if (!i.inst.is_phi()) break;
    const auto here = std::find(i.targets.begin(), i.targets.end(), self);
    if (here == i.targets.end()) return false;
    const Operand value = i.ops[1 + static_cast<std::size_t>(here - i.targets.begin())];
    drop_operand(i, 1 + static_cast<std::size_t>(here - i.targets.begin()));
    for (const BlockId q : preds[b]) {
      const auto known = std::find(i.targets.begin(), i.targets.end(), q);
      if (known == i.targets.end()) {
        i.targets.push_back(q);
        i.ops.push_back(value);
      } else if (!(i.ops[1 + static_cast<std::size_t>(known - i.targets.begin())] == value)) {
        return false;
      }
    }
  }
  for (EditBlock& block : p.blocks)
    for (BlockId& t : block.insts.back().targets)
      if (t == self) t = next;
  drop_unreachable(p);
  return true;
}

std::size_t join_blocks(EditProgram& p) {
  std::size_t joined = 0;
  const auto preds = predecessors(p);
  for (std::size_t a = 0; a < p.blocks.size(); ++a) {
    while (!p.blocks[a].insts.empty() && p.blocks[a].insts.back().inst.op == Op::Bra) {
      const std::size_t c = p.blocks[a].insts.back().targets[0].index();
      if (c == a || c == 0 || preds[c].size() != 1 || p.blocks[c].insts.empty()) break;
      p.blocks[a].insts.pop_back();
      // The phis of a block with one predecessor are one parallel copy.
      EditInst* copy = nullptr;
      std::size_t pairs = 0;
      for (EditInst& i : p.blocks[c].insts) {
        if (!i.inst.is_phi()) {
          p.blocks[a].insts.push_back(std::move(i));
        } else if (copy == nullptr) {
          i.inst.op = Op::Copy;
          i.targets.clear();
          p.blocks[a].insts.push_back(std::move(i));
          copy = &p.blocks[a].insts.back();
          pairs = 1;
        } else {
          copy->ops.insert(copy->ops.begin() + static_cast<std::ptrdiff_t>(pairs++), i.ops[0]);
          copy->ops.push_back(i.ops[1]);
        }
      }
      p.blocks[c].insts.clear();
      for (EditBlock& block : p.blocks)
        for (EditInst& i : block.insts)
          if (i.inst.is_phi())
            std::replace(i.targets.begin(), i.targets.end(), BlockId(static_cast<std::uint32_t>(c)),
                         BlockId(static_cast<std::uint32_t>(a)));
      ++joined;
    }
  }
  // Joined blocks are empty now, and no edge leads to them.
  for (EditBlock& b : p.blocks)
    if (b.insts.empty()) {
      EditInst end;
      end.inst.op = Op::Exit;
      b.insts.push_back(std::move(end));
    }
  drop_unreachable(p);
  return joined;
}

void drop_unreachable(EditProgram& p) {
  std::vector<bool> reached(p.blocks.size(), false);
  std::vector<std::size_t> work = {0};
  reached[0] = true;
  while (!work.empty()) {
    const std::size_t b = work.back();
    work.pop_back();
    for (const BlockId t : p.blocks[b].insts.back().targets)
      if (!reached[t.index()]) {
        reached[t.index()] = true;
        work.push_back(t.index());
      }
  }
  std::vector<BlockId> to(p.blocks.size());
  std::vector<EditBlock> kept;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    if (!reached[b]) continue;
    to[b] = BlockId(static_cast<std::uint32_t>(kept.size()));
    kept.push_back(std::move(p.blocks[b]));
  }
  p.blocks = std::move(kept);
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      for (std::size_t k = i.targets.size(); k-- > 0;) {
        if (to[i.targets[k].index()].is_valid()) i.targets[k] = to[i.targets[k].index()];
        else if (i.inst.is_phi()) drop_operand(i, k + 1);
      }
    }
  const auto preds = predecessors(p);
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (EditInst& i : p.blocks[b].insts) {
      if (!i.inst.is_phi()) break;
      for (std::size_t k = i.targets.size(); k-- > 0;)
        if (std::find(preds[b].begin(), preds[b].end(), i.targets[k]) == preds[b].end()) drop_operand(i, k + 1);
    }
}

bool bypass(EditProgram& p, InstPlace at) {
  const EditInst& i = p.blocks[at.block].insts[at.inst];
  for (const Operand& def : i.ops) {
    if (!def.is_vreg() || !def.writes() || !def.part.is_whole()) continue;
    for (const Operand& use : i.ops) {
      if (!use.is_vreg() || use.role != Role::Use || !use.part.is_whole() || use.is_negated() || use.vreg() == def.vreg()) continue;
      const VRegId from = def.vreg(), to = use.vreg();
      EditProgram before = p;
      EditBlock& block = p.blocks[at.block];
      const std::vector<bool> had_def = defined_roots(p);
      block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(at.inst));
      if (merge_vregs(p, from, to)) {
        mend_all(p, had_def);
        return true;
      }
      p = std::move(before);
      return false;
    }
  }
  return false;
}

bool join_with_next(EditProgram& p, InstPlace at) {
  constexpr std::size_t kMostOperands = 8;
  std::vector<EditInst>& insts = p.blocks[at.block].insts;
  if (at.inst + 1 >= insts.size()) return false;
  EditInst &first = insts[at.inst], &second = insts[at.inst + 1];
  if (first.ops.size() + second.ops.size() > kMostOperands) return false;
  for (const EditInst* i : {&first, &second}) {
    if (i->inst.op != Op::Named) return false;
    for (const Operand& o : i->ops)
      if ((o.role != Role::Def && o.role != Role::Use) || o.is_tied() || o.is_early_clobber()) return false;
  }
  for (const Operand& a : first.ops)
    for (const Operand& b : second.ops)
      if (a.writes() && a.is_vreg() && b.is_vreg() && root_of(p, a.vreg()) == root_of(p, b.vreg())) return false;
  const auto second_uses = std::find_if(second.ops.begin(), second.ops.end(), [](const Operand& o) { return o.role == Role::Use; });
  first.ops.insert(first.ops.end(), second_uses, second.ops.end());
  const std::ptrdiff_t defs =
      std::count_if(first.ops.begin(), first.ops.end(), [](const Operand& o) { return o.role == Role::Def; });
  first.ops.insert(first.ops.begin() + defs, second.ops.begin(), second_uses);
  first.inst.flags |= second.inst.flags;
  insts.erase(insts.begin() + static_cast<std::ptrdiff_t>(at.inst) + 1);
  return true;
}

bool merge_vregs(EditProgram& p, VRegId from, VRegId to) {
  const ir::VReg& a = p.header.vregs[from.index()];
  const ir::VReg& b = p.header.vregs[to.index()];
  if (from == to || a.cls != b.cls || a.width != b.width || a.align_log2 != b.align_log2 || a.flags != b.flags) return false;
  if (a.alias.is_valid() || b.alias.is_valid() || a.fixed.is_valid() || b.fixed.is_valid()) return false;
  for (ir::VReg& v : p.header.vregs)
    if (v.alias == from) v.alias = to;
  for (EditBlock& block : p.blocks)
    for (EditInst& i : block.insts)
      for (Operand& o : i.ops)
        if (o.is_vreg() && o.vreg() == from) o.set_vreg(to);
  return true;
}

namespace {

void order_blocks(EditProgram& p) {
  std::vector<std::size_t> order, work = {0};
  std::vector<BlockId> to(p.blocks.size());
  while (!work.empty()) {
    const std::size_t b = work.back();
    work.pop_back();
    if (to[b].is_valid()) continue;
    to[b] = BlockId(static_cast<std::uint32_t>(order.size()));
    order.push_back(b);
    const std::vector<BlockId>& targets = p.blocks[b].insts.back().targets;
    for (std::size_t k = targets.size(); k-- > 0;) work.push_back(targets[k].index());
  }
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    if (!to[b].is_valid()) to[b] = BlockId(static_cast<std::uint32_t>(order.size())), order.push_back(b);
  std::vector<EditBlock> blocks;
  for (const std::size_t b : order) blocks.push_back(std::move(p.blocks[b]));
  p.blocks = std::move(blocks);
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      for (BlockId& t : i.targets) t = to[t.index()];
}

}  // namespace

void renumber(EditProgram& p, Blocks blocks) {
  if (blocks == Blocks::Ordered) order_blocks(p);
  std::vector<bool> is_seen(p.header.vregs.size(), false);
  std::vector<VRegId> seen;
  // A vreg is declared after the vreg that it is an alias of.
  const auto see = [&](auto& self, VRegId v) -> void {
    if (!v.is_valid() || is_seen[v.index()]) return;
    is_seen[v.index()] = true;
    self(self, p.header.vregs[v.index()].alias);
    seen.push_back(v);
  };
  std::uint32_t id = 0;
  for (EditBlock& b : p.blocks) {
    b.attributes.name = {};
    for (EditInst& i : b.insts) {
      i.inst.id = ir::InstId(id++);
      for (const Operand& o : i.ops)
        if (o.is_vreg()) see(see, o.vreg());
    }
  }
  p.keep_vregs(seen);
  for (ir::VReg& v : p.header.vregs) v.name = {};
}

}  // namespace regduel::fuzz
