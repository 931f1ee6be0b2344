// How often blocks run, for the order of candidates: the frequency that the program gives, else 10^depth, with the depth given or
// that of natural loops (FORMAT.md, "Frequency"). Tested by block_frequency_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::passes::nvptx {

// By block, 1 to 10^9. Cost: O(loops x edges inside them).
[[nodiscard]] std::vector<std::uint64_t> block_frequencies(const ir::Function& f, const ir::Cfg& cfg);

}  // namespace regduel::passes::nvptx
