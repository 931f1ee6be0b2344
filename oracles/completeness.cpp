// Demand of an instruction, by enumeration.
//
// The operands of one instruction in one file become *items*: so many units, so aligned, held while the uses are read (R), while
// the defs are written (W), or at both (RW). Items of one moment may not overlap. Fixed items are placed first. What couples the
// two moments are the RW items: they are enumerated, and then R and W are two packings of their own.
//
//   One moment      Where each item's size rounded up to a power of two is its alignment (1, 2, 3 in 4, 4, 8 units: all natural
//                   alignments), taking the largest first is exact, however the free units lie: free aligned blocks of one size are
//                   alike, and three units go first where the fourth is taken. Otherwise: a walk over the units from below, with
//                   the numbers of items left as its state; states once refuted are not entered again.
//   RW items        depth first, largest first. A state is the picture of the free units; two pictures that differ by an exchange
//                   of aligned blocks (allowed on each level where no item could tell them apart) are one state.
//
// An RW item that reads a root which also stands in a fixed operand may share that home, or have one of its own.
// A phi's operands are moved one edge at a time, each by itself. Tested by completeness_test.cpp, against brute force.

#include "oracles/completeness.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/pair/preserved.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Limits;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::Target;

constexpr std::string_view kName = "completeness";

constexpr std::uint8_t kR = 1, kW = 2, kClobbered = 4;  // of a unit: taken at reads, taken at writes, clobbered

int round_up_to_power(int n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

struct Item {
  int units = 1;
  int align = 1;
  std::uint8_t moments = 0;  // kR, kW
  bool avoids_clobbers = false;
  PReg fixed = {};
  ir::VRegId reads;  // the root whose value it holds while the uses are read; invalid = none

  // The aligned block that it needs when it straddles nothing.
  [[nodiscard]] int block() const { return round_up_to_power(std::max(units, align)); }
  [[nodiscard]] bool straddles() const { return align < round_up_to_power(units); }
  [[nodiscard]] bool is_natural() const { return align == round_up_to_power(units); }
};

// --- one instruction, one file: its items ------------------------------------------------------------------------------

class Items {
 public:
  Items(const Function& f, const Inst& i, RegFile file) : f_(f), ops_(f.operands_of(i)), file_(file) {
    guarded_ = ir::is_guarded(ops_);
    ties();
    writes();
    for (const bool fixed : {true, false}) reads(fixed);
  }
  // One operand alone.
  Items(const Function& f, const Operand& op, RegFile file) : f_(f), file_(file) {
    if (!is_ours(op)) return;
    Item& item = list.emplace_back(item_of(op));
    item.moments = kR;
    item.fixed = f.fixed_of(op);
  }

  std::vector<Item> list;

 private:
  [[nodiscard]] bool is_ours(const Operand& op) const {
    if (!op.is_vreg()) return false;
    const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
    return root.file() == file_ && (root.flags & ir::kVRegArchitectural) == 0;
  }
  [[nodiscard]] Item item_of(const Operand& op) const {
    const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
    Item item;
    item.units = root.units();
    item.align = root.alignment();
    return item;
  }
  [[nodiscard]] bool is_part(const Operand& op) const {
    const ir::Storage s = f_.storage(op);
    return s.offset != 0 || s.size != f_.vreg(s.root).bytes();
  }

  void ties() {
    done_.assign(ops_.size(), false);
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      if (!ops_[k].is_tied() || !is_ours(ops_[k])) continue;
      const Operand& use = ops_[ops_[k].tied];
      Item item = item_of(ops_[k]);
      item.align = std::max(item.align, f_.vreg(f_.root(use.vreg())).alignment());
      item.moments = kR | kW;
      item.fixed = f_.fixed_of(ops_[k]).is_valid() ? f_.fixed_of(ops_[k]) : f_.fixed_of(use);
      item.reads = f_.root(use.vreg());
      list.push_back(item);
      done_[k] = done_[ops_[k].tied] = true;
    }
  }

  void writes() {
    std::vector<std::pair<ir::VRegId, std::size_t>> items_of_root;
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      const Operand& op = ops_[k];
      if (done_[k] || !op.writes() || !is_ours(op)) continue;
      Item item = item_of(op);
      item.moments = kW;
      item.fixed = f_.fixed_of(op);
      const bool keeps = op.role == Role::DefUse || guarded_ || is_part(op);
      if (keeps || op.is_early_clobber()) item.moments |= kR;
      if (keeps) item.reads = f_.root(op.vreg());
      item.avoids_clobbers = is_part(op);
      // Defs of several parts of one root make one value, in one home.
      const ir::VRegId root = f_.root(op.vreg());
      const auto same = std::find_if(items_of_root.begin(), items_of_root.end(), [&](const auto& e) { return e.first == root; });
      if (same == items_of_root.end()) {
        items_of_root.emplace_back(root, list.size());
        list.push_back(item);
        continue;
      }
      Item& merged = list[same->second];
      merged.moments |= item.moments;
      merged.avoids_clobbers = merged.avoids_clobbers || item.avoids_clobbers;
      if (!merged.fixed.is_valid()) merged.fixed = item.fixed;
      if (!merged.reads.is_valid()) merged.reads = item.reads;
    }
  }

  // Reads that no other item covers already: by any home of the root, or by the home that they are fixed to.
  void reads(bool fixed) {
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      const Operand& op = ops_[k];
      if (done_[k] || op.role == Role::Def || op.role == Role::DefUse || op.role == Role::Clobber || !is_ours(op)) continue;
      const PReg home = f_.fixed_of(op);
      if (home.is_valid() != fixed) continue;
      const ir::VRegId root = f_.root(op.vreg());
      const bool covered = std::any_of(list.begin(), list.end(), [&](const Item& item) {
        return item.reads == root && (!home.is_valid() || item.fixed == home);
      });
      if (covered) continue;
      Item& item = list.emplace_back(item_of(op));
      item.moments = kR;
      item.fixed = home;
      item.reads = root;
    }
  }

  const Function& f_;
  std::span<const Operand> ops_;
  RegFile file_;
  bool guarded_ = false;
  std::vector<bool> done_;
};

