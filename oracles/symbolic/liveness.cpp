// The live names of the program before, and the live locations of the program after, at the head of each block. The state at a
// block keeps these alone, so states are as small as live ranges, and a dead value left over in a register causes no further visit.
// Several defs of parts end a live range together; a copy reads its source.
//
// A guarded def ends a live range together with a def under the opposite guard. A read under a guard makes the place live from
// there upwards *under that guard* only: until a write under the same guard or without a guard, or until the guard is written;
// above that the place is live without a condition. So a value that if-converted code defines and reads is live in that code alone.
//
// A place lives across blocks only if some block reads it before writing it. Such places are taken sixty-four at a time, one bit
// each, and spread backwards from the blocks that read them to the blocks that write them, in sweeps over the changed blocks (the
// worklist of Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976, backwards). Memory: the answer and one
// row of bits a block. Tested by liveness_test.cpp and live_at_test.cpp.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/grouped.h"
#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {
namespace {

// Where each reachable block stands in Plan::order, and the edges into it, by that number.
struct Flow {
  explicit Flow(const Plan& plan) : position(plan.blocks.size(), kNoIndex) {
    for (std::uint32_t at = 0; at < plan.order.size(); ++at) position[plan.order[at]] = at;
    preds.build_from(
        plan.order.size(), plan.edges, [&](const FlowEdge& e) { return position[e.to]; },
        [&](const FlowEdge& e) { return position[e.from]; });
    succs.build_from(
        plan.order.size(), plan.edges, [&](const FlowEdge& e) { return position[e.from]; },
        [&](const FlowEdge& e) { return position[e.to]; });
  }

  std::vector<std::uint32_t> position;  // by block
  Grouped<std::uint32_t> preds, succs;  // by position
};

// Of the names, or of the locations: both are places here.
class Liveness {
 public:
  Liveness(const Plan& plan, const Flow& flow, std::size_t num_places) : plan_(plan), flow_(flow), places_(num_places) {
    usages_.reserve(plan.operands.size());
  }

  LiveSets of_names() {
    are_names_ = true;
    for (at_ = 0; at_ < plan_.order.size(); ++at_)
      for (const Step& s : plan_.steps_of(plan_.order[at_])) step_of_names(s);
    for (const FlowEdge& e : plan_.edges) {
      if (e.renames == kNoIndex) continue;
      for (const StepOperand& op : plan_.operands_of(plan_.steps[e.renames])) {
        read_after(op.loc, flow_.position[e.from]);
        for (std::uint32_t k = 0; k < op.name.cells() && op.is_wordwise; ++k)
          usages_.push_back({.place = op.name.cell + k, .at = flow_.position[e.to], .is_renamed = true});
      }
    }
    return live();
  }

  // The location that a kept phi writes counts as live before it too: a phi is seldom kept. Predicate registers are written too
  // often to follow guards from block to block.
  LiveSets of_locations() {
    for (at_ = 0; at_ < plan_.order.size(); ++at_)
      for (const Step& s : plan_.steps_of(plan_.order[at_])) step_of_locations(s);
    for (const FlowEdge& e : plan_.edges) {
      if (e.moves == kNoIndex) continue;
      for (const StepOperand& op : plan_.operands_of(plan_.steps[e.moves])) read_after(op.loc, flow_.position[e.from]);
    }
    return spread();
  }

 private:
  // A predicate: a place, after so many writes in the block.
  struct Guard {
    std::uint32_t place = kNoIndex, writes = 0;  // kNoIndex: none
    bool sense = true;

