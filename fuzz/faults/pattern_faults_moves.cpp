// Faults of values that are kept in registers of other files. Code: a register that nobody wrote is 5.
// Source: seed 000 "Error Categories". Tested by pattern_faults_test.cpp.
#include "fuzz/faults/pattern_faults.h"

namespace regduel::fuzz {
namespace {

// A copy that alone writes a register which is read elsewhere.
bool detour_dropped(EditProgram& p, const Subject& s, Random& random) {
  std::vector<int> writers(UnitSet().size(), 0);
  UnitSet entry = preserved_units_of(s);
  for (const ir::VReg& v : s.before.vregs)
    if ((v.flags & ir::kVRegArchitectural) != 0 && v.fixed.is_valid()) entry |= units_of(v.fixed);
  for (const EditBlock& b : p.blocks)
    for (const EditInst& i : b.insts) {
      const UnitSet written = written_units(i);
      for (std::size_t u = 0; u < written.size(); ++u) writers[u] += written.test(u) ? 1 : 0;
    }
  // Registers that a copy reads whose own result goes straight to an operation.
  UnitSet shown;
  const FactsOf facts(s);
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (std::size_t k = 0; k < p.blocks[b].insts.size(); ++k) {
      const EditInst& i = p.blocks[b].insts[k];
      if (i.inst.is_inserted() && i.inst.is_copy() && i.ops.size() == 2 && has_plain_reader(*facts, p, {b, k}, i.ops[0].preg()))
        shown |= read_units(i);
    }
  const auto chosen =
      pick(spots(p, s,
                 [&](const EditInst& i, const UnitSet& live) {
                   if (!i.inst.is_inserted() || !i.inst.is_copy() || i.ops.size() != 2 || !is_live(i.ops[0], live)) return false;
                   const UnitSet written = written_units(i);
                   if ((written & entry).any() || ir::is_predicate(i.ops[0].preg().file) != ir::is_predicate(i.ops[1].preg().file))
                     return false;
                   for (std::size_t u = 0; u < written.size(); ++u)
                     if (written.test(u) && writers[u] != 1) return false;
                   return (written & shown).any();
                 }),
           random);
  if (!chosen) return false;
  erase(p, *chosen);
  return true;
}

}  // namespace

std::vector<FaultOperator> move_faults() {
  return {
      {"detour-dropped",
       "a value is never copied into the register that it is to be found in",
       {5},
       {},
       shown_as<detour_dropped, 5>},
  };
}

}  // namespace regduel::fuzz
