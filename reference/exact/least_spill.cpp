// See least_spill.h.

#include "reference/exact/least_spill.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "ir/loops.h"
#include "reference/colour/coalesce.h"
#include "reference/exact/cheapest_set.h"
#include "reference/exact/fewest_units.h"
#include "reference/exact/value_graphs.h"
#include "reference/program/contents.h"
#include "reference/program/dead_code.h"
#include "reference/program/liveness.h"

namespace regduel::reference {
namespace {

using Element = CheapestSet::Element;
using Portion = CheapestSet::Portion;

constexpr Element kNoElement = 0xFFFFFFFFu;
constexpr auto kMostWeight = static_cast<std::uint64_t>(ir::kMostWeight);
constexpr int kQuestions = 1'000;  // to the solver, for one set
constexpr int kMostRefutations = 100;

// A choice that costs: to spill a value, or to use a callee-saved register, which has to be saved.
struct Choice {
  ir::RegFile file = ir::RegFile::R;
  TempId value = kNoTemp;  // none: the register
  int unit = -1;
  std::int64_t cost = 0;
};

// The program with some values in memory.
struct Lowered {
  Plan plan;
  ValueGraphs graphs;

  [[nodiscard]] const Code& code() const { return graphs.code; }
};

class LeastCost {
 public:
  LeastCost(const Problem& problem, const SpillEffort& effort) : p_(problem), f_(problem.program()), effort_(effort) {}

  LeastSpill run() {
    base_ = lowered({});
    leave_out_dead_code();
    find_choices();
    if (result_.values > effort_.most_values) {
      result_.end = LeastSpill::End::TooLarge;
      return std::move(result_);
    }
    find_costs();
    demand_room();
    search();
    return std::move(result_);
  }

 private:
  // What the program before spilling never needs is no store either.
  void leave_out_dead_code() {
    is_left_out_.assign(f_.insts.size(), 0);
    for (std::size_t i = 0; i < base_.code().insts.size(); ++i)
      if (const CodeInst& inst = base_.code().insts[i]; base_.graphs.is_dead[i] == kNoneReadsIt && inst.source != kNoSource)
        is_left_out_[inst.source] = 1;
    undefined_reads_ = undefined_reads(base_.code());
    base_ = lowered({});
  }

  // --- what there is to choose ----------------------------------------------------------------------------------
  void find_choices() {
    const Plan memory = p_.all_in_memory();
    element_of_.assign(base_.code().num_values, kNoElement);
    for (TempId v = 0; v < base_.code().num_values; ++v) {
      if (base_.graphs.value.node_of[v] == kNoNode || memory.locations[v].is_register()) continue;
      if (p_.memory_through_r() && base_.code().temps[v].file != ir::RegFile::R) continue;  // the way through R is not modelled
      element_of_[v] = static_cast<Element>(choices_.size());
      choices_.push_back({base_.code().temps[v].file, v, -1, 0});
    }
    result_.values = static_cast<int>(choices_.size());
    find_saved();
    find_slots();
  }

  // Callee-saved registers: those that are saved in any case cost nothing more, nor do any where nothing returns.
  void find_saved() {
    auto moves = static_cast<std::int64_t>(std::min(kMostWeight, p_.freq(ir::BlockId(0))));
    bool returns = false;
    ir::PerFile<UnitSet> touched;
    for (const ir::BlockId b : p_.cfg().reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        if (f_.insts[i].op == ir::Op::Ret) {
          returns = true;
          moves += static_cast<std::int64_t>(std::min(kMostWeight, p_.freq(b)));
        }
        if (const Shape& shape = p_.shape(i); shape.has_clobbers())
          for (const ir::RegFile file : ir::kAllFiles) touched[ir::index(file)] |= (*shape.clobbers)[ir::index(file)];
      }
    }
    for (const Temp& t : base_.code().temps)
      if (t.fixed.is_valid()) touched[ir::index(t.file)] |= units_of(t.fixed);
    for (const ir::RegFile file : ir::kAllFiles) {
      const UnitSet& saved = p_.callee_saved()[ir::index(file)];
      UnitSet& free = free_[ir::index(file)] = p_.allocatable()[ir::index(file)];
      for (int u = saved.first(); u >= 0; u = saved.next(u + 1)) {
        const std::int64_t cost = moves * ir::unit_bytes(file);
        if (!returns) continue;
        if (touched[ir::index(file)].has(u)) {
          constant_ += cost;
          continue;
        }
        if (!p_.allocatable()[ir::index(file)].has(u)) continue;
        free.clear(u);
        choices_.push_back({file, kNoTemp, u, cost});
      }
    }
  }

