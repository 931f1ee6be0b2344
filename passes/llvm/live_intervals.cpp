#include "passes/llvm/live_intervals.h"

#include <algorithm>

#include "base/grouped.h"

namespace regduel::passes::llvm {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

LiveIntervals::LiveIntervals(const Function& f, const ir::Cfg& cfg) : f_(f), cfg_(cfg), intervals_(f.vregs.size()) {
  const Liveness live(f, cfg);
  number_slots();
  list_defs();
  find_head_values(live);
  list_segments(live);
  std::sort(raw_.begin(), raw_.end(),
            [](const Raw& x, const Raw& y) { return std::pair(x.root, x.begin) < std::pair(y.root, y.begin); });
  fill(false);
  find_originals();
  fill(true);
  std::vector<Raw>().swap(raw_);
}

bool LiveIntervals::is_free(const Operand& op) const { return op.is_vreg() && !f_.vreg(f_.root(op.vreg())).is_architectural(); }

void LiveIntervals::number_slots() {
  index_of_.resize(f_.insts.size());
  for (std::size_t n = 0; n < f_.blocks.size(); ++n) {
    const ir::Block& b = f_.blocks[n];
    const auto head = static_cast<std::uint32_t>(inst_at_.size());
    first_index_.push_back(head);
    inst_at_.push_back(b.first_inst);
    block_of_.emplace_back(n);
    for (std::uint32_t k = b.first_inst; k < b.first_inst + b.num_insts; ++k) {
      index_of_[k] = f_.insts[k].is_phi() ? head : static_cast<std::uint32_t>(inst_at_.size());
      if (f_.insts[k].is_phi()) continue;
      inst_at_.push_back(k);
      block_of_.emplace_back(n);
    }
  }
  first_index_.push_back(static_cast<std::uint32_t>(inst_at_.size()));
}

std::uint32_t LiveIntervals::inst_of(DefKey key) const {
  const std::uint32_t index = slot_of(key) / 4, inst = inst_at_[index];
  const bool is_head = index == first_index_[block_of_[index].index()];
  return is_head ? inst + static_cast<std::uint32_t>(number_of(key)) : inst;
}

// Operands of one instruction that write one root make one value.
void LiveIntervals::list_defs() {
  is_shared_phi_.assign(f_.insts.size(), 0);
  std::vector<std::uint32_t> phi_of(f_.vregs.size(), kNone);
  for (const ir::Block& b : f_.blocks) {
    for (std::uint32_t n = b.first_inst; n < b.first_inst + b.num_insts && f_.insts[n].is_phi(); ++n) {
      std::uint32_t& other = phi_of[f_.root(f_.operands_of(f_.insts[n])[0].vreg()).index()];
      if (other != kNone && other >= b.first_inst) is_shared_phi_[n] = is_shared_phi_[other] = 1;
      other = n;
    }
    for (std::uint32_t n = b.first_inst; n < b.first_inst + b.num_insts; ++n) {
      first_def_.push_back(static_cast<std::uint32_t>(defs_.size()));
      const auto ops = f_.operands_of(f_.insts[n]);
      const bool is_guarded = ir::is_guarded(ops);
      for (std::size_t k = 0; k < ir::defs_of(ops).size(); ++k) {
        if (!is_free(ops[k])) continue;
        const VRegId root = f_.root(ops[k].vreg());
        const Slot begin = base(n) + (ops[k].is_early_clobber() ? 1 : 2);
        intervals_[root.index()].defs.insert(def_key(begin, f_.insts[n].is_phi() ? n - b.first_inst : k));
        const auto same =
            std::find_if(defs_.begin() + first_def_.back(), defs_.end(), [&](const Def& d) { return d.root == root; });
        const bool is_killed = kills(f_, ops[k], is_guarded);
        if (same != defs_.end()) {
          same->begin = std::min(same->begin, begin);
          same->kills = same->kills || is_killed;
          continue;
        }
        defs_.push_back({root, n, begin, is_killed});
        ++intervals_[root.index()].values;
      }
    }
  }
  first_def_.push_back(static_cast<std::uint32_t>(defs_.size()));
  for (const Def& d : defs_) values_.push_back({d.root, d.inst, {}, static_cast<ValueId>(values_.size())});
}

// For each root, from the ends of predecessors to heads until nothing changes. Where two values meet, or a value and none, the head
// has a value of its own for good; so the rounds end.
void LiveIntervals::find_head_values(const Liveness& live) {
  const std::size_t blocks = f_.blocks.size();
  std::vector<BlockId> order(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end());
  for (std::size_t n = 0; n < blocks; ++n)
    if (!cfg_.is_reachable(BlockId(n))) order.emplace_back(n);
  std::vector<std::uint32_t> next(blocks + 1, 0);
  for (std::size_t n = 0; n < blocks; ++n) next[n + 1] = next[n] + static_cast<std::uint32_t>(live.live_in(BlockId(n)).size());
  first_head_ = next;
  head_values_.assign(next[blocks], kNone);
  const auto roots = live.crossing_roots();
  std::vector<std::uint32_t> place_of(f_.vregs.size(), kNone);
  for (std::uint32_t k = 0; k < roots.size(); ++k) place_of[roots[k].index()] = k;
  const Grouped<BlockId> heads(roots.size(), [&](auto add) {
    for (const BlockId b : order)
      for (const VRegId root : live.live_in(b)) add(place_of[root.index()], b);
  });
  const Grouped<ValueId> defs(roots.size(), [&](auto add) {
    for (ValueId v = 0; v < defs_.size(); ++v)
      if (place_of[defs_[v].root.index()] != kNone) add(place_of[defs_[v].root.index()], v);
  });
  std::vector<ValueId> last(blocks, kNone), head(blocks, kNone);
  std::vector<char> is_own(blocks, 0);
  for (std::uint32_t k = 0; k < roots.size(); ++k) {
    for (const ValueId v : defs[k]) last[block_at(defs_[v].begin).index()] = v;
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : heads[k]) {
        if (is_own[b.index()] != 0) continue;
        bool is_mixed = b.value == 0 || !cfg_.is_reachable(b);
        ValueId only = kNone;
        for (const BlockId p : cfg_.predecessors(b)) {
          const ValueId v = last[p.index()] != kNone ? last[p.index()] : head[p.index()];
          is_mixed = is_mixed || !live.is_live_out(p, roots[k]) || (only != kNone && v != kNone && v != only);
          if (v != kNone) only = v;
        }
        if (!is_mixed && only == head[b.index()]) continue;
        changed = true;
        if (is_mixed) {
          is_own[b.index()] = 1;
          only = new_value(roots[k], b);
          ++intervals_[roots[k].index()].values;
        }
        head[b.index()] = only;
      }
    }
    for (const BlockId b : heads[k]) head_values_[next[b.index()]++] = head[b.index()];
    for (const BlockId b : heads[k]) head[b.index()] = kNone, is_own[b.index()] = 0;
    for (const ValueId v : defs[k]) last[block_at(defs_[v].begin).index()] = kNone;
  }
}

