// See cheapest_set.h.

#include "reference/exact/cheapest_set.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include <cadical.hpp>

#include "base/check_macro.h"
#include "reference/exact/proof.h"
#include "reference/exact/relaxation.h"

namespace regduel::reference {
namespace {

constexpr std::int64_t kMostConflicts = INT32_MAX;
constexpr double kWorkOfAConflict = 1e6;               // what the relaxation may cost, in operations
constexpr int kSatisfiable = 10, kUnsatisfiable = 20;  // what CaDiCaL answers

// Clauses over numbered variables; literal -x is the negation of x.
class Formula {
 public:
  void clause(std::initializer_list<int> literals) { clause(std::span<const int>(literals.begin(), literals.size())); }
  void clause(std::span<const int> literals) {
    literals_.insert(literals_.end(), literals.begin(), literals.end());
    literals_.push_back(0);
  }

  // Gives the solver the clauses that are new since the last call.
  template <class Solver>
  void give_new_to(Solver& solver) {
    for (; given_ < literals_.size(); ++given_) solver.add(literals_[given_]);
  }

 private:
  std::vector<int> literals_;
  std::size_t given_ = 0;
};

// Numbered from 1.
class Variables {
 public:
  int add() { return ++count_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

// Outputs, one literal for each count from 1, which is true if at least so many inputs are. That direction alone is enough, because
// the outputs are only ever asked to be false. Clauses of all nodes of a balanced tree (Bailleux, Boufkhad 2003).
std::vector<int> count(Formula& formula, Variables& variables, std::span<const int> inputs) {
  if (inputs.size() == 1) return {inputs[0]};
  const std::vector<int> a = count(formula, variables, inputs.first(inputs.size() / 2));
  const std::vector<int> b = count(formula, variables, inputs.subspan(inputs.size() / 2));
  std::vector<int> sums(inputs.size());
  for (int& s : sums) s = variables.add();
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i + j == 0) continue;
      if (i == 0) formula.clause({-b[j - 1], sums[j - 1]});
      else if (j == 0) formula.clause({-a[i - 1], sums[i - 1]});
      else formula.clause({-a[i - 1], -b[j - 1], sums[i + j - 1]});
    }
  return sums;
}

}  // namespace

struct CheapestSet::Question : SetQuestion {};

namespace {

using Question = SetQuestion;
using Answer = CheapestSet::Answer;

// The question in clauses, with a variable for each element and one for each extra cost, which is true if the cost is paid.
struct Clauses {
  Variables variables;
  std::vector<int> elements, extras;
  Formula formula;

  explicit Clauses(const Question& q) {
    for (std::size_t e = 0; e < q.costs.size(); ++e) elements.push_back(variables.add());
    for (const Question::Extra& x : q.extras) {
      if (x.is_forbidden()) {
        extras.push_back(0);
        formula.clause({-elements[x.taken], elements[x.unless]});
        continue;
      }
      extras.push_back(variables.add());
      formula.clause({-elements[x.taken], elements[x.unless], extras.back()});
    }
    for (const Question::Demand& d : q.demands) demand(d);
  }

