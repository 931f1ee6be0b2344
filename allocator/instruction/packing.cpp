// See packing.h.

#include "allocator/instruction/packing.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "allocator/program/names.h"
#include "base/planted.h"
#include "ir/cfg.h"
#include "ir/memory_through_r.h"

namespace regduel::allocator {

Budget Budget::of(const Function& program, const ir::Target& target, const ir::Limits& limits) {
  Budget b;
  b.memory_through_r = ir::reaches_memory_through_r(program, target, limits);
  const PointLimits points(program, limits.of(RegFile::R));
  for (std::size_t i = 0; i < program.insts.size() && points.vary(); ++i)
    if (points.is_lower(i)) b.limit_at.emplace(program.insts[i].id, points.at(i));
  for (const RegFile file : ir::kAllFiles) {
    const std::size_t f = ir::index(file);
    b.limit[f] = limits.of(file);
    b.allocatable[f] = UnitSet::range(0, std::min(file == RegFile::R ? points.most() : limits.of(file), target.units[f]));
    for (const auto* reserved : {&target.reserved, &target.abi(program.abi).reserved})
      for (const PReg r : *reserved)
        if (r.file == file) b.allocatable[f] -= units_of(r);
  }
  for (const ir::VReg& v : program.vregs)
    if (v.is_architectural() && v.fixed.is_valid()) b.allocatable[ir::index(v.fixed.file)] -= units_of(v.fixed);
  const auto count_neighbours = [&] {
    for (const RegFile file : ir::kAllFiles) {
      int in_a_row = 0, last = -1;
      const UnitSet open = b.allocatable[ir::index(file)] & UnitSet::range(0, file == RegFile::R ? points.least() : ir::kMaxUnits);
      open.for_each([&](int u) {
        in_a_row = u == last + 1 ? in_a_row + 1 : 1;
        last = u;
        b.most_in_a_row[ir::index(file)] = std::max(b.most_in_a_row[ir::index(file)], in_a_row);
      });
    }
  };
  if (program.kind != ir::FunctionKind::Device) {
    count_neighbours();
    return b;
  }
  // A register that the program itself clobbers, or that is architectural, cannot keep a caller's value.
  ir::PerFile<UnitSet> clobbered;
  for (const ir::VReg& v : program.vregs)
    if (v.is_architectural()) clobbered[ir::index(v.fixed.file)] |= units_of(v.fixed);
  for (const ir::Operand& op : program.operands)
    if (op.role == Role::Clobber) clobbered[ir::index(op.preg().file)] |= units_of(op.preg());
  const bool reentered = !ir::Cfg(program).predecessors(ir::BlockId(0)).empty();
  const bool returns = std::ranges::any_of(program.insts, [](const ir::Inst& i) { return i.op == ir::Op::Ret; });
  for (const PReg r : target.abi(program.abi).callee_saved) {
    const UnitSet kept = units_of(r) - clobbered[ir::index(r.file)];
    if (returns) b.callee_saved[ir::index(r.file)] |= kept;
    const bool is_saved_through_r = b.memory_through_r && r.file != RegFile::R;
    const int first_lost = reentered || is_saved_through_r ? 0 : r.file == RegFile::R ? points.least() : ir::kMaxUnits;
    b.allocatable[ir::index(r.file)] -= kept & UnitSet::range(first_lost, ir::kMaxUnits);
  }
  count_neighbours();
  return b;
}

namespace {

// The items of one moment, packed unit by unit: an item begins at the lowest free unit, or the unit stays empty. As many units may
// stay empty as the items do not need, so items of one unit without a fixed place are left out of the search: they take units that
// stayed empty.
class Moment {
 public:
  explicit Moment(const UnitSet& free) : all_(free), free_(free), may_stay_empty_(free.count()), end_(free.end()) {}

