// Compares declarations, operands, demands and preserved registers of two programs over vregs. See constraints.h.

#include "oracles/pair/constraints.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "oracles/collector.h"
#include "oracles/completeness.h"
#include "oracles/pair/id_index.h"
#include "oracles/pair/preserved.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VReg;

class Constraints {
 public:
  Constraints(const Function& before, const Function& after, const ir::Target& target, bool is_rewriting)
      : before_(before), after_(after), target_(target), is_rewriting_(is_rewriting) {}

  JudgeResult run() {
    declarations();
    const IdIndex ids(before_);
    for (const Inst& a : after_.insts) {
      const std::uint32_t at = ids.find(a.id);
      if (at == IdIndex::kNone || before_.insts[at].num_operands != a.num_operands) continue;
      if (is_rewriting_ &&
          (a.is_copy() || a.op != before_.insts[at].op || after_.mnemonic(a) != before_.mnemonic(before_.insts[at])))
        continue;
      operands(before_.insts[at], a);
      demands(before_.insts[at], a);
    }
    given_up();
    return out_.finish();
  }

 private:
  void declarations() {
    for (std::size_t v = 0; v < std::min(before_.vregs.size(), after_.vregs.size()); ++v) {
      const VReg &b = before_.vregs[v], &a = after_.vregs[v];
      const std::string_view what = a.cls != b.cls                                       ? "class"
                                    : a.width != b.width || a.type != b.type             ? "type"
                                    : a.align_log2 != b.align_log2                       ? "alignment"
                                    : a.flags != b.flags                                 ? "flags"
                                    : a.alias != b.alias || a.alias_part != b.alias_part ? "alias"
                                    : a.fixed != b.fixed                                 ? "fixed register"
                                                                                         : "";
      if (!what.empty())
        out_.add("vreg-declaration", {}, -1,
                 fmt::format("%{} has another {} than before; declare new vregs behind the old", v, what));
    }
    if (after_.vregs.size() < before_.vregs.size())
      out_.add("vreg-declaration", {}, -1, fmt::format("{} vregs have become {}", before_.vregs.size(), after_.vregs.size()));
  }

  void operands(const Inst& b, const Inst& a) {
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (!want[k].is_vreg() || !have[k].is_vreg()) continue;
      const auto fault = [&](std::string message) {
        out_.add("operand-constraint", a.id, static_cast<int>(k), std::move(message));
      };
      if (want[k].is_early_clobber() != have[k].is_early_clobber())
        fault(want[k].is_early_clobber() ? "was early-clobber" : "was not early-clobber");
      if (want[k].tied != have[k].tied)
        fault(want[k].is_tied() ? fmt::format("was tied to operand {}", want[k].tied) : "was not tied");
      if (before_.fixed_of(want[k]) != after_.fixed_of(have[k]))
        fault(before_.fixed_of(want[k]).is_valid()
                  ? fmt::format("was fixed to {}", ir::to_string(before_, before_.fixed_of(want[k])))
                  : "was not fixed");
      const VReg &b_root = before_.vreg(before_.root(want[k].vreg())), &a_root = after_.vreg(after_.root(have[k].vreg()));
      if (!may_become(b_root.cls, a_root.cls) || a_root.bytes() != b_root.bytes())
        fault(fmt::format("%{} is of another class or size than %{} before", have[k].vreg().value, want[k].vreg().value));
      else if (a_root.alignment() < b_root.alignment())
        fault(fmt::format("%{} is aligned to {} units, %{} before to {}", have[k].vreg().value, a_root.alignment(),
                          want[k].vreg().value, b_root.alignment()));
    }
  }

  [[nodiscard]] bool may_become(ir::RegClass from, ir::RegClass to) const {
    using enum ir::RegClass;
    return from == to || (is_rewriting_ && ((from == R && to == UR) || (from == P && to == UP)));
  }

  void demands(const Inst& b, const Inst& a) {
    if (a.is_phi()) return;
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    const auto is_same = [](const Operand& x, const Operand& y) { return !x.is_vreg() || (y.is_vreg() && x.vreg() == y.vreg()); };
    if (std::equal(want.begin(), want.end(), have.begin(), have.end(), is_same)) return;
    for (const ir::RegFile file : ir::kAllFiles) {
      if (is_rewriting_ && ir::is_uniform(file)) continue;
      const auto had = demand(before_, b, file, target_), has = demand(after_, a, file, target_);
      if (!had || (has && *has <= *had)) continue;
      out_.add("operand-demand", a.id, -1,
               fmt::format("demands {} units of {}, demanded {}", has ? fmt::format("{}", *has) : "more than all", ir::name(file),
                           *had));
    }
  }

  void given_up() {
    const auto had = preserved_units(before_, target_);
    for (const ir::PReg r : preserved_units(after_, target_))
      if (std::ranges::find(had, r) == had.end()) {
        out_.add("given-up-register", {}, -1,
                 fmt::format("the function gave up {} before; keep the instruction that clobbers it", ir::to_string(after_, r)));
        return;
      }
  }

  const Function& before_;
  const Function& after_;
  const ir::Target& target_;
  const bool is_rewriting_;
  Collector out_{"constraints"};
};

}  // namespace

JudgeResult judge_constraints(const Function& before, const Function& after, const ir::Target& target, bool is_rewriting) {
  return Constraints(before, after, target, is_rewriting).run();
}

}  // namespace regduel::oracles
