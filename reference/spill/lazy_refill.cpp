#include "reference/spill/lazy_refill.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <tuple>

#include "base/planted.h"
#include "reference/program/liveness.h"
#include "reference/spill/worklist.h"

namespace regduel::reference {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

bool is_refill_or_store(const CodeInst& inst) { return inst.kind == CodeKind::Refill || inst.kind == CodeKind::Store; }

// Whether a refill or store moves the temp as a whole, from or to the front of the slot.
bool is_whole_move(const Code& code, const CodeInst& inst) {
  const Temp& t = code.temps[code.refs_of(inst)[0].temp];
  return inst.slot_offset == 0 && inst.dst_offset == 0 && inst.src_offset == 0 && inst.bytes == t.bytes;
}

UnitSet first_units(const UnitSet& all, int most) {
  UnitSet first;
  for (int u = all.first(); u >= 0 && most > 0; u = all.next(u + 1), --most) first.set(u);
  return first;
}

// The units of a set of temps, some of which may share units.
class HeldUnits {
 public:
  explicit HeldUnits(std::size_t temps) : is_member_(temps, 0) {}
  [[nodiscard]] const UnitSet& operator[](std::size_t file) const { return units_[file]; }
  void set(ir::PReg home, TempId t, bool is_member) {
    if (!home.is_valid() || (is_member_[t] != 0) == is_member) return;
    is_member_[t] = is_member;
    if (is_member) members_.push_back(t);
    const std::size_t file = ir::index(home.file);
    for (int u = home.begin(); u < home.end(); ++u) {
      std::uint32_t& holders = holders_[file][static_cast<std::size_t>(u)];
      if (is_member && holders++ == 0) units_[file].set(u);
      if (!is_member && --holders == 0) units_[file].clear(u);
    }
  }
  void clear() {
    for (const TempId t : members_) is_member_[t] = 0;
    members_.clear();
    holders_ = {};
    units_ = {};
  }

 private:
  std::vector<std::uint8_t> is_member_;  // by temp
  std::vector<TempId> members_;          // and some that were
  ir::PerFile<std::array<std::uint32_t, ir::kMaxUnits>> holders_ = {};
  ir::PerFile<UnitSet> units_ = {};
};

class Sharer {
 public:
  Sharer(const Problem& problem, const Plan& plan, const LazyRefillOptions& options, Code& code, std::vector<ir::PReg>& homes,
         std::vector<std::uint8_t>& is_dead)
      : p_(problem), options_(options), code_(code), homes_(homes), is_dead_(is_dead), uses_(code.temps.size()),
        held_(code.temps.size()), group_of_slot_(plan.slots.size(), kNone), group_of_temp_(code.temps.size(), kNone) {}

  void run() {
    find_uses();
    Liveness liveness(code_);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      files_ = {};
      bool has_refills = false;
      for (const CodeInst& inst : code_.insts_of(code_.blocks[b])) {
        if (!is_refill_or_store(inst)) continue;
        has_refills = has_refills || inst.kind == CodeKind::Refill;
        files_[ir::index(code_.temps[code_.refs_of(inst)[0].temp].file)] = true;
      }
      if (!has_refills || !code_.blocks[b].is_reachable) continue;
      begin_ = code_.blocks[b].first_inst;
      find_busy(b, liveness);
      block(code_.blocks[b]);
    }
  }

 private:
  // Of a local temp: where it is named in its block.
  struct Uses {
    std::uint32_t first = kNone, last = 0;
    std::uint32_t last_write = 0;  // by an instruction that is no refill
    bool is_bound = false;         // must keep its register: precoloured, part of a move, or read by a ret
  };
  // Local temps that hold one slot's value in one register, one after the other.
  struct Group {
    std::uint32_t slot = kNone;
    ir::PReg home;
    std::uint32_t start = 0, end = 0;  // first and last instruction that names a member
    bool is_bound = false;
    int align_log2 = 0;  // the strictest of its members
    std::vector<TempId> members;
  };

  [[nodiscard]] bool is_local(TempId t) const { return t >= code_.num_values; }

