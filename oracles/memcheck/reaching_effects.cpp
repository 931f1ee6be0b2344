// What each instruction does to the cells: reads, then clobbers, then defs, with moves looked through. The order is that of
// FORMAT.md, "Instruction". See reaching.h. Tested by reaching_test.cpp and memcheck_test.cpp.

#include <algorithm>
#include <array>

#include "oracles/memcheck/reaching_build.h"

namespace regduel::oracles {

void ReachBuilder::step(std::uint32_t index) {
  const ir::Inst& inst = f_.insts[index];
  if (inst.is_deleted()) return;
  index_ = index;
  ++serial_;
  gate_ = kNone;
  destroyed_ = kNone;
  source_ = inst.is_inserted() ? kNone : is_after_ ? defs_.index_of(inst.id) : index;
  note_reads(inst);
  effects(inst);
}

void ReachBuilder::note_read(std::size_t operand) {
  const Place place = cells_.of_operand(f_.operands[operand]);
  ReachGraph::Read& r = g_.reads_[operand];
  r.first = static_cast<std::uint32_t>(g_.read_nodes_.size());
  r.count = static_cast<std::uint16_t>(place.cells());
  r.bytes = static_cast<std::uint16_t>(place.size);
  r.offset = static_cast<std::uint8_t>(place.offset);
  for (std::uint32_t c = 0; c < place.cells(); ++c) g_.read_nodes_.push_back(read(place.cell + c));
}

const ir::Operand* ReachBuilder::source_operand(const ir::Inst& inst, std::size_t k) const {
  if (source_ == kNone) return nullptr;
  const ir::Inst& source = defs_.before().insts[source_];
  if (source.num_operands != inst.num_operands) return nullptr;
  return &defs_.before().operands_of(source)[k];
}

bool ReachBuilder::is_early(const ir::Inst& inst, std::size_t k) const {
  const ir::Operand& op = f_.operands_of(inst)[k];
  if (!is_after_ || op.role != ir::Role::Def || !op.is_register()) return false;
  const ir::Operand* source = source_operand(inst, k);
  return op.is_early_clobber() || (source != nullptr && source->role == ir::Role::Def && source->is_early_clobber());
}

// The guard is read first; then early-clobber defs destroy what was in their registers (the uses see that, but where the guard
// does not hold the old value is still there, so it is put back before the defs are written); then the uses are read.
void ReachBuilder::note_reads(const ir::Inst& inst) {
  const auto ops = f_.operands_of(inst);
  std::vector<std::pair<std::uint32_t, NodeId>> held;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (ops[k].role != ir::Role::Guard || !ops[k].is_register()) continue;
    const std::size_t at = inst.first_operand + k;
    note_read(at);
    if (!g_.is_read(at)) continue;
    NodeId guard = g_.read_word(at, 0);  // not the byte behind it, which may be any of its word
    if (!inst.is_inserted() && std::binary_search(doubtful_.begin(), doubtful_.end(), inst.id)) {
      guard = add_leaf(defs_.add({.kind = LeafKind::Foreign, .inst = inst.id, .operand = static_cast<int>(k)}));
    }
    gate_ = static_cast<std::uint32_t>(g_.guards_.size());
    g_.guards_.push_back({guard, ops[k].is_negated()});
  }
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!is_early(inst, k)) continue;
    const Place place = cells_.of_operand(ops[k]);
    for (std::uint32_t c = 0; c < place.cells(); ++c) {
      const std::uint32_t cell = place.cell + c;
      const NodeId old = read(cell);
      held.emplace_back(cell, old);
      ByteRef bytes[4];
      const std::uint32_t width = cells_.bytes(cell);
      for (std::uint32_t b = 0; b < width; ++b) {
        const std::uint32_t at = c * place.step + b;
        const bool inside = at >= place.offset && at < place.offset + place.size;
        bytes[b] = inside ? ByteRef{destroyed(), static_cast<int>(b)} : flatten(old, b);
      }
      state_[cell].node = join(bytes, width);
    }
  }
  // What only moves a value is looked through, not checked.
  const bool is_checked = inst.op < ir::Op::Spill ? !inst.is_copy() && !inst.is_phi() : inst.op == ir::Op::Remat;
  for (std::size_t k = 0; k < ops.size() && is_checked; ++k)
    if (ops[k].is_register() && ops[k].reads() && ops[k].role != ir::Role::Guard) note_read(inst.first_operand + k);
  for (const auto& [cell, old] : held) state_[cell].node = old;
  if (inst.op != ir::Op::Ret) return;
  for (const Saved& saved : saved_) g_.ret_reads_.push_back({index_, saved.leaf, read(saved.cell), saved.unit});
}

