// Faults in the copies between registers, and on the edges of the control flow: what replaces phis, ties and splits.
#include "fuzz/faults/injector.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;

std::size_t pairs_of(const EditInst& copy) {
  return static_cast<std::size_t>(std::count_if(copy.ops.begin(), copy.ops.end(), [](const Operand& op) { return op.writes(); }));
}

std::vector<Place> inserted_copies(const Injector& in) {
  return in.instructions([&](const EditInst& i) { return in.is_inserted_copy(i); });
}

bool drop_copy(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_copies(in), 6, erase_at, 12);
}

bool deleted_copy(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(in.instructions([&](const EditInst& i) { return in.original(i) != nullptr && i.inst.is_copy(); }), 6,
                      delete_at);
}

bool reversed_copy(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      inserted_copies(in), 6,
      [](EditProgram& q, const Place& at) {
        EditInst& i = q.blocks[at.block].insts[at.inst];
        const std::size_t n = pairs_of(i);
        for (std::size_t k = 0; k < n; ++k) {
          std::swap(i.ops[k].value, i.ops[n + k].value);
          std::swap(i.ops[k].part, i.ops[n + k].part);
        }
        return true;
      },
      12);
}

// The pairs of a parallel copy one after another, or two copies of a sequence in the other order: what is still to be read is
// overwritten.
bool sequential_copy(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!in.is_inserted_copy(i)) return;
    const std::size_t n = pairs_of(i);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y)
        if (x != y && i.ops[x].preg().overlaps(i.ops[n + y].preg())) places.push_back({b, k, x, 1});
    const auto& insts = p.blocks[b].insts;
    if (k + 1 >= insts.size() || !in.is_inserted_copy(insts[k + 1])) return;
    for (std::size_t x = 0; x < n; ++x)
      if (writes_any_of(insts[k + 1], i.ops[n + x].preg())) places.push_back({b, k, 0, 0});
  });
  return in.at_one_of(std::move(places), 6, [](EditProgram& q, const Place& at) {
    auto& insts = q.blocks[at.block].insts;
    if (at.other == 0) {
      std::swap(insts[at.inst], insts[at.inst + 1]);
      return true;
    }
    // The pair whose def another one reads goes first.
    const EditInst whole = insts[at.inst];
    const std::size_t n = pairs_of(whole);
    const bool guarded = has_guard(whole);
    std::vector<std::size_t> order = {at.operand};
    for (std::size_t k = 0; k < n; ++k)
      if (k != at.operand) order.push_back(k);
    const ir::InstId next = q.next_id();
    insts.erase(insts.begin() + at.inst);
    for (std::size_t k = 0; k < n; ++k) {
      EditInst one = whole;
      one.inst.id = k == 0 ? whole.inst.id : ir::InstId(next.value + static_cast<std::uint32_t>(k));
      one.ops = {whole.ops[order[k]], whole.ops[n + order[k]]};
      if (guarded) one.ops.push_back(whole.ops.back());
      insts.insert(insts.begin() + at.inst + static_cast<std::ptrdiff_t>(k), one);
    }
    return true;
  });
}

// Two pairs, of one copy or of two that stand together, have exchanged their sources.
bool swapped_sources(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  std::vector<Place> places;
  const auto alike = [](const Operand& a, const Operand& b) {
    return a.preg().file == b.preg().file && a.preg().count == b.preg().count && a.part == b.part && a.preg() != b.preg();
  };
  in.each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
    if (!i.inst.is_copy() || i.inst.is_deleted()) return;
    const std::size_t n = pairs_of(i);
    for (std::size_t x = 1; x < n; ++x)
      if (alike(i.ops[n], i.ops[n + x])) places.push_back({b, k, n, n + x});
    const auto& insts = p.blocks[b].insts;
    if (k + 1 >= insts.size() || n != 1 || !insts[k + 1].inst.is_copy() || insts[k + 1].inst.is_deleted() ||
        pairs_of(insts[k + 1]) != 1)
      return;
    if (alike(i.ops[1], insts[k + 1].ops[1])) places.push_back({b, k, 1, 0});
  });
  return in.at_one_of(std::move(places), 6, [](EditProgram& q, const Place& at) {
    auto& insts = q.blocks[at.block].insts;
    Operand& other = at.other == 0 ? insts[at.inst + 1].ops[1] : insts[at.inst].ops[at.other];
    std::swap(insts[at.inst].ops[at.operand].value, other.value);
    return true;
  });
}

std::vector<Place> edge_blocks(const Injector& in) {
  std::vector<Place> places;
  for (std::uint32_t b = 0; b < in.program.blocks.size(); ++b)
    if (in.program.blocks[b].attributes.is_edge_block() && in.cfg().is_reachable(BlockId(b)) &&
        in.program.blocks[b].insts.size() > 1)
      places.push_back({b, 0, 0, 0});
  return places;
}

bool emptied_edge(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(edge_blocks(in), 6, [](EditProgram& q, const Place& at) {
    auto& insts = q.blocks[at.block].insts;
    insts.erase(insts.begin(), insts.end() - 1);
    return true;
  });
}

