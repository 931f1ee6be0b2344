#include "fuzz/edit/edit.h"

#include <algorithm>

namespace regduel::fuzz {

EditProgram::EditProgram(const ir::Function& f) : header(f.clone_header()) {
  for (const ir::Block& b : f.blocks) {
    EditBlock& block = blocks.emplace_back();
    block.attributes = b;
    for (const ir::Inst& i : f.insts_of(b)) {
      const auto ops = f.operands_of(i);
      const auto targets = f.targets_of(i);
      block.insts.push_back({i, {ops.begin(), ops.end()}, {targets.begin(), targets.end()}});
    }
  }
}

ir::Function EditProgram::build() const {
  ir::Function f = header;
  for (const EditBlock& b : blocks) {
    f.begin_block(b.attributes);
    for (const EditInst& i : b.insts) f.append(i.inst, i.ops, i.targets);
  }
  return f;
}

ir::InstId EditProgram::next_id() const {
  std::uint32_t next = 0;
  for (const EditBlock& b : blocks)
    for (const EditInst& i : b.insts) next = std::max(next, i.inst.id.value + 1);
  return ir::InstId(next);
}

}  // namespace regduel::fuzz
