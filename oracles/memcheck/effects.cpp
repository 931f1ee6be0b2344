// What one instruction does to the cells: the transfer function of the graph of values, in the order of FORMAT.md, "Instruction".
//
//   M          the node that each cell holds           g          the guard of instruction i, read from M; true where i has none
//   M[P := v]  M, but the bytes of place P are v       gated(v)   v where g holds, else what the cell held; v where i has no guard
//
//   U  = M[each early-clobber def := destroyed]        the guard of i is read from M, its uses from U
//   M1 = M[each clobber := gated(destroyed)]
//   M2 = M1[d := gated(value(d))] for each def d, in order; a byte that an earlier def of i has written becomes phi(value(d), M2)
//
//   value(d) for  a copy                 via(M(its use))            a remat of #k        via(the leaves of the def of #k)
//                 a refill               via(M(slot))               p2r, bit_spill       packed(M(d), bits)
//                 a phi                  via(phi(out of each predecessor p)(the use for p))
//                 r2p, bit_refill        extracted(M(pack), bit)
//                 pack, unpack           via(its bytes of M(the uses), one behind the other)
//                 any other instruction  the leaves of d in the program before, or foreign leaves where it has no such def
//   A spill is a def of its slot, with the value M(register).
//
// In the program before, an instruction whose guard is undefined on every path has no guard in these equations, and all its values are
// destroyed.
//
// Two shortcuts go without a list of bytes. Both leave the same nodes as `write`, and return the number of cells gone through,
// which is 0 where they do not apply:
//
//   move_whole_words(i)      = write(value(d)) for the one pair of an unguarded copy, refill or spill of whole cells
//   write_whole_leaves(d)    = write(leaves of d) where each leaf fills a cell
//
// ValueGraph.AgreesWithThePlainDataflow checks all of this against a fixpoint by bytes. See also memcheck_test.cpp.

#include <algorithm>
#include <array>

#include "oracles/memcheck/build_graph.h"

