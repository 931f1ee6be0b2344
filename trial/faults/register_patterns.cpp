// See register_patterns.h.
#include "trial/faults/register_patterns.h"

#include <algorithm>
#include <set>

#include "trial/faults/workshop.h"

namespace regduel::trial {

using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

std::optional<Patterned> copies_through_memory(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  int done = 0;
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    const std::size_t operands = has_guard(i) ? 3 : 2;
    if (!i.inst.is_copy() || i.inst.is_deleted() || done >= 12 || random.chance(40) || i.ops.size() != operands ||
        bytes_of(i.ops[0]) != bytes_of(i.ops[1]) || w.is_architectural(i.ops[0].preg()) || !w.fits_memory(i.ops[0].preg()) ||
        !w.fits_memory(i.ops[1].preg())) {
      out.push_back(std::move(i));
      return;
    }
    ++done;
    const Operand to = i.ops[0], from = i.ops[1];
    const std::uint32_t bytes = bytes_of(to);
    const ir::SlotId slot = add_slot(w.program, random.chance(20) ? w.shared_if_room(bytes) : MemSpace::Local, bytes);
    EditInst spill = make_spill(from, slot), refill = make_refill(to, slot);
    const bool guarded = has_guard(i), spills = guarded || random.chance(50);
    if (guarded) out.push_back(make_spill(to, slot));
    else if (!spills) out.push_back(spill);
    EditInst own = guarded_like(spills ? spill : refill, i);
    i.inst.op = own.inst.op;
    i.ops = std::move(own.ops);
    out.push_back(std::move(i));
    if (spills) out.push_back(refill);
  });
  return done > 0 ? std::optional(w.finish()) : std::nullopt;
}

std::optional<Patterned> remat(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  bool any = false;
  std::vector<EditInst> known;  // defs whose register and sources are as the def left them
  std::size_t block = 0;
  std::vector<PReg> seen;
  const auto in_before = [&](const EditInst& i) {
    const auto it = std::find_if(subject.before.insts.begin(), subject.before.insts.end(),
                                 [&](const ir::Inst& o) { return o.id == i.inst.id; });
    return it != subject.before.insts.end() && is_repeatable(subject.before, *it) &&
           !subject.before.fixed_of(subject.before.operands_of(*it)[0]).is_valid();
  };
  w.rewrite([&](std::size_t b, std::size_t, EditInst i, std::vector<EditInst>& out) {
    if (b != block) known.clear();
    block = b;
    for (const EditInst& def : known) {
      if (!reads(i, def.ops[0].preg()) || i.inst.is_phi() || !random.chance(40)) continue;
      EditInst remat = inserted(Op::Remat, def.ops);
      remat.inst.ref = def.inst.id;
      const auto other = pick(seen, random);
      if (other && random.chance(50) && other->file == def.ops[0].preg().file && other->count == def.ops[0].preg().count &&
          !other->overlaps(def.ops[0].preg()))
        out.push_back(make_copy(def.ops[0].preg(), *other));
      out.push_back(std::move(remat));
      any = true;
    }
    std::erase_if(known, [&](const EditInst& def) {
      return std::any_of(def.ops.begin(), def.ops.end(), [&](const Operand& op) { return op.is_preg() && writes(i, op.preg()); });
    });
    for (const Operand& op : i.ops)
      if (op.is_preg() && op.role != Role::Clobber && seen.size() < 64) seen.push_back(op.preg());
    const bool is_plain =
        !i.inst.is_inserted() && !i.inst.is_deleted() && i.inst.has(ir::kRematerialisable) && !has_guard(i) && !i.inst.is_copy();
    if (is_plain && in_before(i) && i.ops[0].part.is_whole() &&
        std::none_of(i.ops.begin() + 1, i.ops.end(),
                     [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(i.ops[0].preg()); }))
      known.push_back(i);
    out.push_back(std::move(i));
  });
  return any ? std::optional(w.finish()) : std::nullopt;
}

