// See banks.h.

#include "allocator/assign/banks.h"

#include <algorithm>
#include <vector>

#include "allocator/program/names.h"

namespace regduel::allocator {

void find_bank_sources(const Function& f, const Inst& inst, std::vector<BankSource>& list) {
  list.clear();
  if (inst.op != Op::Named || inst.is_deleted()) return;
  for (const Operand& op : f.operands_of(inst)) {
    if (!op.is_vreg() || (op.role != Role::Use && op.role != Role::DefUse) || f.vreg(op.vreg()).file() != RegFile::R) continue;
    const BankSource s{op.vreg(), f.storage(op).offset / ir::unit_bytes(RegFile::R)};
    if (std::find(list.begin(), list.end(), s) == list.end()) list.push_back(s);
  }
  if (list.size() < 2 || list.size() > kMaxBankSources) list.clear();
}

BankPairs::BankPairs(const Function& f, const Liveness& live, std::span<const std::int64_t> frequency, int banks) : banks_(banks) {
  struct Edge {
    VRegId of;
    Partner partner;
  };
  std::vector<BankSource> sources;
  std::vector<Edge> edges;
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    find_bank_sources(f, f.insts[live.inst_at(n)], sources);
    const auto weight = static_cast<std::int16_t>(weight_of(frequency[live.block_at(n).index()]));
    for (const BankSource& a : sources)
      for (const BankSource& b : sources)
        if (a.vreg != b.vreg) edges.push_back({a.vreg, {b.vreg, static_cast<std::int16_t>(b.unit - a.unit), weight}});
  }
  partners_.build_from(f.vregs.size(), edges, [](const Edge& e) { return e.of.index(); }, [](const Edge& e) { return e.partner; });
}

std::int64_t BankPairs::weight(VRegId v, int unit, std::span<const int> home) const {
  std::int64_t sum = 0;
  for (const Partner& p : partners_[v.index()]) sum += is_conflict(p, unit, home) ? p.weight : 0;
  return sum;
}

std::uint64_t BankPairs::taken_banks(VRegId v, std::span<const int> home) const {
  std::uint64_t taken = 0;
  for (const Partner& p : partners_[v.index()])
    if (const int its = home[p.vreg.index()]; its >= 0)
      taken |= std::uint64_t{1} << ((its + p.distance + ir::kMaxUnits * banks_) % banks_);
  return taken;
}

int BankPairs::count(std::span<const int> home) const {
  int sum = 0;
  for (std::size_t v = 0; v < partners_.num_keys(); ++v)
    if (home[v] >= 0)
      for (const Partner& p : partners_[v]) sum += is_conflict(p, home[v], home) ? 1 : 0;
  return sum / 2;  // each pair is seen from both sides
}

}  // namespace regduel::allocator
