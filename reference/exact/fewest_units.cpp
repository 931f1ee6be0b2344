// See fewest_units.h.

#include "reference/exact/fewest_units.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <cadical.hpp>

#include "base/check_macro.h"
#include "reference/colour/select.h"
#include "reference/colour/simplify.h"
#include "reference/exact/certificate.h"
#include "reference/exact/clique.h"
#include "reference/exact/proof.h"

namespace regduel::reference {
namespace {

// The question whether there is a colouring with these units.
class Question {
 public:
  Question(const FileGraph& graph, const UnitSet& available, const std::vector<NodeId>& in_turn, const Effort& effort)
      : graph_(graph), available_(available), effort_(effort), proof_(solver_, effort.proof), first_x_(graph.size(), 0),
        first_y_(graph.size(), 0) {
    solver_.set("quiet", 1);
    proof_.comment(fmt::format("k {}", available.count() + 1));
    end_ = available.end();
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n)) add_node(n);
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n))
        graph.for_neighbours(n, [&](NodeId m) {
          if (n < m) add_edge(n, m);
        });
    std::string exchanged = "in turn";
    for (std::size_t k = 0; k < in_turn.size(); ++k) {
      clause({x(in_turn[k], static_cast<int>(k) * graph.units(in_turn[k]))});
      exchanged += fmt::format(" {}", in_turn[k] + 1);
    }
    if (!in_turn.empty()) proof_.comment(exchanged);
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
    for (const int l : literals) proof_.add(l);
    proof_.add(0);
  }
  void add_node(NodeId n) {
    first_x_[n] = first_y_[n] = num_variables_ + 1;
    num_variables_ += end_;
    if (graph_.units(n) > 1) {
      first_y_[n] = num_variables_ + 1;
      num_variables_ += end_;
    }
    const UnitSet at = positions(n);
    at.for_each([&](int p) { proof_.add(x(n, p)); });
    proof_.add(0);
    name_variables(n, at);
    if (graph_.units(n) == 1) return;
    for (int p = at.first(); p >= 0; p = at.next(p + 1))
      for (int u = p; u < p + graph_.units(n); ++u) clause({-x(n, p), y(n, u)});
  }
  void name_variables(NodeId n, const UnitSet& at) {
    if (!proof_.is_written()) return;
    at.for_each([&](int p) { proof_.comment(fmt::format("x {} {} {}", n + 1, p, x(n, p))); });
    if (graph_.units(n) > 1) held(n).for_each([&](int u) { proof_.comment(fmt::format("y {} {} {}", n + 1, u, y(n, u))); });
  }
  void add_edge(NodeId a, NodeId b) {
    const UnitSet both = held(a) & held(b);
    both.for_each([&](int u) { clause({-y(a, u), -y(b, u)}); });
  }
  // The units that it may hold. An aligned scalar has no variable for the others.
  [[nodiscard]] UnitSet held(NodeId n) const {
    return graph_.units(n) == 1 && graph_.align_log2(n) > 0 ? positions(n) : available_ - graph_.forbidden(n);
  }

  const FileGraph& graph_;
  UnitSet available_;
  const Effort effort_;
  CaDiCaL::Solver solver_;
  Proof proof_;
  int end_ = 0;  // one behind the last unit
  int num_variables_ = 0;
  std::vector<int> first_x_, first_y_;
};

constexpr std::size_t kLargestQuestion = 4'000'000;  // clauses
constexpr std::size_t kMostSets = 16;
constexpr int kMostRefutations = 4;  // questions to the solver about the lower graph

