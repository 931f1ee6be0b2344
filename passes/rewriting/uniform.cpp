#include "passes/rewriting/uniform.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/planted.h"
#include "ir/uniform_forms.h"
#include "passes/liveness.h"
#include "passes/rewriting/clean.h"
#include "passes/rewriting/divergence.h"
#include "passes/rewriting/draft.h"
#include "passes/rewriting/mobility.h"
#include "passes/rewriting/values.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::VRegId;

struct Settings {
  int most = 56;
  bool constants = true;
};

// Which roots go to uniform registers.
class SharedRoots {
 public:
  SharedRoots(const Function& f, int sm, const ir::Cfg& cfg, const Divergence& divergence)
      : f_(f), sm_(sm), cfg_(cfg), divergence_(divergence), is_shared_(f.vregs.size(), 0), may_(f.vregs.size(), 0) {
    for (const Inst& i : f.insts)
      for (const Operand& op : ir::defs_of(f.operands_of(i))) may_[f.root(op.vreg()).index()] = 1;
    // A tie holds two operands in one register, so a copy with one is no copy from file to file.
    for (const Inst& i : f.insts)
      for (const Operand& op : ir::defs_of(f.operands_of(i)))
        if (op.is_tied()) {
          may_[f.root(op.vreg()).index()] = 0;
          may_[f.root(f.operands_of(i)[op.tied].vreg()).index()] = 0;
        }
    for (const Operand& op : f.operands)
      if (op.is_vreg() && (!op.part.is_whole() || f.vreg(op.vreg()).alias.is_valid() || op.fixed().is_valid()))
        may_[f.root(op.vreg()).index()] = 0;
  }

  [[nodiscard]] bool contains(VRegId root) const { return is_shared_[root.index()] != 0; }
  [[nodiscard]] bool contains(const Operand& op) const { return op.is_vreg() && contains(f_.root(op.vreg())); }
  // The instruction itself is one of the uniform path. Of a copy, the pair.
  [[nodiscard]] bool is_uniform(const Inst& i) const {
    const auto defs = ir::defs_of(f_.operands_of(i));
    return !i.is_copy() && !defs.empty() && std::ranges::all_of(defs, [&](const Operand& op) { return contains(op); });
  }
  // It reads registers of the threads all the same.
  [[nodiscard]] bool is_vote(const Inst& i) const { return i.op == Op::Named && ir::votes_into_uniform(sm_, f_.mnemonic(i)); }
  void forbid(VRegId root) { may_[root.index()] = 0; }

  void solve() {
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v) is_shared_[v] = is_candidate(VRegId(v)) ? 1 : 0;
    for (bool changed = true; changed;) {
      changed = false;
      const auto drop = [&](const Operand& op) {
        if (contains(op)) is_shared_[f_.root(op.vreg()).index()] = 0, changed = true;
      };
      for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
        for (const Inst& i : f_.insts_of(BlockId(b))) {
          const auto ops = f_.operands_of(i);
          if (i.is_copy()) {
            for (const auto [def, use] : ir::copy_pairs(ops))
              if (!is_reached_together(BlockId(b)) || ir::is_guarded(ops) || !contains(use)) drop(def);
          } else if (!is_form(i, BlockId(b))) {
            for (const Operand& op : ir::defs_of(ops)) drop(op);
          }
          if (i.is_phi())
            for (const Operand& op : ops) drop(op);
          // A predicate has readers of its own kind alone.
          if ((is_uniform(i) && !is_vote(i)) || i.op == Op::CBra) continue;
          for (const Operand& op : ops)
            if (op.is_vreg() && op.reads() && f_.vreg(f_.root(op.vreg())).file() == ir::RegFile::P) drop(op);
        }
    }
  }

 private:
  [[nodiscard]] bool is_candidate(VRegId v) const {
    const ir::VReg& r = f_.vreg(v);
    const bool is_register =
        r.cls == ir::RegClass::R && (r.width == 32 || r.width == 64) && r.align_log2 == ir::natural_align_log2(r.width);
    return may_[v.index()] != 0 && !r.alias.is_valid() && !r.fixed.is_valid() && !r.is_architectural() &&
           !divergence_.is_varying(v) && (is_register || r.cls == ir::RegClass::P);
  }
  [[nodiscard]] bool is_reached_together(BlockId b) const {
    return cfg_.is_reachable(b) && (!divergence_.is_diverged(b) || REGDUEL_PLANTED("uniform-writes-in-diverged-blocks"));
  }
  [[nodiscard]] bool is_form(const Inst& i, BlockId b) const {
    const auto ops = f_.operands_of(i);
    if (!is_reached_together(b) || i.is_phi()) return false;
    if (is_vote(i)) return !ir::is_guarded(ops) && ir::defs_of(ops).size() == 1 && is_plain(ops[0]);
    if (is_effect(f_, i, ops)) return false;
    const bool is_special = !ir::uses_of(ops).empty() && ir::uses_of(ops)[0].kind == OperandKind::Symbol &&
                            f_.symbols[ir::uses_of(ops)[0].symbol()].starts_with('%');
    const std::string_view name = i.op == Op::Const ? "const" : f_.mnemonic(i);
    if ((i.op != Op::Named && i.op != Op::Const) || (!is_special && !ir::has_uniform_form(sm_, name))) return false;
    if (is_special && !ir::has_uniform_form(sm_, "mov.u32")) return false;
    if (i.has(ir::kMemRead) && (f_.kind != ir::FunctionKind::Kernel || !i.has(ir::kReadOnly))) return false;
    return std::ranges::all_of(ops, [&](const Operand& op) { return !op.is_vreg() || is_plain(op); });
  }
  // A whole shared root.
  [[nodiscard]] bool is_plain(const Operand& op) const {
    return contains(op) && op.part.is_whole() && !op.is_early_clobber() && !op.is_tied() && op.role != ir::Role::DefUse &&
           op.vreg() == f_.root(op.vreg());
  }

  const Function& f_;
  const int sm_;
  const ir::Cfg& cfg_;
  const Divergence& divergence_;
  std::vector<char> is_shared_, may_;  // by root
};

