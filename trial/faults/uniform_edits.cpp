// See uniform_edits.h.
#include "trial/faults/uniform_edits.h"

#include <algorithm>
#include <optional>

namespace regduel::trial {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

class Sender {
 public:
  Sender(Trial& t, const Place& at)
      : t_(t), at_(at), home_(t.op(at).preg()), before_(t.site.subject.before),
        shared_{ir::is_predicate(home_.file) ? RegFile::UP : RegFile::UR, 1, 0} {}

  bool send(Way way) {
    const auto is_uniform = [](const ir::VReg& v) { return ir::is_uniform(v.file()) || (v.flags & ir::kVRegUniform) != 0; };
    if ((home_.file != RegFile::R && home_.file != RegFile::P) || before_.predicate_halves || !may_use(shared_) ||
        std::ranges::any_of(before_.vregs, is_uniform) || !t_.op(at_).part.is_whole() || t_.op(at_).role != Role::Def)
      return false;
    const EditInst& def = t_.inst(at_);
    if (def.inst.op != Op::Named || has_guard(def) || (way == Way::Half ? home_.count != 2 : home_.count != 1)) return false;
    switch (way) {
      case Way::Branch: return by_branch();
      case Way::Join: return by_join();
      case Way::Half: home_ = {home_.file, 1, static_cast<std::uint16_t>(home_.first + 1)}; break;
      default: break;
    }
    if (!is_read_first(at_.block, at_.inst + 1, home_)) return false;
    switch (way) {
      case Way::Slot: return by_slot();
      case Way::Beside: return beside();
      case Way::Bit: return by_bit();
      case Way::Guard: return under_guard();
      default: return there_and_back(at_.block, at_.inst + 1);
    }
  }

 private:
  [[nodiscard]] bool may_use(PReg r) const {
    const Subject& s = t_.site.subject;
    return r.end() <= s.limits.of(r.file) && !s.target.is_reserved(s.before.abi, r.file, r.first);
  }
  [[nodiscard]] const std::vector<EditInst>& insts(std::size_t b) const { return t_.program.blocks[b].insts; }
  void insert(std::size_t b, std::size_t at, EditInst i) { insert_at(t_.program, static_cast<std::uint32_t>(b), at, std::move(i)); }
  bool there_and_back(std::size_t b, std::size_t at) {
    insert(b, at, make_copy(home_, shared_));
    insert(b, at, make_copy(shared_, home_));
    return true;
  }

  [[nodiscard]] const ir::VReg* root_of(const EditInst& i, const Operand& op) const {
    const auto k = static_cast<std::size_t>(&op - i.ops.data());
    const auto before = t_.site.original_ops(i);
    return k < before.size() && before[k].is_vreg() ? &t_.site.root_of(before[k]) : nullptr;
  }
  // From position `first` of the block on, an operation without a guard reads the whole register as what the place defines, before
  // anything writes to it, whatever guards do.
  [[nodiscard]] bool is_read_first(std::size_t b, std::size_t first, PReg home) const {
    for (std::size_t k = first; k < insts(b).size(); ++k) {
      const EditInst& i = insts(b)[k];
      const auto names = [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(home); };
      for (const Operand& op : i.ops)
        if (names(op) && op.role == Role::Use && (i.inst.op == Op::Named || i.inst.op == Op::CBra) && !has_guard(i) &&
            (op.part.is_whole() || op.preg().count == 1))
          return root_of(i, op) == root_of(t_.inst(at_), t_.op(at_));
      if (std::ranges::any_of(i.ops,
                              [&](const Operand& op) { return names(op) && op.role != Role::Use && op.role != Role::Guard; }))
        return false;
    }
    return false;
  }
  [[nodiscard]] bool is_written(std::size_t b, std::size_t first, std::size_t end, PReg r) const {
    for (std::size_t k = first; k < std::min(end, insts(b).size()); ++k)
      if (writes(insts(b)[k], r)) return true;
    return false;
  }
  // The last instruction in front of `end` that writes the register; nothing where there is none in the block.
  [[nodiscard]] std::optional<std::size_t> last_writer(std::size_t b, std::size_t end, PReg r) const {
    for (std::size_t k = end; k-- > 0;)
      if (writes(insts(b)[k], r)) return k;
    return std::nullopt;
  }
  // The predicate register holds the result of an operation of the same block at this point.
  [[nodiscard]] bool varies(std::size_t b, std::size_t at, PReg predicate) const {
    const auto writer = predicate.file == RegFile::P ? last_writer(b, at, predicate) : std::nullopt;
    return writer && insts(b)[*writer].inst.op == Op::Named && !insts(b)[*writer].inst.is_inserted() &&
           !has_guard(insts(b)[*writer]);
  }
  [[nodiscard]] std::size_t first_behind_phis(std::size_t b) const {
    std::size_t k = 0;
    while (k < insts(b).size() && insts(b)[k].inst.is_phi()) ++k;
    return k;
  }