// --- packing -----------------------------------------------------------------------------------------------------------

class Packing {
 public:
  // units: kR | kW where a unit cannot be used, kClobbered where the instruction clobbers it.
  Packing(std::vector<std::uint8_t> units, std::vector<Item> items, std::int64_t max_states)
      : units_(std::move(units)), items_(std::move(items)), states_left_(max_states) {}

  Feasibility run() {
    if (!place_fixed()) return Feasibility::Impossible;
    if (!has_room()) return Feasibility::Impossible;
    for (const Item& item : items_) {
      if (item.fixed.is_valid()) continue;
      if (item.moments == (kR | kW) || item.avoids_clobbers) search_.push_back(item);
      else (item.moments == kR ? at_reads_ : at_writes_).push_back(item);
    }
    const auto largest_first = [](const Item& a, const Item& b) {
      return std::pair(a.block(), a.units) > std::pair(b.block(), b.units);
    };
    for (auto* list : {&search_, &at_reads_, &at_writes_}) std::sort(list->begin(), list->end(), largest_first);
    // Those that may share a fixed home first: for the others, units differ only in the moments at which they are taken.
    const auto begin_free =
        std::stable_partition(search_.begin(), search_.end(), [&](const Item& item) { return !shared_homes(item).empty(); });
    num_sharing_ = static_cast<std::size_t>(begin_free - search_.begin());
    const auto is_natural = [](const Item& item) { return item.is_natural(); };
    reads_are_natural_ = std::all_of(at_reads_.begin(), at_reads_.end(), is_natural);
    writes_are_natural_ = std::all_of(at_writes_.begin(), at_writes_.end(), is_natural);
    prepare_symmetry();
    if (search(0)) return Feasibility::Feasible;
    return states_left_ <= 0 ? Feasibility::Unknown : Feasibility::Impossible;
  }