namespace regduel::oracles {

void GraphBuilder::step(std::uint32_t index) {
  const ir::Inst& inst = f_.insts[index];
  if (inst.is_deleted()) return;
  index_ = index;
  ++serial_;
  source_ = source_of(index);
  const auto ops = f_.operands_of(inst);
  gate_ = destroyed_ = kNone;
  clobbered_.clear();
  if (const ir::Operand* const guard = ir::guard_of(ops)) note_guard(inst, static_cast<std::size_t>(guard - ops.data()));
  if (has_early_[index] != 0) note_uses_after_early_clobbers(inst);
  else if (ir::computes(inst.op)) note_uses(inst);
  if (inst.op == ir::Op::Ret)
    for (const Saved& saved : saved_) g_.ret_reads_.push_back({index_, saved.leaf, read(saved.cell), saved.unit});
  if (std::binary_search(options_.undefined.begin(), options_.undefined.end(), inst.id)) return leave_undefined(inst);
  if (move_whole_words(inst) != 0) return;

  const std::size_t defs = ir::defs_of(ops).size();
  const bool moves_bytes = ir::moves_pieces(inst.op);
  const bool has_own_value = ir::computes(inst.op) && inst.op != ir::Op::Remat && !moves_bytes;
  // What is moved is read before anything is written.
  writes_.clear();
  for (std::size_t k = 0; k < ops.size() && !has_own_value; ++k) {
    const Place& place = place_of(inst, k);
    if (inst.op == ir::Op::Spill && ops[k].is_slot()) writes_.push_back({place, value_at(place_of(inst, 0))});
    else if (k < defs && place.size != 0) writes_.push_back({place, moved_value(inst, k, place.size)});
  }
  for (std::size_t k = ops.size(); k-- > 0 && ops[k].role == ir::Role::Clobber;) clobber(place_of(inst, k));
  for (std::size_t k = 0; k < defs && has_own_value; ++k) {
    const Place& place = place_of(inst, k);
    if (place.size == 0) continue;
    if (write_whole_leaves(place, own_definition(k), defs > 1) == 0) write({place, own_value(inst, k, place.size)}, defs > 1);
  }
  for (const Write& w : writes_) write(w, defs > 1);
}

// What an instruction may write whose guard is undefined: it happens or not. A pair of a copy between one vreg and itself changes
// nothing.
void GraphBuilder::leave_undefined(const ir::Inst& inst) {
  gate_ = kNone;
  const auto ops = f_.operands_of(inst);
  for (std::size_t k = 0; k < ops.size(); ++k) {
    const Place& place = place_of(inst, k);
    if (place.size == 0 || (!ops[k].writes() && ops[k].role != ir::Role::Clobber)) continue;
    if (inst.is_copy() && ops[k].writes() && ir::copy_pairs(ops)[k].use.names_same(ops[k])) continue;
    write({place, Bytes(place.size, ByteRef{destroyed(), 0})}, false);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Reads

void GraphBuilder::note_read(std::size_t operand) {
  const Place& place = g_.places_[operand];
  if (place.size == 0) return;
  g_.first_read_[operand] = static_cast<std::uint32_t>(g_.read_nodes_.size());
  for (std::uint32_t c = 0; c < place.cells(); ++c) g_.read_nodes_.push_back(read(cell_at(place, c)));
}

void GraphBuilder::note_guard(const ir::Inst& inst, std::size_t k) {
  const std::size_t at = inst.first_operand + k;
  note_read(at);
  if (!g_.is_read(at)) return;
  NodeId guard = g_.read_word(at, 0);  // not the byte behind it, which may be any of its word
  if (!inst.is_inserted() && std::binary_search(options_.doubtful.begin(), options_.doubtful.end(), inst.id))
    guard = add_leaf(defs_.add({.kind = LeafKind::Foreign, .inst = inst.id, .operand = static_cast<int>(k)}));
  gate_ = static_cast<std::uint32_t>(g_.guards_.size());
  g_.guards_.push_back({guard, f_.operands[at].is_negated()});
}

void GraphBuilder::note_uses(const ir::Inst& inst) {
  const auto ops = f_.operands_of(inst);
  for (std::size_t k = 0; k < ops.size() && ops[k].role != ir::Role::Guard; ++k)
    if (ops[k].is_register() && ops[k].reads()) note_read(inst.first_operand + k);
}

// Reads from U, then goes back to M: where the guard does not hold, the early-clobber defs destroy nothing.
void GraphBuilder::note_uses_after_early_clobbers(const ir::Inst& inst) {
  const auto ops = f_.operands_of(inst);
  std::vector<std::pair<Cell, NodeId>> held;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!is_early(ops[k], source_, k)) continue;
    const Place& place = place_of(inst, k);
    for (std::uint32_t c = 0; c < place.cells(); ++c) {
      const Cell cell = cell_at(place, c);
      if (cell == kNone) continue;
      const NodeId old = read(cell);
      held.emplace_back(cell, old);
      ByteRef bytes[4];
      const std::uint32_t width = cells_.bytes(place.cell + c);
      for (std::uint32_t b = 0; b < width; ++b) {
        const std::uint32_t at = c * place.step + b;
        const bool inside = at >= place.offset && at < place.offset + place.size;
        bytes[b] = inside ? ByteRef{destroyed(), static_cast<int>(b)} : flatten(old, b);
      }
      state_[cell].node = join(bytes, width);
    }
  }
  if (ir::computes(inst.op)) note_uses(inst);
  for (const auto& [cell, old] : held) state_[cell].node = old;
}

// ---------------------------------------------------------------------------------------------------------------
// Values

Definitions::Defined GraphBuilder::own_definition(std::size_t k) const {
  return source_ == nullptr ? Definitions::Defined() : defs_.defined_by(source_->first_operand + k);
}

// A def of the program before has its leaves; any other is foreign.
GraphBuilder::Bytes GraphBuilder::own_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  if (const auto defined = own_definition(k); defined.bytes != 0) return leaf_value(defined, size);
  const Definitions::Defined foreign{static_cast<LeafId>(defs_.size()), size};
  for (std::uint32_t at = 0; at < size; at += 4)
    (void)defs_.add({.kind = LeafKind::Foreign, .inst = inst.id, .operand = static_cast<int>(k)});
  return leaf_value(foreign, size);
}

