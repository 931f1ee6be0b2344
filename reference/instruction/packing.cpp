#include "reference/instruction/packing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace regduel::reference {
namespace {

// The items of one moment, placed one behind the other, each at the first place that is left to its group above the one before.
// Whether the others fit above depends on which items are placed, by group, and on where the last one ends; a lower end is never
// worse. So for each *choice* of placed items the least end that was a dead end is remembered.
//   An item that begins behind the end of another that might stand there comes later, because the other takes nothing from it.
class OneMoment {
 public:
  explicit OneMoment(const UnitSet& free) : free_(free) {}

  // An item that may begin at these units, with its others free from there on.
  void add(std::size_t item, const UnitSet& begins, int units) {
    missing_ += units;
    auto at = std::ranges::find_if(groups_, [&](const Group& g) { return g.units == units && g.begins == begins; });
    if (at == groups_.end()) at = groups_.insert(at, Group{begins, units, {}});
    at->items.push_back(item);
  }

  // Whether all fit; then place(item, unit) is called for each.
  template <class Place>
  bool solve(Place place) {
    if (missing_ > free_.count()) return false;
    // Single units that may stand anywhere fill what the others leave.
    Group singles;
    for (Group& g : groups_)
      if (g.units == 1 && g.begins == free_) std::swap(g, singles);
    std::erase_if(groups_, [](const Group& g) { return g.items.empty(); });
    missing_ -= static_cast<int>(singles.items.size());
    std::ranges::stable_sort(groups_, std::ranges::greater(), &Group::units);
    choice_.assign(groups_.size(), 0);
    if (!extend(0, free_)) return false;
    UnitSet left = free_;
    for (const auto& [g, u] : places_) {
      for (int k = u; k < u + g->units; ++k) left.clear(k);
      place(g->items[--choice_[static_cast<std::size_t>(g - groups_.data())]], u);
    }
    for (const std::size_t item : singles.items) {
      place(item, left.first());
      left.clear(left.first());
    }
    return true;
  }

 private:
  // Items that can be exchanged for one another.
  struct Group {
    UnitSet begins;
    int units = 0;
    std::vector<std::size_t> items;
  };

  // Completes the choice, which ends at `end`; `above` are the free units from there on.
  bool extend(int end, UnitSet above) {
    if (missing_ == 0) return true;
    above.clear_range(0, end);
    if (missing_ > above.count()) return false;
    const auto dead_end = dead_ends_.find(choice_);
    if (dead_end != dead_ends_.end() && dead_end->second <= end) return false;
    std::vector<std::pair<int, const Group*>> next;
    int first_end = ir::kMaxUnits;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (choice_[g] == groups_[g].items.size()) continue;
      const int u = groups_[g].begins.next(end);
      if (u < 0) return false;
      next.emplace_back(u, &groups_[g]);
      first_end = std::min(first_end, u + groups_[g].units);
    }
    std::erase_if(next, [&](const auto& n) { return n.first >= first_end; });
    std::ranges::stable_sort(next, {}, &std::pair<int, const Group*>::first);
    for (const auto& [u, g] : next) {
      std::size_t& chosen = choice_[static_cast<std::size_t>(g - groups_.data())];
      ++chosen;
      missing_ -= g->units;
      places_.emplace_back(g, u);
      if (extend(u + g->units, above)) return true;
      places_.pop_back();
      missing_ += g->units;
      --chosen;
    }
    dead_ends_[choice_] = end;
    return false;
  }

  UnitSet free_;
  std::vector<Group> groups_;
  int missing_ = 0;                  // units of the items that are not placed
  std::vector<std::size_t> choice_;  // placed items, by group
  std::vector<std::pair<const Group*, int>> places_;
  std::map<std::vector<std::size_t>, int> dead_ends_;
};

