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
    // A merge lowers degrees, and so may make possible what was not; each pass but the last merges something.
    for (bool changed = true; changed && !pairs.empty();) {
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
    return done_;
  }

 private:
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
    return briggs(a, b, merged_positions) || (g_.align_log2(a) == g_.align_log2(b) && (george(a, b) || george(b, a)));
  }

  bool briggs(NodeId a, NodeId b, int merged_positions) {
    ++stamp_;
    g_.for_neighbours(a, [&](NodeId m) { seen_[m] = 2 * stamp_; });
    g_.for_neighbours(b, [&](NodeId m) { seen_[m] = seen_[m] == 2 * stamp_ ? 2 * stamp_ + 1 : seen_[m]; });
    const NodeId strict = g_.align_log2(a) >= g_.align_log2(b) ? a : b;
    int squeeze = 0;
    const auto count = [&](NodeId m, NodeId from) {
      // A neighbour of both loses one of them.
      const int now = g_.squeeze(m) - (seen_[m] == 2 * stamp_ + 1 ? g_.worst(m, from) : 0);
      if (is_significant(now, positions(m))) squeeze += g_.worst(strict, m);
    };
    g_.for_neighbours(a, [&](NodeId m) { count(m, b); });
    g_.for_neighbours(b, [&](NodeId m) {
      if (seen_[m] != 2 * stamp_ + 1) count(m, a);
    });
    return squeeze < merged_positions;
  }

  // Each neighbour of a is insignificant or interferes with b; and b keeps all its positions.
  bool george(NodeId a, NodeId b) {
    if (!((g_.forbidden(a) - g_.forbidden(b)) & available_).is_empty()) return false;
    ++stamp_;
    g_.for_neighbours(b, [&](NodeId m) { seen_[m] = 2 * stamp_; });
    bool ok = true;
    g_.for_neighbours(a, [&](NodeId m) { ok = ok && (seen_[m] == 2 * stamp_ || !is_significant(g_.squeeze(m), positions(m))); });
    return ok;
  }
  bool fits_fixed(NodeId n, ir::PReg reg) {
    if (reg.first % (1 << g_.align_log2(n)) != 0) return false;
    if (!conservative_) return true;
    bool ok = true;
    const UnitSet units = UnitSet::of(reg);
    g_.for_neighbours(
        n, [&](NodeId m) { ok = ok && ((units - g_.forbidden(m)).is_empty() || !is_significant(g_.squeeze(m), positions(m))); });
    return ok;
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
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

Coalesced coalesce(FileGraph& graph, const CoalesceOptions& options) { return Coalescer(graph, options).run(); }

}  // namespace regduel::reference
