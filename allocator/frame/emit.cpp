// See emit.h.

#include "allocator/frame/emit.h"

#include <algorithm>
#include <array>
#include <optional>

#include "allocator/frame/pack_moves.h"
#include "allocator/frame/slot_layout.h"
#include "allocator/frame/wide_accesses.h"
#include "allocator/program/names.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

struct Move {
  Operand def, use;
};

bool same_bytes(const Operand& a, const Operand& b) {
  const ir::FileBytes x = Function::file_bytes(a), y = Function::file_bytes(b);
  return x.file == y.file && x.begin == y.begin && x.end == y.end;
}

class Emitter {
 public:
  explicit Emitter(const EmitInput& input)
      : in_(input), f_(input.lowered.f), pack_moves_(input.lowered, input.homes, input.fuel), out_(input.original.clone_header()),
        next_id_(input.original.next_inst_id().value) {
    out_.phase = ir::Phase::Allocated;
    out_.reserve(f_.insts.size(), f_.operands.size());
    out_.blocks.reserve(f_.blocks.size());
    out_.targets.reserve(f_.targets.size());
  }

  ir::Allocation run() {
    lay_out_slots();
    find_saves();
    out_.local_frame = round_up(out_.local_frame, in_.frame_align);
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    ir::Allocation result{std::move(out_), {}};
    claim(result);
    return result;
  }

 private:
  // Operands of the lowered program name their part; a whole operand is the whole home, even of a narrow vreg.
  [[nodiscard]] PReg home_of(VRegId id) const {
    const ir::VReg& v = f_.vreg(id);
    const int first = in_.homes[id.index()];
    REGDUEL_CHECK(first >= 0, "a vreg without a home");
    return {v.file(), static_cast<std::uint8_t>(v.units()), static_cast<std::uint16_t>(first)};
  }
  void place(std::span<Operand> ops) const {
    for (Operand& op : ops) {
      if (!op.is_vreg()) continue;
      const PReg home = home_of(op.vreg());
      op.kind = ir::OperandKind::PReg;
      op.tied = ir::kNotTied;
      op.set_fixed({});
      op.set_preg(home);
    }
  }

  // A remat of a narrower source writes whole registers of a wider home, and names them alone.
  void name_parts(std::span<Operand> ops) const {
    for (Operand& op : ops) {
      if (!op.is_preg() || op.part.is_whole()) continue;
      const PReg home = op.preg();
      const int unit = ir::unit_bytes(home.file);
      op.set_preg({home.file, static_cast<std::uint8_t>(op.part.size_bytes() / unit),
                   static_cast<std::uint16_t>(home.begin() + op.part.offset_bytes() / unit)});
      op.part = {};
    }
  }

  // A vreg that is narrower than a register moves only its own bytes to memory.
  void narrow(std::span<Operand> ops) const {
    for (Operand& op : ops)
      if (op.is_vreg() && op.part.is_whole() && f_.vreg(op.vreg()).bytes() == slot_bytes(f_.vreg(op.vreg())) &&
          slot_bytes(f_.vreg(op.vreg())) < ir::unit_bytes(f_.vreg(op.vreg()).file()))
        op.part = *ir::Part::from_bytes(0, f_.vreg(op.vreg()).bytes());
  }

  // --- the frame
  void lay_out_slots() {
    if (f_.slots.empty()) return;
    const SlotGroups groups =
        in_.widens ? group_slots(f_, in_.homes, in_.frequency, kSlotsAtOnce, in_.fuel) : SlotGroups::alone(f_.slots);
    layout_ = allocator::lay_out_slots(f_, in_.cfg, groups, in_.lowered.shared_bytes, in_.fuel);
    for (const ir::Slot& s : layout_.slots) out_.add_slot(s);
    out_.local_frame = layout_.local_frame;
    out_.shared_frame = layout_.shared_frame;
  }

