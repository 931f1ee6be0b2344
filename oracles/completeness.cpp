// Demand of an instruction.
//
// Its operands in one file become *items*: so many units, so aligned, held while the uses are read (R), while the defs are written
// (W), or at both (RW). Items of one moment may not overlap. Fixed items are placed first. The others are counted by *kind*, and
// each moment is filled from below, item after item, each at the first place that is left to its kind.
//
//   Exactness      Items can be moved down, each to the first place behind its neighbour below, until none can: so some order of
//                  kinds finds a packing where there is one.
//   Dead ends      A vector of counts that cannot be completed from unit u cannot be completed from a higher unit. So one number is
//                  remembered for each vector, and one moment takes at most product(count + 1) x units x kinds steps.
//   Both moments   R and W are filled side by side. An RW item goes behind both frontiers. Each moment must be able to complete by
//                  itself, which is asked at every step; once no RW item is left, that is the answer.
//   Single units   of one moment go into the units that are left over: only their number counts.
//
// An RW item that reads a root which also stands in a fixed operand may share that home, or have one of its own.
// A phi's operands are moved one edge at a time, each by itself. Tested by completeness_test.cpp, against brute force,
// and properties/exact_packing_test.cpp.

#include "oracles/completeness.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/limit_by_point.h"
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
    return root.file() == file_ && !root.is_architectural();
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
  explicit Packing(std::vector<std::uint8_t> units) : units_(std::move(units)) {}

  bool fits(const std::vector<Item>& items) {
    if (!place_fixed(items)) return false;
    find_kinds(items);
    for (const std::uint8_t moment : kMoments) find_groups(moment);
    return has_room() && fits_side_by_side(0, 0, Next::Any);
  }

 private:
  static constexpr int kNowhere = std::numeric_limits<int>::max() / 2;

  // Items that can be exchanged for one another.
  struct Kind {
    Item item;
    std::vector<int> homes;  // fixed ones, in which the root that it reads stands anyway
    std::vector<int> first;  // by unit: its first place from there on
    int count = 0;
    std::array<int, 2> group = {-1, -1};  // by moment: which kinds are alike there
    [[nodiscard]] bool is_at(std::uint8_t moments) const { return (item.moments & moments) == moments; }
    [[nodiscard]] int end(int at) const { return at + item.units; }
  };
  struct Place {
    int at;
    Kind* kind;
  };
  [[nodiscard]] static std::u16string counts(const std::vector<Kind>& kinds) {
    std::u16string key;
    for (const Kind& kind : kinds) key += static_cast<char16_t>(kind.count);
    return key;
  }
  // Tries each of `next`, the lowest first.
  template <class Try>
  static bool any_of(std::vector<Place> next, Try attempt) {
    std::stable_sort(next.begin(), next.end(), [](const Place& a, const Place& b) { return a.at < b.at; });
    return std::any_of(next.begin(), next.end(), [&](const Place& place) {
      --place.kind->count;
      const bool found = attempt(place);
      ++place.kind->count;
      return found;
    });
  }

  // One moment by itself.
  struct Alone {
    std::vector<Kind> groups;
    struct Known {
      int fits, fails;  // from there on
    };
    std::unordered_map<std::u16string, Known> known;  // by the counts of what is left

    // Whether what is left fits from unit `from` on.
    bool fits(int from) {
      std::vector<Place> places;
      for (Kind& kind : groups) {
        if (kind.count == 0) continue;
        const int at = kind.first[static_cast<std::size_t>(from)];
        if (at == kNowhere) return false;
        places.push_back({at, &kind});
      }
      if (places.empty()) return true;
      Known& before = known.try_emplace(counts(groups), Known{-1, kNowhere}).first->second;
      if (from <= before.fits) return true;
      if (from >= before.fails) return false;
      const bool found = any_of(std::move(places), [&](const Place& place) { return fits(place.kind->end(place.at)); });
      (found ? before.fits : before.fails) = from;
      return found;
    }
  };
  // The items that may stand next: read items before written items, up to the next item of both moments.
  enum class Next : std::uint8_t { Any, NoRead };

  [[nodiscard]] int size() const { return static_cast<int>(units_.size()); }

  [[nodiscard]] bool is_free(const Item& item, int at) const {
    if (at + item.units > size()) return false;
    const auto taken = static_cast<std::uint8_t>(item.moments | (item.avoids_clobbers ? kClobbered : 0));
    for (int u = at; u < at + item.units; ++u)
      if ((units_[static_cast<std::size_t>(u)] & taken) != 0) return false;
    return true;
  }

  bool place_fixed(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (!item.fixed.is_valid()) continue;
      const int at = item.fixed.first;
      if (item.fixed.count != item.units || at % item.align != 0 || !is_free(item, at)) return false;
      for (int u = at; u < at + item.units; ++u) units_[static_cast<std::size_t>(u)] |= item.moments;
    }
    return true;
  }

  // Fixed homes in which the root that `item` reads stands while the uses are read, and which it may take when the defs are
  // written.
  [[nodiscard]] std::vector<int> shared_homes(const Item& item, const std::vector<Item>& items) const {
    std::vector<int> homes;
    if (item.moments != (kR | kW) || !item.reads.is_valid()) return homes;
    Item written = item;
    written.moments = kW;
    for (const Item& other : items) {
      if (!other.fixed.is_valid() || other.reads != item.reads || (other.moments & kR) == 0) continue;
      if (other.fixed.first % item.align == 0 && is_free(written, other.fixed.first)) homes.push_back(other.fixed.first);
    }
    return homes;
  }

  void find_kinds(const std::vector<Item>& items) {
    // An item that may share a home may also take units of its own at reads, so the room for single units is not known beforehand.
    const bool is_room_known = std::all_of(
        items.begin(), items.end(), [&](const Item& item) { return item.fixed.is_valid() || shared_homes(item, items).empty(); });
    for (const Item& item : items) {
      if (item.fixed.is_valid()) continue;
      if (item.units == 1 && item.align == 1 && (item.moments == kW || (item.moments == kR && is_room_known))) {
        ++singles_[item.moments - 1U];
        continue;
      }
      std::vector<int> homes = shared_homes(item, items);
      const auto key = [](const Item& i) { return std::tuple(i.units, i.align, i.moments, i.avoids_clobbers); };
      const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
        return kind.homes.empty() && homes.empty() && key(kind.item) == key(item);
      });
      Kind& kind = same == kinds_.end() ? kinds_.emplace_back(Kind{item, std::move(homes), {}, 0}) : *same;
      ++kind.count;
    }
    // Large ones are tried first.
    std::stable_sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) {
      return std::pair(a.item.block(), a.item.units) > std::pair(b.item.block(), b.item.units);
    });
    for (Kind& kind : kinds_) {
      kind.first.assign(units_.size() + 1, kNowhere);
      for (int at = size() - 1; at >= 0; --at) {
        const auto u = static_cast<std::size_t>(at);
        kind.first[u] = at % kind.item.align == 0 && is_free(kind.item, at) ? at : kind.first[u + 1];
      }
    }
  }

  // True if the remaining items of one moment fit from unit `from` on, whatever happens at the other moment.
  bool fits_alone(std::uint8_t moment, int from) {
    Alone& alone = alone_[moment - 1U];
    for (Kind& group : alone.groups) group.count = 0;
    for (const Kind& kind : kinds_)
      if (kind.group[moment - 1U] >= 0) alone.groups[static_cast<std::size_t>(kind.group[moment - 1U])].count += kind.count;
    return alone.fits(from);
  }
  void find_groups(std::uint8_t moment) {
    std::vector<Kind>& groups = alone_[moment - 1U].groups;
    for (Kind& kind : kinds_) {
      int& group = kind.group[moment - 1U];
      // An item that shares a home takes no unit of its own at reads.
      if (!kind.is_at(moment) || (moment == kR && !kind.homes.empty())) continue;
      std::vector<int> first = kind.first;
      for (const int home : kind.homes)
        for (int u = 0; u <= home; ++u) first[static_cast<std::size_t>(u)] = std::min(first[static_cast<std::size_t>(u)], home);
      const auto same = std::find_if(groups.begin(), groups.end(),
                                     [&](const Kind& g) { return g.item.units == kind.item.units && g.first == first; });
      group = static_cast<int>(same - groups.begin());
      if (same == groups.end()) groups.push_back({kind.item, {}, std::move(first), 0});
    }
  }

  // True if all remaining items fit: at reads from unit r on, at writes from unit w on.
  bool fits_side_by_side(int r, int w, Next next) {
    if (!fits_alone(kR, r) || !fits_alone(kW, w)) return false;
    // If one moment has no items of its own left, and is not ahead, the other moment alone decides.
    bool any_both = false, any_read = false, any_written = false;
    for (const Kind& kind : kinds_) {
      if (kind.count == 0) continue;
      any_both = any_both || kind.is_at(kR | kW);
      any_read = any_read || kind.item.moments == kR || !kind.homes.empty();
      any_written = any_written || kind.item.moments == kW || !kind.homes.empty();
    }
    if (!any_both || (!any_written && w <= r) || (!any_read && r <= w)) return true;
    if (!entered_
             .insert(counts(kinds_) +
                     std::u16string{static_cast<char16_t>(r), static_cast<char16_t>(w), static_cast<char16_t>(next)})
             .second)
      return false;
    std::vector<Place> reads, writes, both;
    for (Kind& kind : kinds_) {
      if (kind.count == 0) continue;
      const auto add = [&](std::vector<Place>& list, int from) {
        const int at = kind.first[static_cast<std::size_t>(from)];
        if (at != kNowhere) list.push_back({at, &kind});
      };
      if (kind.item.moments == kW) add(writes, w);
      else if (kind.item.moments == (kR | kW)) add(both, std::max(r, w));
      else if (next != Next::NoRead) add(reads, r);
      for (const int home : kind.homes)
        if (home >= w) writes.push_back({home, &kind});
    }
    return any_of(std::move(both),
                  [&](const Place& place) {
                    const int end = place.kind->end(place.at);
                    return fits_side_by_side(end, end, Next::Any);
                  }) ||
           any_of(std::move(reads), [&](const Place& place) { return fits_side_by_side(place.kind->end(place.at), w, next); }) ||
           any_of(std::move(writes),
                  [&](const Place& place) { return fits_side_by_side(r, place.kind->end(place.at), Next::NoRead); });
  }

  // Room for the single units of one moment beside all others.
  [[nodiscard]] bool has_room() const {
    return std::all_of(std::begin(kMoments), std::end(kMoments), [&](std::uint8_t moment) {
      int needed = singles_[moment - 1U];
      for (const Kind& kind : kinds_)
        if (kind.is_at(moment) && (moment == kW || kind.homes.empty())) needed += kind.count * kind.item.units;
      return needed <= std::count_if(units_.begin(), units_.end(), [&](std::uint8_t unit) { return (unit & moment) == 0; });
    });
  }

  static constexpr std::array<std::uint8_t, 2> kMoments = {kR, kW};
  std::vector<std::uint8_t> units_;
  std::vector<Kind> kinds_;
  std::array<int, 2> singles_ = {};  // by moment - 1
  std::array<Alone, 2> alone_;
  std::unordered_set<std::u16string> entered_;  // of side by side: none is entered twice
};