 private:
  [[nodiscard]] int size() const { return static_cast<int>(units_.size()); }

  // Whether `item` may stand at `at`; `sharing` = it is at home there already while the uses are read.
  [[nodiscard]] bool is_free(const Item& item, int at, bool sharing = false) const {
    if (at < 0 || at + item.units > size()) return false;
    const auto taken =
        static_cast<std::uint8_t>((sharing ? item.moments & ~kR : item.moments) | (item.avoids_clobbers ? kClobbered : 0));
    for (int u = at; u < at + item.units; ++u)
      if ((units_[static_cast<std::size_t>(u)] & taken) != 0) return false;
    return true;
  }
  void take(const Item& item, int at, std::uint8_t moments) {
    for (int u = at; u < at + item.units; ++u) units_[static_cast<std::size_t>(u)] |= moments;
  }
  void give_back(const Item& item, int at, std::uint8_t moments) {
    for (int u = at; u < at + item.units; ++u) units_[static_cast<std::size_t>(u)] &= static_cast<std::uint8_t>(~moments);
  }

  bool place_fixed() {
    for (const Item& item : items_) {
      if (!item.fixed.is_valid()) continue;
      if (item.fixed.count != item.units || item.fixed.first % item.align != 0 || !is_free(item, item.fixed.first)) return false;
      take(item, item.fixed.first, item.moments);
    }
    return true;
  }

  [[nodiscard]] bool has_room() const {
    for (const std::uint8_t moment : {kR, kW}) {
      int needed = 0;
      for (const Item& item : items_) {
        // One that may share a fixed home may need no units of its own at reads.
        const bool counts = !item.fixed.is_valid() && (item.moments & moment) != 0 && (moment == kW || shared_homes(item).empty());
        needed += counts ? item.units : 0;
      }
      const auto room = std::count_if(units_.begin(), units_.end(), [&](std::uint8_t u) { return (u & moment) == 0; });
      if (needed > room) return false;
    }
    return true;
  }

  // Fixed homes in which the root that `item` reads stands anyway.
  [[nodiscard]] std::vector<int> shared_homes(const Item& item) const {
    std::vector<int> homes;
    if (!item.reads.is_valid() || item.fixed.is_valid()) return homes;
    for (const Item& other : items_)
      if (other.fixed.is_valid() && other.reads == item.reads && (other.moments & kR) != 0) homes.push_back(other.fixed.first);
    return homes;
  }

  // --- RW items
  bool search(std::size_t k) {
    if (k == search_.size()) return layer_fits(at_reads_, kR) && layer_fits(at_writes_, kW);
    if (--states_left_ <= 0) return false;
    // What is placed only takes units away, so a moment that does not fit now never will. Asked where the answer is cheap.
    if ((reads_are_natural_ && !layer_fits(at_reads_, kR)) || (writes_are_natural_ && !layer_fits(at_writes_, kW))) return false;
    const Item& item = search_[k];
    if (k < num_sharing_) {
      for (const int home : shared_homes(item)) {
        if (home % item.align != 0 || !is_free(item, home, true)) continue;
        take(item, home, kW);
        const bool found = search(k + 1);
        give_back(item, home, kW);
        if (found) return true;
      }
    } else if (!refuted_.insert(state(k)).second) {
      return false;
    }
    for (int at = 0; at + item.units <= size(); at += item.align) {
      if (!is_free(item, at)) continue;
      take(item, at, item.moments);
      const bool found = search(k + 1);
      give_back(item, at, item.moments);
      if (found || states_left_ <= 0) return found;
    }
    return false;
  }