  void find_uses() {
    for (std::uint32_t i = 0; i < code_.insts.size(); ++i) {
      const CodeInst& inst = code_.insts[i];
      const bool is_ret = inst.kind == CodeKind::Original && p_.program().insts[inst.source].op == ir::Op::Ret;
      for (const Ref& r : code_.refs_of(inst)) {
        Uses& u = uses_[r.temp];
        u.first = std::min(u.first, i);
        u.last = i;
        if ((r.flags & kWrites) && inst.kind != CodeKind::Refill) u.last_write = i;
        u.is_bound = u.is_bound || is_ret || inst.kind == CodeKind::Move || code_.temps[r.temp].fixed.is_valid();
      }
    }
  }

  // busy(file, i) = units that are live before or after instruction i, named by it, or clobbered by it.
  void find_busy(std::uint32_t b, Liveness& liveness) {
    const CodeBlock& block = code_.blocks[b];
    const std::uint32_t end = begin_ + block.num_insts;
    const auto add = [&](std::uint32_t i, TempId t) {
      const std::size_t file = ir::index(code_.temps[t].file);
      if (files_[file] && homes_[t].is_valid()) busy_[file][i - begin_] |= units_of(homes_[t]);
    };
    for (std::size_t file = 0; file < busy_.size(); ++file)
      if (files_[file]) busy_[file].assign(block.num_insts, UnitSet());
    held_.clear();
    liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) {
      if (i + 1 == end) live.for_each([&](TempId t) { held_.set(homes_[t], t, true); });
      else
        for (const Ref& r : code_.refs_of(code_.insts[i + 1])) held_.set(homes_[r.temp], r.temp, live.contains(r.temp));
      for (std::size_t file = 0; file < busy_.size(); ++file) {
        if (!files_[file]) continue;
        busy_[file][i - begin_] |= held_[file];
        if (i + 1 < end) busy_[file][i + 1 - begin_] |= held_[file];
      }
      return !is_dead_[i];
    });
    for (const TempId t : liveness.live_in(b)) add(begin_, t);
    const std::vector<UnitSet> closed = p_.closed_in(code_, b);
    for (std::uint32_t i = begin_; i < end; ++i) {
      if (!closed.empty() && files_[ir::index(ir::RegFile::R)]) busy_[ir::index(ir::RegFile::R)][i - begin_] |= closed[i - begin_];
      for (const Ref& r : code_.refs_of(code_.insts[i])) add(i, r.temp);
      if (const ir::PerFile<UnitSet>* clobbers = clobbers_of(i))
        for (std::size_t file = 0; file < busy_.size(); ++file)
          if (files_[file]) busy_[file][i - begin_] |= (*clobbers)[file];
    }
  }
  [[nodiscard]] const ir::PerFile<UnitSet>* clobbers_of(std::uint32_t i) const {
    const CodeInst& inst = code_.insts[i];
    if (inst.kind != CodeKind::Original) return nullptr;
    return p_.shape(inst.source).clobbers.get();
  }

  void block(const CodeBlock& block) {
    groups_.clear();
    std::vector<std::uint32_t> touched;  // slots
    for (std::uint32_t i = begin_; i < begin_ + block.num_insts; ++i) {
      const CodeInst inst = code_.insts[i];
      if (is_dead_[i]) continue;
      if (inst.kind == CodeKind::Refill) {
        const TempId t = code_.refs_of(inst)[0].temp;
        if (!is_local(t) || !is_whole_move(code_, inst)) continue;
        touched.push_back(inst.slot);
        if (!share(i, t, inst.slot)) hold(inst.slot, t);
        continue;
      }
      if (inst.kind == CodeKind::Store) {
        const TempId t = code_.refs_of(inst)[0].temp;
        forget(group_of_slot_[inst.slot]);
        touched.push_back(inst.slot);
        if (is_local(t) && is_whole_move(code_, inst)) hold(inst.slot, t);
        continue;
      }
      for (const Ref& r : code_.refs_of(inst))
        if ((r.flags & kWrites) && is_local(r.temp)) forget(group_of_temp_[r.temp]);
    }
    for (const std::uint32_t slot : touched) group_of_slot_[slot] = kNone;
  }

  // The register of the group no longer holds the value of its slot.
  void forget(std::uint32_t group) {
    if (group == kNone || groups_[group].slot == kNone) return;
    group_of_slot_[groups_[group].slot] = kNone;
    groups_[group].slot = kNone;
  }
  // From here on temp t holds the value of the slot.
  void hold(std::uint32_t slot, TempId t) {
    std::uint32_t& group = group_of_temp_[t];
    if (group == kNone) {
      group = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({kNone, homes_[t], uses_[t].first, uses_[t].last, uses_[t].is_bound, code_.temps[t].align_log2, {t}});
    }
    forget(group);
    forget(group_of_slot_[slot]);
    groups_[group].slot = slot;
    group_of_slot_[slot] = group;
  }

  // Whether the register is free over instructions [from, to).
  [[nodiscard]] bool is_free(ir::PReg r, std::uint32_t from, std::uint32_t to) const {
    const auto& busy = busy_[ir::index(r.file)];
    for (std::uint32_t i = from; i < to; ++i)
      if (busy[i - begin_].intersects(units_of(r))) return false;
    return true;
  }
  // Whether nothing overwrites the group's register at its last instruction.
  [[nodiscard]] bool survives_its_end(const Group& g) const {
    if (const ir::PerFile<UnitSet>* clobbers = clobbers_of(g.end))
      if ((*clobbers)[ir::index(g.home.file)].intersects(units_of(g.home))) return false;
    return std::ranges::all_of(code_.refs_of(code_.insts[g.end]), [&](const Ref& r) {
      return !(r.flags & kWrites) || std::ranges::find(g.members, r.temp) != g.members.end() || !homes_[r.temp].overlaps(g.home);
    });
  }
  void occupy(ir::PReg r, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i) busy_[ir::index(r.file)][i - begin_] |= units_of(r);
  }

  // Tries to do without the refill i of the slot into temp t.
  bool share(std::uint32_t i, TempId t, std::uint32_t slot) {
    const std::uint32_t at = group_of_slot_[slot];
    if (at == kNone) return false;
    Group& g = groups_[at];
    const Temp &mine = code_.temps[t], &theirs = code_.temps[g.members.front()];
    if (mine.file != theirs.file || mine.units != theirs.units || mine.bytes != theirs.bytes) return false;
    const std::uint32_t last = uses_[t].last, limit = static_cast<std::uint32_t>(options_.distance);
    if (i > g.end && i - g.end > limit) return false;
    // Of two temps of one instruction, neither may be written.
    if (g.end >= i &&
        (uses_[t].last_write > i || std::ranges::any_of(g.members, [&](TempId m) { return uses_[m].last_write > i; })))
      return false;
    // A precoloured temp may stand in a register that nothing else may use.
    const UnitSet& allocatable = p_.allocatable()[ir::index(mine.file)];
    if ((units_of(g.home) - allocatable).any() || (units_of(homes_[t]) - allocatable).any()) return false;
    const bool survives = survives_its_end(g);
    const ir::PReg home = homes_[t];
    const std::uint32_t after = g.end + 1;
    if (g.end < i && home == g.home && survives && is_free(home, after, i)) return join(g, at, i, t, home);
    const bool is_aligned = g.home.first % (1 << mine.align_log2) == 0;
    if (!uses_[t].is_bound && is_aligned && (survives || last <= g.end) && is_free(g.home, after, last + 1))
      return join(g, at, i, t, g.home);
    const int align_log2 = std::max<int>(mine.align_log2, g.align_log2);
    if (!g.is_bound && last - g.start <= 4 * limit) {
      // To the register of this temp, or to one that is free all the time.
      if (g.end < i && home.first % (1 << align_log2) == 0 && !p_.callee_saved()[ir::index(home.file)].intersects(units_of(home)) &&
          is_free(home, g.start, i))
        return join(g, at, i, t, home);
      if (!uses_[t].is_bound) {
        UnitSet free = first_units(allocatable, options_.registers) - p_.callee_saved()[ir::index(mine.file)];
        for (std::uint32_t k = g.start; k <= std::max(last, g.end); ++k) free -= busy_[ir::index(mine.file)][k - begin_];
        const int unit = free.positions(mine.units, align_log2).first();
        if (unit >= 0) return join(g, at, i, t, {mine.file, mine.units, static_cast<std::uint16_t>(unit)});
      }
    }
    if (g.end >= i || !survives || !is_free(g.home, after, i) || !ir::may(options_.fuel, "copy-for-refill")) return false;
    // A copy from the register that still holds the value.
    const TempId from = g.members.back();
    CodeInst& inst = code_.insts[i];
    inst.kind = CodeKind::Move;
    inst.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    inst.num_refs = 2;
    code_.refs.push_back({t, kWrites | kKills | kKillsBytes});
    code_.refs.push_back({from, kReads | kAtReads});
    occupy(g.home, after, i + 1);
    g.end = i;
    g.is_bound = true;
    return true;
  }

  // The temp becomes a member of the group, all of which stands in `home` then.
  bool join(Group& g, std::uint32_t at, std::uint32_t i, TempId t, ir::PReg home) {
    if (!ir::may(options_.fuel, "share-refill")) return false;
    is_dead_[i] = 1;
    g.members.push_back(t);
    g.is_bound = g.is_bound || uses_[t].is_bound;
    g.align_log2 = std::max<int>(g.align_log2, code_.temps[t].align_log2);
    group_of_temp_[t] = at;
    g.end = std::max(g.end, uses_[t].last);
    g.home = home;
    for (const TempId m : g.members) homes_[m] = home;
    occupy(home, g.start, g.end + 1);
    return true;
  }

  const Problem& p_;
  const LazyRefillOptions& options_;
  Code& code_;
  std::vector<ir::PReg>& homes_;
  std::vector<std::uint8_t>& is_dead_;
  std::vector<Uses> uses_;                  // by temp; of meaning for local ones
  HeldUnits held_;                          // by what is live, as find_busy walks
  ir::PerFile<bool> files_ = {};            // those that the block at hand refills or stores
  ir::PerFile<std::vector<UnitSet>> busy_;  // by instruction of the block at hand
  std::uint32_t begin_ = 0;                 // its first instruction
  std::vector<Group> groups_;               // of the block at hand
  std::vector<std::uint32_t> group_of_slot_, group_of_temp_;
};

