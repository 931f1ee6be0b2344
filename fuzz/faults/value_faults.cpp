// Faults in which registers a value sits: wrong registers, lost values, overwritten ones.
#include "fuzz/faults/injector.h"

namespace regduel::fuzz {
namespace {

using ir::Operand;
using ir::PReg;
using ir::Role;

// Register operands of operations.
template <class Want>
std::vector<Place> registers_where(const Injector& in, Want want) {
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!in.is_operation(i)) return;
    for (std::size_t o = 0; o < i.ops.size(); ++o)
      if (i.ops[o].is_preg() && want(i, o)) places.push_back({b, k, o, 0});
  });
  return places;
}
template <class Want>
std::vector<Place> operands_where(const Injector& in, Want want) {
  return registers_where(in, [&](const EditInst& i, std::size_t o) { return in.is_free(i, o) && want(i, o); });
}
template <class Want>
std::vector<Place> reads_where(const Injector& in, Want want) {
  return registers_where(in, [&](const EditInst& i, std::size_t o) { return i.ops[o].reads() && want(i.ops[o]); });
}

bool move_operand(Injector& in, std::vector<Place> places, int code, bool used_only) {
  return in.at_one_of(std::move(places), code, [&](EditProgram& p, const Place& at) {
    Operand& op = p.blocks[at.block].insts[at.inst].ops[at.operand];
    const auto home = in.another_home(op.preg(), used_only);
    if (home) set_preg(op, *home);
    return home.has_value();
  });
}

std::vector<Place> uses(const Injector& in) {
  return operands_where(in, [](const EditInst& i, std::size_t o) { return i.ops[o].role == Role::Use && !i.inst.is_terminator(); });
}
std::vector<Place> defs(const Injector& in) {
  return operands_where(in, [](const EditInst& i, std::size_t o) { return i.ops[o].role == Role::Def && !has_guard(i); });
}

bool wrong_use(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, uses(in), 6, true);
}
bool uninitialised_use(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, uses(in), 5, r.chance(50));
}
bool wrong_def(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, defs(in), 6, false);
}
bool lost_def(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, defs(in), 5, false);
}
bool wrong_condition(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, operands_where(in, [](const EditInst& i, std::size_t) { return i.inst.is_terminator(); }), 6, true);
}
bool wrong_guard(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return move_operand(in, operands_where(in, [](const EditInst& i, std::size_t o) { return i.ops[o].role == Role::Guard; }), 6,
                      true);
}

// Two operands of one instruction, of one role and shape, in different homes.
bool swap_operands(EditProgram& p, const Subject& s, Random& r, Role role) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!in.is_operation(i) || (role == Role::Def && has_guard(i))) return;
    for (std::size_t x = 0; x < i.ops.size(); ++x)
      for (std::size_t y = x + 1; y < i.ops.size() && y < x + 8; ++y) {
        const Operand &a = i.ops[x], &c = i.ops[y];
        if (a.role != role || c.role != role || !a.is_preg() || !c.is_preg() || !in.is_free(i, x) || !in.is_free(i, y)) continue;
        if (a.preg().file == c.preg().file && a.preg().count == c.preg().count && a.preg() != c.preg())
          places.push_back({b, k, x, y});
      }
  });
  return in.at_one_of(std::move(places), 6, [](EditProgram& q, const Place& at) {
    auto& ops = q.blocks[at.block].insts[at.inst].ops;
    std::swap(ops[at.operand].value, ops[at.other].value);
    return true;
  });
}
bool swap_uses(EditProgram& p, const Subject& s, Random& r) { return swap_operands(p, s, r, Role::Use); }
bool swap_defs(EditProgram& p, const Subject& s, Random& r) { return swap_operands(p, s, r, Role::Def); }

// Puts `to = copy from` somewhere before the instruction at `at`, in its block, where nothing but phis stands in between the
// block's begin and there.
bool put_copy_before(Injector& in, EditProgram& p, const Place& at, Operand to, Operand from) {
  auto& insts = p.blocks[at.block].insts;
  std::uint32_t first = at.inst;
  while (first > 0 && at.inst - first < 6 && !insts[first - 1].inst.is_phi() && !writes_any_of(insts[first - 1], to.preg()))
    --first;
  const std::uint32_t where = first + in.random.below(at.inst - first + 1);
  insert_before(p, {at.block, where}, inserted(ir::Op::Copy, {to, from}));
  return true;
}

