// See uniform_sources.h.
#include "oracles/uniform_sources.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ir/cfg.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

bool moves_bytes(const Inst& i) { return i.is_copy() || i.is_phi() || ir::moves_pieces(i.op); }

class Sources {
 public:
  explicit Sources(const Case& c)
      : before_(c.before), after_(c.after), ids_(c.prepared.ids()), vregs_(before_.vregs.size(), 0),
        slots_(after_.slots.size(), 1) {
    for (std::vector<char>& units : units_) units.assign(ir::kMaxUnits, 1);
    for (const Inst& i : after_.insts) (void)write(i, 0);
    for (const ir::RegFile file : {ir::RegFile::UR, ir::RegFile::UP, ir::RegFile::UB})
      for (int u = 0; u < c.target.units[ir::index(file)]; ++u)
        if (const ir::PReg unit{file, 1, static_cast<std::uint16_t>(u)}; !may_hold(Operand::of_preg(Role::Use, unit)))
          if (is_read_undefined(unit)) (void)write(unit, 1);
    for (std::size_t v = 0; v < vregs_.size(); ++v) {
      const ir::VReg& reg = before_.vregs[v];
      const bool is_uniform = ir::is_uniform(reg.file()) || (reg.flags & ir::kVRegUniform) != 0;
      if (reg.is_architectural() && reg.fixed.is_valid()) (void)write(reg.fixed, is_uniform ? 1 : 0);
      if (is_uniform) vregs_[before_.root(ir::VRegId(v)).index()] = 1;
    }
    while (vregs_grow()) {
    }
    while (locations_grow()) {
    }
  }

  // Whether some uniform root may be read where nothing has defined it: what is moved there may be anything.
  [[nodiscard]] bool has_undefined() const {
    for (std::size_t v = 0; v < vregs_.size(); ++v)
      if (vregs_[v] != 0 && !before_.vregs[v].is_architectural() && may_be_undefined(ir::VRegId(v))) return true;
    return false;
  }
  // Of the locations that the instruction reads, the guard apart.
  [[nodiscard]] bool any_source(const Inst& i) const {
    const auto ops = after_.operands_of(i);
    return std::any_of(ops.begin(), ops.end(), [&](const Operand& op) {
      return (op.role == Role::Use || op.role == Role::DefUse) && !(op.is_slot() && i.op == Op::Spill) && may_hold(op);
    });
  }
  // Of the roots that the instruction defines in the program before.
  [[nodiscard]] bool defines_uniform(ir::InstId original) const {
    const std::uint32_t at = ids_.find(original);
    if (at == IdIndex::kNone) return false;
    const auto ops = before_.operands_of(before_.insts[at]);
    return std::any_of(ops.begin(), ops.end(),
                       [&](const Operand& op) { return op.is_vreg() && op.writes() && is_uniform_root(op); });
  }

 private:
  [[nodiscard]] bool is_uniform_root(const Operand& op) const { return vregs_[before_.root(op.vreg()).index()] != 0; }
  [[nodiscard]] bool may_hold(const Operand& op) const {
    if (op.is_slot()) return op.slot().index() < slots_.size() && slots_[op.slot().index()] != 0;
    if (!op.is_preg()) return false;
    const std::vector<char>& units = units_[ir::index(op.preg().file)];
    return std::any_of(units.begin() + op.preg().begin(), units.begin() + std::min(op.preg().end(), ir::kMaxUnits),
                       [](char c) { return c != 0; });
  }

  // By a search from the entry for a read that no def of the whole root precedes.
  [[nodiscard]] bool may_be_undefined(ir::VRegId root) const {
    std::vector<char> seen(before_.blocks.size(), 0);
    std::vector<ir::BlockId> work = {ir::BlockId(0)};
    const auto reads = [&](const Operand& op) { return op.is_vreg() && op.reads() && before_.root(op.vreg()) == root; };
    const auto defines = [&](const Operand& op) { return op.is_vreg() && op.writes() && op.vreg() == root && op.part.is_whole(); };
    while (!work.empty()) {
      const ir::BlockId b = work.back();
      work.pop_back();
      if (std::exchange(seen[b.index()], 1) != 0) continue;
      bool is_defined = false;
      for (const Inst& i : before_.insts_of(before_.block(b))) {
        const auto ops = before_.operands_of(i);
        if (std::any_of(ops.begin(), ops.end(), reads)) return true;
        is_defined = !ir::is_guarded(ops) && std::any_of(ops.begin(), ops.end(), defines);
        if (is_defined) break;
      }
      if (is_defined) continue;
      const auto next = before_.successors(b);
      work.insert(work.end(), next.begin(), next.end());
    }
    return false;
  }