using Bits = std::vector<std::uint64_t>;

// Redundant refills: on all paths a fact says that their register already holds the value.
class Redundancy {
 public:
  Redundancy(const Problem& problem, const Plan& plan, ir::Fuel* fuel, const Code& code, const std::vector<ir::PReg>& homes,
             std::vector<std::uint8_t>& is_dead)
      : p_(problem), fuel_(fuel), code_(code), homes_(homes), is_dead_(is_dead), facts_of_slot_(plan.slots.size()) {}

  void run() {
    find_facts();
    if (facts_.empty()) return;
    words_ = (facts_.size() + 63) / 64;
    solve();
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (!code_.blocks[b].is_reachable) continue;
      begin_with(std::span(in_).subspan(b * words_, words_));
      pass(code_.blocks[b], true);
    }
  }

 private:
  struct Fact {
    std::uint32_t slot;
    ir::PReg home;
    std::uint32_t bytes;
    [[nodiscard]] auto key() const { return std::tuple(slot, ir::index(home.file), home.first, home.count, bytes); }
  };

  void find_facts() {
    const auto fact_of = [&](const CodeInst& inst) { return Fact{inst.slot, homes_[code_.refs_of(inst)[0].temp], inst.bytes}; };
    const auto makes_fact = [&](const CodeInst& inst) {
      return is_refill_or_store(inst) && is_whole_move(code_, inst) && homes_[code_.refs_of(inst)[0].temp].is_valid();
    };
    for (const CodeInst& inst : code_.insts)
      if (makes_fact(inst)) facts_.push_back(fact_of(inst));
    std::ranges::sort(facts_, {}, &Fact::key);
    facts_.erase(std::unique(facts_.begin(), facts_.end(), [](const Fact& a, const Fact& b) { return a.key() == b.key(); }),
                 facts_.end());
    fact_of_inst_.assign(code_.insts.size(), kNone);
    for (std::size_t i = 0; i < code_.insts.size(); ++i)
      if (makes_fact(code_.insts[i]))
        fact_of_inst_[i] = static_cast<std::uint32_t>(
            std::ranges::lower_bound(facts_, fact_of(code_.insts[i]).key(), {}, &Fact::key) - facts_.begin());
    for (std::uint32_t k = 0; k < facts_.size(); ++k) {
      facts_of_slot_[facts_[k].slot].push_back(k);
      const ir::PReg home = facts_[k].home;
      for (auto* by_unit : {&facts_of_unit_[ir::index(home.file)], &holding_[ir::index(home.file)]})
        if (by_unit->empty()) by_unit->resize(ir::kMaxUnits);
      for (int u = home.begin(); u < home.end(); ++u)
        facts_of_unit_[ir::index(home.file)][static_cast<std::size_t>(u)].push_back(k);
    }
  }

  // --- the facts that hold where a pass through a block stands
  [[nodiscard]] bool holds(std::uint32_t fact) const { return (state_[fact / 64] >> (fact % 64) & 1) != 0; }
  void make(std::uint32_t fact) {
    if (holds(fact)) return;
    state_[fact / 64] |= std::uint64_t{1} << (fact % 64);
    const ir::PReg home = facts_[fact].home;
    for (int u = home.begin(); u < home.end(); ++u) holding_[ir::index(home.file)][static_cast<std::size_t>(u)].push_back(fact);
  }
  void kill(const std::vector<std::uint32_t>& facts) {
    for (const std::uint32_t k : facts) state_[k / 64] &= ~(std::uint64_t{1} << (k % 64));
  }
  void kill_unit(std::size_t file, int unit) {
    if (holding_[file].empty()) return;
    written_[file].set(unit);
    auto& facts = holding_[file][static_cast<std::size_t>(unit)];
    kill(facts);
    facts.clear();
  }
  void kill_home(TempId t) {
    const ir::PReg home = homes_[t];
    if (home.is_valid())
      for (int u = home.begin(); u < home.end(); ++u) kill_unit(ir::index(home.file), u);
  }
  void begin_with(std::span<const std::uint64_t> facts) {
    for (auto& by_unit : holding_)
      for (auto& list : by_unit) list.clear();
    state_.assign(words_, 0);
    for (std::size_t w = 0; w < facts.size(); ++w)
      for (std::uint64_t bits = facts[w]; bits != 0; bits &= bits - 1)
        make(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
    written_ = {};
    stored_.clear();
  }
  [[nodiscard]] bool is_identity(const CodeInst& inst) const {
    const auto refs = code_.refs_of(inst);
    return inst.kind == CodeKind::Move && inst.dst_offset == inst.src_offset && homes_[refs[0].temp] == homes_[refs[1].temp];
  }

  void pass(const CodeBlock& block, bool drops) {
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const CodeInst& inst = code_.insts[i];
      if (inst.kind == CodeKind::Deleted || is_identity(inst) || is_dead_[i]) continue;
      const std::uint32_t fact = fact_of_inst_[i];
      if (drops && fact != kNone && inst.kind == CodeKind::Refill && holds(fact) && ir::may(fuel_, "drop-redundant-refill")) {
        is_dead_[i] = 1;
        continue;
      }
      if (inst.kind == CodeKind::Store) {
        kill(facts_of_slot_[inst.slot]);
        stored_.push_back(inst.slot);
      }
      if (inst.kind == CodeKind::Original)
        if (const auto& clobbers = p_.shape(inst.source).clobbers)
          for (std::size_t file = 0; file < clobbers->size(); ++file)
            for (int u = (*clobbers)[file].first(); u >= 0; u = (*clobbers)[file].next(u + 1)) kill_unit(file, u);
      for (const Ref& r : code_.refs_of(inst))
        if (r.flags & kWrites) kill_home(r.temp);
      if (fact != kNone) make(fact);
    }
  }

  void solve() {
    const std::size_t n = code_.blocks.size();
    Bits gen(n * words_, 0), killed(n * words_, 0);
    for (std::size_t b = 0; b < n; ++b) {
      if (!code_.blocks[b].is_reachable) continue;
      begin_with({});
      pass(code_.blocks[b], false);
      std::ranges::copy(state_, gen.begin() + static_cast<std::ptrdiff_t>(b * words_));
      const auto add = [&](const std::vector<std::uint32_t>& facts) {
        for (const std::uint32_t k : facts) killed[b * words_ + k / 64] |= std::uint64_t{1} << (k % 64);
      };
      for (std::size_t file = 0; file < written_.size(); ++file)
        for (int u = written_[file].first(); u >= 0; u = written_[file].next(u + 1))
          add(facts_of_unit_[file][static_cast<std::size_t>(u)]);
      for (const std::uint32_t slot : stored_) add(facts_of_slot_[slot]);
    }
    in_.assign(n * words_, ~std::uint64_t{0});
    std::fill_n(in_.begin(), words_, 0);
    for (std::size_t b = 0; b < n; ++b)
      if (!code_.blocks[b].is_reachable) std::fill_n(in_.begin() + static_cast<std::ptrdiff_t>(b * words_), words_, 0);
    const std::vector<std::uint32_t> order = reverse_postorder(code_);
    Worklist work(n, order);
    work.run([&](std::uint32_t b) {
      bool changed = false;
      bool is_first = true;
      for (const std::uint32_t p : code_.predecessors[b]) {
        if (REGDUEL_PLANTED("briggs-refill-redundant-on-one-path") && !is_first) break;
        is_first = false;
        for (std::size_t w = 0; w < words_; ++w) {
          const std::uint64_t out = gen[p * words_ + w] | (in_[p * words_ + w] & ~killed[p * words_ + w]);
          std::uint64_t& in = in_[b * words_ + w];
          changed = changed || (in & ~out) != 0;
          in &= out;
        }
      }
      if (changed)
        for (const std::uint32_t to : code_.successors[b]) work.push(to);
    });
  }

  const Problem& p_;
  ir::Fuel* fuel_;
  const Code& code_;
  const std::vector<ir::PReg>& homes_;
  std::vector<std::uint8_t>& is_dead_;
  std::vector<Fact> facts_;  // ascending
  std::vector<std::vector<std::uint32_t>> facts_of_slot_;
  ir::PerFile<std::vector<std::vector<std::uint32_t>>> facts_of_unit_;
  std::size_t words_ = 0;
  Bits in_, state_;
  std::vector<std::uint32_t> fact_of_inst_;  // kNone for all but whole refills and stores
  ir::PerFile<std::vector<std::vector<std::uint32_t>>>
      holding_;                   // by unit: those of state_ that name it, and some that hold no longer
  ir::PerFile<UnitSet> written_;  // by the block at hand
  std::vector<std::uint32_t> stored_;
};

