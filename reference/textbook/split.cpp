#include "reference/textbook/split.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "base/check_macro.h"
#include "reference/colour/interference_graph.h"
#include "reference/colour/select.h"
#include "reference/colour/simplify.h"
#include "reference/program/lower.h"
#include "reference/program/rewrite.h"
#include "reference/spill/worklist.h"
#include "reference/textbook/next_uses.h"
#include "reference/textbook/split_edges.h"

namespace regduel::reference {
namespace {

constexpr int kMostRounds = 40;

// One walk under one plan. The code that it makes has a temp for each value and register.
class Splitter final : public Walk {
 public:
  Splitter(const Problem& problem, SplitPolicy& policy, const Plan& plan, ir::Fuel* fuel)
      : p_(problem), f_(problem.program()), policy_(policy), fuel_(fuel), code_(lower(problem, plan, fuel)), liveness_(code_),
        order_(reverse_postorder(code_)), next_(code_, liveness_, order_), where_(code_.temps.size()),
        home_(code_.temps.size(), -1), lives_on_(code_.refs.size(), 0), is_dead_(code_.insts.size(), 0),
        heads_(code_.blocks.size()), ends_(code_.blocks.size()), blocks_(code_.blocks.size()), is_walked_(code_.blocks.size(), 0),
        place_(code_.blocks.size(), 0), pressure_(code_.blocks.size()), pieces_(problem, plan, code_.temps) {
    for (std::vector<TempId>& file : occupant_) file.assign(ir::kMaxUnits, kNoTemp);
    for (auto& file : takings_) file.resize(ir::kMaxUnits);
    find_deaths();
  }

  // False if instructions were added to those that `next` pins, or `is_hopeless` was set.
  bool run(Plan& next, bool& is_hopeless) {
    next_plan_ = &next;
    for (const std::uint32_t b : order_) block(b);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (!is_walked_[b]) unreachable(b);
    is_hopeless = is_hopeless_;
    return !has_failed_;
  }
  // Nothing where a value would have to go to memory by itself and may not: `next` has it in memory throughout, through registers of
  // R, or `is_hopeless` is set.
  std::optional<ir::Allocation> write(Plan& next, bool& is_hopeless) {
    join_blocks(code_, order_, heads_, ends_, p_, pieces_, blocks_);
    const Code out = pieces_.code(code_, blocks_);
    const std::vector<TempId> out_of_reach = pieces_.out_of_reach(out);
    for (const TempId t : out_of_reach) {
      is_hopeless = is_hopeless || t >= code_.num_values || !next.locations[t].is_register();
      if (!is_hopeless) next.locations[t] = Location::in_slot(next.add_slot(p_.slot_bytes(code_.temps[t])));
    }
    if (!out_of_reach.empty()) return std::nullopt;
    return rewrite(p_, pieces_.plan(), out, pieces_.homes(), std::vector<std::uint8_t>(out.insts.size(), 0), fuel_);
  }

  // --- Walk -------------------------------------------------------------------------------------------------------
  [[nodiscard]] const Code& code() const override { return code_; }
  [[nodiscard]] std::span<const TempId> live_in(std::uint32_t b) const override { return liveness_.live_in(b); }
  [[nodiscard]] bool was_walked(std::uint32_t b) const override { return is_walked_[b] != 0; }
  [[nodiscard]] Where at_end(std::uint32_t b, TempId t) const override { return ends_[b].of(t); }
  [[nodiscard]] std::uint64_t distance(TempId t) const override { return next_.distance(t); }
  [[nodiscard]] std::uint64_t distance_at_head(std::uint32_t b, TempId t) const override { return next_.at_head(b, t); }
  [[nodiscard]] std::uint64_t next_frequency(TempId t) const override { return next_.next_frequency(t); }
  [[nodiscard]] std::uint64_t hole(ir::RegFile file, int unit, int units) const override {
    std::uint64_t nearest = std::uint64_t{1} << 40;
    for (int u = unit; u < unit + units; ++u) {
      const auto& at = takings_[ir::index(file)][static_cast<std::size_t>(u)];
      const auto next = std::ranges::upper_bound(at, now_);
      if (next != at.end()) nearest = std::min<std::uint64_t>(nearest, *next - now_);
    }
    return nearest;
  }
  [[nodiscard]] int pressure_of_loop(std::uint32_t b, ir::RegFile file) const override {
    std::uint32_t last = place_[b];
    bool is_loop = false;
    for (const std::uint32_t p : code_.predecessors[b])
      if (code_.blocks[p].is_reachable && place_[p] >= place_[b]) {
        is_loop = true;
        last = std::max(last, place_[p]);
      }
    int most = 0;
    for (std::uint32_t k = place_[b]; is_loop && k <= last; ++k) most = std::max(most, pressure_[order_[k]][ir::index(file)]);
    return most;
  }
  [[nodiscard]] const UnitSet& allocatable(ir::RegFile file) const override { return p_.allocatable()[ir::index(file)]; }

