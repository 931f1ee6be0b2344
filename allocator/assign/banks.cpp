// See banks.h.

#include "allocator/assign/banks.h"

#include <vector>

namespace regduel::allocator {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

BankPairs::BankPairs(const Function& f, const Liveness& live, int banks) : banks_(banks) {
  struct Source {
    VRegId vreg;
    int unit;
  };
  struct Edge {
    VRegId of;
    Partner partner;
  };
  std::vector<Source> sources;
  std::vector<Edge> edges;
  for (std::uint32_t n = 0; n < live.num_numbered(); ++n) {
    const Inst& inst = f.insts[live.inst_at(n)];
    if (inst.op != Op::Named || inst.is_deleted()) continue;
    sources.clear();
    for (const Operand& op : f.operands_of(inst))
      if (op.is_vreg() && (op.role == Role::Use || op.role == Role::DefUse) && f.vreg(op.vreg()).file() == RegFile::R)
        sources.push_back({op.vreg(), f.storage(op).offset / ir::unit_bytes(RegFile::R)});
    if (sources.size() < 2 || sources.size() > kMaxSources) continue;
    for (const Source& a : sources)
      for (const Source& b : sources)
        if (a.vreg != b.vreg) edges.push_back({a.vreg, {b.vreg, b.unit - a.unit}});
  }
  partners_.build_from(f.vregs.size(), edges, [](const Edge& e) { return e.of.index(); }, [](const Edge& e) { return e.partner; });
}

int BankPairs::conflicts(VRegId v, int unit, std::span<const int> home) const {
  int sum = 0;
  for (const Partner& p : partners_[v.index()])
    if (const int its = home[p.vreg.index()]; its >= 0 && wanted_by(p, its) == unit % banks_) ++sum;
  return sum;
}

std::uint64_t BankPairs::taken_banks(VRegId v, std::span<const int> home) const {
  std::uint64_t taken = 0;
  for (const Partner& p : partners_[v.index()])
    if (const int its = home[p.vreg.index()]; its >= 0) taken |= std::uint64_t{1} << wanted_by(p, its);
  return taken;
}

int BankPairs::count(std::span<const int> home) const {
  int sum = 0;
  for (std::size_t v = 0; v < partners_.num_keys(); ++v)
    if (home[v] >= 0) sum += conflicts(VRegId(v), home[v], home);
  return sum / 2;  // each pair is seen from both sides
}

}  // namespace regduel::allocator
