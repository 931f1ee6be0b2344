// See constraints.h.

#include "allocator/assign/constraints.h"

#include <algorithm>
#include <array>

#include "allocator/program/names.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;
namespace {

constexpr std::array<std::string_view, kNumConstraintTypes> kNames = {
    "point", "exclude-one", "exclude-all-but", "below-point", "custom-4",   "paired-low",   "paired-high",     "aligned-pair",
    "phi",   "custom-9",    "custom-10",       "even-parity", "odd-parity", "parity-group", "parity-extended", "range"};

// Types 0 and 1 grow with the square of the neighbours, so a vreg looks at no more than this many, those that began last.
constexpr std::size_t kMaxSquare = 16;

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
      find_clobbers(inst, n);
    }
    hints();
    const auto num_affinities = static_cast<std::uint32_t>(edges_.size());
    if (!fixed_.empty()) fixed_operands(num_affinities);
    if (!clobbers_.empty() && has(ConstraintType::BelowPoint)) across_calls(num_affinities);
    if (has(ConstraintType::PhiRelated)) phis();
    if (has(ConstraintType::PointInterference)) hints(num_affinities);
    const bool any_wide = (options_.types & kPairTypes) != 0 &&
                          std::any_of(f_.vregs.begin(), f_.vregs.end(), [](const ir::VReg& v) { return v.width > 32; });
    const bool any_custom = options_.target != nullptr && !options_.target->custom_constraints.empty();
    const bool any_asks = any_custom || options_.bank_aware;
    if (!any_wide && !any_asks) return std::move(edges_);
    find_traits();
    uses_.reserve(kMaxSquare);
    defs_.reserve(kMaxSquare);
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n)
      if (const Inst& inst = f_.insts[live_.inst_at(n)]; inst.op != Op::Copy && (any_asks || has_asking_use(inst))) {
        sort_operands(inst);
        if (any_wide) pairs(n);
        if (options_.bank_aware) banks(inst, n);
        if (any_custom) custom(inst);
      }
    return std::move(edges_);
  }

 private:
  static constexpr std::uint32_t kPairTypes = 1u << 5 | 1u << 6 | 1u << 7;
  [[nodiscard]] bool has(ConstraintType type) const { return (options_.types >> static_cast<int>(type) & 1) != 0; }
  [[nodiscard]] bool skips(VRegId v) const { return f_.vreg(v).is_architectural() || live_.range(v.index()).empty(); }
  void add(VRegId of, ConstraintType type, int weight, bool is_soft, VRegId partner, int unit, int span = 1) {
    if (type != ConstraintType::Range && !has(type)) return;
    Edge& edge = edges_.emplace_back();
    edge.of = of;
    Constraint& c = edge.node;
    c.type = type;
    c.is_soft = is_soft;
    c.weight = static_cast<std::int16_t>(weight);
    c.partner = partner;
    c.unit = static_cast<std::int16_t>(unit);
    c.span = static_cast<std::uint8_t>(span);
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
      const int apart = s.offset / unit - d.offset / unit;
      if (const PReg r = f_.vreg(d.root).fixed; r.is_valid()) fixed_.push_back({s.root, r, r.begin() - apart, n});
      else if (const PReg from = f_.vreg(s.root).fixed; from.is_valid()) fixed_.push_back({d.root, from, from.begin() + apart, n});
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

  // --- types 2 and 1: copies to and from fixed registers
  void fixed_operands(std::uint32_t num_affinities) {
    std::vector<char> pulled(f_.vregs.size(), 0);  // 1 = it has an affinity to a vreg that is not precoloured
    for (std::uint32_t e = 0; e < num_affinities; ++e)
      if (!f_.vreg(edges_[e].node.partner).fixed.is_valid()) pulled[edges_[e].of.index()] = 1;
    for (const Fixed& x : fixed_) {
      if (skips(x.vreg) || f_.vreg(x.vreg).fixed.is_valid() || pulled[x.vreg.index()] != 0) continue;
      add(x.vreg, ConstraintType::ExcludeAllBut, weight_at(x.n), false, {}, x.unit);
    }
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      std::size_t begin = i;  // those of one parallel copy, or of copies in a row, belong to one instruction
      while (begin > 0 && fixed_[i].n - fixed_[begin - 1].n <= 1 && i - begin < kMaxSquare) --begin;
      for (std::size_t j = begin; j < i; ++j)
        for (const auto& [a, b] : {std::pair(&fixed_[i], &fixed_[j]), std::pair(&fixed_[j], &fixed_[i])})
          if (a->vreg != b->vreg && a->taken.file == b->taken.file && !skips(a->vreg) && !f_.vreg(a->vreg).fixed.is_valid())
            for (int u = b->taken.begin(); u < b->taken.end(); ++u)
              add(a->vreg, ConstraintType::ExcludeOne, weight_at(a->n), true, {}, u);
    }
  }

  // --- type 3: of a vreg that a copy joins to one that lives across a call
  void find_clobbers(const Inst& inst, std::uint32_t n) {
    const auto ops = f_.operands_of(inst);
    if (ops.empty() || ops.back().role != ir::Role::Clobber) return;
    ir::PerFile<UnitSet> kept;
    kept.fill(UnitSet::range(0, ir::kMaxUnits));
    for (const Operand& op : ops)
      if (op.role == ir::Role::Clobber) kept[ir::index(op.preg().file)] -= units_of(op.preg());
    clobbers_.push_back({clobber_point(n), {}});
    for (std::size_t file = 0; file < kept.size(); ++file) clobbers_.back().first_kept[file] = kept[file].first_or(ir::kMaxUnits);
  }
  // The first register that the first call in the life of v keeps; 0 = no call.
  [[nodiscard]] int first_kept(VRegId v) const {
    for (const Interval& i : live_.range(v.index())) {
      const auto at =
          std::lower_bound(clobbers_.begin(), clobbers_.end(), i.begin, [](const Clobber& c, Point p) { return c.point < p; });
      if (at != clobbers_.end() && at->point < i.end) return at->first_kept[ir::index(f_.vreg(v).file())];
    }
    return 0;
  }
  void across_calls(std::uint32_t num_affinities) {
    for (std::uint32_t e = 0; e < num_affinities; ++e) {
      const VRegId v = edges_[e].of, partner = edges_[e].node.partner;
      if (skips(v) || f_.vreg(v).fixed.is_valid() || f_.vreg(partner).fixed.is_valid()) continue;
      const int kept = first_kept(partner);
      if (kept > 0 && first_kept(v) == 0)
        add(v, ConstraintType::BelowPoint, edges_[e].node.weight, true, {}, kept - edges_[e].node.unit);
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

  // --- what one instruction reads and writes
  void find_traits() {
    traits_.assign(f_.vregs.size(), 0);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      if (f_.vregs[v].fixed.is_valid() || skips(VRegId(v))) traits_[v] = kOut;
      else if (is_wide(VRegId(v))) traits_[v] = kAsks;
    }
  }
  [[nodiscard]] bool has_asking_use(const Inst& inst) const {
    const auto ops = f_.operands_of(inst);
    return std::any_of(ops.begin(), ops.end(), [&](const Operand& op) {
      return op.is_vreg() && op.role != ir::Role::Def && traits_[op.vreg().index()] == kAsks;
    });
  }
  void sort_operands(const Inst& inst) {
    uses_.clear();
    defs_.clear();
    for (const Operand& op : f_.operands_of(inst)) {
      if (!op.is_vreg() || traits_[op.vreg().index()] == kOut) continue;
      std::vector<VRegId>& list = op.role == ir::Role::Def ? defs_ : uses_;
      if (std::find(list.begin(), list.end(), op.vreg()) == list.end()) list.push_back(op.vreg());
    }
  }
  [[nodiscard]] bool is_wide(VRegId v) const { return f_.vreg(v).width > 32; }

  // --- types 5, 6, 7
  void pairs(std::uint32_t n) {
    for (const VRegId d : defs_)
      for (const VRegId u : uses_) {
        if (!is_wide(u) || u == d || f_.vreg(u).file() != f_.vreg(d).file()) continue;
        const int weight = weight_at(n);
        if (is_wide(d)) {
          add(d, ConstraintType::AlignedPair, weight, true, u, 0);
        } else {
          add(d, ConstraintType::PairedLow, weight, true, u, 0);
          add(d, ConstraintType::PairedHigh, weight, true, u, 0);
        }
      }
  }

  // --- type 0: of vregs that live at one time, one without a home spares the place that another one would like best
  void hints(std::uint32_t num_affinities) {
    std::vector<std::int16_t> hint(f_.vregs.size(), 0);  // by vreg: the weight of its hint, 0 = it has none
    find_hints(num_affinities, hint);
    struct Piece {
      Interval range;
      VRegId vreg;
    };
    std::vector<Piece> pieces;
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (!skips(VRegId(v)) && !f_.vregs[v].fixed.is_valid())
        for (const Interval& range : live_.range(v)) pieces.push_back({range, VRegId(v)});
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::pair(a.range.begin, a.vreg.value) < std::pair(b.range.begin, b.vreg.value);
    });
    std::vector<std::pair<VRegId, VRegId>> pairs;           // the first spares the hint of the second
    ir::PerFile<std::vector<Piece>> all = {}, hinted = {};  // of those that have begun and not ended
    const auto last_of = [](std::vector<Piece>& open, Point now) {
      std::erase_if(open, [&](const Piece& p) { return p.range.end <= now; });
      return std::span(open).last(std::min(open.size(), kMaxSquare));
    };
    for (const Piece& p : pieces) {
      const std::size_t file = ir::index(f_.vreg(p.vreg).file());
      for (const Piece& other : last_of(hinted[file], p.range.begin)) pairs.emplace_back(p.vreg, other.vreg);
      if (hint[p.vreg.index()] != 0) {
        for (const Piece& other : last_of(all[file], p.range.begin)) pairs.emplace_back(other.vreg, p.vreg);
        hinted[file].push_back(p);
      }
      all[file].push_back(p);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [a, b] : pairs) add(a, ConstraintType::PointInterference, hint[b.index()], true, b, 0, f_.vreg(b).units());
  }
  // Affinities to a place that is known from the start, hints, and what pre-allocation may find a place for.
  void find_hints(std::uint32_t num_affinities, std::vector<std::int16_t>& hint) const {
    const auto at_least = [&](VRegId v, int weight) {
      hint[v.index()] = std::max(hint[v.index()], static_cast<std::int16_t>(weight));
    };
    for (std::uint32_t e = 0; e < num_affinities; ++e) {
      const VRegId partner = edges_[e].node.partner;
      if (f_.vreg(partner).fixed.is_valid() && !f_.vreg(edges_[e].of).fixed.is_valid())
        at_least(edges_[e].of, edges_[e].node.weight);
    }
    for (std::size_t v = 0; v < original_.vregs.size(); ++v)
      if (original_.vregs[v].hint.is_valid()) at_least(original_.root(VRegId(v)), 1);
    if (options_.preallocates)
      for (std::int16_t& w : hint) w = std::max<std::int16_t>(w, 1);
  }

  // --- types 11 to 14
  void banks(const Inst& inst, std::uint32_t n) {
    constexpr ConstraintType kByPlace[] = {ConstraintType::EvenParity, ConstraintType::OddParity, ConstraintType::ParityGroup};
    find_bank_sources(f_, inst, sources_);
    for (std::size_t place = 0; place < sources_.size(); ++place) {
      const BankSource& a = sources_[place];
      if (traits_[a.vreg.index()] == kOut) continue;
      const ConstraintType type = is_wide(a.vreg) ? ConstraintType::ParityExtended : kByPlace[std::min<std::size_t>(place, 2)];
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
      for (const std::vector<VRegId>* list : {&defs_, &uses_})
        for (const VRegId v : *list)
          if (f_.vreg(v).file() == rules[k].registers.file) add(v, type, rules[k].weight, true, {}, static_cast<int>(k));
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
  const std::vector<std::int64_t>& frequency_;
  const Liveness& live_;
  const ConstraintOptions& options_;
  std::vector<Edge> edges_;
  std::vector<Fixed> fixed_;       // in program order
  std::vector<Clobber> clobbers_;  // in program order
  // By vreg: kOut has no constraints of its own. kAsks is wide; only wide vregs give others constraints of types 5 to 7.
  static constexpr char kOut = 1, kAsks = 2;
  std::vector<char> traits_;
  std::vector<VRegId> uses_, defs_;
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
