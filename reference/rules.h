// The rules in which the two graph colourers differ. Knobs set most of them; the others tell `briggs` and `cicc` apart.
#pragma once

#include <string_view>

#include "reference/colour/coalesce.h"

namespace regduel::reference {

struct Rules {
  std::string_view allocator = "briggs";
  bool coalesce = true;
  bool bold_coalescing = true;
  Ratio coalescing_factor;  // numerator and denominator in [1, 1000]
  int loop_base = 10;       // of frequencies; [1, 1000]
  bool biased_select = true;
  bool rematerialise = true;
  bool lazy_refill = true;
  int refill_distance = 256;  // [1, 1000]
  int max_rounds = 40;        // [1, 1000]
  bool fewest_units = true;
  // The most registers of each file, except in the last resort, which takes all that the limit allows. [1, 1000]
  int registers = 1000;
  // Give up once more values than these are not in registers. [0, 1'000'000]
  int spill_limit = 1'000'000;
  // The percentage of an SM's warps for which file R must leave room; 0 = no target.
  int occupancy_target = 0;  // percent
  // If MaxLive is above this percentage of the registers at hand, a round spills every node without a colour, else only the
  // cheapest.
  int pressure_limit = 0;             // percent; [0, 1'000'000]
  bool has_pressure_limit = false;    // a pressure_limit of 0 stands for that of the target
  bool has_tiers = false;             // colour/tiers.h instead of colour/simplify.h
  bool has_constraint_edges = false;  // degrees that tiers count: constraint edges weigh too
  bool has_product_costs = false;     // spill/costs.h, with this base of the loop depth
  Ratio depth_base{3, 2};
};

}  // namespace regduel::reference
