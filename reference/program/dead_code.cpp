// See dead_code.h.

#include "reference/program/dead_code.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/grouped.h"

namespace regduel::reference {
namespace {

// The lists of refs do not have such items.
bool writes_architectural(const Shape& shape) {
  return std::ranges::any_of(shape.items, [](const Item& item) { return item.architectural && item.at_writes; });
}

// Whether an allocation may leave the instruction out where no instruction reads what it writes.
bool may_be_left_out(const Problem& problem, const CodeInst& inst) {
  if (inst.num_refs == 0 || inst.kind == CodeKind::Store) return false;
  if (inst.kind != CodeKind::Original) return true;
  const ir::Inst& source = problem.program().insts[inst.source];
  if (!source.is_copy() && !source.is_repeatable()) return false;
  const Shape& shape = problem.shape(inst.source);
  return !shape.has_clobbers() && !writes_architectural(shape);
}

std::vector<std::uint32_t> blocks_of_insts(const Code& code) {
  std::vector<std::uint32_t> block_of(code.insts.size());
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
    for (std::uint32_t i = code.blocks[b].first_inst; i < code.blocks[b].first_inst + code.blocks[b].num_insts; ++i)
      block_of[i] = b;
  return block_of;
}
bool is_copied(const Code& code, const CodeInst& inst, TempId t) {
  const auto refs = code.refs_of(inst);
  for (std::size_t k = 0; k < refs.size(); ++k)
    if ((refs[k].flags & kWrites) != 0 && code.source_of(inst, k) == t) return true;
  return false;
}
// At the head of a block.
std::uint64_t key(std::uint32_t block, TempId t) { return std::uint64_t{block} << 32 | t; }

// The defs that give their temp something: what computes, and copies of what such a def has reached.
class Defined {
 public:
  Defined(const Problem& problem, const Code& code)
      : f_(problem.program()), code_(code), block_of_(blocks_of_insts(code)), is_defined_(code.refs.size(), 0),
        is_reached_(code.refs.size(), 0) {
    uses_.build(code.temps.size(), [&](auto add) {
      for (std::uint32_t i = 0; i < code.insts.size(); ++i)
        for (std::uint32_t r = code.insts[i].first_ref; r < code.insts[i].first_ref + code.insts[i].num_refs; ++r)
          add(code.refs[r].temp, Use{i, r});
    });
  }
  // Whether no path brings anything to what the instruction copies. Requires run().
  [[nodiscard]] bool copies_nothing(std::uint32_t i) const {
    const CodeInst& inst = code_.insts[i];
    bool copies = false;
    for (std::uint32_t k = 0; k < inst.num_refs; ++k) {
      const std::uint32_t r = inst.first_ref + k;
      if ((code_.refs[r].flags & kWrites) == 0) continue;
      if ((source(inst, k) == kNoTemp && !is_copy(inst)) || is_defined_[r]) return false;
      copies = true;
    }
    return copies;
  }
  // Whether some path brings something to what the ref, a read, names. Requires run().
  [[nodiscard]] bool reads_something(std::uint32_t ref) const {
    return is_reached_[ref] != 0 || is_architectural(code_.refs[ref].temp);
  }
  void run() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      for (std::uint32_t i = code_.blocks[b].first_inst;
           code_.blocks[b].is_reachable && i < code_.blocks[b].first_inst + code_.blocks[b].num_insts; ++i)
        for (std::uint32_t k = 0; k < code_.insts[i].num_refs; ++k) {
          const TempId from = source(code_.insts[i], k);
          const bool computes = from == kNoTemp && (!is_copy(code_.insts[i]) || copies_architectural(code_.insts[i]));
          if (computes || (from != kNoTemp && is_architectural(from))) define(i, code_.insts[i].first_ref + k);
        }
    while (!work_.empty()) {
      const Use def = work_.back();
      work_.pop_back();
      reach({block_of_[def.inst], def.inst + 1, code_.refs[def.ref].temp, code_.bytes_of(code_.refs[def.ref]).writes});
    }
  }