void ReachBuilder::effects(const ir::Inst& inst) {
  const auto ops = f_.operands_of(inst);
  const auto defs =
      static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.writes(); }));
  const bool plain = inst.op == ir::Op::Named || (inst.op >= ir::Op::Pack && inst.op <= ir::Op::Bar);
  if (move_at_once(inst) != 0) return;
  // What is moved is read before anything is written.
  writes_.clear();
  for (std::size_t k = 0; k < ops.size() && !plain; ++k) {
    if (!ops[k].is_register() || !ops[k].writes()) continue;
    const Place place = cells_.of_operand(ops[k]);
    if (place.size != 0) writes_.push_back({place, moved_value(inst, k, place.size), static_cast<int>(k)});
  }
  if (inst.op == ir::Op::Spill && ops.size() >= 2 && ops[0].is_register() && ops[1].is_slot()) {
    const Place from = cells_.of_operand(ops[0]);
    const Place to = cells_.of_slot(ops[1], from.size);
    if (from.size != 0 && to.size != 0) writes_.push_back({to, value_at(from), 0});
  }
  for (const ir::Operand& op : ops) {
    if (op.role != ir::Role::Clobber || !op.is_register()) continue;
    const Place place = cells_.of_operand(op);
    for (std::uint32_t c = 0; c < place.cells(); ++c) {
      // Of a pack it is told what became of it: one node each.
      const NodeId undefined = has_packs_ ? add(g_.nodes_[destroyed()]) : destroyed();
      put(place.cell + c, 0xF, undefined, false, false);
    }
  }
  for (std::size_t k = 0; k < ops.size() && plain && defs != 0; ++k) {
    if (!ops[k].is_register() || !ops[k].writes()) continue;
    const Place place = cells_.of_operand(ops[k]);
    if (place.size != 0 && write_leaf_at_once(inst, k, place, defs > 1) == 0)
      write({place, own_value(inst, k, place.size), static_cast<int>(k)}, defs > 1);
  }
  for (const Write& w : writes_) write(w, defs > 1);
}

// The common move without any list of bytes: one unguarded copy, refill or spill of whole words. Returns the number of words moved.
std::uint32_t ReachBuilder::move_at_once(const ir::Inst& inst) {
  if (gate_ != kNone || (inst.op != ir::Op::Copy && inst.op != ir::Op::Refill && inst.op != ir::Op::Spill) ||
      inst.num_operands != 2)
    return 0;
  const auto ops = f_.operands_of(inst);
  const ir::Operand& memory = ops[1];
  if (!ops[0].is_register() || (inst.op == ir::Op::Copy ? !memory.is_register() || memory.is_negated() : !memory.is_slot()))
    return 0;
  const Place first = cells_.of_operand(ops[0]);
  const Place second = memory.is_slot() ? cells_.of_slot(memory, first.size) : cells_.of_operand(memory);
  constexpr std::size_t kWords = 8;
  const auto is_whole = [](const Place& p) {
    return p.step == 4 && p.offset == 0 && p.size != 0 && p.size % 4 == 0 && p.size <= 4 * kWords;
  };
  if (!is_whole(first) || !is_whole(second) || first.size != second.size) return 0;
  const bool is_spill = inst.op == ir::Op::Spill;
  const Place &from = is_spill ? first : second, &to = is_spill ? second : first;
  std::array<NodeId, kWords> words{};
  for (std::uint32_t c = 0; c < from.cells(); ++c) {
    words[c] = read(from.cell + c);
    if (g_.node(words[c]).kind == NodeKind::Compose) return 0;
  }
  for (std::uint32_t c = 0; c < to.cells(); ++c) {
    const NodeId content = is_spill || dominators_ ? words[c] : add({.kind = NodeKind::Via, .a = words[c], .operand = 0});
    put(to.cell + c, 0xF, content, true, false);
  }
  return to.cells();
}

