// See packing.h.

#include "allocator/instruction/packing.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/planted.h"
#include "ir/cfg.h"

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::PReg;
using ir::RegFile;
using ir::Role;

Budget Budget::of(const Function& program, const ir::Target& target, const ir::Limits& limits) {
  Budget b;
  for (const RegFile file : ir::kAllFiles) {
    const std::size_t f = ir::index(file);
    b.limit[f] = limits.of(file);
    b.allocatable[f] = UnitSet::range(0, std::min(limits.of(file), target.units[f]));
    for (const PReg r : target.reserved)
      if (r.file == file) b.allocatable[f] -= units_of(r);
  }
  for (const ir::VReg& v : program.vregs)
    if ((v.flags & ir::kVRegArchitectural) != 0 && v.fixed.is_valid()) b.allocatable[ir::index(v.fixed.file)] -= units_of(v.fixed);
  const auto count_from_zero = [&] {
    for (std::size_t f = 0; f < b.from_zero.size(); ++f)
      while (b.from_zero[f] < ir::kMaxUnits && b.allocatable[f].has(b.from_zero[f])) ++b.from_zero[f];
  };
  if (program.kind != ir::FunctionKind::Device) {
    count_from_zero();
    return b;
  }
  // A register that the program itself clobbers, or that is architectural, cannot keep a caller's value.
  ir::PerFile<UnitSet> clobbered;
  for (const ir::VReg& v : program.vregs)
    if (v.is_architectural()) clobbered[ir::index(v.fixed.file)] |= units_of(v.fixed);
  for (const ir::Operand& op : program.operands)
    if (op.role == Role::Clobber) clobbered[ir::index(op.preg().file)] |= units_of(op.preg());
  const bool reentered = !ir::Cfg(program).predecessors(ir::BlockId(0)).empty();
  for (const PReg r : target.abi.callee_saved) {
    const UnitSet kept = units_of(r) - clobbered[ir::index(r.file)];
    b.callee_saved[ir::index(r.file)] |= kept;
    if (reentered) b.allocatable[ir::index(r.file)] -= kept;
  }
  count_from_zero();
  return b;
}

