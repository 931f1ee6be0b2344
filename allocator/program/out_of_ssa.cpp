// See out_of_ssa.h.

#include "allocator/program/out_of_ssa.h"

#include <algorithm>

#include "allocator/program/names.h"
#include "base/planted.h"
#include "ir/cfg.h"

namespace regduel::allocator {
namespace {

class OutOfSsa {
 public:
  OutOfSsa(const Function& program, ir::Fuel* fuel, std::span<const char> dead)
      : in_(program), fuel_(fuel), dead_(dead), cfg_(program), out_(program.clone_header()) {}

  Function run() {
    plan();
    out_.insts.reserve(in_.insts.size() + 2 * edge_blocks_.size());
    out_.operands.reserve(in_.operands.size());
    out_.blocks.reserve(in_.blocks.size() + edge_blocks_.size());
    out_.targets.reserve(in_.targets.size() + edge_blocks_.size());
    for (std::size_t b = 0; b < in_.blocks.size(); ++b) block(BlockId(b));
    for (std::size_t e = 0; e < edge_blocks_.size(); ++e) {
      const Edge& edge = edge_blocks_[e];
      ir::Block attributes;
      attributes.edge_from = edge.from;
      attributes.edge_to = edge.to;
      out_.begin_block(attributes);
      copies(edge);
      Inst bra;
      bra.op = Op::Bra;
      bra.flags = ir::kInserted;
      const BlockId target[] = {edge.to};
      out_.append(bra, {}, target);
    }
    return std::move(out_);
  }

 private:
  struct Edge {
    BlockId from, to;
  };
  struct Pair {
    Operand def, use;
  };

  [[nodiscard]] bool is_dead(const Inst& inst) const {
    return !dead_.empty() && dead_[static_cast<std::size_t>(&inst - in_.insts.data())] != 0;
  }
  [[nodiscard]] bool has_phis(BlockId b) const { return in_.insts_of(b)[0].is_phi(); }

