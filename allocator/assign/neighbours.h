// Who stands where while a range lives: asked by whatever looks for somebody to make room.
//
// Vregs with a home are listed by stretch of instructions, so that a search looks at its surroundings only. Used by both ways of
// finding out who has to go: the attempt with eviction (assign) and the instruction walk. Tested by neighbours_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "ir/program.h"

namespace regduel::allocator {

class Neighbours {
 public:
  //   units   homes are in [0, units)
  // The function and the liveness must outlive it.
  Neighbours(const ir::Function& f, const Liveness& live, int units)
      : f_(f), live_(live), near_(live.num_numbered() / kStretch + 1), at_unit_(static_cast<std::size_t>(units)),
        turn_(f.vregs.size(), 0), stamp_(f.vregs.size(), 0) {}

  // When it comes to its home, and when it leaves it.
  void add(ir::VRegId v) {
    turn_[v.index()] = ++turns_;
    for_each_stretch(live_.range(v.index()), [&](std::vector<ir::VRegId>& list) { list.push_back(v); });
  }
  void remove(ir::VRegId v) {
    for_each_stretch(live_.range(v.index()), [&](std::vector<ir::VRegId>& list) { std::erase(list, v); });
  }

  // Looks around a range. Cost: those listed in its stretches.
  //   home   by vreg: the first unit
  void find(std::span<const Interval> range, std::span<const int> home) {
    for (std::vector<ir::VRegId>& list : at_unit_) list.clear();
    found_.clear();
    begin_list();
    for_each_stretch(range, [&](const std::vector<ir::VRegId>& list) {
      for (const ir::VRegId other : list)
        if (is_new(other) && overlap(range, live_.range(other.index()))) found_.push_back(other);
    });
    std::sort(found_.begin(), found_.end(), [&](ir::VRegId a, ir::VRegId b) { return turn_[a.index()] < turn_[b.index()]; });
    for (const ir::VRegId other : found_)
      for (int u = home[other.index()]; u < home[other.index()] + f_.vreg(other).units(); ++u)
        at_unit_[static_cast<std::size_t>(u)].push_back(other);
  }
  // After find(): those that stand in a unit at some moment of that range, in the order in which they came.
  [[nodiscard]] std::span<const ir::VRegId> at(int unit) const { return at_unit_[static_cast<std::size_t>(unit)]; }

  // For lists of neighbours without repetition: true the first time that a vreg is asked about since begin_list().
  void begin_list() { ++epoch_; }
  [[nodiscard]] bool is_new(ir::VRegId v) {
    if (stamp_[v.index()] == epoch_) return false;
    stamp_[v.index()] = epoch_;
    return true;
  }

 private:
  static constexpr std::uint32_t kStretch = 128;  // instructions

  template <class Visit>
  void for_each_stretch(std::span<const Interval> range, Visit visit) {
    std::size_t next = 0;
    for (const Interval& i : range)
      for (next = std::max<std::size_t>(next, i.begin / (4 * kStretch)); next <= (i.end - 1) / (4 * kStretch); ++next)
        visit(near_[next]);
  }

  const ir::Function& f_;
  const Liveness& live_;
  std::vector<std::vector<ir::VRegId>> near_;     // by stretch
  std::vector<std::vector<ir::VRegId>> at_unit_;  // by unit: of those found last
  std::vector<std::uint32_t> turn_;               // by vreg: when it came to its home
  std::uint32_t turns_ = 0;
  std::vector<ir::VRegId> found_;
  std::vector<std::uint32_t> stamp_;  // by vreg: the list that it was last new in
  std::uint32_t epoch_ = 0;
};

}  // namespace regduel::allocator
