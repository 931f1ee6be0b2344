#include "passes/pass.h"

#include <algorithm>
#include <array>

#include "passes/copyprop.h"
#include "passes/cssa/cssa.h"
#include "passes/llvm/llvm.h"
#include "passes/nvptx/nvptx.h"
#include "passes/series.h"
#include "passes/ssa/ssa.h"

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

std::span<const Pass* const> passes() {
  static const std::array<const Pass*, 6> all = {&copyprop(), &ssa(), &cssa(), &llvm_coalescer(), &nvptx_coalescer(), &series()};
  return all;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass* p : passes())
    if (p->name() == name) return p;
  return nullptr;
}

}  // namespace regduel::passes