  // Values that may become one register may be in one slot.
  void find_slots() {
    slot_of_.assign(base_.code().num_values, 0);
    for (TempId v = 0; v < base_.code().num_values; ++v) slot_of_[v] = v;
    // A dead move into a value is a store where that value is in memory, which must not hit a slot in use.
    std::vector<std::uint8_t> is_alone(base_.code().temps.size(), 0);
    for (std::size_t i = 0; i < base_.code().insts.size(); ++i)
      if (const CodeInst& inst = base_.code().insts[i]; base_.graphs.is_dead[i] && inst.kind == CodeKind::Move)
        is_alone[base_.code().refs[inst.first_ref].temp] = 1;
    for (const ir::RegFile file : ir::kAllFiles) {
      FileGraph graph = base_.graphs.value.files[ir::index(file)];
      if (graph.size() == 0) continue;
      coalesce(graph, {p_.allocatable()[ir::index(file)], {}, false, nullptr});
      for (NodeId n = 0; n < graph.size(); ++n) {
        if (graph.is_merged(n)) continue;
        TempId first = kNoTemp;
        graph.for_members(n, [&](NodeId m) {
          const TempId t = graph.temp(m);
          if (is_choice(t) && !is_alone[t]) first = std::min(first, t);
        });
        graph.for_members(n, [&](NodeId m) {
          if (is_choice(graph.temp(m)) && !is_alone[graph.temp(m)]) slot_of_[graph.temp(m)] = first;
        });
      }
    }
  }
  [[nodiscard]] bool is_choice(TempId t) const { return t < element_of_.size() && element_of_[t] != kNoElement; }

  // --- the program under a choice -------------------------------------------------------------------------------
  [[nodiscard]] Lowered lowered(const std::vector<TempId>& spilled) const {
    Lowered l;
    l.plan = p_.all_in_registers();
    l.plan.is_left_out = is_left_out_;
    l.plan.undefined_reads = undefined_reads_;
    std::map<TempId, std::uint32_t> slots;
    for (const TempId v : spilled) {
      if (p_.can_remat(v)) {
        l.plan.locations[v] = Location::nowhere();
        continue;
      }
      const auto [at, is_new] = slots.try_emplace(slot_of_[v], 0);
      const std::uint32_t bytes = base_.code().temps[v].bytes;
      if (is_new) at->second = l.plan.add_slot(bytes);
      SpillSlot& slot = l.plan.slots[at->second];
      slot.bytes = std::max(slot.bytes, bytes);
      l.plan.locations[v] = Location::in_slot(at->second);
    }
    l.graphs = lower_by_value(p_, l.plan);
    return l;
  }
  static std::int64_t moves(const Lowered& l) {
    std::int64_t sum = 0;
    for (const CodeBlock& b : l.code().blocks) {
      if (!b.is_reachable) continue;
      for (std::uint32_t i = b.first_inst; i < b.first_inst + b.num_insts; ++i)
        if (const CodeInst& inst = l.code().insts[i];
            !l.graphs.is_dead[i] && (inst.kind == CodeKind::Refill || inst.kind == CodeKind::Store))
          sum += inst.bytes * static_cast<std::int64_t>(std::min(kMostWeight, b.freq));
    }
    return sum;
  }

