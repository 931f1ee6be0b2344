// Which temps hold the same contents, against random walks on which each def makes a new value, and a copy within a file none.

#include "reference/program/contents.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "generate/generator.h"
#include "reference/program/lower.h"
#include "reference/program/problem.h"

namespace regduel::properties {
namespace {

TEST(Contents, AgreesWithWalks) {
  int same = 0, differ = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    generate::GeneratorOptions options;
    options.profile = seed % 2 == 0 ? generate::Profile::Copies : generate::Profile::Phis;
    options.seed = seed;
    options.size = 30;
    const ir::Function f = generate::generate(options);
    const ir::Cfg cfg(f);
    const reference::Problem problem(f, cfg, ir::default_target(), ir::Limits::of(ir::default_target(), 255), 10);
    const reference::Code code = reference::lower(problem, problem.all_in_registers());
    reference::Contents contents(problem, code);
    Random random(seed);
    const auto key = [&](reference::TempId a, reference::TempId b) { return std::size_t{a} * code.temps.size() + b; };
    std::vector<std::set<std::size_t>> differed(code.insts.size()), met(code.insts.size());
    for (int walk = 0; walk < 60; ++walk) {
      std::vector<int> holds(code.temps.size(), 0);
      int next = 1;
      std::uint32_t b = 0;
      for (int step = 0; step < 40; ++step) {
        const reference::CodeBlock& block = code.blocks[b];
        for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
          const reference::CodeInst& inst = code.insts[i];
          const auto refs = code.refs_of(inst);
          const std::vector<int> before = holds;
          for (std::size_t k = 0; k < refs.size(); ++k)
            if (refs[k].flags & reference::kWrites) {
              const reference::TempId from = code.source_of(inst, k);
              holds[refs[k].temp] = from != reference::kNoTemp ? before[from] : next++;
            }
          for (reference::TempId a = 0; a < holds.size(); ++a)
            for (reference::TempId c = 0; c < a; ++c)
              if (holds[a] != 0 && holds[c] != 0) (holds[a] == holds[c] ? met : differed)[i].insert(key(a, c));
        }
        const auto successors = code.successors[b];
        if (successors.empty()) break;
        b = successors[random.below(static_cast<std::uint32_t>(successors.size()))];
      }
    }
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      if (code.blocks[b].is_reachable)
        contents.walk(b, [&](std::uint32_t i) {
          for (reference::TempId a = 0; a < code.temps.size(); ++a)
            for (reference::TempId c = 0; c < a; ++c) {
              const bool is_same = contents.is_same(a, c);
              if (differed[i].contains(key(a, c))) {
                ASSERT_FALSE(is_same) << "seed " << seed << " " << i << ": " << a << ' ' << c;
                ++differ;
              } else if (met[i].contains(key(a, c))) {
                same += is_same;
              }
            }
        });
  }
  EXPECT_GT(same, 1000);
  EXPECT_GT(differ, 1000);
}

}  // namespace
}  // namespace regduel::properties
