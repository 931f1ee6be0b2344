// What insert_spill_code.cpp and edge_copies.cpp share while they write spill code. Internal to these two.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/instruction/items.h"
#include "allocator/spill/insert_spill_code.h"
#include "allocator/spill/refill_reuse.h"

namespace regduel::allocator {

class SpillCodeInserter {
 public:
  SpillCodeInserter(const ir::Function& in, const ir::Cfg& cfg, const Liveness& live, const Plan& plan, const Budget& budget);
  SpillCode run();

 private:
  struct Pair {
    ir::Operand def, use;
  };
  // Where one item stands.
  struct Work {
    ir::VRegId vreg;
    std::size_t leader = 0;  // the item whose temporary it shares: itself, or one of the same root in the same home
    ByteMask before = 0;     // bytes that must be there before the instruction
    ir::VRegId waiting;      // a refill from before that holds what this temporary needs
    bool is_temp = false;    // not (yet) in the vreg's own register
    bool is_home = false;    // a tied def that stands in its own vreg
    bool is_loaded = false;  // a refill from before still holds it
    bool may_wait = false;   // its value may stay for later uses
  };

  void append(const ir::Inst& inst, std::span<const ir::Operand> ops, std::span<const ir::BlockId> targets = {});
  void insert(ir::Op op, std::span<const ir::Operand> ops);
  [[nodiscard]] ir::VRegId new_temp(ir::VRegId like, int align_log2, ir::PReg fixed);
  [[nodiscard]] ByteMask all_bytes(ir::VRegId v) const;
  [[nodiscard]] ir::Operand reg(ir::Role role, ir::VRegId v, ByteMask bytes) const;
  [[nodiscard]] ByteMask cover(ir::VRegId v, ByteMask bytes) const;
  [[nodiscard]] bool is_piece(ir::VRegId v, ByteMask bytes) const;
  [[nodiscard]] bool is_spilled(ir::VRegId v) const { return plan_.is_spilled(v); }
  [[nodiscard]] bool is_packed(ir::VRegId v) const { return plan_.is_packed(v); }
  [[nodiscard]] ir::VRegId pack_of(ir::VRegId root) const { return plan_.packs[plan_.location[root.index()].pack()].vreg; }
  [[nodiscard]] bool is_recomputed(ir::VRegId v) const { return plan_.location[v.index()].is_recomputed(); }
  [[nodiscard]] bool is_bound(const ir::Operand& op) const;
  [[nodiscard]] bool is_pinned() const { return !plan_.pinned[current_].empty(); }
  [[nodiscard]] bool may_wait() const { return plan_.reuse.barred_insts[current_] == 0; }
  [[nodiscard]] const SpillWay& way(ir::VRegId root) const { return kSpillWays[ir::index(in_.vreg(root).file())]; }
  [[nodiscard]] ir::SlotId slot_in(std::vector<ir::SlotId>& table, ir::VRegId root);
  [[nodiscard]] ir::SlotId slot_of(ir::VRegId root) { return slot_in(slot_, root); }
  void refill(ir::VRegId t, ByteMask bytes, ir::VRegId root);
  void remat(ir::VRegId t, std::uint32_t inst);
  void store(ir::VRegId t, ByteMask bytes, ir::VRegId root);
  void put_into_pack(ir::VRegId t, ir::VRegId root, Point from);
  void take_out_of_pack(ir::VRegId t, ir::VRegId pack, ir::VRegId root);
  void copy(const std::vector<Pair>& pairs);

  [[nodiscard]] bool is_plain(const ir::Inst& inst) const;
  void instruction(const ir::Inst& inst);
  [[nodiscard]] ByteMask needed_bytes(const ir::Inst& inst, std::size_t k) const;
  void take_what_waits(const ir::Inst& inst);
  void choose(const ir::Inst& inst, std::size_t k);
  void find_needed_before(const ir::Inst& inst);
  void load_temporaries();
  void rewritten(const ir::Inst& inst, std::span<const ir::Operand> ops);
  void write_back(const ir::Inst& inst, std::size_t k);
  void deleted(const ir::Inst& inst);
  [[nodiscard]] bool original_copy(const ir::Inst& inst);
  void edge_copy(const ir::Inst& inst);
  [[nodiscard]] bool is_between_pieces(const ir::Inst& inst) const;
  void copy_between_pieces(const ir::Inst& inst);

  const ir::Function& in_;
  const ir::Cfg& cfg_;
  const Liveness& live_;
  const Plan& plan_;
  RefillReuse reuse_;
  SpillCode out_;
  std::uint32_t current_ = 0;              // index of the instruction at hand
  std::vector<ir::SlotId> slot_, shadow_;  // by vreg; empty before the first
  Items items_;
  std::vector<Work> works_;
  std::vector<Pair> pre_copies_, post_copies_;
  std::vector<ir::Operand> ops_, rewritten_;
  std::vector<ByteMask> pieces_;
  struct Refilled {
    ir::VRegId root, temp;
    ByteMask bytes;
    bool may_wait;
  };
  std::vector<Refilled> refilled_;  // before the instruction at hand
};

}  // namespace regduel::allocator
