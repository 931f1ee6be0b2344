#include "passes/cssa/phi_copies.h"

#include <algorithm>

namespace regduel::passes::conventional {

using ir::BlockId;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

Kind Kind::of(const ir::VReg& v) {
  return {v.cls, v.type == ir::TypeKind::F, (v.flags & ir::kVRegUniform) != 0, v.width, v.align_log2};
}

PhiCopies::PhiCopies(const ir::Function& f, const ir::Cfg& cfg, std::span<const std::int64_t> weight_of, ir::Fuel* fuel)
    : f_(f), cfg_(cfg), weight_of_(weight_of), is_apart_(f.insts.size(), 0) {
  find_demand();
  std::vector<ir::Storage> written;
  for (std::size_t n = 0; n < f.blocks.size(); ++n) {
    const BlockId b(n);
    if (!cfg.is_reachable(b)) continue;
    written.clear();
    for (const Inst& i : f.phis_of(b)) written.push_back(f.storage(f.operands_of(i)[0]));
    std::sort(written.begin(), written.end(),
              [](const ir::Storage& x, const ir::Storage& y) { return std::pair(x.root, x.offset) < std::pair(y.root, y.offset); });
    const auto overlap = [](const ir::Storage& x, const ir::Storage& y) { return x.overlaps(y); };
    if (std::adjacent_find(written.begin(), written.end(), overlap) != written.end()) continue;
    for (const Inst& i : f.phis_of(b)) {
      const ir::VReg hub = hub_of(b, i);
      if (!may_take_apart(i, hub) || !ir::may(fuel, "isolate-phi")) continue;
      const auto ops = f.operands_of(i);
      const auto preds = f.targets_of(i);
      Phi phi{static_cast<std::uint32_t>(&i - f.insts.data()), hub, static_cast<std::uint32_t>(copies_.size()), 0};
      const auto number = static_cast<std::uint32_t>(phis_.size());
      copies_.push_back({b, true, false, number, ops[0], weight_of[b.index()]});
      for (std::size_t k = 0; k < preds.size(); ++k) {
        if (!cfg.is_reachable(preds[k])) continue;
        const bool on_edge = cfg.is_critical(preds[k], b);
        copies_.push_back({preds[k], false, on_edge, number, ops[k + 1], weight_on_edge(preds[k], b)});
      }
      phi.num_copies = static_cast<std::uint32_t>(copies_.size()) - phi.first_copy;
      phis_.push_back(phi);
      is_apart_[phi.inst] = 1;
    }
  }
  const auto group = [&](Grouped<std::uint32_t>& places, bool at_head, bool on_edge) {
    places.build(f_.blocks.size(), [&](auto add) {
      for (std::uint32_t c = 0; c < copies_.size(); ++c)
        if (copies_[c].at_head == at_head && copies_[c].on_edge == on_edge) add(copies_[c].block.index(), c);
    });
  };
  group(at_head_, true, false);
  group(at_end_, false, false);
  group(on_edges_, false, true);
}

std::int64_t PhiCopies::weight_on_edge(BlockId from, BlockId to) const {
  const std::int64_t weight = weight_of_[from.index()];
  return cfg_.is_critical(from, to) ? std::min(weight, weight_of_[to.index()]) : weight;
}

void PhiCopies::find_demand() {
  for (const Inst& i : f_.insts) {
    if (i.is_phi()) continue;
    for (const Operand& op : f_.operands_of(i)) {
      if (!op.is_vreg()) continue;
      const ir::VReg& v = f_.vreg(f_.root(op.vreg()));
      auto& most = demanded_[ir::index(v.file())];
      for (std::size_t a = 0; a <= v.align_log2 && !v.is_architectural(); ++a) most[a] = std::max(most[a], v.units());
    }
  }
}

bool PhiCopies::is_demanded(const ir::VReg& v) const {
  return v.is_architectural() || demanded_[ir::index(v.file())][v.align_log2] >= v.units();
}

// A copy to a part needs the whole root beside what it reads, which nothing else may; and what an allocator inserts moves whole
// units, aligned as a vreg of its own is.
bool PhiCopies::may_be_copied(const Operand& op) const {
  const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
  return is_demanded(root) && (f_.is_whole(op) || (!op.writes() && f_.vreg(op.vreg()).bytes() == ir::unit_bytes(root.file())));
}

bool PhiCopies::may_take_apart(const Inst& i, const ir::VReg& hub) const {
  const auto ops = f_.operands_of(i);
  return is_demanded(hub) && std::all_of(ops.begin(), ops.end(), [&](const Operand& op) { return may_be_copied(op); });
}

// Declared as most of those are with which it could become one, by the weight of their copies; as the result where there are none.
// `uniform` is what the result says: what a phi of uniform values chooses need not be uniform.
ir::VReg PhiCopies::hub_of(BlockId b, const Inst& i) const {
  const auto ops = f_.operands_of(i);
  const auto preds = f_.targets_of(i);
  std::vector<std::tuple<Kind, std::int64_t, VRegId>> candidates;
  const auto add = [&](const Operand& op, std::int64_t weight) {
    if (!is_free(op.vreg())) return;
    const Kind kind = Kind::of(f_.vreg(op.vreg()));
    if (kind.is_uniform != Kind::of(f_.vreg(ops[0].vreg())).is_uniform) return;
    const auto at = std::find_if(candidates.begin(), candidates.end(), [&](const auto& c) { return std::get<0>(c) == kind; });
    if (at == candidates.end()) candidates.emplace_back(kind, weight, op.vreg());
    else std::get<1>(*at) += weight;
  };
  add(ops[0], weight_of_[b.index()]);
  for (std::size_t k = 0; k < preds.size(); ++k)
    if (cfg_.is_reachable(preds[k])) add(ops[k + 1], weight_on_edge(preds[k], b));
  const auto best = std::max_element(candidates.begin(), candidates.end(),
                                     [](const auto& x, const auto& y) { return std::get<1>(x) < std::get<1>(y); });
  const ir::VReg& model = f_.vreg(best == candidates.end() ? ops[0].vreg() : std::get<2>(*best));
  ir::VReg hub;
  hub.cls = model.cls;
  hub.type = model.type;
  hub.width = model.width;
  hub.align_log2 = model.align_log2;
  if (model.alias.is_valid()) hub.align_log2 = std::min(model.align_log2, f_.vreg(f_.root(ops[0].vreg())).align_log2);
  hub.flags = model.flags & ir::kVRegUniform;
  return hub;
}

}  // namespace regduel::passes::conventional
