#include "passes/rewriting/values.h"

#include <algorithm>

#include "passes/liveness.h"

namespace regduel::passes {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

Values::Values(const Function& f, const ir::Cfg& cfg, const Dominators& dominators)
    : def_(f.vregs.size(), kNone), block_(f.insts.size()) {
  std::vector<std::uint32_t> defs(f.vregs.size(), 0);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (const Inst& i : f.insts_of(BlockId(b))) {
      const auto n = static_cast<std::uint32_t>(&i - f.insts.data());
      block_[n] = BlockId(b);
      const auto ops = f.operands_of(i);
      for (const Operand& op : ir::defs_of(ops)) {
        const VRegId root = f.root(op.vreg());
        ++defs[root.index()];
        const bool is_plain = !f.vreg(root).fixed.is_valid() && !f.vreg(root).is_architectural() && !i.is_phi();
        if (is_plain && kills(f, op, ir::is_guarded(ops)) && cfg.is_reachable(BlockId(b))) def_[root.index()] = n;
      }
    }
  for (std::size_t v = 0; v < defs.size(); ++v)
    if (defs[v] != 1) def_[v] = kNone;
  reads_.build(f.vregs.size(), [&](auto add) {
    for (std::uint32_t n = 0; n < f.insts.size(); ++n) {
      const Inst& i = f.insts[n];
      const auto ops = f.operands_of(i);
      const bool is_guarded = ir::is_guarded(ops);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!ops[k].is_vreg() || (!ops[k].reads() && kills(f, ops[k], is_guarded))) continue;
        add(f.root(ops[k].vreg()).index(), Read{n, i.is_phi() ? f.targets_of(i)[k - 1] : block_[n]});
      }
    }
  });
  for (std::size_t v = 0; v < def_.size(); ++v) {
    const std::uint32_t d = def_[v];
    if (d == kNone) continue;
    const auto is_covered = [&](const Read& r) {
      if (!cfg.is_reachable(r.block)) return true;
      const bool is_phi = f.insts[r.inst].is_phi();
      if (r.block == block_[d]) return is_phi || r.inst > d;
      return dominators.dominates(block_[d], r.block);
    };
    if (!std::ranges::all_of(reads_[v], is_covered)) def_[v] = kNone;
  }
}

}  // namespace regduel::passes
