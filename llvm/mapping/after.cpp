#include "llvm/mapping/after.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "llvm/mapping/fold.h"

namespace regduel::llvm {
namespace {

using Homes = std::map<int, std::vector<int>>;  // operand of the original: units of its lanes

class AfterMapper {
 public:
  AfterMapper(const Tables& tables, const Dump& before, const Dump& after, const Cells& cells, Groups& groups)
      : tables_(tables), before_(before), after_(after), cells_(cells), groups_(groups), scratch_(cells.size()) {
    for (int b = 0; b < std::ssize(groups_); ++b)
      for (int k = 0; k < std::ssize(groups_[b]); ++k)
        if (const Group& g = groups_[b][k]; g.source != nullptr && !at_.emplace(g.source->num, std::pair(b, k)).second)
          throw Refusal{"number", "two instructions have one number"};
    for (const Block& b : after_.blocks)
      for (const Inst& i : b.insts)
        if (const int n = number(i); n != 0 && !is_dropped(i) && !present_.insert(n).second)
          throw Refusal{"twice", fmt::format("the original {} stands there twice", i.op)};
  }

  AfterText run() {
    if (before_.blocks.size() != after_.blocks.size()) throw Refusal{"blocks", "another number of blocks"};
    for (int b = 0; b < std::ssize(after_.blocks); ++b) {
      if (before_.blocks[b].number != after_.blocks[b].number || before_.blocks[b].successors != after_.blocks[b].successors)
        throw Refusal{"blocks", "other blocks or successors"};
      map_block(b);
    }
    out_.units = cells_.size() + kScratch + 1;
    return std::move(out_);
  }

 private:
  static constexpr int kScratch = 16;  // units for operands in memory; one more is never written

  // The number of the original that i is; 0 = it is none of this run's.
  int number(const Inst& i) const {
    if (at_.contains(i.num)) return i.num;
    const auto it = after_.substitutions.find(i.num);
    return it != after_.substitutions.end() && at_.contains(it->second) ? it->second : 0;
  }
  // A copy to itself leaves one of these.
  bool is_dropped(const Inst& i) const { return i.op == "KILL" || i.op == "IMPLICIT_DEF"; }
  bool is_new_slot(int fi) const { return !before_.slots.contains(fi); }
  std::optional<int> new_slot(const Inst& i) const {
    std::optional<int> slot;
    for (const Operand& o : i.ops)
      if (o.kind == OperandKind::Frame && is_new_slot(static_cast<int>(o.value))) {
        if (slot && *slot != o.value) throw Refusal{"two-folds", fmt::format("{} has operands in two stack slots", i.op)};
        slot = static_cast<int>(o.value);
      }
    return slot;
  }

  std::string unit(int u) const { return fmt::format("ACC{}", u); }
  std::string fixed(const RirOperand& o) const {
    if (o.lane == Lane{-1, -1}) return "UR0";
    return unit(o.lane.vreg == kUndefined ? cells_.size() + kScratch : o.lane.lane) + o.part.text();
  }

  // --- output
  void line(std::string s) { out_.blocks.back().push_back(std::move(s)); }
  void insert(const Inst& i, std::string s) {
    const int id = kFirstInserted + inserted_++;
    out_.sites[id] = {block_, -1, static_cast<int>(&i - after_.blocks[block_].insts.data()), {}};
    line(fmt::format("+{} {}", id, s));
  }
  void spill(const Inst& i, int u, int slot, int lane) {
    insert(i, fmt::format("spill {}, slot @{}+{}", unit(u), slot, 4 * lane));
    reserve_slot(slot, lane);
  }
  void refill(const Inst& i, int u, int slot, int lane) {
    insert(i, fmt::format("{} = refill slot @{}+{}", unit(u), slot, 4 * lane));
    reserve_slot(slot, lane);
  }
  void reserve_slot(int slot, int lane) { out_.slot_bytes[slot] = std::max(out_.slot_bytes[slot], 4 * (lane + 1)); }