 private:
  struct Use {
    std::uint32_t inst, ref;
  };
  struct Reach {
    std::uint32_t block, from;  // from: an instruction
    TempId temp;
    ByteMask bytes;
  };
  // What the ref, a def, takes from another temp; none where it computes.
  [[nodiscard]] TempId source(const CodeInst& inst, std::size_t k) const {
    if (inst.kind == CodeKind::Move && inst.copy_pairs == 0 && k == 0) return code_.refs_of(inst)[1].temp;
    return code_.source_of(inst, k);
  }
  // A copy of parts, under a guard, or to fixed registers, too.
  [[nodiscard]] bool is_copy(const CodeInst& inst) const {
    return inst.kind == CodeKind::Original && f_.insts[inst.source].is_copy();
  }
  [[nodiscard]] bool copies(const CodeInst& inst, TempId t) const {
    if (!is_copy(inst)) return false;
    const ir::Inst& from = f_.insts[inst.source];
    for (std::uint32_t o = from.first_operand; o < from.first_operand + from.num_operands; ++o)
      if (f_.operands[o].role == ir::Role::Use && code_.operand_temp[o] == t) return true;
    return false;
  }
  // Holds something from the entry on. The lists of refs do not have operands of the program that are architectural.
  [[nodiscard]] bool is_architectural(TempId t) const { return t < code_.num_values && code_.temps[t].fixed.is_valid(); }
  [[nodiscard]] bool copies_architectural(const CodeInst& inst) const {
    return std::ranges::any_of(f_.operands_of(f_.insts[inst.source]), [&](const ir::Operand& op) {
      return op.role == ir::Role::Use && op.is_vreg() && f_.vreg(f_.root(op.vreg())).is_architectural();
    });
  }
  void define(std::uint32_t i, std::uint32_t ref) {
    if ((code_.refs[ref].flags & kWrites) != 0 && !std::exchange(is_defined_[ref], std::uint8_t{1})) work_.push_back({i, ref});
  }
  void reach(Reach first) {
    reaches_.push_back(first);
    while (!reaches_.empty()) {
      Reach r = reaches_.back();
      reaches_.pop_back();
      const std::uint32_t end = code_.blocks[r.block].first_inst + code_.blocks[r.block].num_insts;
      const auto uses = uses_[r.temp];
      auto use = std::ranges::lower_bound(uses, r.from, {}, &Use::inst);
      while (r.bytes != 0 && use != uses.end() && use->inst < end) {
        const CodeInst& inst = code_.insts[use->inst];
        ByteMask killed = 0;
        for (const std::uint32_t i = use->inst; use != uses.end() && use->inst == i; ++use) {
          const Ref& ref = code_.refs[use->ref];
          const RefBytes bytes = code_.bytes_of(ref);
          if ((ref.flags & kKillsBytes) != 0) killed |= bytes.writes;
          if ((bytes.reads & r.bytes) == 0) continue;
          is_reached_[use->ref] = 1;
          for (std::uint32_t k = 0; k < inst.num_refs; ++k)
            if (source(inst, k) == r.temp || (source(inst, k) == kNoTemp && copies(inst, r.temp))) define(i, inst.first_ref + k);
        }
        r.bytes &= ~killed;
      }
      if (r.bytes == 0) continue;
      for (const std::uint32_t next : code_.successors[r.block]) {
        ByteMask& at_head = at_head_[key(next, r.temp)];
        const ByteMask more = r.bytes & ~at_head;
        at_head |= more;
        if (more != 0) reaches_.push_back({next, code_.blocks[next].first_inst, r.temp, more});
      }
    }
  }

  const ir::Function& f_;
  const Code& code_;
  const std::vector<std::uint32_t> block_of_;            // by instruction
  Grouped<Use> uses_;                                    // by temp, defs among them
  std::unordered_map<std::uint64_t, ByteMask> at_head_;  // the bytes that some def reaches
  std::vector<Use> work_;
  std::vector<Reach> reaches_;
  std::vector<std::uint8_t> is_defined_, is_reached_;  // by ref: of defs; of reads
};

// What cannot be left out, the defs that reach what it reads, those that reach what they read, and so on.
class Needed {
 public:
  Needed(const Problem& problem, const Code& code, DeadCopies copies)
      : problem_(problem), code_(code), copies_(copies), block_of_(blocks_of_insts(code)), is_needed_(code.insts.size(), 0),
        is_needed_def_(code.refs.size(), 0) {
    writes_.build(code.temps.size(), [&](auto add) {
      for (std::uint32_t i = 0; i < code.insts.size(); ++i)
        for (std::uint32_t r = code.insts[i].first_ref; r < code.insts[i].first_ref + code.insts[i].num_refs; ++r)
          if (const Ref& ref = code.refs[r]; (ref.flags & (kWrites | kKillsBytes)) != 0)
            add(ref.temp, Def{i, r, code.bytes_of(ref).writes, (ref.flags & kKillsBytes) != 0});
    });
  }
  void need(std::uint32_t i) {
    if (std::exchange(is_needed_[i], std::uint8_t{1})) return;
    if (goes_by_pair(i)) return;
    for (const Ref& r : code_.refs_of(code_.insts[i]))
      if ((r.flags & kReads) != 0) work_.push_back({block_of_[i], i, r.temp, code_.bytes_of(r).reads});
  }
  void run() {
    while (!work_.empty()) {
      const Want w = work_.back();
      work_.pop_back();
      want(w);
    }
  }
  [[nodiscard]] bool is_needed(std::uint32_t i) const { return is_needed_[i] != 0; }
  // Of a copy that goes by pair.
  [[nodiscard]] bool is_needed_def(std::uint32_t ref) const { return is_needed_def_[ref] != 0; }
  // A parallel copy that nothing but its pairs holds.
  [[nodiscard]] bool goes_by_pair(std::uint32_t i) const {
    const CodeInst& inst = code_.insts[i];
    if (copies_ == DeadCopies::Whole || inst.kind != CodeKind::Original || !may_be_left_out(problem_, inst)) return false;
    const auto refs = code_.refs_of(inst);
    for (std::size_t k = 2u * inst.copy_pairs; k < refs.size(); ++k) {
      const bool is_def = (refs[k].flags & kWrites) != 0;
      if (is_def ? code_.source_of(inst, k) == kNoTemp : !is_copied(code_, inst, refs[k].temp)) return false;
    }
    return true;
  }

