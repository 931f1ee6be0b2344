// See constraints.h.

#include "allocator/assign/constraints.h"

#include <algorithm>
#include <array>

#include "allocator/program/names.h"

namespace regduel::allocator {

namespace {

constexpr std::array<std::string_view, kNumConstraintTypes> kNames = {
    "point", "exclude-one", "exclude-all-but", "below-point", "custom-4",   "paired-low",   "paired-high",     "aligned-pair",
    "phi",   "custom-9",    "custom-10",       "even-parity", "odd-parity", "parity-group", "parity-extended", "range"};

class Builder {
 public:
  struct Edge {
    VRegId of;
    Constraint node;
  };

  Builder(const Function& original, const SpillCode& lowered, const std::vector<std::int64_t>& frequency, const Liveness& live,
          const ConstraintOptions& options)
      : original_(original), f_(lowered.f), frequency_(frequency), live_(live), options_(options) {}

  std::vector<Edge> run() {
    edges_.reserve(live_.num_numbered());
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n) {
      const Inst& inst = f_.insts[live_.inst_at(n)];
      if (inst.op == Op::Copy) copy(inst, n);
    }
    hints();
    const bool any_custom = options_.target != nullptr && !options_.target->custom_constraints.empty();
    if (!any_custom && !options_.bank_aware) return std::move(edges_);
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n)
      if (const Inst& inst = f_.insts[live_.inst_at(n)]; inst.op != Op::Copy) {
        if (options_.bank_aware) banks(inst, n);
        if (any_custom) custom(inst);
      }
    return std::move(edges_);
  }

 private:
  [[nodiscard]] bool has(ConstraintType type) const { return (options_.types >> static_cast<int>(type) & 1) != 0; }
  [[nodiscard]] bool skips(VRegId v) const { return f_.vreg(v).is_architectural() || live_.range(v.index()).empty(); }
  [[nodiscard]] bool is_bound(VRegId v) const { return f_.vreg(v).fixed.is_valid() || skips(v); }
  void add(VRegId of, ConstraintType type, int weight, bool is_soft, VRegId partner, int unit) {
    if (type != ConstraintType::Range && !has(type)) return;
    Edge& edge = edges_.emplace_back();
    edge.of = of;
    Constraint& c = edge.node;
    c.type = type;
    c.is_soft = is_soft;
    c.weight = static_cast<std::int16_t>(weight);
    c.partner = partner;
    c.unit = static_cast<std::int16_t>(unit);
  }
  [[nodiscard]] int weight_at(std::uint32_t n) const { return weight_of(frequency_[live_.block_at(n).index()]); }

  // --- type 15
  void affinity(VRegId a, int unit_a, VRegId b, int unit_b, int weight) {
    add(a, ConstraintType::Range, weight, false, b, unit_b - unit_a);
    add(b, ConstraintType::Range, weight, false, a, unit_a - unit_b);
  }
  void copy(const Inst& inst, std::uint32_t n) {
    const int weight = weight_at(n);
    for (const auto [def, use] : ir::copy_pairs(f_.operands_of(inst))) {
      const ir::Storage d = f_.storage(def), s = f_.storage(use);
      const RegFile file = f_.vreg(d.root).file();
      const int unit = ir::unit_bytes(file);
      if (file != f_.vreg(s.root).file() || d.root == s.root || d.offset % unit != s.offset % unit) continue;
      if (f_.vreg(d.root).is_architectural() || f_.vreg(s.root).is_architectural()) continue;  // no other vreg stands there
      affinity(d.root, d.offset / unit, s.root, s.offset / unit, weight);
    }
  }
  void hints() {
    for (std::size_t v = 0; v < original_.vregs.size(); ++v) {
      const VRegId hint = original_.vregs[v].hint;
      if (!hint.is_valid()) continue;
      const VRegId a = original_.root(VRegId(v)), b = original_.root(hint);
      if (a != b && original_.vreg(a).file() == original_.vreg(b).file() && !skips(a) && !skips(b)) affinity(a, 0, b, 0, 2);
    }
  }

  // --- types 11 to 14
  void banks(const Inst& inst, std::uint32_t n) {
    constexpr ConstraintType kByPlace[] = {ConstraintType::EvenParity, ConstraintType::OddParity, ConstraintType::ParityGroup};
    find_bank_sources(f_, inst, sources_);
    for (std::size_t place = 0; place < sources_.size(); ++place) {
      const BankSource& a = sources_[place];
      if (is_bound(a.vreg)) continue;
      const ConstraintType type =
          f_.vreg(a.vreg).width > 32 ? ConstraintType::ParityExtended : kByPlace[std::min<std::size_t>(place, 2)];
      for (const BankSource& b : sources_)
        if (a.vreg != b.vreg) add(a.vreg, type, weight_at(n), true, b.vreg, b.unit - a.unit);
    }
  }

  // --- types 4, 9, 10
  void custom(const Inst& inst) {
    const auto& rules = options_.target->custom_constraints;
    for (std::size_t k = 0; k < rules.size(); ++k) {
      if (f_.mnemonic(inst) != rules[k].operation) continue;
      const ConstraintType type = rules[k].type == 4   ? ConstraintType::Custom4
                                  : rules[k].type == 9 ? ConstraintType::Custom9
                                                       : ConstraintType::Custom10;
      named_.clear();
      for (const Operand& op : f_.operands_of(inst)) {
        if (!op.is_vreg() || is_bound(op.vreg()) || f_.vreg(op.vreg()).file() != rules[k].registers.file) continue;
        if (std::ranges::find(named_, op.vreg()) != named_.end()) continue;
        named_.push_back(op.vreg());
        add(op.vreg(), type, rules[k].weight, true, {}, static_cast<int>(k));
      }
    }
  }

  const Function& original_;
  const Function& f_;
  const std::vector<std::int64_t>& frequency_;
  const Liveness& live_;
  const ConstraintOptions& options_;
  std::vector<Edge> edges_;
  std::vector<VRegId> named_;
  std::vector<BankSource> sources_;
};

}  // namespace

std::string_view name(ConstraintType t) { return kNames[static_cast<std::size_t>(t)]; }

ConstraintLists::ConstraintLists(const Function& original, const SpillCode& lowered,
                                 const std::vector<std::int64_t>& block_frequency, const Liveness& live,
                                 const ConstraintOptions& options)
    : f_(&lowered.f), live_(&live) {
  const std::vector<Builder::Edge> edges = Builder(original, lowered, block_frequency, live, options).run();
  lists_.build_from(
      lowered.f.vregs.size(), edges, [](const Builder::Edge& e) { return e.of.index(); },
      [](const Builder::Edge& e) -> const Constraint& { return e.node; });
}

const DefLists& ConstraintLists::defs() const {
  if (!defs_) {
    std::vector<char> has_affinity(lists_.num_keys(), 0);
    for (std::size_t v = 0; v < has_affinity.size(); ++v)
      for (const Constraint& c : lists_[v])
        if (c.type == ConstraintType::Range) has_affinity[v] = 1;
    defs_.emplace(*f_, *live_, has_affinity);
  }
  return *defs_;
}

}  // namespace regduel::allocator