  // A refill or a store is there because of one value, but for copies between two that share a slot.
  void find_costs() {
    std::vector<std::int64_t> costs;
    for (Choice& c : choices_) {
      if (c.value != kNoTemp) c.cost = moves(lowered({c.value}));
      costs.push_back(c.cost);
    }
    struct Saving {
      TempId a, b;
      std::int64_t bytes;
    };
    std::vector<Saving> savings;
    std::set<std::pair<TempId, TempId>> seen;
    for (const CodeInst& inst : base_.code().insts) {
      if (inst.kind != CodeKind::Move) continue;
      const auto refs = base_.code().refs_of(inst);
      const auto [a, b] = std::minmax(refs[0].temp, refs[1].temp);
      if (a == b || !is_choice(a) || !is_choice(b) || slot_of_[a] != slot_of_[b] || !seen.emplace(a, b).second) continue;
      const std::int64_t bytes = costs[element_of_[a]] + costs[element_of_[b]] - moves(lowered({a, b}));
      REGDUEL_CHECK(bytes >= 0, "two spilled values cost more than each alone in @" + f_.name);
      if (bytes > 0) savings.push_back({a, b, bytes});
    }
    for (const Saving& s : savings) {
      costs[element_of_[s.a]] -= s.bytes / 2;
      costs[element_of_[s.b]] -= s.bytes - s.bytes / 2;
    }
    set_.emplace(costs);
    for (const Saving& s : savings) {
      set_->add_extra_cost(element_of_[s.a], element_of_[s.b], s.bytes / 2);
      set_->add_extra_cost(element_of_[s.b], element_of_[s.a], s.bytes - s.bytes / 2);
    }
  }

  // --- demands of points ----------------------------------------------------------------------------------------
  struct AtPoint {
    TempId temp;
    bool is_there_anyway;  // in a register even if its value is spilled
  };

