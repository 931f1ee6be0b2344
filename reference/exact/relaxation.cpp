// See relaxation.h.

#include "reference/exact/relaxation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace regduel::reference {
namespace {

constexpr std::int64_t kMuch = std::int64_t{1} << 61;
constexpr double kTolerance = 1e-7;
constexpr int kSubgradients = 150, kPatience = 8;
// Fractions with these denominators come out of the linear relaxation mostly.
constexpr std::int64_t kScales[] = {1, 2, 3, 4, 6, 12};

// The minimum cut of one component: the elements on the side of the source are taken.
class Cut {
 public:
  explicit Cut(std::size_t elements) : source_(elements), sink_(elements + 1), arcs_of_(elements + 2) {
    for (std::size_t e = 0; e < elements; ++e) {
      add_arc(source_, e);
      add_arc(e, sink_);
    }
  }
  // An arc whose flow is asked for later. Returns its number.
  std::size_t add_arc(std::size_t from, std::size_t to) {
    arcs_of_[from].push_back(arcs_.size());
    arcs_.push_back({to, 0, 0});
    arcs_of_[to].push_back(arcs_.size());
    arcs_.push_back({from, 0, 0});
    return arcs_.size() - 2;
  }
  void set_capacity(std::size_t arc, std::int64_t capacity) { arcs_[arc].capacity = capacity; }
  // What it costs to take the element, which may be less than nothing.
  void set_cost(std::size_t element, std::int64_t cost) {
    arcs_[4 * element].capacity = std::max<std::int64_t>(0, -cost);
    arcs_[4 * element + 2].capacity = std::max<std::int64_t>(0, cost);
  }

  void run() {
    for (std::size_t a = 0; a < arcs_.size(); a += 2) arcs_[a].residual = arcs_[a].capacity;
    for (std::size_t a = 1; a < arcs_.size(); a += 2) arcs_[a].residual = 0;
    while (find_levels()) {
      next_.assign(arcs_of_.size(), 0);
      while (push(source_, kMuch) > 0) {
      }
    }
  }
  // After run(), which ended without a level for the sink.
  [[nodiscard]] bool is_taken(std::size_t element) const { return level_[element] >= 0; }
  [[nodiscard]] std::int64_t flow(std::size_t arc) const { return arcs_[arc].capacity - arcs_[arc].residual; }

 private:
  struct Arc {
    std::size_t to;
    std::int64_t capacity, residual;
  };
  bool find_levels() {
    level_.assign(arcs_of_.size(), -1);
    queue_.assign(1, source_);
    level_[source_] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k)
      for (const std::size_t a : arcs_of_[queue_[k]])
        if (arcs_[a].residual > 0 && level_[arcs_[a].to] < 0) {
          level_[arcs_[a].to] = level_[queue_[k]] + 1;
          queue_.push_back(arcs_[a].to);
        }
    return level_[sink_] >= 0;
  }
  std::int64_t push(std::size_t at, std::int64_t most) {
    if (at == sink_) return most;
    for (std::size_t& k = next_[at]; k < arcs_of_[at].size(); ++k) {
      const std::size_t a = arcs_of_[at][k];
      if (arcs_[a].residual <= 0 || level_[arcs_[a].to] != level_[at] + 1) continue;
      const std::int64_t pushed = push(arcs_[a].to, std::min(most, arcs_[a].residual));
      if (pushed == 0) continue;
      arcs_[a].residual -= pushed;
      arcs_[a ^ 1].residual += pushed;
      return pushed;
    }
    return 0;
  }

  std::size_t source_, sink_;
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<Arc> arcs_;  // each with its opposite behind it
  std::vector<int> level_;
  std::vector<std::size_t> next_, queue_;
};

struct Component {
  std::vector<std::uint32_t> elements;
  std::vector<std::size_t> extras, arcs;  // of the question, and of the cut
  Cut cut{0};
};

class Master {
 public:
  Master(const SetQuestion& q, double most_work) : q_(q), most_work_(most_work) {
    find_components();
    implied_by_.resize(q_.costs.size());
    marginal_ = q_.costs;
    for (const auto& x : q_.extras)
      if (x.is_forbidden()) implied_by_[x.taken].push_back(x.unless);
      else marginal_[x.taken] += x.cost;
    choose_demands();
    demands_of_.resize(q_.costs.size());
    for (std::size_t k = 0; k < rows_of_demands_.size(); ++k)
      for (const auto& p : q_.demands[rows_of_demands_[k]].portions) demands_of_[p.element].push_back({k, p.units});
  }

