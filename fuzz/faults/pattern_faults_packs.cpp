// Faults of predicate packs. What is stored under one bit of one pack is a variable, with its writes (p2r, bit_spill) and reads
// (r2p, bit_refill); a pack that is refilled in front of an access and spilled behind it counts as its slot. Most of these
// operators want a variable that is written in one place only, so that without this write its bit is undefined, and a read whose
// predicate is still used: then the fault shows at that predicate, through that read.
//
// Codes: whatever comes out of a wrong bit is 3 (p2r, r2p) or 4 (bit_spill, bit_refill); where the right bit was there and
// something else wrote the pack's register, 8 or 9; a predicate that is not read back shows the definition that was left in its
// register, 6. Which of the first four it is at a place depends on what else the register has held, and on the packs that the
// predicate goes through: pack_bits.h knows.
// Source: seed 000 "Error Categories". Tested by pattern_faults_test.cpp.
#include <algorithm>
#include <map>
#include <utility>

#include "fuzz/faults/pattern_faults.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

struct Access {
  Spot spot;
  std::size_t operand = 0;  // the predicate
  PReg predicate;
  PReg pack;
  int bit = 0;
  std::optional<OperandRead> reader;  // reads: an operation that uses the predicate; those that have one are live
  ir::InstId source;                  // writes: the one definition whose result the predicate is, where it is one
  bool is_alone = true;               // the only predicate of its instruction
  std::optional<Spot> load, store;    // of a pack in memory
};
struct Variable {
  std::vector<Access> writes, reads;
  [[nodiscard]] bool is_read() const {
    return std::any_of(reads.begin(), reads.end(), [](const Access& a) { return a.reader.has_value(); });
  }
  [[nodiscard]] bool are_writes_known() const {
    return !writes.empty() && std::all_of(writes.begin(), writes.end(), [](const Access& a) { return a.source.is_valid(); });
  }
};
using Key = std::pair<std::uint64_t, int>;  // pack, bit
using Readers = std::vector<OperandRead>;   // where a fault should show

bool is_pack_op(Op op) { return op >= Op::P2R && op <= Op::BitRefill; }