// --- instructions ------------------------------------------------------------------------------------------------------

// The allocatable units of each file, once for a function.
class Files {
 public:
  // At an instruction at which R has a limit of its own.
  [[nodiscard]] Files below(int limit) const {
    Files fewer = *this;
    for (auto* units : {&fewer.units_[index(RegFile::R)], &fewer.units_at_ret_[index(RegFile::R)]})
      if (units->size() > static_cast<std::size_t>(limit)) units->resize(static_cast<std::size_t>(limit));
    return fewer;
  }
  Files(const Function& f, const Target& target, const Limits& limits) : Files(f, target, limits, preserved_units(f, target)) {}
  //   least_limit   of R at any point: above it, what a function has to preserve is not restored everywhere
  Files(const Function& f, const Target& target, const Limits& limits, std::span<const PReg> preserved,
        int least_limit = ir::kMaxUnits) {
    // With predecessors of the entry, its head is no place that runs once: nothing can be saved there.
    bool entry_has_predecessors = false;
    for (std::size_t b = 0; b < f.blocks.size(); ++b)
      for (const ir::BlockId t : f.successors(ir::BlockId(b)))
        entry_has_predecessors = entry_has_predecessors || t == ir::BlockId(0);
    for (const RegFile file : ir::kAllFiles) {
      auto& units = units_[index(file)];
      units.assign(static_cast<std::size_t>(std::max(0, std::min(limits.of(file), target.units[index(file)]))), 0);
      for (std::size_t u = 0; u < units.size(); ++u)
        if (!ir::is_allocatable(target, f.abi, limits, file, static_cast<int>(u))) units[u] = kR | kW;
    }
    for (const ir::VReg& v : f.vregs) {
      auto& units = units_[index(v.file())];
      if (!v.is_architectural() || !v.fixed.is_valid()) continue;
      for (int u = v.fixed.begin(); u < v.fixed.end() && u < static_cast<int>(units.size()); ++u)
        units[static_cast<std::size_t>(u)] = kR | kW;
    }
    units_at_ret_ = units_;
    for (const PReg r : preserved) {
      auto &units = units_[index(r.file)], &at_ret = units_at_ret_[index(r.file)];
      if (r.first >= units.size()) continue;
      const bool is_above_a_limit = r.file == RegFile::R && r.end() > least_limit;
      const bool is_saved_through_r = target.abi(f.abi).memory_through_r && r.file != RegFile::R;
      if (entry_has_predecessors || is_above_a_limit || is_saved_through_r) units[r.first] = kR | kW;
      at_ret[r.first] = kR | kW;  // it holds what the caller left in it
    }
  }
  [[nodiscard]] const std::vector<std::uint8_t>& units(RegFile file, bool at_ret) const {
    return (at_ret ? units_at_ret_ : units_)[index(file)];
  }

