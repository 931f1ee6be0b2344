// See fewest_units.h.

#include "reference/exact/fewest_units.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>

#include <cadical.hpp>

#include "base/check_macro.h"
#include "reference/colour/select.h"
#include "reference/colour/simplify.h"
#include "reference/exact/proof.h"

namespace regduel::reference {
namespace {

// Rows of a symmetric relation between a few nodes.
class Matrix {
 public:
  explicit Matrix(std::size_t nodes) : words_((nodes + 63) / 64), bits_(nodes * words_, 0) {}
  void set(std::size_t a, std::size_t b) { bits_[a * words_ + b / 64] |= std::uint64_t{1} << b % 64; }
  [[nodiscard]] std::span<const std::uint64_t> row(std::size_t a) const { return {bits_.data() + a * words_, words_}; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// The question whether there is a colouring with these units.
class Question {
 public:
  Question(const FileGraph& graph, const UnitSet& available, const std::vector<NodeId>& in_turn, const Effort& effort)
      : graph_(graph), available_(available), effort_(effort), proof_(solver_, effort.proof), first_x_(graph.size(), 0),
        first_y_(graph.size(), 0) {
    solver_.set("quiet", 1);
    end_ = available.end();
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n)) add_node(n);
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n))
        graph.for_neighbours(n, [&](NodeId m) {
          if (n < m) add_edge(n, m);
        });
    for (std::size_t k = 0; k < in_turn.size(); ++k) clause({x(in_turn[k], static_cast<int>(k) * graph.units(in_turn[k]))});
  }

  Answer ask() {
    proof_.write_formula(num_variables_);
    solver_.limit("conflicts", static_cast<int>(std::min<std::int64_t>(effort_.conflicts, INT32_MAX)));
    const int answer = solver_.solve();
    proof_.end(answer == 20);
    return answer == 10 ? Answer::Yes : answer == 20 ? Answer::No : Answer::Unknown;
  }
  // Requires that the answer was Yes.
  [[nodiscard]] std::vector<int> unit_of() {
    std::vector<int> units(graph_.size(), -1);
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (graph_.is_fixed(n)) units[n] = graph_.fixed(n).begin();
      else
        for (int p = positions(n).first(); p >= 0 && units[n] < 0; p = positions(n).next(p + 1))
          if (solver_.val(x(n, p)) > 0) units[n] = p;
    }
    return units;
  }

 private:
  [[nodiscard]] UnitSet positions(NodeId n) const { return graph_.positions(n, available_); }
  [[nodiscard]] int x(NodeId n, int position) const { return first_x_[n] + position; }
  [[nodiscard]] int y(NodeId n, int unit) const { return first_y_[n] + unit; }
  void clause(std::initializer_list<int> literals) {
    for (const int l : literals) solver_.add(l);
    solver_.add(0);
  }
  void add_node(NodeId n) {
    first_x_[n] = first_y_[n] = num_variables_ + 1;
    num_variables_ += end_;
    if (graph_.units(n) > 1) {
      first_y_[n] = num_variables_ + 1;
      num_variables_ += end_;
    }
    const UnitSet at = positions(n);
    at.for_each([&](int p) { solver_.add(x(n, p)); });
    solver_.add(0);
    if (graph_.units(n) == 1) return;
    for (int p = at.first(); p >= 0; p = at.next(p + 1))
      for (int u = p; u < p + graph_.units(n); ++u) clause({-x(n, p), y(n, u)});
  }
  void add_edge(NodeId a, NodeId b) {
    const UnitSet both = held(a) & held(b);
    both.for_each([&](int u) { clause({-y(a, u), -y(b, u)}); });
  }
  [[nodiscard]] UnitSet held(NodeId n) const { return available_ - graph_.forbidden(n); }

  const FileGraph& graph_;
  UnitSet available_;
  const Effort& effort_;
  CaDiCaL::Solver solver_;
  Proof proof_;
  int end_ = 0;  // one behind the last unit
  int num_variables_ = 0;
  std::vector<int> first_x_, first_y_;
};

constexpr std::size_t kLargestQuestion = 4'000'000;  // clauses
constexpr std::size_t kMostSets = 16;