 private:
  using Units = ir::PerFile<UnitSet>;
  // What an instruction asks of one temp.
  struct Need {
    TempId temp;
    bool at_reads = false, writes = false, partial = false, lives_on = false;
    bool has_contents = false;  // that it needs
  };

  void find_deaths() {
    std::vector<std::uint32_t> writers(code_.temps.size(), 0);
    for (std::uint32_t k = 0; k < order_.size(); ++k) place_[order_[k]] = k;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      liveness_.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        const CodeInst& inst = code_.insts[i];
        const auto refs = code_.refs_of(inst);
        for (std::size_t at = 0; at < used_.size(); ++at) pressure_[b][at] = std::max(pressure_[b][at], live.units()[at]);
        is_dead_[i] = inst.kind == CodeKind::Move && !live.contains(refs[0].temp);
        for (std::size_t k = 0; k < refs.size(); ++k) {
          lives_on_[inst.first_ref + k] = live.contains(refs[k].temp);
          writers[refs[k].temp] += !is_dead_[i] && (refs[k].flags & kWrites) != 0;
        }
        return is_dead_[i] == 0;
      });
    for (const std::uint32_t n : writers) is_written_once_.push_back(n == 1);
  }

  // --- registers --------------------------------------------------------------------------------------------------
  [[nodiscard]] const Temp& temp(TempId t) const { return code_.temps[t]; }
  [[nodiscard]] std::size_t file(TempId t) const { return ir::index(temp(t).file); }
  [[nodiscard]] bool is_fixed(TempId t) const { return temp(t).fixed.is_valid(); }
  [[nodiscard]] UnitSet units_at(TempId t, int unit) const { return UnitSet::range(unit, unit + temp(t).units); }
  [[nodiscard]] UnitSet units_of_temp(TempId t) const { return where_[t].unit < 0 ? UnitSet() : units_at(t, where_[t].unit); }
  void occupy(TempId t, int unit) {
    where_[t].unit = unit;
    used_[file(t)].set_range(unit, unit + temp(t).units);
    for (int u = unit; u < unit + temp(t).units; ++u) occupant_[file(t)][static_cast<std::size_t>(u)] = t;
  }
  void vacate(TempId t) {
    if (where_[t].unit < 0) return;
    for (int u = where_[t].unit; u < where_[t].unit + temp(t).units; ++u) {
      TempId& occupant = occupant_[file(t)][static_cast<std::size_t>(u)];
      if (occupant != t) continue;  // a fixed operand took over
      occupant = kNoTemp;
      used_[file(t)].clear(u);
    }
    where_[t].unit = -1;
  }
  template <class F>
  void for_occupants(std::size_t file, const UnitSet& units, F&& f) const {
    TempId last = kNoTemp;
    (units & used_[file]).for_each([&](int u) {
      const TempId t = occupant_[file][static_cast<std::size_t>(u)];
      if (t != kNoTemp && t != last) f(t);
      last = t;
    });
  }
  [[nodiscard]] int choose(TempId t, UnitSet free) {
    UnitSet positions = (free - p_.callee_saved()[file(t)]).positions(temp(t).units, temp(t).align_log2);
    if (positions.none()) positions = free.positions(temp(t).units, temp(t).align_log2);
    if (positions.none()) return -1;
    UnitSet beside;
    positions.for_each([&](int u) {
      const int units = temp(t).units, neighbour = u ^ units;
      if (std::has_single_bit(unsigned{temp(t).units}) && p_.allocatable()[file(t)].has_all(neighbour, neighbour + units) &&
          !positions.has(neighbour))
        beside.set(u);
    });
    return policy_.choose(*this, t, beside.any() ? beside : positions);
  }

