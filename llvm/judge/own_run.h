// A mapped pair as the run of an allocator that has a form of its own (ir::OwnRun). Tested by judge_pair_test.cpp.
#pragma once

#include <expected>
#include <memory>

#include "ir/allocator.h"
#include "llvm/judge/mir_words.h"
#include "llvm/mapping/map_pair.h"

namespace regduel::llvm {

// Refused as "ill-formed" where the text that the mapping wrote is none.
// Cost: that of parsing both programs.
[[nodiscard]] std::expected<ir::OwnRun, Refusal> own_run(std::shared_ptr<const RirPair> pair, std::shared_ptr<const Tables> tables);

}  // namespace regduel::llvm