class Packs {
 public:
  // Those of p2r and r2p, or those of bit_spill and bit_refill.
  Packs(const EditProgram& p, const Subject& s, bool numbered) : p_(p), s_(s), facts_(s) {
    const AfterFactsOf after(s);
    const auto is_one = [&](const EditInst& i) {
      return is_pack_op(i.inst.op) && !i.inst.is_deleted() && (i.inst.op == Op::P2R || i.inst.op == Op::R2P) == numbered;
    };
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      if (std::none_of(p.blocks[b].insts.begin(), p.blocks[b].insts.end(), is_one)) continue;
      const UnitLiveness& live = after->liveness();
      const Holdings& holdings = after->holdings();
      if (!live.is_reachable(b)) continue;
      std::vector<UnitSet> points;
      Holdings::State state = holdings.at_begin(b);
      for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k) {
        const EditInst& i = p.blocks[b].insts[k];
        if (k > 0) holdings.step(state, p.blocks[b].insts[k - 1]);
        if (!is_one(i)) continue;
        if (points.empty()) points = live.points(b);
        add({b, k}, i, points[k + 1], holdings, state);
      }
    }
  }
  [[nodiscard]] const std::map<Key, Variable>& variables() const { return variables_; }
  [[nodiscard]] const BeforeFacts& facts() const { return *facts_; }
  [[nodiscard]] bool is_written(const Access& a, int bit) const {
    const auto it = variables_.find({home_of(a), bit});
    return it != variables_.end() && !it->second.writes.empty();
  }
  // Writes of variables that nothing else writes, and that are read; of packs in memory, or of packs in registers.
  [[nodiscard]] std::vector<Access> only_writes(bool in_memory = false) const {
    std::vector<Access> list;
    for (const auto& [key, v] : variables_)
      if (key.first >> 63 == (in_memory ? 1 : 0))
        if (v.writes.size() == 1 && v.writes[0].source.is_valid() && v.is_read()) list.push_back(v.writes[0]);
    return list;
  }
  // Of the variable that is accessed.
  [[nodiscard]] Readers readers_of(const Access& a) const {
    Readers list;
    for (const Access& read : variables_.at({home_of(a), a.bit}).reads)
      if (read.reader) list.push_back(*read.reader);
    return list;
  }
  [[nodiscard]] std::vector<Access> live_reads() const {
    std::vector<Access> list;
    for (const auto& [key, v] : variables_)
      for (const Access& a : v.reads)
        if (a.reader && v.are_writes_known()) list.push_back(a);
    return list;
  }

 private:
  static std::uint64_t home_of(const Access& a, const EditProgram& p) {
    if (!a.load && !a.store) return a.pack.first;
    const Operand& slot = at(p, a.load ? *a.load : *a.store).ops[1];
    return 1ull << 63 | static_cast<std::uint64_t>(slot.value) << 32 | slot.extra;
  }
  [[nodiscard]] std::uint64_t home_of(const Access& a) const { return home_of(a, p_); }

  void add(Spot s, const EditInst& i, const UnitSet& live_after, const Holdings& holdings, const Holdings::State& state) {
    const bool writes = i.inst.op == Op::P2R || i.inst.op == Op::BitSpill;
    Access a;
    a.spot = s;
    for (const Operand& op : i.ops)
      if (op.is_preg() && op.preg().file == RegFile::R) a.pack = op.preg();
    const auto& insts = p_.blocks[s.block].insts;
    for (std::size_t k = s.inst; k-- > 0 && insts[k].inst.is_inserted();) {
      const bool here = (mentioned_units(insts[k]) & units_of(a.pack)).any();
      if (is_refill(insts[k]) && here) a.load = Spot{s.block, k};
      if (here && !is_pack_op(insts[k].inst.op)) break;
    }
    for (std::size_t k = s.inst + 1; writes && k < insts.size() && insts[k].inst.is_inserted(); ++k) {
      const bool here = (mentioned_units(insts[k]) & units_of(a.pack)).any();
      if (is_spill(insts[k]) && here) a.store = Spot{s.block, k};
      if (here && !is_pack_op(insts[k].inst.op)) break;
    }
    std::size_t predicates = 0;
    for (const Operand& op : i.ops)
      predicates += op.is_preg() && ir::is_predicate(op.preg().file) && op.role != Role::Guard ? 1 : 0;
    a.is_alone = predicates == 1;
    for (std::size_t k = 0; k < i.ops.size(); ++k) {
      const Operand& op = i.ops[k];
      if (!op.is_preg() || !ir::is_predicate(op.preg().file) || op.role == Role::Guard) continue;
      a.operand = k;
      a.predicate = op.preg();
      a.bit = op.preg().first;
      for (const Operand& imm : i.ops)
        if (imm.kind == ir::OperandKind::Imm) a.bit = static_cast<int>(imm.imm());
      if (!writes && (live_after & units_of(op.preg())).any()) a.reader = plain_reader(*facts_, p_, s, op.preg());
      const Token held = writes ? holdings.held(state, op.preg().file, op.preg().first) : 0;
      a.source = held == 0 ? ir::InstId() : s_.before.insts[holdings.origin(held).inst].id;
      Variable& v = variables_[{home_of(a), a.bit}];
      (writes ? v.writes : v.reads).push_back(a);
    }
  }

  const EditProgram& p_;
  const Subject& s_;
  FactsOf facts_;
  std::map<Key, Variable> variables_;
};

// Takes the predicate out of the instruction, or the instruction out of the program.
void erase_access(EditProgram& p, const Access& a) {
  if (a.is_alone) erase(p, a.spot);
  else at(p, a.spot).ops.erase(at(p, a.spot).ops.begin() + static_cast<std::ptrdiff_t>(a.operand));
}
// Moves an instruction behind another one of its block.
void move_behind(EditProgram& p, Spot what, std::size_t behind) {
  auto& insts = p.blocks[what.block].insts;
  const auto begin = insts.begin();
  if (what.inst < behind)
    std::rotate(begin + static_cast<std::ptrdiff_t>(what.inst), begin + static_cast<std::ptrdiff_t>(what.inst) + 1,
                begin + static_cast<std::ptrdiff_t>(behind) + 1);
  else
    std::rotate(begin + static_cast<std::ptrdiff_t>(behind) + 1, begin + static_cast<std::ptrdiff_t>(what.inst),
                begin + static_cast<std::ptrdiff_t>(what.inst) + 1);
}

// An operator that takes a place only where the fault should show as kCode, by what comes to one of the readers out of packs: where
// the right bit was in the pack's register before, or packs are packed in other packs, it may show under another name.
template <bool (*kApply)(EditProgram&, const Subject&, Random&, Readers&), int kCode>
bool shown_as(EditProgram& p, const Subject& s, Random& random) {
  constexpr int kTries = 4;
  const FactsOf facts(s);
  for (int k = 0; k < kTries; ++k) {
    EditProgram trial = p;
    Readers readers;
    if (!kApply(trial, s, random, readers)) return false;
    if (!shows_in_pack(*facts, trial.build(), readers, kCode)) continue;
    p = std::move(trial);
    return true;
  }
  return false;
}