// A graph, and the nodes of it that can be exchanged for one another.
class Side {
 public:
  Side(const FileGraph& graph, const std::vector<int>& units) : graph_(graph) {
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.is_fixed(n)) nodes_.push_back(n);
    is_regular_ = std::ranges::none_of(nodes_, [&](NodeId n) { return graph.is_restricted(n); }) && nodes_.size() == graph.size();
    for (std::size_t k = 0; k < units.size(); ++k) is_regular_ = is_regular_ && units[k] == static_cast<int>(k);
  }
  [[nodiscard]] const FileGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }
  // Where units can be exchanged, a clique whose nodes fill a block each: as many as there are blocks in k units.
  [[nodiscard]] std::vector<NodeId> in_turn(int k) {
    if (!is_regular_) return {};
    if (!in_turn_) {
      int block = 1;
      for (const NodeId n : nodes_) block = std::max(block, 1 << graph_.align_log2(n));
      std::vector<NodeId> fill;
      for (const NodeId n : nodes_)
        if (graph_.units(n) == block && 1 << graph_.align_log2(n) == block) fill.push_back(n);
      in_turn_ = heaviest_clique(graph_, fill).nodes;
    }
    std::vector<NodeId> list = *in_turn_;
    if (!list.empty()) list.resize(std::min(list.size(), static_cast<std::size_t>(k / graph_.units(list[0]))));
    return list;
  }
  [[nodiscard]] bool is_askable(int k) const {
    return (graph_.num_built_edges() + nodes_.size()) * static_cast<std::size_t>(k) <= kLargestQuestion;
  }

 private:
  const FileGraph& graph_;
  std::vector<NodeId> nodes_;
  bool is_regular_ = false;
  std::optional<std::vector<NodeId>> in_turn_;
};

bool is_same(const FileGraph& a, const FileGraph& b) {
  if (&a == &b) return true;
  if (a.size() != b.size() || a.num_built_edges() != b.num_built_edges()) return false;
  for (NodeId n = 0; n < a.size(); ++n) {
    if (!(a.forbidden(n) == b.forbidden(n))) return false;
    if (!a.is_fixed(n) && a.squeeze(n) != b.squeeze(n)) return false;
  }
  return true;
}

class Search {
 public:
  Search(const FileGraph& graph, const UnitSet& all, const Effort& effort, const FileGraph* necessary)
      : effort_(effort), units_(listed(all)), upper_(graph, units_), lower_(necessary == nullptr ? graph : *necessary, units_),
        is_one_(is_same(upper_.graph(), lower_.graph())) {}

  // With all units.
  Found find_one() {
    if (upper_.nodes().empty()) return {Answer::Yes, none().unit_of};
    const int limit = static_cast<int>(units_.size());
    if (auto units = optimistic(first(limit))) return {Answer::Yes, std::move(*units)};
    find_cliques();
    if (const auto crowded = crowded_at(limit)) {
      certify(*crowded);
      return {Answer::No, {}};
    }
    Found found;
    found.answer = ask(upper_, limit, found.unit_of, is_one_ ? effort_.proof : "");
    if (found.answer == Answer::No && !is_one_) {
      std::vector<int> unused;
      found.answer = ask(lower_, limit, unused, effort_.proof) == Answer::No ? Answer::No : Answer::Unknown;
    }
    return found;
  }

  FewestUnits run() {
    const int limit = static_cast<int>(units_.size());
    if (upper_.nodes().empty()) return none();
    find_cliques();
    int k = 1;
    while (k <= limit && crowded_at(k)) ++k;
    result_.clique = result_.at_least = k;
    if (const auto crowded = crowded_at(k - 1)) result_.clique_nodes = cliques_[*crowded].nodes;
    // Upwards by optimistic colouring, then downwards by the solver, because formulas that have a colouring are the easy ones.
    for (; k <= limit; ++k)
      if (auto units = optimistic(first(k))) {
        result_.at_most = k;
        result_.unit_of = std::move(*units);
        break;
      }
    Answer last = Answer::Unknown;
    for (k = result_.at_most < 0 ? limit : result_.at_most - 1; k >= result_.at_least; --k) {
      std::vector<int> units;
      last = ask(upper_, k, units, is_one_ ? effort_.proof : "");
      if (last != Answer::Yes) break;
      result_.unit_of = std::move(units);
      result_.at_most = k;
    }
    if (last == Answer::No && is_one_) result_.at_least = k + 1;
    if (!is_one_) refute(k);
    if (const auto crowded = crowded_at(result_.at_least - 1)) certify(*crowded);
    return std::move(result_);
  }

