#include "passes/llvm/joiner.h"

#include <algorithm>
#include <set>

#include "base/planted.h"
#include "passes/pass.h"

namespace regduel::passes::llvm {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

Joiner::Joiner(const Function& f, LiveIntervals& intervals)
    : f_(f), intervals_(intervals), cfg_(f), members_(f.vregs.size()), version_(f.vregs.size(), 0),
      repeated_value_(f.insts.size(), kNone), uses_(f.vregs.size()), guarded_(f.vregs.size()), has_hidden_guard_(f.vregs.size(), 0),
      is_repeatable_(f.vregs.size(), 0) {
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    parent_.emplace_back(v);
    members_[v].emplace_back(v);
  }
  std::uint32_t flags = 0;
  for (const Inst& i : f.insts) {
    first_flag_.push_back(flags);
    const auto ops = f.operands_of(i);
    if (i.is_repeatable()) is_repeatable_[f.root(ops[0].vreg()).index()] = 1;
    if (i.is_copy() && ir::is_guarded(ops))
      for (const auto [def, use] : ir::copy_pairs(ops)) {
        guarded_[f.root(def.vreg()).index()].push_back(f.root(use.vreg()));
        guarded_[f.root(use.vreg()).index()].push_back(f.root(def.vreg()));
      }
    if (i.is_copy() || i.is_phi()) flags += static_cast<std::uint32_t>(ir::defs_of(f.operands_of(i)).size());
  }
  is_erased_.assign(flags, 0);
  list_uses();
}

VRegId Joiner::find(VRegId root) {
  while (parent_[root.index()] != root) {
    VRegId& up = parent_[root.index()];
    up = parent_[up.index()];
    root = up;
  }
  return root;
}

bool Joiner::may_share(VRegId a, VRegId b) const {
  const ir::VReg &x = f_.vreg(a), &y = f_.vreg(b);
  const auto is_float = [](const ir::VReg& v) { return v.type == ir::TypeKind::F; };
  return a != b && !x.is_architectural() && !y.is_architectural() && x.cls == y.cls && x.width == y.width &&
         x.align_log2 == y.align_log2 && x.fixed == y.fixed && x.flags == y.flags && is_float(x) == is_float(y);
}

void Joiner::erase(std::uint32_t inst, std::size_t k) {
  const Inst& i = f_.insts[inst];
  is_erased_[first_flag_[inst] + (i.is_phi() ? 0 : k)] = 1;
  const VRegId root = f_.root(f_.operands_of(i)[i.is_phi() ? 0 : k].vreg());
  if (f_.vreg(root).is_architectural()) return;
  const std::uint32_t first = i.is_phi() ? f_.block(intervals_.block_at(intervals_.base(inst))).first_inst : 0;
  intervals_.of(find(root)).defs.erase(def_key(intervals_.base(inst) + 2, i.is_phi() ? inst - first : k));
}

bool Joiner::is_erased(std::uint32_t inst, std::size_t k) const {
  return is_erased_[first_flag_[inst] + (f_.insts[inst].is_phi() ? 0 : k)] != 0;
}

bool Joiner::is_pinned(std::uint32_t inst) const {
  if (!f_.insts[inst].is_copy()) return intervals_.is_shared_phi(inst);
  if (gives_up_registers(f_, f_.insts[inst])) return true;
  const ir::CopyPairs pairs = ir::copy_pairs(f_.operands_of(f_.insts[inst]));
  const auto is_narrow = [&](const Operand& op) { return f_.is_whole(op) && f_.vreg(f_.storage(op).root).width < 32; };
  if (pairs.size() < 2) return false;
  for (const auto& [def, use] : pairs)
    if (f_.vreg(f_.root(def.vreg())).is_architectural() || is_narrow(def) != is_narrow(use)) return true;
  return false;
}

// --- conflicts