  // --- inserted before the instruction at hand --------------------------------------------------------------------
  void save(TempId t) {
    if (!where_[t].in_memory) pieces_.store(*out_, t, where_[t].unit);
    where_[t].in_memory = true;
  }
  void evict(TempId t) {
    save(t);
    vacate(t);
  }
  void move(TempId t, int unit) {
    pieces_.move(*out_, t, unit, where_[t].unit);
    vacate(t);
    occupy(t, unit);
  }
  // Out of the way of what takes the units where it is.
  void make_way(TempId t, const UnitSet& avoid) {
    const int u = choose(t, p_.allocatable()[file(t)] - used_[file(t)] - avoid);
    if (u >= 0) move(t, u);
    else evict(t);
  }

  // --- one instruction --------------------------------------------------------------------------------------------
  void find_needs(std::uint32_t i) {
    needs_.clear();
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    for (std::size_t k = 0; k < refs.size(); ++k) {
      const Ref& r = refs[k];
      auto need = std::ranges::find(needs_, r.temp, &Need::temp);
      if (need == needs_.end()) need = needs_.insert(needs_.end(), Need{.temp = r.temp});
      const bool keeps = (r.flags & kReads) != 0 || ((r.flags & kWrites) != 0 && (r.flags & kKills) == 0);
      need->at_reads |= keeps || (r.flags & kAtReads) != 0;
      need->writes |= (r.flags & kWrites) != 0;
      need->partial |= (r.flags & kPartial) != 0;
      need->lives_on |= lives_on_[inst.first_ref + k] != 0;
      need->has_contents |= keeps && (where_[r.temp].unit >= 0 || where_[r.temp].in_memory);
    }
    // What is written as a whole is not needed before, even where a copy that nothing reads made it live.
    for (const Need& n : needs_)
      if (!n.at_reads && !is_fixed(n.temp)) vacate(n.temp);
    taken_at_reads_ = taken_after_ = clobbers_ = kept_out_ = placed_after_ = {};
    for (const Need& n : needs_) {
      if (!is_fixed(n.temp) || !n.writes) continue;
      taken_after_[file(n.temp)] |= units_of(temp(n.temp).fixed);
      if (n.at_reads) taken_at_reads_[file(n.temp)] |= units_of(temp(n.temp).fixed);
    }
    if (inst.kind != CodeKind::Original) return;
    if (const Shape& shape = p_.shape(inst.source); shape.has_clobbers()) clobbers_ = *shape.clobbers;
    if (f_.insts[inst.source].op == ir::Op::Ret) kept_out_ = p_.callee_saved();
  }
  Need* need_of(TempId t) {
    const auto need = std::ranges::find(needs_, t, &Need::temp);
    return need == needs_.end() ? nullptr : &*need;
  }
  // Where the temp may stand while the instruction reads, and also afterwards if it writes the temp.
  [[nodiscard]] UnitSet allowed(const Need& n) const {
    const std::size_t at = file(n.temp);
    UnitSet units = p_.allocatable()[at] - taken_at_reads_[at] - kept_out_[at];
    if (n.writes) units -= taken_after_[at];
    if (n.writes && n.partial) units -= clobbers_[at];
    return units;
  }

  // What is in the way of clobbers and fixed operands, and is not read here, moves; what is read here goes afterwards.
  void clear_way() {
    for (std::size_t at = 0; at < used_.size(); ++at) {
      const UnitSet avoid = taken_after_[at] | taken_at_reads_[at] | clobbers_[at];
      std::vector<TempId> in_the_way;
      for_occupants(at, avoid, [&](TempId t) {
        if (!is_fixed(t)) in_the_way.push_back(t);
      });
      for (const TempId t : in_the_way) {
        const Need* const n = need_of(t);
        if (n == nullptr) {
          make_way(t, avoid);
        } else if (allowed(*n).has_all(where_[t].unit, where_[t].unit + temp(t).units)) {
          note_dropped(*n);
        }
      }
    }
  }