// The common case without any list of bytes: whole cells that receive whole leaves. Returns the number of cells written.
std::uint32_t ReachBuilder::write_leaf_at_once(const ir::Inst& inst, std::size_t k, const Place& place, bool several) {
  const ir::Operand* source = source_operand(inst, k);
  if (source == nullptr || !source->is_register() || !source->writes() || place.offset != 0) return 0;
  const auto bytes = static_cast<std::uint32_t>(defs_.before().operand_bytes(*source));
  if ((bytes + 3) / 4 != place.cells() || (place.step == 1 && place.size != 1)) return 0;
  const std::uint32_t last = place.cell + place.cells() - 1;
  if (place.step == 4 && (place.size + 3) / 4 * 4 - place.size != 4 - cells_.bytes(last)) return 0;
  const LeafId first = defs_.first_leaf(defs_.before().insts[source_].first_operand + k);
  for (std::uint32_t c = 0; c < place.cells(); ++c) put(place.cell + c, 0xF, add_leaf(first + c), true, several);
  return place.cells();
}

// A def of the program before has its leaves; any other is foreign.
ReachBuilder::Bytes ReachBuilder::own_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const ir::Operand* source = source_operand(inst, k);
  if (source != nullptr && source->is_register() && source->writes())
    return leaf_value(defs_.first_leaf(defs_.before().insts[source_].first_operand + k),
                      static_cast<std::uint32_t>(defs_.before().operand_bytes(*source)), size);
  Bytes value;
  for (std::uint32_t at = 0; at < size; at += 4) {
    const NodeId word = add_leaf(defs_.add({.kind = LeafKind::Foreign, .inst = inst.id, .operand = static_cast<int>(k)}));
    for (std::uint32_t i = at; i < std::min(at + 4, size); ++i) value.push_back({word, static_cast<int>(i % 4)});
  }
  return value;
}

ReachBuilder::Bytes ReachBuilder::moved_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const auto ops = f_.operands_of(inst);
  const auto is_use = [](const ir::Operand& op) { return op.role == ir::Role::Use; };
  switch (inst.op) {
    case ir::Op::Copy: {
      std::size_t nth = 0;
      for (std::size_t d = 0; d < k; ++d) nth += ops[d].writes() ? 1 : 0;
      for (const ir::Operand& op : ops) {
        if (!is_use(op) || nth-- != 0) continue;
        const Place from = cells_.of_operand(op);
        if (from.size == 0 || op.is_negated()) break;
        Bytes value = via(value_at(from), static_cast<int>(k));
        // A narrow vreg that is a part of one register and alone in another: what lies above is undefined.
        while (value.size() < size) value.push_back({destroyed(), static_cast<int>(value.size() % 4)});
        return value;
      }
      break;
    }
    case ir::Op::Phi: return via(phi_value(inst, size), static_cast<int>(k));
    case ir::Op::Refill:
      for (const ir::Operand& op : ops) {
        if (!op.is_slot()) continue;
        const Place from = cells_.of_slot(op, size);
        if (from.size != 0) return via(value_at(from), static_cast<int>(k));
      }
      break;
    case ir::Op::P2R:
    case ir::Op::BitSpill:
      if (size == 4) return pack_value(inst, k);
      break;
    case ir::Op::R2P:
    case ir::Op::BitRefill:
      if (size == 1) return extracted_value(inst, k);
      break;
    case ir::Op::Remat: return remat_value(inst, k, size);
    default: break;
  }
  return own_value(inst, k, size);
}

