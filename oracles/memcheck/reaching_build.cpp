// The graph of values of one program: blocks in reverse postorder, cells at block heads resolved afterwards. See reaching.h for
// the model and its source. What each instruction does is in reaching_effects.cpp. Tested by reaching_test.cpp and
// memcheck_test.cpp.

#include "oracles/memcheck/reaching_build.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace regduel::oracles {

ReachGraph::ReachGraph(const ir::Function& program, Definitions& defs, std::span<const ir::PReg> callee_saved,
                       std::span<const ir::InstId> doubtful, Detail detail, const std::optional<std::vector<ir::InstId>>& asked)
    : f_(program), cfg_(program), reads_(program.operands.size()), block_of_(program.insts.size()) {
  if (detail == Detail::EveryJoin) ids_ = IdIndex(program);
  for (std::size_t b = 0; b < f_.blocks.size(); ++b)
    for (std::uint32_t i = 0; i < f_.blocks[b].num_insts; ++i) block_of_[f_.blocks[b].first_inst + i] = ir::BlockId(b);
  ReachBuilder(*this, defs, callee_saved, doubtful, detail).run(asked);
}

ReachBuilder::ReachBuilder(ReachGraph& graph, Definitions& defs, std::span<const ir::PReg> callee_saved,
                           std::span<const ir::InstId> doubtful, Detail detail)
    : g_(graph), f_(graph.f_), defs_(defs), cells_(f_), doubtful_(doubtful), is_after_(&f_ != &defs.before()),
      state_(cells_.size()), ever_written_(cells_.size(), 0), order_of_(f_.blocks.size(), kNone),
      merged_(std::bit_ceil(f_.insts.size() / 2 + 64)) {
  if (detail == Detail::Sparse) {
    dominators_.emplace(g_.cfg_);
    order_ = dominators_->preorder();
  } else {
    const auto order = g_.cfg_.reverse_postorder();
    order_.assign(order.begin(), order.end());
    for (const ir::Inst& i : f_.insts) has_packs_ = has_packs_ || i.op == ir::Op::P2R || i.op == ir::Op::BitSpill;
  }
  g_.nodes_.reserve(f_.insts.size() * 4);
  g_.read_nodes_.reserve(f_.operands.size());
  outs_.reserve(f_.insts.size() * 2);
  for (std::uint32_t k = 0; k < order_.size(); ++k) order_of_[order_[k].index()] = k;
  for (const ir::PReg r : callee_saved) {
    for (int u = r.begin(); u < std::min(r.end(), ir::kMaxUnits); ++u) {
      const ir::PReg unit{r.file, 1, static_cast<std::uint16_t>(u)};
      saved_.push_back({cells_.of_unit(r.file, u), defs_.add({.kind = LeafKind::Saved}), unit});
    }
  }
}

void ReachBuilder::run(const std::optional<std::vector<ir::InstId>>& asked) {
  for (const ir::BlockId b : order_) block(b);
  group_outs();
  // A callee-saved register that is never written holds what it should.
  std::erase_if(g_.ret_reads_, [&](const RetRead& r) { return ever_written_[cells_.of_unit(r.unit.file, r.unit.first)] == 0; });
  resolve(asked);
  if (has_packs_) {
    g_.overwritten_.assign(g_.nodes_.size(), kNone);
    for (const auto& [node, old] : overwritten_) g_.overwritten_[node] = old;
  }
}

void ReachBuilder::block(ir::BlockId b) {
  block_ = b;
  ++epoch_;
  const std::size_t first = outs_.size();
  const ir::Block& attributes = f_.block(b);
  for (std::uint32_t i = 0; i < attributes.num_insts; ++i) step(attributes.first_inst + i);
  for (std::size_t k = first; k < outs_.size(); ++k) {
    CellState& s = state_[outs_[k].cell];
    outs_[k].node = s.node;
    ++s.writers;
  }
}