 private:
  struct Def {
    std::uint32_t inst, ref;
    ByteMask bytes;
    bool kills;
  };
  struct Want {
    std::uint32_t block, before;  // an instruction, or the end of the block
    TempId temp;
    ByteMask bytes;
  };
  void need(const Def& def) {
    if ((code_.refs[def.ref].flags & kWrites) == 0) return;
    need(def.inst);
    const CodeInst& inst = code_.insts[def.inst];
    if (!goes_by_pair(def.inst) || std::exchange(is_needed_def_[def.ref], std::uint8_t{1})) return;
    const TempId from = code_.source_of(inst, def.ref - inst.first_ref);
    work_.push_back({block_of_[def.inst], def.inst, from, byte_mask(0, code_.temps[from].bytes)});
  }
  void want(Want w) {
    const CodeBlock& block = code_.blocks[w.block];
    const auto defs = writes_[w.temp];
    auto def = std::ranges::lower_bound(defs, w.before, {}, &Def::inst);
    while (w.bytes != 0 && def != defs.begin() && std::prev(def)->inst >= block.first_inst) {
      --def;
      if ((def->bytes & w.bytes) == 0) continue;
      need(*def);
      if (def->kills) w.bytes &= ~def->bytes;
    }
    ByteMask& at_head = at_head_[key(w.block, w.temp)];
    const ByteMask more = w.bytes & ~at_head;
    at_head |= more;
    if (more == 0) return;
    for (const std::uint32_t p : code_.predecessors[w.block])
      if (code_.blocks[p].is_reachable) work_.push_back({p, code_.blocks[p].first_inst + code_.blocks[p].num_insts, w.temp, more});
  }