  bool place_reads() {
    for (std::size_t at = 0; at < used_.size(); ++at)
      if (!place_reads(at, false) && !place_reads(at, true)) return false;
    return true;
  }
  // With `anew`, what stands somewhere already makes room first.
  bool place_reads(std::size_t at, bool anew) {
    std::vector<Need*> open;
    for (Need& n : needs_) {
      if (is_fixed(n.temp) || !n.at_reads || file(n.temp) != at) continue;
      const int u = where_[n.temp].unit;
      if (anew && u >= 0) evict(n.temp);
      else if (u >= 0 && allowed(n).has_all(u, u + temp(n.temp).units)) continue;
      open.push_back(&n);
    }
    std::ranges::stable_sort(open, [&](const Need* a, const Need* b) {
      return std::pair(temp(a->temp).units, a->writes) > std::pair(temp(b->temp).units, b->writes);
    });
    return std::ranges::all_of(open, [&](const Need* n) { return place_read(*n); });
  }
  bool place_read(const Need& n) {
    const TempId t = n.temp;
    const std::size_t at = file(t);
    int u = n.lives_on ? choose(t, allowed(n) - used_[at] - taken_after_[at] - clobbers_[at]) : -1;
    if (u < 0) u = choose(t, allowed(n) - used_[at]);
    if (u >= 0 && where_[t].unit >= 0) {
      move(t, u);
      note_dropped(n);
      return true;
    }
    if (where_[t].unit >= 0) evict(t);
    if (u < 0) u = choose(t, allowed(n) - used_[at]);
    if (u < 0)
      u = make_room(t, allowed(n), [&](TempId o) {
        const Need* const other = need_of(o);
        return !is_fixed(o) && (other == nullptr || !other->at_reads);
      });
    if (u < 0) return false;
    if (n.has_contents) pieces_.refill(*out_, t, u);
    occupy(t, u);
    note_dropped(n);
    return true;
  }
  // What is read and lives on where it cannot stay goes afterwards.
  void note_dropped(const Need& n) {
    const std::size_t at = file(n.temp);
    if (!n.lives_on || n.writes || !(units_of_temp(n.temp) & (taken_after_[at] | clobbers_[at])).any()) return;
    save(n.temp);
    dropped_.push_back(n.temp);
  }
  // Evicts the cheapest that stand in the way at one position, all of which `may_go`. -1 if there is none.
  template <class MayGo>
  int make_room(TempId t, const UnitSet& units, MayGo&& may_go) {
    const auto [best, gone] = cheapest(t, units, may_go);
    for (const TempId o : gone) evict(o);
    return best;
  }
  template <class MayGo>
  std::pair<int, std::vector<TempId>> cheapest(TempId t, const UnitSet& units, MayGo&& may_go) {
    int best = -1;
    std::uint64_t least = 0;
    std::vector<TempId> gone, here;
    units.positions(temp(t).units, temp(t).align_log2).for_each([&](int u) {
      here.clear();
      for_occupants(file(t), units_at(t, u), [&](TempId o) { here.push_back(o); });
      std::uint64_t sum = 0;
      for (const TempId o : here) {
        if (!may_go(o)) return;
        sum += policy_.cost(*this, o);
      }
      if (best >= 0 && sum >= least) return;
      best = u;
      least = sum;
      gone = here;
    });
    return {best, gone};
  }

