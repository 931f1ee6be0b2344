// The graph of values of one program: blocks in reverse postorder, cells at block heads resolved afterwards. See reaching.h for
// the model and its source. What each instruction does is in reaching_effects.cpp. Tested by memcheck_test.cpp.

#include "oracles/reaching_build.h"

#include <algorithm>
#include <bit>

namespace regduel::oracles {

ReachGraph::ReachGraph(const ir::Function& program, Definitions& defs, std::span<const ir::PReg> callee_saved,
                       std::span<const ir::InstId> doubtful)
    : f_(program), cfg_(program), reads_(program.operands.size()), block_of_(program.insts.size()) {
  for (std::size_t b = 0; b < f_.blocks.size(); ++b)
    for (std::uint32_t i = 0; i < f_.blocks[b].num_insts; ++i) block_of_[f_.blocks[b].first_inst + i] = ir::BlockId(b);
  by_id_.reserve(f_.insts.size());
  for (std::uint32_t i = 0; i < f_.insts.size(); ++i) by_id_.emplace_back(f_.insts[i].id.value, i);
  std::sort(by_id_.begin(), by_id_.end());
  ReachBuilder(*this, defs, callee_saved, doubtful).run();
}

ReachBuilder::ReachBuilder(ReachGraph& graph, Definitions& defs, std::span<const ir::PReg> callee_saved,
                           std::span<const ir::InstId> doubtful)
    : g_(graph), f_(graph.f_), defs_(defs), cells_(f_), doubtful_(doubtful), is_after_(&f_ != &defs.before()), state_(cells_.size()),
      ever_written_(cells_.size(), 0), out_range_(f_.blocks.size()), incoming_(std::bit_ceil(f_.insts.size() * 2 + 64)) {
  for (const ir::Inst& i : f_.insts) has_packs_ = has_packs_ || i.op == ir::Op::P2R || i.op == ir::Op::BitSpill;
  for (const ir::PReg r : callee_saved) {
    for (int u = r.begin(); u < std::min(r.end(), ir::kMaxUnits); ++u) {
      Leaf leaf;
      leaf.kind = LeafKind::Saved;
      leaf.word = static_cast<std::uint32_t>(u);
      saved_.emplace_back(cells_.of_unit(r.file, u), defs_.add(leaf));
      saved_units_.emplace_back(cells_.of_unit(r.file, u), ir::PReg{r.file, 1, static_cast<std::uint16_t>(u)});
    }
  }
  std::sort(saved_.begin(), saved_.end());
  std::sort(saved_units_.begin(), saved_units_.end());
}

void ReachBuilder::run() {
  for (const ir::BlockId b : g_.cfg_.reverse_postorder()) block(b);
  // A callee-saved register that is never written holds what it should.
  std::erase_if(g_.ret_reads_, [&](const RetRead& r) { return ever_written_[cells_.of_unit(r.unit.file, r.unit.first)] == 0; });
  resolve();
  if (has_packs_) {
    g_.overwritten_.assign(g_.nodes_.size(), kNone);
    for (const auto& [node, old] : overwritten_) g_.overwritten_[node] = old;
  }
}

void ReachBuilder::block(ir::BlockId b) {
  block_ = b;
  ++epoch_;
  written_.clear();
  const ir::Block& attributes = f_.block(b);
  for (std::uint32_t i = 0; i < attributes.num_insts; ++i) step(attributes.first_inst + i);
  std::sort(written_.begin(), written_.end());
  const auto begin = static_cast<std::uint32_t>(outs_.size());
  for (const std::uint32_t cell : written_) outs_.emplace_back(cell, state_[cell].node);
  out_range_[b.index()] = {begin, static_cast<std::uint32_t>(outs_.size())};
}

// ---------------------------------------------------------------------------------------------------------------
// The content of cells

NodeId ReachBuilder::add(Node n) {
  if (n.inst == kNone) n.inst = index_;
  g_.nodes_.push_back(n);
  return static_cast<NodeId>(g_.nodes_.size() - 1);
}

NodeId ReachBuilder::read(std::uint32_t cell) {
  CellState& s = state_[cell];
  if (s.seen != epoch_) {
    s.node = incoming(block_, cell);
    s.seen = epoch_;
  }
  return s.node;
}

void ReachBuilder::set(std::uint32_t cell, NodeId n) {
  CellState& s = state_[cell];
  s.node = n;
  s.seen = epoch_;
  if (s.written == epoch_) return;
  s.written = epoch_;
  written_.push_back(cell);
}

NodeId ReachBuilder::incoming(ir::BlockId b, std::uint32_t cell) {
  std::uint32_t& known = incoming_.at(static_cast<std::uint64_t>(b.value) << 32 | cell, kNone);
  if (known == kNone) {
    Node n;
    n.kind = NodeKind::Incoming;
    n.b = cell;
    n.c = b.value;
    known = add(n);
  }
  return known;
}

NodeId ReachBuilder::outgoing(ir::BlockId b, std::uint32_t cell) {
  const auto [begin, end] = out_range_[b.index()];
  const auto last = outs_.begin() + end;
  const auto found = std::lower_bound(outs_.begin() + begin, last, std::pair(cell, 0u));
  return found != last && found->first == cell ? found->second : incoming(b, cell);
}

NodeId ReachBuilder::at_entry(std::uint32_t cell) {
  Node n;
  n.a = kUninitialised;
  const auto found = std::lower_bound(saved_.begin(), saved_.end(), std::pair(cell, 0u));
  if (found != saved_.end() && found->first == cell) n.a = found->second;
  return add(n);
}

// Incoming and outgoing nodes that a read depends on become phis; those that this makes necessary follow. What nobody reads (the
// stale content under a guarded def, mostly) stays as it is, and costs nothing.
void ReachBuilder::resolve() {
  std::vector<NodeId> work;
  std::vector<char> seen;
  const auto visit = [&](NodeId n) {
    if (n >= seen.size()) seen.resize(std::max(g_.nodes_.size(), seen.size() * 2), 0);
    if (seen[n] != 0) return;
    seen[n] = 1;
    work.push_back(n);
  };
  for (const NodeId n : g_.read_nodes_) visit(n);
  for (const RetRead& r : g_.ret_reads_) visit(r.node);
  for (const auto& [node, old] : overwritten_) visit(old);
  std::vector<NodeId> args;
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    const Node node = g_.nodes_[n];
    switch (node.kind) {
      case NodeKind::Leaf: break;
      case NodeKind::Via:
      case NodeKind::Extracted: visit(node.a); break;
      case NodeKind::Phi:
        for (const NodeId arg : g_.phi_args(node)) visit(arg);
        break;
      case NodeKind::Gated:
        visit(node.a);
        visit(node.b);
        visit(g_.guards_[node.c].node);
        break;
      case NodeKind::Compose:
        for (int k = 0; k < 4; ++k) visit(g_.compose_arg(node, k).node);
        break;
      case NodeKind::Packed:
        visit(node.a);
        for (const PackedBit& bit : g_.packed_bits(node)) visit(bit.predicate.node);
        break;
      case NodeKind::Incoming:
      case NodeKind::Outgoing: {
        const std::uint32_t cell = node.b;
        const ir::BlockId b(node.c);
        args.clear();
        if (node.kind == NodeKind::Outgoing) {
          args.push_back(outgoing(b, cell));
        } else {
          if (b.value == 0) args.push_back(at_entry(cell));
          for (const ir::BlockId p : g_.cfg_.predecessors(b))
            if (g_.cfg_.is_reachable(p)) args.push_back(outgoing(p, cell));
        }
        Node& resolved = g_.nodes_[n];
        resolved.kind = NodeKind::Phi;
        resolved.a = static_cast<std::uint32_t>(g_.args_.size());
        resolved.b = static_cast<std::uint32_t>(args.size());
        if (args.size() == 1) resolved.c = kNone;
        g_.args_.insert(g_.args_.end(), args.begin(), args.end());
        for (const NodeId arg : args) visit(arg);
        break;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Values

ByteRef ReachBuilder::flatten(NodeId n, std::uint32_t byte) const {
  const Node& node = g_.nodes_[n];
  return node.kind == NodeKind::Compose ? g_.compose_arg(node, static_cast<int>(byte)) : ByteRef{n, static_cast<int>(byte)};
}

NodeId ReachBuilder::join(std::span<const ByteRef> bytes, std::size_t wanted) {
  bool one = true;
  for (std::size_t k = 0; k < wanted; ++k)
    one = one && bytes[k].node == bytes[0].node && bytes[k].byte == static_cast<int>(k);
  if (one) return bytes[0].node;
  Node n;
  n.kind = NodeKind::Compose;
  n.a = static_cast<std::uint32_t>(g_.args_.size());
  for (std::size_t k = 0; k < 4; ++k) g_.args_.push_back(ReachGraph::pack(bytes[std::min(k, wanted - 1)]));
  return add(n);
}

ReachBuilder::Bytes ReachBuilder::value_at(const Place& place) {
  Bytes value(place.size);
  for (std::uint32_t i = 0; i < place.size; ++i) {
    const std::uint32_t at = place.offset + i;
    value[i] = flatten(read(place.cell + at / place.step), at % place.step);
  }
  return value;
}

// The first `size` bytes of a def whose leaves start at `first` and which is `bytes` wide.
ReachBuilder::Bytes ReachBuilder::leaf_value(LeafId first, std::uint32_t bytes, std::uint32_t size, int operand) {
  Bytes value(size);
  NodeId word = kNone;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (i >= (bytes + 3) / 4 * 4) {
      value[i] = {destroyed(), static_cast<int>(i % 4)};
      continue;
    }
    if (i % 4 == 0) {
      Node n;
      n.a = first + i / 4;
      n.operand = operand;
      word = add(n);
    }
    value[i] = {word, static_cast<int>(i % 4)};
  }
  return value;
}

ReachBuilder::Bytes ReachBuilder::via(Bytes value, int operand) {
  NodeId last_from = kNone, last_to = kNone;
  for (ByteRef& r : value) {
    if (r.node != last_from) {
      last_from = r.node;
      Node n;
      n.kind = NodeKind::Via;
      n.a = r.node;
      n.operand = operand;
      last_to = add(n);
    }
    r.node = last_to;
  }
  return value;
}

NodeId ReachBuilder::destroyed() {
  if (destroyed_ == kNone) {
    Leaf leaf;
    leaf.kind = LeafKind::Destroyed;
    leaf.inst = f_.insts[index_].id;
    Node n;
    n.a = defs_.add(leaf);
    destroyed_ = add(n);
  }
  return destroyed_;
}

NodeId ReachBuilder::phi(std::span<const NodeId> args, std::uint32_t at_block) {
  Node n;
  n.kind = NodeKind::Phi;
  n.a = static_cast<std::uint32_t>(g_.args_.size());
  n.b = static_cast<std::uint32_t>(args.size());
  n.c = at_block;
  g_.args_.insert(g_.args_.end(), args.begin(), args.end());
  return add(n);
}

// What is left of a value where the guard of the instruction at hand holds (or does not): of a write under the very same guard only
// one side. This is the common case of what Walk finds out in general: a spill store under the guard of its def, in one block.
NodeId ReachBuilder::under_guard(NodeId n, bool holds) {
  if (gate_ == kNone) return n;
  const Node outer = g_.nodes_[n];
  const Node& inner = outer.kind == NodeKind::Via ? g_.nodes_[outer.a] : outer;
  if (inner.kind != NodeKind::Gated || g_.guards_[inner.c].node != g_.guards_[gate_].node) return n;
  const bool same_sense = g_.guards_[inner.c].negated == g_.guards_[gate_].negated;
  const NodeId side = holds == same_sense ? inner.a : inner.b;
  if (outer.kind != NodeKind::Via) return side;
  Node moved = outer;
  moved.a = side;
  return add(moved);
}

}  // namespace regduel::oracles