  // --- callee-saved registers
  struct Save {
    PReg registers;
    SlotId slot;
  };
  void find_saves() {
    for (const ir::RegFile file : ir::kAllFiles) {
      const UnitSet& callee_saved = in_.budget.callee_saved[ir::index(file)];
      if (callee_saved.none()) continue;
      UnitSet written;
      for (const BlockId b : in_.cfg.reverse_postorder())
        for (const Inst& inst : f_.insts_of(b))
          for (const Operand& op : f_.operands_of(inst)) {
            if (op.is_vreg() && op.writes() && f_.vreg(op.vreg()).file() == file) written |= units_of(home_of(op.vreg()));
          }
      UnitSet saved = written & callee_saved;
      if (REGDUEL_PLANTED("fatpoint-odd-callee-saved-lost"))
        for (int u = 1; u < ir::kMaxUnits; u += 2)
          if (saved.has(u)) saved = saved - UnitSet::range(u, u + 1);
      const int most = in_.widens && (file == ir::RegFile::R || file == ir::RegFile::UR) ? 4 : 1;
      for (int u = 0; u < ir::kMaxUnits;) {
        if (!saved.has(u)) {
          ++u;
          continue;
        }
        int count = most;
        while (u % count != 0 || !saved.has_all(u, u + count)) count /= 2;
        ir::Slot s;
        s.size = s.align = static_cast<std::uint32_t>(count * ir::unit_bytes(file));
        s.offset = round_up(out_.local_frame, s.align);
        out_.local_frame = s.offset + s.size;
        saves_.push_back({PReg{file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(u)}, out_.add_slot(s)});
        u += count;
      }
    }
  }
  void save_or_restore(bool save) {
    for (const Save& s : saves_) {
      const Operand ops[] = {Operand::of_preg(save ? Role::Use : Role::Def, s.registers), Operand::of_slot(s.slot)};
      insert(save ? Op::Spill : Op::Refill, ops);
    }
  }

  // --- blocks
  void insert(Op op, std::span<const Operand> ops, std::span<const BlockId> targets = {}) {
    Inst inst;
    inst.op = op;
    inst.flags = ir::kInserted;
    append(inst, ops, targets);
  }
  Inst& append(Inst inst, std::span<const Operand> ops, std::span<const BlockId> targets) {
    if (inst.is_inserted()) inst.id = ir::InstId(next_id_++);
    return out_.append(inst, ops, targets);
  }

  void block(BlockId b) {
    out_.begin_block(f_.block(b));
    if (b.value == 0) save_or_restore(true);
    const ir::Block& blk = f_.block(b);
    for (std::uint32_t k = 0; k < blk.num_insts; ++k) {
      const std::size_t index = blk.first_inst + k;
      const Inst& inst = f_.insts[index];
      if (inst.is_deleted()) {
        append(inst, {}, {});
      } else if (!in_.cfg.is_reachable(b)) {
        unreachable(inst, in_.without_phis.insts[in_.lowered.source[index]]);
      } else {
        if (inst.op == Op::Ret) save_or_restore(false);
        const std::size_t end = blk.first_inst + blk.num_insts;
        if (inst.op == Op::BitSpill || inst.op == Op::BitRefill) k += bits(index, end) - 1;
        else if (const std::size_t length = in_.widens ? length_of_run(f_, index, end) : 0; length > 1) k += run(index, length);
        else instruction(index);
      }
    }
  }

  // Returns how many instructions became one.
  std::uint32_t bits(std::size_t index, std::size_t end) {
    PackMoves::Move move = pack_moves_.at(index, end);
    place(move.ops);
    insert(move.op, move.ops);
    return static_cast<std::uint32_t>(move.count);
  }

  // Returns how many instructions of the run stand behind its first.
  std::uint32_t run(std::size_t index, std::size_t length) {
    const Op op = f_.insts[index].op;
    accesses_.clear();
    for (std::size_t k = index; k < index + length; ++k) {
      if (layout_.dead_store[k] != 0) continue;
      const auto ops = f_.operands_of(f_.insts[k]);
      const SlotLayout::Place at = layout_.place[ops[1].slot().index()];
      accesses_.push_back({home_of(ops[0].vreg()), at.slot, at.offset + ops[1].slot_offset()});
    }
    accesses_ = widen(std::move(accesses_), layout_.slots, op == Op::Spill);
    for (const MemoryAccess& a : accesses_) {
      const Operand ops[] = {Operand::of_preg(op == Op::Spill ? Role::Use : Role::Def, a.registers),
                             Operand::of_slot(a.slot, a.offset)};
      insert(op, ops);
    }
    return static_cast<std::uint32_t>(length - 1);
  }

  void instruction(std::size_t index) {
    const Inst& inst = f_.insts[index];
    if (inst.op != Op::Copy && inst.op != Op::Spill && inst.op != Op::Refill) {
      const auto ops = out_.operands_of(append(inst, f_.operands_of(inst), f_.targets_of(inst)));
      place(ops);
      if (inst.op == Op::Remat) name_parts(ops);
      return;
    }
    ops_.assign(f_.operands_of(inst).begin(), f_.operands_of(inst).end());
    if (inst.op != Op::Copy) narrow(ops_);
    place(ops_);
    if ((inst.op == Op::Spill || inst.op == Op::Refill) && ops_.size() >= 2 && ops_[1].is_slot()) {
      if (layout_.dead_store[index] != 0) {
        if (!inst.is_inserted()) deleted(inst);
        return;
      }
      const SlotLayout::Place at = layout_.place[ops_[1].slot().index()];
      ops_[1].set_slot(at.slot, at.offset + ops_[1].slot_offset());
    }
    if (inst.op != Op::Copy) {
      append(inst, ops_, f_.targets_of(inst));
      return;
    }
    moves_.clear();
    const std::size_t pairs =
        static_cast<std::size_t>(std::count_if(ops_.begin(), ops_.end(), [](const Operand& op) { return op.writes(); }));
    bool moves_nothing = true;
    for (std::size_t k = 0; k < pairs; ++k) {
      if (same_bytes(ops_[k], ops_[pairs + k]) && ir::may(in_.fuel, "drop-identity-copy")) continue;
      moves_nothing = false;
      moves_.push_back({ops_[k], ops_[pairs + k]});
    }
    if (inst.is_inserted()) {
      if (moves_.size() < 2 || ir::may(in_.fuel, "copies-in-turn")) sequentialise();
      else insert(Op::Copy, ops_);
    } else if (moves_nothing && ops_.size() == 2 * pairs) {
      deleted(inst);
    } else {
      append(inst, ops_, {});
    }
  }
  void deleted(Inst inst) {
    inst.flags |= ir::kDeleted;
    inst.op = Op::Copy;
    append(inst, {}, {});
  }