bool overwrite(EditProgram& p, const Subject& s, Random& r, bool half) {
  Injector in(p, s, r);
  auto reads = reads_where(in, [&](const Operand& op) {
    return op.part.is_whole() && !ir::is_barrier(op.preg().file) && half == (op.preg().count > 1);
  });
  return in.at_one_of(std::move(reads), 6, [&](EditProgram& q, const Place& at) {
    PReg r1 = q.blocks[at.block].insts[at.inst].ops[at.operand].preg();
    if (half) {
      r1.first = static_cast<std::uint16_t>(r1.first + in.random.below(r1.count));
      r1.count = 1;
    }
    const auto from = in.another_home(r1);
    return from && put_copy_before(in, q, at, Operand::of_preg(Role::Def, r1), Operand::of_preg(Role::Use, *from));
  });
}
bool clobber_half(EditProgram& p, const Subject& s, Random& r) { return overwrite(p, s, r, true); }
bool overwrite_live(EditProgram& p, const Subject& s, Random& r) { return overwrite(p, s, r, false); }

// A register that holds several narrow values, or a narrow piece of a wider one: one piece is overwritten together with its
// neighbour's.
bool clobber_narrow(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  auto reads = reads_where(in, [](const Operand& op) { return !op.part.is_whole() && op.part.size_bytes() < 4; });
  return in.at_one_of(std::move(reads), 6, [&](EditProgram& q, const Place& at) {
    const Operand op = q.blocks[at.block].insts[at.inst].ops[at.operand];
    const int byte = op.part.offset_bytes();
    const PReg unit{op.preg().file, 1, static_cast<std::uint16_t>(op.preg().first + byte / 4)};
    const auto from = in.another_home(unit);
    const auto part = op.part.size_bytes() == 1 ? ir::Part::from_bytes(byte % 4 / 2 * 2, 2) : ir::Part::from_bytes(byte % 4, 2);
    return from && part &&
           put_copy_before(in, q, at, Operand::of_preg(Role::Def, unit, *part), Operand::of_preg(Role::Use, *from, *part));
  });
}

// From the def at `at` to the last read of it in the block, `from` becomes `to`; false where that is no plain stretch.
bool rename_stretch(EditProgram& p, const Place& at, PReg from, PReg to, bool must_be_free, std::uint32_t last) {
  auto& insts = p.blocks[at.block].insts;
  for (std::uint32_t k = at.inst; k <= last; ++k)
    for (const Operand& op : insts[k].ops) {
      if (!op.is_preg()) continue;
      if (op.preg().overlaps(from) && op.preg() != from) return false;
      // Both in one instruction would be a fault of its operands among themselves.
      if (!must_be_free && op.preg().overlaps(to) && mentions(insts[k], from)) return false;
      if (op.role == Role::Clobber) continue;
      if (must_be_free && op.preg().overlaps(to) && !(k == at.inst && op.reads())) return false;
    }
  for (std::uint32_t k = at.inst; k <= last; ++k)
    for (Operand& op : insts[k].ops)
      if (op.is_preg() && op.role != Role::Clobber && op.preg() == from && (k != at.inst || op.role == Role::Def) &&
          (k != last || op.reads()))
        set_preg(op, to);
  return true;
}

// The position of the last read of `r` in the block behind `from` before it is written again; `from` where there is none.
std::uint32_t last_read(const std::vector<EditInst>& insts, std::uint32_t from, PReg r) {
  std::uint32_t last = from;
  for (std::uint32_t k = from + 1; k < insts.size(); ++k) {
    for (const Operand& op : insts[k].ops)
      if (op.is_preg() && op.reads() && op.preg() == r) last = k;
    if (writes_any_of(insts[k], r)) break;
  }
  return last;
}

