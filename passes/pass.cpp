#include "passes/pass.h"

#include <algorithm>

namespace regduel::passes {

std::expected<ir::Function, std::string> run_recorded(const Pass& pass, const ir::Function& program, const ir::Target& target,
                                                      const PassOptions& options) {
  ir::PassScope scope(options.passes, pass.name(), &program);
  auto after = pass.run(program, target, options);
  if (after) scope.made(*after);
  return after;
}

bool gives_up_registers(const ir::Function& f, const ir::Inst& i) {
  const auto ops = f.operands_of(i);
  return f.kind == ir::FunctionKind::Device &&
         std::any_of(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.role == ir::Role::Clobber; });
}

}  // namespace regduel::passes