    [[nodiscard]] bool is_set() const { return place != kNoIndex; }
    [[nodiscard]] Guard opposite() const { return {place, writes, !sense}; }
    friend bool operator==(const Guard&, const Guard&) = default;
  };
  // The reads and writes of a place by one block. The steps of the block make one usage of a place, an edge another one.
  struct Usage {
    std::uint32_t place = 0, at = 0;  // the block's position
    std::uint8_t written = 0;         // bytes
    std::uint8_t written_if = 0;      // bytes that are written where the guard `guard` holds
    std::uint32_t writes = 0;         // so far, guarded ones too
    Guard guard = {};
    bool is_read_first = false;  // some byte is read before it is written
    bool is_read_after = false;  // read by phis on an edge from the block
    bool is_renamed = false;     // written by the phis at the head of the block
  };
  struct PlaceUsed {
    std::uint32_t last = kNoIndex;  // its last usage that steps made
    std::uint32_t number = 0;       // of a place that lives across blocks
    std::uint8_t bytes_read = 0;    // by anything
    bool is_across = false;         // it is live at the head of some block
  };
  // A place whose value at its head block `at` reads, under a predicate that holds or does not.
  struct Exposed {
    std::uint32_t guard = 0;
    bool sense = true;
    std::uint32_t place = 0, at = 0;
    std::uint32_t number = 0;  // of the place under the guard
  };
  // Blocks and numbers of places under guards: where the guard is written, in the block or by the phis at its head.
  struct GuardEnds {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> in_blocks, in_phis;
    FlatMap is_renamed;  // not 0: the phis at the head of the block write the place itself
  };
  [[nodiscard]] static std::uint64_t key_of(std::uint32_t one, std::uint32_t other) {
    return static_cast<std::uint64_t>(one) << 32 | other;
  }
  // Of one block, for the places at hand: a bit each.
  struct Row {
    std::uint64_t live = 0;  // at the head
    std::uint64_t kills = 0, renames = 0;
  };
  struct Found {
    std::uint32_t at = 0, group = 0;
    std::uint64_t live = 0;
  };

