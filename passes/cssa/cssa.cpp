#include "passes/cssa/cssa.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/planted.h"
#include "ir/loops.h"
#include "ir/text/text.h"
#include "passes/cssa/congruence.h"
#include "passes/cssa/live_ranges.h"
#include "passes/cssa/moves_in_order.h"
#include "passes/cssa/phi_copies.h"

namespace regduel::passes {
namespace {

using conventional::Congruence;
using conventional::Kind;
using conventional::LiveRanges;
using conventional::Move;
using conventional::PhiCopies;
using conventional::PhiCopy;
using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

struct Settings {
  bool coalesce = true, by_values = false, dump_before = false;
  int verbosity = 0;
};

class Translation {
 public:
  Translation(const Function& f, const Settings& settings, const PassOptions& options)
      : f_(f), settings_(settings), fuel_(options.fuel), trace_(options.trace), cfg_(f), weights_(block_weights(f, cfg_)),
        phis_(f, cfg_, weights_, fuel_), ranges_(f, cfg_, phis_, settings.by_values), classes_(ranges_.by_node()),
        out_(f.clone_header()) {}

  Function run() {
    has_alias_.assign(ranges_.num_nodes(), 0);
    for (const ir::VReg& v : f_.vregs)
      if (v.alias.is_valid()) has_alias_[f_.root(v.alias).index()] = 1;
    if (settings_.coalesce) merge();
    name_classes();
    next_id_ = f_.next_inst_id().value;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    say(1, [&] {
      return fmt::format(
          "cssa @{}: {} phis taken apart, {} of {} copies merged, {} inserted, {} on edges, {} of the program left out", f_.name,
          phis_.phis().size(), merged_, phis_.copies().size(), inserted_, on_edges_, left_out_);
    });
    return std::move(out_);
  }

 private:
  template <class Text>
  void say(int level, Text&& text) const {
    if (trace_ != nullptr && settings_.verbosity >= level) trace_->line(text());
  }
  [[nodiscard]] std::uint32_t hub(const PhiCopy& c) const { return static_cast<std::uint32_t>(f_.vregs.size()) + c.phi; }
  [[nodiscard]] std::string name_of(std::uint32_t node) const {
    if (node < f_.vregs.size()) return fmt::format("%{}", node);
    return fmt::format("hub of #{}", f_.insts[phis_.phis()[node - f_.vregs.size()].inst].id.value);
  }
  [[nodiscard]] std::string text_of(const PhiCopy& c) const {
    const std::string outside = name_of(c.outside.vreg().value), inner = name_of(hub(c));
    return fmt::format("b{}: {} = {}", c.block.value, c.at_head ? outside : inner, c.at_head ? inner : outside);
  }

  // --- classes
  [[nodiscard]] Kind kind_of(std::uint32_t node) const {
    return Kind::of(node < f_.vregs.size() ? f_.vregs[node] : phis_.phis()[node - f_.vregs.size()].hub);
  }
  void merge() {
    std::vector<std::uint32_t> order(phis_.copies().size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return phis_.copies()[x].weight > phis_.copies()[y].weight; });
    for (const std::uint32_t c : order) attempt(phis_.copies()[c]);
  }
  void attempt(const PhiCopy& c) {
    const VRegId v = c.outside.vreg();
    if (!phis_.is_free(v)) return;
    const std::uint32_t a = classes_.class_of(v.value), b = classes_.class_of(hub(c));
    const auto refuse = [&](std::string_view why) { say(3, [&] { return fmt::format("  keep {}: {}", text_of(c), why); }); };
    if (a != b) {
      if (kind_of(a) != kind_of(b)) return refuse("of two kinds");
      if (has_alias_[a] != 0 && has_alias_[b] != 0) return refuse("both have aliases");
      if (classes_.interfere(a, b) && !(REGDUEL_PLANTED("cssa-lost-copy") && c.at_head)) return refuse("interference");
      if (!ir::may(fuel_, "merge-phi-web")) return;
      classes_.merge(a, b);
      const std::uint32_t both = classes_.class_of(a);
      has_alias_[both] = has_alias_[a] | has_alias_[b];
    }
    ++merged_;
    say(3, [&] { return fmt::format("  merge {}", text_of(c)); });
  }