  Relaxation run() {
    Relaxation result;
    result.demands.assign(q_.demands.size(), 0);
    result.extras.assign(q_.extras.size(), 0);
    std::vector<bool> all(q_.costs.size(), true);
    if (!is_met(q_, all)) return result;
    begin();
    descend();
    // First near the worths that are good already, then as the simplex method has them.
    for (const double share : {0.9, 0.5, 0.0}) {
      share_ = share;
      while (work_ < most_work_ && price_all()) {
      }
    }
    round_worths(result);
    take_whole_solution(result);
    if (result.is_taken.empty() || cost_of(q_, best_set_) < cost_of(q_, result.is_taken)) result.is_taken = best_set_;
    return result;
  }

 private:
  struct Use {
    std::size_t demand;
    int units;
  };
  // A set of one component, or what a demand gets beyond what it wants.
  struct Column {
    std::size_t component;
    std::vector<std::uint32_t> taken;
    double cost;
  };

  void find_components() {
    std::vector<std::uint32_t> leader(q_.costs.size());
    std::iota(leader.begin(), leader.end(), 0u);
    const auto find = [&](std::uint32_t e) {
      while (leader[e] != e) e = leader[e] = leader[leader[e]];
      return e;
    };
    for (const auto& x : q_.extras) {
      const std::uint32_t a = find(x.taken), b = find(x.unless);
      leader[std::max(a, b)] = std::min(a, b);
    }
    component_of_.resize(q_.costs.size());
    place_.resize(q_.costs.size());
    for (std::uint32_t e = 0; e < q_.costs.size(); ++e) {
      const std::uint32_t first = find(e);
      if (first == e) {
        component_of_[e] = components_.size();
        components_.emplace_back();
      }
      component_of_[e] = component_of_[first];
      place_[e] = components_[component_of_[e]].elements.size();
      components_[component_of_[e]].elements.push_back(e);
    }
    for (Component& c : components_) c.cut = Cut(c.elements.size());
    for (std::size_t x = 0; x < q_.extras.size(); ++x) {
      Component& c = components_[component_of_[q_.extras[x].taken]];
      c.extras.push_back(x);
      c.arcs.push_back(c.cut.add_arc(place_[q_.extras[x].taken], place_[q_.extras[x].unless]));
    }
  }
  void choose_demands() {
    for (std::size_t d = 0; d < q_.demands.size(); ++d) rows_of_demands_.push_back(d);
    if (components_.size() + rows_of_demands_.size() <= kMostRows) return;
    std::ranges::stable_sort(rows_of_demands_, std::greater<>(), [&](std::size_t d) { return q_.demands[d].units; });
    const std::size_t most = std::max(kMostRows / 2, kMostRows - std::min(kMostRows, components_.size()));
    rows_of_demands_.resize(std::min(most, rows_of_demands_.size()));
    std::ranges::sort(rows_of_demands_);
  }

  // All elements taken, and each demand with what it gets too much.
  void begin() {
    const std::size_t demands = rows_of_demands_.size();
    rows_ = demands + components_.size();
    inverse_.assign(rows_ * rows_, 0);
    value_.assign(rows_, 0);
    worth_.assign(rows_, 0);
    for (std::size_t k = 0; k < demands; ++k) {
      basic_.push_back(Column{kNone, {}, 0});
      at(k, k) = -1;
      // A little less than is wanted, each by another amount, so that few pivots gain nothing.
      value_[k] = -q_.demands[rows_of_demands_[k]].units + 1e-6 * (1 + static_cast<double>(k * 7919 % 1009) / 1009);
    }
    for (std::size_t c = 0; c < components_.size(); ++c) {
      Column column{c, components_[c].elements, 0};
      for (const std::uint32_t e : column.taken) {
        column.cost += static_cast<double>(q_.costs[e]);
        for (const Use& u : demands_of_[e]) at(u.demand, demands + c) += u.units;
      }
      at(demands + c, demands + c) = 1;
      value_[demands + c] = 1;
      worth_[demands + c] = column.cost;
      basic_.push_back(std::move(column));
    }
    for (std::size_t k = 0; k < demands; ++k)
      for (std::size_t c = 0; c < components_.size(); ++c) value_[k] += at(k, demands + c);
    double sum = 1;
    for (const std::int64_t cost : q_.costs) sum += static_cast<double>(cost);
    for (const auto& x : q_.extras) sum += x.is_forbidden() ? 0 : static_cast<double>(x.cost);
    precision_ = std::clamp(std::exp2(std::floor(std::log2(std::exp2(57) / sum))), 1.0, std::exp2(20));
    set_extras(precision_);
  }
  double& at(std::size_t row, std::size_t column) { return inverse_[row * rows_ + column]; }

