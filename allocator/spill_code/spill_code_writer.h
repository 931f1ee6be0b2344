// Writes a program with spill code, instruction by instruction: originals, moves to and from memory, copies, temporaries.
//
// insert_spill_code.cpp decides about each instruction and edge_copies.cpp about each group of phi copies; both write by these
// verbs. An inserted instruction serves the original instruction at hand (begin_instruction). Tested by insert_spill_code_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "allocator/spill_code/plan.h"
#include "allocator/spill_code/spill_code.h"

namespace regduel::allocator {

class SpillCodeWriter {
 public:
  // One pair of a parallel copy.
  struct Pair {
    ir::Operand def, use;
  };

  // All outlive the writer.
  //   through_r   registers of other files than R go to memory, and come from there, through registers of R (ir::Abi)
  SpillCodeWriter(const ir::Function& in, const Liveness& live, const Plan& plan, bool through_r);

  [[nodiscard]] const ir::Function& in() const { return in_; }
  [[nodiscard]] const Liveness& live() const { return live_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] SpillCode& out() { return out_; }

  [[nodiscard]] bool is_spilled(ir::VRegId v) const { return plan_.is_spilled(v); }
  [[nodiscard]] bool is_packed(ir::VRegId v) const { return plan_.is_packed(v); }
  [[nodiscard]] bool is_recomputed(ir::VRegId v) const { return plan_.location[v.index()].is_recomputed(); }
  [[nodiscard]] ir::VRegId pack_of(ir::VRegId root) const { return plan_.packs[plan_.location[root.index()].pack()].vreg; }
  [[nodiscard]] ir::SlotId slot_of(ir::VRegId root) { return slot_in(slot_, root); }
  // A second slot of the same shape, for edge copies that read and write the first.
  [[nodiscard]] ir::SlotId shadow_slot_of(ir::VRegId root) { return slot_in(shadow_, root); }

  [[nodiscard]] ByteMask all_bytes(ir::VRegId v) const { return byte_mask(0, out_.f.vreg(v).bytes()); }
  // The operand for these bytes of a vreg. Requires is_piece().
  [[nodiscard]] ir::Operand reg(ir::Role role, ir::VRegId v, ByteMask bytes) const;
  // The smallest aligned piece of at least a word that covers `bytes`; all bytes if no piece does.
  [[nodiscard]] ByteMask cover(ir::VRegId v, ByteMask bytes) const;
  [[nodiscard]] bool is_piece(ir::VRegId v, ByteMask bytes) const;

  //   index   of the instruction of in() that is at hand from here on
  void begin_instruction(std::uint32_t index) { current_ = index; }
  [[nodiscard]] std::uint32_t current() const { return current_; }
  void mark_changed(ir::VRegId v) { out_.is_changed[v.index()] = 1; }
  // The instruction at hand stands at the end of the program now.
  void mark_in_place() { out_.now_at[current_] = static_cast<std::uint32_t>(out_.f.insts.size()); }

  void append(const ir::Inst& inst, std::span<const ir::Operand> ops, std::span<const ir::BlockId> targets = {});
  void insert(ir::Op op, std::span<const ir::Operand> ops);
  // A temporary of the shape of `like`.
  //   fixed   its register, invalid = any
  [[nodiscard]] ir::VRegId new_temp(ir::VRegId like, int align_log2, ir::PReg fixed);
  // The value of `root`, which is spilled, to register `t`, by a refill, a bit_refill or remats.
  void refill(ir::VRegId t, ByteMask bytes, ir::VRegId root);
  // These bytes of a register from a slot, and to it: by a refill or a spill, and by what goes between where the way is through R.
  void from_slot(ir::Operand def, ir::SlotId slot, std::uint32_t at);
  void to_slot(ir::Operand use, ir::SlotId slot, std::uint32_t at);
  // Whether a spill or a refill may name a register of this file.
  [[nodiscard]] bool is_stored(ir::RegFile file) const { return !through_r_ || file == ir::RegFile::R; }
  // The value in `t` to the slot or bit of `root`.
  void store(ir::VRegId t, ByteMask bytes, ir::VRegId root);
  //   from   predicates that live from there to the end of the instruction keep their bits
  void put_into_pack(ir::VRegId t, ir::VRegId root, Point from);
  //   pack   that of the predicate `root`, or a copy of that pack
  void take_out_of_pack(ir::VRegId t, ir::VRegId pack, ir::VRegId root);
  // One parallel copy; nothing if there are no pairs.
  void copy(std::span<const Pair> pairs);

 protected:
  const ir::Function& in_;
  const Liveness& live_;
  const Plan& plan_;
  SpillCode out_;

 private:
  [[nodiscard]] ir::SlotId slot_in(std::vector<ir::SlotId>& table, ir::VRegId root);
  // To these bytes of `t`: the lowest ones.
  void remat(ir::VRegId t, ByteMask bytes, std::uint32_t inst);
  // A register of R on the way to memory or from there.
  [[nodiscard]] ir::VRegId word(int bytes);
  // The same for a piece of a register, as an operand without a role.
  [[nodiscard]] ir::Operand word_of(const ir::Operand& piece);
  // The same for a predicate, which is one bit of it.
  [[nodiscard]] ir::VRegId pack_of_one();
  // Calls visit(operand, at) for each word of the operand's bytes.
  template <class Visit>
  void each_word(ir::Operand op, std::uint32_t at, Visit visit) const;

  bool through_r_;
  std::uint32_t current_ = 0;
  std::vector<ir::SlotId> slot_, shadow_;  // by vreg; empty before the first
  ir::VRegId first_of_one_;                // of the packs of one predicate, which number their bit alike
  std::vector<ir::Operand> ops_;
};

}  // namespace regduel::allocator