  // Finds, by node, the vreg that it becomes.
  void name_classes() {
    std::vector<VRegId> of_class(ranges_.num_nodes());
    const auto take = [&](std::uint32_t node, VRegId v) {
      VRegId& name = of_class[classes_.class_of(node)];
      if (!name.is_valid()) name = v;
    };
    for (const ir::VReg& v : f_.vregs)
      if (v.alias.is_valid()) take(f_.root(v.alias).value, f_.root(v.alias));
    for (std::uint32_t n = 0; n < f_.vregs.size(); ++n) take(n, VRegId(n));
    for (std::uint32_t k = 0; k < phis_.phis().size(); ++k) {
      const auto node = static_cast<std::uint32_t>(f_.vregs.size()) + k;
      if (!of_class[classes_.class_of(node)].is_valid()) take(node, out_.add_vreg(phis_.phis()[k].hub));
    }
    name_.resize(ranges_.num_nodes());
    for (std::uint32_t n = 0; n < name_.size(); ++n) {
      name_[n] = of_class[classes_.class_of(n)];
      if (name_[n] != VRegId(n)) say(2, [&] { return fmt::format("  {} is %{}", name_of(n), name_[n].value); });
    }
  }

  // --- the program over classes
  [[nodiscard]] Operand renamed(Operand op) const {
    if (op.is_vreg()) op.set_vreg(name_[op.vreg().index()]);
    return op;
  }
  void block(BlockId b) {
    out_.begin_block(f_.block(b));
    const auto insts = f_.insts_of(b);
    std::size_t n = 0;
    for (; insts[n].is_phi(); ++n)
      if (!phis_.is_apart(insts[n])) keep(insts[n]);
    edges(b);
    moves(b, phis_.at_head(b));
    for (; n + 1 < insts.size(); ++n) keep(insts[n]);
    moves(b, phis_.at_end(b));
    keep(insts[n]);
  }
  // Emits phis of the hubs for copies that stay on critical edges. Hubs of one class hold the same value, so one phi serves them
  // all, and nothing moves on an edge on which one of them has the value already.
  void edges(BlockId b) {
    const auto preds = cfg_.predecessors(b);
    std::map<VRegId, std::vector<VRegId>> uses_of;  // by hub: what it takes from each predecessor
    for (const std::uint32_t head : phis_.at_head(b)) {
      const conventional::Phi& phi = phis_.phis()[phis_.copies()[head].phi];
      const VRegId name = name_[hub(phis_.copies()[head])];
      const auto [at, is_first] = uses_of.try_emplace(name, preds.size(), name);
      for (const PhiCopy& c : phis_.copies().subspan(phi.first_copy, phi.num_copies)) {
        if (!c.on_edge) continue;
        VRegId& use = at->second[static_cast<std::size_t>(std::lower_bound(preds.begin(), preds.end(), c.block) - preds.begin())];
        const VRegId value = name_[c.outside.vreg().index()];
        if (is_first || value == name) use = value;
      }
    }
    for (const auto& [name, uses] : uses_of) {
      const auto moves = static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), [&](VRegId v) { return v != name; }));
      if (moves == 0) continue;
      Inst phi;
      phi.id = ir::InstId(next_id_++);
      phi.op = ir::Op::Phi;
      ops_.assign(1, Operand::of_vreg(ir::Role::Def, name));
      for (const VRegId v : uses) ops_.push_back(Operand::of_vreg(ir::Role::Use, v));
      out_.append(phi, ops_, preds);
      on_edges_ += moves;
    }
  }
  void keep(const Inst& i) {
    ops_.clear();
    for (const Operand& op : f_.operands_of(i)) ops_.push_back(renamed(op));
    if (i.is_copy() && moves_nothing(ops_) && !moves_nothing(f_.operands_of(i)) && !gives_up_registers(f_, i) &&
        ir::may(fuel_, "leave-out-copy")) {
      ++left_out_;
      return;
    }
    out_.append(i, ops_, f_.targets_of(i));
  }
  [[nodiscard]] static bool moves_nothing(std::span<const Operand> ops) {
    for (const auto [def, use] : ir::copy_pairs(ops))
      if (!def.names_same(use)) return false;
    return true;
  }
  // The copies at one place that are not of a vreg to itself.
  void moves(BlockId b, std::span<const std::uint32_t> copies) {
    struct Written {
      ir::Storage storage;
      std::size_t at = 0;  // in the order of `copies`
      bool is_nothing = false;
      Move move;
    };
    std::vector<Written> all;
    for (const std::uint32_t k : copies) {
      const PhiCopy& c = phis_.copies()[k];
      const Operand inner = Operand::of_vreg(c.at_head ? ir::Role::Use : ir::Role::Def, name_[hub(c)]);
      Operand outside = renamed(c.outside);
      outside.role = c.at_head ? ir::Role::Def : ir::Role::Use;
      const Move m = c.at_head ? Move{outside, inner} : Move{inner, outside};
      all.push_back({out_.storage(m.def), all.size(), m.def.names_same(m.use), m});
    }
    // Copies that write the same storage move the same value, so one of them will do, or none if the value is there already.
    std::stable_sort(all.begin(), all.end(), [](const Written& x, const Written& y) {
      return std::tuple(x.storage.root, x.storage.offset, !x.is_nothing) <
             std::tuple(y.storage.root, y.storage.offset, !y.is_nothing);
    });
    const auto is_same = [](const Written& x, const Written& y) { return x.storage.overlaps(y.storage); };
    all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
    std::erase_if(all, [](const Written& w) { return w.is_nothing; });
    std::sort(all.begin(), all.end(), [](const Written& x, const Written& y) { return x.at < y.at; });
    std::vector<Move> parallel;
    for (const Written& w : all) parallel.push_back(w.move);
    const auto spare = [&](VRegId root) {
      ir::VReg v = out_.vreg(root);
      v.fixed = {};
      v.hint = {};
      v.name = {};
      return out_.add_vreg(v);
    };
    for (const Move& m : conventional::moves_in_order(out_, parallel, spare)) {
      Inst copy;
      copy.id = ir::InstId(next_id_++);
      copy.op = ir::Op::Copy;
      const Operand ops[] = {m.def, m.use};
      out_.append(copy, ops);
      ++inserted_;
      say(2,
          [&] { return fmt::format("  b{}: #{} %{} = copy %{}", b.value, copy.id.value, m.def.vreg().value, m.use.vreg().value); });
    }
  }

  const Function& f_;
  const Settings& settings_;
  ir::Fuel* fuel_;
  ir::Trace* trace_;
  const ir::Cfg cfg_;
  const std::vector<std::int64_t> weights_;
  const PhiCopies phis_;
  const LiveRanges ranges_;
  Congruence classes_;
  Function out_;
  std::vector<char> has_alias_;  // by class
  std::vector<VRegId> name_;     // by node
  std::vector<Operand> ops_;
  std::uint32_t next_id_ = 0;
  std::size_t merged_ = 0, inserted_ = 0, on_edges_ = 0, left_out_ = 0;
};