GraphBuilder::Bytes GraphBuilder::moved_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const auto ops = f_.operands_of(inst);
  switch (inst.op) {
    case ir::Op::Copy: return via(value_at(place_of(inst, k + ir::defs_of(ops).size())), static_cast<int>(k));
    case ir::Op::Phi: return via(phi_value(inst, size), static_cast<int>(k));
    case ir::Op::Refill:
      for (std::size_t u = 0; u < ops.size(); ++u)
        if (ops[u].is_slot() && place_of(inst, u).size == size) return via(value_at(place_of(inst, u)), static_cast<int>(k));
      break;
    case ir::Op::P2R:
    case ir::Op::BitSpill:
      if (size == 4) return pack_value(inst, k);
      break;
    case ir::Op::R2P:
    case ir::Op::BitRefill:
      if (size == 1) return extracted_value(inst, k);
      break;
    case ir::Op::Pack:
    case ir::Op::Unpack: return piece_value(inst, k, size);
    case ir::Op::Remat: return remat_value(inst, k, size);
    default: break;
  }
  return own_value(inst, k, size);
}

// Def k of a pack or unpack: the bytes of the uses that stand where its own do.
GraphBuilder::Bytes GraphBuilder::piece_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const auto ops = f_.operands_of(inst);
  const ir::Inst& source = source_ == nullptr ? inst : *source_;
  const ir::Function& widths = source_ == nullptr ? f_ : defs_.before();
  const auto bytes_of = [&](std::size_t operand) {
    const auto known = widths.operands_of(source);
    const bool is_like = operand < known.size() && known[operand].is_register();  // else another program
    return static_cast<std::size_t>(is_like ? widths.operand_bytes(known[operand]) : f_.operand_bytes(ops[operand]));
  };
  std::size_t begin = 0;
  for (std::size_t d = 0; d < k; ++d) begin += bytes_of(d);
  Bytes all;
  for (std::size_t u = ir::defs_of(ops).size(); u < ops.size() && ops[u].role == ir::Role::Use; ++u) {
    const Bytes piece = value_at(place_of(inst, u));
    for (std::size_t b = 0; b < bytes_of(u); ++b) all.push_back(b < piece.size() ? piece[b] : ByteRef{destroyed(), 0});
  }
  Bytes value;
  for (std::size_t b = begin; b < std::min(begin + bytes_of(k), all.size()) && value.size() < size; ++b) value.push_back(all[b]);
  return via(std::move(value), static_cast<int>(k));
}

GraphBuilder::Bytes GraphBuilder::phi_value(const ir::Inst& inst, std::uint32_t size) {
  const auto ops = f_.operands_of(inst);
  const auto targets = f_.targets_of(inst);
  // The use for each reachable predecessor. It is named by itself or, where it is an edge block, by the block that its edge leaves.
  std::vector<std::pair<ir::BlockId, Place>> incoming_places;
  for (const ir::BlockId pred : g_.cfg_.predecessors(block_)) {
    if (!g_.cfg_.is_reachable(pred)) continue;
    ir::BlockId original = pred;
    for (std::size_t hops = 0; f_.block(original).is_edge_block() && hops < f_.blocks.size(); ++hops)
      original = f_.block(original).edge_from;
    Place place;
    for (std::size_t k = 1; k < ops.size() && k <= targets.size(); ++k)
      if ((targets[k - 1] == original || targets[k - 1] == pred) && ops[k].is_register()) place = place_of(inst, k);
    incoming_places.emplace_back(pred, place);
  }
  Bytes value(size), bytes;
  std::vector<NodeId> args;
  for (std::uint32_t at = 0; at < size; at += 4) {
    const std::uint32_t width = std::min(size - at, 4u);
    args.clear();
    for (const auto& [pred, place] : incoming_places) {
      bytes.clear();
      for (std::uint32_t byte = place.offset + at; byte < place.offset + std::min(at + width, place.size); ++byte) {
        // The next byte of the cell at hand, or another cell.
        const int within = static_cast<int>(byte % place.step);
        bytes.push_back({within != 0 && !bytes.empty()
                             ? bytes.back().node
                             : add({.kind = NodeKind::Outgoing, .b = cell_at(place, byte / place.step), .c = pred.value}),
                         within});
      }
      while (bytes.size() < width) bytes.push_back({destroyed(), 0});  // a use narrower than the def, or none
      args.push_back(join(bytes, width));
    }
    const NodeId merged = phi(args, block_.value);
    for (std::uint32_t b = 0; b < width; ++b) value[at + b] = {merged, static_cast<int>(b)};
  }
  return value;
}