 private:
  struct Confined {
    UnitSet forbidden;  // to all of it
    int units = 0;
    std::vector<NodeId> nodes;  // of the lower graph
  };
  static std::vector<int> listed(const UnitSet& all) {
    std::vector<int> units;
    all.for_each([&](int u) { units.push_back(u); });
    return units;
  }
  // The result where no node needs a unit.
  FewestUnits none() {
    result_.at_most = 0;
    const FileGraph& graph = upper_.graph();
    for (NodeId n = 0; n < graph.size(); ++n) result_.unit_of.push_back(graph.fixed(n).begin());
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
    const FileGraph& graph = upper_.graph();
    Colouring c = select(graph, simplify(graph, available, Optimism::SmallestLast), options);
    if (!c.failed.empty()) return std::nullopt;
    return std::move(c.unit_of);
  }
  Answer ask(Side& side, int k, std::vector<int>& unit_of, const std::string& proof) {
    if (!side.is_askable(k)) return Answer::Unknown;
    Question question(side.graph(), first(k), side.in_turn(k), {.conflicts = effort_.conflicts, .proof = proof});
    ++result_.questions;
    const Answer answer = question.ask();
    if (answer == Answer::No && !proof.empty()) write_lower();
    if (answer == Answer::Yes) unit_of = question.unit_of();
    return answer;
  }
  // Raises the lower bound up to k + 1, as far as the solver refutes the lower graph.
  void refute(int k) {
    for (int asked = 0; k >= result_.at_least && asked < kMostRefutations; --k, ++asked) {
      std::vector<int> unused;
      if (ask(lower_, k, unused, effort_.proof) != Answer::No) continue;
      result_.at_least = k + 1;
      return;
    }
  }

  // A clique of all nodes; and for each set of units in which some may not stand, one of those that may not stand there.
  void find_cliques() {
    const FileGraph& graph = lower_.graph();
    const auto add = [&](const UnitSet& forbidden, const std::vector<NodeId>& nodes) {
      Clique clique = heaviest_clique(graph, nodes);
      cliques_.push_back({forbidden, clique.units, std::move(clique.nodes)});
    };
    add({}, lower_.nodes());
    std::vector<UnitSet> sets;
    for (const NodeId n : lower_.nodes())
      if (graph.is_restricted(n) && sets.size() < kMostSets &&
          std::find(sets.begin(), sets.end(), graph.forbidden(n)) == sets.end())
        sets.push_back(graph.forbidden(n));
    for (const UnitSet& forbidden : sets) {
      std::vector<NodeId> confined;
      for (const NodeId n : lower_.nodes())
        if ((forbidden - graph.forbidden(n)).none()) confined.push_back(n);
      add(forbidden, confined);
    }
  }
  // The index of a clique that has no room in the first k units.
  [[nodiscard]] std::optional<std::size_t> crowded_at(int k) const {
    for (std::size_t c = 0; c < cliques_.size(); ++c)
      if (crowded(cliques_[c], std::clamp(k, 0, static_cast<int>(units_.size())))) return c;
    return std::nullopt;
  }
  // The clique, beside the graph.
  void certify(std::size_t clique) const {
    if (effort_.proof.empty()) return;
    int units = 1;
    while (units <= static_cast<int>(units_.size()) && crowded(cliques_[clique], units)) ++units;
    write_clique(effort_.proof, cliques_[clique].nodes, units);
    write_lower();
  }
  void write_lower() const {
    UnitSet all;
    for (const int u : units_) all.set(u);
    if (!effort_.proof.empty()) write_graph(effort_.proof, lower_.graph(), all, effort_.names);
  }
  [[nodiscard]] bool crowded(const Confined& c, int k) const { return c.units > (first(k) - c.forbidden).count(); }

  const Effort& effort_;
  std::vector<int> units_;  // that there are
  Side upper_, lower_;
  bool is_one_;
  std::vector<Confined> cliques_;
  FewestUnits result_;
};

}  // namespace

Found find_colouring(const FileGraph& graph, const UnitSet& available, const Effort& effort, const FileGraph* necessary) {
  REGDUEL_CHECK(effort.conflicts > 0, "an effort of no conflicts");
  return Search(graph, available, effort, necessary).find_one();
}

FewestUnits fewest_units(const FileGraph& graph, const UnitSet& all, const Effort& effort, const FileGraph* necessary) {
  REGDUEL_CHECK(effort.conflicts > 0, "an effort of no conflicts");
  return Search(graph, all, effort, necessary).run();
}

}  // namespace regduel::reference