template <bool kNumbered>
bool drop_write(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const Packs packs(p, s, kNumbered);
  const auto chosen = pick(packs.only_writes(), random);
  if (!chosen) return false;
  readers = packs.readers_of(*chosen);
  erase_access(p, *chosen);
  return true;
}

// The predicate's register keeps what an original instruction put there.
template <bool kNumbered>
bool drop_read(EditProgram& p, const Subject& s, Random& random) {
  const Packs packs(p, s, kNumbered);
  std::vector<Access> list;
  for (const auto& [key, v] : packs.variables()) {
    if (v.writes.size() != 1 || !v.writes[0].source.is_valid()) continue;
    for (const Access& a : v.reads) {
      const auto stale = plain_writer(p, a.spot, a.predicate);
      if (a.reader && stale && !has_guard(at(p, a.spot)) && at(p, *stale).inst.id != v.writes[0].source) list.push_back(a);
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  erase_access(p, *chosen);
  return true;
}

// Predicates of the file that live behind the instruction and whose bit holds nothing in this pack.
std::vector<PReg> victims(const EditProgram& p, const Subject& s, const Packs& packs, const Access& a) {
  const auto points = AfterFactsOf(s)->liveness().points(a.spot.block);
  std::vector<PReg> list;
  for (int u = 0; u < 32; ++u) {
    const PReg r{a.predicate.file, 1, static_cast<std::uint16_t>(u)};
    if (points[a.spot.inst + 1].test(unit_number(r.file, u)) && has_plain_reader(packs.facts(), p, a.spot, r) &&
        !packs.is_written(a, u) && u != a.predicate.first && (mentioned_units(at(p, a.spot)) & units_of(r)).none() &&
        ir::is_allocatable(s.target, s.limits, r.file, u))
      list.push_back(r);
  }
  return list;
}

template <bool kMore>
bool restore_wrong_register(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const Packs packs(p, s, true);
  auto reads = packs.live_reads();
  shuffle(reads, random);
  for (const Access& a : reads) {
    const auto chosen = pick(victims(p, s, packs, a), random);
    if (!chosen) continue;
    auto& ops = at(p, a.spot).ops;
    if (kMore) ops.insert(ops.begin(), Operand::of_preg(Role::Def, *chosen));
    else ops[a.operand].value = Operand::pack(*chosen);
    readers = {*plain_reader(packs.facts(), p, a.spot, *chosen)};
    return true;
  }
  return false;
}

template <bool kNumbered>
bool read_wrong_pack(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const auto chosen = pick(Packs(p, s, kNumbered).live_reads(), random);
  if (!chosen) return false;
  readers = {*chosen->reader};
  // Not one that has ever been a pack.
  UnitSet packs;
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts)
      if (is_pack_op(i.inst.op)) packs |= mentioned_units(i);
  const auto other = another_register(p, s, chosen->pack, random);
  if (!other || (packs & units_of(*other)).any()) return false;
  for (Operand& op : at(p, chosen->spot).ops)
    if (op.is_preg() && op.preg() == chosen->pack) op.value = Operand::pack(*other);
  return true;
}

template <bool kNumbered>
bool write_wrong_predicate(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const Packs packs(p, s, kNumbered);
  const auto chosen = pick(packs.only_writes(), random);
  if (!chosen) return false;
  readers = packs.readers_of(*chosen);
  const auto other = another_register(p, s, chosen->predicate, random);
  if (!other || (mentioned_units(at(p, chosen->spot)) & units_of(*other)).any() || !plain_writer(p, chosen->spot, *other))
    return false;
  at(p, chosen->spot).ops[chosen->operand].value = Operand::pack(*other);
  return true;
}

// Behind the next instruction that overwrites the predicate.
template <bool kNumbered>
bool write_late(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  std::vector<std::pair<Access, std::size_t>> list;
  const Packs packs(p, s, kNumbered);
  for (const Access& a : packs.only_writes()) {
    if (!a.is_alone || a.load || a.store || has_guard(at(p, a.spot))) continue;
    const auto& insts = p.blocks[a.spot.block].insts;
    for (std::size_t k = a.spot.inst + 1; k + 1 < insts.size(); ++k) {
      if (is_pack_op(insts[k].inst.op) && (mentioned_units(insts[k]) & (units_of(a.pack) | units_of(a.predicate))).any()) break;
      if ((mentioned_units(insts[k]) & units_of(a.pack)).any()) break;
      if ((written_units(insts[k]) & units_of(a.predicate)).none()) continue;
      if (plain_writer(p, {a.spot.block, k + 1}, a.predicate)) list.emplace_back(a, k);
      break;
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  readers = packs.readers_of(chosen->first);
  move_behind(p, chosen->first.spot, chosen->second);
  return true;
}

// Right in front of a read, or of what stands before it without touching the pack.
template <bool kNumbered, bool kHalf>
bool overwrite_by_copy(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  auto reads = Packs(p, s, kNumbered).live_reads();
  std::erase_if(reads, [](const Access& a) { return a.load.has_value(); });
  const auto chosen = pick(reads, random);
  if (!chosen) return false;
  readers = {*chosen->reader};
  const auto other = another_register(p, s, chosen->pack, random);
  if (!other) return false;
  // Only what was written as a whole: of a value in pieces memcheck does not say who destroyed what.
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts)
      for (const Operand& op : i.ops)
        if (op.writes() && (touched_units(op) & ~covered_units(op) & units_of(*other)).any()) return false;
  auto& insts = p.blocks[chosen->spot.block].insts;
  std::size_t where = chosen->spot.inst;
  while (where > 0 && !insts[where - 1].inst.is_phi() && (mentioned_units(insts[where - 1]) & units_of(chosen->pack)).none() &&
         random.chance(70))
    --where;
  EditInst copy = make_copy(chosen->pack, *other);
  if (kHalf)
    for (Operand& op : copy.ops) op.part = ir::Part::of(1, chosen->bit / 16);
  insert_before(p, {chosen->spot.block, where}, std::move(copy));
  return true;
}

// An original def in front of a read is put into the pack's register.
template <bool kNumbered>
bool overwrite_by_def(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  std::vector<std::tuple<Spot, std::size_t, Access>> list;
  const FactsOf facts(s);
  for (const Access& a : Packs(p, s, kNumbered).live_reads()) {
    if (a.load) continue;
    const auto& insts = p.blocks[a.spot.block].insts;
    for (std::size_t k = a.spot.inst; k-- > 0;) {
      if ((mentioned_units(insts[k]) & units_of(a.pack)).any()) break;
      const ir::Inst* old = facts->original(insts[k]);
      if (old == nullptr || old->is_copy() || old->is_phi() || has_guard(insts[k])) continue;
      for (std::size_t d = 0; d < insts[k].ops.size(); ++d)
        if (is_free_def(s.before, *old, d) && insts[k].ops[d].is_preg() && insts[k].ops[d].preg().file == RegFile::R &&
            insts[k].ops[d].preg().count == 1 &&
            s.before.vreg(s.before.storage(s.before.operands_of(*old)[d]).root).alignment() == 1)
          list.emplace_back(Spot{a.spot.block, k}, d, a);
    }
  }
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  const auto& [spot, operand, read] = *chosen;
  readers = {*read.reader};
  at(p, spot).ops[operand].value = Operand::pack(read.pack);
  return true;
}

bool refill_wrong_bit(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const auto chosen = pick(Packs(p, s, false).live_reads(), random);
  if (!chosen) return false;
  readers = {*chosen->reader};
  at(p, chosen->spot).ops[2] = Operand::of_imm((chosen->bit + random.between(1, 31)) % 32);
  return true;
}

// The bit of another variable, so that both come to harm.
bool spill_into_used_bit(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const Packs packs(p, s, false);
  std::vector<std::pair<Access, int>> list;
  for (const Access& a : packs.only_writes())
    for (int bit = 0; bit < 32; ++bit)
      if (bit != a.bit && packs.is_written(a, bit)) list.emplace_back(a, bit);
  const auto chosen = pick(list, random);
  if (!chosen) return false;
  readers = packs.readers_of(chosen->first);
  at(p, chosen->first.spot).ops[2] = Operand::of_imm(chosen->second);
  return true;
}

template <bool kNumbered>
bool pack_from_wrong_slot(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  auto reads = Packs(p, s, kNumbered).live_reads();
  std::erase_if(reads, [](const Access& a) { return !a.load; });
  const auto chosen = pick(reads, random);
  if (!chosen) return false;
  readers = {*chosen->reader};
  Operand& slot = at(p, *chosen->load).ops[1];
  std::vector<ir::SlotId> others;
  for (std::size_t k = 0; k < p.header.slots.size(); ++k)
    if (k != slot.slot().index() && p.header.slots[k].size >= 4) others.emplace_back(k);
  const auto other = pick(others, random);
  if (!other) return false;
  slot = Operand::of_slot(*other);
  return true;
}

// The pack goes to memory before the predicate is in it.
template <bool kNumbered>
bool stale_pack(EditProgram& p, const Subject& s, Random& random, Readers& readers) {
  const Packs packs(p, s, kNumbered);
  auto writes = packs.only_writes(true);
  std::erase_if(writes, [](const Access& a) { return !a.store; });
  const auto chosen = pick(writes, random);
  if (!chosen) return false;
  readers = packs.readers_of(*chosen);
  move_behind(p, *chosen->store, chosen->spot.inst - 1);
  return true;
}

}  // namespace

std::vector<FaultOperator> pack_faults() {
  return {
      {"p2r-dropped", "a predicate is never put into its pack", {3}, {}, shown_as<drop_write<true>, 3>},
      {"r2p-dropped", "a predicate is not taken back out of its pack", {6}, {}, shown_as<drop_read<true>, 6>},
      {"r2p-wrong-register", "r2p restores another predicate than was stored", {3}, {}, shown_as<restore_wrong_register<false>, 3>},
      {"r2p-one-too-many",
       "r2p also restores a predicate that was never stored, over a live one",
       {3},
       {},
       shown_as<restore_wrong_register<true>, 3>},
      {"r2p-wrong-pack", "r2p reads another register than its pack", {3}, {}, shown_as<read_wrong_pack<true>, 3>},
      {"p2r-wrong-predicate", "p2r packs another predicate", {3}, {}, shown_as<write_wrong_predicate<true>, 3>},
      {"p2r-late", "p2r comes after its predicate was overwritten", {3}, {}, shown_as<write_late<true>, 3>},
      {"pack-overwritten-by-copy",
       "an inserted copy uses the register of a pack that is still needed",
       {8},
       {},
       shown_as<overwrite_by_copy<true, false>, 8>},
      {"pack-half-overwritten",
       "an inserted copy writes the half of a pack in which a bit is still needed",
       {8},
       {},
       shown_as<overwrite_by_copy<true, true>, 8>},
      {"pack-overwritten-by-def",
       "an original def is given the register of a pack that is still needed",
       {8},
       {},
       shown_as<overwrite_by_def<true>, 8>},
      {"pack-from-wrong-slot", "a spilled pack is refilled from another slot", {3}, {}, shown_as<pack_from_wrong_slot<true>, 3>},
      {"stale-pack", "a pack is spilled before p2r has put the predicate into it", {3}, {}, shown_as<stale_pack<true>, 3>},
      {"bit-spill-dropped", "a predicate is never put into its bit", {4}, {}, shown_as<drop_write<false>, 4>},
      {"bit-refill-dropped", "a predicate is not taken back out of its bit", {6}, {}, shown_as<drop_read<false>, 6>},
      {"bit-refill-wrong-bit", "bit_refill reads another bit", {4}, {}, shown_as<refill_wrong_bit, 4>},
      {"bit-refill-wrong-pack", "bit_refill reads another register than its pack", {4}, {}, shown_as<read_wrong_pack<false>, 4>},
      {"bit-spill-wrong-predicate", "bit_spill stores another predicate", {4}, {}, shown_as<write_wrong_predicate<false>, 4>},
      {"bit-spill-into-used-bit",
       "bit_spill takes a bit that belongs to another predicate",
       {4},
       {},
       shown_as<spill_into_used_bit, 4>},
      {"bit-spill-late", "bit_spill comes after its predicate was overwritten", {4}, {}, shown_as<write_late<false>, 4>},
      {"bits-overwritten-by-copy",
       "an inserted copy uses the register of a bit-spill that is still needed",
       {9},
       {},
       shown_as<overwrite_by_copy<false, false>, 9>},
      {"bits-half-overwritten",
       "an inserted copy writes the half of a base in which a bit is still needed",
       {9},
       {},
       shown_as<overwrite_by_copy<false, true>, 9>},
      {"bits-overwritten-by-def",
       "an original def is given the register of a bit-spill that is still needed",
       {9},
       {},
       shown_as<overwrite_by_def<false>, 9>},
      {"bits-from-wrong-slot",
       "a spilled base of bit-spills is refilled from another slot",
       {4},
       {},
       shown_as<pack_from_wrong_slot<false>, 4>},
      {"stale-bits", "a base is spilled before bit_spill has put the predicate into it", {4}, {}, shown_as<stale_pack<false>, 4>},
  };
}

}  // namespace regduel::fuzz
