#include "reference/textbook/chordal.h"

#include <algorithm>

namespace regduel::reference {
namespace {

class Chordal final : public SplitPolicy {
 public:
  std::vector<std::pair<TempId, int>> enter(const Walk& walk, std::uint32_t block) override {
    const auto predecessors = walk.code().predecessors[block];
    std::vector<std::pair<TempId, int>> there;
    if (block == 0) return there;
    const bool is_join = predecessors.size() > 1;
    struct Candidate {
      std::uint64_t distance;
      int units, unit;
      TempId temp;
    };
    std::vector<Candidate> candidates;
    for (const TempId t : walk.live_in(block)) {
      int unit = -1;
      for (const std::uint32_t p : predecessors)
        if (unit < 0 && walk.was_walked(p)) unit = walk.at_end(p, t).unit;
      if (unit >= 0) candidates.push_back({walk.distance_at_head(block, t), walk.code().temps[t].units, unit, t});
    }
    if (is_join)
      std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.temp < b.temp;
      });
    ir::PerFile<UnitSet> taken;
    std::vector<Candidate> elsewhere;
    for (const Candidate& c : candidates) {
      UnitSet& units = taken[ir::index(walk.code().temps[c.temp].file)];
      if (units.has_any(c.unit, c.unit + c.units)) {
        elsewhere.push_back(c);
        continue;
      }
      units.set_range(c.unit, c.unit + c.units);
      there.emplace_back(c.temp, c.unit);
    }
    for (const Candidate& c : elsewhere) {
      const Temp& temp = walk.code().temps[c.temp];
      UnitSet& units = taken[ir::index(temp.file)];
      const int u = (walk.allocatable(temp.file) - units).positions(temp.units, temp.align_log2).first();
      if (u < 0) continue;
      units.set_range(u, u + c.units);
      there.emplace_back(c.temp, u);
    }
    return there;
  }

  int choose(const Walk&, TempId, const UnitSet& positions) override { return positions.first(); }

  std::uint64_t cost(const Walk& walk, TempId t) override {
    return (std::uint64_t{1} << 40) / std::max<std::uint64_t>(1, walk.distance(t));
  }
};

}  // namespace

ir::Allocation allocate_by_chordal_colouring(const Problem& problem, ir::Fuel* fuel) {
  Chordal policy;
  return allocate_by_splitting(problem, policy, fuel);
}

}  // namespace regduel::reference