class Moving {
 public:
  Moving(const Function& f, const ir::Target& target, const Settings& settings, ir::Fuel* fuel)
      : f_(f), target_(target), settings_(settings), fuel_(fuel), cfg_(f), dominators_(cfg_), values_(f, cfg_, dominators_),
        divergence_(f, cfg_), shared_(f, target.sm, cfg_, divergence_) {}

  Function run() {
    shared_.solve();
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v)
      if (shared_.contains(VRegId(v)) && !ir::may(fuel_, "make-uniform")) shared_.forbid(VRegId(v));
    shared_.solve();
    Function result = made();
    // Each time those that are in the way where most live.
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<VRegId> too_many = crowd(result);
      if (too_many.empty()) break;
      for (const VRegId root : too_many) shared_.forbid(root);
      shared_.solve();
      result = made();
    }
    return without_dead_code(result, fuel_);
  }

 private:
  static constexpr int kRounds = 32;

  [[nodiscard]] Function made() {
    Draft draft(f_);
    uniform_.assign(f_.vregs.size(), {});
    original_.assign(f_.vregs.size(), {});
    next_id_ = f_.next_inst_id().value;
    header_ = &draft.header();
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v)
      if (shared_.contains(VRegId(v))) declare(VRegId(v));
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      std::vector<Line> lines;
      for (Line& l : draft.block(BlockId(b))) rewrite(l, lines);
      draft.block(BlockId(b)) = std::move(lines);
    }
    return draft.finish();
  }
  void declare(VRegId root) {
    ir::VReg v = f_.vreg(root);
    v.cls = v.cls == ir::RegClass::P ? ir::RegClass::UP : ir::RegClass::UR;
    v.flags |= ir::kVRegUniform;
    v.hint = {};
    uniform_[root.index()] = header_->add_vreg(v);
    original_.resize(header_->vregs.size());
    original_.back() = root;
  }

  // --- one instruction
  void rewrite(Line& l, std::vector<Line>& lines) {
    if ((shared_.is_uniform(l.inst) && !shared_.is_vote(l.inst)) || l.inst.is_copy() || l.inst.op == Op::CBra) {
      const bool takes_number = l.inst.op == Op::Named;
      bool has_number = std::ranges::any_of(ir::uses_of(l.ops), [](const Operand& op) { return op.kind == OperandKind::Imm; });
      for (Operand& op : l.ops) {
        if (!op.is_vreg()) continue;
        const std::optional<Operand> number =
            takes_number && !has_number && op.role == ir::Role::Use ? number_of(op, false) : std::nullopt;
        if (number) op = *number, has_number = true;
        else if (shared_.contains(op)) to_uniform(op);
      }
      lines.push_back(std::move(l));
      return;
    }
    if (!l.inst.is_phi()) operands(l, lines);
    if (shared_.is_uniform(l.inst)) to_uniform(l.ops[0]);
    lines.push_back(std::move(l));
  }
  void to_uniform(Operand& op) const { op.set_vreg(uniform_[f_.root(op.vreg()).index()]); }

  // The operands of an instruction of the threads.
  void operands(Line& l, std::vector<Line>& lines) {
    const std::string_view name = f_.mnemonic(l.inst);
    const bool is_named = l.inst.op == Op::Named;
    const bool takes_one = is_named && ir::takes_uniform_operand(target_.sm, name);
    const bool is_access = is_named && ir::takes_uniform_address(target_.sm, name);
    const std::size_t first = ir::defs_of(l.ops).size();
    const auto is_plain = [&](std::size_t k) {
      const Operand& op = l.ops[k];
      return op.is_vreg() && op.role == ir::Role::Use && op.part.is_whole() && op.vreg() == f_.root(op.vreg()) &&
             !op.fixed().is_valid() && f_.vreg(op.vreg()).file() == ir::RegFile::R &&
             std::ranges::none_of(l.ops, [&](const Operand& def) { return def.is_tied() && def.tied == k; });
    };
    bool is_taken = !is_access && std::ranges::any_of(ir::uses_of(l.ops), [](const Operand& op) { return !op.is_register(); });
    std::vector<std::pair<VRegId, VRegId>> copied;
    for (std::size_t k = first; k < l.ops.size(); ++k) {
      Operand& op = l.ops[k];
      if (!op.is_vreg() || !op.reads()) continue;
      const bool may_take = !is_taken && is_plain(k) && (is_access ? k == first : takes_one);
      if (may_take && settings_.constants && !is_access) {
        if (const auto number = number_of(op, ir::takes_constant_bank(target_.sm, name))) {
          op = *number;
          is_taken = true;
          continue;
        }
      }
      if (!shared_.contains(op)) continue;
      if (may_take && !is_read_twice(l.ops, k)) {
        to_uniform(op);
        is_taken = true;
        continue;
      }
      copy_back(op, copied, l.inst, lines);
    }
  }
  static bool is_read_twice(std::span<const Operand> ops, std::size_t k) {
    return std::ranges::count_if(ops, [&](const Operand& op) { return op.is_vreg() && op.vreg() == ops[k].vreg(); }) > 1;
  }
  // The number or the parameter that the operand always holds, as an operand.
  [[nodiscard]] std::optional<Operand> number_of(const Operand& op, bool takes_parameter) const {
    if (!settings_.constants || !op.is_vreg() || op.part != ir::Part() || op.is_negated()) return std::nullopt;
    const VRegId root = op.vreg();
    if (f_.vreg(root).alias.is_valid() || f_.vreg(root).file() != ir::RegFile::R) return std::nullopt;
    if (f_.vreg(root).width > 32 && f_.vreg(root).width != 64) return std::nullopt;
    const std::uint32_t def = values_.def_of(root);
    if (def == Values::kNone) return std::nullopt;
    const Inst& i = f_.insts[def];
    const auto uses = ir::uses_of(f_.operands_of(i));
    if (i.op == Op::Const && uses[0].kind == OperandKind::Imm) {
      const std::int64_t n = uses[0].imm();
      const bool fits = f_.vreg(root).width <= 32 || (n >= INT32_MIN && n <= INT32_MAX);
      const bool is_double = f_.vreg(root).type == ir::TypeKind::F && f_.vreg(root).width == 64;  // the upper half is the number
      return fits && !is_double ? std::optional(Operand::of_imm(n)) : std::nullopt;
    }
    const bool is_parameter = f_.kind == ir::FunctionKind::Kernel && i.op == Op::Named && i.has(ir::kReadOnly) && takes_parameter &&
                              f_.mnemonic(i).starts_with("ld.param.") && uses[0].kind == OperandKind::Symbol &&
                              f_.operand_bytes(f_.operands_of(i)[0]) == f_.vreg(root).bytes();
    if (!is_parameter || uses.size() > 2 || (uses.size() == 2 && uses[1].kind != OperandKind::Imm)) return std::nullopt;
    const std::int64_t offset = uses.size() == 2 ? uses[1].imm() : 0;
    const std::string_view parameter = f_.symbols[uses[0].symbol()];
    const std::string text = offset == 0 ? fmt::format("c[{}]", parameter) : fmt::format("c[{}+{}]", parameter, offset);
    return Operand::of_symbol(header_->symbols.intern(text));
  }
  // A register of the threads with the value, made in front of the instruction.
  void copy_back(Operand& op, std::vector<std::pair<VRegId, VRegId>>& copied, const Inst& reader, std::vector<Line>& lines) {
    const VRegId root = f_.root(op.vreg());
    auto known = std::ranges::find(copied, root, &std::pair<VRegId, VRegId>::first);
    if (known == copied.end()) {
      ir::VReg v = f_.vreg(root);
      v.hint = {};
      const VRegId copy = header_->add_vreg(v);
      original_.resize(header_->vregs.size());
      Line l;
      l.inst.id = ir::InstId(next_id_++);
      l.inst.op = Op::Copy;
      l.inst.line = reader.line;
      l.ops = {Operand::of_vreg(ir::Role::Def, copy), Operand::of_vreg(ir::Role::Use, uniform_[root.index()])};
      lines.push_back(std::move(l));
      copied.emplace_back(root, copy);
      known = copied.end() - 1;
    }
    op.set_vreg(known->second);
  }

  // --- how many live
  // The roots to take out where more units of UR live than may; none where no more do.
  [[nodiscard]] std::vector<VRegId> crowd(const Function& g) const {
    const Liveness liveness(g, ir::Cfg(g));
    std::vector<VRegId> worst;
    int most = settings_.most;
    for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
      std::vector<VRegId> live;
      const auto is_uniform = [&](VRegId v) { return g.vreg(v).file() == ir::RegFile::UR; };
      for (const VRegId v : liveness.live_out(BlockId(b)))
        if (is_uniform(v)) live.push_back(v);
      const auto see = [&] {
        int units = 0;
        for (const VRegId v : live) units += g.vreg(v).units();
        if (units <= most) return;
        most = units;
        worst = live;
      };
      see();
      const auto insts = g.insts_of(BlockId(b));
      for (std::size_t n = insts.size(); n-- > 0;) {
        for (const Operand& op : ir::defs_of(g.operands_of(insts[n]))) std::erase(live, g.root(op.vreg()));
        for (const Operand& op : g.operands_of(insts[n])) {
          const VRegId root = op.is_vreg() ? g.root(op.vreg()) : VRegId();
          if (root.is_valid() && op.reads() && is_uniform(root) && std::ranges::find(live, root) == live.end())
            live.push_back(root);
        }
        see();
      }
    }
    if (worst.empty()) return {};
    std::vector<VRegId> roots;
    for (const VRegId v : worst)
      if (v.index() < original_.size() && original_[v.index()].is_valid()) roots.push_back(original_[v.index()]);
    std::ranges::stable_sort(roots, {}, [&](VRegId r) { return values_.reads_of(r).size(); });
    int excess = most - settings_.most;
    std::size_t n = 0;
    for (; n < roots.size() && excess > 0; ++n) excess -= f_.vreg(roots[n]).units();
    roots.resize(n);
    return roots;
  }

  const Function& f_;
  const ir::Target& target_;
  const Settings& settings_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  const Dominators dominators_;
  const Values values_;
  const Divergence divergence_;
  SharedRoots shared_;
  Function* header_ = nullptr;
  std::vector<VRegId> uniform_, original_;  // of a root, and the other way round
  std::uint32_t next_id_ = 0;
};

