#include "reference/colour/interference_graph.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "base/check_macro.h"
#include "base/planted.h"
#include "reference/program/contents.h"

namespace regduel::reference {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, const Code& code, const ir::PerFile<bool>& left_out, Edges edges)
      : problem_(problem), code_(code), left_out_(left_out), edges_(edges) {
    if (edges != Edges::Chaitin) contents_.emplace(problem, code);
    if (edges == Edges::Necessary) find_parts_of_phis();
    for (std::size_t file = 0; file < most_live_.size(); ++file) most_live_[file] = problem.allocatable()[file].count();
  }

  InterferenceGraphs run(Liveness& liveness) {
    add_nodes();
    out_.is_dead.assign(code_.insts.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      touched_ = kAllTouched;
      if (contents_) find_same(b);
      block_ = b;
      closed_ = problem_.closed_in(code_, b);
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) { return visit(i, live, code_.blocks[b].freq); });
    }
    for (std::size_t file = 0; file < out_.files.size(); ++file) {
      out_.files[file].note_pressure(pressure_[file]);
      out_.files[file].finish();
    }
    return std::move(out_);
  }

 private:
  // The properties of a temp that the builder asks for at each pair of temps, packed into one word.
  class Vertex {
   public:
    Vertex() = default;
    Vertex(NodeId node, std::uint32_t file, bool is_fixed) : bits_(node << 4 | file << 1 | (is_fixed ? 1u : 0u)) {
      static_assert(ir::kAllFiles.size() <= 8);
      REGDUEL_CHECK(node >> 28 == 0, "too many temps");
    }
    [[nodiscard]] NodeId node() const { return bits_ >> 4; }
    [[nodiscard]] std::uint32_t file() const { return bits_ >> 1 & 7; }
    [[nodiscard]] bool is_fixed() const { return (bits_ & 1) != 0; }

   private:
    std::uint32_t bits_ = 0;
  };

  void add_nodes() {
    out_.node_of.assign(code_.temps.size(), kNoNode);
    for (const CodeBlock& b : code_.blocks) {
      if (!b.is_reachable) continue;
      for (const CodeInst& inst : code_.insts_of(b)) {
        if (inst.kind == CodeKind::Deleted) continue;
        for (const Ref& r : code_.refs_of(inst)) out_.node_of[r.temp] = 0;
      }
    }
    ir::PerFile<std::size_t> nodes = {};
    for (TempId t = 0; t < code_.temps.size(); ++t) {
      if (out_.node_of[t] == kNoNode) continue;
      if (is_left_out(t)) out_.node_of[t] = kNoNode;
      else ++nodes[ir::index(code_.temps[t].file)];
    }
    for (std::size_t file = 0; file < nodes.size(); ++file) out_.files[file].reserve_nodes(nodes[file]);
    vertices_.resize(code_.temps.size());
    for (TempId t = 0; t < code_.temps.size(); ++t) {
      const Temp& temp = code_.temps[t];
      if (out_.node_of[t] != kNoNode) out_.node_of[t] = graph_of(t).add_node(t, temp);
      const NodeId node = out_.node_of[t] != kNoNode ? out_.node_of[t] : 0;
      vertices_[t] = Vertex(node, static_cast<std::uint32_t>(ir::index(temp.file)), temp.fixed.is_valid());
    }
    for (FileGraph& g : out_.files) g.finish_nodes();
  }
  [[nodiscard]] bool is_left_out(TempId t) const { return left_out_[ir::index(code_.temps[t].file)]; }
  FileGraph& graph_of(TempId t) { return out_.files[ir::index(code_.temps[t].file)]; }

  void interfere(TempId a, TempId b) {
    const Vertex va = vertices_[a], vb = vertices_[b];
    if (va.file() != vb.file() || a == b || left_out_[va.file()]) return;
    if (va.is_fixed() || vb.is_fixed()) return interfere_with_fixed(va, vb, code_.temps[a].fixed, code_.temps[b].fixed);
    out_.files[va.file()].add_edge(va.node(), vb.node());
  }
  // With all that is live but `except`.
  void interfere_with_live(TempId d, std::span<const TempId> except, const LiveSet& live) {
    const Vertex vd = vertices_[d];
    if (left_out_[vd.file()]) return;
    const auto members = live.members(vd.file());
    const auto is_excepted = [&](TempId t) { return std::ranges::find(except, t) != except.end(); };
    if (vd.is_fixed()) {
      for (const TempId t : members)
        if (!is_excepted(t)) interfere(d, t);
      return;
    }
    const Vertex* const vertices = vertices_.data();
    if (others_.size() < members.size()) others_.resize(2 * members.size());
    NodeId* end = others_.data();
    bool meets_fixed = false;
    for (const TempId t : members) {
      const Vertex v = vertices[t];
      if (v.is_fixed()) meets_fixed = true;
      else *end++ = v.node();
    }
    for (const TempId t : except) end = std::remove(others_.data(), end, vertices[t].node());
    if (end != others_.data()) out_.files[vd.file()].add_edges(vd.node(), {others_.data(), end});
    if (!meets_fixed) return;
    for (const TempId t : members)
      if (vertices[t].is_fixed() && !is_excepted(t)) interfere(d, t);
  }
  // Two of one file.
  void interfere_with_fixed(Vertex a, Vertex b, ir::PReg fixed_a, ir::PReg fixed_b) {
    FileGraph& g = out_.files[a.file()];
    REGDUEL_CHECK(!fixed_a.overlaps(fixed_b), "two precoloured temps are live in " + ir::to_string(fixed_a) + " at once");
    if (!a.is_fixed()) g.forbid(a.node(), units_of(fixed_b));
    if (!b.is_fixed()) g.forbid(b.node(), units_of(fixed_a));
  }
  // Whether the two can only be in one tuple or in disjoint ones. Only then may a copy's def go where its source lives on, because
  // a copy between tuples that overlap in part would destroy its source.
  [[nodiscard]] bool in_step(TempId a, TempId b) const {
    const Temp &ta = code_.temps[a], &tb = code_.temps[b];
    return ta.units == tb.units && ta.units <= 1 << std::min(ta.align_log2, tb.align_log2);
  }
  void forbid(TempId t, const ir::PerFile<UnitSet>& units) {
    const Vertex v = vertices_[t];
    if (!v.is_fixed() && !left_out_[v.file()] && units[v.file()].any()) out_.files[v.file()].forbid(v.node(), units[v.file()]);
  }

  // What lives there, or is named there, is below the limit of the point.
  void keep_below_limit(const UnitSet& closed, std::span<const Ref> refs, const LiveSet& live) {
    ir::PerFile<UnitSet> units = {};
    units[ir::index(ir::RegFile::R)] = closed;
    for (const TempId t : live.members(static_cast<std::uint32_t>(ir::index(ir::RegFile::R)))) forbid(t, units);
    for (const Ref& r : refs) forbid(r.temp, units);
  }

  // No other value may be in its register.
  [[nodiscard]] bool is_architectural(TempId t) const { return t < code_.num_values && code_.temps[t].fixed.is_valid(); }

  bool visit(std::uint32_t i, const LiveSet& live, std::uint64_t freq) {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    if (!closed_.empty()) keep_below_limit(closed_[i - code_.blocks[block_].first_inst], refs, live);
    if (i + 1 == end_) live.for_each([&](TempId t) { live_out_.push_back(t); });
    const bool is_among_moves = edges_ == Edges::Necessary && is_inserted(inst);
    if (is_among_moves) end_of_moves(i, live);
    // A dead copy reads nothing. Its def still interferes, because as a store, if spilled, it must not hit a slot in use.
    if (inst.kind == CodeKind::Move && !refs.empty() && !live.contains(refs[0].temp)) {
      out_.is_dead[i] = 1;
      defs(i, refs, live);
      return false;
    }
    if (!refs.empty() && inst.kind != CodeKind::Deleted) {
      if (!is_among_moves) defs(i, refs, live);
      uses(refs);
      for (std::size_t p = 0; p < inst.copy_pairs; ++p) {
        const TempId d = refs[2 * p].temp, s = refs[2 * p + 1].temp;
        if (d != s && !is_left_out(d) && code_.temps[d].units == code_.temps[s].units && !is_architectural(d) &&
            !is_architectural(s))
          graph_of(d).add_copy(vertices_[d].node(), vertices_[s].node(), freq);
      }
      note_pressure(refs, live);
    }
    if (inst.kind == CodeKind::Original) constraints(inst, refs, live);
    return true;
  }

  void defs(std::uint32_t i, std::span<const Ref> refs, const LiveSet& live) {
    const CodeInst& inst = code_.insts[i];
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (!(refs[k].flags & kWrites)) continue;
      const TempId d = refs[k].temp;
      const bool is_pair = k < 2u * inst.copy_pairs && k % 2 == 0;
      const bool is_copy = is_pair || (contents_ && is_copied(inst, k));
      except_.clear();
      if (is_copy && edges_ == Edges::Necessary && !contents_->is_known()) continue;
      if (is_copy && contents_ && contents_->is_known()) except_same(i, d);
      else if (is_pair && in_step(d, refs[k + 1].temp)) except_.push_back(refs[k + 1].temp);
      interfere_with_live(d, except_, live);
      if (REGDUEL_PLANTED("briggs-two-defs-share")) continue;
      for (std::size_t m = k + 1; m < refs.size(); ++m) {
        if (!(refs[m].flags & kWrites)) continue;
        // Where all of the copy vanishes, defs of equal contents may be in one home, and so may those of which one is undefined; elsewhere
        // no instruction writes it twice. Of two that are live after it, interfere_with_live has decided.
        const bool may_vanish = is_copy && edges_ == Edges::Necessary && code_.source_of(inst, m) != kNoTemp;
        if (!may_vanish || (contents_->is_connected(d, refs[m].temp) && std::ranges::find(except_, refs[m].temp) == except_.end()))
          interfere(d, refs[m].temp);
      }
    }
  }
  void uses(std::span<const Ref> refs) {
    if (REGDUEL_PLANTED("briggs-early-clobber-shares")) return;
    for (std::size_t k = 0; k + 1 < refs.size(); ++k) {
      if (!(refs[k].flags & kAtReads)) continue;
      for (std::size_t m = k + 1; m < refs.size(); ++m)
        if ((refs[m].flags & kAtReads) && meet_at_reads(refs[k].flags, refs[m].flags)) interfere(refs[k].temp, refs[m].temp);
    }
  }
  [[nodiscard]] bool meet_at_reads(unsigned a, unsigned b) const {
    if (REGDUEL_PLANTED("exact-operands-interfere")) return true;
    switch (edges_) {
      case Edges::Chaitin: return true;
      case Edges::Value: return ((a | b) & kWrites) != 0;
      case Edges::Necessary: return is_early(a) || is_early(b);
    }
    return true;
  }
  static bool is_early(unsigned flags) { return (flags & (kWrites | kAtReads | kReads | kPartial)) == (kWrites | kAtReads); }

  // --- by value ---------------------------------------------------------------------------------------------------
  // What is the same as each def of a copy after it, or for the necessary edges behind the moves that follow it.
  void find_same(std::uint32_t b) {
    const CodeBlock& block = code_.blocks[b];
    same_.clear();
    live_out_.clear();
    first_ = block.first_inst;
    end_ = first_ + block.num_insts;
    if (!block.is_reachable) return;
    std::uint32_t first = block.first_inst;
    contents_->walk(b, [&](std::uint32_t i) {
      const bool is_moves = edges_ == Edges::Necessary && is_inserted(code_.insts[i]);
      if (!is_moves) first = i;
      else if (i + 1 != end_ && is_inserted(code_.insts[i + 1])) return;
      for (std::uint32_t k = first; k <= i; ++k)
        for (std::size_t at = 0; const Ref& r : code_.refs_of(code_.insts[k])) {
          const std::size_t ref = at++;
          if (!(r.flags & kWrites) || (!is_moves && !is_copied(code_.insts[k], ref))) continue;
          if (edges_ == Edges::Value && contents_->is_connected(r.temp, r.temp) && contents_->is_missing(r.temp)) {
            // Where the source is undefined the copy would destroy what equals its def there, unless it copies within one register.
            const TempId source = code_.source_of(code_.insts[k], ref);
            if (source != kNoTemp && source != r.temp) same_.push_back({k, r.temp, source});
            continue;
          }
          contents_->for_each_same(r.temp, [&](TempId t) {
            // A value that is computed again has contents and no node.
            if (out_.node_of[t] != kNoNode) same_.push_back({is_moves ? i : k, r.temp, t});
          });
        }
      first = i + 1;
    });
  }
  void except_same(std::uint32_t i, TempId d) {
    if (REGDUEL_PLANTED("exact-equal-values-interfere")) return;
    for (auto s = std::ranges::lower_bound(same_, i, {}, &Same::inst); s != same_.end() && s->inst == i; ++s)
      if (s->def == d && (edges_ == Edges::Necessary || in_step(d, s->other))) except_.push_back(s->other);
  }
  // The home of such a phi would be a part of the home of its def.
  void find_parts_of_phis() {
    const ir::Function& f = problem_.program();
    is_part_of_phi_.assign(code_.temps.size(), 0);
    for (std::size_t i = 0; i < f.insts.size(); ++i)
      if (f.insts[i].is_phi() && !f.is_whole(f.operands_of(f.insts[i])[0])) is_part_of_phi_[problem_.phi_value(i)] = 1;
  }
  [[nodiscard]] bool is_part_of_phi(TempId t) const { return is_part_of_phi_[t] != 0; }
  // Whether the ref, which is a def, may have contents that another temp has.
  [[nodiscard]] bool is_copied(const CodeInst& inst, std::size_t ref) const {
    return inst.kind == CodeKind::Refill || inst.kind == CodeKind::Remat || code_.source_of(inst, ref) != kNoTemp;
  }
  // Around an instruction of the program.
  static bool is_inserted(const CodeInst& inst) {
    return inst.source == kNoSource && inst.kind != CodeKind::Original && inst.kind != CodeKind::Deleted;
  }
  // The edges of all moves together, at the last of them.
  void end_of_moves(std::uint32_t i, const LiveSet& live) {
    if (!contents_->is_known() || (i + 1 != end_ && is_inserted(code_.insts[i + 1]))) return;
    std::vector<TempId> after;
    if (i + 2 == end_) after = live_out_;
    else live.for_each([&](TempId t) { after.push_back(t); });
    for (std::uint32_t k = i + 1; k-- > first_ && is_inserted(code_.insts[k]);)
      for (const Ref& r : code_.refs_of(code_.insts[k])) {
        if (!(r.flags & kWrites) || std::ranges::find(after, r.temp) == after.end() || is_part_of_phi(r.temp)) continue;
        except_.clear();
        except_same(i, r.temp);
        for (const TempId t : after)
          if (std::ranges::find(except_, t) == except_.end() && !is_part_of_phi(t)) interfere(r.temp, t);
      }
  }

  void constraints(const CodeInst& inst, std::span<const Ref> refs, const LiveSet& live) {
    if (const Shape& shape = problem_.shape(inst.source); shape.has_clobbers()) {
      const bool is_end = problem_.program().insts[inst.source].is_terminator();
      live.for_each([&](TempId t) {
        // The moves of phis may stand behind the end of the block, on an edge.
        if (edges_ == Edges::Necessary && is_end && t >= problem_.program().vregs.size() && t < code_.num_values) return;
        const bool is_killed =
            std::ranges::any_of(refs, [&](const Ref& r) { return r.temp == t && (r.flags & kWrites) && !(r.flags & kPartial); });
        if (REGDUEL_PLANTED("briggs-clobbers-spare-tuples") && code_.temps[t].units > 1) return;
        if (!is_killed) forbid(t, *shape.clobbers);
      });
      for (const Ref& r : refs)
        if (r.flags & kPartial) forbid(r.temp, *shape.clobbers);
    }
    if (problem_.program().insts[inst.source].op == ir::Op::Ret)
      for (const Ref& r : refs) forbid(r.temp, problem_.callee_saved());
  }

  // Requires a ref. The units live after the instruction or written by it, and those held while its uses are read.
  void note_pressure(std::span<const Ref> refs, const LiveSet& live) {
    // Of the other files no more is live than there was at the instruction that touched them last.
    for (; touched_ != 0; touched_ &= touched_ - 1) note_live(static_cast<std::size_t>(std::countr_zero(touched_)), live);
    if (refs.size() == 1) {
      const Ref r = refs.front();
      const Temp& t = code_.temps[r.temp];
      const std::size_t file = ir::index(t.file);
      touched_ = 1u << file;
      // Only the temp itself can be there in addition to what is live after the instruction.
      const int units = live.units()[file] + (live.contains(r.temp) ? 0 : t.units);
      pressure_[file] = std::max(pressure_[file], units);
      return;
    }
    ir::PerFile<int> after = {}, at_reads = {};  // beyond what is live after the instruction
    for (const Ref& r : refs) {
      const Temp& t = code_.temps[r.temp];
      const std::size_t file = ir::index(t.file);
      const bool is_live = live.contains(r.temp);
      touched_ |= 1u << file;
      if ((r.flags & kWrites) && !is_live) after[file] += t.units;
      if (r.flags & kAtReads) {
        if (!is_live) at_reads[file] += t.units;
      } else if ((r.flags & kWrites) && is_live) {
        at_reads[file] -= t.units;
      }
    }
    for (unsigned files = touched_; files != 0; files &= files - 1) {
      const auto file = static_cast<std::size_t>(std::countr_zero(files));
      pressure_[file] = std::max(pressure_[file], live.units()[file] + std::max(after[file], at_reads[file]));
    }
  }

  // Takes the live temps as the crowd, if they need more units than there are: a smaller crowd would prove nothing.
  void note_live(std::size_t file, const LiveSet& live) {
    const int units = live.units()[file];
    pressure_[file] = std::max(pressure_[file], units);
    if (units <= most_live_[file]) return;
    most_live_[file] = units;
    if (left_out_[file]) return;
    std::vector<NodeId>& crowd = out_.files[file].crowd();
    crowd.clear();
    for (const TempId t : live.members(file)) crowd.push_back(vertices_[t].node());
  }

  struct Same {
    std::uint32_t inst;
    TempId def, other;
  };
  static constexpr unsigned kAllTouched = (1u << ir::kAllFiles.size()) - 1;
  const Problem& problem_;
  const Code& code_;
  const ir::PerFile<bool> left_out_;
  const Edges edges_;
  std::optional<Contents> contents_;          // by value
  std::vector<std::uint8_t> is_part_of_phi_;  // by temp
  std::vector<Same> same_;                    // of the block at hand, by instruction
  std::vector<TempId> live_out_;              // of the block at hand
  std::uint32_t first_ = 0, end_ = 0;         // of the block at hand, by value
  std::uint32_t block_ = 0;                   // the block at hand
  std::vector<UnitSet> closed_;               // of it: Problem::closed_in
  std::vector<TempId> except_;                // scratch of defs
  std::vector<Vertex> vertices_;              // by temp
  std::vector<NodeId> others_;                // scratch of interfere_with_live
  unsigned touched_ = 0;                      // files of the temps of the instruction visited last; all at the end of a block
  ir::PerFile<int> pressure_ = {};
  ir::PerFile<int> most_live_;
  InterferenceGraphs out_;
};

}  // namespace

InterferenceGraphs build_interference_graphs(const Problem& problem, const Code& code, Liveness& liveness,
                                             const ir::PerFile<bool>& left_out, Edges edges) {
  return Builder(problem, code, left_out, edges).run(liveness);
}

}  // namespace regduel::reference