std::optional<Patterned> callee_saved(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  if (!w.can_save()) return std::nullopt;
  const auto is_pinned = [&](PReg r) {
    return std::any_of(subject.before.operands.begin(), subject.before.operands.end(),
                       [&](const Operand& op) { return op.is_vreg() && subject.before.fixed_of(op).overlaps(r); });
  };
  std::vector<PReg> tuples;
  const int align = w.widest_alignment();
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (op.is_preg() && op.role != Role::Clobber && op.preg().file == RegFile::R) tuples.push_back(op.preg());
  struct Move {
    PReg from, to;
  };
  std::vector<Move> moves;
  for (const PReg t : std::set<PReg>(tuples.begin(), tuples.end())) {
    bool fits = !is_pinned(t);
    for (const PReg o : tuples) fits = fits && (!o.overlaps(t) || (t.begin() <= o.begin() && o.end() <= t.end()));
    for (const EditBlock& b : w.program.blocks) fits = fits && !(b.insts.back().inst.op == Op::Ret && mentions(b.insts.back(), t));
    for (int u = t.begin(); u < t.end(); ++u) fits = fits && !w.preserved.contains(one_unit(t.file, u));
    for (int first = t.first % align; fits && first + t.count <= subject.target.units[ir::index(t.file)]; first += align) {
      bool spare = true;
      for (int u = first; u < first + t.count; ++u)
        spare = spare && w.preserved.contains(one_unit(t.file, u)) && !w.mentioned.contains(one_unit(t.file, u)) &&
                !subject.target.is_reserved(subject.before.abi, t.file, u);
      if (spare) moves.push_back({t, {t.file, t.count, static_cast<std::uint16_t>(first)}});
    }
  }
  const auto m = pick(moves, random);
  if (!m) return std::nullopt;
  w.use(m->to);
  const bool fits_memory = w.fits_memory(m->to);
  const bool in_register = random.chance(30) || !fits_memory;
  const auto keeper = in_register ? w.take(RegFile::R, m->to.count) : std::nullopt;
  if (!keeper && !fits_memory) return std::nullopt;
  const Operand reg = Operand::of_preg(Role::Use, m->to);
  const ir::SlotId slot = keeper ? ir::SlotId() : add_slot(w.program, MemSpace::Local, bytes_of(reg));
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    for (Operand& op : i.ops)
      if (op.is_preg() && op.role != Role::Clobber && op.preg().overlaps(m->from))
        op.set_preg({op.preg().file, op.preg().count, static_cast<std::uint16_t>(op.preg().first - m->from.first + m->to.first)});
    if (i.inst.op == Op::Ret) out.push_back(keeper ? make_copy(m->to, *keeper) : make_refill(reg, slot));
    out.push_back(std::move(i));
  });
  auto& entry = w.program.blocks[0].insts;
  entry.insert(entry.begin(), keeper ? make_copy(*keeper, m->to) : make_spill(reg, slot));
  return w.finish();
}

// --- values that move -----------------------------------------------------------------------------------------------

