#include "reference/colour/coalesce.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::reference {
namespace {

class Coalescer {
 public:
  Coalescer(FileGraph& graph, const CoalesceOptions& options)
      : g_(graph), available_(options.available), factor_(options.factor), conservative_(options.conservative), fuel_(options.fuel),
        free_positions_(graph.free_positions(options.available)), positions_(graph.size(), -1), seen_(graph.size(), 0) {}

  Coalesced run() {
    std::vector<CopyPair> pairs = g_.copies();
    // A merge lowers degrees, so it may make other merges possible. Each pass but the last merges something; random programs take
    // four passes at most, but 500 phis of values that all live at once took 999, with a merge each.
    bool changed = true;
    for (int pass = 0; pass < kMostPasses && changed && !pairs.empty(); ++pass) {
      changed = false;
      std::size_t kept = 0;
      for (const CopyPair& p : pairs) {
        const NodeId a = g_.find(p.a), b = g_.find(p.b);
        if (a == b || g_.units(a) != g_.units(b)) continue;
        bool interfere = g_.interferes(a, b);
        if (REGDUEL_PLANTED("briggs-coalesces-what-interferes")) interfere = false;
        if (interfere) continue;
        if (!may_merge(a, b)) {
          pairs[kept++] = p;
          continue;
        }
        if (!ir::may(fuel_, "coalesce-copy")) continue;
        merge(a, b);
        changed = true;
        ++done_.merges;
      }
      pairs.resize(kept);
    }
    if (done_.merges > 0) g_.flatten();
    return done_;
  }

 private:
  static constexpr int kMostPasses = 8;
  int positions(NodeId n) {
    if (positions_[n] < 0) positions_[n] = g_.count_positions(n, available_, free_positions_);
    return positions_[n];
  }
  [[nodiscard]] bool is_significant(int squeeze, int positions) const {
    return static_cast<std::int64_t>(squeeze) * factor_.numerator >= static_cast<std::int64_t>(positions) * factor_.denominator;
  }

  [[nodiscard]] int positions_of_both(NodeId a, NodeId b) const {
    const NodeId strict = g_.align_log2(a) >= g_.align_log2(b) ? a : b;
    if (!g_.is_restricted(a) && !g_.is_restricted(b)) return free_positions_[g_.shape(strict)];
    const UnitSet both = available_ - (g_.forbidden(a) | g_.forbidden(b));
    return both.positions(g_.units(strict), g_.align_log2(strict)).count();
  }

  bool may_merge(NodeId a, NodeId b) {
    if (g_.is_fixed(a)) return fits_fixed(b, g_.fixed(a));
    if (g_.is_fixed(b)) return fits_fixed(a, g_.fixed(b));
    const int merged_positions = positions_of_both(a, b);
    if (merged_positions == 0) {
      done_.wants_units = true;
      return false;
    }
    if (!conservative_) return true;
    // True even if all neighbours were significant and none of them a neighbour of both.
    if (g_.shape(a) == g_.shape(b) && g_.squeeze(a) + g_.squeeze(b) < merged_positions) return true;
    mark_neighbours(b);
    if (briggs(a, b, merged_positions)) return true;
    if (g_.align_log2(a) != g_.align_log2(b)) return false;
    if (george(a, b)) return true;
    mark_neighbours(a);
    return george(b, a);
  }

  [[nodiscard]] bool is_significant(NodeId m) { return is_significant(g_.squeeze(m), positions(m)); }

  // The marks hold until other nodes are marked.
  void mark_neighbours(NodeId n) {
    stamp_ += 2;
    g_.for_listed(n, [&](NodeId m) { seen_[m] = stamp_; });
  }
  [[nodiscard]] bool is_marked(NodeId m) const { return seen_[m] >= stamp_; }

  // Requires the neighbours of b marked; they stay so.
  bool briggs(NodeId a, NodeId b, int merged_positions) {
    const NodeId strict = g_.align_log2(a) >= g_.align_log2(b) ? a : b;
    const std::uint32_t of_b = stamp_, of_both = stamp_ + 1;
    int squeeze = 0;
    const auto is_too_much = [&](NodeId m, int now) {
      if (is_significant(now, positions(m))) squeeze += g_.worst(strict, m);
      return squeeze >= merged_positions;
    };
    if (g_.any_neighbour(a, [&](NodeId m) {
          if (seen_[m] != of_b) return is_too_much(m, g_.squeeze(m));
          // A neighbour of both loses one of them.
          seen_[m] = of_both;
          return is_too_much(m, g_.squeeze(m) - g_.worst(m, b));
        }))
      return false;
    return !g_.any_neighbour(b, [&](NodeId m) { return seen_[m] == of_b && is_too_much(m, g_.squeeze(m)); });
  }

  // Each neighbour of a is insignificant or interferes with b; and b keeps all its positions. Requires the neighbours of b marked.
  bool george(NodeId a, NodeId b) {
    if (g_.is_restricted(a) && ((g_.forbidden(a) - g_.forbidden(b)) & available_).any()) return false;
    return !g_.any_neighbour(a, [&](NodeId m) { return !is_marked(m) && is_significant(m); });
  }
  bool fits_fixed(NodeId n, ir::PReg reg) {
    if (reg.first % (1 << g_.align_log2(n)) != 0) return false;
    if (!conservative_) return true;
    const UnitSet units = units_of(reg);
    return !g_.any_neighbour(n, [&](NodeId m) { return is_significant(m) && (units - g_.forbidden(m)).any(); });
  }

  void merge(NodeId a, NodeId b) {
    if (g_.is_fixed(a) || g_.is_fixed(b)) {
      const NodeId free = g_.is_fixed(a) ? b : a, fixed = g_.is_fixed(a) ? a : b;
      g_.for_neighbours(free, [&](NodeId m) { positions_[m] = -1; });
      g_.merge(free, fixed);
      return;
    }
    // The stricter shape stays.
    if (g_.align_log2(a) < g_.align_log2(b)) std::swap(a, b);
    g_.merge(a, b);
    positions_[a] = -1;
  }

  FileGraph& g_;
  UnitSet available_;
  Ratio factor_;
  bool conservative_;
  ir::Fuel* fuel_;
  Coalesced done_;
  std::vector<int> free_positions_;  // by shape
  std::vector<int> positions_;       // -1 = not counted yet
  std::vector<std::uint32_t> seen_;  // by node: the stamp when it was marked, one more where briggs saw it from both; 0 = never
  std::uint32_t stamp_ = 0;          // even
};

}  // namespace

Coalesced coalesce(FileGraph& graph, const CoalesceOptions& options) { return Coalescer(graph, options).run(); }

}  // namespace regduel::reference
