// Whether the operands of one instruction fit into a register file: the answers of both allocators and of the judge, each of which
// searches in a way of its own, against one another and against a fourth answer that is found out here.
//
// An instruction is drawn as a list of items (FORMAT.md, "Demand") and written down as operands that mean them. It is asked about
// at its demand and one below.
//   It fits           The homes that each allocator gives are held against the items, one by one.
//   It does not fit   The units are walked through from below, with the set of all states that can be reached: by how much items
//   reach into the
//                     next units, and which are still to come. First each moment alone, since most instructions fail there; then
//                     both.
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/instruction/packing.h"
#include "base/random.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/completeness.h"
#include "reference/instruction/packing.h"

namespace regduel::properties {
namespace {

using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

constexpr int kUnits = 255;
using Units = std::array<bool, kUnits + 1>;

struct Spec {
  int units = 1, align = 1;
  bool reads = false, writes = false;
  bool keeps = false;  // not where the instruction clobbers
  int fixed = -1;
  int shared = -1;  // a fixed home of its own root, which is read there: it may be written there, too
  // The operands that stand in its home.
  std::vector<std::size_t> operands;
};

struct Instruction {
  ir::Function f;
  ir::Target target = ir::default_target();
  std::vector<Spec> items;
  Units clobbered = {};
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Instruction make() {
    result_.f.name = "t";
    is_guarded_ = random_.chance(15);
    if (random_.chance(40)) holes();
    if (random_.chance(25)) clobber();
    const int num_kinds = random_.between(2, 5);
    for (int k = 0; k < num_kinds; ++k) kinds_.push_back(kind());
    const int num_operands = random_.between(12, 30);
    const int fixed = random_.chance(40) ? 15 : 0, both = random_.chance(70) ? random_.between(10, 60) : 0;
    while (static_cast<int>(defs_.size() + uses_.size()) < num_operands) {
      Spec item = kinds_[random_.below(static_cast<std::uint32_t>(kinds_.size()))];
      if (random_.chance(both)) both_moments(item, fixed);
      else if (random_.chance(is_guarded_ ? 100 : 65)) use(item, fixed);
      else def(item, fixed);
    }
    write();
    return std::move(result_);
  }

 private:
  struct Pending {
    Operand operand;
    std::size_t item;
    std::size_t tied_use = ~std::size_t{0};  // among the uses
  };

  Spec kind() {
    static constexpr int kSizes[] = {1, 1, 2, 2, 3, 4, 4, 8};
    Spec item;
    item.units = kSizes[random_.below(8)];
    item.align = 1 << ir::natural_align_log2(32 * item.units);
    if (random_.chance(35)) item.align = 1 << random_.between(0, 4);
    return item;
  }
  void holes() {
    const int count = random_.between(1, 8);
    for (int k = 0; k < count; ++k) {
      const int at = random_.between(0, 80);
      result_.target.reserved.push_back({RegFile::R, 1, static_cast<std::uint16_t>(at)});
      taken_[0][static_cast<std::size_t>(at)] = taken_[1][static_cast<std::size_t>(at)] = true;
    }
  }
  void clobber() {
    clobbers_ = {RegFile::R, static_cast<std::uint8_t>(random_.between(1, 12)), static_cast<std::uint16_t>(random_.between(0, 30))};
    for (int u = clobbers_.begin(); u < clobbers_.end(); ++u) result_.clobbered[static_cast<std::size_t>(u)] = true;
  }
  ir::VRegId vreg(const Spec& item) {
    ir::VReg v;
    v.width = static_cast<std::uint16_t>(32 * item.units);
    while (1 << v.align_log2 < item.align) ++v.align_log2;
    return result_.f.add_vreg(v);
  }
  // A place among the low units at which nothing else is fixed; -1 where a few attempts find none.
  int fixed_place(const Spec& item) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      const int at = random_.between(0, 64 / item.align) * item.align;
      bool is_free = true;
      for (int k = at; k < at + item.units; ++k) {
        const auto u = static_cast<std::size_t>(k);
        is_free =
            is_free && !(item.reads && taken_[0][u]) && !(item.writes && taken_[1][u]) && !(item.keeps && result_.clobbered[u]);
      }
      if (!is_free) continue;
      for (int k = at; k < at + item.units; ++k) {
        taken_[0][static_cast<std::size_t>(k)] |= item.reads;
        taken_[1][static_cast<std::size_t>(k)] |= item.writes;
      }
      return at;
    }
    return -1;
  }
  void fix(Operand& op, Spec& item, int percent) {
    if (!random_.chance(percent)) return;
    item.fixed = fixed_place(item);
    if (item.fixed >= 0) op.set_fixed(home(item, item.fixed));
  }
  static PReg home(const Spec& item, int at) {
    return {RegFile::R, static_cast<std::uint8_t>(item.units), static_cast<std::uint16_t>(at)};
  }
  std::size_t add(const Spec& item) {
    result_.items.push_back(item);
    return result_.items.size() - 1;
  }