ValueId Joiner::value_of(const Operand& use, Slot slot) {
  if (!use.is_vreg() || !f_.is_whole(use)) return kNone;
  const VRegId root = f_.root(use.vreg());
  return f_.vreg(root).is_architectural() ? kNone : intervals_.of(find(root)).value_at(slot);
}

// The use reads of x or y the bytes that the def writes of x or y: both hold the same there.
bool Joiner::copies_other(const Operand& def, const Operand& use, VRegId x, VRegId y) {
  const ir::Storage d = f_.storage(def), u = f_.storage(use);
  const VRegId from = find(u.root);
  return (from == x || from == y) && d.offset == u.offset && d.size == u.size;
}

bool Joiner::same_source(const Operand& a, const Operand& b, VRegId x, VRegId y, Slot slot) {
  const ir::Storage s = f_.storage(a), t = f_.storage(b);
  const VRegId p = find(s.root), q = find(t.root);
  if (s.offset != t.offset || s.size != t.size) return false;
  if (p == q || ((p == x || p == y) && (q == x || q == y))) return true;
  const ValueId v = value_of(a, slot);
  return v != kNone && v == value_of(b, slot);
}

// Two defs at one index, of one each.
bool Joiner::are_same(DefKey a, DefKey b, VRegId x, VRegId y) {
  if (slot_of(a) != slot_of(b)) return false;
  const std::uint32_t n = intervals_.inst_of(a), m = intervals_.inst_of(b);
  const Inst &i = f_.insts[n], &j = f_.insts[m];
  if (is_pinned(n) || is_pinned(m)) return false;
  if (i.is_phi() && j.is_phi()) {
    if (!f_.is_whole(f_.operands_of(i)[0]) || !f_.is_whole(f_.operands_of(j)[0])) return false;
    const auto preds = f_.targets_of(i);
    return std::all_of(preds.begin(), preds.end(), [&](BlockId p) {
      return same_source(f_.operands_of(i)[f_.phi_use_from(i, p)], f_.operands_of(j)[f_.phi_use_from(j, p)], x, y,
                         intervals_.end_of(p) - 1);
    });
  }
  if (n != m || !i.is_copy() || is_rematerialised(n)) return false;
  if (REGDUEL_PLANTED("llvm-defs-of-a-copy-share")) return true;
  const ir::CopyPairs pairs = ir::copy_pairs(f_.operands_of(i));
  const auto first = pairs[number_of(a)], second = pairs[number_of(b)];
  return f_.is_whole(first.def) && f_.is_whole(second.def) && same_source(first.use, second.use, x, y, intervals_.base(n));
}

// A def of x where y is live behind it.
bool Joiner::is_harmless(DefKey def, VRegId x, VRegId y) {
  const Slot slot = slot_of(def), index = slot / 4 * 4;
  if (slot != index + 2) return false;  // early-clobber: y is read beside it, or written
  const std::set<DefKey>& defs = intervals_.of(y).defs;
  auto it = defs.lower_bound(def_key(index, 0));
  if (it != defs.end() && slot_of(*it) < index + 4) {
    bool all = true;
    for (; it != defs.end() && slot_of(*it) < index + 4; ++it) all = all && are_same(def, *it, x, y);
    return all;
  }
  const ValueId y_value = intervals_.of(y).value_at(index + 1);
  if (y_value == kNone) return false;
  const std::uint32_t n = intervals_.inst_of(def);
  const Inst& i = f_.insts[n];
  const auto ops = f_.operands_of(i);
  if (i.is_copy() && !is_pinned(n)) {
    const auto pair = ir::copy_pairs(ops)[number_of(def)];
    if (is_rematerialised(n)) return f_.is_whole(pair.def) && repeated_value_[n] == y_value;
    if (copies_other(pair.def, pair.use, x, y)) return true;
    return f_.is_whole(pair.def) && value_of(pair.use, index) == y_value;
  }
  if (!i.is_phi() || is_pinned(n)) return false;
  auto preds = f_.targets_of(i);
  if (REGDUEL_PLANTED("llvm-phi-looks-at-one-edge")) preds = preds.first(1);
  return std::all_of(preds.begin(), preds.end(), [&](BlockId p) {
    const Operand& use = ops[f_.phi_use_from(i, p)];
    if (copies_other(ops[0], use, x, y)) return true;
    const Slot end = intervals_.end_of(p) - 1;
    const ValueId v = value_of(use, end);
    return f_.is_whole(ops[0]) && v != kNone && v == intervals_.of(y).value_at(end);
  });
}