class FilePacker {
 public:
  FilePacker(const Shape& shape, ir::RegFile file, const UnitSet& allocatable, std::vector<ir::PReg>& homes)
      : items_(shape.items.data(), shape.items.size()),
        clobbers_(shape.has_clobbers() ? (*shape.clobbers)[ir::index(file)] : UnitSet()), free_reads_(allocatable),
        free_writes_(allocatable), homes_(homes) {
    for (std::size_t k = 0; k < items_.size(); ++k) {
      const Item& item = items_[k];
      if (item.file != file || item.architectural) continue;
      auto& list = item.fixed.is_valid() ? fixed_ : !item.at_writes ? reads_ : !item.at_reads ? writes_ : both_;
      list.push_back(k);
    }
    for (auto* list : {&both_, &reads_, &writes_})
      std::ranges::stable_sort(*list, std::ranges::greater(), [&](std::size_t k) { return rank(k); });
  }

  // Sets the homes of the items of the file; false where they do not fit.
  bool run() {
    for (const std::size_t k : fixed_)
      if (!place_fixed(k)) return false;
    return first_fit() || search(0);
  }

 private:
  [[nodiscard]] std::pair<int, int> rank(std::size_t k) const { return {items_[k].align_log2, items_[k].units}; }
  [[nodiscard]] ir::PReg tuple(std::size_t k, int at) const {
    return {items_[k].file, items_[k].units, static_cast<std::uint16_t>(at)};
  }

  bool place_fixed(std::size_t k) {
    const Item& item = items_[k];
    const UnitSet units = units_of(item.fixed);
    if (item.partial && clobbers_.intersects(units)) return false;
    // A second fixed read of one root in one register is the same item; what else overlaps is a contradiction.
    if (item.at_reads && (units - free_reads_).any()) return false;
    if (item.at_writes && (units - free_writes_).any()) return false;
    take(k, item.fixed);
    return true;
  }
  void take(std::size_t k, ir::PReg home) {
    const UnitSet units = units_of(home);
    if (items_[k].at_reads) free_reads_ -= units;
    if (items_[k].at_writes) free_writes_ -= units;
    homes_[k] = home;
  }

  // Where item k may begin with all its units free at the moments at which it holds them.
  [[nodiscard]] UnitSet begins(std::size_t k) const {
    const Item& item = items_[k];
    UnitSet free = item.at_reads ? free_reads_ : free_writes_;
    if (item.at_writes) free &= free_writes_;
    if (item.partial) free -= clobbers_;
    return free.positions(item.units, item.align_log2);
  }
  // Where its root is read in a fixed register, an item of both moments may stand there too, if nothing is written to it.
  [[nodiscard]] bool can_share(std::size_t k, std::size_t fixed) const {
    const Item &item = items_[k], &o = items_[fixed];
    return !item.early && item.read_root.is_valid() && !o.at_writes && o.read_root == item.read_root;
  }
  [[nodiscard]] bool can_share(std::size_t k) const {
    return std::ranges::any_of(fixed_, [&](std::size_t other) { return can_share(k, other); });
  }
  // The fixed registers in which it may stand now.
  [[nodiscard]] std::vector<int> shared(std::size_t k) const {
    std::vector<int> at;
    for (const std::size_t other : fixed_) {
      const ir::PReg home = items_[other].fixed;
      if (!can_share(k, other) || home.first % (1 << items_[k].align_log2) != 0) continue;
      UnitSet free = free_writes_;
      if (items_[k].partial) free -= clobbers_;
      if ((units_of(home) - free).none()) at.push_back(home.first);
    }
    return at;
  }

  // Puts each item at the first place that is left to it, which suffices unless the limit is tight.
  bool first_fit() {
    const UnitSet reads = free_reads_, writes = free_writes_;
    for (const auto* list : {&both_, &reads_, &writes_})
      for (const std::size_t k : *list) {
        const std::vector<int> homes = list == &both_ ? shared(k) : std::vector<int>();
        const int at = homes.empty() ? begins(k).first() : homes.front();
        if (at < 0) {
          free_reads_ = reads, free_writes_ = writes;
          return false;
        }
        take(k, tuple(k, at));
      }
    return true;
  }

