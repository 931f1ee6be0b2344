// See grow.h.
#include "fuzz/edit/grow.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "ir/registers.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

constexpr std::size_t kMostBlocks = 4096, kMostVRegs = 20'000;

std::uint32_t u32(std::size_t n) { return static_cast<std::uint32_t>(n); }

std::size_t any_block(const EditProgram& p, Random& random) { return random.below(u32(p.blocks.size())); }

EditInst operation(EditProgram& p, std::string_view mnemonic, std::uint32_t after_next = 0) {
  EditInst i;
  i.inst.op = Op::Named;
  i.inst.id = ir::InstId(p.next_id().value + after_next);
  i.inst.mnemonic = p.header.symbols.intern(mnemonic);
  return i;
}

template <class Wanted>
VRegId any_vreg(const EditProgram& p, Random& random, Wanted wanted) {
  for (int attempt = 0; attempt < 16 && !p.header.vregs.empty(); ++attempt)
    if (const VRegId v(random.below(u32(p.header.vregs.size()))); wanted(p.header.vreg(v))) return v;
  return {};
}

// The jump at the end of `from` becomes a branch: the old target, or `next`. The condition is any predicate, or a new one.
bool branch_also_to(EditProgram& p, std::size_t from, BlockId next, Random& random) {
  EditInst& last = p.blocks[from].insts.back();
  if (last.inst.op != Op::Bra) return false;
  VRegId condition = any_vreg(p, random, [](const ir::VReg& v) { return v.file() == ir::RegFile::P; });
  if (!condition.is_valid()) {
    ir::VReg v;
    v.cls = ir::RegClass::P;
    v.type = ir::TypeKind::Pred;
    v.width = 1;
    condition = p.header.add_vreg(v);
    EditInst def = operation(p, "mutant.setp");
    def.ops.push_back(Operand::of_vreg(Role::Def, condition));
    insert_at(p.blocks[from], p.blocks[from].insts.size() - 1, std::move(def));
  }
  EditInst& branch = p.blocks[from].insts.back();
  branch.inst.op = Op::CBra;
  branch.inst.mnemonic = {};
  branch.ops = {Operand::of_vreg(Role::Use, condition)};
  branch.targets.push_back(branch.targets[0]);
  return lead_to(p, from, random.below(2), next);
}

// Two vregs that a copy has made equal may share a register until one of them changes. Here the first one changes, all of it or some bytes,
// and an instruction behind reads the other.
void part_ways(EditProgram& p, EditBlock& b, std::size_t at, std::pair<VRegId, VRegId> both, Random& random) {
  Operand changed = Operand::of_vreg(Role::Def, both.first);
  const int bytes = p.header.vreg(both.first).bytes(), size = std::min(bytes, 4 << random.between(0, 1));
  if (size < bytes && random.chance(70))
    changed.part = ir::Part::from_bytes(size * random.between(0, bytes / size - 1), size).value_or(ir::Part());
  EditInst change = operation(p, "mutant.op"), read = operation(p, "mutant.st.sink", 1);
  change.ops.push_back(changed);
  read.inst.flags |= ir::kMemWrite;
  read.ops.push_back(Operand::of_vreg(Role::Use, both.second));
  insert_at(b, at, std::move(change));
  insert_at(b, at + 1, std::move(read));
}

}  // namespace

std::size_t any_place(const EditBlock& b, Random& random) {
  std::size_t first = 0;
  while (b.insts[first].inst.is_phi()) ++first;
  return first + random.below(u32(b.insts.size() - first));
}

void insert_at(EditBlock& b, std::size_t at, EditInst i) {
  b.insts.insert(b.insts.begin() + static_cast<std::ptrdiff_t>(at), std::move(i));
}