  // --- blocks
  void map_block(int b) {
    block_ = b;
    out_.blocks.emplace_back();
    const std::vector<Group>& groups = groups_[b];
    next_ = 0;
    if (!groups.empty() && groups[0].source == nullptr && !groups[0].insts[0].defs.empty() &&
        groups[0].insts[0].kind == RirKind::Named)
      flush(1);
    all_lanes_.reset();
    for (const Inst& i : after_.blocks[b].insts) {
      if (all_lanes_ && !may_stand_under_all_lanes(i)) throw Refusal{"mask", fmt::format("{} while all lanes are on", i.op)};
      const int n = number(i);
      if (n == 0) {
        if (is_no_code(i) || is_dropped(i)) continue;
        map_inserted(i);
        continue;
      }
      const auto [home, k] = at_.at(n);
      if (home != b) throw Refusal{"moved", fmt::format("{} is in another block", i.op)};
      if (k < next_) throw Refusal{"moved", fmt::format("{} is before an instruction that it was behind", i.op)};
      flush(k);
      ++next_;
      map_original(groups_[b][k], i);
    }
    if (all_lanes_) throw Refusal{"mask", "all lanes are on at the end of a block"};
    flush(static_cast<int>(groups.size()));
  }

  // Originals before group k that were not met are deleted.
  void flush(int k) {
    for (; next_ < k; ++next_) {
      const Group& g = groups_[block_][next_];
      if (g.source != nullptr) delete_original(g);
      else
        for (const RirInst& i : g.insts)
          line(i.kills ? deleted(i) : print(i, [&](const RirOperand& o) { return fixed(o); }, false));
    }
  }

  void delete_original(const Group& g) {
    const RirInst& first = g.insts[0];
    const bool has_effects = first.flags.find("!write") != std::string::npos || g.source->has('o');
    if (first.kind != RirKind::Copy && !first.is_rematerialisable() && !has_effects)
      throw Refusal{"deleted", fmt::format("{} without effects was deleted", g.source->op)};
    if (first.kind == RirKind::Copy) ++out_.counts.copies_deleted;
    for (const RirInst& i : g.insts) line(deleted(i));
  }

  // --- what is inserted
  void map_inserted(const Inst& i) {
    if (i.op == "COPY" && i.ops.size() >= 2) return map_inserted_copy(i);
    if (turns_lanes_on(i) || turns_lanes_back(i)) return map_mask(i);
    if (is_spill_code(i)) {
      const auto [is_load, operand, slot] = spill_code(i);
      if (!cells_.sees(i.ops[operand], after_)) return;
      const std::vector<int> units = cells_.units(i.ops[operand].preg);
      if (!is_load && i.ops[operand].is_undef) return;
      for (int k = 0; k < std::ssize(units); ++k) is_load ? refill(i, units[k], slot, k) : spill(i, units[k], slot, k);
      count_spill(i, is_load, units);
      return;
    }
    map_remat(i);
  }

  // AMDGPU copies and spills whole-wave registers with all lanes on: the mask goes to an SGPR, and back from there right behind. EXEC itself is not
  // judged, so that all there is to see is what the SGPR and SCC held before.
  static bool turns_lanes_on(const Inst& i) {
    return (i.op == "S_OR_SAVEEXEC_B32" || i.op == "S_OR_SAVEEXEC_B64") && i.ops.size() >= 2 && i.ops[1].value == -1;
  }
  bool turns_lanes_back(const Inst& i) const {
    return all_lanes_ && (i.op == "S_MOV_B32" || i.op == "S_MOV_B64") && i.ops.size() >= 2 && i.ops[1].preg == *all_lanes_ &&
           i.ops[0].preg >= 0 && tables_.registers[i.ops[0].preg].name.starts_with("EXEC");
  }
  bool may_stand_under_all_lanes(const Inst& i) const {
    if (turns_lanes_back(i) || is_no_code(i) || is_dropped(i)) return true;
    if (i.op != "COPY" && !is_spill_code(i)) return false;
    const auto is_mask = [&](const Operand& o) { return o.preg >= 0 && o.preg == *all_lanes_; };
    return std::ranges::none_of(i.ops, is_mask);
  }
  void map_mask(const Inst& i) {
    if (turns_lanes_back(i)) return all_lanes_.reset();
    all_lanes_ = i.ops[0].preg;
    for (const Operand& o : i.ops)
      if (o.is_def && cells_.sees(o, after_))
        for (const int u : cells_.units(o.preg)) insert(i, fmt::format("{} = copy {}", unit(u), unit(cells_.size() + kScratch)));
  }