 private:
  // So many taken, or no more left, whichever needs fewer variables.
  void demand(const Question::Demand& d) {
    if (d.units <= 0) return;
    int all = 0;
    for (const Question::Portion& p : d.portions) all += p.units;
    if (2 * d.units <= all) at_least(d);
    else at_most(d, all - d.units);
  }
  //   s(i, j)   true only where of the first i portions at least j units are taken
  void at_least(const Question::Demand& d) {
    std::vector<int> before(static_cast<std::size_t>(d.units) + 1, 0);  // s(i - 1, j) by j; 0 = false
    for (const Question::Portion& p : d.portions) {
      std::vector<int> now(before.size(), 0);
      for (std::size_t j = 1; j < now.size(); ++j) {
        const std::size_t less = j > static_cast<std::size_t>(p.units) ? j - static_cast<std::size_t>(p.units) : 0;
        const int x = elements[p.element];
        if (less != 0 && before[less] == 0) {  // not even with this portion
          now[j] = before[j];
          continue;
        }
        now[j] = variables.add();
        if (before[j] != 0) formula.clause({-now[j], before[j], x});
        else formula.clause({-now[j], x});
        if (less != 0 && before[less] != before[j]) {
          if (before[j] != 0) formula.clause({-now[j], before[j], before[less]});
          else formula.clause({-now[j], before[less]});
        }
      }
      before = std::move(now);
    }
    if (before.back() != 0) formula.clause({before.back()});
    else formula.clause(std::span<const int>());
  }
  //   s(i, j)   true where of the first i portions at least j units are left; more than `most` are never left
  void at_most(const Question::Demand& d, int most) {
    if (most < 0) return formula.clause(std::span<const int>());
    std::vector<int> before(static_cast<std::size_t>(most) + 1, 0);
    for (const Question::Portion& p : d.portions) {
      const int left = -elements[p.element];
      std::vector<int> now = before;
      for (int j = 1; j <= most; ++j) {
        const int less = j - p.units;
        if (less > 0 && before[static_cast<std::size_t>(less)] == 0) continue;
        const int s = now[static_cast<std::size_t>(j)] = variables.add();
        if (const int b = before[static_cast<std::size_t>(j)]; b != 0) formula.clause({-b, s});
        if (less > 0) formula.clause({-left, -before[static_cast<std::size_t>(less)], s});
        else formula.clause({-left, s});
      }
      // With this portion it would be more than there may be.
      const int before_that = most + 1 - p.units;
      if (before_that <= 0) formula.clause({-left});
      else if (const int b = before[static_cast<std::size_t>(before_that)]; b != 0) formula.clause({-left, -b});
      before = std::move(now);
    }
  }
};

class Search {
 public:
  Search(const Question& q, const Relaxation& relaxation) : q_(q), clauses_(q) {
    solver_.set("quiet", 1);
    scale_ = relaxation.scale;
    charge(relaxation);
    if (relaxation.is_taken.empty()) return;
    best_.is_taken = relaxation.is_taken;
    best_.at_most = cost_of(q, best_.is_taken);
  }

  Answer solve(std::int64_t conflicts, int questions) {
    std::int64_t threshold = 0;
    for (const auto& [literal, cost] : costs_of_) threshold = std::max(threshold, cost);
    while (questions-- > 0) {
      clauses_.formula.give_new_to(solver_);
      std::vector<int> assumed;
      std::int64_t next = 0;  // the most that something costs which is not assumed
      for (const auto& [literal, cost] : costs_of_)
        if (cost >= threshold) assumed.push_back(-literal);
        else next = std::max(next, cost);
      for (const int l : assumed) solver_.assume(l);
      solver_.limit("conflicts", static_cast<int>(std::min(conflicts, kMostConflicts)));
      const int answer = solver_.solve();
      if (answer == kSatisfiable) {
        note_set();
        if (next == 0 || best_.at_most == at_least()) break;
        threshold = std::max<std::int64_t>(1, std::min(next, threshold / 2));
        continue;
      }
      if (answer != kUnsatisfiable) break;
      std::vector<int> core;
      for (const int l : assumed)
        if (solver_.failed(l)) core.push_back(-l);
      if (core.empty()) {
        best_.is_impossible = true;
        return std::move(best_);
      }
      pay_for(core);
      if (best_.at_most == at_least()) break;
    }
    best_.at_least = at_least();
    return std::move(best_);
  }

 private:
  // The bound is rounded up, because costs are whole numbers.
  [[nodiscard]] std::int64_t at_least() const { return (at_least_ + scale_ - 1) / scale_; }

  // With y >= 0 for each demand and extra cost,
  //   cost = sum of y units + sum over elements of (cost - worth) taken + sum over demands of y (units taken - units)
  //        + sum over extra costs of (cost - y) paid + y (not taken, but the other is)
  // The first sum is the bound. The others are to be as little as can be; what costs less than nothing is paid to begin with.
  void charge(const Relaxation& relaxation) {
    std::vector<std::int64_t> left;
    for (const std::int64_t c : q_.costs) left.push_back(c * scale_);
    for (std::size_t d = 0; d < q_.demands.size(); ++d) {
      const Question::Demand& demand = q_.demands[d];
      const std::int64_t y = relaxation.demands[d];
      if (y == 0) continue;
      at_least_ += y * demand.units;
      std::vector<int> inputs;
      for (const Question::Portion& p : demand.portions) {
        left[p.element] -= y * p.units;
        inputs.insert(inputs.end(), static_cast<std::size_t>(p.units), clauses_.elements[p.element]);
      }
      std::vector<int> sums = count(clauses_.formula, clauses_.variables, inputs);
      sums.erase(sums.begin(), sums.begin() + std::min<std::ptrdiff_t>(demand.units, std::ssize(sums)));
      charge_count(std::move(sums), y);
    }
    for (std::size_t x = 0; x < q_.extras.size(); ++x) {
      const Question::Extra& extra = q_.extras[x];
      const std::int64_t y = relaxation.extras[x];
      if (!extra.is_forbidden()) charge(clauses_.extras[x], extra.cost * scale_ - y);
      if (y == 0) continue;
      left[extra.taken] += y;
      left[extra.unless] -= y;
      const int slack = clauses_.variables.add();
      clauses_.formula.clause({clauses_.elements[extra.taken], -clauses_.elements[extra.unless], slack});
      charge(slack, y);
    }
    for (std::size_t e = 0; e < left.size(); ++e) charge(clauses_.elements[e], left[e]);
  }
  void charge(int literal, std::int64_t cost) {
    if (cost > 0) costs_of_[literal] += cost;
    if (cost >= 0) return;
    at_least_ += cost;
    costs_of_[-literal] -= cost;
  }
  // Charges the cost for each of these outputs that is true.
  void charge_count(std::vector<int> outputs, std::int64_t cost) {
    if (outputs.empty()) return;
    const int first = outputs[0];
    costs_of_[first] += cost;
    next_of_[first] = std::move(outputs);
  }

