// See dead_code.h.

#include "reference/program/dead_code.h"

#include <algorithm>

#include "reference/program/liveness.h"

namespace regduel::reference {
namespace {

bool is_dead(const Problem& problem, const Code& code, const CodeInst& inst, const LiveSet& live) {
  const auto refs = code.refs_of(inst);
  if (refs.empty() || inst.kind == CodeKind::Store) return false;
  if (inst.kind == CodeKind::Original) {
    const ir::Inst& source = problem.program().insts[inst.source];
    if (!source.is_copy() && !source.is_repeatable()) return false;
    const Shape& shape = problem.shape(inst.source);
    if (shape.has_clobbers()) return false;
    if (std::ranges::any_of(shape.items, [](const Item& item) { return item.architectural && item.at_writes; })) return false;
  }
  return std::ranges::none_of(refs, [&](const Ref& r) { return (r.flags & kWrites) && live.contains(r.temp); });
}

// Whether the instruction writes the value under a guard and has no other use for what was there before: then the value is live
// before it where it is live after it.
bool only_keeps(const Problem& problem, const Code& code, const CodeInst& inst, const Ref& r) {
  if (inst.kind != CodeKind::Original || r.temp >= code.num_values) return false;
  if ((r.flags & (kReads | kWrites | kKillsBytes)) != (kReads | kWrites)) return false;
  const ir::Function& f = problem.program();
  return std::ranges::none_of(f.operands_of(f.insts[inst.source]), [&](const ir::Operand& op) {
    return op.is_vreg() && op.reads() && f.root(op.vreg()).value == r.temp;
  });
}

}  // namespace

std::vector<std::uint8_t> drop_dead_code(const Problem& problem, Code& code) {
  std::vector<std::uint8_t> dead(code.insts.size(), 0);
  for (const CodeInst& inst : code.insts)
    for (std::uint32_t r = inst.first_ref; r < inst.first_ref + inst.num_refs; ++r)
      if (only_keeps(problem, code, inst, code.refs[r])) code.refs[r].flags &= static_cast<std::uint8_t>(~kReads);
  for (bool found = true; found;) {
    found = false;
    Liveness liveness(code);
    std::vector<std::uint32_t> now;
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        if (!is_dead(problem, code, code.insts[i], live)) return true;
        now.push_back(i);
        return false;
      });
    for (const std::uint32_t i : now) {
      dead[i] = 1;
      code.insts[i].num_refs = code.insts[i].copy_pairs = 0;
      found = true;
    }
  }
  return dead;
}

}  // namespace regduel::reference