  // A temp that is written and not there before. `preferred` = -1, or a unit.
  bool place_write(const Need& n, int preferred) {
    const TempId t = n.temp;
    const std::size_t at = file(t);
    UnitSet used = used_[at];
    for (const Need& o : needs_)
      if (!o.lives_on && !o.writes && file(o.temp) == at) used -= units_of_temp(o.temp);
    for (const TempId o : dropped_)
      if (file(o) == at) used -= units_of_temp(o);
    used |= taken_after_[at] | placed_after_[at];
    const UnitSet allowed = p_.allocatable()[at] - kept_out_[at];
    const UnitSet free = allowed - used;
    int u = preferred >= 0 && free.positions(temp(t).units, temp(t).align_log2).has(preferred) ? preferred : choose(t, free);
    if (u < 0) {
      const auto [room, gone] = cheapest(t, allowed - placed_after_[at] - taken_after_[at], [&](TempId o) {
        const Need* const other = need_of(o);
        return other != nullptr ? !other->writes && (!is_fixed(o) || !other->lives_on) : !is_fixed(o);
      });
      if (room < 0) return false;
      u = room;
      for (const TempId o : gone) {
        const Need* const other = need_of(o);
        if (other == nullptr) {
          evict(o);
        } else if (other->lives_on && std::ranges::find(dropped_, o) == dropped_.end()) {
          save(o);
          dropped_.push_back(o);
        }
      }
    }
    placed_after_[at].set_range(u, u + temp(t).units);
    home_[t] = u;
    return true;
  }
  bool place_writes(std::uint32_t i) {
    const CodeInst& inst = code_.insts[i];
    std::vector<const Need*> open;
    for (const Need& n : needs_)
      if (!is_fixed(n.temp) && !n.at_reads) open.push_back(&n);
    std::ranges::stable_sort(open, std::greater<>(), [&](const Need* n) { return temp(n->temp).units; });
    const auto refs = code_.refs_of(inst);
    const bool is_move =
        inst.kind == CodeKind::Move && file(refs[0].temp) == file(refs[1].temp) && inst.dst_offset == inst.src_offset;
    return std::ranges::all_of(open, [&](const Need* n) {
      const int preferred = is_move && !is_fixed(refs[1].temp) ? where_[refs[1].temp].unit : -1;
      return place_write(*n, preferred);
    });
  }

