// See knobs.h.

#include "reference/knobs.h"

#include <fmt/format.h>

namespace regduel::reference {

// A ratio as a knob: "4/5", or "2" for 2/1.
static bool read_knob(std::string_view text, ir::KnobRange range, Ratio& value) {
  const std::size_t slash = text.find('/');
  Ratio ratio;
  if (!ir::read_knob(text.substr(0, slash), range, ratio.numerator)) return false;
  if (slash != std::string_view::npos && !ir::read_knob(text.substr(slash + 1), range, ratio.denominator)) return false;
  value = ratio;
  return true;
}
static std::string knob_words(ir::KnobRange range, const Ratio&) {
  return fmt::format("ratio n/d, each {} to {}", range.low, range.high);
}
static std::string knob_text(const Ratio& value) { return fmt::format("{}/{}", value.numerator, value.denominator); }

using ir::knob;

constexpr ir::KnobGroup kCoalescing = ir::KnobGroup::Coalescing;

const ir::KnobTable<Rules>& briggs_knobs() {
  static const ir::KnobTable<Rules> table(
      "briggs",
      {
          {knob("briggs-coalesce", "source 003, phase 3", "coalesce copies before simplification", {"0", "1"}, kCoalescing),
           &Rules::coalesce},
          {knob("briggs-bold-coalescing", "Chaitin 1982", "try first to coalesce without the conservative test", {"0", "1"},
                kCoalescing),
           &Rules::bold_coalescing},
          {knob("briggs-coalescing-factor", "source 002, nvptx-regalloc-coalescing-factor",
                "weighs degrees in the coalescing tests: 4/5 merges more boldly, 2/1 more carefully",
                {"1/10", "4/5", "2/1", "1000"}, kCoalescing),
           &Rules::coalescing_factor,
           {1, 1000}},
          {knob("briggs-loop-base", "source 003, phase 5",
                "frequency of a block is this to the power of its loop depth, where the program gives none", {"1", "2", "1000"}),
           &Rules::loop_base,
           {1, 1000}},
          {knob("briggs-biased-select", "Briggs, Cooper, Torczon 1994", "prefer colours that turn copies into identities",
                {"0", "1"}, kCoalescing),
           &Rules::biased_select},
          {knob("briggs-rematerialise", "Briggs, Cooper, Torczon 1992",
                "compute a value again rather than refill it, where its only def reads no register", {"0", "1"}),
           &Rules::rematerialise},
          {knob("briggs-max-rounds", "regduel", "rounds of colouring and spilling before everything goes to memory",
                {"1", "2", "1000"}),
           &Rules::max_rounds,
           {1, 1000}},
          {knob("briggs-spill-limit", "source 002, spill-limit",
                "give up (unsupported) once more values than these are spilled or computed again"),
           &Rules::spill_limit,
           {0, 1000000}},
          {knob("briggs-occupancy-target", "source 002, nvptx-regalloc-occupancy-target",
                "percent of an SM's warps: no more registers than allow for so many at the block's size; 75 in the source, 0 for "
                "no target",
                {"50", "75", "100"}),
           &Rules::occupancy_target,
           {0, 100}},
          {knob("briggs-fewest-units", "regduel",
                "look for the fewest registers that do without spilling, from MaxLive up to the limit; 0 takes the limit at once, "
                "which is faster and as correct"),
           &Rules::fewest_units},
          {knob("briggs-lazy-refill", "source 003, phase 6",
                "leave out refills of what a register holds and stores of what no refill reads", {"0", "1"}),
           &Rules::lazy_refill},
          {knob("briggs-refill-distance", "regduel",
                "how many instructions a refilled or stored value may wait in a free register for its next use",
                {"1", "8", "1000"}),
           &Rules::refill_distance,
           {1, 1000}},
      });
  return table;
}

const ir::KnobTable<Rules>& cicc_knobs() {
  static const ir::KnobTable<Rules> table(
      "cicc",
      {
          {knob("cicc-registers", "source 003, K = 15",
                "K: at most so many registers of a file; more than the limit is the limit, which is what a duel of equals needs. "
                "Single "
                "instructions get what they need",
                {"4", "8", "32", "1000"}),
           &Rules::registers,
           {1, 1000}},
          {knob("cicc-coalesce", "source 003, phase 3", "coalesce copies before simplification", {"0", "1"}, kCoalescing),
           &Rules::coalesce},
          {knob("cicc-coalescing-factor", "source 003, 0.8", "weighs degrees in coalescing and in both tiers",
                {"1", "4/5", "1/2", "2/1"}, kCoalescing),
           &Rules::coalescing_factor,
           {1, 1000}},
          {knob("cicc-tiers", "source 003, phase 4", "take nodes off the graph by its two tiers; 0: in the order of briggs",
                {"0", "1"}),
           &Rules::has_tiers},
          {knob("cicc-constraint-edges", "source 003, phase 2",
                "pairs (1.0) and operands of one bank (2.0) weigh in the degrees of the tiers", {"0", "1"}),
           &Rules::has_constraint_edges},
          {knob("cicc-loop-base", "source 003, phase 5", "spill costs grow by this with each loop around a value",
                {"1", "3/2", "10"}),
           &Rules::depth_base,
           {1, 1000}},
          {knob("cicc-rematerialise", "Briggs, Cooper, Torczon 1992",
                "compute a value again rather than refill it, where its only def reads no register", {"0", "1"}),
           &Rules::rematerialise},
          {knob("cicc-lazy-refill", "source 003, phase 6",
                "leave out refills of what a register holds and stores of what no refill reads", {"0", "1"}),
           &Rules::lazy_refill},
          {knob("cicc-spill-limit", "source 002, spill-limit",
                "give up (unsupported) once more values than these are spilled or computed again"),
           &Rules::spill_limit,
           {0, 1000000}},
          {knob("cicc-occupancy-target", "source 002, nvptx-regalloc-occupancy-target",
                "percent of an SM's warps: no more registers than allow for so many at the block's size; 75 in the source, 0 for "
                "no target",
                {"50", "75", "100"}),
           &Rules::occupancy_target,
           {0, 100}},
          {knob("cicc-pressure-limit", "source 002, nvptx-regalloc-pressure-limit; source 003, 70% and 80%",
                "percent of K: where MaxLive is above, a round spills all that got no colour, else the cheapest of them; 0 = 70 "
                "below sm_90, 80 from there",
                {"1", "100", "200"}),
           &Rules::pressure_limit,
           {0, 1000000}},
          {knob("cicc-max-rounds", "regduel", "rounds of colouring and spilling before everything goes to memory",
                {"1", "2", "1000"}),
           &Rules::max_rounds,
           {1, 1000}},
      },
      {.allocator = "cicc",
       .bold_coalescing = false,
       .coalescing_factor = {4, 5},
       .biased_select = false,
       .fewest_units = false,
       .registers = 15,
       .has_pressure_limit = true,
       .has_tiers = true,
       .has_constraint_edges = true,
       .has_product_costs = true});
  return table;
}

}  // namespace regduel::reference
