// See variants.h.
#include "oracles/metamorphic/variants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Operand;
using ir::Role;
using ir::SlotId;
using ir::SymbolId;
using ir::VRegId;

template <class IdType>
std::vector<IdType> identity(std::size_t n) {
  std::vector<IdType> list;
  for (std::size_t k = 0; k < n; ++k) list.emplace_back(k);
  return list;
}

// Roots in any order, each alias somewhere behind its parent.
std::vector<VRegId> permute_vregs(const Function& f, Random& random) {
  std::vector<std::vector<VRegId>> aliases(f.vregs.size());
  std::vector<VRegId> ready;
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    if (f.vregs[v].alias.is_valid()) aliases[f.vregs[v].alias.index()].emplace_back(v);
    else ready.emplace_back(v);
  }
  std::vector<VRegId> to(f.vregs.size());
  for (std::size_t next = 0; !ready.empty(); ++next) {
    std::swap(ready[random.below(static_cast<std::uint32_t>(ready.size()))], ready.back());
    const VRegId v = ready.back();
    ready.pop_back();
    to[v.index()] = VRegId(next);
    ready.insert(ready.end(), aliases[v.index()].begin(), aliases[v.index()].end());
  }
  return to;
}

// Original blocks among themselves, edge blocks among themselves.
std::vector<BlockId> permute_blocks(const Function& before, const Function& after, Random& random) {
  std::vector<BlockId> to = identity<BlockId>(std::max(before.blocks.size(), after.blocks.size()));
  const auto permute = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    std::vector<BlockId> part(to.begin() + static_cast<std::ptrdiff_t>(begin), to.begin() + static_cast<std::ptrdiff_t>(end));
    shuffle(random, part);
    std::copy(part.begin(), part.end(), to.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  std::size_t first_edge = after.blocks.size();
  while (first_edge > 0 && after.blocks[first_edge - 1].is_edge_block()) --first_edge;
  permute(1, std::min(before.blocks.size(), first_edge));
  if (first_edge >= before.blocks.size()) permute(first_edge, after.blocks.size());
  return to;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> permute_insts(const Function& before, const Function& after, Random& random) {
  std::vector<std::uint32_t> ids;
  for (const Function* f : {&before, &after})
    for (const ir::Inst& i : f->insts) ids.push_back(i.id.value);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::uint32_t> fresh;
  const std::uint32_t base = random.below(1000);
  for (std::size_t k = 0; k < ids.size(); ++k) fresh.push_back(base + static_cast<std::uint32_t>(k));
  shuffle(random, fresh);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> to;
  for (std::size_t k = 0; k < ids.size(); ++k) to.emplace_back(ids[k], fresh[k]);
  return to;
}

template <class IdType>
IdType mapped(const std::vector<IdType>& map, IdType id) {
  return id.is_valid() && id.index() < map.size() ? map[id.index()] : id;
}

ir::InstId mapped(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& map, ir::InstId id) {
  const auto it = std::lower_bound(map.begin(), map.end(), std::pair<std::uint32_t, std::uint32_t>(id.value, 0));
  return it != map.end() && it->first == id.value ? ir::InstId(it->second) : id;
}

// The same strings under other numbers.
std::vector<SymbolId> renumber_symbols(Function& f, const Function& from) {
  f.symbols = {};
  (void)f.symbols.intern("another name");
  std::vector<SymbolId> to(from.symbols.size());
  for (std::size_t k = to.size(); k > 0; --k) to[k - 1] = f.symbols.intern(from.symbols[SymbolId(k - 1)]);
  return to;
}

void rename_vregs(Function& out, const Function& f, const Renaming& renaming) {
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    ir::VReg r = f.vregs[v];
    r.alias = mapped(renaming.vregs, r.alias);
    r.hint = mapped(renaming.vregs, r.hint);
    if (renaming.names) r.name = v % 2 == 0 ? out.symbols.intern(fmt::format("v{}", v)) : SymbolId();
    out.vregs[mapped(renaming.vregs, VRegId(v)).index()] = r;
  }
}

// The program under construction gets its instructions from this one, with additions.
void copy_inst(Function& out, const Function& f, const ir::Inst& i) { out.append(i, f.operands_of(i), f.targets_of(i)); }

// Makes instructions with the lowest numbers that are free.
class Fresh {
 public:
  Fresh(Function& out, const Function& f) : def_(out.symbols.intern("dead.def")), use_(out.symbols.intern("dead.use")) {
    for (const ir::Inst& i : f.insts) used_.push_back(i.id.value);
    std::sort(used_.begin(), used_.end());
  }
  ir::Inst def() { return named(def_); }
  ir::Inst use() { return named(use_); }
  ir::Inst of(ir::Op op) {
    ir::Inst i = named({});
    i.op = op;
    return i;
  }

 private:
  ir::Inst named(SymbolId mnemonic) {
    while (at_ < used_.size() && used_[at_] == next_) {
      ++at_;
      ++next_;
    }
    ir::Inst i;
    i.id = ir::InstId(next_++);
    i.mnemonic = mnemonic;
    return i;
  }
  SymbolId def_, use_;
  std::vector<std::uint32_t> used_;
  std::size_t at_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace

Renaming draw_renaming(Rename what, const Function& before, const Function& after, std::uint64_t seed) {
  Random random(hash_combine(seed, static_cast<std::uint64_t>(what)));
  const bool all = what == Rename::Everything;
  Renaming r;
  if (all || what == Rename::VRegs) r.vregs = permute_vregs(before, random);
  if (all || what == Rename::Blocks) r.blocks = permute_blocks(before, after, random);
  if (all || what == Rename::Slots) {
    r.slots = identity<SlotId>(after.slots.size());
    shuffle(random, r.slots);
  }
  if (all || what == Rename::Insts) r.insts = permute_insts(before, after, random);
  r.names = all || what == Rename::Names;
  return r;
}

Function renamed(const Function& f, const Renaming& renaming) {
  Function out = f.clone_header();
  std::vector<SymbolId> symbols;
  if (renaming.names) {
    symbols = renumber_symbols(out, f);
    for (ir::SourceLine& l : out.source_lines) l.file = mapped(symbols, l.file);
    out.name = "renamed";
  }
  rename_vregs(out, f, renaming);
  for (std::size_t s = 0; s < f.slots.size(); ++s) out.slots[mapped(renaming.slots, SlotId(s)).index()] = f.slots[s];
  std::vector<BlockId> order(f.blocks.size());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) order[mapped(renaming.blocks, BlockId(b)).index()] = BlockId(b);
  std::vector<Operand> ops;
  std::vector<BlockId> targets;
  for (const BlockId b : order) {
    ir::Block attributes = f.block(b);
    attributes.edge_from = mapped(renaming.blocks, attributes.edge_from);
    attributes.edge_to = mapped(renaming.blocks, attributes.edge_to);
    if (renaming.names) attributes.name = b.value % 2 == 1 ? out.symbols.intern(fmt::format("block {}", b.value)) : SymbolId();
    out.begin_block(attributes);
    for (const ir::Inst& old : f.insts_of(b)) {
      ir::Inst i = old;
      i.id = mapped(renaming.insts, i.id);
      if (i.ref.is_valid()) i.ref = mapped(renaming.insts, i.ref);
      i.mnemonic = mapped(symbols, i.mnemonic);
      ops.assign(f.operands_of(old).begin(), f.operands_of(old).end());
      for (Operand& op : ops) {
        if (op.is_vreg()) op.set_vreg(mapped(renaming.vregs, op.vreg()));
        else if (op.is_slot()) op.set_slot(mapped(renaming.slots, op.slot()));
        else if (op.kind == ir::OperandKind::Symbol) op.set_symbol(mapped(symbols, op.symbol()));
      }
      targets.assign(f.targets_of(old).begin(), f.targets_of(old).end());
      for (BlockId& t : targets) t = mapped(renaming.blocks, t);
      out.append(i, ops, targets);
    }
  }
  return out;
}

Function with_dead_defs(const Function& f, const ir::Target& target, const ir::Limits& limits, std::uint64_t seed) {
  constexpr int kPercent = 12;  // of the places between instructions
  Random random(hash_combine(seed, 0xDEAD));
  Function out = f.clone_header();
  Fresh fresh(out, f);
  std::vector<ir::VReg> kinds;
  for (const ir::RegClass cls : {ir::RegClass::R, ir::RegClass::P, ir::RegClass::UR}) {
    const ir::RegFile file = ir::file_of(cls);
    int unit = 0;
    while (unit < limits.of(file) && !ir::is_allocatable(target, f.abi, limits, file, unit)) ++unit;
    if (unit >= limits.of(file)) continue;
    ir::VReg v;
    v.cls = cls;
    if (cls == ir::RegClass::P) v.type = ir::TypeKind::Pred, v.width = 1;
    kinds.push_back(v);
  }
  for (const ir::Block& b : f.blocks) {
    out.begin_block(b);
    for (const ir::Inst& i : f.insts_of(b)) {
      copy_inst(out, f, i);
      if (i.is_phi() || i.is_terminator() || kinds.empty() || !random.chance(kPercent)) continue;
      const auto defs = f.operands_of(i);
      const bool copies = !defs.empty() && defs[0].writes() && defs[0].is_vreg() && random.chance(50);
      const VRegId source = copies ? defs[0].vreg() : VRegId();
      if (copies && !f.vreg(f.root(source)).is_architectural()) {
        ir::VReg v = f.vreg(source);
        v.alias = {};
        v.alias_part = {};
        v.fixed = {};
        v.name = {};
        const Operand ops[] = {Operand::of_vreg(Role::Def, out.add_vreg(v)), Operand::of_vreg(Role::Use, source)};
        out.append(fresh.of(ir::Op::Copy), ops);
      } else {
        const ir::VReg& kind = kinds[random.below(static_cast<std::uint32_t>(kinds.size()))];
        const Operand ops[] = {Operand::of_vreg(Role::Def, out.add_vreg(kind)), Operand::of_imm(random.below(100))};
        out.append(fresh.def(), ops);
      }
    }
  }
  return out;
}

Function with_unreachable_blocks(const Function& f, std::uint64_t seed) {
  Random random(hash_combine(seed, 0xB10C));
  Function out = f.clone_header();
  Fresh fresh(out, f);
  for (const ir::Block& b : f.blocks) {
    out.begin_block(b);
    for (const ir::Inst& i : f.insts_of(b)) copy_inst(out, f, i);
  }
  std::vector<VRegId> readable;
  for (const Operand& op : f.operands)
    if (op.is_vreg() && op.reads()) readable.push_back(op.vreg());
  std::vector<BlockId> enterable;  // blocks that a further predecessor does not disturb
  for (std::size_t b = 1; b < f.blocks.size(); ++b)
    if (!f.insts_of(BlockId(b)).front().is_phi()) enterable.emplace_back(b);
  for (int n = random.between(1, 3); n > 0; --n) {
    const BlockId self = out.begin_block();
    for (int k = random.between(0, 3); k > 0 && !readable.empty(); --k) {
      const Operand ops[] = {Operand::of_vreg(Role::Use, readable[random.below(static_cast<std::uint32_t>(readable.size()))])};
      out.append(fresh.use(), ops);
    }
    const auto way = random.below(3);
    if (way == 0) {
      out.append(fresh.of(ir::Op::Exit), {});
    } else {
      const BlockId to =
          way == 1 || enterable.empty() ? self : enterable[random.below(static_cast<std::uint32_t>(enterable.size()))];
      out.append(fresh.of(ir::Op::Bra), {}, std::span(&to, 1));
    }
  }
  return out;
}

Function with_unused_vregs(const Function& f) {
  Function out = f;
  for (const int width : {32, 64, 128}) {
    ir::VReg v;
    v.width = static_cast<std::uint16_t>(width);
    v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(width));
    if (!f.vregs.empty() && f.vregs[0].cls == v.cls) v.hint = VRegId(0);
    out.add_vreg(v);
  }
  return out;
}

}  // namespace regduel::oracles