 private:
  ir::PerFile<std::vector<std::uint8_t>> units_, units_at_ret_;
};

bool items_fit(const std::vector<Item>& items, std::span<const Operand> ops, RegFile file, std::vector<std::uint8_t> units) {
  if (items.empty()) return true;
  // In a file without holes, blocks taken largest first leave none.
  int sum = 0;
  bool is_plain = std::find(units.begin(), units.end(), kR | kW) == units.end();
  for (const Item& item : items) {
    sum += item.block();
    is_plain = is_plain && !item.fixed.is_valid() && !item.avoids_clobbers;
  }
  if (is_plain && sum <= static_cast<int>(units.size())) return true;
  for (const Operand& op : ops) {
    if (op.role != Role::Clobber || op.preg().file != file) continue;
    for (int u = op.preg().begin(); u < std::min(op.preg().end(), static_cast<int>(units.size())); ++u)
      units[static_cast<std::size_t>(u)] |= kClobbered;
  }
  return Packing(std::move(units)).fits(items);
}

bool fits_in_file(const Function& f, const Inst& inst, RegFile file, const Files& files) {
  const auto ops = f.operands_of(inst);
  if (!inst.is_phi()) return items_fit(Items(f, inst, file).list, ops, file, files.units(file, inst.op == ir::Op::Ret));
  return std::all_of(ops.begin(), ops.end(),
                     [&](const Operand& op) { return items_fit(Items(f, op, file).list, {}, file, files.units(file, false)); });
}