  void use(Spec item, int fixed) {
    item.reads = true;
    Operand op = Operand::of_vreg(Role::Use, vreg(item));
    fix(op, item, fixed);
    const std::size_t at = add(item);
    uses_.push_back({op, at});
    if (random_.chance(10)) uses_.push_back({Operand::of_vreg(Role::Use, op.vreg()), at});  // read twice: one item
  }
  void def(Spec item, int fixed) {
    item.writes = true;
    Operand op = Operand::of_vreg(Role::Def, vreg(item));
    fix(op, item, fixed);
    defs_.push_back({op, add(item)});
  }
  // Guarded, def-use, early-clobber, a part, or a tie; sometimes with a fixed read of the same root.
  void both_moments(Spec item, int fixed) {
    item.reads = item.writes = true;
    Operand op = Operand::of_vreg(is_guarded_ ? Role::Def : Role::DefUse, vreg(item));
    const int form = is_guarded_ ? 0 : random_.between(0, 3);
    if (form == 1) {
      op.role = Role::Def;
      op.flags = ir::kEarlyClobber;
    } else if (form == 2 && item.units > 1) {
      op.role = Role::Def;
      op.part = ir::Part::of(2, 0);
      item.keeps = true;
    } else if (form == 3) {
      op.role = Role::Def;
      fix(op, item, fixed);
      const std::size_t at = add(item);
      uses_.push_back({Operand::of_vreg(Role::Use, vreg(item)), at});
      defs_.push_back({op, at, uses_.size() - 1});
      return;
    }
    fix(op, item, fixed);
    if (form != 1 && item.fixed < 0 && random_.chance(fixed)) {
      Spec read = item;
      read.writes = read.keeps = false;
      read.fixed = fixed_place(read);
      if (read.fixed >= 0) {
        Operand same_root = Operand::of_vreg(Role::Use, op.vreg());
        same_root.set_fixed(home(read, read.fixed));
        uses_.push_back({same_root, add(read)});
        item.shared = read.fixed;
      }
    }
    defs_.push_back({op, add(item)});
  }

  void write() {
    std::vector<Operand> ops;
    for (std::size_t k = 0; k < defs_.size() + uses_.size(); ++k) {
      Pending& p = k < defs_.size() ? defs_[k] : uses_[k - defs_.size()];
      if (p.tied_use != ~std::size_t{0}) p.operand.tied = static_cast<std::uint16_t>(defs_.size() + p.tied_use);
      result_.items[p.item].operands.push_back(k);
      ops.push_back(p.operand);
    }
    ir::Function& f = result_.f;
    if (is_guarded_) {
      ir::VReg predicate;
      predicate.cls = ir::RegClass::P;
      predicate.type = ir::TypeKind::Pred;
      predicate.width = 1;
      ops.push_back(Operand::of_vreg(Role::Guard, f.add_vreg(predicate)));
    }
    if (clobbers_.is_valid()) ops.push_back(Operand::of_preg(Role::Clobber, clobbers_));
    f.begin_block();
    ir::Inst inst;
    inst.id = ir::InstId(0);
    inst.mnemonic = f.symbols.intern("op");
    f.append(inst, ops);
    ir::Inst end;
    end.id = ir::InstId(1);
    end.op = ir::Op::Exit;
    f.append(end, {});
  }

