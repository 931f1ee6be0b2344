#include "reference/colour/interference_graph.h"

#include <algorithm>
#include <span>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, const Code& code) : problem_(problem), code_(code) {}

  InterferenceGraphs run(Liveness& liveness) {
    add_nodes();
    out_.is_dead.assign(code_.insts.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) { return visit(i, live, code_.blocks[b].freq); });
    for (FileGraph& g : out_.files) g.finish();
    return std::move(out_);
  }

 private:
  void add_nodes() {
    out_.node_of.assign(code_.temps.size(), kNoNode);
    for (const CodeBlock& b : code_.blocks) {
      if (!b.is_reachable) continue;
      for (const CodeInst& inst : code_.insts_of(b))
        for (const Ref& r : code_.refs_of(inst)) out_.node_of[r.temp] = 0;
    }
    vertices_.resize(code_.temps.size());
    for (TempId t = 0; t < code_.temps.size(); ++t) {
      if (out_.node_of[t] == kNoNode) continue;
      const Temp& temp = code_.temps[t];
      out_.node_of[t] = graph_of(t).add_node(t, temp);
      vertices_[t] = {out_.node_of[t], temp.file, temp.fixed.is_valid()};
    }
    for (FileGraph& g : out_.files) g.finish_nodes();
  }
  FileGraph& graph_of(TempId t) { return out_.files[ir::index(code_.temps[t].file)]; }

  void interfere(TempId a, TempId b) {
    const Vertex va = vertices_[a], vb = vertices_[b];
    if (a == b || va.file != vb.file) return;
    FileGraph& g = out_.files[ir::index(va.file)];
    if (!va.is_fixed && !vb.is_fixed) return g.add_edge(va.node, vb.node);
    const ir::PReg fixed_a = code_.temps[a].fixed, fixed_b = code_.temps[b].fixed;
    REGDUEL_CHECK(!fixed_a.overlaps(fixed_b), "two precoloured temps are live in " + ir::to_string(fixed_a) + " at once");
    if (!va.is_fixed) g.forbid(va.node, UnitSet::of(fixed_b));
    if (!vb.is_fixed) g.forbid(vb.node, UnitSet::of(fixed_a));
  }
  // With all that is live but `source`.
  void interfere_with_live(TempId d, TempId source, const LiveSet& live) {
    const Vertex vd = vertices_[d];
    FileGraph& g = out_.files[ir::index(vd.file)];
    for (const TempId t : live.members()) {
      const Vertex v = vertices_[t];
      if (v.file != vd.file || t == source) continue;
      if (vd.is_fixed || v.is_fixed) interfere(d, t);
      else g.add_edge(vd.node, v.node);
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

  bool visit(std::uint32_t i, const LiveSet& live, std::uint64_t freq) {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    // A dead copy reads nothing. It still interferes: once its def is spilled it is a store, and must not hit a slot in use.
    out_.is_dead[i] = inst.kind == CodeKind::Move && !live.contains(refs[0].temp);
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (!(refs[k].flags & kWrites)) continue;
      const TempId d = refs[k].temp;
      const TempId source = k < 2u * inst.copy_pairs && k % 2 == 0 && in_step(d, refs[k + 1].temp) ? refs[k + 1].temp : kNoTemp;
      interfere_with_live(d, source, live);
      if (REGDUEL_PLANTED("briggs-two-defs-share")) continue;
      for (std::size_t m = k + 1; m < refs.size(); ++m)
        if (refs[m].flags & kWrites) interfere(d, refs[m].temp);
    }
    if (out_.is_dead[i]) return false;
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (!(refs[k].flags & kAtReads)) continue;
      if (REGDUEL_PLANTED("briggs-early-clobber-shares")) continue;
      for (std::size_t m = k + 1; m < refs.size(); ++m)
        if (refs[m].flags & kAtReads) interfere(refs[k].temp, refs[m].temp);
    }
    for (std::size_t p = 0; p < inst.copy_pairs; ++p) {
      const TempId d = refs[2 * p].temp, s = refs[2 * p + 1].temp;
      if (d != s && code_.temps[d].units == code_.temps[s].units) graph_of(d).add_copy(out_.node_of[d], out_.node_of[s], freq);
    }
    if (inst.kind == CodeKind::Original) constraints(inst, refs, live);
    note_pressure(refs, live);
    return true;
  }

  void constraints(const CodeInst& inst, std::span<const Ref> refs, const LiveSet& live) {
    if (const Shape& shape = problem_.shape(inst.source); shape.has_clobbers()) {
      for (const TempId t : live.members()) {
        const bool is_killed =
            std::ranges::any_of(refs, [&](const Ref& r) { return r.temp == t && (r.flags & kWrites) && !(r.flags & kPartial); });
        if (REGDUEL_PLANTED("briggs-clobbers-spare-tuples") && code_.temps[t].units > 1) continue;
        if (!is_killed) forbid(t, *shape.clobbers);
      }
      for (const Ref& r : refs)
        if (r.flags & kPartial) forbid(r.temp, *shape.clobbers);
    }
    if (problem_.program().insts[inst.source].op == ir::Op::Ret)
      for (const Ref& r : refs) forbid(r.temp, problem_.callee_saved());
  }

  // The units live after the instruction or written by it, and those held while its uses are read.
  void note_pressure(std::span<const Ref> refs, const LiveSet& live) {
    ir::PerFile<int> after = live.units(), at_reads = after;
    for (const Ref& r : refs) {
      const Temp& t = code_.temps[r.temp];
      const std::size_t file = ir::index(t.file);
      const bool is_live = live.contains(r.temp);
      if ((r.flags & kWrites) && !is_live) after[file] += t.units;
      if (r.flags & kAtReads) {
        if (!is_live) at_reads[file] += t.units;
      } else if ((r.flags & kWrites) && is_live) {
        at_reads[file] -= t.units;
      }
    }
    for (std::size_t file = 0; file < after.size(); ++file) {
      out_.files[file].note_pressure(std::max(after[file], at_reads[file]));
      if (live.units()[file] > most_live_[file]) note_crowd(static_cast<ir::RegFile>(file), live);
    }
  }

  void note_crowd(ir::RegFile file, const LiveSet& live) {
    most_live_[ir::index(file)] = live.units()[ir::index(file)];
    std::vector<NodeId>& crowd = out_.files[ir::index(file)].crowd();
    crowd.clear();
    for (const TempId t : live.members())
      if (vertices_[t].file == file) crowd.push_back(vertices_[t].node);
  }

  // What is asked of each pair of temps, in one word a temp.
  struct Vertex {
    NodeId node = kNoNode;
    ir::RegFile file = ir::RegFile::R;
    bool is_fixed = false;
  };

  const Problem& problem_;
  const Code& code_;
  std::vector<Vertex> vertices_;  // by temp
  ir::PerFile<int> most_live_ = {};
  InterferenceGraphs out_;
};

}  // namespace

InterferenceGraphs build_interference_graphs(const Problem& problem, const Code& code, Liveness& liveness) {
  return Builder(problem, code).run(liveness);
}

}  // namespace regduel::reference