  void demand_room() {
    Liveness liveness(base_.code());
    contents_.emplace(p_, base_.code());
    for (std::uint32_t b = 0; b < base_.code().blocks.size(); ++b)
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        point(base_.code().insts[i], live);
        return true;
      });
    result_.demands = static_cast<int>(set_->drop_weaker_demands());
  }

  void point(const CodeInst& inst, const LiveSet& live) {
    struct Here {
      TempId temp;
      bool is_live, is_ref;
      unsigned flags;
    };
    const auto refs = base_.code().refs_of(inst);
    std::vector<Here> here;
    live.for_each([&](TempId t) { here.push_back({t, true, false, 0}); });
    bool may_go = inst.kind != CodeKind::Original;
    for (const Ref& r : refs) {
      auto at = std::find_if(here.begin(), here.end(), [&](const Here& h) { return h.temp == r.temp; });
      if (at == here.end()) at = here.insert(at, {r.temp, false, true, 0});
      at->is_ref = true;
      at->flags |= r.flags;
      // Where the value that it defines is computed again, the instruction is not there.
      may_go = may_go || (r.temp < base_.code().num_values && p_.remat_def(r.temp) == inst.source);
    }
    const bool is_original = inst.kind == CodeKind::Original;
    const auto demand = [&](unsigned holds, auto&& is_in) {
      std::vector<AtPoint> in;
      for (const Here& h : here) {
        const bool is_local = h.temp >= base_.code().num_values;
        if (!is_in(h) || (is_local && is_original && may_go)) continue;
        in.push_back({h.temp, is_local || ((h.flags & holds) != 0 && !may_go)});
      }
      for (const ir::RegFile file : ir::kAllFiles) demand_of_file(file, in);
    };
    // While uses are read, and after it. Copies may share a register with their source there.
    demand(kAtReads, [](const Here& h) { return h.is_ref ? (h.flags & kAtReads) != 0 : h.is_live; });
    if (inst.copy_pairs == 0) demand(kWrites, [](const Here& h) { return h.is_live || (h.flags & kWrites) != 0; });
  }

  void demand_of_file(ir::RegFile file, const std::vector<AtPoint>& all) {
    const FileGraph& graph = base_.graphs.necessary.files[ir::index(file)];
    std::vector<AtPoint> here;
    int units = 0;
    for (const AtPoint& a : all) {
      const Temp& t = base_.code().temps[a.temp];
      if (t.file != file || t.fixed.is_valid()) continue;
      here.push_back(a);
      units += t.units;
    }
    std::vector<UnitSet> confining = {UnitSet()};
    for (const AtPoint& a : here)
      if (const UnitSet& forbidden = graph.forbidden(base_.graphs.necessary.node_of[a.temp]);
          !a.is_there_anyway && std::find(confining.begin(), confining.end(), forbidden) == confining.end())
        confining.push_back(forbidden);
    for (const UnitSet& forbidden : confining) {
      const UnitSet room = p_.allocatable()[ir::index(file)] - forbidden;
      if (units <= (room & free_[ir::index(file)]).count()) continue;
      std::vector<AtPoint> confined;
      for (const AtPoint& a : here)
        if (forbidden.none() ||
            (!a.is_there_anyway && (forbidden - graph.forbidden(base_.graphs.necessary.node_of[a.temp])).none()))
          confined.push_back(a);
      demand_of_clique(file, graph, std::move(confined), room);
    }
  }

  // Of those that interfere with each other, the widest first, and what is there anyway before what need not be.
  void demand_of_clique(ir::RegFile file, const FileGraph& graph, std::vector<AtPoint> here, const UnitSet& room) {
    const auto units = [&](const AtPoint& a) { return static_cast<int>(base_.code().temps[a.temp].units); };
    std::sort(here.begin(), here.end(), [&](const AtPoint& a, const AtPoint& b) {
      if (a.is_there_anyway != b.is_there_anyway) return a.is_there_anyway;
      return units(a) != units(b) ? units(a) > units(b) : a.temp < b.temp;
    });
    std::vector<AtPoint> clique;
    int sum = 0;
    for (const AtPoint& a : here) {
      const NodeId n = base_.graphs.necessary.node_of[a.temp];
      // An edge is there where two values differ somewhere; here they may be equal, and share a register if one is refilled.
      const auto meets = [&](const AtPoint& c) {
        return graph.has_edge(n, base_.graphs.necessary.node_of[c.temp]) &&
               !((a.is_there_anyway || c.is_there_anyway) && contents_->is_connected(a.temp, c.temp));
      };
      if (!std::ranges::all_of(clique, meets)) continue;
      clique.push_back(a);
      sum += units(a);
    }
    UnitSet reachable;  // units that some of them may stand in
    for (const AtPoint& a : clique)
      reachable |= a.is_there_anyway ? room : room - graph.forbidden(base_.graphs.necessary.node_of[a.temp]);
    const int need = sum - (reachable & free_[ir::index(file)]).count();
    if (need <= 0) return;
    std::vector<Portion> portions;
    for (const AtPoint& a : clique)
      if (!a.is_there_anyway && is_choice(a.temp)) portions.push_back({element_of_[a.temp], units(a)});
    for (Element e = static_cast<Element>(result_.values); e < choices_.size(); ++e)
      if (choices_[e].file == file && reachable.has(choices_[e].unit)) portions.push_back({e, 1});
    std::sort(portions.begin(), portions.end(), [](const Portion& a, const Portion& b) { return a.element < b.element; });
    set_->demand(portions, need);
  }

  // --- the search -----------------------------------------------------------------------------------------------
  struct Trial {
    Answer answer = Answer::Unknown;
    ir::RegFile file = ir::RegFile::R;  // which has no colouring
    Lowered lowered;
    std::vector<ir::PReg> homes;
  };
  // The values that are taken; the callee-saved units that are become available.
  [[nodiscard]] std::vector<TempId> spilled_by(const std::vector<bool>& is_taken, ir::PerFile<UnitSet>& available) const {
    std::vector<TempId> spilled;
    for (Element e = 0; e < choices_.size(); ++e) {
      if (!is_taken[e]) continue;
      if (choices_[e].value != kNoTemp) spilled.push_back(choices_[e].value);
      else available[ir::index(choices_[e].file)].set(choices_[e].unit);
    }
    return spilled;
  }
  //   is_taken   by element
  //   only       no other file is asked about
  [[nodiscard]] Trial try_out(const std::vector<bool>& is_taken, std::optional<ir::RegFile> only = {},
                              const std::string& proof = {}) const {
    Trial t;
    ir::PerFile<UnitSet> available = free_;
    t.lowered = lowered(spilled_by(is_taken, available));
    t.homes.resize(t.lowered.code().temps.size());
    for (TempId k = 0; k < t.homes.size(); ++k) t.homes[k] = t.lowered.code().temps[k].fixed;
    t.answer = Answer::Yes;
    for (const ir::RegFile file : ir::kAllFiles) {
      const FileGraph& graph = t.lowered.graphs.value.files[ir::index(file)];
      if (graph.size() == 0 || (only && *only != file)) continue;
      const Found found = find_colouring(graph, available[ir::index(file)], {.conflicts = effort_.conflicts, .proof = proof},
                                         &t.lowered.graphs.necessary.files[ir::index(file)]);
      if (found.answer == Answer::No) {
        t.answer = Answer::No;
        t.file = file;
        return t;
      }
      if (found.answer == Answer::Unknown) t.answer = Answer::Unknown;
      if (t.answer != Answer::Yes) continue;
      for (NodeId n = 0; n < graph.size(); ++n)
        t.homes[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(found.unit_of[n])};
    }
    return t;
  }

  // The cost of the allocation, with the saves of callee-saved registers that it uses.
  [[nodiscard]] std::int64_t cost_of(const Trial& t) const {
    std::int64_t sum = constant_ + moves(t.lowered);
    for (const Choice& c : choices_)
      if (c.value == kNoTemp && std::any_of(t.homes.begin(), t.homes.end(), [&](ir::PReg home) {
            return home.is_valid() && home.file == c.file && units_of(home).has(c.unit);
          }))
        sum += c.cost;
    return sum;
  }

  void search() {
    for (;;) {
      const CheapestSet::Answer cheapest = set_->solve(effort_.conflicts, kQuestions);
      if (cheapest.is_impossible) return end(LeastSpill::End::Impossible);
      result_.at_least = constant_ + cheapest.at_least;
      if (cheapest.is_taken.empty()) return take_any();
      Trial trial = try_out(cheapest.is_taken);
      if (trial.answer == Answer::Yes) {
        std::vector<bool> is_taken = cheapest.is_taken;
        keep_what_costs_nothing(is_taken, trial);
        accept(std::move(trial));
        break;
      }
      if (trial.answer == Answer::Unknown || result_.refutations == kMostRefutations) return take_any();
      refute(cheapest.is_taken, trial.file);
    }
    if (!effort_.proof.empty() && result_.at_most > constant_)
      result_.is_written =
          set_->prove_at_least(result_.at_most - constant_, effort_.proof, effort_.conflicts) && result_.is_written;
  }
  void end(LeastSpill::End how) { result_.end = how; }

  // With these taken the file has no colouring: takes more while that is so, the cheapest first, and demands one of the others.
  void refute(std::vector<bool> is_taken, ir::RegFile file) {
    std::vector<Element> others;
    for (Element e = 0; e < choices_.size(); ++e)
      if (!is_taken[e] && choices_[e].file == file) others.push_back(e);
    std::stable_sort(others.begin(), others.end(), [&](Element a, Element b) { return choices_[a].cost < choices_[b].cost; });
    std::vector<Portion> one_of;
    take_while_refuted(is_taken, file, others, one_of);
    ++result_.refutations;
    if (!effort_.proof.empty()) {
      const Trial again = try_out(is_taken, file, fmt::format("{}.{}", effort_.proof, result_.refutations));
      result_.is_written = result_.is_written && again.answer == Answer::No;
    }
    std::sort(one_of.begin(), one_of.end(), [](const Portion& a, const Portion& b) { return a.element < b.element; });
    set_->demand(one_of, 1);
  }

  // Takes the elements in turn, but those with which the file may have a colouring: all of them in one question where that will do, else
  // each half by itself.
  void take_while_refuted(std::vector<bool>& is_taken, ir::RegFile file, std::span<const Element> elements,
                          std::vector<Portion>& one_of) const {
    if (elements.empty()) return;
    for (const Element e : elements) is_taken[e] = true;
    if (is_refuted(is_taken, file)) return;
    for (const Element e : elements) is_taken[e] = false;
    if (elements.size() == 1) return one_of.push_back({elements[0], 1});
    take_while_refuted(is_taken, file, elements.first(elements.size() / 2), one_of);
    take_while_refuted(is_taken, file, elements.subspan(elements.size() / 2), one_of);
  }
  // Whether no allocation has these taken, by the necessary edges of the file alone.
  [[nodiscard]] bool is_refuted(const std::vector<bool>& is_taken, ir::RegFile file) const {
    ir::PerFile<UnitSet> available = free_;
    const Lowered low = lowered(spilled_by(is_taken, available));
    const FileGraph& graph = low.graphs.necessary.files[ir::index(file)];
    return find_colouring(graph, available[ir::index(file)], {.conflicts = effort_.conflicts}).answer == Answer::No;
  }

  // Values that are spilled or computed again at no cost go back into registers, as far as these have room.
  void keep_what_costs_nothing(std::vector<bool>& is_taken, Trial& trial) const {
    for (Element e = 0; e < choices_.size(); ++e) {
      if (!is_taken[e] || choices_[e].cost != 0) continue;
      is_taken[e] = false;
      Trial without = try_out(is_taken);
      if (without.answer == Answer::Yes && cost_of(without) <= cost_of(trial)) trial = std::move(without);
      else is_taken[e] = true;
    }
  }

  // Without a proof: puts all values in memory, then the costliest back into registers while there is a colouring.
  void take_any() {
    std::vector<bool> is_taken(choices_.size(), true);
    Trial trial = try_out(is_taken);
    if (trial.answer != Answer::Yes) return end(LeastSpill::End::Impossible);
    std::vector<Element> order(choices_.size());
    for (Element e = 0; e < order.size(); ++e) order[e] = e;
    std::stable_sort(order.begin(), order.end(), [&](Element a, Element b) { return choices_[a].cost > choices_[b].cost; });
    for (const Element e : order) {
      is_taken[e] = false;
      Trial without = try_out(is_taken);
      if (without.answer == Answer::Yes) trial = std::move(without);
      else is_taken[e] = true;
    }
    accept(std::move(trial));
  }

  void accept(Trial trial) {
    result_.at_most = cost_of(trial);
    REGDUEL_CHECK(result_.at_most >= result_.at_least, "an allocation costs less than the least in @" + f_.name);
    result_.plan = std::move(trial.lowered.plan);
    result_.code = std::move(trial.lowered.graphs.code);
    result_.is_dead = std::move(trial.lowered.graphs.is_dead);
    result_.homes = std::move(trial.homes);
  }

  const Problem& p_;
  const ir::Function& f_;
  const SpillEffort& effort_;
  Lowered base_;
  std::vector<Choice> choices_;            // by element: values, then callee-saved registers
  std::vector<Element> element_of_;        // by value
  std::optional<Contents> contents_;       // of base_
  std::vector<std::uint8_t> is_left_out_;  // by index of instruction
  std::vector<std::pair<std::uint32_t, TempId>> undefined_reads_;
  std::vector<TempId> slot_of_;  // by value: the first of those that share its slot
  ir::PerFile<UnitSet> free_;    // that cost nothing
  std::int64_t constant_ = 0;    // saves that are there in any case
  std::optional<CheapestSet> set_;
  LeastSpill result_;
};

}  // namespace

LeastSpill least_spill(const Problem& problem, const SpillEffort& effort) {
  REGDUEL_CHECK(effort.conflicts > 0, "an effort of no conflicts");
  return LeastCost(problem, effort).run();
}

}  // namespace regduel::reference
