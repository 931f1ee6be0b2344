// See rounds.h.

#include "reference/rounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "reference/colour/coalesce.h"
#include "reference/colour/interference_graph.h"
#include "reference/colour/kept_colours.h"
#include "reference/colour/select.h"
#include "reference/colour/simplify.h"
#include "reference/colour/tiers.h"
#include "reference/occupancy.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/program/rewrite.h"
#include "reference/spill/choose.h"
#include "reference/spill/costs.h"
#include "reference/spill/lazy_refill.h"
#include "reference/spill/slots_of_copies.h"

namespace regduel::reference {
namespace {

struct Round {
  bool coalesce = true;
  bool fewest_units = true;  // look for the smallest number of units that will do
  bool tiers = false;        // of source 003, instead of briggs' order
  bool all_units = false;    // those of the limit, whatever the rules say

  friend bool operator==(const Round&, const Round&) = default;
};

class Rounds {
 public:
  Rounds(const Problem& problem, const Rules& rules, const ir::AllocOptions& options)
      : f_(problem.program()), problem_(problem), rules_(rules), trace_(options.trace), fuel_(options.fuel) {}

  std::expected<ir::Allocation, ir::AllocFailure> run() {
    Plan plan = problem_.all_in_registers(fuel_);
    Round how{rules_.coalesce, rules_.fewest_units, rules_.has_tiers, false};
    for (int round = 0; round < rules_.max_rounds; ++round) {
      const Plan before = plan;
      if (colour_all(before, how, plan)) return write(before);
      if (round == 0) first_ = std::move(graphs_);
      share_slots_of_copies(first_, plan, fuel_);
      if (trace_) trace_round(round, before, plan);
      if (num_spilled(plan) > rules_.spill_limit) return gives_up();
      // From the middle on each round spills all it can, so that the rounds suffice.
      spills_all_ = 2 * round >= rules_.max_rounds;
      if (!ir::may(fuel_, "spill-round")) break;
      if (!progress_ && how.tiers) {
        how.tiers = false;
        ++fallbacks_;
      } else if (!progress_) {
        // A coalesced node can stand in the way where its members would not.
        if (!how.coalesce) break;
        how.coalesce = false;
      }
    }
    if (rules_.spill_limit < static_cast<int>(plan.locations.size())) return gives_up();
    if (trace_) trace_->line(fmt::format("{}: everything to memory", rules_.allocator));
    const Plan last = problem_.all_in_memory();
    REGDUEL_CHECK(colour_all(last, {false, false, false, true}, plan), "no colouring even with everything in memory: @" + f_.name);
    return write(last);
  }

 private:
  static int num_spilled(const Plan& plan) {
    return static_cast<int>(std::ranges::count_if(plan.locations, [](Location l) { return !l.is_register(); }));
  }
  std::unexpected<ir::AllocFailure> gives_up() const {
    return std::unexpected(ir::AllocFailure{
        ir::AllocFailure::Kind::Unsupported,
        fmt::format("more than {} values would have to be spilled ({}-spill-limit)", rules_.spill_limit, rules_.allocator)});
  }

  // Colours the program under `plan`. On failure adds to `next` and notes whether it could.
  bool colour_all(const Plan& plan, Round how, Plan& next) {
    code_ = lower(problem_, plan, fuel_);
    Liveness liveness(code_);
    FileUses uses;
    FileSet coloured = {};
    const bool may_have_kept = !kept_.is_empty() && how == kept_in_;
    if (may_have_kept) {
      uses = file_uses(problem_, code_);
      coloured = kept_.valid_for(uses);
    }
    graphs_ = build_interference_graphs(problem_, code_, liveness, coloured);
    fill_in_costs(problem_, code_, rules_.rematerialise, graphs_);
    if (rules_.has_product_costs) fill_in_products(problem_, code_, plan, rules_, graphs_);
    homes_.assign(code_.temps.size(), ir::PReg{});
    for (TempId t = 0; t < code_.temps.size(); ++t) homes_[t] = code_.temps[t].fixed;
    bool complete = true;
    progress_ = false;
    for (const ir::RegFile file : ir::kAllFiles) {
      const std::size_t at = ir::index(file);
      if (coloured[at]) kept_.give(at, uses, homes_);
      else if (graphs_.files[at].size() > 0) complete = (coloured[at] = colour_file(file, how, next)) && complete;
    }
    if (!complete && may_keep_colours()) {
      kept_.keep(may_have_kept ? std::move(uses) : file_uses(problem_, code_), coloured, homes_);
      kept_in_ = how;
    }
    return complete;
  }

