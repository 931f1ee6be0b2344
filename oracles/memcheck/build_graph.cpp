// The graph of values of one program: blocks in reverse postorder, cells at block heads resolved afterwards. See value_graph.h for
// the model and its source. What each instruction does is in effects.cpp. Tested by value_graph_test.cpp and
// memcheck_test.cpp.

#include "oracles/memcheck/build_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace regduel::oracles {
namespace {

constexpr std::size_t kFew = 128;  // what lists of cells and nodes begin with: most programs are small

}  // namespace

ValueGraph::ValueGraph(const ir::Function& program, const ir::Cfg& cfg, Definitions& defs, const GraphOptions& options)
    : f_(program), cfg_(cfg), places_(program.operands.size()), first_read_(program.operands.size(), kNone),
      block_of_(program.insts.size()), is_sparse_(options.detail == Detail::Sparse) {
  for (std::size_t b = 0; b < f_.blocks.size(); ++b)
    for (std::uint32_t i = 0; i < f_.blocks[b].num_insts; ++i) block_of_[f_.blocks[b].first_inst + i] = ir::BlockId(b);
  GraphBuilder(*this, defs, options).run();
}

GraphBuilder::GraphBuilder(ValueGraph& graph, Definitions& defs, const GraphOptions& options)
    : g_(graph), f_(graph.f_), defs_(defs), options_(options), cells_(f_), is_after_(&f_ != &defs.before()),
      has_early_(f_.insts.size(), 0), number_(cells_.size(), kNone), order_of_(f_.blocks.size(), kNone) {
  if (options.detail == Detail::Sparse) {
    dominators_.emplace(g_.cfg_);
    order_ = dominators_->preorder();
  } else {
    const auto order = g_.cfg_.reverse_postorder();
    order_.assign(order.begin(), order.end());
    for (const ir::Inst& i : f_.insts) has_packs_ = has_packs_ || ir::writes_pack(i.op);
  }
  for (std::uint32_t k = 0; k < order_.size(); ++k) order_of_[order_[k].index()] = k;
  g_.nodes_.reserve(f_.insts.size() * 2);
  g_.read_nodes_.reserve(f_.operands.size());
  outs_.reserve(f_.insts.size());
  g_.args_.reserve(kFew);
  merged_.reserve(f_.insts.size() / 4);
  decode();
}

void GraphBuilder::decode() {
  cell_of_.reserve(kFew);
  bool has_ret = false;
  const auto number = [&](std::uint32_t cell) {
    if (number_[cell] != kNone) return;
    number_[cell] = static_cast<Cell>(cell_of_.size());
    cell_of_.push_back(cell);
  };
  const auto note = [&](std::size_t operand, const Place& place, bool is_read) {
    g_.places_[operand] = place;
    for (std::uint32_t c = 0, end = is_read ? place.cells() : 0; c < end; ++c) number(place.cell + c);
  };
  for (const ir::BlockId b : order_) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = f_.insts[i];
      if (inst.is_deleted()) continue;
      has_ret = has_ret || inst.op == ir::Op::Ret;
      const auto ops = f_.operands_of(inst);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        const ir::Operand& op = ops[k];
        if (!op.is_register()) continue;
        const Place place = cells_.of_operand(op);
        note(inst.first_operand + k, place, op.reads());
        if (is_after_ && op.role == ir::Role::Def && is_early(op, source_of(i), k)) has_early_[i] = 1;
      }
      const std::uint32_t moved = ir::is_slot_move(inst.op) ? cells_.moved_by(ops) : 0;
      if (moved == 0) continue;
      for (std::size_t k = 0; k < ops.size(); ++k)
        if (ops[k].is_slot()) note(inst.first_operand + k, cells_.of_slot(ops[k], moved), inst.op == ir::Op::Refill);
    }
  }
  saved_.reserve(options_.callee_saved.size());
  for (const ir::PReg r : options_.callee_saved) {
    for (int u = r.begin(); u < std::min(r.end(), ir::kMaxUnits); ++u) {
      if (has_ret) number(cells_.of_unit(r.file, u));
      const Cell cell = number_[cells_.of_unit(r.file, u)];
      if (cell != kNone)
        saved_.push_back({cell, defs_.add({.kind = LeafKind::Saved}), ir::PReg{r.file, 1, static_cast<std::uint16_t>(u)}});
    }
  }
  state_.resize(cell_of_.size());
  for (const Saved& s : saved_) state_[s.cell].entry = s.leaf;
  for (const Definitions::Entry& e : defs_.at_entry()) {
    const ir::VReg& reg = defs_.before().vreg(e.vreg);
    const Place place =
        cells_.of_operand(is_after_ ? ir::Operand::of_preg(ir::Role::Use, reg.fixed) : ir::Operand::of_vreg(ir::Role::Use, e.vreg));
    for (std::uint32_t c = 0; c < place.cells(); ++c)
      if (const Cell cell = cell_at(place, c); cell != kNone) state_[cell].entry = e.defined.first + c;
  }
}