ValueId LiveIntervals::new_value(VRegId root, BlockId head) {
  const auto v = static_cast<ValueId>(values_.size());
  values_.push_back({root, kNone, head, v});
  return v;
}

// Block by block, from the end to the head.
void LiveIntervals::list_segments(const Liveness& live) {
  std::vector<Slot> open_until(f_.vregs.size(), 0);  // 0 = not live
  std::vector<VRegId> open;
  std::vector<std::uint32_t> phi_in(f_.vregs.size(), kNone);  // the last block that has a phi of it
  const auto need = [&](VRegId root, Slot end) {
    if (open_until[root.index()] != 0) return;
    open_until[root.index()] = end;
    open.push_back(root);
  };
  const auto define = [&](std::uint32_t d) {
    const Def& def = defs_[d];
    Slot& end = open_until[def.root.index()];
    raw_.push_back({def.root, def.begin, end == 0 ? base(def.inst) + 3 : end, d});
    end = 0;
  };
  for (std::uint32_t at = 0; at < f_.blocks.size(); ++at) {
    const BlockId b(at);
    for (const VRegId root : live.live_out(b)) need(root, end_of(b));
    const std::uint32_t first = f_.block(b).first_inst;
    for (std::uint32_t n = first + f_.block(b).num_insts; n-- > first;) {
      const auto ops = f_.operands_of(f_.insts[n]);
      for (std::uint32_t d = first_def_[n]; d < first_def_[n + 1]; ++d) {
        // Phis that write parts of one root make one value.
        std::uint32_t& phi = phi_in[defs_[d].root.index()];
        if (!f_.insts[n].is_phi() || phi != at) define(d);
        if (f_.insts[n].is_phi()) phi = at;
      }
      for (std::uint32_t d = first_def_[n]; d < first_def_[n + 1]; ++d)
        if (!defs_[d].kills) need(defs_[d].root, defs_[d].begin);
      if (f_.insts[n].is_phi()) continue;
      const bool has_early = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_early_clobber(); });
      for (const Operand& op : ops) {
        if (!is_free(op) || !op.reads()) continue;
        need(f_.root(op.vreg()), base(n) + 2);
        if (has_early) beside_early_.push_back({f_.root(op.vreg()), base(n), base(n) + 2, kNone});
      }
    }
    std::uint32_t h = first_head_[at];
    for (const VRegId root : live.live_in(b)) {
      if (open_until[root.index()] != 0) raw_.push_back({root, begin_of(b), open_until[root.index()], head_values_[h]});
      ++h;
    }
    for (const VRegId root : open) open_until[root.index()] = 0;
    open.clear();
  }
  for (Raw& r : beside_early_) r.value = new_value(r.root, {});
}

