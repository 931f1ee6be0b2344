#include "reference/packing.h"

#include <algorithm>
#include <span>
#include <utility>

namespace regduel::reference {
namespace {

constexpr int kMaxSteps = 1 << 22;

class FilePacker {
 public:
  FilePacker(const Shape& shape, ir::RegFile file, const UnitSet& allocatable)
      : items_(shape.items.data(), shape.items.size()),
        clobbers_(shape.has_clobbers() ? (*shape.clobbers)[ir::index(file)] : UnitSet()), free_reads_(allocatable),
        free_writes_(allocatable) {
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (items_[k].file == file && !items_[k].architectural) mine_.push_back(k);
  }

  // Fills `homes` for the items of the file; false where they do not fit.
  bool run(std::vector<ir::PReg>& homes) {
    homes_ = &homes;
    std::vector<std::size_t> reads, writes;
    for (const std::size_t k : mine_) {
      const Item& item = items_[k];
      if (item.fixed.is_valid()) {
        if (!place_fixed(k)) return false;
      } else if (item.at_reads && item.at_writes) {
        both_.push_back(k);
      } else {
        (item.at_reads ? reads : writes).push_back(k);
      }
    }
    for (auto* list : {&both_, &reads, &writes})
      std::sort(list->begin(), list->end(),
                [&](std::size_t a, std::size_t b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
    reads_ = std::move(reads);
    writes_ = std::move(writes);
    return search_both(0);
  }

 private:
  [[nodiscard]] std::pair<int, int> rank(std::size_t k) const { return {items_[k].align_log2, items_[k].units}; }
  [[nodiscard]] ir::PReg tuple(std::size_t k, int at) const {
    return {items_[k].file, items_[k].units, static_cast<std::uint16_t>(at)};
  }

  bool place_fixed(std::size_t k) {
    const Item& item = items_[k];
    const UnitSet units = UnitSet::of(item.fixed);
    if (item.partial && clobbers_.intersects(units)) return false;
    // A second fixed read of one root in one register is the same item; what else overlaps is a contradiction.
    if (item.at_reads && !(units - free_reads_).is_empty()) return false;
    if (item.at_writes && !(units - free_writes_).is_empty()) return false;
    if (item.at_reads) free_reads_ -= units;
    if (item.at_writes) free_writes_ -= units;
    (*homes_)[k] = item.fixed;
    return true;
  }

  bool search_both(std::size_t n) {
    if (n == both_.size()) return search_one(reads_, 0, free_reads_) && search_one(writes_, 0, free_writes_);
    const std::size_t k = both_[n];
    const Item& item = items_[k];
    // Where its root is read in a fixed register, it may stand there too, if nothing is written to it.
    bool can_share = false;
    is_shared_.resize(both_.size());
    is_shared_[n] = true;
    if (!item.early && item.read_root.is_valid()) {
      for (const std::size_t other : mine_) {
        const Item& o = items_[other];
        if (!o.fixed.is_valid() || o.at_writes || o.read_root != item.read_root) continue;
        const UnitSet units = UnitSet::of(o.fixed);
        if (o.fixed.first % (1 << item.align_log2) != 0 || !(units - free_writes_).is_empty()) continue;
        if (item.partial && clobbers_.intersects(units)) continue;
        can_share = true;
        free_writes_ -= units;
        (*homes_)[k] = o.fixed;
        if (search_both(n + 1)) return true;
        free_writes_ |= units;
      }
    }
    is_shared_[n] = false;
    UnitSet free = free_reads_ & free_writes_;
    if (item.partial) free -= clobbers_;
    const UnitSet at = free.positions(item.units, item.align_log2);
    // Equal items that stand alone stand in ascending order.
    int from = 0;
    if (n > 0 && !can_share && !is_shared_[n - 1]) {
      const Item& before = items_[both_[n - 1]];
      if (rank(both_[n - 1]) == rank(k) && before.partial == item.partial) from = (*homes_)[both_[n - 1]].end();
    }
    for (int u = at.next(from); u >= 0; u = at.next(u + 1)) {
      if (++steps_ > kMaxSteps) return false;
      const ir::PReg home = tuple(k, u);
      const UnitSet units = UnitSet::of(home);
      free_reads_ -= units;
      free_writes_ -= units;
      (*homes_)[k] = home;
      if (search_both(n + 1)) return true;
      free_reads_ |= units;
      free_writes_ |= units;
    }
    return false;
  }

  bool search_one(const std::vector<std::size_t>& list, std::size_t n, UnitSet free) {
    if (n == list.size()) return true;
    const std::size_t k = list[n];
    int needed = 0;
    for (std::size_t m = n; m < list.size(); ++m) needed += items_[list[m]].units;
    if (free.count() < needed) return false;
    const UnitSet at = free.positions(items_[k].units, items_[k].align_log2);
    int from = 0;
    if (n > 0 && rank(list[n - 1]) == rank(k)) from = (*homes_)[list[n - 1]].end();
    for (int u = at.next(from); u >= 0; u = at.next(u + 1)) {
      if (++steps_ > kMaxSteps) return false;
      (*homes_)[k] = tuple(k, u);
      if (search_one(list, n + 1, free - UnitSet::of(tuple(k, u)))) return true;
    }
    return false;
  }

  std::span<const Item> items_;
  UnitSet clobbers_;
  UnitSet free_reads_, free_writes_;
  std::vector<std::size_t> mine_, both_, reads_, writes_;
  std::vector<bool> is_shared_;  // of both_: it stands where its root is read in a fixed register
  std::vector<ir::PReg>* homes_ = nullptr;
  int steps_ = 0;
};

}  // namespace

bool is_roomy(const Shape& shape, const ir::PerFile<int>& run) {
  ir::PerFile<int> needed = {};
  for (const Item& item : shape.items) {
    if (item.fixed.is_valid() || (item.partial && shape.has_clobbers())) return false;
    const int step = 1 << item.align_log2;
    int& sum = needed[ir::index(item.file)];
    sum += (item.units + step - 1) / step * step;
    if (sum > run[ir::index(item.file)]) return false;
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
    if (avoid[f].intersects(allocatable[f]) && FilePacker(shape, file, allocatable[f] - avoid[f]).run(homes.of_item)) continue;
    if (!FilePacker(shape, file, allocatable[f]).run(homes.of_item)) {
      homes.failed = file;
      return homes;
    }
  }
  return homes;
}

}  // namespace regduel::reference