  // Places the items of both moments from both_[n] on, then the others. Each moment must have room for all that is to come as if it
  // were alone.
  bool search(std::size_t n) {
    if (!fits(n, free_reads_, reads_, true) || !fits(n, free_writes_, writes_, false)) return false;
    if (n == both_.size()) return true;
    const std::size_t k = both_[n];
    std::vector<int> at = shared(k);
    // Equal items that never share stand in ascending order.
    int from = 0;
    if (n > 0 && rank(both_[n - 1]) == rank(k) && !can_share(both_[n - 1]) && !can_share(k) &&
        items_[both_[n - 1]].partial == items_[k].partial)
      from = homes_[both_[n - 1]].end();
    if (!tried_.emplace(n, from, free_reads_, free_writes_).second) return false;
    const UnitSet alone = begins(k);
    for (int u = alone.next(from); u >= 0; u = alone.next(u + 1)) at.push_back(u);
    const UnitSet reads = free_reads_, writes = free_writes_;
    for (const int u : at) {
      take(k, tuple(k, u));
      if (search(n + 1)) return true;
      free_reads_ = reads, free_writes_ = writes;
    }
    return false;
  }
  // Whether the items of both moments from both_[n] on and those of `own` fit into one moment; sets the homes of `own`.
  bool fits(std::size_t n, const UnitSet& free, const std::vector<std::size_t>& own, bool at_reads) {
    OneMoment moment(free);
    for (const std::size_t k : std::span(both_).subspan(n)) {
      UnitSet at = begins(k);
      if (can_share(k)) {
        if (at_reads) continue;  // it may need no room here
        for (const int u : shared(k)) at.set(u);
      }
      moment.add(k, at, items_[k].units);
    }
    for (const std::size_t k : own) moment.add(k, begins(k), items_[k].units);
    return moment.solve([&](std::size_t k, int u) {
      if (!items_[k].at_reads || !items_[k].at_writes) homes_[k] = tuple(k, u);
    });
  }

  std::span<const Item> items_;
  UnitSet clobbers_;
  UnitSet free_reads_, free_writes_;
  std::vector<std::size_t> fixed_, both_, reads_, writes_;
  std::vector<ir::PReg>& homes_;
  std::set<std::tuple<std::size_t, int, UnitSet, UnitSet>> tried_;  // by search()
};

}  // namespace

UnitRun longest_run(const UnitSet& allocatable) {
  UnitRun longest, run;
  allocatable.for_each([&](int u) {
    run = {u == run.end ? run.first : u, u + 1};
    if (run.end - run.first > longest.end - longest.first) longest = run;
  });
  return longest;
}

bool is_roomy(const Shape& shape, const ir::PerFile<UnitRun>& runs) {
  ir::PerFile<int> needed = {}, strictest = {};
  for (const Item& item : shape.items) {
    if (item.fixed.is_valid() || (item.partial && shape.has_clobbers())) return false;
    const int step = 1 << item.align_log2;
    const std::size_t f = ir::index(item.file);
    needed[f] += (item.units + step - 1) / step * step;
    strictest[f] = std::max(strictest[f], step);
    const int first = (runs[f].first + strictest[f] - 1) / strictest[f] * strictest[f];
    if (first + needed[f] > runs[f].end) return false;
  }
  return true;
}

Homes pack(const Shape& shape, const ir::PerFile<UnitSet>& allocatable, const ir::PerFile<UnitSet>& avoid) {
  Homes homes;
  homes.of_item.resize(shape.items.size());
  ir::PerFile<bool> present = {};
  for (std::size_t k = 0; k < shape.items.size(); ++k) {
    if (shape.items[k].architectural) homes.of_item[k] = shape.items[k].fixed;
    else present[ir::index(shape.items[k].file)] = true;
  }
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t f = ir::index(file);
    if (!present[f]) continue;
    if (avoid[f].intersects(allocatable[f]) && FilePacker(shape, file, allocatable[f] - avoid[f], homes.of_item).run()) continue;
    if (!FilePacker(shape, file, allocatable[f], homes.of_item).run()) {
      homes.failed = file;
      return homes;
    }
  }
  return homes;
}

}  // namespace regduel::reference