  void count_spill(const Inst& i, bool is_load, const std::vector<int>& units) {
    std::int64_t bytes = 0;
    for (const int u : units) bytes += cells_.bytes(u);
    if (!i.memory_bytes.empty() && i.memory_bytes[0] > 0) bytes = i.memory_bytes[0];
    (is_load ? out_.counts.refills : out_.counts.spills) += 1;
    (is_load ? out_.counts.refill_bytes : out_.counts.spill_bytes) += bytes;
  }

  void map_inserted_copy(const Inst& i) {
    const Operand &d = i.ops[0], &u = i.ops[1];
    const bool sees_d = cells_.sees(d, after_), sees_u = cells_.sees(u, after_);
    if ((!sees_d && !sees_u) || u.is_undef) return;
    if (!sees_d || !sees_u) throw Refusal{"copy-across", "a copy between a register that is judged and one that is left out"};
    const std::vector<LaneOperand> to = cells_.lanes(d, after_), from = cells_.lanes(u, after_);
    const auto same_size = [](const LaneOperand& a, const LaneOperand& b) { return a.part.bits == b.part.bits; };
    if (!std::ranges::equal(to, from, same_size)) throw Refusal{"shape", "a copy of different sizes"};
    std::string defs, uses;
    for (std::size_t k = 0; k < to.size(); ++k) {
      defs += (k ? ", " : "") + unit(to[k].lane.lane) + to[k].part.text();
      uses += (k ? ", " : "") + unit(from[k].lane.lane) + from[k].part.text();
    }
    insert(i, fmt::format("{} = copy {}", defs, uses));
    ++out_.counts.copies;
  }

  // Spill code proper: to or from a slot that the program before has not.
  bool is_spill_code(const Inst& i) const {
    return (i.stores_to && is_new_slot(*i.stores_to)) || (i.loads_from && is_new_slot(*i.loads_from)) || is_spill_by_name(i);
  }
  // LLVM does not call these spill code: x87's stack, tuples of AArch64's vectors.
  bool is_spill_by_name(const Inst& i) const {
    static constexpr std::string_view names[] = {"ST_Fp",   "LD_Fp",  "ST1Two",   "ST1Three",
                                                 "ST1Four", "LD1Two", "LD1Three", "LD1Four"};
    return std::ranges::any_of(names, [&](std::string_view n) { return i.op.starts_with(n); }) && new_slot(i).has_value();
  }
  struct SpillCode {
    bool is_load;
    int operand, slot;
  };
  SpillCode spill_code(const Inst& i) const {
    for (int k = 0; k < std::ssize(i.ops); ++k)
      if (const Operand& o = i.ops[k];
          o.preg >= 0 && !o.is_implicit && (is_spill_by_name(i) || o.is_def == i.loads_from.has_value()))
        if (!after_.reserved.contains(o.preg) || o.is_def) return {o.is_def, k, new_slot(i).value()};
    throw Refusal{"spill-code", fmt::format("{} without a register", i.op)};
  }

  static bool is_same_constant(const Inst& original, const Inst& now) {
    static const std::map<std::string, std::int64_t> constants = {{"MOV32r0", 0}, {"MOV32r1", 1}, {"MOV32r_1", -1}};
    const auto it = constants.find(original.op);
    return it != constants.end() && now.op == "MOV32ri" && now.ops.size() >= 2 && now.ops[1].value == it->second;
  }