  void set_extras(double scale) {
    for (Component& c : components_)
      for (std::size_t k = 0; k < c.extras.size(); ++k) {
        const auto& extra = q_.extras[c.extras[k]];
        c.cut.set_capacity(c.arcs[k],
                           extra.is_forbidden() ? kMuch : static_cast<std::int64_t>(static_cast<double>(extra.cost) * scale));
      }
  }

  // Whether something entered.
  bool price_all() {
    bool has_entered = false;
    for (std::size_t k = 0; k < rows_of_demands_.size() && work_ < most_work_; ++k)
      if (worth_[k] < -kTolerance) {
        std::vector<double> column(rows_);
        for (std::size_t r = 0; r < rows_; ++r) column[r] = -at(r, k);
        has_entered = pivot(column, worth_[k], Column{kNone, {}, 0}) || has_entered;
      }
    for (std::size_t c = 0; c < components_.size() && work_ < most_work_; ++c) has_entered = price(c) || has_entered;
    return has_entered;
  }
  // The cheapest set of a component where a unit of demand d earns worth(d).
  template <class Worth>
  void cut(Component& component, Worth&& worth) {
    for (std::size_t k = 0; k < component.elements.size(); ++k) {
      const std::uint32_t e = component.elements[k];
      double cost = static_cast<double>(q_.costs[e]);
      for (const Use& u : demands_of_[e]) cost -= worth(u.demand) * u.units;
      component.cut.set_cost(k, static_cast<std::int64_t>(std::llround(cost * precision_)));
    }
    component.cut.run();
    work_ += 50 * static_cast<double>(component.elements.size());
  }

  // Subgradients (Held, Karp 1971): worths whose bound is good, and a set that meets all demands.
  void descend() {
    const std::size_t demands = rows_of_demands_.size();
    std::vector<double> y(demands, 0), lack(demands);
    std::vector<bool> is_taken(q_.costs.size());
    best_set_.assign(q_.costs.size(), true);
    best_worth_ = y;
    double best = 0, most = static_cast<double>(cost_of(q_, best_set_)), step = 1;
    int idle = 0;
    for (int round = 0; round < kSubgradients && work_ < most_work_ && most > best + 0.5; ++round) {
      double bound = 0;
      for (std::size_t k = 0; k < demands; ++k) {
        lack[k] = q_.demands[rows_of_demands_[k]].units;
        bound += y[k] * lack[k];
      }
      for (Component& c : components_) {
        cut(c, [&](std::size_t k) { return y[k]; });
        for (std::size_t k = 0; k < c.elements.size(); ++k) {
          const std::uint32_t e = c.elements[k];
          is_taken[e] = c.cut.is_taken(k);
          if (!is_taken[e]) continue;
          bound += static_cast<double>(q_.costs[e]);
          for (const Use& u : demands_of_[e]) {
            bound -= y[u.demand] * u.units;
            lack[u.demand] -= u.units;
          }
        }
        for (const std::size_t x : c.extras)
          if (const auto& extra = q_.extras[x]; !extra.is_forbidden() && is_taken[extra.taken] && !is_taken[extra.unless])
            bound += static_cast<double>(extra.cost);
      }
      ++idle;
      if (bound > best + 1e-9 * std::abs(best)) {
        best = bound;
        best_worth_ = y;
        idle = 0;
      }
      if (round % 10 == 0 || idle == 0) most = std::min(most, complete(is_taken));
      if (idle > kPatience) {
        step /= 2;
        y = best_worth_;
        idle = 0;
        if (step < 1e-3) break;
      }
      double length = 0;
      for (std::size_t k = 0; k < demands; ++k)
        if (y[k] > 0 || lack[k] > 0) length += lack[k] * lack[k];
      if (length == 0) break;
      for (std::size_t k = 0; k < demands; ++k) y[k] = std::max(0.0, y[k] + step * (most - bound) / length * lack[k]);
    }
  }
  // Takes more until all demands are met, each time what costs least for what it gives. Returns the cost.
  double complete(std::vector<bool> is_taken) {
    const auto take = [&](std::uint32_t first) {
      std::vector<std::uint32_t> work = {first};
      while (!work.empty()) {
        const std::uint32_t e = work.back();
        work.pop_back();
        if (is_taken[e]) continue;
        is_taken[e] = true;
        for (const std::uint32_t also : implied_by_[e]) work.push_back(also);
      }
    };
    for (const auto& d : q_.demands) {
      int lack = d.units;
      for (const auto& p : d.portions) lack -= is_taken[p.element] ? p.units : 0;
      if (lack <= 0) continue;
      std::vector<std::pair<double, SetQuestion::Portion>> order;
      for (const auto& p : d.portions)
        if (!is_taken[p.element]) order.emplace_back(static_cast<double>(marginal_[p.element]) / p.units, p);
      std::ranges::stable_sort(order, {}, [](const auto& o) { return o.first; });
      for (const auto& [cost, p] : order) {
        if (lack <= 0) break;
        take(p.element);
        lack -= p.units;
      }
    }
    const double cost = static_cast<double>(cost_of(q_, is_taken));
    if (cost < static_cast<double>(cost_of(q_, best_set_))) best_set_ = std::move(is_taken);
    return cost;
  }