  Random random_;
  Instruction result_;
  bool is_guarded_ = false;
  PReg clobbers_;
  std::array<Units, 2> taken_ = {};  // by moment: fixed items and holes
  std::vector<Spec> kinds_;
  std::vector<Pending> defs_, uses_;
};

// --- the fourth answer ---------------------------------------------------------------------------------------------------

class Walk {
 public:
  Walk(const Instruction& i, int limit) : limit_(limit) {
    for (int u = 0; u < limit; ++u) free_[0][static_cast<std::size_t>(u)] = free_[1][static_cast<std::size_t>(u)] = true;
    for (const PReg r : i.target.reserved)
      if (r.file == RegFile::R)
        for (int u = r.begin(); u < std::min(r.end(), limit); ++u)
          free_[0][static_cast<std::size_t>(u)] = free_[1][static_cast<std::size_t>(u)] = false;
    for (const Spec& item : i.items) {
      if (item.fixed < 0) continue;
      for (int k = item.fixed; k < item.fixed + item.units; ++k) {
        const auto u = static_cast<std::size_t>(k);
        for (const int m : {0, 1}) {
          if (!(m == 0 ? item.reads : item.writes)) continue;
          fixed_fit_ = fixed_fit_ && k < limit && free_[static_cast<std::size_t>(m)][u];
          free_[static_cast<std::size_t>(m)][u] = false;
        }
      }
    }
    for (const Spec& item : i.items) {
      if (item.fixed >= 0) continue;
      const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
        return k.item.units == item.units && k.item.align == item.align && k.item.reads == item.reads &&
               k.item.writes == item.writes && k.item.keeps == item.keeps && k.item.shared < 0 && item.shared < 0;
      });
      Kind& kind = same == kinds_.end() ? kinds_.emplace_back(Kind{item, 0, {}, false}) : *same;
      ++kind.count;
    }
    for (Kind& kind : kinds_) {
      const Spec& item = kind.item;
      const auto may_stand = [&](int at, bool reads, bool writes) {
        if (at % item.align != 0 || at + item.units > limit) return false;
        for (int k = at; k < at + item.units; ++k) {
          const auto u = static_cast<std::size_t>(k);
          if ((reads && !free_[0][u]) || (writes && !free_[1][u]) || (item.keeps && i.clobbered[u])) return false;
        }
        return true;
      };
      for (int u = 0; u < limit; ++u) kind.begins[static_cast<std::size_t>(u)] = may_stand(u, item.reads, item.writes);
      kind.may_share = item.shared >= 0 && may_stand(item.shared, false, true);
    }
  }

  [[nodiscard]] bool fits() const { return fixed_fit_ && fits_alone(0) && fits_alone(1) && fits_at_both(); }

 private:
  struct Kind {
    Spec item;
    int count;
    Units begins;
    bool may_share;
  };
  // How many units the last item of each moment reaches beyond this one; then what is left, by kind.
  using State = std::basic_string<char>;

  // The items of one moment alone: which of them can be left when the units below u have been given away, for each u.
  [[nodiscard]] bool fits_alone(std::size_t moment) const {
    std::vector<std::pair<int, Units>> groups;  // units, and where they begin
    State all;
    for (const Kind& k : kinds_) {
      if (moment == 0 ? !k.item.reads || k.may_share : !k.item.writes) continue;
      Units begins = k.begins;
      if (k.may_share) begins[static_cast<std::size_t>(k.item.shared)] = true;
      const std::pair group(k.item.units, begins);
      const auto at = std::find(groups.begin(), groups.end(), group) - groups.begin();
      if (at == std::ssize(groups)) groups.push_back(group), all += '\0';
      all[static_cast<std::size_t>(at)] = static_cast<char>(all[static_cast<std::size_t>(at)] + k.count);
    }
    std::vector<std::set<State>> left(static_cast<std::size_t>(limit_) + 1);
    left[0].insert(all);
    for (int u = 0; u < limit_; ++u) {
      const auto at = static_cast<std::size_t>(u);
      const auto room = std::count(free_[moment].begin() + u, free_[moment].end(), true);
      for (const State& s : left[at]) {
        int needed = 0;
        for (std::size_t k = 0; k < groups.size(); ++k) needed += s[k] * groups[k].first;
        if (needed > room) continue;
        left[at + 1].insert(s);
        for (std::size_t k = 0; k < groups.size(); ++k) {
          if (s[k] == 0 || !groups[k].second[at]) continue;
          State placed = s;
          --placed[k];
          left[at + static_cast<std::size_t>(groups[k].first)].insert(placed);
        }
      }
      left[at].clear();
    }
    return left.back().contains(State(all.size(), '\0'));
  }

  [[nodiscard]] bool fits_at_both() const {
    const auto is_done = [](const State& s) { return std::all_of(s.begin() + 2, s.end(), [](char c) { return c == 0; }); };
    State first(2, 0);
    for (const Kind& k : kinds_) first += static_cast<char>(k.count);
    std::set<State> states = {first};
    for (int u = 0; u < limit_; ++u) {
      std::set<State> next;
      for (const State& s : states) step(s, u, next);
      std::erase_if(next, [&](const State& s) { return lacks_room(s, 0, u + 1) || lacks_room(s, 1, u + 1); });
      states = std::move(next);
    }
    return std::any_of(states.begin(), states.end(), is_done);
  }
  [[nodiscard]] bool lacks_room(const State& s, std::size_t moment, int from) const {
    int needed = s[moment];
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const Spec& item = kinds_[k].item;
      if (moment == 0 ? item.reads && !kinds_[k].may_share : item.writes) needed += s[k + 2] * item.units;
    }
    return needed > std::count(free_[moment].begin() + from, free_[moment].end(), true);
  }
  // What may happen at unit u: an item of both moments begins, or in each moment one of its own, or none.
  void step(const State& s, int u, std::set<State>& next) const {
    const auto pass = [&](State t) {
      for (const std::size_t m : {0, 1})
        if (t[m] > 0) --t[m];
      next.insert(std::move(t));
    };
    const auto each = [&](const State& t, auto wanted, bool at_reads, bool at_writes, auto then) {
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (t[k + 2] == 0 || !wanted(kinds_[k])) continue;
        State placed = t;
        --placed[k + 2];
        if (at_reads) placed[0] = static_cast<char>(kinds_[k].item.units);
        if (at_writes) placed[1] = static_cast<char>(kinds_[k].item.units);
        then(placed);
      }
    };
    const auto begins = [u](const Kind& k) { return k.begins[static_cast<std::size_t>(u)]; };
    const auto write_or_pass = [&](const State& t) {
      pass(t);
      if (t[1] != 0) return;
      each(
          t, [&](const Kind& k) { return (!k.item.reads && begins(k)) || (k.may_share && k.item.shared == u); }, false, true, pass);
    };
    if (s[0] == 0 && s[1] == 0)
      each(s, [&](const Kind& k) { return k.item.reads && k.item.writes && begins(k); }, true, true, pass);
    if (s[0] == 0) each(s, [&](const Kind& k) { return !k.item.writes && begins(k); }, true, false, write_or_pass);
    write_or_pass(s);
  }

  int limit_;
  std::array<Units, 2> free_ = {};
  bool fixed_fit_ = true;
  std::vector<Kind> kinds_;
};