  // The rematerialisable original that i repeats.
  const Group& repeated(const Inst& i) const {
    const auto is_like = [&](const Group& g) {
      return g.source != nullptr && g.insts[0].is_rematerialisable() &&
             ((g.source->op == i.op && text_of(i, after_, cells_, tables_) == g.insts[0].text) || is_same_constant(*g.source, i));
    };
    if (i.def != 0) {
      if (!at_.contains(i.def)) throw Refusal{"remat", fmt::format("{} repeats what is not there", i.op)};
      const auto [b, k] = at_.at(i.def);
      const Group& g = groups_[b][k];
      if (is_like(g)) return g;
    }
    const Group* only = nullptr;
    for (const auto& block : groups_)
      for (const Group& g : block)
        if (is_like(g)) {
          if (only != nullptr) throw Refusal{"remat-origin", fmt::format("{} may repeat several definitions", i.op)};
          only = &g;
        }
    if (only == nullptr) throw Refusal{"inserted", fmt::format("{} is no copy, spill, refill or rematerialisation", i.op)};
    return *only;
  }

  void map_remat(const Inst& i) {
    const Group& g = repeated(i);
    std::vector<int> units;
    for (const Operand& o : i.ops)
      if (o.is_def && !o.is_implicit && cells_.sees(o, after_))
        for (const int u : cells_.units(o.preg)) units.push_back(u);
    std::vector<const RirInst*> lanes;
    for (const RirInst& r : g.insts)
      if (!r.kills) lanes.push_back(&r);
    if (lanes.size() != units.size()) throw Refusal{"remat", fmt::format("{} repeats a part of a definition", i.op)};
    repeat(i, g, units);
    for (const Operand& o : i.ops)  // what it destroys besides
      if (o.is_def && o.is_implicit && o.is_dead && cells_.sees(o, after_))
        for (const int u : cells_.units(o.preg))
          if (std::ranges::find(units, u) == units.end())
            insert(i, fmt::format("{} = copy {}", unit(u), unit(cells_.size() + kScratch)));
    ++out_.counts.remats;
  }

  // Where the definition was deleted just here, that is said first.
  void repeat(const Inst& i, const Group& g, const std::vector<int>& units) {
    if (const auto [b, k] = at_.at(g.source->num);
        b == block_ && k >= next_ && !present_.contains(g.source->num) && no_original_before(i, k))
      flush(k + 1);
    std::size_t lane = 0;
    for (const RirInst& r : g.insts) {
      if (r.kills) continue;
      std::string uses;
      for (const RirOperand& u : r.uses) {
        if (u.lane.vreg >= 0) throw Refusal{"remat", fmt::format("{} reads a virtual register", g.source->op)};
        uses += (uses.empty() ? " " : ", ") + fixed(u);
      }
      if (!r.text.empty()) {
        RirInst text{.text = r.text};
        const std::string printed = print(text, {}, false);  // #0 "" "text"
        uses += (uses.empty() ? " " : ", ") + printed.substr(printed.find("\"\"") + 3);
      }
      insert(i, fmt::format("{} = remat #{}{}", unit(units.at(lane++)), r.id, uses));
    }
  }

  // No original that is still to come in this block stood before group k.
  bool no_original_before(const Inst& i, int k) const {
    const std::vector<Inst>& insts = after_.blocks[block_].insts;
    for (std::size_t n = static_cast<std::size_t>(&i - insts.data()); n < insts.size(); ++n)
      if (const int num = number(insts[n]); num != 0 && at_.at(num).second < k) return false;
    return true;
  }

  // --- originals
  void map_original(Group& g, const Inst& i) {
    const Inst& source = *g.source;
    const bool is_copy = g.insts[0].kind == RirKind::Copy;
    next_scratch_ = scratch_;
    note(g, i);
    if (is_copy && (is_dropped(i) || (i.op == "COPY" && i.ops[1].is_undef && !source.ops[1].is_undef))) return delete_original(g);
    ++out_.counts.originals;
    std::optional<Homes> homes;
    Moved moved;
    if (i.op == source.op) homes = homes_of(source, i, moved);
    if (is_copy && i.op == "COPY" && (!homes || !moved.empty())) {  // copy propagation: another source
      delete_original(g);
      return map_inserted_copy(i);
    }
    if (!homes) return is_copy ? map_copy_to_memory(g, i) : map_folded(g, i);
    for (const auto& [k, preg] : moved) read_elsewhere(g, k, preg, i);
    for (RirInst& r : g.insts) {
      if (r.is_said) continue;  // was said
      if (r.kills) {
        line(r.destroys ? print(r, [&](const RirOperand& o) { return fixed(o); }, false) : deleted(r));
        continue;
      }
      RirInst now = r;
      if (!is_copy) now.text = text_of(i, after_, cells_, tables_);
      line(print(now, [&](const RirOperand& o) { return name(o, *homes); }, false));
    }
  }