  // The order of tiers depends on costs, which a larger frame changes for all files.
  [[nodiscard]] bool may_keep_colours() const { return fuel_ == nullptr && !rules_.has_tiers; }

  // A node that clobbers and fixed registers leave no position at all: no number of units will do.
  static bool has_hopeless_node(const FileGraph& graph, const UnitSet& all) {
    const std::vector<int> free = graph.free_positions(all);
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n) && graph.count_positions(n, all, free) == 0) return true;
    return false;
  }

  static constexpr int kTries =
      8;  // orders of selection at one number of units; registers / the fewest: 1.022 with 1, 1.008 with 8

  bool colour_file(ir::RegFile file, Round how, Plan& next) {
    const FileGraph& graph = graphs_.files[ir::index(file)];
    const UnitSet& all = problem_.allocatable()[ir::index(file)];
    const UnitSet& callee_saved = problem_.callee_saved()[ir::index(file)];
    std::vector<int> units;
    for (int u = all.first(); u >= 0; u = all.next(u + 1)) units.push_back(u);
    const std::size_t limit =
        how.all_units ? units.size() : std::min(units.size(), static_cast<std::size_t>(most_registers_of(file)));
    std::size_t k = limit;
    if (how.fewest_units && !has_hopeless_node(graph, all) && ir::may(fuel_, "fewest-units")) {
      // The first MaxLive units that cost nothing to use.
      std::size_t live = 0;
      for (k = 0; k < limit && live < static_cast<std::size_t>(graph.max_live()); ++k) live += callee_saved.has(units[k]) ? 0 : 1;
    }
    const bool coalesces = how.coalesce && !graph.copies().empty();
    const bool tries_bold = coalesces && rules_.bold_coalescing;
    const bool is_small = graph.num_built_edges() < 500'000;
    // The graph in which copies are coalesced without test stays as it is once no merge was refused that more units would allow.
    bool is_bold_final = false;
    confined_.clear();
    for (int attempt = 0;; ++attempt) {
      UnitSet available;
      for (std::size_t u = 0; u < k; ++u) available.set(units[u]);
      const auto coalesced = [&](FileGraph& work, bool conservative) {
        work = graph;
        return coalesce(work, {available, rules_.coalescing_factor, conservative, fuel_});
      };
      const auto coloured = [&](const FileGraph& work, Optimism optimism) {
        const bool stops = optimism == Optimism::SmallestLast;
        std::vector<NodeId> order = simplify(work, available, optimism);
        // A node that found no place goes before all others in the next try.
        for (int tries = stops && is_small ? kTries : 1; tries > 0; --tries) {
          colouring_ = select(work, order, {available, callee_saved, rules_.biased_select, stops, fuel_});
          if (colouring_.failed.empty()) {
            take_homes(graph, file);
            if (trace_) trace_colours(work, file);
            return true;
          }
          if (stops) note_confined(graph, work, colouring_.failed.front());
          if (!may_fit(graph, available)) break;
          const auto failed = std::ranges::find(order, colouring_.failed.front());
          std::rotate(failed, failed + 1, order.end());
        }
        return false;
      };
      if (tries_bold && may_fit(graph, available)) {
        if (!is_bold_final) is_bold_final = !coalesced(bold_, false).wants_units;
        if (coloured(bold_, Optimism::SmallestLast)) return true;
      }
      const bool fits_as_far_as_known = may_fit(graph, available);
      if (coalesces && (fits_as_far_as_known || k == limit)) coalesced(careful_, true);
      const FileGraph& careful = coalesces ? careful_ : graph;
      const auto spills = [&](const FileGraph& without_colour) {
        progress_ = choose_spills(without_colour, colouring_, available, problem_, code_,
                                  {rules_.rematerialise, !is_over_pressure(without_colour, available)}, next, fuel_) ||
                    progress_;
        return false;
      };
      // What copies join goes to memory as one, if that costs less: then no copy between the parts is left.
      const auto coloured_or_spilled = [&](bool may_join, auto&& colours) {
        if (colours(careful)) return true;
        if (!may_join) return spills(careful);
        const Colouring of_careful = std::move(colouring_);
        if (!is_bold_final) coalesced(bold_, false);
        if (colours(bold_)) return true;
        if (cost_of_failed(bold_, colouring_) < cost_of_failed(careful, of_careful)) return spills(bold_);
        colouring_ = of_careful;
        return spills(careful);
      };
      if (how.tiers)
        return coloured_or_spilled(coalesces,
                                   [&](const FileGraph& g) { return coloured_in_tiers(g, available, callee_saved, file); });
      if (fits_as_far_as_known && coloured(careful, Optimism::SmallestLast)) return true;
      // Something has to be spilled, so the candidates for it are to come up last.
      if (k == limit)
        return coloured_or_spilled(tries_bold, [&](const FileGraph& g) { return coloured(g, Optimism::CheapestFirst); });
      // Small steps at first, smaller ones where an attempt is cheap.
      k = std::min(limit, k + (std::size_t{1} << std::min(attempt / (is_small ? 2 : 1), 6)));
    }
  }

