// The cheapest set of elements that meets demands, proved: a weighted question of maximum satisfiability.
//
//   take(e)      element e is in the set: costs cost(e), at least 0
//   demand       the units of the elements taken among some, added up, are at least so many
//   extra cost   paid where one element is taken and another one is not
//   implication  one element is not taken without another one
//
// The proof goes from below. The linear relaxation (relaxation.h) says what a unit of each demand is worth; in whole numbers,
// that is a bound which holds for any such worth, and gives the reduced cost of each element. For points along a line of code the
// relaxation is mostly exact, and no reduced cost is left. Otherwise the reduced costs go to the solver, core-guided ("OLL": Morgado,
// Dodaro, Marques-Silva 2014): each cost is assumed not to be paid. Assumptions that the solver refutes together are a core: at
// least one of its costs has to be paid, so the least cost of the core is added to the bound, each of the others is reduced by it,
// and a counter of the core charges each paid cost after the first. High costs are assumed first ("stratification"), so that a set
// is known early.
//
// The effort is counted in conflicts of the solver (CaDiCaL), so that the same question has the same answer everywhere.
// Tested by cheapest_set_test.cpp, against all sets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reference/exact/relaxation.h"

namespace regduel::reference {

class CheapestSet {
 public:
  using Element = std::uint32_t;
  using Portion = SetQuestion::Portion;
  struct Answer {
    std::vector<bool> is_taken;  // by element; empty = no set is known
    std::int64_t at_least = 0;   // no set that meets the demands costs less
    std::int64_t at_most = -1;   // what is_taken costs
    bool is_impossible = false;  // no set meets the demands

    [[nodiscard]] bool is_proved() const { return !is_taken.empty() && at_most == at_least; }
  };

  //   costs      by element, each at least 0; their sum, with extra costs, below 2^55
  explicit CheapestSet(std::vector<std::int64_t> costs);
  explicit CheapestSet(SetQuestion question);
  ~CheapestSet();
  CheapestSet(const CheapestSet&) = delete;
  CheapestSet& operator=(const CheapestSet&) = delete;

  // Paid where `taken` is in the set and `unless` is not.
  void add_extra_cost(Element taken, Element unless, std::int64_t cost);
  // Where the one is taken, the other one is.
  void imply(Element taken, Element also);
  // Each element at most once. Cost: portions x units clauses.
  void demand(std::span<const Portion> portions, int units);
  // Drops each demand whose elements include those of another one that wants as much. Requires portions in ascending order of elements.
  // Returns how many are left.
  std::size_t drop_weaker_demands();
  // May be asked again after more demands. At most `questions` to the solver, each of so many conflicts; with 0 the relaxation alone.
  [[nodiscard]] Answer solve(std::int64_t conflicts, int questions) const;

  // Writes PATH.cnf, which says that the demands are met at less than `cost`, and PATH.drat, the proof that this is impossible.
  // False where the effort does not suffice for a proof. Throws BadInput where a file cannot be written.
  [[nodiscard]] bool prove_at_least(std::int64_t cost, const std::string& path, std::int64_t conflicts) const;

  struct Question;  // elements, demands and extra costs

 private:
  std::unique_ptr<Question> question_;
};

}  // namespace regduel::reference
