// Edge copies under a plan: the parallel copies that replace phis, of which some sources and destinations are in memory.
//
// Let a pair be (destination <- source), each in a register (r), in a slot or in a bit of a pack (m). In this order:
//
//   0  a pack of which the group reads and writes one bit is copied, and such bits are read from the copy
//   1  m <- m where a slot of the group is both read and written: source to the destination's shadow slot, or at once to its bit
//   2  r <- m in that case: source to a temporary, which then counts as r
//   3  m <- r, and the other m <- m: spill stores
//   4  r <- r: one parallel copy
//   5  the other r <- m: refills
//   6  from shadow slots to destinations
//
// A bit that is read and written asks for neither 1 nor 2: what reads it does not see it change.
// Stores come before the parallel copy overwrites their sources, refills after it has read what they overwrite.

#include <algorithm>

#include "allocator/spill/spill_code_inserter.h"
#include "base/planted.h"

namespace regduel::allocator {

using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

void SpillCodeInserter::edge_copy(const Inst& inst) {
  reuse_.forget_all();
  const auto ops = in_.operands_of(inst);
  const std::size_t n = ops.size() / 2;
  struct Move {
    VRegId d, s;
    ByteMask d_bytes, s_bytes;
    bool whole;
    bool hazard;
    VRegId pack;  // of a source in a pack: that, or its copy
  };
  std::vector<Move> moves;
  for (std::size_t k = 0; k < n; ++k) {
    Move m{ops[k].vreg(), ops[n + k].vreg(), bytes_of(in_, ops[k]), bytes_of(in_, ops[n + k]), false, false, {}};
    if ((live_.live_after(inst.first_operand + k) & m.d_bytes) == 0) continue;
    if (is_packed(m.s)) m.pack = pack_of(m.s);
    m.whole = m.d_bytes == all_bytes(m.d) && m.s_bytes == all_bytes(m.s);
    moves.push_back(m);
  }
  const bool is_kept = n > 0 && moves.size() == n &&
                       std::none_of(moves.begin(), moves.end(), [&](const Move& m) { return is_spilled(m.d) || is_spilled(m.s); });
  if (is_kept) out_.now_at[current_] = static_cast<std::uint32_t>(out_.f.insts.size());
  else
    for (const Operand& op : ops) out_.is_changed[op.vreg().index()] = 1;
  const auto in_slot = [&](VRegId v) { return is_spilled(v) && !is_recomputed(v) && !is_packed(v); };
  const auto same_slot = [&](VRegId v, VRegId w) { return in_slot(v) && in_slot(w) && plan_.slot_owner(v) == plan_.slot_owner(w); };
  const auto in_one_bit = [&](VRegId a, VRegId b) {
    return is_packed(a) && plan_.location[a.index()] == plan_.location[b.index()];
  };
  for (Move& m : moves) {
    for (const Move& o : moves)
      if (&o != &m && (same_slot(o.d, m.s) || same_slot(o.s, m.d))) m.hazard = true;
    if (REGDUEL_PLANTED("fatpoint-edge-slots-overwritten")) m.hazard = false;
  }
  std::erase_if(moves, [&](const Move& m) { return in_one_bit(m.d, m.s); });
  for (const Move& m : moves) {
    const VRegId pack = m.pack;
    const auto is_written = [&](const Move& o) { return in_one_bit(o.d, m.s); };
    const bool is_copied = is_packed(m.s) && pack != pack_of(m.s);
    if (!is_packed(m.s) || is_copied || std::none_of(moves.begin(), moves.end(), is_written)) continue;
    const VRegId copied = new_temp(pack, 0, {});
    out_.pack_of.emplace_back(copied, pack);
    copy({{reg(Role::Def, copied, all_bytes(copied)), reg(Role::Use, pack, all_bytes(pack))}});
    for (Move& o : moves)
      if (o.pack == pack) o.pack = copied;
  }

  // A register operand of exactly the bytes moved: where only a piece of a narrow vreg is meant it says so.
  const auto exact = [&](Role role, VRegId v, ByteMask bytes, bool whole) {
    Operand op = reg(role, v, bytes);
    if (!whole && op.part.is_whole() && std::popcount(bytes) < 4 && !ir::is_predicate(out_.f.vreg(v).file()))
      op.part = *ir::Part::from_bytes(0, std::popcount(bytes));
    return op;
  };
  const auto offset = [](ByteMask bytes) { return static_cast<std::uint32_t>(std::countr_zero(bytes)); };
  const auto load = [&](VRegId t, ByteMask t_bytes, const Move& m) {
    if (is_recomputed(m.s)) return refill(t, all_bytes(t), m.s);
    if (is_packed(m.s)) return take_out_of_pack(t, m.pack, m.s);
    const Operand l[] = {exact(Role::Def, t, t_bytes, m.whole), Operand::of_slot(slot_of(m.s), offset(m.s_bytes))};
    insert(way(m.s).refill, l);
  };
  const auto save = [&](VRegId t, ByteMask t_bytes, const Move& m) {
    if (is_packed(m.d)) return put_into_pack(t, m.d, read_point(live_.number_of(current_)));
    const Operand s[] = {exact(Role::Use, t, t_bytes, m.whole), Operand::of_slot(slot_of(m.d), offset(m.d_bytes))};
    insert(way(m.d).store, s);
  };
  // From memory to memory by a register of the source's shape.
  const auto by_register = [&](const Move& m) {
    const VRegId t = new_temp(m.s, in_.vreg(m.s).align_log2, {});
    load(t, m.s_bytes, m);
    return t;
  };

  std::vector<Move> shadowed;
  for (const Move& m : moves) {
    if (!m.hazard || !in_slot(m.s) || !is_spilled(m.d)) continue;
    const VRegId t = by_register(m);
    if (is_packed(m.d)) {
      save(t, m.s_bytes, m);
      continue;
    }
    const Operand s[] = {exact(Role::Use, t, m.s_bytes, m.whole), Operand::of_slot(slot_in(shadow_, m.d), offset(m.d_bytes))};
    insert(way(m.d).store, s);
    shadowed.push_back(m);
  }
  std::vector<Pair> pairs;
  std::vector<Move> late;
  for (const Move& m : moves) {
    if (is_spilled(m.d)) continue;
    if (!is_spilled(m.s)) {
      pairs.push_back({exact(Role::Def, m.d, m.d_bytes, m.whole), exact(Role::Use, m.s, m.s_bytes, m.whole)});
    } else if ((m.hazard && in_slot(m.s)) || is_recomputed(m.s)) {
      const VRegId t = by_register(m);
      pairs.push_back({exact(Role::Def, m.d, m.d_bytes, m.whole), exact(Role::Use, t, m.s_bytes, m.whole)});
    } else {
      late.push_back(m);
    }
  }
  for (const Move& m : moves) {
    if (!is_spilled(m.d) || (m.hazard && in_slot(m.s))) continue;
    if (is_spilled(m.s)) save(by_register(m), m.s_bytes, m);
    else save(m.s, m.s_bytes, m);
  }
  copy(pairs);
  for (const Move& m : late) load(m.d, m.d_bytes, m);
  for (const Move& m : shadowed) {
    const VRegId t = new_temp(m.d, in_.vreg(m.d).align_log2, {});
    const Operand l[] = {exact(Role::Def, t, m.d_bytes, m.whole), Operand::of_slot(slot_in(shadow_, m.d), offset(m.d_bytes))};
    insert(way(m.d).refill, l);
    save(t, m.d_bytes, m);
  }
}

}  // namespace regduel::allocator