  static std::uint64_t cost_of_failed(const FileGraph& graph, const Colouring& colouring) {
    std::uint64_t sum = 0;
    for (const NodeId n : colouring.failed) sum += graph.cost(n);
    return sum;
  }
  [[nodiscard]] int most_registers_of(ir::RegFile file) const {
    if (file != ir::RegFile::R || rules_.occupancy_target == 0) return rules_.registers;
    return std::min(rules_.registers, most_registers(problem_.target(), rules_.occupancy_target, threads_of_block(f_)));
  }
  // Whether all nodes without a colour are spilled, or the cheapest of them alone.
  [[nodiscard]] bool is_over_pressure(const FileGraph& graph, const UnitSet& available) const {
    return spills_all_ || graph.max_live() * 100 > rules_.pressure_limit * available.count();
  }

  void take_homes(const FileGraph& graph, ir::RegFile file) {
    for (NodeId n = 0; n < graph.size(); ++n)
      homes_[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(colouring_.unit_of[n])};
  }

  bool coloured_in_tiers(const FileGraph& graph, const UnitSet& available, const UnitSet& callee_saved, ir::RegFile file) {
    std::vector<ConstraintEdge> constraints;
    if (rules_.has_constraint_edges && file == ir::RegFile::R) constraints = same_bank_edges(problem_, code_, graphs_, file);
    const std::vector<NodeId> order =
        take_off_in_tiers(graph, available, {rules_.coalescing_factor, rules_.has_constraint_edges, constraints});
    colouring_ = select(graph, order, {available, callee_saved, rules_.biased_select, false, fuel_});
    if (!colouring_.failed.empty()) return false;
    take_homes(graph, file);
    if (trace_) trace_colours(graph, file);
    return true;
  }

  // False where some clique needs more units than its nodes may use: then no colouring exists, whatever is coalesced. True with
  // fuel, so that every attempt is made and the same decisions are counted as without it.
  [[nodiscard]] bool may_fit(const FileGraph& graph, const UnitSet& available) const {
    if (fuel_ != nullptr) return true;
    return graph.clique_units() <= available.count() &&
           std::ranges::all_of(confined_, [&](const Confined& c) { return c.units <= (available - c.forbidden).count(); });
  }