  void note(const Group& g, const Inst& i) {
    for (const RirInst& r : g.insts) out_.sites[r.id].inst_after = static_cast<int>(&i - after_.blocks[block_].insts.data());
  }

  std::string name(const RirOperand& o, const Homes& homes) const {
    if (o.lane.vreg == kTemporary) return unit(temporary_home_.at(o.lane.lane)) + o.part.text();
    if (o.lane.vreg < 0) return fixed(o);
    return unit(homes.at(o.op).at(o.pos) + o.beside) + o.part.text();
  }

  using Moved = std::vector<std::pair<int, int>>;  // operand, register

  // Copy propagation has operand k of an original read another physical register than before, which holds the same. A precoloured operand cannot
  // move, so the program before gets a copy to a temporary; after, that is deleted, and the temporary is loaded from where the operand is now.
  void read_elsewhere(Group& g, int k, int preg, const Inst& i) {
    const std::vector<int> units = cells_.units(preg);
    RirInst copy{.id = kFirstExtra + kFirstExtra / 2 + temporaries_, .kind = RirKind::Copy, .op = "copy"};
    for (RirInst& r : g.insts)
      for (RirOperand& u : r.uses) {
        if (u.op != k || u.lane.vreg != -1) continue;
        const int scratch = next_scratch_++;
        if (scratch >= cells_.size() + kScratch) throw Refusal{"changed", "too many registers were replaced"};
        copy.uses.push_back({u.lane, {}});
        insert(i, fmt::format("{} = copy {}", unit(scratch), unit(units.at(u.pos))));
        u.lane = {kTemporary, temporaries_++};
        temporary_home_[u.lane.lane] = scratch;
        copy.defs.push_back({u.lane, {}});
      }
    if (copy.defs.empty()) return;
    line(deleted(copy));
    copy.is_said = true;
    g.insts.insert(g.insts.begin(), std::move(copy));
  }

  // Where the vregs of an original are that kept its form; nullopt where it did not.
  std::optional<Homes> homes_of(const Inst& source, const Inst& i, Moved& moved) const {
    Homes homes;
    for (int k = 0; k < std::ssize(source.ops); ++k) {
      const Operand& o = source.ops[k];
      if (!cells_.sees(o, before_)) continue;
      if (o.vreg < 0 && o.is_implicit) continue;  // kill marks drop and add these
      if (k >= std::ssize(i.ops) || !i.ops[k].is_register()) return std::nullopt;
      const Operand& now = i.ops[k];
      if (o.vreg < 0) {
        if (now.preg == o.preg) continue;
        if (o.is_def || !cells_.sees_register(now.preg) || cells_.units(now.preg).size() != cells_.units(o.preg).size())
          return std::nullopt;
        moved.emplace_back(k, now.preg);
        continue;
      }
      if (now.vreg >= 0) throw Refusal{"virtual", fmt::format("%{} is still virtual", now.vreg)};
      if (!cells_.sees_register(now.preg)) {
        if (now.preg >= 0 && o.is_undef) {  // nothing is read there
          homes[k] = std::vector<int>(cells_.lanes(o, before_).size(), cells_.size() + kScratch);
          continue;
        }
        throw Refusal{"reserved", fmt::format("%{} is in a register that is reserved", o.vreg)};
      }
      homes[k] = homes_of_operand(o, now.preg);
    }
    return homes;
  }