ReachBuilder::Bytes ReachBuilder::phi_value(const ir::Inst& inst, std::uint32_t size) {
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
      if ((targets[k - 1] == original || targets[k - 1] == pred) && ops[k].is_register()) place = cells_.of_operand(ops[k]);
    incoming_places.emplace_back(pred, place);
  }
  Bytes value(size);
  for (std::uint32_t at = 0; at < size; at += 4) {
    const std::uint32_t width = std::min(size - at, 4u);
    std::vector<NodeId> args;
    for (const auto& [pred, place] : incoming_places) {
      std::vector<ByteRef> bytes;
      for (std::uint32_t byte = place.offset + at; byte < place.offset + std::min(at + width, place.size); ++byte) {
        // The next byte of the cell at hand, or another cell.
        const int within = static_cast<int>(byte % place.step);
        bytes.push_back({within != 0 && !bytes.empty()
                             ? bytes.back().node
                             : add({.kind = NodeKind::Outgoing, .b = place.cell + byte / place.step, .c = pred.value}),
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

ReachBuilder::Bytes ReachBuilder::pack_value(const ir::Inst& inst, std::size_t k) {
  const auto ops = f_.operands_of(inst);
  const NodeId old = ops[k].reads() ? word_at(cells_.of_operand(ops[k])) : destroyed();
  std::vector<PackedBit> bits;
  for (std::size_t u = 0; u < ops.size(); ++u) {
    if (ops[u].role != ir::Role::Use || !ops[u].is_preg()) continue;
    std::uint32_t bit = ops[u].preg().first;
    for (const ir::Operand& op : ops)
      if (inst.op == ir::Op::BitSpill && op.kind == ir::OperandKind::Imm) bit = static_cast<std::uint32_t>(op.imm());
    const NodeId predicate = ops[u].is_negated() ? own_value(inst, u, 1)[0].node : read(cells_.of_operand(ops[u]).cell);
    bits.push_back({bit & 31, flatten(predicate, 0)});
  }
  const auto first = static_cast<std::uint32_t>(g_.packed_.size());
  g_.packed_.insert(g_.packed_.end(), bits.begin(), bits.end());
  const NodeId node = add({.kind = NodeKind::Packed,
                           .a = old,
                           .b = static_cast<std::uint32_t>(bits.size()),
                           .c = first,
                           .operand = static_cast<int>(k)});
  return {{node, 0}, {node, 1}, {node, 2}, {node, 3}};
}

ReachBuilder::Bytes ReachBuilder::extracted_value(const ir::Inst& inst, std::size_t k) {
  const auto ops = f_.operands_of(inst);
  std::uint32_t bit = ops[k].is_preg() ? ops[k].preg().first : 0;
  Place from;
  for (const ir::Operand& op : ops) {
    if (op.role == ir::Role::Use && op.is_register()) from = cells_.of_operand(op);
    if (op.kind == ir::OperandKind::Imm && inst.op == ir::Op::BitRefill) bit = static_cast<std::uint32_t>(op.imm());
  }
  if (from.size != 4) return own_value(inst, k, 1);
  return {{add({.kind = NodeKind::Extracted, .a = word_at(from), .b = bit & 31, .operand = static_cast<int>(k)}), 0}};
}

// Stands for the def of the instruction that it repeats; whether it may is for the judge to find out.
ReachBuilder::Bytes ReachBuilder::remat_value(const ir::Inst& inst, std::size_t k, std::uint32_t size) {
  const ir::Function& before = defs_.before();
  const std::uint32_t repeated = defs_.index_of(inst.ref);
  if (repeated != kNone) {
    const ir::Inst& old = before.insts[repeated];
    const auto ops = before.operands_of(old);
    for (std::size_t d = 0; d < ops.size(); ++d)
      if (ops[d].is_register() && ops[d].writes())
        return via(
            leaf_value(defs_.first_leaf(old.first_operand + d), static_cast<std::uint32_t>(before.operand_bytes(ops[d])), size),
            static_cast<int>(k));
  }
  return own_value(inst, k, size);
}

void ReachBuilder::write(const Write& w, bool several) {
  for (std::uint32_t c = 0; c < w.place.cells(); ++c) {
    const std::uint32_t cell = w.place.cell + c;
    const std::uint32_t width = cells_.bytes(cell);
    ByteRef bytes[4];
    std::uint32_t mask = 0;
    NodeId from = kNone, to = kNone;
    for (std::uint32_t b = 0; b < width; ++b) {
      const std::uint32_t at = c * w.place.step + b;
      if (at < w.place.offset || at >= w.place.offset + w.place.size) continue;
      bytes[b] = w.value[at - w.place.offset];
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
    put(cell, mask, join(bytes, width), w.operand >= 0, several);
  }
}

void ReachBuilder::put(std::uint32_t cell, std::uint32_t mask, NodeId content, bool is_def, bool several) {
  CellState& s = state_[cell];
  ever_written_[cell] = 1;
  const NodeId fresh = content;
  if (is_def && several) {
    if (s.stamp == serial_ && (s.mask & mask) != 0) {
      const NodeId either[2] = {content, read(cell)};
      content = phi(either, kNone);
    }
    s.mask = mask | (s.stamp == serial_ ? s.mask : 0);
    s.stamp = serial_;
  }
  if (has_packs_ && (cells_.is_in_file(cell, ir::RegFile::R) || cells_.is_in_file(cell, ir::RegFile::UR)))
    overwritten_.emplace_back(fresh, read(cell));
  set(cell,
      gate_ == kNone ? content : add({.kind = NodeKind::Gated, .a = content, .b = under_guard(read(cell), false), .c = gate_}));
}

}  // namespace regduel::oracles