void ReachBuilder::group_outs() {
  group_begin_.assign(cells_.size() + 1, 0);
  for (const Out& out : outs_) ++group_begin_[out.cell + 1];
  for (std::size_t c = 1; c < group_begin_.size(); ++c) group_begin_[c] += group_begin_[c - 1];
  writers_.resize(outs_.size());
  std::vector<std::uint32_t> next(group_begin_.begin(), group_begin_.end() - 1);
  for (const Out& out : outs_) {
    Writer writer{.order = out.order, .node = out.node};
    const std::uint32_t place = next[out.cell]++ - group_begin_[out.cell];
    if (dominators_) {
      const auto others = writers_of(out.cell);
      writer.end = dominators_->end(order_[out.order]);
      writer.dominator = place - 1;  // kNone for the first
      while (writer.dominator != kNone && others[writer.dominator].end <= out.order)
        writer.dominator = others[writer.dominator].dominator;
    }
    writers_[group_begin_[out.cell] + place] = writer;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// The content of cells

NodeId ReachBuilder::add(Node n) {
  if (n.inst == kNone) n.inst = index_;
  g_.nodes_.push_back(n);
  return static_cast<NodeId>(g_.nodes_.size() - 1);
}

NodeId ReachBuilder::add_leaf(LeafId leaf) { return dominators_ ? kLeafNode | leaf : add({.a = leaf}); }

NodeId ReachBuilder::read(std::uint32_t cell) {
  CellState& s = state_[cell];
  if (std::exchange(s.seen, epoch_) != epoch_)
    s.node = add({.kind = NodeKind::Incoming, .a = s.writers, .b = cell, .c = block_.value});
  return s.node;
}

void ReachBuilder::set(std::uint32_t cell, NodeId n) {
  CellState& s = state_[cell];
  s.node = n;
  s.seen = epoch_;
  if (std::exchange(s.written, epoch_) == epoch_) return;
  outs_.push_back({cell, order_of_[block_.index()], n});
}

// The one node for what a cell holds at the head of a block where paths meet.
NodeId ReachBuilder::merged(ir::BlockId b, std::uint32_t cell) {
  std::uint32_t& known = merged_.at(static_cast<std::uint64_t>(order_of_[b.index()]) * cells_.size() + cell, kNone);
  if (known == kNone) known = add({.kind = NodeKind::Merged, .b = cell, .c = b.value});
  return known;
}

std::span<const ReachBuilder::Writer> ReachBuilder::writers_of(std::uint32_t cell) const {
  return {writers_.data() + group_begin_[cell], group_begin_[cell + 1] - group_begin_[cell]};
}

std::span<const ReachBuilder::Writer>::iterator ReachBuilder::first_from(std::span<const Writer> writers, std::uint32_t order) {
  return std::lower_bound(writers.begin(), writers.end(), order, [](const Writer& w, std::uint32_t o) { return w.order < o; });
}

// At the end of a block.
NodeId ReachBuilder::outgoing(ir::BlockId b, std::uint32_t cell) {
  if (!dominators_) return behind(b, true, cell);
  const std::uint32_t at = order_of_[b.index()];
  const auto writers = writers_of(cell);
  return above(at, cell, static_cast<std::uint32_t>(first_from(writers, at + 1) - writers.begin()));
}

// Blocks with one predecessor are passed over.
NodeId ReachBuilder::behind(ir::BlockId b, bool with_block, std::uint32_t cell) {
  const auto writers = writers_of(cell);
  if (writers.empty()) return merged(ir::BlockId(0), cell);
  for (;; b = g_.cfg_.predecessors(b)[0]) {
    const auto found = first_from(writers, order_of_[b.index()]);
    if (std::exchange(with_block, true) && found != writers.end() && found->order == order_of_[b.index()]) return found->node;
    if (b.value == 0 || g_.cfg_.predecessors(b).size() != 1) return merged(b, cell);
  }
}

// Joins are passed over too where nothing between their dominator and them writes the cell: up to the nearest writer that dominates
// the block at a position. Those before `place` stand before it: the block itself among them where it counts.
NodeId ReachBuilder::above(std::uint32_t at, std::uint32_t cell, std::uint32_t place) {
  const auto writers = writers_of(cell);
  if (writers.empty()) return merged(ir::BlockId(0), cell);
  auto next = writers.begin() + place;
  std::uint32_t writer = place - 1;  // kNone where there is none
  while (writer != kNone && writers[writer].end <= at) writer = writers[writer].dominator;
  const std::uint32_t top = writer == kNone ? 0 : writers[writer].order;
  for (at = dominators_->above(at).join; at > top; at = dominators_->above(dominators_->above(at).dominator).join) {
    const Dominators::Above& region = dominators_->above(at);
    // Regions begin at their joins or above: the first writer from there on is `next`, or before it and mostly near.
    while (next != writers.begin() && (next - 1)->order >= region.begin) --next;
    if (next != writers.end() && next->order < region.end) return merged(order_[at], cell);
  }
  return writer == kNone ? merged(ir::BlockId(0), cell) : writers[writer].node;
}

NodeId ReachBuilder::at_entry(std::uint32_t cell) {
  const auto found =
      std::lower_bound(saved_.begin(), saved_.end(), cell, [](const Saved& s, std::uint32_t c) { return s.cell < c; });
  return add_leaf(found != saved_.end() && found->cell == cell ? found->leaf : kUninitialised);
}

// Incoming and outgoing nodes that a read depends on become links; the merged nodes that this makes necessary follow, and become
// phis. What nobody reads (the stale content under a guarded def, mostly) stays as it is, and costs nothing.
void ReachBuilder::resolve(const std::optional<std::vector<ir::InstId>>& asked) {
  std::vector<NodeId> work;
  std::vector<char> seen(g_.nodes_.size() * 2, 0);
  const auto visit = [&](NodeId n) {
    if (is_leaf_node(n)) return;
    if (n >= seen.size()) seen.resize(std::max(g_.nodes_.size(), seen.size() * 2), 0);
    if (seen[n] != 0) return;
    seen[n] = 1;
    if (g_.nodes_[n].kind != NodeKind::Leaf) work.push_back(n);
  };
  const auto follow = [&] {
    while (!work.empty()) {
      const NodeId n = work.back();
      work.pop_back();
      resolve(n);
      const Node& node = g_.nodes_[n];
      switch (node.kind) {
        case NodeKind::Link:
        case NodeKind::Via:
        case NodeKind::Extracted: visit(node.a); break;
        case NodeKind::Phi:
          for (const NodeId arg : g_.phi_args(node)) visit(arg);
          break;
        case NodeKind::Gated:
          visit(node.a);
          visit(node.b);
          if (asked) visit(g_.guards_[node.c].node);  // else it is among what is read
          break;
        case NodeKind::Compose:
          for (int k = 0; k < 4; ++k) visit(g_.compose_arg(node, k).node);
          break;
        case NodeKind::Packed:
          visit(node.a);
          for (const PackedBit& bit : g_.packed_bits(node)) visit(bit.predicate.node);
          break;
        case NodeKind::Leaf:
        case NodeKind::Incoming:
        case NodeKind::Outgoing:
        case NodeKind::Merged: break;
      }
    }
  };
  const auto need = [&](NodeId n) {
    visit(n);
    follow();
  };
  const auto is_asked = [&](const ir::Inst& inst) { return !asked || std::binary_search(asked->begin(), asked->end(), inst.id); };
  const auto need_all = [&](std::span<const NodeId> nodes) {
    for (const NodeId n : nodes) need(n);
  };
  if (!asked) need_all(g_.read_nodes_);
  for (std::size_t i = 0; asked && i < f_.insts.size(); ++i) {
    if (!is_asked(f_.insts[i])) continue;
    for (std::size_t k = 0; k < f_.insts[i].num_operands; ++k) {
      const ReachGraph::Read& read = g_.reads_[f_.insts[i].first_operand + k];
      need_all(std::span(g_.read_nodes_).subspan(read.first, read.count));
    }
  }
  for (const RetRead& r : g_.ret_reads_)
    if (is_asked(f_.insts[r.inst])) need(r.node);
  for (const auto& [node, old] : overwritten_) need(old);
}

void ReachBuilder::resolve(NodeId n) {
  const Node node = g_.nodes_[n];
  const std::uint32_t cell = node.b;
  const ir::BlockId b(node.c);
  if (node.kind == NodeKind::Incoming || node.kind == NodeKind::Outgoing) {
    const NodeId source = node.kind == NodeKind::Outgoing ? outgoing(b, cell)
                          : dominators_                   ? above(order_of_[b.index()], cell, node.a)
                                                          : behind(b, false, cell);
    g_.nodes_[n].kind = NodeKind::Link;
    g_.nodes_[n].a = source;
  } else if (node.kind == NodeKind::Merged) {
    args_.clear();
    if (b.value == 0) args_.push_back(at_entry(cell));
    for (const ir::BlockId p : g_.cfg_.predecessors(b))
      if (g_.cfg_.is_reachable(p)) args_.push_back(outgoing(p, cell));
    // Where one way is left, no paths meet.
    g_.nodes_[n] = {.kind = NodeKind::Phi,
                    .a = static_cast<std::uint32_t>(g_.args_.size()),
                    .b = static_cast<std::uint32_t>(args_.size()),
                    .c = args_.size() == 1 ? kNone : node.c,
                    .inst = node.inst};
    g_.args_.insert(g_.args_.end(), args_.begin(), args_.end());
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Values

ByteRef ReachBuilder::flatten(NodeId n, std::uint32_t byte) const { return g_.content(n, static_cast<int>(byte)); }

NodeId ReachBuilder::join(std::span<const ByteRef> bytes, std::size_t wanted) {
  bool one = true;
  for (std::size_t k = 0; k < wanted; ++k) one = one && bytes[k].node == bytes[0].node && bytes[k].byte == static_cast<int>(k);
  if (one) return bytes[0].node;
  const auto first = static_cast<std::uint32_t>(g_.args_.size());
  for (std::size_t k = 0; k < 4; ++k) g_.args_.push_back(ReachGraph::pack(bytes[std::min(k, wanted - 1)]));
  return add({.kind = NodeKind::Compose, .a = first});
}

ReachBuilder::Bytes ReachBuilder::value_at(const Place& place) {
  Bytes value(place.size);
  for (std::uint32_t i = 0; i < place.size; ++i) {
    const std::uint32_t at = place.offset + i;
    value[i] = flatten(read(place.cell + at / place.step), at % place.step);
  }
  return value;
}

// Four bytes as one node: the very node of the cell where they are one.
NodeId ReachBuilder::word_at(const Place& place) {
  return place.offset == 0 && place.step == 4 ? read(place.cell) : join(value_at(place), 4);
}

// The first `size` bytes of a def whose leaves start at `first` and which is `bytes` wide.
ReachBuilder::Bytes ReachBuilder::leaf_value(LeafId first, std::uint32_t bytes, std::uint32_t size) {
  Bytes value;
  for (std::uint32_t at = 0; at < size; at += 4) {
    const NodeId word = at < bytes ? add_leaf(first + at / 4) : destroyed();
    for (std::uint32_t i = at; i < std::min(at + 4, size); ++i) value.push_back({word, static_cast<int>(i % 4)});
  }
  return value;
}

// A sparse graph is asked for sets alone, and those look through moves.
ReachBuilder::Bytes ReachBuilder::via(Bytes value, int operand) {
  if (dominators_) return value;
  NodeId from = kNone, to = kNone;
  for (ByteRef& r : value) {
    if (std::exchange(from, r.node) != r.node) to = add({.kind = NodeKind::Via, .a = r.node, .operand = operand});
    r.node = to;
  }
  return value;
}

NodeId ReachBuilder::destroyed() {
  if (destroyed_ == kNone) destroyed_ = add_leaf(defs_.add({.kind = LeafKind::Destroyed, .inst = f_.insts[index_].id}));
  return destroyed_;
}

NodeId ReachBuilder::phi(std::span<const NodeId> args, std::uint32_t at_block) {
  const auto first = static_cast<std::uint32_t>(g_.args_.size());
  g_.args_.insert(g_.args_.end(), args.begin(), args.end());
  return add({.kind = NodeKind::Phi, .a = first, .b = static_cast<std::uint32_t>(args.size()), .c = at_block});
}

// What a guard is, looked through the moves within its block: a predicate may have been spilled and refilled between two guards, as
// any byte of a word of the frame.
std::uint32_t ReachBuilder::unmoved(NodeId guard) const {
  ByteRef r{guard, 0};
  for (;; r.node = g_.node(r.node).a) {
    r = flatten(r.node, static_cast<std::uint32_t>(r.byte));
    if (g_.node(r.node).kind != NodeKind::Via) return ReachGraph::pack(r);
  }
}

// What is left of a value where the guard of the instruction at hand holds (or does not): of a write under the very same guard only
// one side. This is the common case of what ReachSets::set_under finds out in general: a spill store under the guard of its def, in
// one block. It is what the fast check knows of guards.
NodeId ReachBuilder::under_guard(NodeId n, bool holds) {
  if (gate_ == kNone) return n;
  const Node outer = g_.node(n);
  const Node write = outer.kind == NodeKind::Via ? g_.node(outer.a) : outer;
  if (write.kind != NodeKind::Gated || unmoved(g_.guards_[write.c].node) != unmoved(g_.guards_[gate_].node)) return n;
  const bool same_sense = g_.guards_[write.c].negated == g_.guards_[gate_].negated;
  const NodeId side = holds == same_sense ? write.a : write.b;
  return outer.kind != NodeKind::Via ? side : add({.kind = NodeKind::Via, .a = side, .inst = outer.inst, .operand = outer.operand});
}

}  // namespace regduel::oracles
