// See point_packing.h.

#include "reference/by_point/point_packing.h"

#include <algorithm>
#include <numeric>

namespace regduel::reference {
namespace {

constexpr int kMostSteps = 200'000;

class Packer {
 public:
  Packer(const std::vector<Tenant>& tenants, std::vector<int>& unit_of)
      : tenants_(tenants), unit_of_(unit_of), order_(tenants.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (const Tenant& t : tenants) places_.push_back(t.room.positions(t.units, t.align_log2).count());
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
      const Tenant &x = tenants_[a], &y = tenants_[b];
      if ((places_[a] <= 1) != (places_[b] <= 1)) return places_[a] <= 1;
      if (x.align_log2 != y.align_log2) return x.align_log2 > y.align_log2;
      if (x.units != y.units) return x.units > y.units;
      return is_both(x) > is_both(y);
    });
  }

  Packing run() {
    for (const bool prefers : {true, false}) {
      clear();
      prefers_ = prefers;
      if (std::ranges::all_of(order_, [&](std::size_t k) { return place_first(k); })) return Packing::Fits;
    }
    clear();
    if (search(0)) return Packing::Fits;
    return steps_ > kMostSteps ? Packing::Unknown : Packing::Impossible;
  }

 private:
  static bool is_both(const Tenant& t) { return t.at_reads && t.at_writes; }
  void clear() {
    reads_ = writes_ = {};
    unit_of_.assign(tenants_.size(), -1);
  }
  [[nodiscard]] ir::UnitSet free_for(const Tenant& t) const {
    ir::UnitSet free = t.room;
    if (t.at_reads) free -= reads_;
    if (t.at_writes) free -= writes_;
    return free;
  }
  void put(std::size_t k, int unit) {
    const Tenant& t = tenants_[k];
    unit_of_[k] = unit;
    if (t.at_reads) reads_.set_range(unit, unit + t.units);
    if (t.at_writes) writes_.set_range(unit, unit + t.units);
  }
  void take_back(std::size_t k) {
    const Tenant& t = tenants_[k];
    if (t.at_reads) reads_.clear_range(unit_of_[k], unit_of_[k] + t.units);
    if (t.at_writes) writes_.clear_range(unit_of_[k], unit_of_[k] + t.units);
    unit_of_[k] = -1;
  }
  // How large the aligned block of free units around a place is: the smaller, the less is broken up.
  [[nodiscard]] static int gap(const ir::UnitSet& free, int unit, int units) {
    int size = 1;
    while (size < units) size *= 2;
    while (size < 256) {
      const int begin = unit / (2 * size) * (2 * size);
      if (begin + 2 * size > ir::kMaxUnits || !free.has_all(begin, begin + 2 * size)) break;
      size *= 2;
    }
    return size;
  }
  [[nodiscard]] std::vector<int> places(std::size_t k) const {
    const Tenant& t = tenants_[k];
    const ir::UnitSet free = free_for(t);
    const ir::UnitSet blocked = reads_ | writes_;
    std::vector<std::pair<int, int>> by_gap;
    free.positions(t.units, t.align_log2).for_each([&](int u) { by_gap.emplace_back(gap(t.room - blocked, u, t.units), u); });
    std::ranges::sort(by_gap);
    std::vector<int> units;
    for (const auto& [gap, u] : by_gap) units.push_back(u);
    return units;
  }
  bool place_first(std::size_t k) {
    const Tenant& t = tenants_[k];
    if (prefers_ && t.preferred >= 0 && free_for(t).positions(t.units, t.align_log2).has(t.preferred)) {
      put(k, t.preferred);
      return true;
    }
    const std::vector<int> all = places(k);
    if (!all.empty()) put(k, all[0]);
    return !all.empty();
  }
  [[nodiscard]] bool is_alike(std::size_t a, std::size_t b) const {
    const Tenant &x = tenants_[a], &y = tenants_[b];
    return x.units == y.units && x.align_log2 == y.align_log2 && x.room == y.room && x.at_reads == y.at_reads &&
           x.at_writes == y.at_writes;
  }
  bool search(std::size_t at) {
    if (at == order_.size()) return true;
    const std::size_t k = order_[at];
    // Of tenants that are alike the first one stands first.
    const int above = at > 0 && is_alike(order_[at - 1], k) ? unit_of_[order_[at - 1]] : -1;
    for (const int u : places(k)) {
      if (u <= above) continue;
      if (++steps_ > kMostSteps) return false;
      put(k, u);
      if (search(at + 1)) return true;
      take_back(k);
    }
    return false;
  }

  const std::vector<Tenant>& tenants_;
  std::vector<int>& unit_of_;
  std::vector<std::size_t> order_;
  std::vector<int> places_;
  ir::UnitSet reads_, writes_;
  bool prefers_ = false;
  int steps_ = 0;
};

}  // namespace

Packing pack_point(const std::vector<Tenant>& tenants, std::vector<int>& unit_of) { return Packer(tenants, unit_of).run(); }

}  // namespace regduel::reference
