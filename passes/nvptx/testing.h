// For the tests of this room: programs from text, and all that stands before the interference check.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ir/loops.h"
#include "ir/text/text.h"
#include "passes/nvptx/candidates.h"
#include "passes/nvptx/interference.h"

namespace regduel::passes::nvptx::testing {

// `body`: the lines of vregs and blocks.
inline ir::Function program(std::string_view body) {
  const auto module = ir::parse("rir 1\nfunc @f kernel target sm_90 threads 32\n" + std::string(body));
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}
// `count` vregs of 32 bits.
inline std::string words(int count) {
  std::string text;
  for (int v = 0; v < count; ++v) text += "  vreg %" + std::to_string(v) + " R b32\n";
  return text;
}

struct Prepared {
  explicit Prepared(ir::Function program)
      : f(std::move(program)), cfg(f), origins(f, true), takes_part(participants(f)), intervals(f, cfg, origins, takes_part),
        frequency(block_weights(f, cfg)), merged(f, intervals, frequency), interference(f, merged) {}
  [[nodiscard]] bool interfere(int a, int b) {
    return interference.between(merged.find(ir::VRegId(a)), merged.find(ir::VRegId(b)));
  }
  void merge(int a, int b) { merged.merge(merged.find(ir::VRegId(a)), merged.find(ir::VRegId(b))); }

  ir::Function f;
  ir::Cfg cfg;
  Origins origins;
  std::vector<char> takes_part;
  Intervals intervals;
  std::vector<std::int64_t> frequency;
  Merged merged;
  Interference interference;
};

}  // namespace regduel::passes::nvptx::testing
