// See edge_copies.h.

#include "allocator/spill_code/edge_copies.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// The pairs of one edge copy. The methods are the steps of edge_copies.h, in their order.
class EdgeGroup {
 public:
  EdgeGroup(SpillCodeWriter& writer, const Inst& inst) : w_(writer) {
    find_pairs(inst);
    find_hazards();
    std::erase_if(moves_, [&](const Move& m) { return is_in_one_bit(m.d, m.s); });
  }

  void write() {
    copy_packs();
    save_in_shadow_slots();
    pair_registers();
    store();
    w_.copy(pairs_);
    refill();
    store_from_shadow_slots();
  }

 private:
  struct Move {
    VRegId d, s;  // destination and source
    ByteMask d_bytes = 0, s_bytes = 0;
    bool is_whole = false;
    bool is_hazard = false;
    VRegId pack;  // of a source in a pack: that pack, or its copy
  };

  // The pairs whose destination is live afterwards. A copy between registers alone stays as it is.
  void find_pairs(const Inst& inst) {
    const auto ops = w_.in().operands_of(inst);
    const std::size_t n = ops.size() / 2;
    for (std::size_t k = 0; k < n; ++k) {
      const Operand &d = ops[k], &s = ops[n + k];
      Move m{.d = d.vreg(), .s = s.vreg(), .d_bytes = bytes_of(w_.in(), d), .s_bytes = bytes_of(w_.in(), s), .pack = {}};
      if ((w_.live().live_after(inst.first_operand + k) & m.d_bytes) == 0) continue;
      if (w_.is_packed(m.s)) m.pack = w_.pack_of(m.s);
      m.is_whole = m.d_bytes == w_.all_bytes(m.d) && m.s_bytes == w_.all_bytes(m.s);
      moves_.push_back(m);
    }
    const bool is_kept = n > 0 && moves_.size() == n && std::none_of(moves_.begin(), moves_.end(), [&](const Move& m) {
                           return w_.is_spilled(m.d) || w_.is_spilled(m.s);
                         });
    if (is_kept) w_.mark_in_place();
    else
      for (const Operand& op : ops) w_.mark_changed(op.vreg());
  }

  void find_hazards() {
    if (REGDUEL_PLANTED("fatpoint-edge-slots-overwritten")) return;
    for (Move& m : moves_)
      m.is_hazard = std::any_of(moves_.begin(), moves_.end(),
                                [&](const Move& o) { return &o != &m && (is_in_one_slot(o.d, m.s) || is_in_one_slot(o.s, m.d)); });
  }