  // An item that may begin at these units; its own are free from there on.
  void add(std::size_t item, int units, const UnitSet& begins) {
    may_stay_empty_ -= units;
    auto same =
        std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.units == units && kind.begins == begins; });
    if (same == kinds_.end()) same = kinds_.insert(same, {units, begins, {}});
    same->items.push_back(item);
  }
  // Whether all items fit; then place(item, first unit) is called for each.
  template <class Place>
  bool pack(Place place) {
    if (may_stay_empty_ < 0) return false;
    std::stable_sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) { return a.units > b.units; });
    left_.assign(kinds_.size(), 0);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (goes_anywhere(kinds_[k])) may_stay_empty_ += static_cast<int>(kinds_[k].items.size());
      else num_left_ += left_[k] = kinds_[k].items.size();
    }
    if (!fill(0)) return false;
    for (const auto& [k, first] : chosen_) {
      place(kinds_[k].items[left_[k]++], first);
      free_.clear_range(first, first + kinds_[k].units);
    }
    for (const Kind& kind : kinds_)
      if (goes_anywhere(kind))
        for (const std::size_t item : kind.items) {
          const int first = free_.first();
          place(item, first);
          free_.clear_range(first, first + 1);
        }
    return true;
  }

 private:
  struct Kind {
    int units;
    UnitSet begins;
    std::vector<std::size_t> items;
  };
  [[nodiscard]] bool goes_anywhere(const Kind& kind) const { return kind.units == 1 && kind.begins == all_; }
  // Places the remaining items in the free units from `unit` on. If that fails from some unit, it fails from all higher units.
  bool fill(int unit) {
    if (num_left_ == 0) return true;
    while (unit < end_ && !free_.has(unit)) ++unit;
    if (unit >= end_) return false;
    int& dead_from = dead_from_.try_emplace(left_, end_).first->second;
    if (unit >= dead_from) return false;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (left_[k] == 0 || !kinds_[k].begins.has(unit)) continue;
      --left_[k], --num_left_;
      chosen_.emplace_back(k, unit);
      if (fill(unit + kinds_[k].units)) return true;
      chosen_.pop_back();
      ++left_[k], ++num_left_;
    }
    if (may_stay_empty_ > 0) {
      --may_stay_empty_;
      if (fill(unit + 1)) return true;
      ++may_stay_empty_;
    }
    dead_from = unit;
    return false;
  }

  UnitSet all_, free_;
  int may_stay_empty_, end_;
  std::vector<Kind> kinds_;
  std::vector<std::size_t> left_;  // items, by kind
  std::size_t num_left_ = 0;
  std::vector<std::pair<std::size_t, int>> chosen_;    // kind and first unit
  std::map<std::vector<std::size_t>, int> dead_from_;  // by left_: these items cannot be placed from this unit on
};

class FilePacker {
 public:
  FilePacker(const std::vector<Item>& items, RegFile file, const UnitSet& allowed, const UnitSet& clobbered,
             std::vector<PReg>& homes)
      : items_(items), homes_(homes), allowed_(allowed), clobbered_(clobbered) {
    order_.reserve(items.size());
    for (std::size_t k = 0; k < items.size(); ++k)
      if (items[k].file == file && !items[k].architectural) order_.push_back(k);
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    fixed_ = of_kind(Fixed), both_ = of_kind(Both), reads_ = of_kind(Reads), writes_ = of_kind(Writes);
  }

  bool run() {
    for (const std::size_t k : fixed_) {
      const PReg r = items_[k].fixed;
      if (!may_stand(k, r)) return false;
      place(k, r);
    }
    if (!first_fit() && !search(0)) return false;
    return !REGDUEL_PLANTED("fatpoint-impossible-too-soon") || !(fill_up(reads_, taken_r_) || fill_up(writes_, taken_w_));
  }