BlockId split_block(EditProgram& p, std::size_t b, std::size_t at) {
  const BlockId lower(u32(p.blocks.size())), upper(u32(b));
  EditBlock tail;
  tail.attributes = p.blocks[b].attributes;
  tail.attributes.name = {};
  std::vector<EditInst>& insts = p.blocks[b].insts;
  tail.insts.assign(std::make_move_iterator(insts.begin() + static_cast<std::ptrdiff_t>(at)), std::make_move_iterator(insts.end()));
  insts.resize(at);
  std::vector<BlockId> successors = tail.insts.back().targets;
  p.blocks.push_back(std::move(tail));
  EditInst branch;
  branch.inst.op = Op::Bra;
  branch.inst.id = p.next_id();
  branch.targets = {lower};
  p.blocks[b].insts.push_back(std::move(branch));
  // The edges now leave from the lower half.
  std::sort(successors.begin(), successors.end());
  successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
  for (const BlockId s : successors)
    for (EditInst& i : p.blocks[s.index()].insts) {
      if (!i.inst.is_phi()) break;
      std::replace(i.targets.begin(), i.targets.end(), upper, lower);
    }
  return lower;
}

bool lead_to(EditProgram& p, std::size_t from, std::size_t k, BlockId next) {
  EditInst& last = p.blocks[from].insts.back();
  const BlockId old = last.targets[k], self(u32(from));
  if (old == next) return false;
  const bool was_there = std::find(last.targets.begin(), last.targets.end(), next) != last.targets.end();
  last.targets[k] = next;
  const bool still_there = std::find(last.targets.begin(), last.targets.end(), old) != last.targets.end();
  if (!still_there)
    for (EditInst& i : p.blocks[old.index()].insts) {
      if (!i.inst.is_phi()) break;
      const auto at = std::find(i.targets.begin(), i.targets.end(), self);
      if (at == i.targets.end()) return false;
      i.ops.erase(i.ops.begin() + 1 + (at - i.targets.begin()));
      i.targets.erase(at);
    }
  if (!was_there)
    for (EditInst& i : p.blocks[next.index()].insts) {
      if (!i.inst.is_phi()) break;
      Operand use = i.ops[0];
      use.role = Role::Use;
      i.ops.push_back(use);
      i.targets.push_back(self);
    }
  return true;
}

bool add_edge(EditProgram& p, Random& random) {
  const std::size_t from = any_block(p, random);
  return branch_also_to(p, from, BlockId(random.below(u32(p.blocks.size()))), random);
}

bool make_irreducible(EditProgram& p, Random& random) {
  // By position: an edge back, and a block between its ends. Blocks stand nearly in the order of control flow.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::size_t latch = any_block(p, random);
    for (const BlockId head : p.blocks[latch].insts.back().targets) {
      if (head.index() == 0 || head.index() + 1 > latch) continue;
      const std::size_t from = random.below(u32(head.index()));
      const BlockId inside(u32(head.index() + 1 + random.below(u32(latch - head.index()))));
      if (branch_also_to(p, from, inside, random)) return true;
    }
  }
  return false;
}

bool wrap_in_loop(EditProgram& p, Random& random) {
  if (p.blocks.size() + 2 > kMostBlocks) return false;
  const std::size_t b = any_block(p, random);
  std::size_t first = any_place(p.blocks[b], random), last = any_place(p.blocks[b], random);
  if (first > last) std::swap(first, last);
  const BlockId body = split_block(p, b, first);
  split_block(p, body.index(), last - first);
  if (p.blocks[body.index()].attributes.depth >= 0) ++p.blocks[body.index()].attributes.depth;
  return branch_also_to(p, body.index(), body, random);
}

