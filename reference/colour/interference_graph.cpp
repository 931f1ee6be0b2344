#include "reference/colour/interference_graph.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, const Code& code) : problem_(problem), code_(code) {
    for (std::size_t file = 0; file < most_live_.size(); ++file) most_live_[file] = problem.allocatable()[file].count();
  }

  InterferenceGraphs run(Liveness& liveness) {
    add_nodes();
    out_.is_dead.assign(code_.insts.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      touched_ = kAllTouched;
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) { return visit(i, live, code_.blocks[b].freq); });
    }
    for (std::size_t file = 0; file < out_.files.size(); ++file) {
      out_.files[file].note_pressure(pressure_[file]);
      out_.files[file].finish();
    }
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
    ir::PerFile<std::size_t> nodes = {};
    for (TempId t = 0; t < code_.temps.size(); ++t)
      if (out_.node_of[t] != kNoNode) ++nodes[ir::index(code_.temps[t].file)];
    for (std::size_t file = 0; file < nodes.size(); ++file) out_.files[file].reserve_nodes(nodes[file]);
    vertices_.resize(code_.temps.size());
    for (TempId t = 0; t < code_.temps.size(); ++t) {
      if (out_.node_of[t] == kNoNode) continue;
      const Temp& temp = code_.temps[t];
      out_.node_of[t] = graph_of(t).add_node(t, temp);
      const auto file = static_cast<std::uint8_t>(ir::index(temp.file));
      vertices_[t] = {out_.node_of[t], static_cast<std::uint8_t>(file | (temp.fixed.is_valid() ? kFixed : 0)), file, temp.units};
    }
    for (FileGraph& g : out_.files) g.finish_nodes();
  }
  FileGraph& graph_of(TempId t) { return out_.files[ir::index(code_.temps[t].file)]; }

  void interfere(TempId a, TempId b) {
    const Vertex va = vertices_[a], vb = vertices_[b];
    if (a == b || va.file != vb.file) return;
    FileGraph& g = out_.files[va.file];
    if (va.kind == va.file && vb.kind == vb.file) return g.add_edge(va.node, vb.node);
    const ir::PReg fixed_a = code_.temps[a].fixed, fixed_b = code_.temps[b].fixed;
    REGDUEL_CHECK(!fixed_a.overlaps(fixed_b), "two precoloured temps are live in " + ir::to_string(fixed_a) + " at once");
    if (!fixed_a.is_valid()) g.forbid(va.node, UnitSet::of(fixed_b));
    if (!fixed_b.is_valid()) g.forbid(vb.node, UnitSet::of(fixed_a));
  }
  // With all that is live but `source`.
  void interfere_with_live(TempId d, TempId source, const LiveSet& live) {
    const Vertex vd = vertices_[d];
    if (vd.kind != vd.file) {
      for (const TempId t : live.members())
        if (t != source) interfere(d, t);
      return;
    }
    out_.files[vd.file].add_edges(vd.node, live.members().size(), [&](auto add) {
      for (const TempId t : live.members()) {
        const Vertex v = vertices_[t];
        if (t == source) continue;
        if (v.kind == vd.kind) add(v.node);
        else if (v.file == vd.file) interfere(d, t);
      }
    });
  }
  // Whether the two can only be in one tuple or in disjoint ones. Then, and only then, may a copy's def go where its source
  // lives on: tuples that overlap in part would let the copy destroy its source.
  [[nodiscard]] bool in_step(TempId a, TempId b) const {
    const Temp &ta = code_.temps[a], &tb = code_.temps[b];
    return ta.units == tb.units && ta.units <= 1 << std::min(ta.align_log2, tb.align_log2);
  }
  void forbid(TempId t, const ir::PerFile<UnitSet>& units) {
    const Vertex v = vertices_[t];
    if (v.kind == v.file && !units[v.file].is_empty()) out_.files[v.file].forbid(v.node, units[v.file]);
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
    // Of the other files no more is live than there was at the instruction that touched them last.
    for (; touched_ != 0; touched_ &= touched_ - 1) note_live(static_cast<std::size_t>(std::countr_zero(touched_)), live);
    ir::PerFile<int> after = {}, at_reads = {};  // beyond what is live after the instruction
    for (const Ref& r : refs) {
      const Vertex v = vertices_[r.temp];
      const bool is_live = live.contains(r.temp);
      touched_ |= 1u << v.file;
      if ((r.flags & kWrites) && !is_live) after[v.file] += v.units;
      if (r.flags & kAtReads) {
        if (!is_live) at_reads[v.file] += v.units;
      } else if ((r.flags & kWrites) && is_live) {
        at_reads[v.file] -= v.units;
      }
    }
    for (unsigned files = touched_; files != 0; files &= files - 1) {
      const auto file = static_cast<std::size_t>(std::countr_zero(files));
      pressure_[file] = std::max(pressure_[file], live.units()[file] + std::max(after[file], at_reads[file]));
    }
  }

  // A crowd of no more units than there are proves nothing.
  void note_live(std::size_t file, const LiveSet& live) {
    const int units = live.units()[file];
    pressure_[file] = std::max(pressure_[file], units);
    if (units <= most_live_[file]) return;
    most_live_[file] = units;
    std::vector<NodeId>& crowd = out_.files[file].crowd();
    crowd.clear();
    for (const TempId t : live.members())
      if (vertices_[t].file == file) crowd.push_back(vertices_[t].node);
  }

  static constexpr std::uint8_t kFixed = 0x80;
  static constexpr unsigned kAllTouched = (1u << ir::kAllFiles.size()) - 1;
  // What is asked of each pair of temps, in one word a temp.
  struct Vertex {
    NodeId node = kNoNode;
    std::uint8_t kind = 0;  // the file, | kFixed of a precoloured temp
    std::uint8_t file = 0;
    std::uint8_t units = 1;
  };

  const Problem& problem_;
  const Code& code_;
  std::vector<Vertex> vertices_;  // by temp
  unsigned touched_ = 0;          // files of the temps of the instruction visited last; all at the end of a block
  ir::PerFile<int> pressure_ = {};
  ir::PerFile<int> most_live_;
  InterferenceGraphs out_;
};

}  // namespace

InterferenceGraphs build_interference_graphs(const Problem& problem, const Code& code, Liveness& liveness) {
  return Builder(problem, code).run(liveness);
}

}  // namespace regduel::reference
