#include "oracles/memcheck/definitions.h"

#include <algorithm>

namespace regduel::oracles {

Definitions::Definitions(const ir::Function& before)
    : before_(before), ids_(before), defined_by_(before.operands.size()), leaves_(1) {
  leaves_.reserve(before.insts.size() * 2);
  for (const ir::Inst& i : before.insts) {
    const auto ops = before.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register() || !ops[k].writes()) continue;
      defined_by_[i.first_operand + k] = define(LeafKind::Def, i.id, static_cast<int>(k), before.operand_bytes(ops[k]));
    }
  }
  for (std::size_t v = 0; v < before.vregs.size(); ++v) {
    const ir::VReg& reg = before.vregs[v];
    if (reg.is_architectural() && reg.fixed.is_valid() && !reg.alias.is_valid())
      at_entry_.push_back({ir::VRegId(v), define(LeafKind::Saved, {}, -1, reg.bytes())});
  }
}

Definitions::Defined Definitions::define(LeafKind kind, ir::InstId inst, int operand, int bytes) {
  const Defined defined{static_cast<LeafId>(leaves_.size()), static_cast<std::uint32_t>(bytes)};
  for (int at = 0; at < bytes; at += 4) {
    const int valid = std::min(bytes - at, 4);
    leaves_.push_back({kind, inst, operand, static_cast<std::uint8_t>(valid)});
    // What a narrow def leaves undefined above itself follows its leaf.
    if (valid < 4) leaves_.push_back({LeafKind::Destroyed, inst, operand});
  }
  return defined;
}

LeafId Definitions::add(Leaf leaf) {
  leaves_.push_back(leaf);
  return static_cast<LeafId>(leaves_.size() - 1);
}

}  // namespace regduel::oracles