bool insert_call(EditProgram& p, const ir::Target& target, Random& random) {
  const ir::Abi& abi = target.abi(p.header.abi);
  EditInst call;
  call.inst.op = Op::Call;
  call.inst.id = p.next_id();
  // Deals registers in order, 64-bit values from an even one.
  const auto place = [&](std::uint32_t count, ir::PReg window, Role role) {
    int next = window.begin();
    for (std::uint32_t k = 0; k < count; ++k) {
      const VRegId v = any_vreg(p, random, [&](const ir::VReg& r) {
        return r.file() == window.file && r.width >= 32 && r.units() <= 2 && !r.alias.is_valid() && !r.fixed.is_valid();
      });
      if (!v.is_valid()) return;
      const ir::VReg& r = p.header.vreg(v);
      next = (next + r.alignment() - 1) / r.alignment() * r.alignment();
      if (next + r.units() > window.end()) return;
      Operand o = Operand::of_vreg(role, v);
      o.set_fixed({window.file, static_cast<std::uint8_t>(r.units()), static_cast<std::uint16_t>(next)});
      call.ops.push_back(o);
      next += r.units();
    }
  };
  place(random.below(2), abi.results, Role::Def);
  call.ops.push_back(Operand::of_symbol(p.header.symbols.intern("mutant")));
  place(random.below(4), abi.arguments, Role::Use);
  for (const ir::PReg r : abi.clobbered) call.ops.push_back(Operand::of_preg(Role::Clobber, r));
  EditBlock& b = p.blocks[any_block(p, random)];
  const std::size_t at = any_place(b, random);
  insert_at(b, at, std::move(call));
  return true;
}

bool inline_call(EditProgram& p, Random& random) {
  std::vector<EditInst*> calls;
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      if (i.inst.op == Op::Call) calls.push_back(&i);
  if (calls.empty()) return false;
  EditInst& i = *calls[random.below(u32(calls.size()))];
  i.inst.op = Op::Named;
  i.inst.mnemonic = p.header.symbols.intern("inlined");
  std::erase_if(i.ops, [](const Operand& o) { return o.role == Role::Clobber; });
  for (Operand& o : i.ops)
    if (o.is_vreg()) o.set_fixed({});
  return true;
}

bool insert_copy(EditProgram& p, Random& random) {
  EditBlock& b = p.blocks[any_block(p, random)];
  const std::size_t at = any_place(b, random);
  EditInst copy;
  copy.inst.op = Op::Copy;
  copy.inst.id = p.next_id();
  std::vector<Operand> uses;
  const bool swaps = random.chance(30);
  for (int pairs = random.chance(60) ? 1 : random.between(1, 3); pairs > 0; --pairs) {
    const VRegId d = vreg_near(p, b, at, random, [](const ir::VReg&) { return true; });
    if (!d.is_valid()) return false;
    const ir::VReg& def = p.header.vreg(d);
    const VRegId s = vreg_near(p, b, at, random, [&](const ir::VReg& v) {
      return v.bytes() == def.bytes() && ir::is_predicate(v.file()) == ir::is_predicate(def.file());
    });
    if (!s.is_valid()) return false;
    copy.ops.push_back(Operand::of_vreg(Role::Def, d));
    uses.push_back(Operand::of_vreg(Role::Use, s));
    if (!swaps || s == d) continue;
    copy.ops.push_back(Operand::of_vreg(Role::Def, s));
    uses.push_back(Operand::of_vreg(Role::Use, d));
  }
  const VRegId def = copy.ops[0].vreg(), use = uses[0].vreg();
  copy.ops.insert(copy.ops.end(), uses.begin(), uses.end());
  insert_at(b, at, std::move(copy));
  if (random.chance(40)) part_ways(p, b, at + 1, random.chance(50) ? std::pair(def, use) : std::pair(use, def), random);
  return true;
}

bool insert_phi(EditProgram& p, Random& random) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::size_t at = any_block(p, random);
    EditBlock& b = p.blocks[at];
    const VRegId d = vreg_near(p, b, 0, random, [](const ir::VReg&) { return true; });
    if (!d.is_valid()) return false;
    const ir::VReg& def = p.header.vreg(d);
    EditInst phi;
    phi.inst.op = Op::Phi;
    phi.inst.id = p.next_id();
    phi.ops.push_back(Operand::of_vreg(Role::Def, d));
    for (std::size_t from = 0; from < p.blocks.size(); ++from) {
      const EditBlock& before = p.blocks[from];
      const std::vector<BlockId>& targets = before.insts.back().targets;
      if (std::find(targets.begin(), targets.end(), BlockId(u32(at))) == targets.end()) continue;
      const VRegId s = vreg_near(p, before, before.insts.size(), random,
                                 [&](const ir::VReg& v) { return v.file() == def.file() && v.width == def.width; });
      phi.ops.push_back(Operand::of_vreg(Role::Use, s.is_valid() ? s : d));
      phi.targets.push_back(BlockId(u32(from)));
    }
    if (phi.targets.empty()) continue;
    b.insts.insert(b.insts.begin(), std::move(phi));
    return true;
  }
  return false;
}