const ir::Inst* GraphBuilder::source_of(std::uint32_t index) const {
  const ir::Inst& inst = f_.insts[index];
  if (inst.is_inserted()) return nullptr;
  if (!is_after_) return &inst;
  const std::uint32_t source = defs_.index_of(inst.id);
  if (source == kNone || defs_.before().insts[source].num_operands != inst.num_operands) return nullptr;
  return &defs_.before().insts[source];
}

bool GraphBuilder::is_early(const ir::Operand& op, const ir::Inst* source, std::size_t k) const {
  if (!is_after_ || op.role != ir::Role::Def) return false;
  if (source == nullptr) return false;
  const ir::Operand& own = defs_.before().operands_of(*source)[k];
  return own.role == ir::Role::Def && own.is_early_clobber();
}

void GraphBuilder::run() {
  for (const ir::BlockId b : order_) block(b);
  group_outs();
  // A callee-saved register that is never written holds what it should.
  std::erase_if(g_.ret_reads_,
                [&](const RetRead& r) { return writers_[number_[cells_.of_unit(r.unit.file, r.unit.first)]].empty(); });
  resolve_all();
  if (has_packs_) {
    g_.overwritten_.assign(g_.nodes_.size(), kNone);
    for (const auto& [node, old] : overwritten_) g_.overwritten_[node] = old;
  }
}

