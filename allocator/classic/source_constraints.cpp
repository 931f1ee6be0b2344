// See source_constraints.h.

#include "allocator/classic/source_constraints.h"

#include <algorithm>
#include <utility>

#include "allocator/program/names.h"
#include "ir/unit_set.h"

namespace regduel::allocator {
namespace {

using ir::UnitSet;

// Of the fixed operands of one instruction, each looks at no more than this many others.
constexpr std::size_t kMaxSquare = 16;

class Builder {
 public:
  struct Edge {
    VRegId of;
    Constraint node;
  };

  Builder(const Function& original, const Function& f, std::span<const std::int64_t> frequency, const Liveness& live,
          const ConstraintLists& affinities, std::uint32_t types)
      : original_(original), f_(f), frequency_(frequency), live_(live), affinities_(affinities), types_(types) {}

  std::vector<Edge> run() {
    if (has(ConstraintType::ExcludeOne) || has(ConstraintType::ExcludeAllBut) || has(ConstraintType::BelowPoint)) find_bound();
    if (!fixed_.empty()) fixed_operands();
    if (!clobbers_.empty() && has(ConstraintType::BelowPoint)) across_calls();
    if (has(ConstraintType::PhiRelated)) phis();
    constexpr std::uint32_t kPairTypes = 1u << 5 | 1u << 6 | 1u << 7;
    if ((types_ & kPairTypes) != 0 && std::ranges::any_of(f_.vregs, [](const ir::VReg& v) { return v.width > 32; })) pairs();
    return std::move(edges_);
  }

 private:
  [[nodiscard]] bool has(ConstraintType type) const { return (types_ >> static_cast<int>(type) & 1) != 0; }
  [[nodiscard]] bool skips(VRegId v) const { return f_.vreg(v).is_architectural() || live_.range(v.index()).empty(); }
  [[nodiscard]] bool is_bound(VRegId v) const { return f_.vreg(v).fixed.is_valid() || skips(v); }
  [[nodiscard]] int weight_at(std::uint32_t n) const { return weight_of(frequency_[live_.block_at(n).index()]); }
  void add(VRegId of, ConstraintType type, int weight, bool is_soft, VRegId partner, int unit) {
    if (!has(type)) return;
    Edge& edge = edges_.emplace_back();
    edge.of = of;
    edge.node = {.type = type,
                 .is_soft = is_soft,
                 .weight = static_cast<std::int16_t>(weight),
                 .unit = static_cast<std::int16_t>(unit),
                 .partner = partner};
  }

  // Copies from and to fixed registers, and clobbers.
  void find_bound() {
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n) {
      const Inst& inst = f_.insts[live_.inst_at(n)];
      const auto ops = f_.operands_of(inst);
      if (inst.op == Op::Copy)
        for (const auto [def, use] : ir::copy_pairs(ops)) fixed_pair(def, use, n);
      if (!ops.empty() && ops.back().role == Role::Clobber) clobber(ops, n);
    }
  }
  void fixed_pair(const Operand& def, const Operand& use, std::uint32_t n) {
    const ir::Storage d = f_.storage(def), s = f_.storage(use);
    const PReg to = f_.vreg(d.root).fixed, from = f_.vreg(s.root).fixed;
    if (!to.is_valid() && !from.is_valid()) return;
    const RegFile file = f_.vreg(d.root).file();
    const int unit = ir::unit_bytes(file);
    if (file != f_.vreg(s.root).file() || d.root == s.root || d.offset % unit != s.offset % unit) return;
    if (f_.vreg(d.root).is_architectural() || f_.vreg(s.root).is_architectural()) return;
    const int apart = static_cast<int>(s.offset) / unit - static_cast<int>(d.offset) / unit;
    if (to.is_valid()) fixed_.push_back({s.root, to, to.begin() - apart, n});
    else fixed_.push_back({d.root, from, from.begin() + apart, n});
  }
  void clobber(std::span<const Operand> ops, std::uint32_t n) {
    ir::PerFile<UnitSet> kept;
    kept.fill(UnitSet::range(0, ir::kMaxUnits));
    for (const Operand& op : ops)
      if (op.role == Role::Clobber) kept[ir::index(op.preg().file)] -= ir::units_of(op.preg());
    clobbers_.push_back({clobber_point(n), {}});
    for (std::size_t file = 0; file < kept.size(); ++file) clobbers_.back().first_kept[file] = kept[file].first_or(ir::kMaxUnits);
  }

