#include "passes/pass.h"

#include <array>

#include "passes/copyprop.h"
#include "passes/cssa/cssa.h"
#include "passes/llvm/llvm.h"
#include "passes/nvptx/nvptx.h"
#include "passes/series.h"
#include "passes/ssa/ssa.h"

namespace regduel::passes {

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