void GraphBuilder::block(ir::BlockId b) {
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

void GraphBuilder::group_outs() {
  writers_.build_from(
      state_.size(), outs_, [](const Out& out) { return out.cell; },
      [](const Out& out) { return Writer{.order = out.order, .node = out.node}; });
  for (Cell cell = 0; dominators_ && cell < state_.size(); ++cell) {
    const auto writers = writers_[cell];
    for (std::uint32_t k = 0; k < writers.size(); ++k) {
      Writer& writer = writers[k];
      writer.end = dominators_->end(order_[writer.order]);
      writer.dominator = k - 1;  // kNone for the first
      while (writer.dominator != kNone && writers[writer.dominator].end <= writer.order)
        writer.dominator = writers[writer.dominator].dominator;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// The content of cells

NodeId GraphBuilder::add(Node n) {
  if (n.inst == kNone) n.inst = index_;
  g_.nodes_.push_back(n);
  return static_cast<NodeId>(g_.nodes_.size() - 1);
}

NodeId GraphBuilder::add_leaf(LeafId leaf) { return dominators_ ? kLeafNode | leaf : add({.a = leaf}); }

NodeId GraphBuilder::read(Cell cell) {
  CellState& s = state_[cell];
  if (std::exchange(s.seen, epoch_) != epoch_)
    s.node = add({.kind = NodeKind::Incoming, .a = s.writers, .b = cell, .c = block_.value});
  return s.node;
}

void GraphBuilder::set(std::uint32_t cell, NodeId n) {
  CellState& s = state_[cell];
  s.node = n;
  s.seen = epoch_;
  if (std::exchange(s.written, epoch_) == epoch_) return;
  outs_.push_back({cell, order_of_[block_.index()], n});
}

// The one node for the content of a cell at the head of a join.
NodeId GraphBuilder::merged(ir::BlockId b, Cell cell) {
  std::uint32_t& known = merged_.at(static_cast<std::uint64_t>(order_of_[b.index()]) * state_.size() + cell, kNone);
  if (known == kNone) known = add({.kind = NodeKind::Merged, .b = cell, .c = b.value});
  return known;
}

std::span<const GraphBuilder::Writer>::iterator GraphBuilder::first_from(std::span<const Writer> writers, std::uint32_t order) {
  return std::lower_bound(writers.begin(), writers.end(), order, [](const Writer& w, std::uint32_t o) { return w.order < o; });
}

// The content of the cell at the end of the block.
NodeId GraphBuilder::outgoing(ir::BlockId b, Cell cell) {
  if (!dominators_) return behind(b, true, cell);
  const std::uint32_t at = order_of_[b.index()];
  const std::span<const Writer> writers = std::as_const(writers_)[cell];
  return above(at, cell, static_cast<std::uint32_t>(first_from(writers, at + 1) - writers.begin()));
}

// Detailed: from the block upwards through blocks with one predecessor, to a writer, a join or the entry.
NodeId GraphBuilder::behind(ir::BlockId b, bool with_block, Cell cell) {
  const std::span<const Writer> writers = std::as_const(writers_)[cell];
  if (writers.empty()) return merged(ir::BlockId(0), cell);
  for (;; b = g_.cfg_.predecessors(b)[0]) {
    const auto found = first_from(writers, order_of_[b.index()]);
    if (std::exchange(with_block, true) && found != writers.end() && found->order == order_of_[b.index()]) return found->node;
    if (b.value == 0 || g_.cfg_.predecessors(b).size() != 1) return merged(b, cell);
  }
}

// Sparse: of the block at position `at`, in its place among the writers of the cell (`place` of them are at positions before it, or
// at its own where the block itself counts), the nearest writer that dominates it, unless a join J stands between them of which a
// block of region(J) writes the cell; then the merged node of the nearest such J.
NodeId GraphBuilder::above(std::uint32_t at, Cell cell, std::uint32_t place) {
  const std::span<const Writer> writers = std::as_const(writers_)[cell];
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

// Incoming and outgoing nodes that a read depends on become links; merged nodes that this makes necessary follow, and become phis.
// Other nodes (mostly the stale content under a guarded def) stay unresolved, and cost nothing.
void GraphBuilder::resolve_all() {
  const std::vector<ir::InstId>* const asked = options_.asked;
  const auto is_asked = [&](ir::InstId id) { return asked == nullptr || std::binary_search(asked->begin(), asked->end(), id); };
  std::vector<NodeId> work;
  work.reserve(kFew);
  const auto visit = [&](NodeId n) {
    if (is_leaf_node(n) || std::exchange(g_.nodes_[n].is_resolved, true)) return;
    if (g_.nodes_[n].kind != NodeKind::Leaf) work.push_back(n);
  };
  const auto visit_all = [&](std::span<const NodeId> nodes) {
    for (const NodeId n : nodes) visit(n);
  };
  if (asked == nullptr) visit_all(g_.read_nodes_);
  for (std::size_t i = 0; asked != nullptr && i < f_.insts.size(); ++i) {
    if (!is_asked(f_.insts[i].id)) continue;
    for (std::size_t k = 0; k < f_.insts[i].num_operands; ++k) {
      const std::size_t at = f_.insts[i].first_operand + k;
      if (g_.is_read(at)) visit_all(std::span(g_.read_nodes_).subspan(g_.first_read_[at], g_.places_[at].cells()));
    }
  }
  for (const RetRead& r : g_.ret_reads_)
    if (is_asked(f_.insts[r.inst].id)) visit(r.node);
  for (const auto& [node, old] : overwritten_) visit(old);
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    resolve(n);
    const Node& node = g_.nodes_[n];
    switch (node.kind) {
      case NodeKind::Link:
      case NodeKind::Via:
      case NodeKind::Extracted: visit(node.a); break;
      case NodeKind::Phi: visit_all(g_.phi_args(node)); break;
      case NodeKind::Gated:
        visit(node.a);
        visit(node.b);
        if (asked != nullptr) visit(g_.guards_[node.c].node);  // else it is among what is read
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
}

void GraphBuilder::resolve(NodeId n) {
  const Node node = g_.nodes_[n];
  const Cell cell = node.b;
  const ir::BlockId b(node.c);
  if (node.kind == NodeKind::Incoming || node.kind == NodeKind::Outgoing) {
    const NodeId source = node.kind == NodeKind::Outgoing ? outgoing(b, cell)
                          : dominators_                   ? above(order_of_[b.index()], cell, node.a)
                                                          : behind(b, false, cell);
    g_.nodes_[n].kind = NodeKind::Link;
    g_.nodes_[n].a = source;
  } else if (node.kind == NodeKind::Merged) {
    args_.clear();
    if (b.value == 0) args_.push_back(add_leaf(state_[cell].entry));
    for (const ir::BlockId p : g_.cfg_.predecessors(b))
      if (g_.cfg_.is_reachable(p)) args_.push_back(outgoing(p, cell));
    // Where one way is left, no paths meet.
    g_.nodes_[n] = {.kind = NodeKind::Phi,
                    .is_resolved = true,
                    .a = static_cast<std::uint32_t>(g_.args_.size()),
                    .b = static_cast<std::uint32_t>(args_.size()),
                    .c = args_.size() == 1 ? kNone : node.c,
                    .inst = node.inst};
    g_.args_.insert(g_.args_.end(), args_.begin(), args_.end());
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Values

NodeId GraphBuilder::join(std::span<const ByteRef> bytes, std::size_t wanted) {
  bool one = true;
  for (std::size_t k = 0; k < wanted; ++k) one = one && bytes[k].node == bytes[0].node && bytes[k].byte == static_cast<int>(k);
  if (one) return bytes[0].node;
  const auto first = static_cast<std::uint32_t>(g_.args_.size());
  for (std::size_t k = 0; k < 4; ++k) g_.args_.push_back(ValueGraph::pack(bytes[std::min(k, wanted - 1)]));
  return add({.kind = NodeKind::Compose, .a = first});
}

GraphBuilder::Bytes GraphBuilder::value_at(const Place& place) {
  Bytes value(place.size);
  for (std::uint32_t i = 0; i < place.size; ++i) {
    const std::uint32_t at = place.offset + i;
    value[i] = flatten(read(cell_at(place, at / place.step)), at % place.step);
  }
  return value;
}

// Four bytes as one node: the very node of the cell where they are one.
NodeId GraphBuilder::word_at(const Place& place) {
  return place.offset == 0 && place.step == 4 ? read(cell_at(place, 0)) : join(value_at(place), 4);
}

// The first `size` bytes of what a def of the program before defines; what lies above it is destroyed.
GraphBuilder::Bytes GraphBuilder::leaf_value(Definitions::Defined defined, std::uint32_t size) {
  Bytes value;
  value.reserve(size);
  for (std::uint32_t at = 0; at < size; at += 4) {
    const NodeId word = at < defined.bytes ? add_leaf(defined.first + at / 4) : destroyed();
    for (std::uint32_t i = at; i < std::min(at + 4, size); ++i) value.push_back({word, static_cast<int>(i % 4)});
  }
  return value;
}

// A sparse graph is asked for sets alone, and those look through moves.
GraphBuilder::Bytes GraphBuilder::via(Bytes value, int operand) {
  if (dominators_) return value;
  NodeId from = kNone, to = kNone;
  for (ByteRef& r : value) {
    if (std::exchange(from, r.node) != r.node) to = add({.kind = NodeKind::Via, .a = r.node, .operand = operand});
    r.node = to;
  }
  return value;
}

NodeId GraphBuilder::destroyed() {
  if (destroyed_ == kNone) destroyed_ = add_leaf(defs_.add({.kind = LeafKind::Destroyed, .inst = f_.insts[index_].id}));
  return destroyed_;
}

NodeId GraphBuilder::phi(std::span<const NodeId> args, std::uint32_t at_block) {
  const auto first = static_cast<std::uint32_t>(g_.args_.size());
  g_.args_.insert(g_.args_.end(), args.begin(), args.end());
  return add({.kind = NodeKind::Phi, .a = first, .b = static_cast<std::uint32_t>(args.size()), .c = at_block});
}

// The value of a guard behind the moves within its block: a predicate may have been spilled and refilled between two guards, as any
// byte of a word of the frame.
std::uint32_t GraphBuilder::unmoved(NodeId guard) const {
  ByteRef r{guard, 0};
  for (;; r.node = g_.node(r.node).a) {
    r = flatten(r.node, static_cast<std::uint32_t>(r.byte));
    if (g_.node(r.node).kind != NodeKind::Via) return ValueGraph::pack(r);
  }
}

// The value under the outcome that the guard g of the instruction at hand holds, or does not hold:
//
//   under_guard(gated(g, new, old), true) = new      under_guard(gated(g, new, old), false) = old      under_guard(n, holds) = n
//   else
//
// This is for a spill store under the guard of its def, in one block. ReachingSets::set_under finds out in general.
NodeId GraphBuilder::under_guard(NodeId n, bool holds) {
  if (gate_ == kNone) return n;
  const Node outer = g_.node(n);
  const Node write = outer.kind == NodeKind::Via ? g_.node(outer.a) : outer;
  if (write.kind != NodeKind::Gated || unmoved(g_.guards_[write.c].node) != unmoved(g_.guards_[gate_].node)) return n;
  const bool same_sense = g_.guards_[write.c].negated == g_.guards_[gate_].negated;
  const NodeId side = holds == same_sense ? write.a : write.b;
  return outer.kind != NodeKind::Via ? side : add({.kind = NodeKind::Via, .a = side, .inst = outer.inst, .operand = outer.operand});
}

}  // namespace regduel::oracles