  // --- what blocks do with places -----------------------------------------------------------------------------------
  Usage& usage(std::uint32_t place) {
    std::uint32_t& last = places_[place].last;
    if (last != kNoIndex && usages_[last].at == at_) return usages_[last];
    last = static_cast<std::uint32_t>(usages_.size());
    usages_.push_back({.place = place, .at = at_});
    return usages_.back();
  }
  void read(const Place& p) {
    if (p.size == 0) return;
    if (is_of_cells(p)) {
      const std::uint8_t all = p.step == 1 ? kOneByte : 0xF;
      for (std::uint32_t cell = p.cell, end = cell + p.cells(); cell != end; ++cell) read_bytes(cell, all);
      return;
    }
    for (std::uint32_t k = 0, n = p.cells(); k < n; ++k) read_bytes(p.cell + k, bytes_at(p, k));
  }
  void read_bytes(std::uint32_t place, std::uint8_t bytes) {
    Usage& u = usage(place);
    PlaceUsed& used = places_[place];
    used.bytes_read |= bytes;
    const int written = u.written | (guard_.is_set() && u.guard == guard_ ? u.written_if : 0);
    if ((bytes & ~written) == 0) return;
    if (are_names_ && guard_.is_set() && guard_.writes == 0) exposed_.push_back({guard_.place, guard_.sense, place, at_});
    else u.is_read_first = true, set_across(place);
  }
  void set_across(std::uint32_t place) {
    if (!std::exchange(places_[place].is_across, true)) across_.push_back(place);
  }
  void write(const Place& p, bool is_whole) {
    if (p.size == 0) return;
    const bool is_of_all = is_whole || is_of_cells(p);
    for (std::uint32_t k = 0, n = p.cells(); k < n; ++k) write_bytes(p.cell + k, is_of_all ? 0xFF : bytes_at(p, k));
  }
  void write_bytes(std::uint32_t place, std::uint8_t bytes) {
    Usage& u = usage(place);
    ++u.writes;
    if (!guard_.is_set()) {
      u.written |= bytes;
      return;
    }
    if (u.guard == guard_.opposite()) u.written |= u.written_if & bytes;
    if (u.guard == guard_) u.written_if |= bytes;
    else u.guard = guard_, u.written_if = bytes;
  }
  // The following steps happen only if the predicate `p` holds, or does not. No predicate = they always happen.
  void set_guard(const Place& p, bool sense) {
    read(p);
    if (p.size != 0) guard_ = {p.cell, usage(p.cell).writes, sense};
  }
  void read_after(const Place& p, std::uint32_t at) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) {
      places_[p.cell + k].bytes_read |= bytes_at(p, k);
      set_across(p.cell + k);
      usages_.push_back({.place = p.cell + k, .at = at, .is_read_after = true});
    }
  }

  void step_of_names(const Step& s) {
    const auto ops = plan_.operands_of(s);
    guard_ = {};
    if (s.guard != kNoIndex) set_guard(plan_.operands[s.guard].name, !plan_.operands[s.guard].is_negated_name);
    switch (s.kind) {
      case StepKind::Operate:
      case StepKind::Gather:
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Use || op.role == ir::Role::DefUse) read(op.name);
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Def || op.role == ir::Role::DefUse) write(op.name, op.is_wordwise);
        return;
      case StepKind::Rename:
      case StepKind::Snapshot:
        for (const StepOperand& op : ops)
          if (op.role != ir::Role::Guard) read(op.loc);
        for (const StepOperand& op : ops)
          if (op.role != ir::Role::Guard) write(op.name, op.is_wordwise);
        return;
      case StepKind::Remat:
        for (const StepOperand& op : ops)
          if (op.role == ir::Role::Use) read(op.name);
        return;
      case StepKind::Move:
      case StepKind::ToPack:
      case StepKind::FromPack:
      case StepKind::Remember: return;
    }
  }

  // A step under a guard leaves what was there where the guard does not hold; a pack keeps its other bits.
  void step_of_locations(const Step& s) {
    const auto ops = plan_.operands_of(s);
    const bool is_move = s.kind == StepKind::Move;
    if (s.kind == StepKind::Rename || s.kind == StepKind::Snapshot) return;
    guard_ = {};
    if (s.guard != kNoIndex) set_guard(plan_.operands[s.guard].loc, !plan_.operands[s.guard].is_negated_loc);
    for (const StepOperand& op : ops) {
      if (op.role == ir::Role::Use || op.role == ir::Role::DefUse || op.role == ir::Role::Guard || is_move) read(op.loc);
      if (op.role == ir::Role::Def && s.kind == StepKind::Remat) read(op.name);  // the ghost
    }
    if (s.is_ret)
      for (const SavedUnit& unit : plan_.saved) read({unit.loc, 4, 0, 4});
    for (const StepOperand& op : ops)
      if (op.role == ir::Role::Def || op.role == ir::Role::DefUse || op.role == ir::Role::Clobber)
        write(is_move ? op.name : op.loc, false);
  }

  // --- under guards -------------------------------------------------------------------------------------------------
  LiveSets live() {
    by_place_.build_from(places_.size(), usages_, [](const Usage& u) { return u.place; }, [](const Usage& u) { return u; });
    std::vector<std::uint32_t> place_of;
    number_under_guards(place_of);
    if (exposed_.empty()) return spread();
    const LiveSets under_guards = spread_under_guards(place_of);
    return united(spread(), under_guards, place_of);
  }

  // Each place under each of its guards is a place of its own: number n is place_of[n] under one of them. A place that no step
  // writes under the guard is live under it if it is live, and has no number.
  void number_under_guards(std::vector<std::uint32_t>& place_of) {
    constexpr std::uint32_t kWritten = kNoIndex - 1;
    std::array<FlatMap, 2> numbers;  // by sense
    for (const Usage& u : usages_)
      if (u.guard.is_set()) numbers[u.guard.sense].at(key_of(u.guard.place, u.place), kWritten);
    std::erase_if(exposed_, [&](Exposed& e) {
      std::uint32_t& number = numbers[e.sense].at(key_of(e.guard, e.place), kNoIndex);
      if (number == kNoIndex) {
        read_first({.place = e.place, .at = e.at, .is_read_first = true});
        return true;
      }
      if (number == kWritten) {
        number = static_cast<std::uint32_t>(place_of.size());
        place_of.push_back(e.place);
      }
      e.number = number;
      return false;
    });
  }

  void read_first(const Usage& u) {
    set_across(u.place);
    usages_.push_back(u);
  }

  LiveSets spread_under_guards(std::span<const std::uint32_t> place_of) {
    Liveness limited(plan_, flow_, place_of.size());
    GuardEnds ends;
    std::vector<std::uint32_t> writes(plan_.order.size(), 0);  // of the guard, by block
    std::uint32_t next = 0;
    for (const Exposed& e : exposed_) {
      limited.usages_.push_back({.place = e.number, .at = e.at, .is_read_first = true});
      if (e.number != next) continue;
      end_at_writes(e, writes, limited, ends);
      ++next;
    }
    const LiveSets sets = limited.spread();
    go_on_without_guards(sets, ends, place_of);
    return sets;
  }

  // The usages that end such a live range go to limited.usages_.
  void end_at_writes(const Exposed& of, std::vector<std::uint32_t>& writes, Liveness& limited, GuardEnds& ends) {
    const std::uint32_t n = of.number;
    limited.places_[n].bytes_read = 0xFF;
    limited.set_across(n);
    const auto defs = by_place_[of.place], guards = by_place_[of.guard];
    for (const Usage& g : guards) writes[g.at] = std::max(writes[g.at], g.writes);
    const std::size_t first = limited.usages_.size();
    for (const Usage& u : defs) {
      const int written = u.written | (u.guard == Guard{of.guard, writes[u.at], of.sense} ? u.written_if : 0);
      if (u.is_renamed) {
        limited.usages_.push_back({.place = n, .at = u.at, .is_renamed = true});
        ends.is_renamed.at(key_of(u.at, n), 1);
      } else if (u.writes != 0 && (places_[of.place].bytes_read & ~written) == 0)
        limited.usages_.push_back({.place = n, .at = u.at, .written = 0xFF});
    }
    const auto last = limited.usages_.size();
    const auto has_ended = [&](const Usage& g) {
      for (std::size_t k = first; k < last; ++k) {
        const Usage& end = limited.usages_[k];
        if (end.at == g.at && end.is_renamed == g.is_renamed) return true;
      }
      return false;
    };
    for (const Usage& g : guards) {
      writes[g.at] = 0;
      if ((g.writes == 0 && !g.is_renamed) || has_ended(g)) continue;
      (g.is_renamed ? ends.in_phis : ends.in_blocks).emplace_back(g.at, n);
    }
  }

  // Above the write of its guard, a place is live without a condition.
  void go_on_without_guards(const LiveSets& sets, GuardEnds& ends, std::span<const std::uint32_t> place_of) {
    const auto is_live = [&](std::uint32_t at, std::uint32_t n) { return std::ranges::binary_search(sets[plan_.order[at]], n); };
    for (const auto& [at, n] : ends.in_phis) {
      if (!is_live(at, n)) continue;
      for (const std::uint32_t pred : flow_.preds[at]) read_first({.place = place_of[n], .at = pred, .is_read_after = true});
    }
    for (const auto& [pred, n] : ends.in_blocks)
      for (const std::uint32_t at : flow_.succs[pred]) {
        if (is_live(at, n) && ends.is_renamed.at(key_of(at, n), 0) == 0)
          read_first({.place = place_of[n], .at = pred, .is_read_first = true});
      }
  }

  // Number n of `more` is place_of[n] of `sets`.
  [[nodiscard]] static LiveSets united(const LiveSets& sets, const LiveSets& more, std::span<const std::uint32_t> place_of) {
    LiveSets all;
    all.begin.push_back(0);
    std::vector<std::uint32_t> places;
    for (std::uint32_t b = 0; b + 1 < sets.begin.size(); ++b) {
      places.clear();
      for (const std::uint32_t n : more[b]) places.push_back(place_of[n]);
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      std::ranges::set_union(sets[b], places, std::back_inserter(all.places));
      all.begin.push_back(static_cast<std::uint32_t>(all.places.size()));
    }
    return all;
  }

  // --- backwards over the blocks ------------------------------------------------------------------------------------
  //   live_in(b)  = is_read_first(b)  or  live_out(b) and not kills(b)
  //   live_out(b) = is_read_after(b)  or  live_in(s) and not is_renamed(s) for some successor s
  //   kills(b)    : all bytes of the place that anything reads are written in b, by one def or by several of its parts
  LiveSets spread() {
    number_places();
    group_usages();
    rows_.resize(plan_.order.size());
    due_.assign(plan_.order.size() / 64 + 1, 0);
    for (std::uint32_t group = 0; group < by_group_.num_keys(); ++group) spread_group(group, by_group_[group]);
    return collect();
  }

  // Place p is bit n % 64 of group n / 64, where across_[n] = p.
  void number_places() {
    std::ranges::sort(across_);
    for (std::uint32_t n = 0; n < across_.size(); ++n) places_[across_[n]].number = n;
  }
  void group_usages() {
    std::erase_if(usages_, [&](const Usage& u) { return !places_[u.place].is_across; });
    by_group_.build_from((across_.size() + 63) / 64, usages_, [&](const Usage& u) { return places_[u.place].number / 64; },
                         [](const Usage& u) -> const Usage& { return u; });
  }

  void spread_group(std::uint32_t group, std::span<const Usage> usages) {
    const std::size_t first = found_.size();
    const auto bit_of = [&](const Usage& u) { return std::uint64_t{1} << places_[u.place].number % 64; };
    for (const Usage& u : usages) {
      if ((places_[u.place].bytes_read & ~u.written) == 0) rows_[u.at].kills |= bit_of(u);
      if (u.is_renamed) rows_[u.at].renames |= bit_of(u);
    }
    for (const Usage& u : usages) {
      if (u.is_read_first) enter(u.at, group, bit_of(u));
      if (u.is_read_after) enter(u.at, group, bit_of(u) & ~rows_[u.at].kills);
    }
    // Downwards in reverse postorder; a change that goes back to a later block waits for the next sweep.
    while (is_any_due_) {
      is_any_due_ = false;
      for (std::size_t w = due_.size(); w-- > 0;)
        while (due_[w] != 0) {
          const auto k = static_cast<std::uint32_t>(63 - std::countl_zero(due_[w]));
          due_[w] ^= std::uint64_t{1} << k;
          leave(static_cast<std::uint32_t>(64 * w + k), group);
        }
    }
    for (std::size_t k = first; k < found_.size(); ++k) found_[k].live = std::exchange(rows_[found_[k].at].live, 0);
    for (const Usage& u : usages) rows_[u.at] = {};
  }
  void enter(std::uint32_t at, std::uint32_t group, std::uint64_t bits) {
    Row& row = rows_[at];
    if ((bits & ~row.live) == 0) return;
    if (row.live == 0) found_.push_back({.at = at, .group = group});
    row.live |= bits;
    due_[at / 64] |= std::uint64_t{1} << at % 64;
    is_any_due_ = true;
  }
  void leave(std::uint32_t at, std::uint32_t group) {
    const std::uint64_t live = rows_[at].live & ~rows_[at].renames;
    for (const std::uint32_t pred : flow_.preds[at]) enter(pred, group, live & ~rows_[pred].kills);
  }

  [[nodiscard]] LiveSets collect() const {
    LiveSets sets;
    sets.begin.assign(plan_.blocks.size() + 1, 0);
    for (const Found& f : found_) sets.begin[plan_.order[f.at] + 1] += static_cast<std::uint32_t>(std::popcount(f.live));
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) sets.begin[b + 1] += sets.begin[b];
    sets.places.resize(sets.begin.back());
    auto next = sets.begin;
    for (const Found& f : found_) {
      std::uint32_t to = next[plan_.order[f.at]];
      const std::uint32_t* places = across_.data() + 64 * f.group;
      for (std::uint64_t live = f.live; live != 0; live &= live - 1) sets.places[to++] = places[std::countr_zero(live)];
      next[plan_.order[f.at]] = to;
    }
    return sets;
  }

  const Plan& plan_;
  const Flow& flow_;
  bool are_names_ = false;
  std::uint32_t at_ = 0;  // position of the block at hand
  Guard guard_;           // of the step at hand
  std::vector<Usage> usages_;
  std::vector<PlaceUsed> places_;
  std::vector<Exposed> exposed_;
  Grouped<Usage> by_place_;            // where something is exposed
  std::vector<std::uint32_t> across_;  // places that live across blocks
  Grouped<Usage> by_group_;            // usages of places that live across blocks
  std::vector<Row> rows_;              // by position
  std::vector<std::uint64_t> due_;     // bits by position: what is live there has not been given to the blocks before yet
  bool is_any_due_ = false;
  std::vector<Found> found_;  // ascending by group
};

