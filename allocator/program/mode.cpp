// See mode.h.

#include "allocator/program/mode.h"

namespace regduel::allocator {

ir::PerFile<AllocationMode> modes_of(const ir::Function& program) {
  ir::PerFile<bool> phis = {}, wide = {}, fixed = {};
  for (const ir::Inst& inst : program.insts)
    for (const ir::Operand& op : program.operands_of(inst)) {
      if (!op.is_vreg()) continue;
      const ir::VReg& root = program.vreg(program.root(op.vreg()));
      if (root.is_architectural()) continue;
      const std::size_t k = ir::index(root.file());
      phis[k] = phis[k] || inst.is_phi();
      wide[k] = wide[k] || root.units() > 1;
      fixed[k] = fixed[k] || root.fixed.is_valid() || op.fixed().is_valid();
    }
  ir::PerFile<AllocationMode> modes = {};
  for (std::size_t k = 0; k < modes.size(); ++k)
    modes[k] = phis[k] && wide[k] ? AllocationMode::CssaPaired
               : phis[k]          ? AllocationMode::Cssa
               : fixed[k]         ? AllocationMode::Fixed
                                  : AllocationMode::Plain;
  return modes;
}

}  // namespace regduel::allocator
