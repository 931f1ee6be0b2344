#include "oracles/memcheck/prepared.h"

#include <algorithm>
#include <set>
#include <utility>

#include "oracles/memcheck/undefined_guards.h"

namespace regduel::oracles {

std::optional<std::size_t> guard_operand(const ir::Function& f, const ir::Inst& i) {
  const auto ops = f.operands_of(i);
  const ir::Operand* const guard = ir::guard_of(ops);
  if (guard == nullptr || !guard->is_register()) return std::nullopt;
  return i.first_operand + static_cast<std::size_t>(guard - ops.data());
}

namespace {

// What one copy comes to in the program before.
class Idleness {
 public:
  explicit Idleness(const ir::Function& f) : f_(f) {}

  // Whether bytes of `written` are read behind instruction `index` of block `from`, copies apart whose defs are not.
  [[nodiscard]] bool is_read_behind(ir::BlockId from, std::uint32_t index, const ir::Storage& written) {
    std::vector<bool> is_seen(f_.blocks.size(), false);
    std::vector<std::pair<ir::BlockId, std::uint32_t>> work = {{from, index + 1}};
    while (!work.empty()) {
      const auto [block, first] = work.back();
      work.pop_back();
      const ir::Block& b = f_.block(block);
      bool is_overwritten = false;
      for (std::uint32_t i = first; i < b.first_inst + b.num_insts && !is_overwritten; ++i) {
        if (!f_.insts[i].is_phi() && needs(block, i, written)) return true;
        is_overwritten = overwrites(f_.insts[i], written);
      }
      if (is_overwritten) continue;
      for (const ir::BlockId next : f_.successors(block)) {
        const ir::Block& n = f_.block(next);
        for (std::uint32_t i = n.first_inst; i < n.first_inst + n.num_insts && f_.insts[i].is_phi(); ++i) {
          const auto ops = f_.operands_of(f_.insts[i]);
          for (std::size_t k = 1; k < ops.size(); ++k)
            if (f_.targets_of(f_.insts[i])[k - 1] == block && reads(ops[k], written) && is_def_read(next, i, ops[0])) return true;
        }
        if (is_seen[next.index()]) continue;
        is_seen[next.index()] = true;
        work.emplace_back(next, n.first_inst);
      }
    }
    return false;
  }