bool fits_all_of(const Function& f, const Inst& inst, const Files& files) {
  ir::PerFile<bool> used = {};
  for (const Operand& op : f.operands_of(inst))
    if (op.is_vreg()) used[index(f.vreg(f.root(op.vreg())).file())] = true;
  return std::all_of(std::begin(ir::kAllFiles), std::end(ir::kAllFiles),
                     [&](RegFile file) { return !used[index(file)] || fits_in_file(f, inst, file, files); });
}

// Whether instructions can be packed under the limits of their points.
class Points {
 public:
  Points(const Function& f, const Target& target, const Limits& limits, std::optional<std::span<const PReg>> preserved = {})
      : f_(f), points_(f, limits.of(RegFile::R)),
        files_(f, target, with_most(limits),
               preserved ? *preserved : std::span<const PReg>(own_preserved_ = preserved_units(f, target)),
               points_.varies() ? points_.least() : ir::kMaxUnits) {}
  [[nodiscard]] bool fits(const Inst& inst) const {
    if (!points_.varies()) return fits_all_of(f_, inst, files_);
    const int before = points_.before(static_cast<std::size_t>(&inst - f_.insts.data()));
    return fits_all_of(f_, inst, files_.below(before));
  }

 private:
  [[nodiscard]] Limits with_most(Limits limits) const {
    limits.units[index(RegFile::R)] = points_.most();
    return limits;
  }
  const Function& f_;
  const LimitByPoint points_;
  std::vector<PReg> own_preserved_;
  const Files files_;
};

}  // namespace

bool is_feasible(const Function& f, const Inst& inst, const Target& target, const Limits& limits) {
  return Points(f, target, limits).fits(inst);
}

std::optional<ir::InstId> find_impossible(const Function& f, const Target& target, const Limits& limits,
                                          const std::vector<bool>& exempt) {
  const Points points(f, target, limits);
  for (std::size_t k = 0; k < f.insts.size(); ++k) {
    const bool is_asked = k >= exempt.size() || !exempt[k];
    if (is_asked && !points.fits(f.insts[k])) return f.insts[k].id;
  }
  return std::nullopt;
}

std::optional<int> demand(const Function& f, const Inst& inst, RegFile file, const Target& target) {
  const auto fits = [&](int units) {
    Limits limits = Limits::of(target);
    limits.units[index(file)] = units;
    return fits_in_file(f, inst, file, Files(f, target, limits));
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

JudgeResult judge_completeness(const Before& prepared, const Limits& limits) {
  const Function& before = prepared.program();
  const Points points(before, prepared.target(), limits, prepared.preserved());
  for (const Inst& i : before.insts)
    if (!points.fits(i))
      return without_verdict(kName, Verdict::Pass,
                             fmt::format("#{} ({}) cannot be packed into the limit", i.id.value, before.mnemonic(i)));
  Collector out(kName);
  out.add("completeness", {}, -1, "the allocator failed, although each instruction can be packed into the limit");
  return out.finish();
}

}  // namespace regduel::oracles