  // `failed` found no colour in `work`, which is `graph` with some copies coalesced: perhaps for lack of units that clobbers spare.
  void note_confined(const FileGraph& graph, const FileGraph& work, NodeId failed) {
    if (fuel_ != nullptr) return;
    NodeId most = failed;
    work.for_members(failed, [&](NodeId n) {
      if (graph.forbidden(n).count() > graph.forbidden(most).count()) most = n;
    });
    if (!graph.is_restricted(most) || graph.is_fixed(most)) return;
    if (std::ranges::find(confined_, most, &Confined::node) != confined_.end()) return;
    confined_.push_back({most, graph.forbidden(most), graph.confined_clique_units(most)});
  }

  ir::Allocation write(const Plan& plan) {
    if (rules_.lazy_refill)
      make_refills_lazy(problem_, plan, {rules_.refill_distance, fuel_, most_registers_of(ir::RegFile::R)}, code_, homes_,
                        graphs_.is_dead);
    ir::Allocation result = rewrite(problem_, plan, code_, homes_, graphs_.is_dead, fuel_);
    if (const int limit = problem_.allocatable()[ir::index(ir::RegFile::R)].count();
        num_spilled(plan) > 0 && rules_.registers < limit)
      result.notes.push_back(
          fmt::format("{0}: at most {1} registers of a file; the limit allows {2}, and --knob {0}-registers={2} takes them",
                      rules_.allocator, rules_.registers, limit));
    if (fallbacks_ > 0)
      result.notes.push_back(
          fmt::format("{}: the order of its tiers made no progress, and gave way to that of briggs", rules_.allocator));
    return result;
  }

  // "briggs colours R: 131 nodes, 4 of them coalesced with others"
  void trace_colours(const FileGraph& graph, ir::RegFile file) {
    std::size_t nodes = 0, gone = 0;
    for (NodeId n = 0; n < graph.size(); ++n) {
      if (graph.is_fixed(n)) continue;
      ++nodes;
      gone += graph.is_merged(n);
    }
    trace_->line(
        fmt::format("{} colours {}: {} nodes, {} of them coalesced with others", rules_.allocator, ir::name(file), nodes, gone));
  }
  void trace_round(int round, const Plan& before, const Plan& after) {
    std::string text = fmt::format("{} round {}:", rules_.allocator, round);
    for (std::size_t v = 0; v < after.locations.size(); ++v) {
      if (before.locations[v].kind() == after.locations[v].kind()) continue;
      const bool is_phi = v >= f_.vregs.size();
      text += fmt::format(" {} {}{}", after.locations[v].is_nowhere() ? "remat" : "spill", is_phi ? "phi " : "%",
                          is_phi ? v - f_.vregs.size() : v);
    }
    for (std::size_t i = 0; i < after.is_pinned.size(); ++i)
      if (before.is_pinned[i] != after.is_pinned[i]) text += fmt::format(" pin #{}", f_.insts[i].id.value);
    trace_->line(std::move(text));
  }

  const ir::Function& f_;
  const Problem& problem_;
  const Rules& rules_;
  ir::Trace* trace_;
  ir::Fuel* fuel_;
  Code code_;
  InterferenceGraphs graphs_, first_;  // of the round at hand, and of the first one
  std::vector<ir::PReg> homes_;
  KeptColours kept_;
  Round kept_in_;
  bool progress_ = false;
  bool spills_all_ = false;
  int fallbacks_ = 0;  // from tiers to the order of briggs
  // A clique around a node, none of whose nodes may stand in `forbidden`.
  struct Confined {
    NodeId node;
    UnitSet forbidden;
    int units;
  };
  std::vector<Confined> confined_;  // of the file at hand, as failures showed them
  // Of the attempt at hand; here so that their memory serves all attempts.
  FileGraph bold_, careful_;
  Colouring colouring_;
};

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> allocate_in_rounds(const Problem& problem, const Rules& rules,
                                                                   const ir::AllocOptions& options) {
  return Rounds(problem, rules, options).run();
}

}  // namespace regduel::reference