// What belongs on one edge is done before the branch, and so on all of them.
bool wrong_edge(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(edge_blocks(in), 6, [](EditProgram& q, const Place& at) {
    auto& from = q.blocks[q.blocks[at.block].attributes.edge_from.index()].insts;
    auto& insts = q.blocks[at.block].insts;
    from.insert(from.end() - 1, insts.begin(), insts.end() - 1);
    insts.erase(insts.begin(), insts.end() - 1);
    return true;
  });
}

// The position of the last inserted instruction in the tail of block `b` (before its terminator) that writes all of `home` and
// nothing else.
std::optional<std::uint32_t> tail_write(const EditProgram& p, BlockId b, PReg home) {
  const auto& insts = p.blocks[b.index()].insts;
  for (auto k = static_cast<std::uint32_t>(insts.size() - 1); k-- > 0 && insts[k].inst.is_inserted();)
    if (!insts[k].ops.empty() && insts[k].ops[0].is_preg() && insts[k].ops[0].writes() && insts[k].ops[0].preg() == home)
      return insts[k].inst.is_copy() && pairs_of(insts[k]) > 1 ? std::nullopt : std::optional(k);
  return std::nullopt;
}

// Joins with a deleted phi: block, and the predecessor whose tail says into which register the phi's value goes.
std::vector<Place> joins(const Injector& in) {
  std::vector<Place> places;
  for (std::uint32_t b = 0; b < in.program.blocks.size(); ++b) {
    const auto& insts = in.program.blocks[b].insts;
    if (!in.cfg().is_reachable(BlockId(b)) || !insts[0].inst.is_phi()) continue;
    if (!std::any_of(insts.begin(), insts.end(), [](const EditInst& i) { return i.inst.is_phi() && i.inst.is_deleted(); }))
      continue;
    const auto from = in.cfg().predecessors(BlockId(b));
    for (std::size_t f = 0; f < from.size(); ++f)
      for (const EditInst& i : in.program.blocks[from[f].index()].insts)
        if (i.inst.is_inserted() && !i.ops.empty() && i.ops[0].is_preg() && i.ops[0].writes())
          places.push_back({b, 0, i.ops[0].value, f});
  }
  return places;
}

bool phi_without_copies(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      joins(in), 6,
      [&](EditProgram& q, const Place& at) {
        const PReg home = Operand::unpack(static_cast<std::uint32_t>(at.operand));
        int dropped = 0;
        for (const BlockId from : in.cfg().predecessors(BlockId(at.block)))
          if (const auto k = tail_write(q, from, home)) {
            erase_at(q, {from.value, *k, 0, 0});
            ++dropped;
          }
        return dropped > 0;
      },
      16);
}

bool swapped_sides(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(
      joins(in), 6,
      [&](EditProgram& q, const Place& at) {
        const PReg home = Operand::unpack(static_cast<std::uint32_t>(at.operand));
        const auto from = in.cfg().predecessors(BlockId(at.block));
        const auto mine = tail_write(q, from[at.other], home);
        for (std::size_t f = 0; f < from.size() && mine; ++f) {
          const auto its = f == at.other ? std::nullopt : tail_write(q, from[f], home);
          if (!its) continue;
          EditInst &a = q.blocks[from[at.other].index()].insts[*mine], &b = q.blocks[from[f].index()].insts[*its];
          // On the other edge a remat may find another source, and then is a fault of its own.
          const auto depends = [](const EditInst& i) { return i.inst.op == Op::Remat && read_units(i).any(); };
          if (depends(a) || depends(b)) continue;
          std::swap(a, b);
          std::swap(a.inst.id, b.inst.id);
          return true;
        }
        return false;
      },
      16);
}

// A copy stands behind the instruction for which it was made.
bool late_copy(EditProgram& p, const Subject& s, Random& r) {
  Injector in(p, s, r);
  return in.at_one_of(inserted_copies(in), 6, move_behind_reader, 12);
}

}  // namespace

std::vector<FaultOperator> copy_faults() {
  return {
      {"dropped-copy", "an inserted copy is missing", {6}, {}, drop_copy},
      {"deleted-copy", "an original copy is deleted, though its def is not where its use is", {6}, {}, deleted_copy},
      {"reversed-copy", "an inserted copy goes from its def to its use", {6}, {}, reversed_copy},
      {"late-copy", "an inserted copy stands behind its reader", {6}, {}, late_copy},
      {"sequential-copy",
       "copies that are parallel are done in an order that overwrites what is still to be read",
       {6},
       {},
       sequential_copy},
      {"swapped-sources", "two pairs of a parallel copy have exchanged their sources", {6}, {}, swapped_sources},
      {"emptied-edge-block", "what an edge block does is missing", {6}, {}, emptied_edge},
      {"copies-on-wrong-edge", "what belongs on one edge is done on all edges of its block", {6}, {}, wrong_edge},
      {"phi-without-copies", "a deleted phi's copies are missing on all edges", {6}, {}, phi_without_copies},
      {"swapped-phi-sides", "two edges into a deleted phi have exchanged what they copy", {6}, {}, swapped_sides},
  };
}

}  // namespace regduel::fuzz