bool raise_pressure(EditProgram& p, Random& random) {
  const std::uint32_t count = 1 + random.below(random.chance(20) ? 48 : 12);
  if (p.header.vregs.empty() || p.header.vregs.size() + count > kMostVRegs) return false;
  ir::VReg like = p.header.vregs[random.below(u32(p.header.vregs.size()))];
  like.alias = like.hint = {};
  like.alias_part = {};
  like.fixed = {};
  like.flags = 0;
  like.name = {};
  // From one place to another, perhaps over many blocks.
  const std::size_t from = any_block(p, random), to = random.chance(50) ? from : any_block(p, random);
  std::size_t begin = any_place(p.blocks[from], random), end = any_place(p.blocks[to], random);
  if (from == to && begin > end) std::swap(begin, end);
  constexpr std::uint32_t kMostUses = 4;  // of one instruction: what it demands stays small
  std::vector<EditInst> defs, uses;
  for (std::uint32_t k = 0; k < count; ++k) {
    const VRegId v = p.header.add_vreg(like);
    EditInst& def = defs.emplace_back(operation(p, "mutant.def", u32(defs.size() + uses.size())));
    def.ops.push_back(Operand::of_vreg(Role::Def, v));
    if (k % kMostUses == 0) {
      uses.push_back(operation(p, "mutant.use", u32(defs.size() + uses.size())));
      uses.back().inst.flags = ir::kMemWrite;
    }
    uses.back().ops.push_back(Operand::of_vreg(Role::Use, v));
  }
  const auto put = [&](std::size_t b, std::size_t at, std::vector<EditInst>& list) {
    p.blocks[b].insts.insert(p.blocks[b].insts.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(list.begin()),
                             std::make_move_iterator(list.end()));
  };
  put(to, end, uses);
  put(from, begin, defs);
  return true;
}

bool splice(EditProgram& p, const EditProgram& other, Random& random) {
  constexpr std::uint32_t kLongest = 32;
  const EditBlock& source = other.blocks[any_block(other, random)];
  const std::size_t first = any_place(source, random);
  const std::size_t last = std::min<std::size_t>(source.insts.size() - 1, first + 1 + random.below(kLongest));
  if (first >= last || p.header.vregs.size() + kLongest * 8 > kMostVRegs) return false;
  const int known = random.between(0, 100);  // percent: values of the donor that become values of this program
  std::vector<VRegId> to(other.header.vregs.size());
  const auto mapped = [&](VRegId v) {
    if (to[v.index()].is_valid()) return to[v.index()];
    ir::VReg r = other.header.vreg(v);
    if (random.chance(known)) {
      const VRegId like = any_vreg(
          p, random, [&](const ir::VReg& mine) { return mine.cls == r.cls && mine.width == r.width && !mine.alias.is_valid(); });
      if (like.is_valid()) return to[v.index()] = like;
    }
    r.alias = r.hint = {};
    r.alias_part = {};
    r.name = {};
    return to[v.index()] = p.header.add_vreg(r);
  };
  EditBlock& b = p.blocks[any_block(p, random)];
  std::size_t at = any_place(b, random);
  std::uint32_t id = p.next_id().value;
  for (std::size_t k = first; k < last; ++k) {
    EditInst i = source.insts[k];
    i.inst.id = ir::InstId(id++);
    i.inst.line = {};
    if (i.inst.mnemonic.is_valid()) i.inst.mnemonic = p.header.symbols.intern(other.header.symbols[i.inst.mnemonic]);
    for (Operand& o : i.ops) {
      if (o.is_vreg()) o.set_vreg(mapped(o.vreg()));
      else if (o.kind == ir::OperandKind::Symbol) o.set_symbol(p.header.symbols.intern(other.header.symbols[o.symbol()]));
    }
    insert_at(b, at++, std::move(i));
  }
  return true;
}

}  // namespace regduel::fuzz