GraphBuilder::Bytes GraphBuilder::pack_value(const ir::Inst& inst, std::size_t k) {
  const auto ops = f_.operands_of(inst);
  const NodeId old = ops[k].reads() ? word_at(place_of(inst, k)) : destroyed();
  const auto first = static_cast<std::uint32_t>(g_.packed_.size());
  for (std::size_t u = k + 1; u < ops.size() && ops[u].role == ir::Role::Use; ++u) {
    if (!ops[u].is_preg()) continue;
    const std::uint32_t bit = ir::packs_by_number(inst.op) ? ops[u].preg().first : static_cast<std::uint32_t>(ops[u + 1].imm());
    const NodeId predicate = ops[u].is_negated() ? own_value(inst, u, 1)[0].node : read(cell_at(place_of(inst, u), 0));
    g_.packed_.push_back({bit & 31, flatten(predicate, 0)});
  }
  const auto count = static_cast<std::uint32_t>(g_.packed_.size()) - first;
  const NodeId node = add({.kind = NodeKind::Packed, .a = old, .b = count, .c = first, .operand = static_cast<int>(k)});
  return {{node, 0}, {node, 1}, {node, 2}, {node, 3}};
}

GraphBuilder::Bytes GraphBuilder::extracted_value(const ir::Inst& inst, std::size_t k) {
  const auto ops = f_.operands_of(inst);
  const std::size_t pack = ir::defs_of(ops).size();
  const Place& from = place_of(inst, pack);
  if (from.size != 4) return own_value(inst, k, 1);
  const std::uint32_t bit = ir::packs_by_number(inst.op) ? ops[k].preg().first : static_cast<std::uint32_t>(ops[pack + 1].imm());
  return {{add({.kind = NodeKind::Extracted, .a = word_at(from), .b = bit & 31, .operand = static_cast<int>(k)}), 0}};
}

// Stands for the def of the instruction that it repeats; whether it may is for the judge to find out.
GraphBuilder::Bytes GraphBuilder::remat_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const std::uint32_t repeated = defs_.index_of(inst.ref);
  if (repeated != kNone) {
    const ir::Inst& old = defs_.before().insts[repeated];
    for (std::size_t d = 0; d < old.num_operands; ++d)
      if (const auto defined = defs_.defined_by(old.first_operand + d); defined.bytes != 0)
        return via(leaf_value(defined, size), static_cast<int>(k));
  }
  return own_value(inst, k, size);
}

// ---------------------------------------------------------------------------------------------------------------
// Writes

std::uint32_t GraphBuilder::move_whole_words(const ir::Inst& inst) {
  if (gate_ != kNone || inst.num_operands != 2 || (inst.op != ir::Op::Copy && !ir::is_slot_move(inst.op))) return 0;
  const bool is_spill = inst.op == ir::Op::Spill;
  const Place &from = place_of(inst, is_spill ? 0 : 1), &to = place_of(inst, is_spill ? 1 : 0);
  constexpr std::size_t kMost = 8;
  const auto is_whole = [](const Place& p) {
    return p.size != 0 && p.offset == 0 && p.size % p.step == 0 && p.size <= kMost * p.step;
  };
  if (!is_whole(from) || !is_whole(to) || from.size != to.size || from.step != to.step) return 0;
  std::array<NodeId, kMost> content{};
  for (std::uint32_t c = 0; c < from.cells(); ++c) {
    content[c] = read(cell_at(from, c));
    if (g_.kind(content[c]) == NodeKind::Compose) return 0;
  }
  for (std::uint32_t c = 0; c < to.cells(); ++c) {
    const Cell cell = cell_at(to, c);
    if (cell == kNone) continue;
    put(cell, 0xF, is_spill || dominators_ ? content[c] : add({.kind = NodeKind::Via, .a = content[c], .operand = 0}), false);
  }
  return to.cells();
}