  // --- types 2 and 1
  // True if a copy, a phi, a tie or a hint joins v to a vreg that may stand anywhere.
  [[nodiscard]] bool is_pulled(VRegId v) const {
    return std::ranges::any_of(affinities_.of(v), [&](const Constraint& c) {
      return c.type == ConstraintType::Range && !f_.vreg(c.partner).fixed.is_valid();
    });
  }
  void fixed_operands() {
    for (const Fixed& x : fixed_)
      if (!is_bound(x.vreg) && !is_pulled(x.vreg)) add(x.vreg, ConstraintType::ExcludeAllBut, weight_at(x.n), false, {}, x.unit);
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      std::size_t begin = i;  // those of one parallel copy, or of copies in a row, belong to one instruction
      while (begin > 0 && fixed_[i].n - fixed_[begin - 1].n <= 1 && i - begin < kMaxSquare) --begin;
      for (std::size_t j = begin; j < i; ++j)
        for (const auto& [a, b] : {std::pair(&fixed_[i], &fixed_[j]), std::pair(&fixed_[j], &fixed_[i])})
          if (a->vreg != b->vreg && a->taken.file == b->taken.file && !is_bound(a->vreg))
            for (int u = b->taken.begin(); u < b->taken.end(); ++u)
              add(a->vreg, ConstraintType::ExcludeOne, weight_at(a->n), true, {}, u);
    }
  }

  // --- type 3
  // The first register that the first call in the life of v keeps; 0 = no call.
  [[nodiscard]] int first_kept(VRegId v) const {
    for (const Interval& i : live_.range(v.index())) {
      const auto at =
          std::lower_bound(clobbers_.begin(), clobbers_.end(), i.begin, [](const Clobber& c, Point p) { return c.point < p; });
      if (at != clobbers_.end() && at->point < i.end) return at->first_kept[ir::index(f_.vreg(v).file())];
    }
    return 0;
  }
  void across_calls() {
    for (std::size_t k = 0; k < f_.vregs.size(); ++k) {
      const VRegId v(k);
      if (is_bound(v) || affinities_.of(v).empty() || first_kept(v) != 0) continue;
      for (const Constraint& c : affinities_.of(v)) {
        if (c.type != ConstraintType::Range || f_.vreg(c.partner).fixed.is_valid()) continue;
        if (const int kept = first_kept(c.partner); kept > 0) add(v, ConstraintType::BelowPoint, c.weight, true, {}, kept - c.unit);
      }
    }
  }

  // --- types 5, 6, 7
  void pairs() {
    std::vector<VRegId> uses, defs;
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n) {
      const Inst& inst = f_.insts[live_.inst_at(n)];
      if (inst.op == Op::Copy) continue;
      uses.clear();
      defs.clear();
      for (const Operand& op : f_.operands_of(inst)) {
        if (!op.is_vreg() || is_bound(op.vreg())) continue;
        const bool is_def = op.role == Role::Def;
        if (!is_def && f_.vreg(op.vreg()).width <= 32) continue;
        std::vector<VRegId>& list = is_def ? defs : uses;
        if (std::ranges::find(list, op.vreg()) == list.end()) list.push_back(op.vreg());
      }
      for (const VRegId d : defs)
        for (const VRegId u : uses) {
          if (u == d || f_.vreg(u).file() != f_.vreg(d).file()) continue;
          const int weight = weight_at(n);
          if (f_.vreg(d).width > 32) {
            add(d, ConstraintType::AlignedPair, weight, true, u, 0);
          } else {
            add(d, ConstraintType::PairedLow, weight, true, u, 0);
            add(d, ConstraintType::PairedHigh, weight, true, u, 0);
          }
        }
    }
  }

  // --- type 8
  void phis() {
    for (const ir::Block& b : original_.blocks)
      for (const Inst& inst : original_.insts_of(b)) {
        if (!inst.is_phi()) break;
        const auto ops = original_.operands_of(inst);
        const VRegId d = original_.root(ops[0].vreg());
        if (ir::is_barrier(original_.vreg(d).file()) || skips(d)) continue;
        for (const Operand& op : ops.subspan(1)) {
          if (!op.is_vreg()) continue;
          const VRegId s = original_.root(op.vreg());
          if (s == d || original_.vreg(s).file() != original_.vreg(d).file() || skips(s)) continue;
          add(d, ConstraintType::PhiRelated, 1, true, s, 0);
          add(s, ConstraintType::PhiRelated, 1, true, d, 0);
        }
      }
  }

  struct Fixed {
    VRegId vreg;
    PReg taken;
    int unit;  // where the vreg would stand
    std::uint32_t n;
  };
  struct Clobber {
    Point point;
    ir::PerFile<int> first_kept;
  };

  const Function& original_;
  const Function& f_;
  std::span<const std::int64_t> frequency_;
  const Liveness& live_;
  const ConstraintLists& affinities_;
  const std::uint32_t types_;
  std::vector<Edge> edges_;
  std::vector<Fixed> fixed_;       // in program order
  std::vector<Clobber> clobbers_;  // in program order
};

}  // namespace

SourceConstraints::SourceConstraints(const Function& original, const Function& f, std::span<const std::int64_t> block_frequency,
                                     const Liveness& live, const ConstraintLists& affinities, std::uint32_t types) {
  const std::vector<Builder::Edge> edges = Builder(original, f, block_frequency, live, affinities, types).run();
  if (edges.empty()) return;
  lists_.build_from(
      f.vregs.size(), edges, [](const Builder::Edge& e) { return e.of.index(); },
      [](const Builder::Edge& e) -> const Constraint& { return e.node; });
}

}  // namespace regduel::allocator
