#include "reference/colour/interference_graph.h"

#include <algorithm>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {

NodeId FileGraph::add_node(TempId temp, const Temp& t) {
  const auto n = static_cast<NodeId>(temp_.size());
  temp_.push_back(temp);
  units_.push_back(t.units);
  align_log2_.push_back(t.align_log2);
  shape_.push_back(shape_of(t.units, t.align_log2));
  fixed_.push_back(t.fixed);
  forbidden_.emplace_back();
  cost_.push_back(0);
  is_spillable_.push_back(0);
  merged_into_.push_back(n);
  next_member_.push_back(n);
  is_absent_.push_back(t.fixed.is_valid());
  return n;
}

void FileGraph::finish_nodes() {
  base_ = std::make_shared<Base>(size());
  first_added_.assign(size(), kNoEdge);
  last_added_.assign(size(), kNoEdge);
  marked_for_.assign(size(), kNoNode);
}

void FileGraph::add_edge(NodeId a, NodeId b) {
  if (a == b || !base_->edges.insert(a, b)) return;
  base_->list.emplace_back(a, b);
  base_->list.emplace_back(b, a);
}

void FileGraph::finish_edges() {
  base_->graph = Graph(boost::edges_are_unsorted_multi_pass, base_->list.begin(), base_->list.end(), static_cast<NodeId>(size()));
  base_->list = {};
  base_->edges = EdgeSet();
  squeeze_.reserve(size());
  for (NodeId n = 0; n < size(); ++n) squeeze_.push_back(added_up_squeeze(n));
}

int FileGraph::added_up_squeeze(NodeId n) const {
  int sum = 0;
  for_neighbours(n, [&](NodeId m) { sum += worst(n, m); });
  return sum;
}

bool FileGraph::has_edge(NodeId a, NodeId b) const {
  const auto lists = [&](NodeId n, NodeId m) {
    for (auto [it, end] = boost::adjacent_vertices(n, base_->graph); it != end; ++it)
      if (*it == m) return true;
    for (std::uint32_t e = first_added_[n]; e != kNoEdge; e = added_[e].next)
      if (added_[e].to == m) return true;
    return false;
  };
  // Either both list each other or neither does.
  const auto degree = [&](NodeId n) { return boost::out_degree(n, base_->graph); };
  return degree(a) <= degree(b) ? lists(a, b) : lists(b, a);
}

void FileGraph::append(NodeId n, NodeId to) {
  const auto at = static_cast<std::uint32_t>(added_.size());
  added_.push_back({to, kNoEdge});
  (last_added_[n] == kNoEdge ? first_added_[n] : added_[last_added_[n]].next) = at;
  last_added_[n] = at;
}

std::uint8_t FileGraph::shape_of(int units, int align_log2) {
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (shapes_[s].units == units && shapes_[s].align_log2 == align_log2) return static_cast<std::uint8_t>(s);
  REGDUEL_CHECK(shapes_.size() < 256, "too many shapes of registers");
  shapes_.push_back({units, align_log2});
  fill_worst();
  return static_cast<std::uint8_t>(shapes_.size() - 1);
}

void FileGraph::fill_worst() {
  const std::size_t n = shapes_.size();
  worst_.assign(n * n, 0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      // Positions y of a (multiples of its alignment) with [y, y + ua) overlapping [x, x + ub), for the worst x that b may have.
      const int ua = shapes_[a].units, ub = shapes_[b].units;
      const int step_a = 1 << shapes_[a].align_log2, step_b = 1 << shapes_[b].align_log2;
      int most = 0;
      for (int x = 512; x < 512 + std::max(step_a, step_b); x += step_b) {
        const int low = x - ua + 1, high = x + ub - 1;  // y in [low, high]
        most = std::max(most, high / step_a - (low - 1) / step_a);
      }
      worst_[a * n + b] = most;
    }
}

bool FileGraph::interferes(NodeId a, NodeId b) const {
  if (is_fixed(a) && is_fixed(b)) return true;
  if (is_fixed(a)) return forbidden_[b].intersects(fixed_[a]);
  if (is_fixed(b)) return forbidden_[a].intersects(fixed_[b]);
  return has_edge(a, b);
}