constexpr const char* kKnobSource = "source 004, CSSA Coalescing";

const ir::KnobTable<Settings>& table() {
  static const ir::KnobTable<Settings> knobs(
      "cssa",
      {
          {ir::knob("cssa-coalesce", kKnobSource, "operands of phis become one vreg; 0: each of them has a copy", {"0", "1"}),
           &Settings::coalesce},
          {ir::knob("cssa-verbosity", kKnobSource,
                    "how much the trace says: 1 a line a function, 2 classes and copies, 3 attempts"),
           &Settings::verbosity,
           {0, 3}},
          {ir::knob("cssa-dump-before", kKnobSource, "the trace begins with the program (dump-before-cssa)"),
           &Settings::dump_before},
          {ir::knob("cssa-usedessa", kKnobSource,
                    "vregs interfere: 0 where both live (Sreedhar 1999), 1 with different values (Boissinot 2009)", {"0", "1"}),
           &Settings::by_values},
      });
  return knobs;
}

void dump(const Function& f, ir::Trace& trace) {
  const std::string text = ir::print(f);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    trace.line(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

class Cssa final : public Pass {
 public:
  std::string_view name() const override { return "cssa"; }
  std::string_view what_it_does() const override { return "operands of a phi become one vreg, or get copies; phis go"; }
  std::span<const ir::KnobInfo> knobs() const override { return table().infos(); }
  std::expected<Function, std::string> run(const Function& program, const ir::Target&, const PassOptions& options) const override {
    const auto settings = table().parse(options.knobs);
    if (!settings) return std::unexpected(settings.error());
    if (settings->dump_before && options.trace != nullptr) dump(program, *options.trace);
    return Translation(program, *settings, options).run();
  }
};

}  // namespace

const Pass& cssa() {
  static const Cssa pass;
  return pass;
}

}  // namespace regduel::passes