// --- the answers -----------------------------------------------------------------------------------------------------------

// The home of each operand of file R; empty where the allocator says that there is none.
using Homes = std::vector<PReg>;

Homes fatpoint(const Instruction& i, int limit) {
  const ir::Inst& inst = i.f.insts[0];
  allocator::Items items;
  allocator::build_items(i.f, inst, items);
  const auto homes = allocator::pack(i.f, inst, items, allocator::Budget::of(i.f, i.target, ir::Limits::of(i.target, limit)));
  if (!homes) return {};
  Homes result;
  for (const std::uint16_t k : items.of_operand) result.push_back(k == allocator::kNoItem ? PReg{} : (*homes)[k]);
  return result;
}

Homes briggs(const Instruction& i, int limit) {
  const ir::Limits limits = ir::Limits::of(i.target, limit);
  ir::PerFile<reference::UnitSet> allocatable;
  for (const RegFile file : ir::kAllFiles)
    for (int u = 0; u < limits.of(file); ++u)
      if (ir::is_allocatable(i.target, i.f.abi, limits, file, u)) allocatable[ir::index(file)].set(u);
  const reference::Shape shape = reference::shape_of(i.f, i.f.insts[0]);
  const reference::Homes homes = reference::pack(shape, allocatable, {});
  if (homes.failed) return {};
  Homes result;
  for (const std::int32_t k : shape.item_of) result.push_back(k < 0 ? PReg{} : homes.of_item[static_cast<std::size_t>(k)]);
  return result;
}

