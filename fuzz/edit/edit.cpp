#include "fuzz/edit/edit.h"

#include <algorithm>
#include <utility>

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

void EditProgram::keep_vregs(const std::vector<ir::VRegId>& kept) {
  std::vector<ir::VRegId> to(header.vregs.size());  // invalid: not kept
  std::vector<ir::VReg> vregs;
  for (const ir::VRegId v : kept) {
    to[v.index()] = ir::VRegId(vregs.size());
    vregs.push_back(header.vregs[v.index()]);
  }
  for (ir::VReg& v : vregs) {
    if (v.alias.is_valid()) v.alias = to[v.alias.index()];
    if (v.hint.is_valid()) v.hint = to[v.hint.index()];
  }
  header.vregs = std::move(vregs);
  for (EditBlock& b : blocks)
    for (EditInst& i : b.insts)
      for (ir::Operand& o : i.ops)
        if (o.is_vreg()) o.set_vreg(to[o.vreg().index()]);
}

}  // namespace regduel::fuzz
