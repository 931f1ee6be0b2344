#include "passes/rewriting/clean.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/grouped.h"
#include "base/planted.h"
#include "passes/copyprop.h"
#include "passes/liveness.h"
#include "passes/rewriting/addresses.h"
#include "passes/rewriting/draft.h"
#include "passes/rewriting/mobility.h"
#include "passes/rewriting/values.h"
#include "passes/unread.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

// The root of the operand, if that is all of one without alias that stands where it likes.
VRegId plain_root(const Function& f, const Operand& op) {
  const bool is_plain = op.is_vreg() && op.part.is_whole() && !f.vreg(op.vreg()).alias.is_valid() && !f.fixed_of(op).is_valid() &&
                        !f.vreg(op.vreg()).is_architectural();
  return is_plain ? op.vreg() : VRegId();
}

bool is_tied_use(std::span<const Operand> ops, std::size_t k) {
  return std::ranges::any_of(ops, [&](const Operand& def) { return def.is_tied() && def.tied == k; });
}

// Readers of generic addresses read them where they came from.
class SameAddresses {
 public:
  SameAddresses(const Function& f, ir::Fuel* fuel)
      : f_(f), fuel_(fuel), cfg_(f), dominators_(cfg_), values_(f, cfg_, dominators_) {}

  Function run() {
    std::vector<VRegId> from(f_.vregs.size());
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v) {
      const VRegId source = source_of(VRegId(v));
      if (source.is_valid() && ir::may(fuel_, "drop-address-conversion")) from[v] = source;
    }
    Function out = f_;
    for (Operand& op : out.operands) {
      if (!op.is_vreg() || !op.reads()) continue;
      while (from[op.vreg().index()].is_valid()) op.set_vreg(from[op.vreg().index()]);
    }
    return out;
  }

 private:
  [[nodiscard]] VRegId source_of(VRegId v) const {
    const std::uint32_t at = values_.def_of(v);
    if (at == Values::kNone || !is_conversion_to_global(f_, f_.insts[at])) return {};
    const auto ops = f_.operands_of(f_.insts[at]);
    const VRegId s = plain_root(f_, ops[1]);
    if (!s.is_valid() || !values_.is_value(s) || f_.vreg(s).cls != f_.vreg(v).cls || f_.vreg(s).width != f_.vreg(v).width ||
        f_.vreg(s).align_log2 != f_.vreg(v).align_log2)
      return {};
    const auto may_change = [&](const Values::Read& r) {
      const auto at_read = f_.operands_of(f_.insts[r.inst]);
      for (std::size_t k = 0; k < at_read.size(); ++k) {
        if (!at_read[k].is_vreg()) continue;
        const VRegId root = f_.root(at_read[k].vreg());
        if (root == s && at_read[k].is_early_clobber()) return false;
        if (root == v && (plain_root(f_, at_read[k]) != v || !at_read[k].reads() || at_read[k].writes() || is_tied_use(at_read, k)))
          return false;
      }
      return true;
    };
    return std::ranges::all_of(values_.reads_of(v), may_change) ? s : VRegId();
  }

  const Function& f_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  const Dominators dominators_;
  const Values values_;
};

// Sums of a base and a number, which become offsets of their readers.
class Offsets {
 public:
  Offsets(const Function& f, ir::Fuel* fuel) : f_(f), fuel_(fuel), cfg_(f), dominators_(cfg_), values_(f, cfg_, dominators_) {}