  // By a search for a read of it that no write precedes, neither from the entry nor from where an instruction clobbers it.
  [[nodiscard]] bool is_read_undefined(ir::PReg unit) const {
    std::vector<char> seen(after_.blocks.size(), 0);
    std::vector<ir::BlockId> work;
    enum class Fate { Read, Written, Kept };
    const auto touches = [&](const Operand& op) { return op.is_preg() && op.preg().overlaps(unit); };
    const auto fate = [&](std::span<const Inst> insts) {
      for (const Inst& i : insts) {
        const auto ops = after_.operands_of(i);
        if (std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.reads() && touches(op); })) return Fate::Read;
        const bool writes = std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.writes() && touches(op); });
        if (writes && !ir::is_guarded(ops)) return Fate::Written;
      }
      return Fate::Kept;
    };
    const auto enter = [&](std::span<const ir::BlockId> blocks) {
      for (const ir::BlockId b : blocks)
        if (std::exchange(seen[b.index()], 1) == 0) work.push_back(b);
    };
    for (std::size_t b = 0; b < after_.blocks.size(); ++b) {
      const auto insts = after_.insts_of(ir::BlockId(b));
      for (std::size_t k = 0; k < insts.size(); ++k) {
        const auto ops = after_.operands_of(insts[k]);
        if (std::none_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.role == Role::Clobber && touches(op); }))
          continue;
        const Fate f = fate(insts.subspan(k + 1));
        if (f == Fate::Read) return true;
        if (f == Fate::Kept) enter(after_.successors(ir::BlockId(b)));
      }
    }
    const ir::BlockId entry[] = {ir::BlockId(0)};
    enter(entry);
    while (!work.empty()) {
      const ir::BlockId b = work.back();
      work.pop_back();
      const Fate f = fate(after_.insts_of(b));
      if (f == Fate::Read) return true;
      if (f == Fate::Kept) enter(after_.successors(b));
    }
    return false;
  }

  bool vregs_grow() {
    bool grew = false;
    for (const Inst& i : before_.insts) {
      if (!moves_bytes(i) || !defines_uniform(i.id)) continue;
      for (const Operand& op : before_.operands_of(i))
        if (op.is_vreg() && op.role == Role::Use) grew = std::exchange(vregs_[before_.root(op.vreg()).index()], 1) == 0 || grew;
    }
    return grew;
  }

  bool locations_grow() {
    bool grew = false;
    for (const Inst& i : after_.insts) {
      if (!i.is_inserted()) grew = write_defs(i) || grew;
      const bool is_move = i.is_inserted() || moves_bytes(i) || ir::is_slot_move(i.op);
      if (i.op == Op::Remat ? defines_uniform(i.ref) : is_move && (any_source(i) || (!i.is_inserted() && defines_uniform(i.id))))
        grew = write(i, 1) || grew;
    }
    return grew;
  }
  // Where the defs of an original instruction stand whose roots are uniform.
  bool write_defs(const Inst& i) {
    const std::uint32_t at = ids_.find(i.id);
    if (at == IdIndex::kNone) return false;
    const auto want = before_.operands_of(before_.insts[at]), have = after_.operands_of(i);
    bool changed = false;
    for (std::size_t k = 0; k < std::min(want.size(), have.size()); ++k)
      if (want[k].is_vreg() && want[k].writes() && is_uniform_root(want[k]) && have[k].is_preg() && have[k].writes())
        changed = write(have[k].preg(), 1) || changed;
    return changed;
  }
  // Into each location that the instruction writes. Returns whether this changed one.
  bool write(const Inst& i, char may) {
    bool changed = false;
    for (const Operand& op : after_.operands_of(i)) {
      if (op.is_slot() && i.op == Op::Spill && op.slot().index() < slots_.size())
        changed = std::exchange(slots_[op.slot().index()], may) != may || changed;
      if (op.is_preg() && op.writes()) changed = write(op.preg(), may) || changed;
    }
    return changed;
  }
  bool write(ir::PReg r, char may) {
    bool changed = false;
    for (int u = r.begin(); u < std::min(r.end(), ir::kMaxUnits); ++u)
      changed = std::exchange(units_[ir::index(r.file)][static_cast<std::size_t>(u)], may) != may || changed;
    return changed;
  }

  const Function& before_;
  const Function& after_;
  const IdIndex& ids_;
  std::vector<char> vregs_;  // by root: uniform
  ir::PerFile<std::vector<char>> units_;
  std::vector<char> slots_;
};

// Inserted, with a def in a uniform file, and something from elsewhere to put there. Defs come first.
bool is_suspect(const Function& after, const Inst& i) {
  if (!i.is_inserted()) return false;
  const auto is_of = [](const Operand& op) { return op.is_preg() && ir::is_uniform(op.preg().file); };
  bool writes_one = false;
  for (const Operand& op : after.operands_of(i)) {
    if (op.writes()) writes_one = writes_one || is_of(op);
    else if (!writes_one || (op.role == Role::Use && is_of(op))) return false;
  }
  return writes_one;
}

}  // namespace

std::vector<std::uint32_t> per_thread_values_made_uniform(const Case& c) {
  const Function& after = c.after;
  std::vector<std::uint32_t> found;
  if (std::none_of(after.insts.begin(), after.insts.end(), [&](const Inst& i) { return is_suspect(after, i); })) return found;
  const ir::Cfg cfg(after);
  for (std::uint32_t b = 0; b < after.blocks.size(); ++b) {
    const std::uint32_t first = after.blocks[b].first_inst, end = first + after.blocks[b].num_insts;
    for (std::uint32_t i = first; i < end && cfg.is_reachable(ir::BlockId(b)); ++i)
      if (is_suspect(after, after.insts[i])) found.push_back(i);
  }
  if (found.empty()) return found;
  const Sources sources(c);
  if (sources.has_undefined()) return {};
  std::erase_if(found, [&](std::uint32_t i) {
    const Inst& inst = c.after.insts[i];
    return inst.op == Op::Remat ? sources.defines_uniform(inst.ref) : sources.any_source(inst);
  });
  return found;
}

}  // namespace regduel::oracles