// A def and its readers in the block move together into a register in which another value lives.
bool share_register(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(defs(in), 6, [&](EditProgram& q, const Place& at) {
    const PReg home = q.blocks[at.block].insts[at.inst].ops[at.operand].preg();
    const std::uint32_t last = last_read(q.blocks[at.block].insts, at.inst, home);
    const auto to = in.another_home(home);
    return last > at.inst && to && rename_stretch(q, at, home, *to, false, last);
  });
}

// A value that lives across an instruction moves, with all that stands between, into a register which that instruction clobbers.
bool across_clobber(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    for (std::size_t o = 0; o < i.ops.size(); ++o) {
      if (!i.ops[o].is_preg() || i.ops[o].role != Role::Def || has_guard(i)) continue;
      if (in.original(i) != nullptr && !in.is_free(i, o)) continue;
      const auto& insts = p.blocks[b].insts;
      const std::uint32_t last = last_read(insts, k, i.ops[o].preg());
      for (std::uint32_t c = k + 1; c < last; ++c)
        if (std::any_of(insts[c].ops.begin(), insts[c].ops.end(), [](const Operand& op) { return op.role == Role::Clobber; }))
          places.push_back({b, k, o, c});
    }
  });
  return in.at_one_of(
      std::move(places), 5,
      [&](EditProgram& q, const Place& at) {
        const auto& insts = q.blocks[at.block].insts;
        const PReg home = insts[at.inst].ops[at.operand].preg();
        const std::uint32_t last = last_read(insts, at.inst, home);
        std::vector<PReg> homes;
        for (const Operand& op : insts[at.other].ops) {
          if (op.role != Role::Clobber || op.preg().file != home.file) continue;
          for (int u = op.preg().begin(); u + home.count <= op.preg().end(); ++u) {
            const PReg to{home.file, home.count, static_cast<std::uint16_t>(u)};
            bool good = u % home.count == 0 && !to.overlaps(home);
            for (int v = to.begin(); v < to.end() && good; ++v)
              good = ir::is_allocatable(in.subject.target, in.subject.limits, to.file, v);
            if (good) homes.push_back(to);
          }
        }
        for (int tries = 0; tries < 4 && !homes.empty(); ++tries)
          if (rename_stretch(q, at, home, homes[in.random.below(static_cast<std::uint32_t>(homes.size()))], true, last))
            return true;
        return false;
      },
      12);
}

bool deleted_def(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(in.instructions([&](const EditInst& i) { return in.is_operation(i) && i.inst.has(ir::kRematerialisable); }),
                      6, delete_at);
}

}  // namespace

std::vector<FaultOperator> value_faults() {
  return {
      {"wrong-use-register", "a use reads a register that holds another value", {6}, {}, wrong_use},
      {"uninitialised-use", "a use reads a register that nothing has defined", {5}, {}, uninitialised_use},
      {"wrong-def-register", "a def goes into another register, and a reader finds an older value", {6}, {}, wrong_def},
      {"lost-def", "a def goes into another register, and a reader finds nothing", {5}, {}, lost_def},
      {"swapped-uses", "two uses of an instruction have exchanged their registers", {6}, {}, swap_uses},
      {"swapped-defs", "two defs of an instruction have exchanged their registers", {6}, {}, swap_defs},
      {"wrong-condition", "a branch reads another register than its condition's", {6}, {}, wrong_condition},
      {"wrong-guard", "an instruction is guarded by another predicate", {6}, {}, wrong_guard},
      {"half-clobbered", "a copy overwrites one unit of a tuple that is still to be read", {6}, {}, clobber_half},
      {"live-overwritten", "a copy overwrites a register that is still to be read", {6}, {}, overwrite_live},
      {"narrow-clobbered", "a copy of 16 bits overwrites a narrow value and its neighbour in one unit", {6}, {}, clobber_narrow},
      {"shared-register",
       "a def and its readers move into a register in which another value lives: a missed interference",
       {6},
       {},
       share_register},
      {"across-clobber", "a value that lives across a call sits in a register that the call clobbers", {5}, {}, across_clobber},
      {"deleted-def", "a rematerialisable def is deleted, though somebody still reads its register", {6}, {}, deleted_def},
  };
}

}  // namespace regduel::fuzz