  // On which levels two halves of an aligned block may be exchanged: where no item is as large as more than one half and less
  // than the whole, or aligned to the whole although it fits a half. With a straddling item, on none.
  void prepare_symmetry() {
    for (const auto* list : {&search_, &at_reads_, &at_writes_})
      for (const Item& item : *list) {
        top_ = std::max(top_, item.block());
        has_symmetry_ = has_symmetry_ && !item.straddles();
      }
    for (int whole = 2; whole <= top_; whole *= 2) {
      bool allowed = true;
      for (const auto* list : {&search_, &at_reads_, &at_writes_})
        for (const Item& item : *list)
          if ((item.units > whole / 2 && item.units < whole) || (item.units <= whole / 2 && item.align >= whole)) allowed = false;
      exchangeable_.push_back(allowed);
    }
    if (has_symmetry_)
      while (size() % top_ != 0) units_.push_back(kR | kW);
  }

  [[nodiscard]] std::string state(std::size_t k) const {
    std::string key = std::to_string(k) + "/";
    if (!has_symmetry_) return key.append(units_.begin(), units_.end());
    std::vector<std::string> blocks;
    for (int at = 0; at < size(); at += top_) blocks.push_back(picture(at, top_, exchangeable_.size()));
    std::sort(blocks.begin(), blocks.end());
    for (const std::string& b : blocks) key += b;
    return key;
  }
  [[nodiscard]] std::string picture(int at, int whole, std::size_t level) const {
    if (whole == 1) return std::string(1, static_cast<char>(units_[static_cast<std::size_t>(at)]));
    std::string a = picture(at, whole / 2, level - 1), b = picture(at + whole / 2, whole / 2, level - 1);
    if (exchangeable_[level - 1] && b < a) std::swap(a, b);
    return a + b;
  }

  // --- one moment
  [[nodiscard]] bool layer_fits(const std::vector<Item>& items, std::uint8_t moment) {
    std::vector<bool> free(units_.size());
    for (std::size_t u = 0; u < units_.size(); ++u) free[u] = (units_[u] & moment) == 0;
    return (moment == kR ? reads_are_natural_ : writes_are_natural_) ? largest_first(items, std::move(free)) : walk(items, free);
  }

  static bool is_run(const std::vector<bool>& free, int at, int count) {
    if (at + count > static_cast<int>(free.size())) return false;
    for (int u = at; u < at + count; ++u)
      if (!free[static_cast<std::size_t>(u)]) return false;
    return true;
  }
  // Items come sorted by block, then by units, both descending.
  static bool largest_first(const std::vector<Item>& items, std::vector<bool> free) {
    const int size = static_cast<int>(free.size());
    // Items that leave a hole go first where the hole is no loss.
    const auto place = [&](const Item& item, bool only_tight) {
      for (int at = 0; at + item.units <= size; at += item.align) {
        if (!is_run(free, at, item.units) || (only_tight && is_run(free, at, item.block()))) continue;
        std::fill(free.begin() + at, free.begin() + at + item.units, false);
        return true;
      }
      return false;
    };
    for (std::size_t begin = 0; begin < items.size();) {
      std::size_t end = begin;
      while (end < items.size() && items[end].block() == items[begin].block()) ++end;
      std::vector<const Item*> left;
      for (std::size_t k = begin; k < end; ++k)
        if (items[k].units == items[k].block() || !place(items[k], true)) left.push_back(&items[k]);
      for (const Item* item : left)
        if (!place(*item, false)) return false;
      begin = end;
    }
    return true;
  }

  bool walk(const std::vector<Item>& items, const std::vector<bool>& free) {
    // Kinds, with the number of items of each; single units fill what is left.
    struct Kind {
      int units, align, count;
    };
    std::vector<Kind> kinds;
    int total = 0;
    for (const Item& item : items) {
      total += item.units;
      if (item.units == 1 && item.align == 1) continue;
      if (!kinds.empty() && kinds.back().units == item.units && kinds.back().align == item.align) ++kinds.back().count;
      else kinds.push_back({item.units, item.align, 1});
    }
    if (total > std::count(free.begin(), free.end(), true)) return false;
    std::unordered_set<std::string> refuted;
    const auto go = [&](auto&& self, int at) -> bool {
      if (std::all_of(kinds.begin(), kinds.end(), [](const Kind& k) { return k.count == 0; })) return true;
      while (at < size() && !free[static_cast<std::size_t>(at)]) ++at;
      if (at >= size() || --states_left_ <= 0) return false;
      std::string key = std::to_string(at);
      for (const Kind& k : kinds) key += "," + std::to_string(k.count);
      if (!refuted.insert(key).second) return false;
      for (Kind& k : kinds) {
        if (k.count == 0 || at % k.align != 0 || !is_run(free, at, k.units)) continue;
        --k.count;
        const bool found = self(self, at + k.units);
        ++k.count;
        if (found) return true;
      }
      return self(self, at + 1);
    };
    return go(go, 0);
  }