namespace {

// A dead end: this many items placed, the next one not below this unit, these units taken.
struct State {
  std::size_t depth;
  int first;
  UnitSet taken_r, taken_w;
  friend auto operator<=>(const State&, const State&) = default;
};

// No search looks at more states than this; beyond it the instruction counts as impossible.
constexpr std::size_t kMaxStates = 200000;

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
    placed_.assign(items.size(), 0);
    for (const std::size_t a : both_)
      for (const std::size_t b : fixed_) may_share_ = may_share_ || (items[b].at_reads && items[a].reads == items[b].reads);
    for (std::size_t a = 0; a < both_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) may_share_ = may_share_ || items[both_[a]].reads == items[both_[b]].reads;
  }

  bool run() {
    for (const std::size_t k : fixed_) {
      const PReg r = items_[k].fixed;
      const UnitSet u = units_of(r);
      if ((u - allowed_).any() || (items_[k].keeps && (u & clobbered_).any()) || !is_free(k, r, u)) return false;
      place(k, r, u);
    }
    return both(0);
  }

 private:
  enum Kind : std::uint8_t { Fixed, Both, Reads, Writes };
  [[nodiscard]] Kind kind(std::size_t k) const {
    if (items_[k].fixed.is_valid()) return Fixed;
    if (items_[k].at_reads) return items_[k].at_writes ? Both : Reads;
    return Writes;
  }
  // By kind; fixed ones as they come, of the others larger and more aligned first, those that must avoid the clobbers before those
  // that need not.
  [[nodiscard]] std::array<int, 5> rank(std::size_t k) const {
    const Item& item = items_[k];
    if (kind(k) == Fixed) return {Fixed, 0, 0, 0, static_cast<int>(k)};
    return {kind(k), -std::max(item.units, item.align), -item.units, item.keeps ? 0 : 1, static_cast<int>(k)};
  }
  [[nodiscard]] std::span<const std::size_t> of_kind(Kind wanted) const {
    const auto begin = std::find_if(order_.begin(), order_.end(), [&](std::size_t k) { return kind(k) == wanted; });
    return {begin, std::find_if(begin, order_.end(), [&](std::size_t k) { return kind(k) != wanted; })};
  }
  // Interchangeable, so that trying them in one order of places is enough.
  [[nodiscard]] bool is_like(std::size_t a, std::size_t b) const {
    return items_[a].units == items_[b].units && items_[a].align == items_[b].align && items_[a].keeps == items_[b].keeps;
  }
  [[nodiscard]] bool is_free(std::size_t k, PReg r, const UnitSet& u) const {
    const Item& item = items_[k];
    if (item.at_writes && (u & taken_w_).any()) return false;
    if (!item.at_reads || (u & taken_r_).none()) return true;
    if (item.early) return false;
    // Items of one root may stand in one home while it is read; nothing else may lie there.
    UnitSet others;
    for (std::size_t j = 0; j < items_.size(); ++j)
      if (placed_[j] != 0 && items_[j].at_reads && (items_[j].early || items_[j].reads != item.reads || homes_[j] != r))
        others |= units_of(homes_[j]);
    return (u & others).none();
  }
  void place(std::size_t k, PReg r, const UnitSet& u) {
    homes_[k] = r;
    placed_[k] = 1;
    if (items_[k].at_reads) taken_r_ |= u;
    if (items_[k].at_writes) taken_w_ |= u;
  }

  // search(), unless it has failed from here before.
  template <class Search>
  bool unless_dead(std::size_t depth, int first, Search search) {
    const State here{depth, first, taken_r_, taken_w_};
    if (num_states_ >= kMaxStates || dead_.contains(here)) return false;
    ++num_states_;
    if (search()) return true;
    dead_.insert(here);
    return false;
  }

  // Where the search for item list[depth] begins.
  [[nodiscard]] int first_place(std::span<const std::size_t> list, std::size_t depth) const {
    if (depth == 0 || may_share_ || !is_like(list[depth], list[depth - 1])) return 0;
    const int align = items_[list[depth]].align;
    return (homes_[list[depth - 1]].end() + align - 1) & -align;
  }

  // Tries item list[depth] everywhere, then `next`.
  template <class Next>
  bool each_place(std::span<const std::size_t> list, std::size_t depth, Next next) {
    const std::size_t k = list[depth];
    const Item& item = items_[k];
    const UnitSet saved_r = taken_r_, saved_w = taken_w_;
    for (int first = first_place(list, depth); first + item.units <= ir::kMaxUnits; first += item.align) {
      const PReg r{item.file, static_cast<std::uint8_t>(item.units), static_cast<std::uint16_t>(first)};
      const UnitSet u = units_of(r);
      if ((u - allowed_).any() || (item.keeps && (u & clobbered_).any()) || !is_free(k, r, u)) continue;
      place(k, r, u);
      if (next()) return true;
      placed_[k] = 0;
      taken_r_ = saved_r;
      taken_w_ = saved_w;
    }
    return false;
  }
  bool both(std::size_t depth) {
    if (depth == both_.size()) return single(reads_, 0, 1) && single(writes_, 0, 2);
    return unless_dead(depth, first_place(both_, depth), [&] { return each_place(both_, depth, [&] { return both(depth + 1); }); });
  }
  bool single(std::span<const std::size_t> list, std::size_t depth, std::size_t phase) {
    if (depth == list.size()) return true;
    if (depth == 0) {
      int needed = 0;
      for (const std::size_t k : list) needed += items_[k].units;
      const UnitSet free = allowed_ - (phase == 1 ? taken_r_ : taken_w_);
      if (needed > free.count()) return false;
      if (REGDUEL_PLANTED("fatpoint-impossible-too-soon") && needed > 2 && needed == free.count()) return false;
    }
    return unless_dead(phase * 100000 + depth, first_place(list, depth),
                       [&] { return each_place(list, depth, [&] { return single(list, depth + 1, phase); }); });
  }

  const std::vector<Item>& items_;
  std::vector<PReg>& homes_;
  UnitSet allowed_, clobbered_, taken_r_, taken_w_;
  std::vector<std::size_t> order_;                              // the items of the file, by rank
  std::span<const std::size_t> fixed_, both_, reads_, writes_;  // of order_, by kind
  std::vector<char> placed_;
  bool may_share_ = false;  // two items of one root might stand in one home
  std::set<State> dead_;
  std::size_t num_states_ = 0;  // that were searched
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
    UnitSet clobbered;
    for (const ir::Operand& op : f.operands_of(inst))
      if (op.role == Role::Clobber && op.preg().file == file) clobbered |= units_of(op.preg());
    if (!FilePacker(items.items, file, budget.at(file, inst), clobbered, homes).run()) return std::unexpected(PackFailure{file});
  }
  return homes;
}

}  // namespace regduel::allocator