// Whether the homes are those of a packing.
bool are_right(const Instruction& i, int limit, const Homes& homes) {
  std::array<std::array<int, kUnits + 1>, 2> holder = {};  // item + 1
  for (const PReg r : i.target.reserved)
    if (r.file == RegFile::R)
      for (int u = r.begin(); u < r.end(); ++u)
        holder[0][static_cast<std::size_t>(u)] = holder[1][static_cast<std::size_t>(u)] = -1;
  for (std::size_t k = 0; k < i.items.size(); ++k) {
    const Spec& item = i.items[k];
    const PReg home = homes[item.operands[0]];
    for (const std::size_t op : item.operands)
      if (homes[op] != home) return false;
    if (home.file != RegFile::R || home.count != item.units || home.first % item.align != 0 || home.end() > limit) return false;
    if (item.fixed >= 0 && home.first != item.fixed) return false;
    for (int unit = home.begin(); unit < home.end(); ++unit) {
      const auto u = static_cast<std::size_t>(unit);
      if (item.keeps && i.clobbered[u]) return false;
      const int self = static_cast<int>(k) + 1;
      if (item.reads && home.first != item.shared && std::exchange(holder[0][u], self) != 0) return false;
      if (item.writes && std::exchange(holder[1][u], self) != 0) return false;
    }
  }
  return true;
}

struct Slowest {
  double milliseconds = 0;
  int instruction = -1;
  template <class Call>
  auto time(int number, Call call) {
    const auto start = std::chrono::steady_clock::now();
    auto result = call();
    const double took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (took > milliseconds) milliseconds = took, instruction = number;
    return result;
  }
};

TEST(ExactPacking, AllSearchesAgreeAtTheDemandAndOneBelow) {
  Slowest by_fatpoint, by_briggs, by_judge, by_walk;
  int asked = 0;
  for (int number = 0; asked < 1000; ++number) {
    const Instruction i = Maker(static_cast<std::uint64_t>(number)).make();
    ASSERT_TRUE(ir::check(i.f).empty()) << ir::print(i.f);
    const auto demand = oracles::demand(i.f, i.f.insts[0], RegFile::R, i.target);
    if (!demand) continue;  // more than the file has
    ++asked;
    for (const int limit : {*demand, *demand - 1}) {
      const bool fits = limit == *demand;
      const bool judged =
          by_judge.time(number, [&] { return oracles::is_feasible(i.f, i.f.insts[0], i.target, ir::Limits::of(i.target, limit)); });
      const Homes a = by_fatpoint.time(number, [&] { return fatpoint(i, limit); });
      const Homes b = by_briggs.time(number, [&] { return briggs(i, limit); });
      EXPECT_EQ(judged, fits);
      EXPECT_EQ(!a.empty(), fits) << number << " at " << limit << "\n" << ir::print(i.f);
      EXPECT_EQ(!b.empty(), fits) << number << " at " << limit << "\n" << ir::print(i.f);
      for (const Homes* homes : {&a, &b})
        EXPECT_TRUE(homes->empty() || are_right(i, limit, *homes)) << number << " at " << limit << "\n" << ir::print(i.f);
      const bool walked = !fits && by_walk.time(number, [&] { return Walk(i, limit).fits(); });
      EXPECT_FALSE(walked) << number << " at " << limit << "\n" << ir::print(i.f);
    }
  }
  for (const auto& [name, slowest] :
       {std::pair("fatpoint", by_fatpoint), {"briggs", by_briggs}, {"completeness", by_judge}, {"walk", by_walk}})
    std::cout << name << ": slowest " << slowest.milliseconds << " ms, instruction " << slowest.instruction << "\n";
}

}  // namespace
}  // namespace regduel::properties