  void instruction(std::uint32_t i) {
    CodeInst inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    now_ = i;
    next_.pass(i);
    if (inst.kind == CodeKind::Deleted || is_dead_[i]) {
      if (is_dead_[i] && !lives_on_[inst.first_ref + 1]) {
        vacate(refs[1].temp);
        where_[refs[1].temp] = {};
      }
      inst.kind = CodeKind::Deleted;
      inst.num_refs = 0;
      if (inst.source != kNoSource) out_->push_back(inst);
      return;
    }
    dropped_.clear();
    find_needs(i);
    // A move out of memory reads it at once.
    const bool from_memory = inst.kind == CodeKind::Move && where_[refs[1].temp].unit < 0 && where_[refs[1].temp].in_memory &&
                             refs[0].temp != refs[1].temp;
    if (from_memory) std::erase_if(needs_, [&](const Need& n) { return n.temp == refs[1].temp; });
    clear_way();
    if (!place_reads()) return fail(i);
    if (!place_writes(i)) {
      if (inst.kind != CodeKind::Move || from_memory || is_fixed(refs[0].temp)) return fail(i);
      return move_to_memory(i);
    }
    if (from_memory) {
      pieces_.refill_part(*out_, inst, refs[0].temp, home_or_where(refs[0].temp), pieces_.slot(refs[1].temp));
      if (!lives_on_[inst.first_ref + 1]) where_[refs[1].temp] = {};
    } else {
      emit(inst, refs);
    }
    finish();
  }
  [[nodiscard]] int home_or_where(TempId t) const {
    if (is_fixed(t)) return temp(t).fixed.first;
    return home_[t] >= 0 ? home_[t] : where_[t].unit;
  }
  void emit(const CodeInst& inst, std::span<const Ref> refs) {
    pieces_.original(*out_, inst, refs, [&](TempId t) { return home_or_where(t); });
    if (inst.kind != CodeKind::Original) return;
    const ir::Inst& from = f_.insts[inst.source];
    for (std::uint32_t o = from.first_operand; o < from.first_operand + from.num_operands; ++o)
      if (const TempId t = code_.operand_temp[o]; t != kNoTemp) pieces_.operand(o, t, home_or_where(t));
  }
  // Where no register can be had for the target, all being held by fixed operands.
  void move_to_memory(std::uint32_t i) {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    const TempId d = refs[0].temp, s = refs[1].temp;
    pieces_.store_part(*out_, inst, pieces_.slot(d), s, home_or_where(s));
    std::erase_if(needs_, [&](const Need& n) { return n.temp == d; });
    finish();
    where_[d] = {-1, lives_on_[inst.first_ref] != 0};
  }
  void finish() {
    for (const TempId t : dropped_) vacate(t);
    for (const Need& n : needs_)
      if (!n.lives_on && !n.writes) {
        vacate(n.temp);
        where_[n.temp] = {};
      }
    for (const Need& n : needs_) {
      if (!n.writes) continue;
      if (is_fixed(n.temp)) occupy(n.temp, temp(n.temp).fixed.first);
      else if (home_[n.temp] >= 0) occupy(n.temp, std::exchange(home_[n.temp], -1));
      where_[n.temp].in_memory = false;
    }
    for (const Need& n : needs_)
      if (!n.lives_on) {
        vacate(n.temp);
        where_[n.temp] = {};
      }
  }
  // Pins the instruction, or that for which a temp stands here, and goes on without the values.
  void fail(std::uint32_t i) {
    has_failed_ = true;
    bool progress = false;
    const auto pin = [&](std::uint32_t source) {
      if (source == kNoSource || next_plan_->is_pinned[source] || f_.insts[source].is_phi()) return;
      next_plan_->is_pinned[source] = 1;
      progress = true;
    };
    if (code_.insts[i].kind == CodeKind::Original) pin(code_.insts[i].source);
    for (const Ref& r : code_.refs_of(code_.insts[i])) pin(temp(r.temp).source);
    is_hopeless_ = is_hopeless_ || !progress;
    for (const Ref& r : code_.refs_of(code_.insts[i])) {
      vacate(r.temp);
      home_[r.temp] = -1;
      where_[r.temp] = {-1, true};
    }
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  void block(std::uint32_t b) {
    out_ = &blocks_[b];
    next_.begin(b);
    find_takings(b);
    now_ = code_.blocks[b].first_inst;
    enter(b);
    for (std::uint32_t k = 0; k < code_.blocks[b].num_insts; ++k) instruction(code_.blocks[b].first_inst + k);
    for (const TempId t : liveness_.live_out(b)) ends_[b].temps.emplace_back(t, where_[t]);
    for (std::size_t at = 0; at < used_.size(); ++at) {
      for_occupants(at, UnitSet(used_[at]), [&](TempId t) { where_[t] = {}; });
      used_[at] = {};
      std::ranges::fill(occupant_[at], kNoTemp);
    }
    for (const TempId t : liveness_.live_out(b)) where_[t] = {};
    is_walked_[b] = 1;
  }
  void enter(std::uint32_t b) {
    for (const TempId t : liveness_.live_in(b)) where_[t] = {-1, true};
    for (const auto& [t, unit] : policy_.enter(*this, b)) {
      if (is_fixed(t)) continue;
      occupy(t, unit);
      // Memory is taken to be up to date where no way back through a loop would have to store for that.
      bool all_walked = true, in_memory = true;
      for (const std::uint32_t p : code_.predecessors[b]) {
        if (!is_walked_[p]) all_walked = false;
        else in_memory = in_memory && ends_[p].of(t).in_memory;
      }
      where_[t].in_memory = in_memory && (all_walked || is_written_once_[t]);
    }
    for (const TempId t : liveness_.live_in(b)) {
      if (is_fixed(t)) where_[t] = {};
      if (is_fixed(t)) occupy(t, temp(t).fixed.first);
      heads_[b].temps.emplace_back(t, where_[t]);
    }
  }
  void find_takings(std::uint32_t b) {
    for (auto& file : takings_)
      for (auto& unit : file) unit.clear();
    const auto take = [&](std::uint32_t i, std::size_t file, const UnitSet& units) {
      units.for_each([&](int u) { takings_[file][static_cast<std::size_t>(u)].push_back(i); });
    };
    for (std::uint32_t i = code_.blocks[b].first_inst; i < code_.blocks[b].first_inst + code_.blocks[b].num_insts; ++i) {
      const CodeInst& inst = code_.insts[i];
      if (inst.kind == CodeKind::Original && p_.shape(inst.source).has_clobbers())
        for (std::size_t at = 0; at < used_.size(); ++at) take(i, at, (*p_.shape(inst.source).clobbers)[at]);
      for (const Ref& r : code_.refs_of(inst))
        if ((r.flags & kWrites) != 0 && is_fixed(r.temp)) take(i, file(r.temp), units_of(temp(r.temp).fixed));
    }
  }
  void unreachable(std::uint32_t b) {
    out_ = &blocks_[b];
    for (std::uint32_t k = 0; k < code_.blocks[b].num_insts; ++k) {
      const CodeInst& inst = code_.insts[code_.blocks[b].first_inst + k];
      emit(inst, code_.refs_of(inst));
    }
  }

  const Problem& p_;
  const ir::Function& f_;
  SplitPolicy& policy_;
  ir::Fuel* const fuel_;
  Code code_;
  Liveness liveness_;
  std::vector<std::uint32_t> order_;
  NextUses next_;
  std::vector<Where> where_;  // by temp
  std::vector<int> home_;     // by temp that the instruction at hand writes, and that was not there before; else -1
  Units used_;
  ir::PerFile<std::vector<TempId>> occupant_;  // by unit
  std::vector<std::uint8_t> lives_on_;         // by ref: the temp is live after its instruction
  std::vector<std::uint8_t> is_dead_;          // by instruction
  std::vector<std::uint8_t> is_written_once_;  // by temp
  std::vector<Places> heads_, ends_;           // by block
  std::vector<std::vector<CodeInst>> blocks_;  // what becomes of each
  std::vector<std::uint8_t> is_walked_;        // by block
  std::vector<std::uint32_t> place_;           // by block, in the order
  std::vector<ir::PerFile<int>> pressure_;     // by block: the most units that are live at one point
  Pieces pieces_;
  Plan* next_plan_ = nullptr;
  bool has_failed_ = false, is_hopeless_ = false;
  // Of the block at hand.
  std::vector<CodeInst>* out_ = nullptr;
  ir::PerFile<std::vector<std::vector<std::uint32_t>>>
      takings_;  // by unit, ascending: what clobbers it or has a fixed operand there
  // Of the instruction at hand.
  std::uint32_t now_ = 0;
  std::vector<Need> needs_;
  Units taken_at_reads_, taken_after_, clobbers_, kept_out_, placed_after_;
  std::vector<TempId> dropped_;  // read here, in memory, and in no register afterwards
};

ir::Allocation all_in_memory(const Problem& problem, ir::Fuel* fuel) {
  const Plan plan = problem.all_in_memory();
  const Code code = lower(problem, plan, fuel);
  Liveness liveness(code);
  InterferenceGraphs graphs = build_interference_graphs(problem, code, liveness);
  std::vector<ir::PReg> homes(code.temps.size());
  for (TempId t = 0; t < homes.size(); ++t) homes[t] = code.temps[t].fixed;
  for (const ir::RegFile file : ir::kAllFiles) {
    const FileGraph& graph = graphs.files[ir::index(file)];
    if (graph.size() == 0) continue;
    const UnitSet& available = problem.allocatable()[ir::index(file)];
    const Colouring c = select(graph, simplify(graph, available, Optimism::SmallestLast),
                               {.available = available, .last_resort = problem.callee_saved()[ir::index(file)], .biased = false});
    REGDUEL_CHECK(c.failed.empty(), "no colouring even with everything in memory: @" + problem.program().name);
    for (NodeId n = 0; n < graph.size(); ++n)
      homes[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(c.unit_of[n])};
  }
  return rewrite(problem, plan, code, homes, graphs.is_dead, fuel);
}

}  // namespace

ir::Allocation allocate_by_splitting(const Problem& problem, SplitPolicy& policy, ir::Fuel* fuel) {
  Plan plan = problem.all_in_registers(fuel);
  for (int round = 0; round < kMostRounds; ++round) {
    const Plan before = plan;
    bool is_hopeless = false;
    Splitter walk(problem, policy, before, fuel);
    if (walk.run(plan, is_hopeless))
      if (auto result = walk.write(plan, is_hopeless)) return std::move(*result);
    if (is_hopeless || !ir::may(fuel, "spill-round")) break;
  }
  return all_in_memory(problem, fuel);
}

}  // namespace regduel::reference