void LiveIntervals::fill(bool with_originals) {
  for (Interval& i : intervals_) i.segments.clear();
  for (const std::vector<Raw>* list : {&raw_, &beside_early_})
    for (const Raw& r : *list) {
      live::Segments& segments = intervals_[r.root.index()].segments;
      if (list == &raw_ || !segments.contains(r.begin))
        segments.add(r.begin, r.end, with_originals ? values_[r.value].original : r.value);
    }
}

void LiveIntervals::find_originals() {
  const auto original_at = [&](VRegId root, Slot slot) {
    const ValueId v = of(root).value_at(slot);
    return v == kNone ? kNone : values_[v].original;
  };
  // The one that arrives from everywhere, but for `own` itself; none where there are several.
  const auto common = [&](BlockId b, ValueId own, auto&& incoming) {
    ValueId only = kNone;
    for (const BlockId p : cfg_.predecessors(b)) {
      const ValueId v = incoming(p);
      if (v == own) continue;
      if (v == kNone || (only != kNone && v != only)) return kNone;
      only = v;
    }
    return only;
  };
  const auto take = [&](ValueId v, ValueId original) {
    if (original != kNone) values_[v].original = original;
  };
  for (const BlockId b : cfg_.reverse_postorder()) {
    for (std::uint32_t h = first_head_[b.index()]; h < first_head_[b.index() + 1]; ++h) {
      const ValueId v = head_values_[h];
      if (values_[v].head != b || b.value == 0) continue;
      take(v, common(b, v, [&](BlockId p) { return original_at(values_[v].root, end_of(p) - 1); }));
    }
    const std::uint32_t first = f_.block(b).first_inst;
    for (std::uint32_t n = first; n < first + f_.block(b).num_insts; ++n) {
      const Inst& i = f_.insts[n];
      const auto ops = f_.operands_of(i);
      if (i.is_phi() && !is_shared_phi(n) && first_def_[n] != first_def_[n + 1] && f_.is_whole(ops[0])) {
        take(first_def_[n], common(b, first_def_[n], [&](BlockId p) {
               const Operand& use = ops[f_.phi_use_from(i, p)];
               return is_free(use) && f_.is_whole(use) ? original_at(f_.root(use.vreg()), end_of(p) - 1) : kNone;
             }));
      }
      if (!i.is_copy() || ir::is_guarded(ops)) continue;
      for (std::uint32_t d = first_def_[n]; d < first_def_[n + 1]; ++d)
        for (const auto [def, use] : ir::copy_pairs(ops))
          if (is_free(def) && f_.root(def.vreg()) == defs_[d].root && f_.is_whole(def) && is_free(use) && f_.is_whole(use))
            take(d, original_at(f_.root(use.vreg()), base(n)));
    }
  }
}

bool LiveIntervals::is_in_one_block(const Interval& i) const {
  if (i.segments.empty()) return true;
  const BlockId b = block_at(i.segments.front().begin);
  return i.segments.front().begin > begin_of(b) && i.segments.back().end < end_of(b);
}

}  // namespace regduel::passes::llvm
