// See cheapest_set.h.

#include "reference/exact/cheapest_set.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include <cadical.hpp>

#include "base/check_macro.h"
#include "reference/exact/proof.h"

namespace regduel::reference {
namespace {

constexpr std::int64_t kMostConflicts = INT32_MAX;
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

namespace {

using Element = CheapestSet::Element;
using Portion = CheapestSet::Portion;
using Answer = CheapestSet::Answer;

struct Demand {
  std::vector<Portion> portions;
  int units = 0;
};
struct Extra {
  Element taken, unless;
  std::int64_t cost;
};

}  // namespace

struct CheapestSet::Question {
  std::vector<std::int64_t> costs;
  std::vector<Demand> demands;
  std::vector<Extra> extras;
};

namespace {

using Question = CheapestSet::Question;

// The question in clauses, with a variable for each element and one for each extra cost, which is true if the cost is paid.
struct Clauses {
  Variables variables;
  std::vector<int> elements, extras;
  Formula formula;

  explicit Clauses(const Question& q) {
    for (std::size_t e = 0; e < q.costs.size(); ++e) elements.push_back(variables.add());
    for (const Extra& x : q.extras) {
      extras.push_back(variables.add());
      formula.clause({-elements[x.taken], elements[x.unless], extras.back()});
    }
    for (const Demand& d : q.demands) demand(d);
  }