const ir::KnobTable<Settings>& table() {
  static const ir::KnobTable<Settings> knobs(
      "uniform",
      {
          {ir::knob("uniform-most", "", "Units of UR that may live at a point; the values with the fewest readers stay out",
                    {"0", "8", "56"}),
           &Settings::most,
           {0, 63}},
          {ir::knob("uniform-constants", "", "Constants and kernel parameters become operands where the target has that",
                    {"0", "1"}),
           &Settings::constants},
      });
  return knobs;
}

class Uniform final : public Pass {
 public:
  std::string_view name() const override { return "uniform"; }
  std::string_view what_it_does() const override {
    return "rewrites: what all threads of a warp share goes to UR and UP, constants into instructions";
  }
  bool rewrites() const override { return true; }
  std::span<const ir::KnobInfo> knobs() const override { return table().infos(); }
  std::expected<Function, std::string> run(const Function& program, const ir::Target& target,
                                           const PassOptions& options) const override {
    const auto settings = table().parse(options.knobs);
    if (!settings) return std::unexpected(settings.error());
    if (!target.has(ir::RegFile::UR) || !target.has(ir::RegFile::UP)) return program;
    return Moving(program, target, *settings, options.fuel).run();
  }
};

}  // namespace

const Pass& uniform() {
  static const Uniform pass;
  return pass;
}

}  // namespace regduel::passes