 private:
  enum Kind : std::uint8_t { Fixed, Both, Reads, Writes };
  [[nodiscard]] Kind kind(std::size_t k) const {
    if (items_[k].fixed.is_valid()) return Fixed;
    if (items_[k].at_reads) return items_[k].at_writes ? Both : Reads;
    return Writes;
  }
  // By kind; fixed items in program order, of the others larger and more aligned first, items that must avoid the clobbers before
  // the rest.
  [[nodiscard]] std::array<int, 5> rank(std::size_t k) const {
    const Item& item = items_[k];
    if (kind(k) == Fixed) return {Fixed, 0, 0, 0, static_cast<int>(k)};
    return {kind(k), -std::max(item.units, item.align), -item.units, item.keeps ? 0 : 1, static_cast<int>(k)};
  }
  [[nodiscard]] std::span<const std::size_t> of_kind(Kind wanted) const {
    const auto begin = std::find_if(order_.begin(), order_.end(), [&](std::size_t k) { return kind(k) == wanted; });
    return {begin, std::find_if(begin, order_.end(), [&](std::size_t k) { return kind(k) != wanted; })};
  }
  // Whether fixed item `other` reads the root of `k`, which may then stand there too.
  [[nodiscard]] bool may_share(std::size_t k, std::size_t other) const {
    return !items_[k].early && items_[other].at_reads && !items_[other].early && items_[other].reads == items_[k].reads;
  }
  [[nodiscard]] bool stands_alone(std::size_t k) const {
    return std::none_of(fixed_.begin(), fixed_.end(), [&](std::size_t other) { return may_share(k, other); });
  }
  [[nodiscard]] bool shares(std::size_t k, PReg r) const {
    return std::any_of(fixed_.begin(), fixed_.end(), [&](std::size_t other) { return homes_[other] == r && may_share(k, other); });
  }
  [[nodiscard]] bool may_stand(std::size_t k, PReg r) const {
    const Item& item = items_[k];
    const UnitSet u = units_of(r);
    if ((u - allowed_).any() || (item.keeps && (u & clobbered_).any()) || (item.at_writes && (u & taken_w_).any())) return false;
    return !item.at_reads || (u & taken_r_).none() || (kind(k) == Both && shares(k, r));
  }
  void place(std::size_t k, PReg r) {
    homes_[k] = r;
    if (items_[k].at_reads) taken_r_ |= units_of(r);
    if (items_[k].at_writes) taken_w_ |= units_of(r);
  }
  [[nodiscard]] PReg home(std::size_t k, int first) const {
    return {items_[k].file, static_cast<std::uint8_t>(items_[k].units), static_cast<std::uint16_t>(first)};
  }
  // The first home from unit `first` on; invalid where there is none.
  [[nodiscard]] PReg home_from(std::size_t k, int first) const {
    const Item& item = items_[k];
    for (first = (first + item.align - 1) & -item.align; first + item.units <= allowed_.end(); first += item.align)
      if (const PReg r = home(k, first); may_stand(k, r)) return r;
    return {};
  }

  // First fit. Most instructions need no more.
  bool first_fit() {
    const UnitSet saved_r = taken_r_, saved_w = taken_w_;
    for (const std::size_t k : order_) {
      if (kind(k) == Fixed) continue;
      const PReg r = home_from(k, 0);
      if (!r.is_valid()) {
        taken_r_ = saved_r, taken_w_ = saved_w;
        return false;
      }
      place(k, r);
    }
    return true;
  }

