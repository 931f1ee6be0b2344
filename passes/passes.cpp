#include "passes/passes.h"

#include <algorithm>
#include <array>

#include "passes/copyprop.h"
#include "passes/cssa/cssa.h"
#include "passes/llvm/llvm.h"
#include "passes/nvptx/nvptx.h"
#include "passes/rewriting/clean.h"
#include "passes/rewriting/schedule.h"
#include "passes/rewriting/uniform.h"
#include "passes/series.h"
#include "passes/ssa/ssa.h"

namespace regduel::passes {

std::span<const Pass* const> passes() {
  static const std::array<const Pass*, 5> single = {&copyprop(), &ssa(), &cssa(), &llvm_coalescer(), &nvptx_coalescer()};
  static const Series series(single);
  static const std::array<const Pass*, 9> all = {single[0], single[1], single[2],  single[3],  single[4],
                                                 &series,   &clean(),  &uniform(), &schedule()};
  return all;
}

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(passes(), name, &Pass::name);
  return found == passes().end() ? nullptr : *found;
}

}  // namespace regduel::passes