  const Problem& problem_;
  const Code& code_;
  const DeadCopies copies_;
  const std::vector<std::uint32_t> block_of_;            // by instruction
  Grouped<Def> writes_;                                  // by temp
  std::unordered_map<std::uint64_t, ByteMask> at_head_;  // the bytes that are wanted there
  std::vector<Want> work_;
  std::vector<std::uint8_t> is_needed_;      // by instruction
  std::vector<std::uint8_t> is_needed_def_;  // by ref
};

// Leaves the pairs out whose defs are not needed. A source stays where another pair copies it, too.
void drop_pairs(const Needed& needed, Code& code, std::uint32_t i) {
  CodeInst& inst = code.insts[i];
  const auto refs = std::span(code.refs).subspan(inst.first_ref, inst.num_refs);
  const std::size_t behind = 2u * inst.copy_pairs;
  const auto is_needed = [&](std::size_t k) {
    return (refs[k].flags & kWrites) != 0 && needed.is_needed_def(inst.first_ref + static_cast<std::uint32_t>(k));
  };
  const auto is_source_behind = [&](TempId t) {
    for (std::size_t k = behind; k < refs.size(); ++k)
      if (is_needed(k) && code.source_of(inst, k) == t) return true;
    return false;
  };
  std::vector<Ref> kept;
  std::uint16_t pairs = 0;
  for (std::size_t k = 0; k < behind; k += 2) {
    if (!is_needed(k) && !is_source_behind(refs[k + 1].temp)) continue;
    kept.insert(kept.end(), {refs[k], refs[k + 1]});
    ++pairs;
  }
  for (std::size_t k = behind; k < refs.size(); ++k)
    if ((refs[k].flags & kWrites) != 0 ? is_needed(k) : is_source_behind(refs[k].temp)) kept.push_back(refs[k]);
  std::ranges::copy(kept, refs.begin());
  inst.num_refs = static_cast<std::uint16_t>(kept.size());
  inst.copy_pairs = pairs;
}

// Takes a copy of nothing out of the code, but for what it writes over.
void undefine(Code& code, std::uint32_t i) {
  CodeInst& inst = code.insts[i];
  const auto refs = std::span(code.refs).subspan(inst.first_ref, inst.num_refs);
  std::size_t kept = 0;
  for (const Ref& r : refs) {
    if ((r.flags & kWrites) == 0) continue;
    Ref& to = refs[kept++] = r;
    to.flags &= kKills | kKillsBytes | kPartial;
  }
  inst.kind = CodeKind::Deleted;
  inst.num_refs = static_cast<std::uint16_t>(kept);
  inst.copy_pairs = 0;
}

// Whether the instruction writes the value under a guard and has no other use for what was there before: then the value is live
// before it where it is live after it.
bool only_keeps(const Problem& problem, const Code& code, const CodeInst& inst, const Ref& r) {
  if (inst.kind != CodeKind::Original || r.temp >= code.num_values) return false;
  if ((r.flags & (kReads | kWrites | kKillsBytes)) != (kReads | kWrites)) return false;
  const ir::Function& f = problem.program();
  return std::ranges::none_of(f.operands_of(f.insts[inst.source]), [&](const ir::Operand& op) {
    return op.is_vreg() && op.reads() && f.root(op.vreg()).value == r.temp;
  });
}

}  // namespace

std::vector<std::uint8_t> drop_dead_code(const Problem& problem, Code& code, DeadCopies copies) {
  for (const CodeInst& inst : code.insts)
    for (std::uint32_t r = inst.first_ref; r < inst.first_ref + inst.num_refs; ++r)
      if (only_keeps(problem, code, inst, code.refs[r])) code.refs[r].flags &= static_cast<std::uint8_t>(~kReads);
  std::vector<std::uint32_t> reachable;
  for (const CodeBlock& b : code.blocks)
    for (std::uint32_t i = b.first_inst; b.is_reachable && i < b.first_inst + b.num_insts; ++i) reachable.push_back(i);
  std::vector<std::uint8_t> dead(code.insts.size(), 0);
  const auto drop = [&](std::uint32_t i) {
    dead[i] = kNoneReadsIt;
    code.insts[i].num_refs = code.insts[i].copy_pairs = 0;
  };

  Defined defined(problem, code);
  defined.run();
  for (const std::uint32_t i : reachable) {
    const CodeInst& inst = code.insts[i];
    for (std::uint32_t r = inst.first_ref; r < inst.first_ref + inst.num_refs; ++r)
      if (Ref& ref = code.refs[r]; (ref.flags & (kReads | kWrites)) == kReads && !defined.reads_something(r))
        ref.flags &= static_cast<std::uint8_t>(~kReads);
    if (may_be_left_out(problem, inst) && defined.copies_nothing(i)) {
      dead[i] = kCopiesNothing;
      undefine(code, i);
    }
  }

  Needed needed(problem, code, copies);
  for (const std::uint32_t i : reachable)
    if (dead[i] == 0 && !may_be_left_out(problem, code.insts[i])) needed.need(i);
  needed.run();
  for (const std::uint32_t i : reachable) {
    if (dead[i] != 0 || !may_be_left_out(problem, code.insts[i])) continue;
    if (!needed.is_needed(i)) drop(i);
    else if (needed.goes_by_pair(i)) drop_pairs(needed, code, i);
  }
  return dead;
}

std::vector<std::pair<std::uint32_t, TempId>> undefined_reads(const Code& code) {
  std::vector<std::pair<std::uint32_t, TempId>> reads;
  for (const CodeInst& inst : code.insts) {
    const auto refs = code.refs_of(inst);
    const auto is_read = [&](TempId t) {
      return std::ranges::any_of(refs, [&](const Ref& r) { return r.temp == t && (r.flags & kReads) != 0; });
    };
    for (const Ref& r : refs)
      if (inst.kind == CodeKind::Original && r.temp < code.num_values && (r.flags & (kAtReads | kReads | kWrites)) == kAtReads &&
          !is_read(r.temp))
        reads.emplace_back(inst.source, r.temp);
  }
  std::ranges::sort(reads);
  return reads;
}

}  // namespace regduel::reference