 private:
  //   s(i, j)   true only where the first i portions have at least j units
  void demand(const Demand& d) {
    if (d.units <= 0) return;
    std::vector<int> before(static_cast<std::size_t>(d.units) + 1, 0);  // s(i - 1, j) by j; 0 = false
    for (const Portion& p : d.portions) {
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
};

// The worth of a unit of each demand, and of each extra cost, in the dual of the linear relaxation; at least 0. Any such values
// make a bound that holds (see charge), so rounding costs nothing but tightness.
struct Duals {
  std::vector<double> demands, extras;
};

// The dual in the standard form, a row an element or extra cost:
//
//   most of  sum of units(d) y(d) - sum of u(i)   where  sum of units(i in d) y(d) - u(i) + s(i) = cost(i),  all at least 0
//
// All costs are at least 0, so that y = u = 0 is a solution to begin with; and u(i) has the column of s(i), negated, so that it
// needs none of its own: it may enter where s(i) has a reduced cost below -1. Tableau, largest coefficient, Bland's rule where
// nothing is gained for long. (The solvers of COIN-OR would do, but bring LAPACK and a Fortran library into each fuzz target.)
class Simplex {
 public:
  explicit Simplex(const Question& q)
      : rows_(q.costs.size() + q.extras.size()), worths_(q.demands.size() + q.extras.size()), columns_(worths_ + rows_ + 1),
        table_(rows_ * columns_), gain_(columns_), basic_(rows_) {
    std::size_t column = 0;
    for (const Demand& d : q.demands) {
      for (const Portion& p : d.portions) at(p.element, column) = p.units;
      gain_[column++] = d.units;
    }
    for (std::size_t x = 0; x < q.extras.size(); ++x, ++column) {
      at(q.costs.size() + x, column) = 1;
      at(q.extras[x].taken, column) -= 1;
      at(q.extras[x].unless, column) += 1;
    }
    for (std::size_t r = 0; r < rows_; ++r) {
      at(r, worths_ + r) = 1;
      at(r, columns_ - 1) = static_cast<double>(r < q.costs.size() ? q.costs[r] : q.extras[r - q.costs.size()].cost);
      basic_[r] = {worths_ + r, false};
    }
  }

  // The worth of each demand, then of each extra cost.
  std::vector<double> run() {
    int idle = 0;
    for (int step = 0; step < kMostSteps; ++step) {
      const Column entering = choose(idle > kMostIdle);
      if (entering.index == columns_) break;
      const std::size_t leaving = choose_row(entering);
      if (leaving == rows_) break;  // no demand can be met, and whatever was found holds
      idle = at(leaving, columns_ - 1) > kTolerance ? 0 : idle + 1;
      pivot(leaving, entering);
    }
    std::vector<double> worth(worths_, 0);
    for (std::size_t r = 0; r < rows_; ++r)
      if (basic_[r].index < worths_) worth[basic_[r].index] = std::max(0.0, at(r, columns_ - 1));
    return worth;
  }

 private:
  static constexpr double kTolerance = 1e-9;
  static constexpr int kMostSteps = 20'000, kMostIdle = 200;
  struct Column {
    std::size_t index;
    bool is_negated;  // u(i) instead of s(i)
  };
  double& at(std::size_t row, std::size_t column) { return table_[row * columns_ + column]; }
  double entry(std::size_t row, Column c) { return c.is_negated ? -at(row, c.index) : at(row, c.index); }

  // The one that gains most, or the first that gains; none = columns_.
  Column choose(bool first) {
    Column best{columns_, false};
    double most = kTolerance;
    for (std::size_t c = 0; c + 1 < columns_; ++c) {
      const bool is_negated = c >= worths_ && gain_[c] < -1;
      const double gain = is_negated ? -1 - gain_[c] : gain_[c];
      if (gain <= most) continue;
      best = {c, is_negated};
      if (first) break;
      most = gain;
    }
    return best;
  }
  std::size_t choose_row(Column entering) {
    std::size_t best = rows_;
    double least = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      const double e = entry(r, entering);
      if (e <= kTolerance) continue;
      const double ratio = at(r, columns_ - 1) / e;
      if (best != rows_ && (ratio > least || (ratio == least && basic_[r].index >= basic_[best].index))) continue;
      best = r;
      least = ratio;
    }
    return best;
  }
  void pivot(std::size_t row, Column entering) {
    const double by = entry(row, entering), gain = entering.is_negated ? -1 - gain_[entering.index] : gain_[entering.index];
    double* const pivot = &at(row, 0);
    for (std::size_t c = 0; c < columns_; ++c) pivot[c] /= by;
    for (std::size_t r = 0; r < rows_; ++r) {
      const double times = entry(r, entering);
      if (r == row || times == 0) continue;
      double* const other = &at(r, 0);
      for (std::size_t c = 0; c < columns_; ++c) other[c] -= times * pivot[c];
    }
    for (std::size_t c = 0; c < columns_; ++c) gain_[c] -= gain * pivot[c];
    basic_[row] = entering;
  }

  std::size_t rows_, worths_, columns_;  // columns: of worths, of s, and the right side
  std::vector<double> table_, gain_;
  std::vector<Column> basic_;  // by row
};

Duals solve_dual(const Question& q) {
  const std::vector<double> worth = Simplex(q).run();
  const auto extras = worth.begin() + std::ssize(q.demands);
  return {{worth.begin(), extras}, {extras, worth.end()}};
}

// Fractions with these denominators come out of the linear relaxation mostly.
constexpr std::int64_t kScales[] = {1, 2, 3, 4, 6, 12};

// The factor of all costs that makes the duals whole numbers, or nearly.
std::int64_t scale_of(const Duals& duals) {
  for (const std::int64_t scale : kScales) {
    const auto is_whole = [&](double y) {
      return std::abs(y * static_cast<double>(scale) - std::round(y * static_cast<double>(scale))) < 1e-4;
    };
    if (std::all_of(duals.demands.begin(), duals.demands.end(), is_whole) &&
        std::all_of(duals.extras.begin(), duals.extras.end(), is_whole))
      return scale;
  }
  return kScales[std::size(kScales) - 1];
}

class Search {
 public:
  explicit Search(const Question& q) : q_(q), clauses_(q) {
    solver_.set("quiet", 1);
    const Duals duals = solve_dual(q);
    scale_ = scale_of(duals);
    charge(duals);
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
  void charge(const Duals& duals) {
    const auto whole = [&](double y) { return static_cast<std::int64_t>(std::llround(y * static_cast<double>(scale_))); };
    std::vector<std::int64_t> left;
    for (const std::int64_t c : q_.costs) left.push_back(c * scale_);
    for (std::size_t d = 0; d < q_.demands.size(); ++d) {
      const Demand& demand = q_.demands[d];
      const std::int64_t y = whole(duals.demands[d]);
      if (y == 0) continue;
      at_least_ += y * demand.units;
      std::vector<int> inputs;
      for (const Portion& p : demand.portions) {
        left[p.element] -= y * p.units;
        inputs.insert(inputs.end(), static_cast<std::size_t>(p.units), clauses_.elements[p.element]);
      }
      std::vector<int> sums = count(clauses_.formula, clauses_.variables, inputs);
      sums.erase(sums.begin(), sums.begin() + std::min<std::ptrdiff_t>(demand.units, std::ssize(sums)));
      charge_count(std::move(sums), y);
    }
    for (std::size_t x = 0; x < q_.extras.size(); ++x) {
      const Extra& extra = q_.extras[x];
      const std::int64_t y = whole(duals.extras[x]);
      charge(clauses_.extras[x], extra.cost * scale_ - y);
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
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < q_.costs.size(); ++e) {
      is_taken[e] = solver_.val(clauses_.elements[e]) > 0;
      sum += is_taken[e] ? q_.costs[e] : 0;
    }
    for (const Extra& x : q_.extras) sum += is_taken[x.taken] && !is_taken[x.unless] ? x.cost : 0;
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
  for (std::size_t x = 0; x < q.extras.size(); ++x) add(clauses.extras[x], q.extras[x].cost);
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
CheapestSet::~CheapestSet() = default;

void CheapestSet::add_extra_cost(Element taken, Element unless, std::int64_t cost) {
  if (cost > 0) question_->extras.push_back({taken, unless, cost});
}
void CheapestSet::demand(std::span<const Portion> portions, int units) {
  if (units > 0) question_->demands.push_back({{portions.begin(), portions.end()}, units});
}
CheapestSet::Answer CheapestSet::solve(std::int64_t conflicts, int questions) const {
  return Search(*question_).solve(conflicts, questions);
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