void FileGraph::merge(NodeId kept, NodeId gone) {
  REGDUEL_CHECK(!is_merged(kept) && !is_merged(gone) && kept != gone && units_[kept] == units_[gone],
                "these nodes cannot become one");
  merged_into_[gone] = kept;
  std::swap(next_member_[kept], next_member_[gone]);
  cost_[kept] = std::min(kInfiniteCost - 1, cost_[kept] + cost_[gone]);
  is_spillable_[kept] |= is_spillable_[gone];
  if (!REGDUEL_PLANTED("briggs-merge-forgets-clobbers")) forbidden_[kept] |= forbidden_[gone];
  const std::uint8_t old_shape = shape_[kept];
  if (align_log2_[gone] > align_log2_[kept] && !REGDUEL_PLANTED("briggs-merge-forgets-alignment")) {
    align_log2_[kept] = align_log2_[gone];
    shape_[kept] = shape_of(units_[kept], align_log2_[kept]);
  }
  if (is_fixed(kept) || is_fixed(gone)) {
    const NodeId free = is_fixed(kept) ? gone : kept;
    if (is_fixed(gone)) fixed_[kept] = fixed_[gone];
    is_absent_[kept] = is_absent_[gone] = 1;
    const UnitSet units = UnitSet::of(fixed_[kept]);
    const std::uint8_t shape = free == kept ? old_shape : shape_[free];
    for_neighbours(free, [&](NodeId m) {
      forbidden_[m] |= units;
      squeeze_[m] -= worst_of(shape_[m], shape);
    });
    return;
  }
  is_absent_[gone] = 1;
  for_neighbours(kept, [&](NodeId m) {
    marked_for_[m] = gone;
    if (shape_[kept] != old_shape) squeeze_[m] += worst(m, kept) - worst_of(shape_[m], old_shape);
  });
  // Those of both see one node where there were two; those of the one that is gone see the other.
  for_neighbours(gone, [&](NodeId m) {
    squeeze_[m] -= worst(m, gone);
    if (marked_for_[m] == gone) return;
    squeeze_[m] += worst(m, kept);
    squeeze_[kept] += worst(kept, m);
    append(kept, m);
    append(m, kept);
  });
  if (shape_[kept] != old_shape) squeeze_[kept] = added_up_squeeze(kept);
}

namespace {

class Builder {
 public:
  Builder(const ir::Function& f, const Lowering& lowering, const Code& code) : f_(f), lowering_(lowering), code_(code) {}

  InterferenceGraphs build(const Liveness& liveness) {
    add_nodes();
    out_.is_dead.assign(code_.insts.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      liveness.walk(b, [&](std::uint32_t i, const Liveness::LiveSet& live) { return visit(i, live, code_.blocks[b].freq); });
    for (FileGraph& g : out_.files) g.finish_edges();
    return std::move(out_);
  }

 private:
  void add_nodes() {
    out_.node_of.assign(code_.temps.size(), kNoNode);
    std::vector<std::uint8_t> seen(code_.temps.size(), 0);
    for (const CodeBlock& b : code_.blocks) {
      if (!b.is_reachable) continue;
      for (const CodeInst& inst : code_.insts_of(b))
        for (const Ref& r : code_.refs_of(inst)) seen[r.temp] = 1;
    }
    for (TempId t = 0; t < code_.temps.size(); ++t)
      if (seen[t]) out_.node_of[t] = graph_of(t).add_node(t, code_.temps[t]);
    for (FileGraph& g : out_.files) g.finish_nodes();
  }
  FileGraph& graph_of(TempId t) { return out_.files[ir::index(code_.temps[t].file)]; }

  void interfere(TempId a, TempId b) {
    const Temp &ta = code_.temps[a], &tb = code_.temps[b];
    if (a == b || ta.file != tb.file) return;
    FileGraph& g = graph_of(a);
    if (ta.fixed.is_valid() && tb.fixed.is_valid()) {
      REGDUEL_CHECK(!ta.fixed.overlaps(tb.fixed), "two precoloured temps are live in " + ir::to_string(ta.fixed) + " at once");
    } else if (ta.fixed.is_valid()) {
      g.forbid(out_.node_of[b], UnitSet::of(ta.fixed));
    } else if (tb.fixed.is_valid()) {
      g.forbid(out_.node_of[a], UnitSet::of(tb.fixed));
    } else {
      g.add_edge(out_.node_of[a], out_.node_of[b]);
    }
  }
  // Whether the two can only be in one tuple or in disjoint ones. Then, and only then, may a copy's def go where its source
  // lives on: tuples that overlap in part would let the copy destroy its source.
  [[nodiscard]] bool in_step(TempId a, TempId b) const {
    const Temp &ta = code_.temps[a], &tb = code_.temps[b];
    return ta.units == tb.units && ta.units <= 1 << std::min(ta.align_log2, tb.align_log2);
  }
  void forbid(TempId t, const ir::PerFile<UnitSet>& units) {
    if (!code_.temps[t].fixed.is_valid()) graph_of(t).forbid(out_.node_of[t], units[ir::index(code_.temps[t].file)]);
  }

  bool visit(std::uint32_t i, const Liveness::LiveSet& live, std::uint64_t freq) {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    // A dead copy reads nothing. It still interferes: once its def is spilled it is a store, and must not hit a slot in use.
    out_.is_dead[i] = inst.kind == CodeKind::Move && !live.contains(refs[0].temp);
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (!(refs[k].flags & kWrites)) continue;
      const TempId d = refs[k].temp;
      const TempId source = k < 2u * inst.copy_pairs && k % 2 == 0 && in_step(d, refs[k + 1].temp) ? refs[k + 1].temp : kNoTemp;
      for (const TempId t : live.members())
        if (t != source) interfere(d, t);
      for (std::size_t m = k + 1; m < refs.size() && !REGDUEL_PLANTED("briggs-two-defs-share"); ++m)
        if (refs[m].flags & kWrites) interfere(d, refs[m].temp);
    }
    if (out_.is_dead[i]) return false;
    for (std::size_t k = 0; k < refs.size() && !REGDUEL_PLANTED("briggs-early-clobber-shares"); ++k)
      for (std::size_t m = k + 1; m < refs.size() && (refs[k].flags & kAtReads); ++m)
        if (refs[m].flags & kAtReads) interfere(refs[k].temp, refs[m].temp);
    for (std::size_t p = 0; p < inst.copy_pairs; ++p) {
      const TempId d = refs[2 * p].temp, s = refs[2 * p + 1].temp;
      if (d != s && code_.temps[d].units == code_.temps[s].units) graph_of(d).add_copy(out_.node_of[d], out_.node_of[s], freq);
    }
    if (inst.kind == CodeKind::Original) constraints(inst, refs, live);
    pressure(refs, live);
    return true;
  }