  void plan() {
    at_head_.assign(in_.blocks.size(), BlockId());
    at_tail_.assign(in_.blocks.size(), BlockId());
    for (const BlockId from : cfg_.reverse_postorder())
      for (const BlockId to : cfg_.successors(from)) {
        if (!has_phis(to)) continue;
        const auto ops = in_.operands_of(in_.terminator(from));
        const bool touches = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_register(); });
        const bool is_split = !REGDUEL_PLANTED("fatpoint-phi-copies-on-a-critical-edge");
        if (!is_split) at_tail_[from.index()] = to;
        else if (cfg_.predecessors(to).size() == 1 && ir::may(fuel_, "copies-at-head")) at_head_[to.index()] = from;
        else if (cfg_.successors(from).size() == 1 && !touches && ir::may(fuel_, "copies-at-tail")) at_tail_[from.index()] = to;
        else if (!pairs({from, to}).empty()) edge_blocks_.push_back({from, to});
      }
    std::sort(edge_blocks_.begin(), edge_blocks_.end(),
              [](const Edge& a, const Edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  }

  [[nodiscard]] BlockId target(BlockId from, BlockId to) const {
    const auto it = std::lower_bound(edge_blocks_.begin(), edge_blocks_.end(), Edge{from, to},
                                     [](const Edge& a, const Edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    if (it == edge_blocks_.end() || it->from != from || it->to != to) return to;
    return BlockId(in_.blocks.size() + static_cast<std::size_t>(it - edge_blocks_.begin()));
  }

  [[nodiscard]] Operand rooted(const Operand& op) const {
    if (!op.is_vreg()) return op;
    Operand o = op;
    if (const ir::VReg& v = in_.vreg(op.vreg()); op.part.is_whole() && !v.alias.is_valid()) {
      if (!op.fixed().is_valid()) o.set_fixed(v.fixed);
      return o;
    }
    const Storage s = in_.storage(op);
    o.set_vreg(s.root);
    o.part = s.offset == 0 && s.size == in_.vreg(s.root).bytes() ? ir::Part() : *ir::Part::from_bytes(s.offset, s.size);
    o.set_fixed(in_.fixed_of(op));
    return o;
  }

  void block(BlockId b) {
    out_.begin_block(in_.block(b));
    bool head = at_head_[b.index()].is_valid();
    for (const Inst& inst : in_.insts_of(b)) {
      if (inst.is_phi() || is_dead(inst)) {
        Inst deleted = inst;
        deleted.flags |= ir::kDeleted;
        out_.append(deleted, {});
        continue;
      }
      if (head) copies({at_head_[b.index()], b});
      head = false;
      if (inst.is_terminator() && at_tail_[b.index()].is_valid()) copies({b, at_tail_[b.index()]});
      const Inst& added = out_.append(inst, in_.operands_of(inst), in_.targets_of(inst));
      for (Operand& op : out_.operands_of(added))
        if (op.is_vreg()) op = rooted(op);
      for (BlockId& to : std::span(out_.targets).last(added.num_targets)) to = target(b, to);
    }
  }

  [[nodiscard]] std::vector<Pair> pairs(Edge edge) const {
    std::vector<Pair> list;
    for (const Inst& phi : in_.insts_of(edge.to)) {
      if (!phi.is_phi()) break;
      if (is_dead(phi)) continue;
      const auto from = in_.targets_of(phi);
      const auto it = std::find(from.begin(), from.end(), edge.from);
      const auto ops = in_.operands_of(phi);
      Pair p{rooted(ops[0]), rooted(ops[1 + static_cast<std::size_t>(it - from.begin())])};
      p.def.set_fixed({});  // a precoloured vreg is not bound between instructions
      p.use.set_fixed({});
      if (p.def.names_same(p.use)) {
        // The vreg keeps its value, unless an earlier phi writes the same bytes.
        bool again = false;
        for (const Pair& q : list) again = again || in_.storage(q.def).overlaps(in_.storage(p.def));
        if (!again) continue;
      }
      list.push_back(p);
    }
    return list;
  }

  // The parallel copy of an edge. Phis that define overlapping bytes take effect one after the other: the parallel copy moves the
  // later phi's source to a temporary, and a second copy moves the temporary to the def.
  void copies(Edge edge) {
    std::vector<Pair> list = pairs(edge);
    std::vector<Pair> later;
    const std::vector<Pair> asked = list;  // temporaries are vregs of out_ alone
    for (std::size_t k = 0; k < list.size(); ++k)
      for (std::size_t j = 0; j < k; ++j) {
        const Storage s = in_.storage(asked[k].def);
        if (!in_.storage(asked[j].def).overlaps(s)) continue;
        ir::VReg temp;
        temp.cls = in_.vreg(s.root).cls;
        temp.type = in_.vreg(s.root).type;
        temp.width = in_.vreg(s.root).width == 1 ? 1 : static_cast<std::uint16_t>(8 * s.size);
        temp.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(temp.width));
        const VRegId t = out_.add_vreg(temp);
        later.push_back({list[k].def, Operand::of_vreg(Role::Use, t)});
        list[k].def = Operand::of_vreg(Role::Def, t);
        break;
      }
    const bool is_parallel = !REGDUEL_PLANTED("fatpoint-phi-lost-copy");
    if (is_parallel) copy(list);
    else
      for (const Pair& p : list) copy({&p, 1});
    for (const Pair& p : later) copy({&p, 1});
  }
  void copy(std::span<const Pair> list) {
    if (list.empty()) return;
    ops_.clear();
    for (const Pair& p : list) ops_.push_back(p.def);
    for (const Pair& p : list) ops_.push_back(p.use);
    Inst inst;
    inst.op = Op::Copy;
    inst.flags = ir::kInserted;
    out_.append(inst, ops_);
  }

  const Function& in_;
  ir::Fuel* fuel_;
  std::span<const char> dead_;
  ir::Cfg cfg_;
  Function out_;
  std::vector<BlockId> at_head_, at_tail_;  // by block: the other end of the edge whose copies stand there
  std::vector<Edge> edge_blocks_;           // sorted
  std::vector<Operand> ops_;
};

}  // namespace

Function out_of_ssa(const Function& program, ir::Fuel* fuel, std::span<const char> dead) {
  return OutOfSsa(program, fuel, dead).run();
}

}  // namespace regduel::allocator