bool Joiner::hides_guard(VRegId a, VRegId b, const std::vector<DefKey>& erased) {
  if (has_hidden_guard_[a.index()] != 0 || has_hidden_guard_[b.index()] != 0) return true;
  const bool a_is_small = guarded_[a.index()].size() < guarded_[b.index()].size();
  const VRegId far = a_is_small ? b : a;
  const std::vector<VRegId>& list = guarded_[(a_is_small ? a : b).index()];
  return std::any_of(list.begin(), list.end(), [&](VRegId other) { return find(other) == far; }) ||
         std::any_of(erased.begin(), erased.end(),
                     [&](DefKey def) { return ir::is_guarded(f_.operands_of(f_.insts[intervals_.inst_of(def)])); });
}

std::optional<std::vector<DefKey>> Joiner::plan(VRegId a, VRegId b) {
  const bool a_is_small = intervals_.of(a).size() < intervals_.of(b).size();
  const VRegId of_small = a_is_small ? a : b, of_large = a_is_small ? b : a;
  const Interval &small = intervals_.of(of_small), &large = intervals_.of(of_large);
  std::vector<DefKey> erased;
  for (const DefKey def : small.defs) {
    if (!large.segments.contains(slot_of(def))) continue;
    if (!is_harmless(def, of_small, of_large)) return std::nullopt;
    erased.push_back(def);
  }
  for (const live::Segment& s : small.segments)
    for (auto it = large.defs.lower_bound(def_key(s.begin, 0)); it != large.defs.end() && slot_of(*it) < s.end; ++it) {
      // Where both write at one index the loop above has looked, unless one of the two is early.
      const Slot index = slot_of(*it) / 4 * 4;
      const auto other = small.defs.lower_bound(def_key(index, 0));
      if (other != small.defs.end() && slot_of(*other) < index + 4) {
        if (slot_of(*other) != slot_of(*it)) return std::nullopt;
        continue;
      }
      if (!is_harmless(*it, of_large, of_small)) return std::nullopt;
      erased.push_back(*it);
    }
  if ((is_repeatable_[a.index()] != 0 || is_repeatable_[b.index()] != 0) && hides_guard(a, b, erased)) return std::nullopt;
  return erased;
}

VRegId Joiner::join(VRegId a, VRegId b, const std::vector<DefKey>& erased) {
  const bool hides = hides_guard(a, b, erased);
  const bool a_is_small = intervals_.of(a).size() < intervals_.of(b).size();
  Interval &small = intervals_.of(a_is_small ? a : b), &large = intervals_.of(a_is_small ? b : a);
  for (const DefKey def : erased) erase(intervals_.inst_of(def), number_of(def));
  large.defs.merge(small.defs);
  large.values += small.values;
  large.values -= std::min(large.values, static_cast<std::uint32_t>(erased.size()));
  large.segments.add(small.segments);
  small.segments.clear();
  small.defs.clear();
  const VRegId into = std::min(a, b), other = std::max(a, b);
  std::swap(intervals_.of(into), large);
  parent_[other.index()] = into;
  for (auto* list : {&members_, &guarded_}) {
    std::vector<VRegId>&mine = (*list)[into.index()], &theirs = (*list)[other.index()];
    if (mine.size() < theirs.size()) std::swap(mine, theirs);
    mine.insert(mine.end(), theirs.begin(), theirs.end());
    std::vector<VRegId>().swap(theirs);
  }
  if (hides) has_hidden_guard_[into.index()] = 1;
  is_repeatable_[into.index()] |= is_repeatable_[other.index()];
  version_[into.index()] = version_[other.index()] = std::max(version_[into.index()], version_[other.index()]) + 1;
  return into;
}