  void move(const Move& m) {
    const Operand ops[] = {m.def, m.use};
    insert(Op::Copy, ops);
  }
  // A move may be written as soon as no other move still has to read its destination. Reads are counted by unit and not by byte, so
  // two moves may stay parallel without need.
  void sequentialise() {
    if (moves_.size() == 1) return move(moves_[0]);
    if (!readers_) readers_.emplace();
    const auto count = [&](const Operand& op, int by) {
      const PReg r = op.preg();
      for (int u = r.begin(); u < r.end(); ++u) (*readers_)[ir::index(r.file)][static_cast<std::size_t>(u)] += by;
    };
    const auto is_free = [&](const Operand& op) {
      if (REGDUEL_PLANTED("fatpoint-parallel-copy-in-any-order")) return true;
      const PReg r = op.preg();
      for (int u = r.begin(); u < r.end(); ++u)
        if ((*readers_)[ir::index(r.file)][static_cast<std::size_t>(u)] != 0) return false;
      return true;
    };
    for (const Move& m : moves_) count(m.use, 1);
    for (bool progress = true; progress && !moves_.empty();) {
      progress = false;
      std::size_t kept = 0;
      for (const Move& m : moves_) {
        count(m.use, -1);
        if (is_free(m.def)) {
          move(m);
          progress = true;
        } else {
          count(m.use, 1);
          moves_[kept++] = m;
        }
      }
      moves_.resize(kept);
    }
    if (moves_.empty()) return;
    ops_.clear();
    for (const Move& m : moves_) ops_.push_back(m.def);
    for (const Move& m : moves_) ops_.push_back(m.use);
    for (const Move& m : moves_) count(m.use, -1);
    insert(Op::Copy, ops_);
  }

  void unreachable(const Inst& inst, const Inst& source) {
    build_items(in_.without_phis, source, items_);
    const auto homes = pack(in_.without_phis, source, items_, in_.budget);
    REGDUEL_CHECK(homes.has_value(), "an impossible instruction in an unreachable block");
    const auto ops = in_.without_phis.operands_of(source);
    ops_.assign(ops.begin(), ops.end());
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (items_.of_operand[k] != kNoItem) ops_[k] = in_.without_phis.placed_at(ops[k], (*homes)[items_.of_operand[k]]);
    append(inst, ops_, f_.targets_of(inst));
  }

  static void claim(ir::Allocation& a) {
    for (const Inst& inst : a.program.insts)
      for (const Operand& op : a.program.operands_of(inst)) {
        if (!op.is_preg() || op.role == Role::Clobber) continue;
        int& registers = a.claims.registers[ir::index(op.preg().file)];
        int end = op.preg().end();
        if (REGDUEL_PLANTED("fatpoint-claims-one-register-less")) end = op.preg().first;
        registers = std::max(registers, end);
        if (inst.op == Op::Spill) a.claims.spill_store_bytes += a.program.operand_bytes(op);
        if (inst.op == Op::Refill) a.claims.spill_load_bytes += a.program.operand_bytes(op);
      }
  }

  const EmitInput& in_;
  const Function& f_;  // the lowered program
  const PackMoves pack_moves_;
  Function out_;
  std::uint32_t next_id_;
  SlotLayout layout_;  // of the lowered program's slots
  std::vector<Save> saves_;
  std::vector<Operand> ops_;
  std::vector<Move> moves_;
  std::vector<MemoryAccess> accesses_;
  using ByUnit = ir::PerFile<std::array<int, ir::kMaxUnits>>;
  std::optional<ByUnit> readers_;  // moves that have still to read a unit; made for the first copy of several
  Items items_;
};

}  // namespace

ir::Allocation emit(const EmitInput& input) { return Emitter(input).run(); }

}  // namespace regduel::allocator