  void constraints(const CodeInst& inst, std::span<const Ref> refs, const Liveness::LiveSet& live) {
    if (const Shape& shape = lowering_.shape(inst.source); shape.has_clobbers) {
      const ir::PerFile<UnitSet>& units = shape.clobbers;
      for (const TempId t : live.members()) {
        bool killed = false;
        for (const Ref& r : refs) killed = killed || (r.temp == t && (r.flags & kWrites) && !(r.flags & kPartial));
        if (REGDUEL_PLANTED("briggs-clobbers-spare-tuples") && code_.temps[t].units > 1) continue;
        if (!killed) forbid(t, units);
      }
      for (const Ref& r : refs)
        if (r.flags & kPartial) forbid(r.temp, units);
    }
    if (f_.insts[inst.source].op == ir::Op::Ret)
      for (const Ref& r : refs) forbid(r.temp, lowering_.callee_saved());
  }

  void pressure(std::span<const Ref> refs, const Liveness::LiveSet& live) {
    ir::PerFile<int> after = {}, at_reads = {};
    for (const TempId t : live.members()) after[ir::index(code_.temps[t].file)] += code_.temps[t].units;
    at_reads = after;
    for (std::size_t k = 0; k < refs.size(); ++k) {
      const Temp& t = code_.temps[refs[k].temp];
      const std::size_t file = ir::index(t.file);
      const bool is_live = live.contains(refs[k].temp);
      if ((refs[k].flags & kWrites) && !is_live) after[file] += t.units;
      if (refs[k].flags & kAtReads) {
        if (!is_live) at_reads[file] += t.units;
      } else if ((refs[k].flags & kWrites) && is_live) {
        at_reads[file] -= t.units;
      }
    }
    for (std::size_t file = 0; file < after.size(); ++file) out_.files[file].note_pressure(std::max(after[file], at_reads[file]));
  }

  const ir::Function& f_;
  const Lowering& lowering_;
  const Code& code_;
  InterferenceGraphs out_;
};

}  // namespace

InterferenceGraphs build_interference_graphs(const ir::Function& f, const Lowering& lowering, const Code& code,
                                             const Liveness& liveness) {
  return Builder(f, lowering, code).build(liveness);
}

}  // namespace regduel::reference