// --- uses

void Joiner::list_uses() {
  for (std::uint32_t n = 0; n < f_.insts.size(); ++n) {
    const Inst& i = f_.insts[n];
    const auto ops = f_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops);
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg()) continue;
      std::vector<Use>& uses = uses_[f_.root(ops[k].vreg()).index()];
      if (i.is_phi() && k > 0) uses.push_back({n, k, intervals_.end_of(f_.targets_of(i)[k - 1])});
      else if (needs_old_value(f_, ops[k], is_guarded)) uses.push_back({n, k, intervals_.base(n) + 2});
    }
  }
}

bool Joiner::is_live_use(const Use& use) const {
  const Inst& i = f_.insts[use.inst];
  if (!i.is_copy() && !i.is_phi()) return true;
  const auto ops = f_.operands_of(i);
  const std::size_t pairs = ir::defs_of(ops).size();
  if (i.is_phi()) return !is_erased(use.inst, 0);
  if (use.operand >= 2 * pairs) {  // the guard
    for (std::size_t k = 0; k < pairs; ++k)
      if (!is_erased(use.inst, k)) return true;
    return false;
  }
  if (is_rematerialised(use.inst)) return false;
  return !is_erased(use.inst, use.operand < pairs ? use.operand : use.operand - pairs);
}

int Joiner::copies_from(VRegId root) const {
  int copies = 0;
  for (const VRegId member : members_[root.index()])
    for (const Use& use : uses_[member.index()])
      copies += (f_.insts[use.inst].is_copy() || f_.insts[use.inst].is_phi()) && is_live_use(use) ? 1 : 0;
  return copies;
}

// From each use back to the defs before it, as far as the interval goes now (LLVM's shrinkToUses).
void Joiner::shrink(VRegId root) {
  Interval& interval = intervals_.of(root);
  std::vector<std::pair<Slot, Slot>> needed;
  for (const DefKey def : interval.defs) needed.emplace_back(slot_of(def), slot_of(def) / 4 * 4 + 3);
  std::vector<Slot> work;
  for (const VRegId member : members_[root.index()])
    for (const Use& use : uses_[member.index()])
      if (is_live_use(use)) work.push_back(use.end);
  std::set<std::uint32_t> done;  // blocks that are live to their ends
  while (!work.empty()) {
    const Slot end = work.back();
    work.pop_back();
    const BlockId b = intervals_.block_at(end - 1);
    if (end == intervals_.end_of(b) && !done.insert(b.value).second) continue;
    // A def at the index of the use itself is behind it.
    const Slot reads = end == intervals_.end_of(b) ? end : end - 2;
    const auto def = interval.defs.lower_bound(def_key(reads, 0));
    if (def != interval.defs.begin() && slot_of(*std::prev(def)) >= intervals_.begin_of(b)) {
      needed.emplace_back(slot_of(*std::prev(def)), end);
      continue;
    }
    needed.emplace_back(intervals_.begin_of(b), end);
    for (const BlockId p : cfg_.predecessors(b))
      if (interval.segments.contains(intervals_.end_of(p) - 1)) work.push_back(intervals_.end_of(p));
  }
  std::sort(needed.begin(), needed.end());
  live::Segments smaller;
  for (const auto& [begin, end] : needed)
    for (auto s = interval.segments.at_or_behind(begin); s != interval.segments.end() && s->begin < end; ++s)
      smaller.add(std::max(begin, s->begin), std::min(end, s->end), s->value);
  interval.segments = std::move(smaller);
  ++version_[root.index()];
}

}  // namespace regduel::passes::llvm
