#include "passes/rewriting/shared_arguments.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "ir/cfg.h"
#include "passes/rewriting/divergence.h"

namespace regduel::passes {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;

// "" of a call by address.
std::string_view callee_of(const Function& f, const Inst& call) {
  const auto uses = ir::uses_of(f.operands_of(call));
  return !uses.empty() && uses[0].kind == ir::OperandKind::Symbol ? f.symbols[uses[0].symbol()] : std::string_view();
}

class Arguments {
 public:
  Arguments(std::span<Function> functions, std::span<const char> is_private) : functions_(functions) {
    std::map<std::string_view, int> bodies;
    for (const Function& f : functions) ++bodies[f.name];
    for (std::size_t k = 0; k < functions.size(); ++k)
      if (is_private[k] != 0 && functions[k].kind == ir::FunctionKind::Device && bodies[functions[k].name] == 1)
        private_.emplace(functions[k].name, k);
    // A function whose name is an operand of anything but its calls may be called from anywhere.
    for (const Function& f : functions)
      for (const Inst& i : f.insts)
        for (const Operand& op : f.operands_of(i))
          if (op.kind == ir::OperandKind::Symbol && (i.op != ir::Op::Call || &op != ir::uses_of(f.operands_of(i)).data()))
            private_.erase(f.symbols[op.symbol()]);
  }

  // Whether some argument is marked that was not.
  bool mark() {
    passed_.clear();
    for (const Function& f : functions_) look_at_calls(f);
    bool changed = false;
    for (const auto& [name, k] : private_) {
      const auto calls = passed_.find(name);
      if (calls == passed_.end()) continue;
      Function& f = functions_[k];
      for (const Inst& i : f.insts) {
        if (f.mnemonic(i) != "abi.entry") continue;
        for (const Operand& def : ir::defs_of(f.operands_of(i))) {
          const auto shared = calls->second.find(Operand::pack(f.fixed_of(def)));
          ir::VReg& v = f.vregs[f.root(def.vreg()).index()];
          if (shared == calls->second.end() || shared->second != 0 || (v.flags & ir::kVRegUniform) != 0) continue;
          if (!f.is_whole(def) || is_written_again(f, i, f.root(def.vreg()))) continue;
          v.flags |= ir::kVRegUniform;
          changed = true;
        }
      }
    }
    return changed;
  }

 private:
  // The mark is one of the vreg: of all its values.
  static bool is_written_again(const Function& f, const Inst& entry, ir::VRegId root) {
    return std::ranges::any_of(f.insts, [&](const Inst& i) {
      return i.id != entry.id && std::ranges::any_of(ir::defs_of(f.operands_of(i)),
                                                     [&](const Operand& d) { return d.is_vreg() && f.root(d.vreg()) == root; });
    });
  }

  // Notes, of each register in which a private function gets an argument, in how many calls it may vary or is not passed.
  void look_at_calls(const Function& f) {
    const auto is_known = [&](const Inst& i) { return i.op == ir::Op::Call && private_.contains(callee_of(f, i)); };
    if (std::ranges::none_of(f.insts, is_known)) return;
    const ir::Cfg cfg(f);
    const Divergence divergence(f, cfg);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (const Inst& i : f.insts_of(ir::BlockId(b))) {
        if (!is_known(i)) continue;
        const auto ops = f.operands_of(i), uses = ir::uses_of(ops);
        const bool is_together = !divergence.is_diverged(ir::BlockId(b)) && !ir::is_guarded(ops);
        auto& registers = passed_[callee_of(f, i)];
        const Function& callee = functions_[private_.find(callee_of(f, i))->second];
        for (const Inst& entry : callee.insts) {
          if (callee.mnemonic(entry) != "abi.entry") continue;
          for (const Operand& def : ir::defs_of(callee.operands_of(entry))) {
            const ir::PReg r = callee.fixed_of(def);
            const auto use = std::ranges::find_if(uses, [&](const Operand& u) { return u.is_vreg() && f.fixed_of(u) == r; });
            const bool is_shared = is_together && use != uses.end() && !divergence.is_varying(f.root(use->vreg()));
            registers[Operand::pack(r)] += is_shared ? 0 : 1;
          }
        }
      }
  }

  std::span<Function> functions_;
  std::map<std::string_view, std::size_t> private_;                  // by name
  std::map<std::string_view, std::map<std::uint32_t, int>> passed_;  // by name and register: calls that do not pass what is shared
};

}  // namespace

void mark_shared_arguments(std::span<Function> functions, std::span<const char> is_private) {
  Arguments arguments(functions, is_private);
  while (arguments.mark()) {
  }
}

}  // namespace regduel::passes