namespace {

struct Stretch {
  std::size_t block = 0, begin = 0, end = 0;  // instructions [begin, end); the phis stand before, the terminator behind
};

std::optional<Stretch> any_stretch(Workshop& w, std::size_t longest) {
  const std::size_t b = w.random.below(static_cast<std::uint32_t>(w.program.blocks.size()));
  const auto& insts = w.program.blocks[b].insts;
  std::size_t first = 0;
  while (insts[first].inst.is_phi()) ++first;
  if (first + 1 >= insts.size()) return std::nullopt;
  const std::size_t begin = first + w.random.below(static_cast<std::uint32_t>(insts.size() - 1 - first));
  const std::size_t most = std::min(longest, insts.size() - 1 - begin);
  return Stretch{b, begin, begin + 1 + w.random.below(static_cast<std::uint32_t>(most))};
}

bool is_inside(PReg inner, PReg outer) {
  return inner.file == outer.file && outer.begin() <= inner.begin() && inner.end() <= outer.end();
}
bool is_register(const Operand& op) { return op.is_preg() && op.role != Role::Clobber; }
EditInst spill_of(PReg r, ir::SlotId slot) { return make_spill(Operand::of_preg(Role::Use, r), slot); }
EditInst refill_of(PReg r, ir::SlotId slot) { return make_refill(Operand::of_preg(Role::Use, r), slot); }
ir::SlotId slot_for(Workshop& w, PReg r) { return add_slot(w.program, MemSpace::Local, bytes_of(Operand::of_preg(Role::Use, r))); }

// `a` for `b` and `b` for `a` in the stretch. Requires may_exchange().
void exchange(Workshop& w, const Stretch& s, PReg a, PReg b) {
  for (std::size_t k = s.begin; k < s.end; ++k)
    for (Operand& op : w.program.blocks[s.block].insts[k].ops) {
      if (!is_register(op)) continue;
      const bool of_a = is_inside(op.preg(), a);
      if (!of_a && !is_inside(op.preg(), b)) continue;
      const int shift = of_a ? b.first - a.first : a.first - b.first;
      op.set_preg({a.file, op.preg().count, static_cast<std::uint16_t>(op.preg().first + shift)});
    }
}
// Whether every operand of the stretch that touches one of the two is inside it and free to stand elsewhere.
bool may_exchange(const Workshop& w, const Stretch& s, PReg a, PReg b) {
  for (std::size_t k = s.begin; k < s.end; ++k) {
    const EditInst& i = w.program.blocks[s.block].insts[k];
    for (std::size_t n = 0; n < i.ops.size(); ++n) {
      const Operand& op = i.ops[n];
      if (!op.is_preg() || (!op.preg().overlaps(a) && !op.preg().overlaps(b))) continue;
      if (op.role == Role::Clobber || (!is_inside(op.preg(), a) && !is_inside(op.preg(), b)) || w.is_pinned(i, n)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Patterned> move_stretch(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  bool any = false;
  for (int tries = random.between(2, 8); tries > 0; --tries) {
    const auto s = any_stretch(w, 24);
    if (!s) continue;
    std::vector<PReg> tuples;
    for (std::size_t k = s->begin; k < s->end; ++k)
      for (const Operand& op : w.program.blocks[s->block].insts[k].ops)
        if (is_register(op) && !w.is_architectural(op.preg())) tuples.push_back(op.preg());
    const auto a = pick(tuples, random);
    if (!a) continue;
    const int align = w.widest_alignment();
    const auto kind = random.below(3);
    const bool saves = kind == 2 && w.program.header.kind == ir::FunctionKind::Device;
    const auto b = kind == 0 ? pick(tuples, random)
                             : w.take(a->file, a->count, 1, saves ? Workshop::Kind::CalleeSaved : Workshop::Kind::CallerSaved);
    if (!b || b->file != a->file || b->count != a->count || b->overlaps(*a) || (b->first - a->first) % align != 0 ||
        !w.is_allocatable(*b) || (saves && !w.fits_memory(*b)) || !may_exchange(w, *s, *a, *b))
      continue;
    exchange(w, *s, *a, *b);
    std::vector<EditInst> before, after;
    if (kind == 0) {
      before = {make_swap(*a, *b)};
      after = {make_swap(*a, *b)};
    } else {
      const bool in_memory = random.chance(30) && w.fits_memory(*a) && w.fits_memory(*b);
      const ir::SlotId slot = in_memory ? slot_for(w, *a) : ir::SlotId(), saved = saves ? slot_for(w, *b) : ir::SlotId();
      if (saves) before.push_back(spill_of(*b, saved));
      if (in_memory) {
        before.insert(before.end(), {spill_of(*a, slot), refill_of(*b, slot)});
        after = {spill_of(*b, slot), refill_of(*a, slot)};
      } else {
        before.push_back(make_copy(*b, *a));
        after = {make_copy(*a, *b)};
      }
      if (random.chance(40))
        if (const auto other = pick(tuples, random);
            other && other->file == a->file && other->count == a->count && !other->overlaps(*a) && !other->overlaps(*b))
          before.push_back(make_copy(*a, *other));  // no instruction of the stretch reads it
      if (saves) after.push_back(refill_of(*b, saved));
    }
    auto& insts = w.program.blocks[s->block].insts;
    insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(s->end), after.begin(), after.end());
    insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(s->begin), before.begin(), before.end());
    any = true;
  }
  return any ? std::optional(w.finish()) : std::nullopt;
}

// --- values in two places -------------------------------------------------------------------------------------------

namespace {

struct Twins {
  PReg a, b;  // hold the same bytes
};

// The registers that the instruction leaves equal: the pairs of a copy, the pieces of a pack and an unpack; whole units only.
std::vector<Twins> twins_of(const Workshop& w, const EditInst& i) {
  std::vector<Twins> result;
  if (has_guard(i) || i.inst.is_deleted()) return result;
  const auto is_whole = [&](std::size_t k) {
    if (!is_register(i.ops[k]) || !i.ops[k].part.is_whole()) return false;
    const ir::Inst* inst = w.original(i);
    if (inst == nullptr) return true;
    const Operand& op = w.subject.before.operands_of(*inst)[k];
    const ir::Storage s = w.subject.before.storage(op);
    const PReg r = i.ops[k].preg();
    return ir::is_predicate(r.file) || s.size == r.count * ir::unit_bytes(r.file);
  };
  const std::size_t defs = pairs_of(i);
  if (i.inst.is_copy()) {
    for (std::size_t k = 0; k < defs; ++k)
      if (is_whole(k) && is_whole(defs + k)) result.push_back({i.ops[k].preg(), i.ops[defs + k].preg()});
  } else if (ir::moves_pieces(i.inst.op)) {
    const bool packs = i.inst.op == Op::Pack;
    const std::size_t whole = packs ? 0 : defs;
    if (!is_whole(whole)) return result;
    int unit = i.ops[whole].preg().first;
    for (std::size_t k = packs ? 1 : 0; k < (packs ? i.ops.size() : defs); ++k) {
      if (!is_whole(k)) break;
      const PReg r = i.ops[k].preg();
      result.push_back({r, {i.ops[whole].preg().file, r.count, static_cast<std::uint16_t>(unit)}});
      unit += r.count;
    }
  }
  // A def may have destroyed a source.
  std::erase_if(result, [&](const Twins& t) {
    const PReg source = i.inst.op == Op::Pack ? t.a : t.b;
    return t.a.file != t.b.file || t.a.overlaps(t.b) || writes(i, source) || w.is_architectural(t.a) || w.is_architectural(t.b);
  });
  return result;
}

// Reads of `from` become reads of `to`, where all of the instruction can.
bool read_instead(const Workshop& w, EditInst& i, PReg from, PReg to) {
  const ir::Inst* inst = w.original(i);
  if (inst == nullptr || i.inst.op == Op::Ret || i.inst.is_phi() || inst->op != i.inst.op) return false;
  const auto ops = w.subject.before.operands_of(*inst);
  bool any = false;
  for (std::size_t k = 0; k < i.ops.size(); ++k) {
    const Operand& op = i.ops[k];
    if (!op.is_preg()) continue;
    if (op.writes() && (op.preg().overlaps(from) || op.preg().overlaps(to))) return false;
    if (op.role == Role::Clobber || !op.reads() || !op.preg().overlaps(from)) continue;
    const ir::VReg& root = w.subject.before.vreg(w.subject.before.root(ops[k].vreg()));
    if (op.preg() != from || w.is_pinned(i, k) || to.first % root.alignment() != 0) return false;
    any = true;
  }
  if (!any) return false;
  for (Operand& op : i.ops)
    if (op.is_preg() && op.reads() && op.preg() == from) op.set_preg(to);
  return true;
}

}  // namespace

std::optional<Patterned> read_twins(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  std::vector<PReg> spare;  // for copies of our own
  bool any = false;
  std::size_t block = 0;
  std::vector<Twins> known;
  w.rewrite([&](std::size_t b, std::size_t, EditInst i, std::vector<EditInst>& out) {
    if (b != block) known.clear();
    block = b;
    const bool is_place = !i.inst.is_phi();
    for (std::size_t k = 0; is_place && k < i.ops.size(); ++k) {
      const Operand& op = i.ops[k];
      if (!is_register(op) || !op.reads() || w.is_architectural(op.preg()) || !random.chance(8)) continue;
      if (spare.size() < 4)
        if (const auto r = w.take(op.preg().file, op.preg().count, w.widest_alignment())) spare.push_back(*r);
      for (const PReg r : spare) {
        if (r.file != op.preg().file || r.count != op.preg().count || !random.chance(60)) continue;
        std::erase_if(known, [&](const Twins& t) { return t.a.overlaps(r) || t.b.overlaps(r); });
        out.push_back(make_copy(r, op.preg()));
        known.push_back({op.preg(), r});
      }
    }
    for (const Twins& t : known)
      if (is_place && random.chance(60))
        any = (random.chance(50) ? read_instead(w, i, t.a, t.b) : read_instead(w, i, t.b, t.a)) || any;
    std::erase_if(known, [&](const Twins& t) { return writes(i, t.a) || writes(i, t.b); });
    for (const Twins& t : twins_of(w, i))
      if (w.is_allocatable(t.a) && w.is_allocatable(t.b) && !w.is_preserved(t.a) && !w.is_preserved(t.b)) known.push_back(t);
    out.push_back(std::move(i));
  });
  return any ? std::optional(w.finish()) : std::nullopt;
}

// --- guards ---------------------------------------------------------------------------------------------------------

std::optional<Patterned> guarded_accesses(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  std::vector<PReg> predicates, seen;
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (is_register(op)) (ir::is_predicate(op.preg().file) ? predicates : seen).push_back(op.preg());
  int done = 0;
  w.rewrite([&](std::size_t, std::size_t, EditInst i, std::vector<EditInst>& out) {
    std::vector<PReg> sources;
    for (const Operand& op : i.ops)
      if (is_register(op) && op.reads() && !ir::is_predicate(op.preg().file) && !w.is_architectural(op.preg()) &&
          w.fits_memory(op.preg()))
        sources.push_back(op.preg());
    const auto source = pick(sources, random);
    if (!source || i.inst.is_phi() || done >= 8 || !random.chance(15)) return out.push_back(std::move(i));
    const Operand* own = ir::guard_of(i.ops);
    const bool by_own = own != nullptr && !writes(i, own->preg()) && random.chance(70);
    const auto other = pick(predicates, random);
    if (!by_own && !other) return out.push_back(std::move(i));
    ++done;
    const Operand holds = by_own ? *own : Operand::of_preg(Role::Guard, *other);
    Operand fails = holds;
    fails.flags ^= ir::kNegated;
    const auto under = [](EditInst inst, const Operand& guard) {
      inst.ops.push_back(guard);
      return inst;
    };
    const ir::SlotId slot = slot_for(w, *source);
    if (random.chance(50)) {
      out.push_back(spill_of(*source, slot));
    } else {
      out.push_back(under(spill_of(*source, slot), holds));
      out.push_back(under(spill_of(*source, slot), fails));
    }
    if (const auto junk = pick(seen, random);
        junk && junk->file == source->file && junk->count == source->count && !junk->overlaps(*source))
      out.push_back(make_copy(*source, *junk));
    out.push_back(under(refill_of(*source, slot), holds));
    if (!by_own) out.push_back(under(refill_of(*source, slot), fails));
    out.push_back(std::move(i));
    if (by_own)
      out.push_back(
          under(refill_of(*source, slot), fails));  // the bytes that the instruction leaves as they were under a false guard
  });
  return done > 0 ? std::optional(w.finish()) : std::nullopt;
}

// --- edges ----------------------------------------------------------------------------------------------------------

std::optional<Patterned> chain_edge_blocks(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  std::vector<PReg> tuples;
  for (const EditBlock& b : w.program.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (is_register(op) && !w.is_architectural(op.preg())) tuples.push_back(op.preg());
  const auto blocks = static_cast<std::uint32_t>(w.program.blocks.size());
  int done = 0;
  for (int tries = random.between(1, 8); tries > 0; --tries) {
    const ir::BlockId from(random.below(blocks + static_cast<std::uint32_t>(done)));
    EditBlock& source = w.program.blocks[from.index()];
    const auto to = pick(source.insts.back().targets, random);
    if (!to) continue;
    const EditBlock& target = w.program.blocks[to->index()];
    EditBlock edge;
    const ir::Block &at_source = source.attributes, &at_target = target.attributes;
    edge.attributes.edge_from = at_source.is_edge_block() ? at_source.edge_from : from;
    edge.attributes.edge_to = at_source.is_edge_block() ? at_source.edge_to : at_target.is_edge_block() ? at_target.edge_to : *to;
    const auto a = pick(tuples, random), b = pick(tuples, random);
    if (a && random.chance(60) && w.fits_memory(*a)) {
      const bool swaps = b->file == a->file && b->count == a->count && !b->overlaps(*a) && random.chance(60);
      const ir::SlotId slot = swaps ? ir::SlotId() : slot_for(w, *a);
      edge.insts.push_back(swaps ? make_swap(*a, *b) : spill_of(*a, slot));
      if (!swaps && b->file == a->file && b->count == a->count && !b->overlaps(*a)) edge.insts.push_back(make_copy(*a, *b));
      edge.insts.push_back(swaps ? make_swap(*a, *b) : refill_of(*a, slot));
    }
    const ir::BlockId own(static_cast<std::uint32_t>(w.program.blocks.size()));
    EditInst bra = inserted(Op::Bra, {});
    bra.targets = {*to};
    edge.insts.push_back(std::move(bra));
    // A kept phi names the last edge block.
    if (source.attributes.is_edge_block())
      for (EditInst& phi : w.program.blocks[to->index()].insts)
        if (phi.inst.is_phi()) std::replace(phi.targets.begin(), phi.targets.end(), from, own);
    auto& targets = source.insts.back().targets;
    std::replace(targets.begin(), targets.end(), *to, own);
    w.program.blocks.push_back(std::move(edge));
    ++done;
  }
  return done > 0 ? std::optional(w.finish()) : std::nullopt;
}

std::optional<Patterned> keep_phis(const Subject& subject, Random& random) {
  Workshop w(subject, random);
  bool any = false;
  for (EditBlock& b : w.program.blocks) {
    std::vector<PReg> homes, written;
    for (const EditInst& i : b.insts)
      if (i.inst.is_phi() && !i.inst.is_deleted()) homes.push_back(i.ops[0].preg());
    for (EditInst& phi : b.insts) {
      if (phi.inst.op != Op::Phi || !phi.inst.is_deleted() || !random.chance(70)) continue;
      const auto known = std::find_if(subject.before.insts.begin(), subject.before.insts.end(),
                                      [&](const ir::Inst& o) { return o.id == phi.inst.id; });
      const auto ops = subject.before.operands_of(*known);
      const ir::VRegId root = subject.before.root(ops[0].vreg());
      // The first operation of the block that reads the value, of a register that nothing before it writes.
      std::optional<PReg> home;
      written.clear();
      for (const EditInst& i : b.insts) {
        const ir::Inst* inst = i.inst.is_inserted() ? nullptr : w.original(i);
        if (inst != nullptr && inst->op == i.inst.op && !i.inst.is_phi() && !has_guard(i)) {
          const auto before = subject.before.operands_of(*inst);
          for (std::size_t k = 0; k < before.size() && !home; ++k)
            if (before[k].is_vreg() && before[k].role == Role::Use && subject.before.root(before[k].vreg()) == root)
              home = i.ops[k].preg();
        }
        if (home || i.inst.is_terminator()) break;
        for (const Operand& op : i.ops)
          if (op.is_preg() && (op.writes() || op.role == Role::Clobber)) written.push_back(op.preg());
        if (inst != nullptr && std::any_of(i.ops.begin(), i.ops.end(), [](const Operand& op) { return op.writes(); })) {
          const auto before = subject.before.operands_of(*inst);
          if (std::any_of(before.begin(), before.end(),
                          [&](const Operand& op) { return op.is_vreg() && op.writes() && subject.before.root(op.vreg()) == root; }))
            break;  // another value of it from here on
        }
      }
      const auto is_in_the_way = [&](PReg r) { return home->overlaps(r); };
      if (!home || std::any_of(written.begin(), written.end(), is_in_the_way) ||
          std::any_of(homes.begin(), homes.end(), is_in_the_way))
        continue;
      const bool fits = std::all_of(ops.begin(), ops.end(), [&](const Operand& op) {
        const ir::VReg& v = subject.before.vreg(subject.before.root(op.vreg()));
        return op.part.is_whole() && !subject.before.vreg(op.vreg()).alias.is_valid() && !subject.before.fixed_of(op).is_valid() &&
               home->first % v.alignment() == 0 && v.units() == home->count && v.file() == home->file;
      });
      if (!fits) continue;
      phi.inst.flags = static_cast<std::uint16_t>(phi.inst.flags & ~ir::kDeleted);
      for (const Operand& op : ops) phi.ops.push_back(Operand::of_preg(op.role, *home));
      const auto targets = subject.before.targets_of(*known);
      phi.targets.assign(targets.begin(), targets.end());
      homes.push_back(*home);
      any = true;
    }
  }
  return any ? std::optional(w.finish()) : std::nullopt;
}

}  // namespace regduel::trial