  std::vector<int> homes_of_operand(const Operand& o, int preg) const {
    const int cls = before_.vregs[o.vreg];
    const std::vector<int> units = cells_.units(preg);
    const std::vector<LaneOperand> lanes = cells_.lanes(o, before_);
    // The whole register may stand for its part, where that is all of it that lives.
    if (!o.sub.empty() && units.size() != lanes.size() && std::ssize(units) == cells_.lane_count(cls)) {
      std::vector<int> some;
      for (const LaneOperand& l : lanes) some.push_back(units[l.lane.lane]);
      return some;
    }
    return cells_.homes(o, before_, preg);
  }

  // A copy that is a load or a store now, or that computes its value again.
  void map_copy_to_memory(Group& g, const Inst& i) {
    delete_original(g);
    if (is_spill_code(i) || i.def != 0 || i.op != "COPY") return map_inserted_value(g, i);
    throw Refusal{"copy", "a copy has other operands"};
  }

  void map_inserted_value(const Group& g, const Inst& i) {
    if (is_spill_code(i)) return map_inserted(i);
    const int value = g.source->ops[1].def;
    if (value == 0 || !at_.contains(value)) throw Refusal{"copy", fmt::format("a copy became {}", i.op)};
    const auto [b, k] = at_.at(value);
    if (!groups_[b][k].insts[0].is_rematerialisable()) throw Refusal{"copy", fmt::format("a copy became {}", i.op)};
    std::vector<int> units;
    for (const Operand& o : i.ops)
      if (o.is_def && !o.is_implicit && cells_.sees(o, after_))
        for (const int u : cells_.units(o.preg)) units.push_back(u);
    if (std::ssize(units) != std::ranges::count_if(groups_[b][k].insts, [](const RirInst& r) { return !r.kills; }))
      throw Refusal{"copy", fmt::format("a copy became {}", i.op)};
    repeat(i, groups_[b][k], units);
  }

  // Operands that stand in memory now.
  void map_folded(Group& g, const Inst& i) {
    const Inst& source = *g.source;
    const std::optional<int> slot = new_slot(i);
    int value = 0;
    if (!slot) {
      value = folded_load(source, i);
      if (value == 0) value = folded_constant(source, i);
      if (value == 0) throw Refusal{"changed", fmt::format("{} became {}", source.op, i.op)};
    } else if (i.slot_of < 0) {
      throw Refusal{"fold", fmt::format("{} names a stack slot that is no vreg's home", i.op)};
    }
    const Fold fold = find_fold(source, before_, i, after_, cells_, slot ? i.slot_of : -1, value);
    Homes homes;
    for (const auto& [k, now] : fold.in_place)
      if (source.ops[k].vreg >= 0) homes[k] = homes_of_operand(source.ops[k], i.ops[now].preg);
    const auto& in_memory = fold.in_memory;
    std::vector<LaneOperand> lanes = cells_.lanes(source.ops[in_memory[0]], before_);
    if (std::ssize(lanes) > kScratch) throw Refusal{"fold", "a fold of too many lanes"};
    std::vector<int> units;
    for (int k = 0; k < std::ssize(lanes); ++k) units.push_back(scratch_ + k);
    for (const int k : in_memory) homes[k] = units;
    untie(g, fold, homes);
    bool reads = false, writes = false;
    for (const int k : in_memory) (source.ops[k].is_def ? writes : reads) |= !source.ops[k].is_undef || source.ops[k].is_def;
    if (reads && slot)
      for (int k = 0; k < std::ssize(lanes); ++k) refill(i, units[k], *slot, lanes[k].lane.lane);
    if (reads && !slot) {
      const auto [b, k] = at_.at(value);
      repeat(i, groups_[b][k], units);
    }
    for (const RirInst& r : g.insts) {
      if (r.kills && !r.destroys) line(deleted(r));
      else line(print(r, [&](const RirOperand& o) { return r.kills ? fixed(o) : name(o, homes); }, false));
    }
    if (writes && slot)
      for (int k = 0; k < std::ssize(lanes); ++k) spill(i, units[k], *slot, lanes[k].lane.lane);
    ++out_.counts.folds;
    const std::int64_t bytes = i.memory_bytes.empty() ? 0 : std::max<std::int64_t>(i.memory_bytes[0], 0);
    if (slot && reads) out_.counts.refill_bytes += bytes;
    if (slot && writes) out_.counts.spill_bytes += bytes;
  }