  // Whether the def of a copy holds the use in front of instruction `index`, since on each path a copy of the two without a guard is
  // the last that wrote either.
  [[nodiscard]] bool holds_already(ir::BlockId block, std::uint32_t index, const ir::Operand& def, const ir::Operand& use,
                                   const ir::Cfg& cfg) const {
    if (def.names_same(use)) return true;
    const ir::Storage d = f_.storage(def), u = f_.storage(use);
    std::vector<bool> is_seen(f_.blocks.size(), false);
    std::vector<std::pair<ir::BlockId, std::uint32_t>> work = {{block, index}};
    while (!work.empty()) {
      const auto [b, end] = work.back();
      work.pop_back();
      bool is_found = false;
      for (std::uint32_t i = end; i-- > f_.block(b).first_inst && !is_found;) {
        const auto ops = f_.operands_of(f_.insts[i]);
        const bool writes = std::ranges::any_of(ops, [&](const ir::Operand& op) {
          return op.is_vreg() && op.writes() && (f_.storage(op).overlaps(d) || f_.storage(op).overlaps(u));
        });
        if (!writes) continue;
        if (!f_.insts[i].is_copy() || ir::is_guarded(ops) || ir::copy_pairs(ops).size() != 1) return false;
        const auto [to, from] = ir::copy_pairs(ops)[0];
        is_found = (to.names_same(def) && from.names_same(use)) || (to.names_same(use) && from.names_same(def));
        if (!is_found) return false;
      }
      if (is_found) continue;
      const auto preds = cfg.predecessors(b);
      if (b.index() == 0 || preds.empty()) return false;
      for (const ir::BlockId p : preds) {
        if (is_seen[p.index()]) continue;
        is_seen[p.index()] = true;
        work.emplace_back(p, f_.block(p).first_inst + f_.block(p).num_insts);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool reads(const ir::Operand& op, const ir::Storage& written) const {
    return op.is_vreg() && op.reads() && f_.storage(op).overlaps(written);
  }
  [[nodiscard]] bool overwrites(const ir::Inst& i, const ir::Storage& written) const {
    const auto ops = f_.operands_of(i);
    return !ir::is_guarded(ops) && std::ranges::any_of(ops, [&](const ir::Operand& op) {
      if (!op.is_vreg() || op.role != ir::Role::Def) return false;
      const ir::Storage s = f_.storage(op);
      return s.root == written.root && s.offset <= written.offset && s.offset + s.size >= written.offset + written.size;
    });
  }
  // Whether the instruction reads the bytes, and is no copy whose defs nothing reads.
  [[nodiscard]] bool needs(ir::BlockId block, std::uint32_t i, const ir::Storage& written) {
    const auto ops = f_.operands_of(f_.insts[i]);
    if (!f_.insts[i].is_copy()) return std::ranges::any_of(ops, [&](const ir::Operand& op) { return reads(op, written); });
    const ir::Operand* const guard = ir::guard_of(ops);
    const bool is_guard = guard != nullptr && reads(*guard, written);
    for (const auto [def, use] : ir::copy_pairs(ops))
      if ((is_guard || reads(use, written)) && is_def_read(block, i, def)) return true;
    return false;
  }
  [[nodiscard]] bool is_def_read(ir::BlockId block, std::uint32_t i, const ir::Operand& def) {
    if (!asked_.emplace(i, def.vreg().value).second) return false;  // read at most by itself
    return is_read_behind(block, i, f_.storage(def));
  }

  const ir::Function& f_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> asked_;  // instruction and vreg: a def of a copy or a phi
};

void sort(std::vector<ir::InstId>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
}

}  // namespace

bool is_idle_copy(const Before& before, std::uint32_t old, const ir::Function& after, const ir::Inst& now) {
  const ir::Function& f = before.program();
  if (!f.insts[old].is_copy()) return false;
  const auto have = after.operands_of(now);
  bool moves = !now.is_copy();
  if (now.is_copy())
    for (const auto [def, use] : ir::copy_pairs(have)) moves = moves || !def.is_preg() || !def.names_same(use);
  if (!moves) return true;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::BlockId id(b);
    const ir::Block& block = f.block(id);
    if (old < block.first_inst || old >= block.first_inst + block.num_insts) continue;
    Idleness idle(f);
    for (const auto [def, use] : ir::copy_pairs(f.operands_of(f.insts[old])))
      if (!idle.holds_already(id, old, def, use, before.cfg()) && idle.is_read_behind(id, old, f.storage(def))) return false;
  }
  return true;
}

MemcheckPart::MemcheckPart(const Before& before) : defs_(before.program()) {
  make_graph(before);
  find_doubtful();
  // Which guards are doubtful shows in a graph that trusts them all, and of those it must conclude nothing. What an undefined guard
  // leaves undefined may be another guard, so the sets of a graph may show more of them than the flow of predicates does.
  if (!doubtful_.empty()) {
    const std::vector<ir::InstId> by_flow = always_under_undefined_guards(before.program(), before.cfg());
    undefined_.insert(undefined_.end(), by_flow.begin(), by_flow.end());
    sort(undefined_);
  }
  for (std::size_t known = ~std::size_t{0}; !doubtful_.empty() && known != undefined_.size();) {
    known = undefined_.size();
    make_graph(before);
    if (known > 0) find_doubtful();
  }
  own_leaves_ = defs_.size();
}

void MemcheckPart::make_graph(const Before& before) {
  graph_.emplace(before.program(), before.cfg(), defs_,
                 GraphOptions{.detail = Detail::Sparse, .doubtful = doubtful_, .undefined = undefined_});
  reaching_.emplace(*graph_, defs_, sets_);
}

void MemcheckPart::find_doubtful() {
  if (!graph_->has_gates()) return;
  doubtful_.clear();
  const ir::Function& before = graph_->program();
  const auto is_undefined = [&](std::uint32_t e) { return defs_.is_undefined(leaf_of(e)); };
  const auto is_defined = [&](std::uint32_t e) { return !is_undefined(e); };
  std::vector<signed char> has_undefined, has_defined;  // memos of DefSets::any_of
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) {
    const auto guard = graph_->is_reachable(i) ? guard_operand(before, before.insts[i]) : std::nullopt;
    if (!guard || !graph_->is_read(*guard)) continue;
    const SetId definitions = reaching_->set_of(graph_->read_byte(*guard, 0));
    if (!sets_.any_of(definitions, has_undefined, is_undefined)) continue;
    doubtful_.push_back(before.insts[i].id);
    if (!sets_.any_of(definitions, has_defined, is_defined)) undefined_.push_back(before.insts[i].id);
  }
  sort(doubtful_);
  sort(undefined_);
}

}  // namespace regduel::oracles
