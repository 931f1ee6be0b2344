// See uniform_sources.h.
#include "oracles/structure/uniform_sources.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ir/cfg.h"
#include "oracles/before.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

bool moves_bytes(const Inst& i) { return i.is_copy() || i.is_phi() || ir::moves_pieces(i.op); }

// uniform(v), by root.
class UniformRoots {
 public:
  explicit UniformRoots(const Case& c) : before_(c.before), ids_(c.prepared.ids()), roots_(before_.vregs.size(), 0) {
    for (std::size_t v = 0; v < roots_.size(); ++v)
      if (is_marked(before_.vregs[v])) roots_[before_.root(ir::VRegId(v)).index()] = 1;
    while (grow()) {
    }
  }

  [[nodiscard]] static bool is_marked(const ir::VReg& v) { return ir::is_uniform(v.file()) || (v.flags & ir::kVRegUniform) != 0; }

  // True if some uniform root may be read before it is defined, so that its content may be anything.
  [[nodiscard]] bool has_undefined() const {
    for (std::size_t v = 0; v < roots_.size(); ++v)
      if (roots_[v] != 0 && !before_.vregs[v].is_architectural() && may_be_undefined(ir::VRegId(v))) return true;
    return false;
  }
  // Of the roots that the instruction defines in the program before.
  [[nodiscard]] bool defines_uniform(ir::InstId original) const {
    const auto ops = operands_before(original);
    return std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return defines_uniform(op); });
  }
  [[nodiscard]] bool defines_uniform(const Operand& op) const {
    return op.is_vreg() && op.writes() && roots_[before_.root(op.vreg()).index()] != 0;
  }
  // None where the program before has no such instruction.
  [[nodiscard]] std::span<const Operand> operands_before(ir::InstId original) const {
    const std::uint32_t at = ids_.find(original);
    return at == IdIndex::kNone ? std::span<const Operand>() : before_.operands_of(before_.insts[at]);
  }

 private:
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
  bool grow() {
    bool grew = false;
    for (const Inst& i : before_.insts) {
      if (!moves_bytes(i) || !defines_uniform(i.id)) continue;
      for (const Operand& op : before_.operands_of(i))
        if (op.is_vreg() && op.role == Role::Use) grew = std::exchange(roots_[before_.root(op.vreg()).index()], 1) == 0 || grew;
    }
    return grew;
  }

  const Function& before_;
  const IdIndex& ids_;
  std::vector<char> roots_;
};

// may(L) at each point of the program after.
class Locations {
 public:
  // Requires: roots outlives it.
  Locations(const Case& c, const ir::Cfg& cfg, const UniformRoots& roots)
      : after_(c.after), cfg_(cfg), roots_(roots), first_slot_(ir::kNumFiles * ir::kMaxUnits),
        at_begin_(after_.blocks.size(), State(first_slot_ + after_.slots.size(), 0)), is_kept_(at_begin_[0].size(), 0) {
    State& entry = at_begin_[0];
    std::fill(entry.begin(), entry.end(), char{1});
    for (const Inst& i : after_.insts) each_written(i, [&](std::size_t l, bool) { entry[l] = 0; });
    for (const ir::RegFile file : {ir::RegFile::UR, ir::RegFile::UP, ir::RegFile::UB})
      for (int u = 0; u < ir::kMaxUnits; ++u) entry[unit(file, u)] = 1;
    for (const ir::VReg& v : c.before.vregs)
      if (v.is_architectural() && v.fixed.is_valid())
        each_unit(v.fixed, [&](std::size_t l) { entry[l] = UniformRoots::is_marked(v) ? 1 : 0, is_kept_[l] = 1; });
    while (flow()) {
    }
  }

  // The instructions of `suspects`, in ascending order, without a source that may hold a uniform value.
  [[nodiscard]] std::vector<std::uint32_t> without_source(std::span<const std::uint32_t> suspects) const {
    std::vector<std::uint32_t> found;
    auto next = suspects.begin();
    for (std::size_t b = 0; b < after_.blocks.size() && next != suspects.end(); ++b) {
      const std::uint32_t first = after_.blocks[b].first_inst, end = first + after_.blocks[b].num_insts;
      if (*next >= end) continue;
      State state = at_begin_[b];
      for (std::uint32_t i = first; i < end; ++i) {
        const Inst& inst = after_.insts[i];
        if (next != suspects.end() && *next == i) {
          if (!moves_uniform(inst, state)) found.push_back(i);
          ++next;
        }
        step(inst, state);
      }
    }
    return found;
  }