// The places from `begin` on, before the phis instead of after them.
void take_back_phis(std::span<const StepOperand> phis, std::vector<std::uint32_t>& places, std::size_t begin) {
  const auto first = places.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto is_written = [&](std::uint32_t place) {
    return std::any_of(phis.begin(), phis.end(), [&](const StepOperand& op) {
      return op.is_wordwise && place >= op.name.cell && place < op.name.cell + op.name.cells();
    });
  };
  places.erase(std::remove_if(first, places.end(), is_written), places.end());
  for (const StepOperand& op : phis)
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) places.push_back(op.loc.cell + k);
  const auto unsorted = places.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(unsorted, places.end());
  places.erase(std::unique(unsorted, places.end()), places.end());
}

// The live names, if the edges are those of the program before. At the head of an edge block, the defs of the phis at its end are
// not live, and their uses are.
LiveSets live_names_along(const Plan& plan, const LiveSets& before) {
  const auto num_before = static_cast<std::uint32_t>(before.begin.size() - 1);
  LiveSets sets = before;
  for (std::uint32_t b = num_before; b < plan.blocks.size(); ++b) {
    const auto edge_from = [&](std::uint32_t from) {
      const Range edges = plan.edges_of[from];
      return edges.begin == edges.end ? nullptr : &plan.edges[edges.begin];
    };
    const FlowEdge* last = edge_from(b);
    while (last != nullptr && last->to >= num_before) last = edge_from(last->to);
    const std::size_t begin = sets.places.size();
    if (last != nullptr) {
      sets.places.insert(sets.places.end(), before[last->to].begin(), before[last->to].end());
      if (last->renames != kNoIndex) take_back_phis(plan.operands_of(plan.steps[last->renames]), sets.places, begin);
    }
    sets.begin.push_back(static_cast<std::uint32_t>(sets.places.size()));
  }
  return sets;
}

}  // namespace

void find_live(Plan& plan, NamesBefore& before) {
  const Flow flow(plan);
  const bool has_edges_of_before = plan.wrong_edges.empty() && plan.num_names() == plan.names.size();
  if (has_edges_of_before && !before.live.begin.empty()) {
    plan.live_names = live_names_along(plan, before.live);
  } else {
    plan.live_names = Liveness(plan, flow, plan.num_names()).of_names();
    if (has_edges_of_before) before.live = plan.live_names.of_first(before.num_blocks);
  }
  plan.live_locations = Liveness(plan, flow, plan.num_locations()).of_locations();
}

}  // namespace regduel::oracles::symbolic