  std::vector<std::uint8_t> units_;
  std::vector<Item> items_;
  std::vector<Item> search_, at_reads_, at_writes_;
  std::size_t num_sharing_ = 0;
  int top_ = 1;
  bool has_symmetry_ = true, reads_are_natural_ = true, writes_are_natural_ = true;
  std::vector<bool> exchangeable_;  // [level]: the halves of an aligned block of 2^(level + 1) units
  std::unordered_set<std::string> refuted_;
  std::int64_t states_left_;
};

// --- instructions ------------------------------------------------------------------------------------------------------

// The allocatable units of each file, once for a function.
class Files {
 public:
  Files(const Function& f, const Target& target, const Limits& limits) : Files(f, target, limits, preserved_units(f, target)) {}
  Files(const Function& f, const Target& target, const Limits& limits, std::span<const PReg> preserved) {
    // With predecessors of the entry, its head is no place that runs once: nothing can be saved there.
    bool entry_has_predecessors = false;
    for (std::size_t b = 0; b < f.blocks.size(); ++b)
      for (const ir::BlockId t : f.successors(ir::BlockId(b)))
        entry_has_predecessors = entry_has_predecessors || t == ir::BlockId(0);
    for (const RegFile file : ir::kAllFiles) {
      auto& units = units_[index(file)];
      units.assign(static_cast<std::size_t>(std::max(0, std::min(limits.of(file), target.units[index(file)]))), 0);
      for (std::size_t u = 0; u < units.size(); ++u)
        if (!ir::is_allocatable(target, limits, file, static_cast<int>(u))) units[u] = kR | kW;
    }
    for (const ir::VReg& v : f.vregs) {
      auto& units = units_[index(v.file())];
      if ((v.flags & ir::kVRegArchitectural) == 0 || !v.fixed.is_valid()) continue;
      for (int u = v.fixed.begin(); u < v.fixed.end() && u < static_cast<int>(units.size()); ++u)
        units[static_cast<std::size_t>(u)] = kR | kW;
    }
    units_at_ret_ = units_;
    for (const PReg r : preserved) {
      auto &units = units_[index(r.file)], &at_ret = units_at_ret_[index(r.file)];
      if (r.first >= units.size()) continue;
      if (entry_has_predecessors) units[r.first] = kR | kW;
      at_ret[r.first] = kR | kW;  // it holds what the caller left in it
    }
  }
  [[nodiscard]] const std::vector<std::uint8_t>& units(RegFile file, bool at_ret) const {
    return (at_ret ? units_at_ret_ : units_)[index(file)];
  }

 private:
  ir::PerFile<std::vector<std::uint8_t>> units_, units_at_ret_;
};

Feasibility pack_items(const std::vector<Item>& items, std::span<const Operand> ops, RegFile file, std::vector<std::uint8_t> units,
                       const CompletenessOptions& options) {
  if (items.empty()) return Feasibility::Feasible;
  // In a file without holes, blocks taken largest first leave none.
  int sum = 0;
  bool is_plain = std::find(units.begin(), units.end(), kR | kW) == units.end();
  for (const Item& item : items) {
    sum += item.block();
    is_plain = is_plain && !item.fixed.is_valid() && !item.avoids_clobbers;
  }
  if (is_plain && sum <= static_cast<int>(units.size())) return Feasibility::Feasible;
  for (const Operand& op : ops) {
    if (op.role != Role::Clobber || op.preg().file != file) continue;
    for (int u = op.preg().begin(); u < std::min(op.preg().end(), static_cast<int>(units.size())); ++u)
      units[static_cast<std::size_t>(u)] |= kClobbered;
  }
  return Packing(std::move(units), items, options.max_states).run();
}