class Search {
 public:
  Search(const FileGraph& graph, const UnitSet& all, const Effort& effort) : graph_(graph), effort_(effort) {
    all.for_each([&](int u) { units_.push_back(u); });
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n)) nodes_.push_back(n);
    find_blocks();
  }

  // With all units.
  Found find_one() {
    if (nodes_.empty()) return {Answer::Yes, none().unit_of};
    const int limit = static_cast<int>(units_.size());
    if (auto units = optimistic(first(limit))) return {Answer::Yes, std::move(*units)};
    if (effort_.proof.empty()) {
      find_cliques();
      if (!has_room(limit)) return {Answer::No, {}};
    }
    if (size_of_question(limit) > kLargestQuestion) return {};
    Question question(graph_, first(limit), in_turn(limit), effort_);
    const Answer answer = question.ask();
    return {answer, answer == Answer::Yes ? question.unit_of() : std::vector<int>()};
  }

  FewestUnits run() {
    const int limit = static_cast<int>(units_.size());
    if (nodes_.empty()) return none();
    find_cliques();
    int k = 1;
    while (k <= limit && !has_room(k)) ++k;
    result_.clique = k;
    result_.at_least = effort_.proof.empty() ? k : 1;
    // Upwards by optimistic colouring, then downwards by the solver, because formulas that have a colouring are the easy ones.
    for (; k <= limit; ++k)
      if (auto units = optimistic(first(k))) {
        result_.at_most = k;
        result_.unit_of = std::move(*units);
        break;
      }
    for (k = result_.at_most < 0 ? limit : result_.at_most - 1; k >= result_.at_least; --k) {
      if (size_of_question(k) > kLargestQuestion) break;
      Question question(graph_, first(k), in_turn(k), effort_);
      const Answer answer = question.ask();
      ++result_.questions;
      if (answer == Answer::Yes) {
        result_.unit_of = question.unit_of();
        result_.at_most = k;
        continue;
      }
      if (answer == Answer::No) result_.at_least = k + 1;
      break;
    }
    return std::move(result_);
  }

 private:
  // The result where no node needs a unit.
  FewestUnits none() {
    result_.at_most = 0;
    for (NodeId n = 0; n < graph_.size(); ++n) result_.unit_of.push_back(graph_.fixed(n).begin());
    return std::move(result_);
  }
  [[nodiscard]] UnitSet first(int k) const {
    UnitSet available;
    for (int u = 0; u < k; ++u) available.set(units_[static_cast<std::size_t>(u)]);
    return available;
  }
  [[nodiscard]] std::optional<std::vector<int>> optimistic(const UnitSet& available) const {
    SelectOptions options;
    options.available = available;
    options.stop_at_failure = true;
    Colouring c = select(graph_, simplify(graph_, available, Optimism::SmallestLast), options);
    if (!c.failed.empty()) return std::nullopt;
    return std::move(c.unit_of);
  }

  // A clique of all nodes; and for each set of units in which some may not stand, one of those that may not stand there.
  void find_cliques() {
    cliques_.push_back({UnitSet(), std::max(width_of(large_clique(graph_, nodes_)), graph_.clique_units())});
    std::vector<UnitSet> sets;
    for (const NodeId n : nodes_)
      if (graph_.is_restricted(n) && sets.size() < kMostSets &&
          std::find(sets.begin(), sets.end(), graph_.forbidden(n)) == sets.end())
        sets.push_back(graph_.forbidden(n));
    for (const UnitSet& forbidden : sets) {
      std::vector<NodeId> confined;
      for (const NodeId n : nodes_)
        if ((forbidden - graph_.forbidden(n)).none()) confined.push_back(n);
      cliques_.push_back({forbidden, width_of(large_clique(graph_, confined))});
    }
  }
  [[nodiscard]] int width_of(const std::vector<NodeId>& nodes) const {
    int sum = 0;
    for (const NodeId n : nodes) sum += graph_.units(n);
    return sum;
  }
  [[nodiscard]] bool has_room(int k) const {
    const UnitSet available = first(k);
    return std::all_of(cliques_.begin(), cliques_.end(),
                       [&](const Clique& c) { return c.units <= (available - c.forbidden).count(); });
  }
  // Clauses, approximately.
  [[nodiscard]] std::size_t size_of_question(int k) const {
    return (graph_.num_built_edges() + nodes_.size()) * static_cast<std::size_t>(k);
  }

  // Finds, where units can be exchanged, the clique whose nodes fill a block each.
  void find_blocks() {
    if (!effort_.proof.empty()) return;
    int block = 1;
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (graph_.is_fixed(n) || graph_.is_restricted(n)) return;
      block = std::max(block, 1 << graph_.align_log2(n));
    }
    for (std::size_t k = 0; k < units_.size(); ++k)
      if (units_[k] != static_cast<int>(k)) return;
    std::vector<NodeId> fill;
    for (const NodeId n : nodes_)
      if (graph_.units(n) == block && 1 << graph_.align_log2(n) == block) fill.push_back(n);
    in_turn_ = large_clique(graph_, fill);
  }
  // As many of them as there are blocks in k units.
  [[nodiscard]] std::vector<NodeId> in_turn(int k) const {
    std::vector<NodeId> list = in_turn_;
    if (!list.empty()) list.resize(std::min(list.size(), static_cast<std::size_t>(k / graph_.units(list[0]))));
    return list;
  }

  const FileGraph& graph_;
  const Effort& effort_;
  std::vector<int> units_;  // that there are
  std::vector<NodeId> nodes_, in_turn_;
  struct Clique {
    UnitSet forbidden;  // to all of it
    int units = 0;
  };
  std::vector<Clique> cliques_;
  FewestUnits result_;
};

}  // namespace