 private:
  using State = std::vector<char>;  // by location: may

  [[nodiscard]] static std::size_t unit(ir::RegFile file, int u) {
    return ir::index(file) * static_cast<std::size_t>(ir::kMaxUnits) + static_cast<std::size_t>(u);
  }
  static void each_unit(ir::PReg r, const auto& action) {
    for (int u = r.begin(); u < std::min<int>(r.end(), ir::kMaxUnits); ++u) action(unit(r.file, u));
  }
  // action(location), of a register or a slot.
  void each_location(const Operand& op, const auto& action) const {
    if (op.is_preg()) each_unit(op.preg(), action);
    else if (op.is_slot() && op.slot().index() < after_.slots.size()) action(first_slot_ + op.slot().index());
  }
  // action(location, is_whole) for each location that the instruction writes; is_whole = no part of its old content stays.
  void each_written(const Inst& i, const auto& action) const {
    const auto ops = after_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops);
    for (const Operand& op : ops) {
      const bool to_slot = op.is_slot() && i.op == Op::Spill;
      if (to_slot || (op.is_preg() && op.writes()))
        each_location(op, [&](std::size_t l) { action(l, !is_guarded && !to_slot && op.role == Role::Def && op.part.is_whole()); });
    }
  }
  [[nodiscard]] bool may(const Operand& op, const State& state) const {
    bool found = false;
    each_location(op, [&](std::size_t l) { found = found || state[l] != 0; });
    return found;
  }
  // True if a location that the instruction reads, the guard apart, may hold a uniform value.
  [[nodiscard]] bool any_source(const Inst& i, const State& state) const {
    const auto ops = after_.operands_of(i);
    return std::any_of(ops.begin(), ops.end(), [&](const Operand& op) {
      return (op.role == Role::Use || op.role == Role::DefUse) && !(op.is_slot() && i.op == Op::Spill) && may(op, state);
    });
  }
  // True if an instruction that moves or repeats values may write a uniform value.
  [[nodiscard]] bool moves_uniform(const Inst& i, const State& state) const {
    if (i.op == Op::Remat) return roots_.defines_uniform(i.ref);
    if (i.is_inserted()) return any_source(i, state);
    return (moves_bytes(i) || ir::is_slot_move(i.op)) && (any_source(i, state) || roots_.defines_uniform(i.id));
  }
  void step(const Inst& i, State& state) const {
    const char moved = moves_uniform(i, state) ? 1 : 0;
    each_written(i, [&](std::size_t l, bool is_whole) { state[l] = static_cast<char>(is_whole ? moved : state[l] | moved); });
    const auto ops = after_.operands_of(i);
    for (const Operand& op : ops)
      if (op.role == Role::Clobber && op.is_preg() && ir::is_uniform(op.preg().file))
        each_location(op, [&](std::size_t l) { state[l] = 1; });
    if (i.is_inserted()) return;
    const auto want = roots_.operands_before(i.id);
    for (std::size_t k = 0; k < std::min(want.size(), ops.size()); ++k)
      if (roots_.defines_uniform(want[k]) && ops[k].is_preg() && ops[k].writes())
        each_location(ops[k], [&](std::size_t l) { state[l] = 1; });
  }
  // One round over the blocks. Returns whether it changed something.
  bool flow() {
    bool grew = false;
    const auto join = [&](State& into, const State& from) {
      for (std::size_t l = 0; l < into.size(); ++l)
        if (from[l] > into[l]) into[l] = 1, grew = true;
    };
    for (const ir::BlockId b : cfg_.reverse_postorder()) {
      State state = at_begin_[b.index()];
      for (const Inst& i : after_.insts_of(b)) {
        step(i, state);
        each_written(i, [&](std::size_t l, bool) {
          if (state[l] > at_begin_[0][l] && is_kept_[l] == 0) at_begin_[0][l] = 1, grew = true;
        });
      }
      for (const ir::BlockId s : cfg_.successors(b)) join(at_begin_[s.index()], state);
    }
    return grew;
  }

  const Function& after_;
  const ir::Cfg& cfg_;
  const UniformRoots& roots_;
  std::size_t first_slot_;
  std::vector<State> at_begin_;  // by block
  State is_kept_;                // by location: architectural, so that it is not undefined at the entry
};

// True if the instruction is inserted, and writes a uniform file from another file or by a remat. Defs come first.
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
  const UniformRoots roots(c);
  if (roots.has_undefined()) return {};
  return Locations(c, cfg, roots).without_source(found);
}

}  // namespace regduel::oracles