  bool by_slot() {
    const ir::SlotId slot = add_slot(t_.program, ir::MemSpace::Local, 4);
    insert(at_.block, at_.inst + 1, make_copy(home_, shared_));
    insert(at_.block, at_.inst + 1, make_refill(Operand::of_preg(Role::Def, shared_), slot));
    insert(at_.block, at_.inst + 1, make_spill(Operand::of_preg(Role::Use, home_), slot));
    return true;
  }
  bool beside() {
    const PReg other{shared_.file, 1, 1};
    if (!may_use(other)) return false;
    EditInst copy = make_copy(shared_, home_);
    copy.ops.insert(copy.ops.begin() + 1, Operand::of_preg(Role::Def, other));
    copy.ops.push_back(Operand::of_preg(Role::Use, other));
    insert(at_.block, at_.inst + 1, make_copy(home_, shared_));
    insert(at_.block, at_.inst + 1, std::move(copy));
    return true;
  }
  // No instruction of the block reads what the register holds here, and one destroys it.
  [[nodiscard]] bool is_dead(PReg r) const {
    for (std::size_t k = at_.inst + 1; k < insts(at_.block).size(); ++k) {
      const EditInst& i = insts(at_.block)[k];
      if (!mentions(i, r)) continue;
      return !reads(i, r) && !has_guard(i) && std::ranges::all_of(i.ops, [&](const Operand& op) {
        return !op.is_preg() || !op.preg().overlaps(r) || op.part.is_whole();
      });
    }
    return false;
  }
  bool by_bit() {
    if (home_.file != RegFile::P) return false;
    std::optional<PReg> pack;
    const int limit = std::min<int>(t_.site.subject.limits.of(RegFile::R), ir::kMaxUnits);
    for (int u = limit; u-- > 0 && !pack;) {
      const PReg r{RegFile::R, 1, static_cast<std::uint16_t>(u)};
      const auto is_mentioned = [&](const EditBlock& b) {
        return std::ranges::any_of(b.insts, [&](const EditInst& i) { return mentions(i, r); });
      };
      if (t_.site.is_allocatable(r) && !t_.site.is_preserved(r) &&
          (is_dead(r) || std::ranges::none_of(t_.program.blocks, is_mentioned)))
        pack = r;
    }
    const PReg shared{RegFile::UR, 1, 0};
    if (!pack || !may_use(shared)) return false;
    const Operand bit = Operand::of_imm(3);
    const std::size_t at = at_.inst + 1;
    insert(at_.block, at, inserted(Op::BitRefill, {Operand::of_preg(Role::Def, home_), Operand::of_preg(Role::Use, *pack), bit}));
    insert(at_.block, at, make_copy(*pack, shared));
    insert(at_.block, at, make_copy(shared, *pack));
    insert(at_.block, at, inserted(Op::BitSpill, {Operand::of_preg(Role::DefUse, *pack), Operand::of_preg(Role::Use, home_), bit}));
    return true;
  }
  bool under_guard() {
    std::vector<PReg> guards;
    for (int u = 0; u < t_.site.subject.limits.of(RegFile::P); ++u)
      if (const PReg p{RegFile::P, 1, static_cast<std::uint16_t>(u)}; varies(at_.block, at_.inst + 1, p) && !p.overlaps(home_))
        guards.push_back(p);
    const auto guard = pick(guards, t_.random);
    if (!guard) return false;
    EditInst back = make_copy(home_, shared_);
    back.ops.push_back(Operand::of_preg(Role::Guard, *guard));
    insert(at_.block, at_.inst + 1, std::move(back));
    insert(at_.block, at_.inst + 1, make_copy(shared_, home_));
    return true;
  }
  // A block that the value reaches through blocks that do not write its register, and that reads it first. On the way there and in
  // the block itself, `test` holds of each block.
  std::optional<std::size_t> reader_behind(const auto& test, const auto& is_reader) {
    if (is_written(at_.block, at_.inst + 1, ~std::size_t{0}, home_)) return std::nullopt;
    std::vector<std::size_t> readers, seen = {at_.block};
    for (std::size_t k = 0; k < seen.size(); ++k)
      for (const ir::BlockId s : t_.site.cfg.successors(ir::BlockId(seen[k]))) {
        if (std::ranges::find(seen, s.index()) != seen.end() || !test(s)) continue;
        if (is_reader(s) && is_read_first(s.index(), first_behind_phis(s.index()), home_)) readers.push_back(s.index());
        if (!is_written(s.index(), 0, ~std::size_t{0}, home_)) seen.push_back(s.index());
      }
    return pick(readers, t_.random);
  }
  bool by_branch() {
    if (t_.site.cfg.successors(ir::BlockId(at_.block)).size() < 2) return false;
    const auto reader =
        reader_behind([&](ir::BlockId s) { return t_.site.cfg.predecessors(s).size() == 1; }, [](ir::BlockId) { return true; });
    if (!reader) return false;
    insert(*reader, first_behind_phis(*reader), make_copy(home_, shared_));
    insert(at_.block, at_.inst + 1, make_copy(shared_, home_));
    return true;
  }
  bool by_join() {
    const auto reader =
        reader_behind([](ir::BlockId) { return true; }, [&](ir::BlockId s) { return t_.site.cfg.predecessors(s).size() > 1; });
    if (!reader) return false;
    insert(*reader, first_behind_phis(*reader), make_copy(home_, shared_));
    for (const ir::BlockId p : t_.site.cfg.predecessors(ir::BlockId(*reader)))
      insert(p.index(), insts(p.index()).size() - 1, make_copy(shared_, home_));
    return true;
  }

  Trial& t_;
  const Place at_;
  PReg home_;
  const ir::Function& before_;
  const PReg shared_;
};

}  // namespace

Edit through_uniform(Way way) {
  return [=](Trial& t, const Place& at) { return Sender(t, at).send(way); };
}

}  // namespace regduel::trial
