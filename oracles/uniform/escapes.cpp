// The quick test; see escapes.h. Slots are taken as wholes, and paths do not count.

#include "oracles/uniform/escapes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "oracles/before.h"

namespace regduel::oracles::uniform {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

class Escapes {
 public:
  Escapes(const Case& c, const std::vector<char>& declared)
      : before_(c.before), after_(c.after), ids_(c.prepared.ids()), declared_(declared), preserved_(c.prepared.preserved()),
        first_slot_(std::size_t{ir::kNumFiles} * ir::kMaxUnits), from_(first_slot_ + after_.slots.size(), 0) {
    for (const ir::RegFile file : {ir::RegFile::UR, ir::RegFile::UP, ir::RegFile::UB})
      std::fill_n(from_.begin() + static_cast<std::ptrdiff_t>(unit(file, 0)), ir::kMaxUnits, char{1});
  }

  [[nodiscard]] bool any() {
    is_spoilt_ = std::ranges::any_of(after_.insts, [&](const Inst& i) {
      return moves(i) && std::ranges::any_of(after_.operands_of(i), [](const Operand& op) {
               return op.is_preg() && op.writes() && ir::is_uniform(op.preg().file);
             });
    });
    bool moves_out = false;
    while (spread()) moves_out = true;
    if (!moves_out) return false;
    for (const ir::PReg r : preserved_)
      if (!ir::is_uniform(r.file) && from_[unit(r.file, r.first)] != 0) return true;
    return std::any_of(after_.insts.begin(), after_.insts.end(), [&](const Inst& i) { return reads_escaped(i); });
  }

 private:
  [[nodiscard]] static std::size_t unit(ir::RegFile file, int u) {
    return ir::index(file) * static_cast<std::size_t>(ir::kMaxUnits) + static_cast<std::size_t>(u);
  }
  void each_location(const Operand& op, const auto& action) const {
    if (op.is_preg()) {
      const ir::PReg r = op.preg();
      for (int u = r.begin(); u < std::min<int>(r.end(), ir::kMaxUnits); ++u) action(unit(r.file, u));
    } else if (op.is_slot() && op.slot().index() < after_.slots.size()) {
      action(first_slot_ + op.slot().index());
    }
  }
  [[nodiscard]] bool is_from(const Operand& op) const {
    bool found = false;
    each_location(op, [&](std::size_t l) { found = found || from_[l] != 0; });
    return found;
  }
  [[nodiscard]] std::span<const Operand> operands_before(ir::InstId id) const {
    const std::uint32_t at = ids_.find(id);
    return at == IdIndex::kNone ? std::span<const Operand>() : before_.operands_of(before_.insts[at]);
  }
  [[nodiscard]] bool is_declared(const Operand& op) const { return op.is_vreg() && declared_[op.vreg().index()] != 0; }
  [[nodiscard]] bool varies(const Operand& op) const { return op.is_vreg() && !is_declared(op); }

  [[nodiscard]] bool moves(const Inst& i) const {
    if (i.is_deleted() || i.op == Op::Remat) return false;
    if (i.is_inserted() || ir::is_slot_move(i.op)) return true;
    return (i.is_copy() || i.is_phi()) &&
           std::ranges::any_of(operands_before(i.id), [&](const Operand& op) { return (op.reads() || op.writes()) && varies(op); });
  }
  // The use k of an original copy is what the program says that all threads share, in a register that holds nothing else.
  [[nodiscard]] bool is_as_before(const Inst& i, std::size_t k) const {
    if (is_spoilt_ || i.is_inserted() || ir::is_slot_move(i.op)) return false;
    const Operand& op = after_.operands_of(i)[k];
    const auto want = operands_before(i.id);
    return op.is_preg() && ir::is_uniform(op.preg().file) && k < want.size() && is_declared(want[k]);
  }
  // One round over the instructions. Returns whether it changed something.
  bool spread() {
    bool grew = false;
    for (const Inst& i : after_.insts) {
      if (!moves(i)) continue;
      const auto ops = after_.operands_of(i);
      const auto to = [&](const Operand& op) { return op.writes() || (op.is_slot() && i.op == Op::Spill); };
      bool moves_out = false;
      for (std::size_t k = 0; k < ops.size() && !moves_out; ++k)
        moves_out = (ops[k].role == Role::Use || ops[k].role == Role::DefUse) && !(ops[k].is_slot() && i.op == Op::Spill) &&
                    is_from(ops[k]) && !is_as_before(i, k);
      if (!moves_out) continue;
      for (const Operand& op : ops)
        if (to(op)) each_location(op, [&](std::size_t l) { grew = std::exchange(from_[l], 1) == 0 || grew; });
    }
    return grew;
  }
  [[nodiscard]] bool reads_escaped(const Inst& i) const {
    if (i.is_deleted() || (i.is_inserted() && i.op != Op::Remat)) return false;
    const auto want = operands_before(i.op == Op::Remat ? i.ref : i.id), have = after_.operands_of(i);
    for (std::size_t k = 0; k < std::min(want.size(), have.size()); ++k)
      if (want[k].reads() && varies(want[k]) && is_from(have[k])) return true;
    return false;
  }

  const Function& before_;
  const Function& after_;
  const IdIndex& ids_;
  const std::vector<char>& declared_;
  std::span<const ir::PReg> preserved_;
  std::size_t first_slot_;
  std::vector<char> from_;  // by location
  bool is_spoilt_ = false;  // a move writes a uniform register
};

}  // namespace

std::vector<char> declared_vregs(const Function& before) {
  std::vector<char> roots(before.vregs.size(), 0), declared(before.vregs.size(), 0);
  for (std::size_t v = 0; v < roots.size(); ++v) {
    const ir::VReg& vreg = before.vregs[v];
    if (ir::is_uniform(vreg.file()) || (vreg.flags & ir::kVRegUniform) != 0) roots[before.root(ir::VRegId(v)).index()] = 1;
  }
  for (std::size_t v = 0; v < roots.size(); ++v) declared[v] = roots[before.root(ir::VRegId(v)).index()];
  return declared;
}

bool may_escape(const Case& c, const std::vector<char>& declared) { return Escapes(c, declared).any(); }

}  // namespace regduel::oracles::uniform
