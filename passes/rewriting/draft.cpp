#include "passes/rewriting/draft.h"

namespace regduel::passes {

Draft::Draft(const ir::Function& f) : f_(f), header_(f.clone_header()), blocks_(f.blocks.size()) {
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& i : f.insts_of(f.blocks[b])) {
      const auto ops = f.operands_of(i);
      blocks_[b].push_back({i, {ops.begin(), ops.end()}});
    }
}

ir::Function Draft::finish() const {
  ir::Function out = header_;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    out.begin_block(f_.blocks[b]);
    for (const Line& l : blocks_[b]) {
      const bool has_targets = l.inst.num_targets > 0;
      out.append(l.inst, l.ops, has_targets ? f_.targets_of(l.inst) : std::span<const ir::BlockId>());
    }
  }
  return out;
}

}  // namespace regduel::passes