  Function run() {
    sums_.resize(f_.vregs.size());
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v) sums_[v] = sum_of(VRegId(v));
    // A sum that a reader needs stays, and so do those of which it would be made only if they stay for another reason.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t v = 0; v < f_.vregs.size(); ++v)
        if (sums_[v].base.is_valid() && !all_fold(VRegId(v))) sums_[v] = {}, changed = true;
    }
    for (std::uint32_t v = 0; v < f_.vregs.size(); ++v)
      if (sums_[v].base.is_valid() && !ir::may(fuel_, "fold-offset")) sums_[v] = {};
    return rewritten();
  }

 private:
  struct Sum {
    VRegId base;  // invalid = none that folds
    std::int64_t offset = 0;
  };

  [[nodiscard]] Sum sum_of(VRegId v) const {
    const std::uint32_t at = values_.def_of(v);
    if (at == Values::kNone) return {};
    const auto sum = sum_with_number(f_, f_.insts[at]);
    if (!sum) return {};
    const VRegId base = plain_root(f_, f_.operands_of(f_.insts[at])[sum->base_operand]);
    if (!base.is_valid() || base == v || f_.vreg(base).cls != f_.vreg(v).cls || f_.vreg(base).width != f_.vreg(v).width) return {};
    if (!values_.is_value(base) && !holds_until_last_reader(v, base, at)) return {};
    return {base, sum->number};
  }
  // All readers of `v` are behind its def in the same block, and nothing writes `base` before the last of them.
  [[nodiscard]] bool holds_until_last_reader(VRegId v, VRegId base, std::uint32_t at) const {
    std::uint32_t last = at;
    for (const Values::Read& r : values_.reads_of(v)) {
      if (r.block != values_.block_of(at) || r.inst < at || f_.insts[r.inst].is_phi()) return false;
      last = std::max(last, r.inst);
    }
    for (std::uint32_t n = at; n < last; ++n)
      for (const Operand& op : ir::defs_of(f_.operands_of(f_.insts[n])))
        if (f_.root(op.vreg()) == base) return false;
    return true;
  }
  // How far `v` is from the base of the chain that folds; nothing where that cannot be an offset.
  [[nodiscard]] std::optional<Sum> resolved(VRegId v) const {
    Sum total{v, 0};
    while (sums_[total.base.index()].base.is_valid()) {
      const Sum& next = sums_[total.base.index()];
      total = {next.base, total.offset + next.offset};
      if (!is_offset(total.offset)) return std::nullopt;
    }
    return total;
  }
  [[nodiscard]] bool all_fold(VRegId v) const {
    const auto total = resolved(v);
    if (!total) return false;
    // The base of a chain has to hold at the readers of its end. A base with several defs does so for its own sum alone.
    if (!values_.is_value(total->base) && sums_[v.index()].base != total->base) return false;
    return std::ranges::all_of(values_.reads_of(v), [&](const Values::Read& r) { return folds_at(v, *total, r.inst); });
  }
  [[nodiscard]] bool folds_at(VRegId v, const Sum& total, std::uint32_t reader) const {
    const Inst& i = f_.insts[reader];
    const auto ops = f_.operands_of(i);
    std::size_t count = 0, where = 0;
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].is_vreg() && f_.root(ops[k].vreg()) == v) ++count, where = k;
    if (count != 1 || plain_root(f_, ops[where]) != v || ops[where].writes() || is_tied_use(ops, where)) return false;
    if (std::ranges::any_of(ops, [&](const Operand& op) { return op.is_early_clobber() && f_.root(op.vreg()) == total.base; }))
      return false;
    if (const auto address = address_of(f_, i); address && address->base_operand == where)
      return is_offset(total.offset + address->offset);
    const auto sum = sum_with_number(f_, i);
    // The def of a sum is no base of its own: a loop's `%0 = add %1, 8` stays where it is the only def of nothing.
    return sum && sum->base_operand == where && !sum->is_difference && is_offset(total.offset + sum->number);
  }

  Function rewritten() {
    Draft draft(f_);
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (Line& l : draft.block(BlockId(b))) {
        const auto address = address_of(f_, l.inst);
        const auto sum = sum_with_number(f_, l.inst);
        if (!address && !sum) continue;
        Operand& base = l.ops[address ? address->base_operand : sum->base_operand];
        if (!base.is_vreg() || !sums_[base.vreg().index()].base.is_valid()) continue;
        const auto total = resolved(base.vreg());
        if (!total) continue;
        base.set_vreg(total->base);
        if (sum) {
          l.ops[sum->number_operand] = Operand::of_imm(sum->number + total->offset);
          continue;
        }
        const std::int64_t offset = address->offset + total->offset;
        const auto after_base = l.ops.begin() + static_cast<std::ptrdiff_t>(address->base_operand) + 1;
        if (address->has_offset_operand) l.ops.erase(after_base);
        if (offset != 0)
          l.ops.insert(l.ops.begin() + static_cast<std::ptrdiff_t>(address->base_operand) + 1, Operand::of_imm(offset));
      }
    return draft.finish();
  }

  const Function& f_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  const Dominators dominators_;
  const Values values_;
  std::vector<Sum> sums_;  // by vreg
};

class Clean final : public Pass {
 public:
  std::string_view name() const override { return "clean"; }
  std::string_view what_it_does() const override {
    return "rewrites: addresses become base and offset, conversions of addresses and what nothing reads go";
  }
  bool rewrites() const override { return true; }
  std::expected<Function, std::string> run(const Function& program, const ir::Target& target,
                                           const PassOptions& options) const override {
    if (!options.knobs.empty()) return std::unexpected(ir::unknown_knob(name(), options.knobs.front().first));
    const auto propagated = copyprop().run(program, target, options);
    if (!propagated) return propagated;
    const Function same = SameAddresses(*propagated, options.fuel).run();
    return without_dead_code(Offsets(same, options.fuel).run(), options.fuel);
  }
};

}  // namespace

Function without_dead_code(const Function& f, ir::Fuel* fuel) {
  const auto writes_architectural = [&](std::span<const Operand> ops) {
    return std::ranges::any_of(ir::defs_of(ops), [&](const Operand& op) { return f.vreg(f.root(op.vreg())).is_architectural(); });
  };
  std::vector<char> stays(f.insts.size(), 0);
  for (std::size_t n = 0; n < f.insts.size(); ++n) {
    const auto ops = f.operands_of(f.insts[n]);
    if (REGDUEL_PLANTED("clean-guarded-store-is-dead") && ir::is_guarded(ops) && f.insts[n].has(ir::kMemWrite)) continue;
    stays[n] = is_effect(f, f.insts[n], ops) || writes_architectural(ops) ? 1 : 0;
  }
  return without_unread(f, stays, fuel, "leave-out-dead-code");
}

const Pass& clean() {
  static const Clean pass;
  return pass;
}

}  // namespace regduel::passes
