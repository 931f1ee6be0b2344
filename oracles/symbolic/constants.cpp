#include "oracles/symbolic/constants.h"

#include <utility>

#include "base/grouped.h"

namespace regduel::oracles::symbolic {

using ir::Inst;
using ir::Operand;
using ir::Role;

bool may_be_repeated(const Inst& i) {
  return i.has(ir::kRematerialisable) && !i.has(ir::kMemWrite) && !i.has(ir::kBarrier) &&
         (!i.has(ir::kMemRead) || i.has(ir::kReadOnly));
}

Constants find_constants(const ir::Function& before, const Cells& names) {
  Constants found{std::vector<std::uint8_t>(before.insts.size(), 0),
                  std::vector<std::uint32_t>(before.vregs.size(), Constants::kNone)};
  std::vector<std::uint8_t> is_written(before.vregs.size(), 0);
  for (std::uint32_t v = 0; v < before.vregs.size(); ++v) is_written[v] = before.vregs[v].is_architectural();
  Grouped<std::uint32_t> readers;
  readers.build(before.vregs.size(), [&](auto add) {
    for (std::uint32_t k = 0; k < before.insts.size(); ++k)
      for (const Operand& op : before.operands_of(before.insts[k]))
        if (op.is_vreg() && op.role == Role::Use) add(before.root(op.vreg()).index(), k);
  });
  std::vector<std::uint32_t> unknown_uses(before.insts.size(),
                                          Constants::kNone);  // Constants::kNone: the instruction is no constant
  std::vector<std::uint32_t> work;
  for (std::uint32_t k = 0; k < before.insts.size(); ++k) {
    std::uint32_t defs = 0, uses = 0;
    bool is_plain = may_be_repeated(before.insts[k]);
    for (const Operand& op : before.operands_of(before.insts[k])) {
      if (!op.is_vreg()) continue;
      uses += op.role == Role::Use;
      if (!op.writes()) continue;
      const ir::VRegId root = before.root(op.vreg());
      const Place whole = names.of_operand(Operand::of_vreg(Role::Use, root)), own = names.of_operand(op);
      is_plain = is_plain && ++defs == 1 && own.size == whole.size;
      found.sole_def[root.index()] = std::exchange(is_written[root.index()], std::uint8_t{1}) != 0 ? Constants::kNone : k;
    }
    if (!is_plain || defs != 1) continue;
    unknown_uses[k] = uses;
    if (uses == 0) work.push_back(k);
  }
  while (!work.empty()) {
    const std::uint32_t k = work.back();
    work.pop_back();
    found.is_constant[k] = 1;
    for (const Operand& op : before.operands_of(before.insts[k])) {
      if (!op.is_vreg() || !op.writes() || found.sole_def[before.root(op.vreg()).index()] != k) continue;
      for (const std::uint32_t reader : readers[before.root(op.vreg()).index()])
        if (unknown_uses[reader] != Constants::kNone && --unknown_uses[reader] == 0) work.push_back(reader);
    }
  }
  return found;
}

}  // namespace regduel::oracles::symbolic
