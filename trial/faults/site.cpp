// See site.h.
#include "trial/faults/site.h"

#include <algorithm>
#include <bit>

#include "oracles/pair/preserved.h"

namespace regduel::trial {

using ir::Operand;
using ir::PReg;
using ir::Role;

Site::Site(const Subject& s)
    : subject(s), program(s.after), cfg(s.after), preserved(oracles::preserved_units(s.before, s.target)),
      expected(s.before, preserved) {
  for (const Operand& op : s.after.operands)
    if (op.is_preg() && op.role != Role::Clobber) {
      int& used = used_[ir::index(op.preg().file)];
      used = std::max(used, op.preg().end());
    }
}

bool Site::is_operation(const EditInst& i) const {
  return original(i) != nullptr && !i.inst.is_copy() && !i.inst.is_phi() && i.inst.op != ir::Op::Spill &&
         i.inst.op != ir::Op::Refill;
}

bool Site::is_free(const EditInst& i, std::size_t k) const {
  if (original(i) == nullptr || k >= original_ops(i).size()) return false;
  const auto ops = original_ops(i);
  const Operand& op = ops[k];
  if (!op.is_vreg() || subject.before.fixed_of(op).is_valid() || op.is_tied() || op.is_early_clobber() || op.role == Role::DefUse)
    return false;
  return std::none_of(ops.begin(), ops.end(), [&](const Operand& d) { return d.is_tied() && d.tied == k; });
}

bool Site::is_preserved(PReg r) const {
  return std::any_of(preserved.begin(), preserved.end(), [&](PReg p) { return p.overlaps(r); });
}

bool Site::is_allocatable(PReg r) const {
  for (int u = r.begin(); u < r.end(); ++u)
    if (!ir::is_allocatable(subject.target, subject.before.abi, subject.limits, r.file, u)) return false;
  return true;
}

std::optional<PReg> Site::another_home(PReg home, bool used_only, Random& random) const {
  const int natural = static_cast<int>(std::bit_ceil(home.count)), align = home.first % natural == 0 ? natural : 1;
  const int end = used_only ? used_[ir::index(home.file)] : subject.limits.of(home.file);
  std::vector<PReg> homes;
  for (int first = 0; first + home.count <= end; first += align) {
    const PReg r{home.file, home.count, static_cast<std::uint16_t>(first)};
    if (!r.overlaps(home) && is_allocatable(r)) homes.push_back(r);
  }
  return pick(homes, random);
}

namespace {

template <class Take>
std::vector<Place> each(const Site& s, Take take) {
  std::vector<Place> places;
  for (std::uint32_t b = 0; b < s.program.blocks.size(); ++b)
    for (std::uint32_t k = 0; s.cfg.is_reachable(ir::BlockId(b)) && k < s.program.blocks[b].insts.size(); ++k)
      take(places, b, k, s.program.blocks[b].insts[k]);
  return places;
}

}  // namespace

Selector insts(InstTest test) {
  return [=](const Site& s) {
    return each(s, [&](std::vector<Place>& places, std::uint32_t b, std::uint32_t k, const EditInst& i) {
      if (test(s, i)) places.push_back({b, k});
    });
  };
}

Selector operands(InstTest test, OperandTest of) {
  return [=](const Site& s) {
    return each(s, [&](std::vector<Place>& places, std::uint32_t b, std::uint32_t k, const EditInst& i) {
      if (!test(s, i)) return;
      for (std::size_t o = 0; o < i.ops.size(); ++o)
        if (of(s, i, o)) places.push_back({b, k, o});
    });
  };
}

Selector operand_pairs(InstTest test, PairTest of) {
  constexpr std::size_t kReach = 8;
  return [=](const Site& s) {
    return each(s, [&](std::vector<Place>& places, std::uint32_t b, std::uint32_t k, const EditInst& i) {
      if (!test(s, i)) return;
      for (std::size_t x = 0; x < i.ops.size(); ++x)
        for (std::size_t y = 0; y < i.ops.size() && y < x + kReach; ++y)
          if (x != y && i.ops[x].is_preg() && i.ops[y].is_preg() && of(s, i, x, y)) places.push_back({b, k, x, y});
    });
  };
}

Selector inst_pairs(InstTest first, LaterTest later, std::size_t reach) {
  return [=](const Site& s) {
    return each(s, [&](std::vector<Place>& places, std::uint32_t b, std::uint32_t k, const EditInst& i) {
      if (!first(s, i)) return;
      const auto& all = s.program.blocks[b].insts;
      for (std::size_t n = k + 1; n < all.size() && n <= k + reach; ++n)
        if (later(s, i, all[n])) places.push_back({b, k, 0, n});
    });
  };
}

Selector edge_blocks(bool filled) {
  return [=](const Site& s) {
    std::vector<Place> places;
    for (std::uint32_t b = 0; b < s.program.blocks.size(); ++b)
      if (s.program.blocks[b].attributes.is_edge_block() && s.cfg.is_reachable(ir::BlockId(b)) &&
          (!filled || s.program.blocks[b].insts.size() > 1))
        places.push_back({b, 0});
    return places;
  };
}

std::vector<Place> slots(const Site& s) {
  std::vector<Place> places;
  for (std::size_t k = 0; k < s.program.header.slots.size(); ++k) places.push_back({0, 0, k});
  return places;
}

std::vector<Place> slot_pairs(const Site& s) {
  constexpr std::size_t kMost = 40;
  std::vector<Place> places;
  const auto& all = s.program.header.slots;
  for (std::size_t x = 0; x < std::min(kMost, all.size()); ++x)
    for (std::size_t y = 0; y < std::min(kMost, all.size()); ++y)
      if (x != y && all[x].space == all[y].space) places.push_back({0, 0, x, y});
  return places;
}

std::vector<Place> everywhere(const Site&) { return {{}}; }

bool is_operation(const Site& s, const EditInst& i) { return s.is_operation(i); }

bool is_unchanged(const Site& s, const EditInst& i) { return s.original(i) != nullptr && s.original(i)->op == i.inst.op; }

}  // namespace regduel::trial