  // Step 0.
  void copy_packs() {
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      const VRegId s = moves_[k].s, pack = moves_[k].pack;
      if (!w_.is_packed(s) || pack != w_.pack_of(s)) continue;  // a copy is made once
      if (std::none_of(moves_.begin(), moves_.end(), [&](const Move& o) { return is_in_one_bit(o.d, s); })) continue;
      const VRegId copied = w_.new_temp(pack, 0, {});
      w_.out().pack_of.emplace_back(copied, pack);
      const SpillCodeWriter::Pair pair[] = {
          {w_.reg(Role::Def, copied, w_.all_bytes(copied)), w_.reg(Role::Use, pack, w_.all_bytes(pack))}};
      w_.copy(pair);
      for (Move& o : moves_)
        if (o.pack == pack) o.pack = copied;
    }
  }

  // Step 1.
  void save_in_shadow_slots() {
    for (const Move& m : moves_) {
      if (!reads_slot_of_hazard(m) || !w_.is_spilled(m.d)) continue;
      const VRegId t = in_register(m);
      if (w_.is_packed(m.d)) {
        put(t, m.s_bytes, m);
        continue;
      }
      to_slot(t, m.s_bytes, w_.shadow_slot_of(m.d), m);
      shadowed_.push_back(m);
    }
  }

  // Step 2, and which register pairs are left to steps 4 and 5.
  void pair_registers() {
    for (const Move& m : moves_) {
      if (w_.is_spilled(m.d)) continue;
      const bool is_early = reads_slot_of_hazard(m) || (w_.is_spilled(m.s) && w_.is_recomputed(m.s));
      if (w_.is_spilled(m.s) && !is_early) {
        late_.push_back(m);
        continue;
      }
      const VRegId s = is_early ? in_register(m) : m.s;
      pairs_.push_back({exact(Role::Def, m.d, m.d_bytes, m), exact(Role::Use, s, m.s_bytes, m)});
    }
  }

  // Step 3.
  void store() {
    for (const Move& m : moves_)
      if (w_.is_spilled(m.d) && !reads_slot_of_hazard(m)) put(w_.is_spilled(m.s) ? in_register(m) : m.s, m.s_bytes, m);
  }

  // Step 5.
  void refill() {
    for (const Move& m : late_) load(m.d, m.d_bytes, m);
  }

  // Step 6.
  void store_from_shadow_slots() {
    for (const Move& m : shadowed_) {
      const VRegId t = w_.new_temp(m.d, w_.in().vreg(m.d).align_log2, {});
      from_slot(t, m.d_bytes, w_.shadow_slot_of(m.d), offset(m.d_bytes), m);
      put(t, m.d_bytes, m);
    }
  }

  [[nodiscard]] bool is_in_slot(VRegId v) const { return w_.is_spilled(v) && !w_.is_recomputed(v) && !w_.is_packed(v); }
  [[nodiscard]] bool is_in_one_slot(VRegId v, VRegId w) const {
    return is_in_slot(v) && is_in_slot(w) && w_.plan().slot_owner(v) == w_.plan().slot_owner(w);
  }
  [[nodiscard]] bool is_in_one_bit(VRegId v, VRegId w) const {
    return w_.is_packed(v) && w_.plan().location[v.index()] == w_.plan().location[w.index()];
  }
  [[nodiscard]] bool reads_slot_of_hazard(const Move& m) const { return m.is_hazard && is_in_slot(m.s); }
  static std::uint32_t offset(ByteMask bytes) { return static_cast<std::uint32_t>(std::countr_zero(bytes)); }

  // A register operand of exactly the bytes moved. The operand of a piece of a narrow vreg says so.
  [[nodiscard]] Operand exact(Role role, VRegId v, ByteMask bytes, const Move& m) const {
    Operand op = w_.reg(role, v, bytes);
    if (!m.is_whole && op.part.is_whole() && std::popcount(bytes) < 4 && !ir::is_predicate(w_.out().f.vreg(v).file()))
      op.part = *ir::Part::from_bytes(0, std::popcount(bytes));
    return op;
  }
  void from_slot(VRegId t, ByteMask t_bytes, SlotId slot, std::uint32_t at, const Move& m) {
    w_.from_slot(exact(Role::Def, t, t_bytes, m), slot, at);
  }
  void to_slot(VRegId t, ByteMask t_bytes, SlotId slot, const Move& m) {
    w_.to_slot(exact(Role::Use, t, t_bytes, m), slot, offset(m.d_bytes));
  }
  // The source's value to register `t`.
  void load(VRegId t, ByteMask t_bytes, const Move& m) {
    if (w_.is_recomputed(m.s)) w_.refill(t, w_.all_bytes(t), m.s);
    else if (w_.is_packed(m.s)) w_.take_out_of_pack(t, m.pack, m.s);
    else from_slot(t, t_bytes, w_.slot_of(m.s), offset(m.s_bytes), m);
  }
  // Register `t` to the destination, which is spilled.
  void put(VRegId t, ByteMask t_bytes, const Move& m) {
    if (w_.is_packed(m.d)) w_.put_into_pack(t, m.d, read_point(w_.live().number_of(w_.current())));
    else to_slot(t, t_bytes, w_.slot_of(m.d), m);
  }
  // The source's value in a temporary of its shape.
  [[nodiscard]] VRegId in_register(const Move& m) {
    const VRegId t = w_.new_temp(m.s, w_.in().vreg(m.s).align_log2, {});
    load(t, m.s_bytes, m);
    return t;
  }

  SpillCodeWriter& w_;
  std::vector<Move> moves_;
  std::vector<Move> shadowed_;                // destinations that step 6 writes
  std::vector<SpillCodeWriter::Pair> pairs_;  // of step 4
  std::vector<Move> late_;                    // of step 5
};

}  // namespace

void write_edge_copies(SpillCodeWriter& writer, const Inst& inst) { EdgeGroup(writer, inst).write(); }

}  // namespace regduel::allocator