std::uint32_t GraphBuilder::write_whole_leaves(const Place& place, Definitions::Defined defined, bool several) {
  if (place.offset != 0 || defined.bytes == 0 || (defined.bytes + 3) / 4 != place.cells()) return 0;
  const std::uint32_t last = place.cells() - 1;
  if (place.size != last * place.step + cells_.bytes(place.cell + last)) return 0;
  for (std::uint32_t c = 0; c <= last; ++c)
    if (const Cell cell = cell_at(place, c); cell != kNone) put(cell, 0xF, add_leaf(defined.first + c), several);
  return place.cells();
}

void GraphBuilder::clobber(const Place& place) {
  for (std::uint32_t c = 0; c < place.cells(); ++c) {
    const Cell cell = cell_at(place, c);
    if (cell == kNone) continue;
    // The report tells what became of a pack, so each cell gets a node of its own: one, though two clobbers may name it.
    if (has_packs_) {
      if (std::find(clobbered_.begin(), clobbered_.end(), cell) != clobbered_.end()) continue;
      clobbered_.push_back(cell);
    }
    put(cell, 0xF, has_packs_ ? add(g_.nodes_[destroyed()]) : destroyed(), false);
  }
}

void GraphBuilder::write(const Write& w, bool several) {
  for (std::uint32_t c = 0; c < w.place.cells(); ++c) {
    const Cell cell = cell_at(w.place, c);
    if (cell == kNone) continue;
    const std::uint32_t width = cells_.bytes(w.place.cell + c);
    // What a value narrower than its place leaves there is undefined: a vreg may be a part of one register and alone in another.
    ByteRef bytes[4];
    std::uint32_t mask = 0;
    NodeId from = kNone, to = kNone;
    for (std::uint32_t b = 0; b < width; ++b) {
      const std::uint32_t at = c * w.place.step + b;
      if (at < w.place.offset || at >= w.place.offset + w.place.size) continue;
      const std::uint32_t n = at - w.place.offset;
      bytes[b] = n < w.value.size() ? w.value[n] : ByteRef{destroyed(), static_cast<int>(b)};
      if (bytes[b].node != from) {
        from = bytes[b].node;
        to = under_guard(from, true);
      }
      bytes[b].node = to;
      mask |= 1u << b;
    }
    if (mask != (1u << width) - 1) {
      const NodeId old = read(cell);
      for (std::uint32_t b = 0; b < width; ++b)
        if ((mask >> b & 1) == 0) bytes[b] = flatten(old, b);
    }
    put(cell, mask, join(bytes, width), several);
  }
}

// What came in pieces is looked at piece by piece, where it is moved on: of those that this instruction moved to where they stand
// in their own cell.
void GraphBuilder::note_overwritten(NodeId fresh, NodeId old) {
  overwritten_.emplace_back(fresh, old);
  if (g_.kind(fresh) != NodeKind::Compose) return;
  for (int k = 0; k < 4; ++k) {
    const ByteRef piece = g_.compose_arg(g_.nodes_[fresh], k);
    const bool is_moved_here = g_.kind(piece.node) == NodeKind::Via && g_.nodes_[piece.node].inst == index_;
    if (piece.byte == k && is_moved_here) overwritten_.emplace_back(piece.node, old);
  }
}

// The one place where a cell is written: M2 for the bytes of `mask`, whose new content is `content`. several: i has other defs.
void GraphBuilder::put(Cell cell, std::uint32_t mask, NodeId content, bool several) {
  CellState& s = state_[cell];
  const NodeId fresh = content;
  if (several) {
    if (s.stamp == serial_ && (s.mask & mask) != 0) {
      const NodeId either[2] = {content, read(cell)};
      content = phi(either, kNone);
    }
    s.mask = mask | (s.stamp == serial_ ? s.mask : 0);
    s.stamp = serial_;
  }
  if (has_packs_ && (cells_.is_in_file(cell_of_[cell], ir::RegFile::R) || cells_.is_in_file(cell_of_[cell], ir::RegFile::UR)))
    note_overwritten(fresh, read(cell));
  if (gate_ != kNone) {
    const NodeId old = under_guard(read(cell), false);
    if (content != old) content = add({.kind = NodeKind::Gated, .a = content, .b = old, .c = gate_});
  }
  set(cell, content);
}

}  // namespace regduel::oracles