  bool price(std::size_t c) {
    Component& component = components_[c];
    cut(component, [&](std::size_t k) { return share_ * best_worth_[k] + (1 - share_) * worth_[k]; });
    Column column{c, {}, 0};
    for (std::size_t k = 0; k < component.elements.size(); ++k)
      if (component.cut.is_taken(k)) column.taken.push_back(component.elements[k]);
    for (const std::uint32_t e : column.taken) column.cost += static_cast<double>(q_.costs[e]);
    for (const std::size_t x : component.extras)
      if (!q_.extras[x].is_forbidden() && component.cut.is_taken(place_[q_.extras[x].taken]) &&
          !component.cut.is_taken(place_[q_.extras[x].unless]))
        column.cost += static_cast<double>(q_.extras[x].cost);
    const std::size_t row = rows_of_demands_.size() + c;
    double reduced = column.cost - worth_[row];
    std::vector<double> entries(rows_);
    for (std::size_t r = 0; r < rows_; ++r) entries[r] = at(r, row);
    for (const std::uint32_t e : column.taken)
      for (const Use& u : demands_of_[e]) {
        reduced -= worth_[u.demand] * u.units;
        for (std::size_t r = 0; r < rows_; ++r) entries[r] += u.units * at(r, u.demand);
      }
    if (reduced >= -1e-6 - 1e-9 * std::abs(worth_[row])) return false;
    return pivot(entries, reduced, std::move(column));
  }

