// See dead_copies.h.

#include "allocator/program/dead_copies.h"

#include <algorithm>
#include <cstdint>

#include "allocator/program/names.h"
#include "base/grouped.h"

namespace regduel::allocator {
namespace {

bool is_architectural(const Function& f, const Operand& op) { return f.vreg(f.root(op.vreg())).is_architectural(); }

// A phi, or a copy that does nothing but move: n defs, n uses, perhaps a guard.
bool only_moves(const Function& f, const Inst& inst) {
  if (inst.is_deleted() || (!inst.is_phi() && !inst.is_copy())) return false;
  const auto ops = f.operands_of(inst);
  return std::all_of(ops.begin(), ops.end(), [&](const Operand& op) {
    return op.is_vreg() && (op.role == Role::Use || op.role == Role::Guard || (op.role == Role::Def && !is_architectural(f, op)));
  });
}

class Needs {
 public:
  explicit Needs(const Function& f) : f_(f), needed_(f.vregs.size(), 0) {
    for (std::size_t i = 0; i < f.insts.size(); ++i) {
      if (only_moves(f, f.insts[i])) moves_.push_back(static_cast<std::uint32_t>(i));
    }
    if (moves_.empty()) return;
    work_.reserve(f.vregs.size());
    auto next = moves_.begin();
    for (std::size_t i = 0; i < f.insts.size(); ++i) {
      if (next != moves_.end() && *next == i) ++next;
      else need_reads(f.insts[i]);
    }
    list_by_def();
    spread();
  }

  [[nodiscard]] const std::vector<std::uint32_t>& moves() const { return moves_; }
  [[nodiscard]] bool is_dead(std::uint32_t move) const {
    const auto ops = f_.operands_of(f_.insts[move]);
    return std::none_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.writes() && needed_[root(op)] != 0; });
  }
  void keep(std::uint32_t move) {
    need_reads(f_.insts[move]);
    spread();
  }

 private:
  [[nodiscard]] std::uint32_t root(const Operand& op) const { return f_.root(op.vreg()).value; }

  void need_reads(const Inst& inst) {
    for (const Operand& op : f_.operands_of(inst)) {
      if (!op.is_vreg() || !op.reads() || needed_[root(op)] != 0) continue;
      needed_[root(op)] = 1;
      work_.push_back(root(op));
    }
  }
  void list_by_def() {
    by_def_.build(f_.vregs.size(), [&](auto add) {
      for (const std::uint32_t i : moves_)
        for (const Operand& op : f_.operands_of(f_.insts[i]))
          if (op.writes()) add(root(op), i);
    });
  }
  void spread() {
    while (!work_.empty()) {
      const std::uint32_t v = work_.back();
      work_.pop_back();
      for (const std::uint32_t i : by_def_[v]) need_reads(f_.insts[i]);
    }
  }

  const Function& f_;
  std::vector<char> needed_;          // by root
  std::vector<std::uint32_t> moves_;  // instructions, ascending
  Grouped<std::uint32_t> by_def_;     // of moves_
  std::vector<std::uint32_t> work_;
};

}  // namespace

std::vector<char> find_dead_copies(const Function& program, ir::Fuel* fuel) {
  Needs needs(program);
  std::vector<char> dead;
  for (const std::uint32_t i : needs.moves()) {
    if (!needs.is_dead(i)) continue;
    if (!ir::may(fuel, "drop-dead-copy")) {
      needs.keep(i);
      continue;
    }
    dead.resize(program.insts.size(), 0);
    dead[i] = 1;
  }
  // A copy that stays for lack of fuel may read the defs of other dead copies.
  if (fuel != nullptr)
    for (std::uint32_t i = 0; i < dead.size(); ++i)
      if (dead[i] != 0 && !needs.is_dead(i)) dead[i] = 0;
  return dead;
}

void drop_dead_copies(Function& f, Liveness& live, ir::Fuel* fuel) {
  for (std::size_t i = 0; i < f.insts.size(); ++i) {
    Inst& inst = f.insts[i];
    if (!inst.is_copy() || live.number_of(i) == Liveness::kUnnumbered || !only_moves(f, inst)) continue;
    bool is_dead = true;
    const auto ops = f.operands_of(inst);
    for (std::size_t k = 0; k < ops.size() && is_dead; ++k)
      is_dead = !ops[k].writes() || (live.live_after(inst.first_operand + k) & bytes_of(f, ops[k])) == 0;
    if (!is_dead || !ir::may(fuel, "drop-dead-copy")) continue;
    for (const Operand& op : ops) live.outdate(op.vreg().value);
    if (!inst.is_inserted()) inst.flags |= ir::kDeleted;
    inst.num_operands = 0;
  }
}

}  // namespace regduel::allocator