// Dead stores: backward liveness of slots, where a store of all bytes of a slot kills and any refill reads. Values that only a
// dropped store read need not be refilled or computed either.
class DeadStores {
 public:
  DeadStores(const Plan& plan, ir::Fuel* fuel, const Code& code, std::vector<std::uint8_t>& is_dead)
      : plan_(plan), fuel_(fuel), code_(code), is_dead_(is_dead), words_((plan.slots.size() + 63) / 64) {}

  // With `drops_refills`, drops also refills and remats that only dropped stores read. Returns whether there were any, because then
  // more stores may be dead.
  bool run(bool drops_refills) {
    reads_.assign(code_.temps.size(), 0);
    for (std::uint32_t i = 0; i < code_.insts.size(); ++i)
      if (!is_dead_[i])
        for (const Ref& r : code_.refs_of(code_.insts[i]))
          if (!(r.flags & kKills) || (r.flags & kReads)) ++reads_[r.temp];
    solve();
    bool dropped = false;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const CodeBlock& block = code_.blocks[b];
      if (!block.is_reachable) continue;
      live_out(b);
      for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst;) {
        const CodeInst& inst = code_.insts[i];
        if (is_dead_[i]) continue;
        if (inst.kind == CodeKind::Store && !is_live(inst.slot) && ir::may(fuel_, "drop-dead-store")) {
          is_dead_[i] = 1;
          --reads_[code_.refs_of(inst)[0].temp];
        } else if (drops_refills && (inst.kind == CodeKind::Refill || inst.kind == CodeKind::Remat) && is_read_by_nothing(inst) &&
                   ir::may(fuel_, "drop-dead-refill")) {
          is_dead_[i] = 1;
          dropped = true;
        } else {
          transfer(inst);
        }
      }
    }
    return dropped;
  }

 private:
  [[nodiscard]] bool is_read_by_nothing(const CodeInst& inst) const {
    const TempId t = code_.refs_of(inst)[0].temp;
    return t >= code_.num_values && reads_[t] == 0;
  }
  [[nodiscard]] bool is_live(std::uint32_t slot) const { return (state_[slot / 64] >> (slot % 64) & 1) != 0; }
  void transfer(const CodeInst& inst) {
    const std::uint64_t bit = std::uint64_t{1} << (inst.slot % 64);
    if (inst.kind == CodeKind::Refill) state_[inst.slot / 64] |= bit;
    if (inst.kind == CodeKind::Store && inst.slot_offset == 0 && inst.bytes == plan_.slots[inst.slot].bytes)
      state_[inst.slot / 64] &= ~bit;
  }
  void live_out(std::uint32_t b) {
    state_.assign(words_, 0);
    for (const std::uint32_t s : code_.successors[b])
      for (std::size_t w = 0; w < words_; ++w) state_[w] |= in_[s * words_ + w];
  }
  void solve() {
    in_.assign(code_.blocks.size() * words_, 0);
    // By block, what it reads before it kills, and what it kills.
    Bits exposed(in_.size(), 0), killed(in_.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (!code_.blocks[b].is_reachable) continue;
      for (const bool with_all : {false, true}) {
        state_.assign(words_, with_all ? ~std::uint64_t{0} : 0);
        const CodeBlock& block = code_.blocks[b];
        for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst;)
          if (!is_dead_[i]) transfer(code_.insts[i]);
        for (std::size_t w = 0; w < words_; ++w) (with_all ? killed : exposed)[b * words_ + w] = with_all ? ~state_[w] : state_[w];
      }
    }
    std::vector<std::uint32_t> order = reverse_postorder(code_);
    std::ranges::reverse(order);
    Worklist work(code_.blocks.size(), order);
    work.run([&](std::uint32_t b) {
      bool changed = false;
      live_out(b);
      for (std::size_t w = 0; w < words_; ++w) {
        const std::uint64_t in = exposed[b * words_ + w] | (state_[w] & ~killed[b * words_ + w]);
        changed = changed || in != in_[b * words_ + w];
        in_[b * words_ + w] = in;
      }
      if (changed)
        for (const std::uint32_t p : code_.predecessors[b]) work.push(p);
    });
  }

  const Plan& plan_;
  ir::Fuel* fuel_;
  const Code& code_;
  std::vector<std::uint8_t>& is_dead_;
  std::size_t words_;
  Bits in_, state_;
  std::vector<std::uint32_t> reads_;  // by temp: by instructions that are not dead
};

}  // namespace

void make_refills_lazy(const Problem& problem, const Plan& plan, const LazyRefillOptions& options, Code& code,
                       std::vector<ir::PReg>& homes, std::vector<std::uint8_t>& is_dead) {
  if (plan.slots.empty()) return;
  // Later on a register that no instruction reads as its temp's may be read as that of another one.
  while (DeadStores(plan, options.fuel, code, is_dead).run(true)) {
  }
  if (options.distance > 0) Sharer(problem, plan, options, code, homes, is_dead).run();
  Redundancy(problem, plan, options.fuel, code, homes, is_dead).run();
  DeadStores(plan, options.fuel, code, is_dead).run(false);
}

}  // namespace regduel::reference