  // A register of zeros or ones that is read from the constant pool now.
  int folded_constant(const Inst& source, const Inst& i) const {
    static const std::map<std::string, const char*> constants = {
        {"FsFLD0SS", " zero"},        {"FsFLD0SD", " zero"},        {"FsFLD0SH", " zero"},        {"FsFLD0F128", " zero"},
        {"V_SET0", " zero"},          {"AVX_SET0", " zero"},        {"AVX512_FsFLD0SS", " zero"}, {"AVX512_FsFLD0SD", " zero"},
        {"AVX512_128_SET0", " zero"}, {"AVX512_256_SET0", " zero"}, {"V_SETALLONES", " ones"},    {"AVX2_SETALLONES", " ones"}};
    for (const Operand& o : source.ops) {
      if (o.def == 0 || !at_.contains(o.def)) continue;
      const auto [b, k] = at_.at(o.def);
      const auto it = constants.find(groups_[b][k].source->op);
      if (it == constants.end() || !groups_[b][k].insts[0].is_rematerialisable()) continue;
      for (const Operand& a : i.ops)
        if (a.kind == OperandKind::Text && a.text.starts_with("%const.") && a.text.ends_with(it->second)) return o.def;
    }
    return 0;
  }

  // The number of the rematerialisable load whose memory operand i has now.
  int folded_load(const Inst& source, const Inst& i) const {
    const auto key = [](const Operand& o) {
      return fmt::format("{} {} {} {}", static_cast<int>(o.kind), o.value, o.text, o.vreg < 0 ? o.preg : -2);
    };
    for (const Operand& o : source.ops) {
      if (o.def == 0 || !at_.contains(o.def)) continue;
      const auto [b, k] = at_.at(o.def);
      const Group& g = groups_[b][k];
      if (!g.insts[0].is_rematerialisable() || g.insts[0].flags.find("!read") == std::string::npos) continue;
      std::vector<std::string> address, now;
      for (const Operand& a : g.source->ops)
        if (!a.is_def && !a.is_implicit) address.push_back(key(a));
      for (const Operand& a : i.ops)
        if (!a.is_implicit) now.push_back(key(a));
      if (!std::ranges::search(now, address).empty()) return o.def;
    }
    return 0;
  }

  // A def that was tied to the operand in memory: a commuted instruction has it tied to another one.
  void untie(Group& g, const Fold& fold, Homes& homes) const {
    for (const auto& [k, now] : fold.in_place) {
      const Operand& o = g.source->ops[k];
      if (!o.is_def || o.tied < 0 || std::ranges::find(fold.in_memory, o.tied) == fold.in_memory.end()) continue;
      const bool is_commuted = std::ranges::any_of(fold.in_place, [&](const auto& p) {
        return !g.source->ops[p.first].is_def && homes.contains(p.first) && homes.at(p.first) == homes.at(k);
      });
      if (!is_commuted) throw Refusal{"fold", fmt::format("{}: a tied use is in memory, its def is not", g.source->op)};
      for (RirInst& r : g.insts)
        for (RirOperand& d : r.defs)
          if (d.op == k) d.attribute.clear();
    }
  }

  const Tables& tables_;
  const Dump &before_, &after_;
  const Cells& cells_;
  Groups& groups_;
  int scratch_;
  std::map<int, std::pair<int, int>> at_;  // number of an original: its group
  std::set<int> present_;                  // originals that are still there
  int block_ = 0, next_ = 0, inserted_ = 0, temporaries_ = 0, next_scratch_ = 0;
  std::map<int, int> temporary_home_;
  std::optional<int> all_lanes_;  // the register that keeps the mask meanwhile
  AfterText out_;
};

}  // namespace

AfterText map_after(const Tables& tables, const Dump& before, const Dump& after, const Cells& cells, Groups& groups) {
  return AfterMapper(tables, before, after, cells, groups).run();
}

}  // namespace regduel::llvm