  bool pivot(const std::vector<double>& entries, double reduced, Column column) {
    std::size_t leaving = rows_;
    double least = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (entries[r] <= kTolerance) continue;
      const double ratio = std::max(0.0, value_[r]) / entries[r];
      if (leaving != rows_ && (ratio > least || (ratio == least && entries[r] <= entries[leaving]))) continue;
      leaving = r;
      least = ratio;
    }
    if (leaving == rows_) return false;
    double* const row = &at(leaving, 0);
    for (std::size_t c = 0; c < rows_; ++c) row[c] /= entries[leaving];
    value_[leaving] = least;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (r == leaving || entries[r] == 0) continue;
      double* const other = &at(r, 0);
      for (std::size_t c = 0; c < rows_; ++c) other[c] -= entries[r] * row[c];
      work_ += static_cast<double>(rows_);
      value_[r] -= entries[r] * least;
    }
    for (std::size_t c = 0; c < rows_; ++c) worth_[c] += reduced * row[c];
    basic_[leaving] = std::move(column);
    return true;
  }

  // The worths as whole numbers, at the scale at which the bound is best.
  void round_worths(Relaxation& result) {
    bool has_one = false;
    for (const bool is_first : {true, false})
      for (const std::int64_t scale : kScales) {
        const std::vector<double>& worth = is_first ? worth_ : best_worth_;
        Relaxation r;
        r.scale = scale;
        r.demands.assign(q_.demands.size(), 0);
        r.extras.assign(q_.extras.size(), 0);
        for (std::size_t k = 0; k < rows_of_demands_.size(); ++k)
          r.demands[rows_of_demands_[k]] = std::max<std::int64_t>(0, std::llround(worth[k] * static_cast<double>(scale)));
        find_flows(r);
        if (has_one && r.at_least <= result.at_least) continue;
        result = std::move(r);
        has_one = true;
      }
  }
  void find_flows(Relaxation& r) {
    std::int64_t bound = 0;
    for (std::size_t d = 0; d < q_.demands.size(); ++d) bound += r.demands[d] * q_.demands[d].units;
    for (Component& c : components_) {
      for (std::size_t k = 0; k < c.extras.size(); ++k) {
        const auto& extra = q_.extras[c.extras[k]];
        c.cut.set_capacity(c.arcs[k], extra.is_forbidden() ? kMuch : extra.cost * r.scale);
      }
      std::vector<std::int64_t> left;
      for (std::size_t k = 0; k < c.elements.size(); ++k) {
        std::int64_t cost = q_.costs[c.elements[k]] * r.scale;
        for (const Use& u : demands_of_[c.elements[k]]) cost -= r.demands[rows_of_demands_[u.demand]] * u.units;
        c.cut.set_cost(k, cost);
        left.push_back(cost);
      }
      c.cut.run();
      for (std::size_t k = 0; k < c.extras.size(); ++k) {
        const std::int64_t flow = c.cut.flow(c.arcs[k]);
        r.extras[c.extras[k]] = flow;
        left[place_[q_.extras[c.extras[k]].taken]] += flow;
        left[place_[q_.extras[c.extras[k]].unless]] -= flow;
      }
      for (const std::int64_t cost : left) bound += std::min<std::int64_t>(0, cost);
    }
    r.at_least = bound <= 0 ? 0 : (bound + r.scale - 1) / r.scale;
  }

  // Of each component the set with the greatest share. That is a solution where no set has less than all.
  void take_whole_solution(Relaxation& result) {
    std::vector<double> most(components_.size(), 0);
    std::vector<const Column*> chosen(components_.size(), nullptr);
    for (std::size_t r = 0; r < rows_; ++r) {
      const Column& column = basic_[r];
      if (column.component == kNone || value_[r] <= most[column.component]) continue;
      most[column.component] = value_[r];
      chosen[column.component] = &column;
    }
    std::vector<bool> is_taken(q_.costs.size(), false);
    for (const Column* column : chosen)
      if (column != nullptr)
        for (const std::uint32_t e : column->taken) is_taken[e] = true;
    if (is_met(q_, is_taken)) result.is_taken = std::move(is_taken);
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const SetQuestion& q_;
  const double most_work_;
  double work_ = 0, share_ = 0;
  std::vector<double> best_worth_;  // by row of a demand
  std::vector<bool> best_set_;      // that meets all demands
  std::vector<std::vector<std::uint32_t>> implied_by_;
  std::vector<std::int64_t> marginal_;  // by element: what it costs to take it alone
  std::vector<Component> components_;
  std::vector<std::size_t> component_of_, place_;  // by element
  std::vector<std::size_t> rows_of_demands_;       // by row: the demand
  std::vector<std::vector<Use>> demands_of_;       // by element
  std::size_t rows_ = 0;
  std::vector<double> inverse_, value_, worth_;
  std::vector<Column> basic_;
  double precision_ = 1;
};

}  // namespace

Relaxation solve_relaxation(const SetQuestion& question, double most_work) { return Master(question, most_work).run(); }

std::int64_t cost_of(const SetQuestion& question, const std::vector<bool>& is_taken) {
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < question.costs.size(); ++e) sum += is_taken[e] ? question.costs[e] : 0;
  for (const auto& x : question.extras) sum += !x.is_forbidden() && is_taken[x.taken] && !is_taken[x.unless] ? x.cost : 0;
  return sum;
}

bool is_met(const SetQuestion& question, const std::vector<bool>& is_taken) {
  for (const auto& x : question.extras)
    if (x.is_forbidden() && is_taken[x.taken] && !is_taken[x.unless]) return false;
  return std::ranges::all_of(question.demands, [&](const SetQuestion::Demand& d) {
    int units = 0;
    for (const auto& p : d.portions) units += is_taken[p.element] ? p.units : 0;
    return units >= d.units;
  });
}

}  // namespace regduel::reference