  // Items of both moments one after another, each in every home, as long as either moment could take the rest if it were alone.
  bool search(std::size_t depth) {
    if (!fits(depth, reads_, taken_r_, true) || !fits(depth, writes_, taken_w_, false)) return false;
    if (depth == both_.size()) {
      for (const auto& list : {reads_, writes_})
        for (const std::size_t k : list) place(k, homes_[k]);
      return true;
    }
    const std::size_t k = both_[depth];
    const int first = depth != 0 && is_like(k, both_[depth - 1]) ? homes_[both_[depth - 1]].end() : 0;
    if (!entered_.insert({depth, first, taken_r_, taken_w_}).second) return false;
    const UnitSet saved_r = taken_r_, saved_w = taken_w_;
    for (PReg r = home_from(k, first); r.is_valid(); r = home_from(k, r.begin() + 1)) {
      place(k, r);
      if (search(depth + 1)) return true;
      taken_r_ = saved_r;
      taken_w_ = saved_w;
    }
    return false;
  }
  // Equal items are interchangeable, so one order of their places is enough.
  [[nodiscard]] bool is_like(std::size_t a, std::size_t b) const {
    return items_[a].units == items_[b].units && items_[a].align == items_[b].align && items_[a].keeps == items_[b].keeps &&
           stands_alone(a) && stands_alone(b);
  }
  // Whether one moment has room for its own items and the items of both moments from `depth` on, if the other moment has. Sets the
  // homes of its own items.
  bool fits(std::size_t depth, std::span<const std::size_t> own, const UnitSet& taken, bool is_reads) {
    Moment moment(allowed_ - taken);
    UnitSet begins;
    for (std::size_t n = depth; n < both_.size(); ++n) {
      const std::size_t k = both_[n];
      const bool can_share = !stands_alone(k);
      if (is_reads && can_share) continue;  // it may need no units of its own
      if (n == depth || !is_like(k, both_[n - 1])) begins = begins_of(items_[k], allowed_ - taken_r_ - taken_w_);
      if (can_share)
        for (const std::size_t other : fixed_)
          if (homes_[other].first % items_[k].align == 0 && may_share(k, other) && may_stand(k, homes_[other]))
            begins.set(homes_[other].first);
      moment.add(k, items_[k].units, begins);
    }
    for (std::size_t n = 0; n < own.size(); ++n) {
      if (n == 0 || !is_like(own[n], own[n - 1])) begins = begins_of(items_[own[n]], allowed_ - taken);
      moment.add(own[n], items_[own[n]].units, begins);
    }
    return moment.pack([&](std::size_t k, int first) {
      if (kind(k) != Both) homes_[k] = home(k, first);
    });
  }
  [[nodiscard]] UnitSet begins_of(const Item& item, UnitSet units) const {
    if (item.keeps) units -= clobbered_;
    UnitSet begins;
    for (int first = 0; first + item.units <= units.end(); first += item.align)
      if (units.has_all(first, first + item.units)) begins.set(first);
    return begins;
  }
  [[nodiscard]] bool fill_up(std::span<const std::size_t> list, const UnitSet& taken) const {
    int units = 0;
    for (const std::size_t k : list) units += items_[k].units;
    return units > 2 && (allowed_ - taken).none();
  }

  const std::vector<Item>& items_;
  std::vector<PReg>& homes_;
  UnitSet allowed_, clobbered_, taken_r_, taken_w_;
  std::vector<std::size_t> order_;                              // the items of the file, by rank
  std::span<const std::size_t> fixed_, both_, reads_, writes_;  // of order_, by kind
  struct State {
    std::size_t depth;
    int first;
    UnitSet taken_r, taken_w;
    friend auto operator<=>(const State&, const State&) = default;
  };
  std::set<State> entered_;  // states that a search has entered: to come back to one is a dead end
};

}  // namespace

std::expected<std::vector<PReg>, PackFailure> pack(const Function& f, const Inst& inst, const Items& items, const Budget& budget) {
  std::vector<PReg> homes(items.items.size());
  ir::PerFile<bool> needed = {};
  for (std::size_t k = 0; k < homes.size(); ++k) {
    if (items.items[k].architectural) homes[k] = items.items[k].fixed;
    else needed[ir::index(items.items[k].file)] = true;
  }
  for (const RegFile file : ir::kAllFiles) {
    if (!needed[ir::index(file)]) continue;
    FilePacker packer(items.items, file, budget.at(file, inst), clobbered_units(f, inst, file), homes);
    if (!packer.run()) return std::unexpected(PackFailure{file});
  }
  return homes;
}

}  // namespace regduel::allocator