  void note_set() {
    std::vector<bool> is_taken(q_.costs.size());
    for (std::size_t e = 0; e < q_.costs.size(); ++e) is_taken[e] = solver_.val(clauses_.elements[e]) > 0;
    const std::int64_t sum = cost_of(q_, is_taken);
    if (best_.at_most >= 0 && best_.at_most <= sum) return;
    best_.is_taken = std::move(is_taken);
    best_.at_most = sum;
  }

  void pay_for(const std::vector<int>& core) {
    std::int64_t least = INT64_MAX;
    for (const int l : core) least = std::min(least, costs_of_[l]);
    at_least_ += least;
    for (const int l : core) {
      const auto at = costs_of_.find(l);
      at->second -= least;
      if (at->second == 0) costs_of_.erase(at);
      // The next output of its count costs the same.
      if (const auto next = next_of_.find(l); next != next_of_.end())
        charge_count({next->second.begin() + 1, next->second.end()}, least);
    }
    clauses_.formula.clause(core);
    if (core.size() == 1) return;
    std::vector<int> sums = count(clauses_.formula, clauses_.variables, core);
    sums.erase(sums.begin());
    charge_count(std::move(sums), least);
  }

  const Question& q_;
  Clauses clauses_;
  CaDiCaL::Solver solver_;
  std::int64_t scale_ = 1;
  std::map<int, std::int64_t> costs_of_;     // by literal: what it costs, scaled, that it is true, beyond the bound
  std::map<int, std::vector<int>> next_of_;  // of an output of a count: itself and those after it
  std::int64_t at_least_ = 0;                // scaled
  Answer best_;
};

// The sum of what is paid in binary, by adders, is below `cost`.
void add_bound(const Question& q, Clauses& clauses, std::int64_t cost) {
  Formula& f = clauses.formula;
  Variables& variables = clauses.variables;
  std::map<int, std::vector<int>> of_bit;  // literals that are worth 2^bit
  const auto add = [&](int literal, std::int64_t worth) {
    for (int bit = 0; bit < 62; ++bit)
      if (worth >> bit & 1) of_bit[bit].push_back(literal);
  };
  for (std::size_t e = 0; e < q.costs.size(); ++e) add(clauses.elements[e], q.costs[e]);
  for (std::size_t x = 0; x < q.extras.size(); ++x)
    if (!q.extras[x].is_forbidden()) add(clauses.extras[x], q.extras[x].cost);
  std::vector<int> sum;  // by bit; 0 = false
  for (int bit = 0; bit < 62; ++bit) {
    std::vector<int>& now = of_bit[bit];
    while (now.size() > 1) {
      const int a = now.back();
      now.pop_back();
      const int b = now.back();
      now.pop_back();
      const int carry = variables.add(), s = variables.add();
      if (now.empty()) {  // a half adder
        f.clause({-a, -b, carry});
        f.clause({-a, b, s});
        f.clause({a, -b, s});
      } else {
        const int c = now.back();
        now.pop_back();
        f.clause({-a, -b, carry});
        f.clause({-a, -c, carry});
        f.clause({-b, -c, carry});
        f.clause({a, b, -c, s});
        f.clause({a, -b, c, s});
        f.clause({-a, b, c, s});
        f.clause({-a, -b, -c, s});
      }
      now.insert(now.begin(), s);
      of_bit[bit + 1].push_back(carry);
    }
    sum.push_back(now.empty() ? 0 : now[0]);
  }
  // At most m = cost - 1: wherever m has a 0, the sum has one too, or a 0 where m has a 1 above that.
  const std::int64_t m = cost - 1;
  for (int bit = 0; bit < 62; ++bit) {
    if (sum[static_cast<std::size_t>(bit)] == 0 || (m >> bit & 1) != 0) continue;
    std::vector<int> clause = {-sum[static_cast<std::size_t>(bit)]};
    bool holds = false;
    for (int above = bit + 1; above < 62; ++above)
      if (m >> above & 1) {
        const int l = sum[static_cast<std::size_t>(above)];
        if (l == 0) holds = true;
        else clause.push_back(-l);
      }
    if (!holds) f.clause(clause);
  }
}

}  // namespace

CheapestSet::CheapestSet(std::vector<std::int64_t> costs) : question_(std::make_unique<Question>()) {
  for (const std::int64_t c : costs) REGDUEL_CHECK(c >= 0, "an element that costs less than nothing");
  question_->costs = std::move(costs);
}
CheapestSet::CheapestSet(SetQuestion question) : question_(std::make_unique<Question>(Question{std::move(question)})) {}
CheapestSet::~CheapestSet() = default;

void CheapestSet::add_extra_cost(Element taken, Element unless, std::int64_t cost) {
  if (cost > 0 && taken != unless) question_->extras.push_back({taken, unless, cost});
}
void CheapestSet::imply(Element taken, Element also) { question_->extras.push_back({taken, also, SetQuestion::kForbidden}); }
void CheapestSet::demand(std::span<const Portion> portions, int units) {
  if (units > 0) question_->demands.push_back({{portions.begin(), portions.end()}, units});
}
std::size_t CheapestSet::drop_weaker_demands() {
  const auto as_key = [](const SetQuestion::Demand& d) {
    std::vector<std::pair<Element, int>> key;
    for (const Portion& p : d.portions) key.emplace_back(p.element, p.units);
    return key;
  };
  std::vector<SetQuestion::Demand>& demands = question_->demands;
  std::sort(demands.begin(), demands.end(), [&](const auto& a, const auto& b) {
    if (a.portions.size() != b.portions.size()) return a.portions.size() < b.portions.size();
    return std::pair(-a.units, as_key(a)) < std::pair(-b.units, as_key(b));
  });
  std::vector<SetQuestion::Demand> kept;
  for (SetQuestion::Demand& d : demands) {
    const bool is_weaker = std::any_of(kept.begin(), kept.end(), [&](const auto& k) {
      return k.units >= d.units && std::includes(d.portions.begin(), d.portions.end(), k.portions.begin(), k.portions.end(),
                                                 [](const Portion& a, const Portion& b) {
                                                   return a.element != b.element ? a.element < b.element : a.units > b.units;
                                                 });
    });
    if (!is_weaker) kept.push_back(std::move(d));
  }
  demands = std::move(kept);
  return demands.size();
}
CheapestSet::Answer CheapestSet::solve(std::int64_t conflicts, int questions) const {
  if (!is_met(*question_, std::vector<bool>(question_->costs.size(), true))) {
    Answer impossible;
    impossible.is_impossible = true;
    return impossible;
  }
  const Relaxation relaxation = solve_relaxation(*question_, kWorkOfAConflict * static_cast<double>(conflicts));
  if (!relaxation.is_taken.empty() && cost_of(*question_, relaxation.is_taken) == relaxation.at_least)
    return {.is_taken = relaxation.is_taken, .at_least = relaxation.at_least, .at_most = relaxation.at_least};
  if (questions == 0)
    return {.is_taken = relaxation.is_taken,
            .at_least = relaxation.at_least,
            .at_most = relaxation.is_taken.empty() ? -1 : cost_of(*question_, relaxation.is_taken)};
  return Search(*question_, relaxation).solve(conflicts, questions);
}

bool CheapestSet::prove_at_least(std::int64_t cost, const std::string& path, std::int64_t conflicts) const {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  Proof proof(solver, path);
  Clauses clauses(*question_);
  add_bound(*question_, clauses, cost);
  clauses.formula.give_new_to(proof);
  proof.write_formula(clauses.variables.count());
  solver.limit("conflicts", static_cast<int>(std::min(conflicts, kMostConflicts)));
  const int answer = solver.solve();
  proof.end(answer == kUnsatisfiable);
  return answer == kUnsatisfiable;
}

}  // namespace regduel::reference