Feasibility worse(Feasibility a, Feasibility b) {
  if (a == Feasibility::Impossible || b == Feasibility::Impossible) return Feasibility::Impossible;
  return a == Feasibility::Unknown || b == Feasibility::Unknown ? Feasibility::Unknown : Feasibility::Feasible;
}

Feasibility pack_in_file(const Function& f, const Inst& inst, RegFile file, const Files& files,
                         const CompletenessOptions& options) {
  const auto ops = f.operands_of(inst);
  if (!inst.is_phi()) return pack_items(Items(f, inst, file).list, ops, file, files.units(file, inst.op == ir::Op::Ret), options);
  Feasibility result = Feasibility::Feasible;
  for (const Operand& op : ops)
    result = worse(result, pack_items(Items(f, op, file).list, {}, file, files.units(file, false), options));
  return result;
}

Feasibility pack_in_all_files(const Function& f, const Inst& inst, const Files& files, const CompletenessOptions& options) {
  ir::PerFile<bool> used = {};
  for (const Operand& op : f.operands_of(inst))
    if (op.is_vreg()) used[index(f.vreg(f.root(op.vreg())).file())] = true;
  Feasibility result = Feasibility::Feasible;
  for (const RegFile file : ir::kAllFiles)
    if (used[index(file)]) result = worse(result, pack_in_file(f, inst, file, files, options));
  return result;
}

}  // namespace

Feasibility feasibility(const Function& f, const Inst& inst, const Target& target, const Limits& limits,
                        const CompletenessOptions& options) {
  return pack_in_all_files(f, inst, Files(f, target, limits), options);
}

std::optional<ir::InstId> find_impossible(const Function& f, const Target& target, const Limits& limits,
                                          const std::vector<bool>& exempt) {
  const Files files(f, target, limits);
  for (std::size_t k = 0; k < f.insts.size(); ++k) {
    const bool is_asked = k >= exempt.size() || !exempt[k];
    if (is_asked && pack_in_all_files(f, f.insts[k], files, {}) == Feasibility::Impossible) return f.insts[k].id;
  }
  return std::nullopt;
}

std::optional<int> demand(const Function& f, const Inst& inst, RegFile file, const Target& target) {
  const auto fits = [&](int units) {
    Limits limits = Limits::of(target);
    limits.units[index(file)] = units;
    return pack_in_file(f, inst, file, Files(f, target, limits), {}) == Feasibility::Feasible;
  };
  int low = 0, high = target.units[index(file)];
  if (!fits(high)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

JudgeResult judge_completeness(const Before& prepared, const Limits& limits, const CompletenessOptions& options) {
  const Function& before = prepared.program();
  const Files files(before, prepared.target(), limits, prepared.preserved());
  const Inst* undecided = nullptr;
  for (const Inst& i : before.insts) {
    const Feasibility result = pack_in_all_files(before, i, files, options);
    if (result == Feasibility::Impossible)
      return without_verdict(kName, Verdict::Pass,
                             fmt::format("#{} ({}) cannot be packed into the limit", i.id.value, before.mnemonic(i)));
    if (result == Feasibility::Unknown && undecided == nullptr) undecided = &i;
  }
  if (undecided != nullptr)
    return without_verdict(kName, Verdict::Inconclusive,
                           fmt::format("the search for a packing of #{} was given up", undecided->id.value));
  Collector out(kName);
  out.add("completeness", {}, -1, "the allocator failed, although each instruction can be packed into the limit");
  return out.finish();
}

}  // namespace regduel::oracles