std::vector<NodeId> large_clique(const FileGraph& graph, const std::vector<NodeId>& nodes) {
  if (nodes.empty() || nodes.size() > kMostCliqueNodes) return {};
  std::vector<std::size_t> index_of(graph.size(), nodes.size());
  for (std::size_t k = 0; k < nodes.size(); ++k) index_of[nodes[k]] = k;
  Matrix is_edge(nodes.size());
  std::vector<int> degree(nodes.size(), 0);  // in units
  for (std::size_t k = 0; k < nodes.size(); ++k)
    graph.for_neighbours(nodes[k], [&](NodeId m) {
      if (index_of[m] == nodes.size()) return;
      is_edge.set(k, index_of[m]);
      degree[k] += graph.units(m);
    });
  std::vector<NodeId> best;
  int most = 0;
  for (std::size_t start = 0; start < nodes.size(); ++start) {
    if (degree[start] + graph.units(nodes[start]) <= most) continue;
    std::vector<std::uint64_t> left(is_edge.row(start).begin(), is_edge.row(start).end());
    std::vector<NodeId> clique = {nodes[start]};
    int sum = graph.units(nodes[start]);
    for (;;) {
      std::size_t next = nodes.size();
      for (std::size_t w = 0; w < left.size(); ++w)
        for (std::uint64_t bits = left[w]; bits != 0; bits &= bits - 1) {
          const std::size_t k = 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
          if (next == nodes.size() || degree[k] > degree[next]) next = k;
        }
      if (next == nodes.size()) break;
      clique.push_back(nodes[next]);
      sum += graph.units(nodes[next]);
      const auto row = is_edge.row(next);
      for (std::size_t w = 0; w < left.size(); ++w) left[w] &= row[w];
    }
    if (sum > most) most = sum, best = std::move(clique);
  }
  std::sort(best.begin(), best.end());
  return best;
}

Found find_colouring(const FileGraph& graph, const UnitSet& available, const Effort& effort) {
  REGDUEL_CHECK(effort.conflicts > 0, "an effort of no conflicts");
  return Search(graph, available, effort).find_one();
}

FewestUnits fewest_units(const FileGraph& graph, const UnitSet& all, const Effort& effort) {
  REGDUEL_CHECK(effort.conflicts > 0, "an effort of no conflicts");
  return Search(graph, all, effort).run();
}

}  // namespace regduel::reference
