// How large graphs of values are, and what they leave out.

#include "oracles/memcheck/build_graph.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracles/memcheck/dominators.h"
#include "oracles/memcheck/reaching_sets.h"
#include "oracles/memcheck/testing.h"
#include "oracles/memcheck/value_graph.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

struct Size {
  std::string_view name, body;
  std::size_t nodes;
  Detail detail = Detail::EveryJoin;
};

// All on a register that nothing has written: its content at the head of b0 is an incoming node, the merged node at the entry
// (where no path meets another, a phi with one argument) and the leaf behind it.
constexpr std::size_t kEntryNodes = 3;

TEST(ValueGraph, GraphsAreSmall) {
  const std::vector<Size> table = {
      {"a cell that is read often is one node", R"(
    #0 use R0
    #1 use R0, R0
    #2 use R0
)",
       kEntryNodes},
      {"a narrow copy: the one that moved, and a word of both", R"(
    #0 use R0, R1
    +1 R0.h0 = copy R1.h0
    #2 use R0
)",
       2 * kEntryNodes + 2},
      {"a copy of a wide part", "    #0 use R0:R1, R2:R3\n    +1 R0:R1 = copy R2:R3\n", 4 * kEntryNodes + 2},
      {"sets look through copies", "    #0 use R0:R1, R2:R3\n    +1 R0:R1 = copy R2:R3\n", 4 * (kEntryNodes - 1), Detail::Sparse},
      {"a leaf of a sparse graph costs nothing", "    #0 R0 = a\n    #1 use R0\n", 0, Detail::Sparse},
      {"a clobber destroys all at once", "    #0 call \"g\" clobbers R0:R9\n    #1 use R0, R9\n", 1},
      {"where there are packs, each cell by itself", R"(
    #0 call "g" clobbers R0:R1
    +1 R0{inout} = p2r P0
    #2 use R1
)",
       1 + 2 + 2 + 1 + 2 * 2 + 1},
      {"what is never read is not written", R"(
    #0 call "g" clobbers R1:R9
    #1 R0, R1 = two
    +2 R2 = copy R0
    #3 use R0
)",
       1},
  };
  for (const Size& size : table) {
    SCOPED_TRACE(size.name);
    const std::string text = fmt::format(R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
{}    #99 exit
)",
                                         size.body);
    const ir::Function f = parse_function(text);
    const ir::Cfg cfg(f);
    Definitions defs(f);
    EXPECT_EQ(ValueGraph(f, cfg, defs, {.detail = size.detail}).num_nodes(), size.nodes);
  }
}

TEST(ValueGraph, OnlyWhatIsAskedForIsFollowed) {
  const ir::Function f = parse_function(R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
    #0 use R0
    #1 use R1
    #2 @P0 R2 = a
    #3 use R2
    #99 exit
)");
  const ir::Cfg cfg(f);
  const auto nodes = [&](const std::vector<ir::InstId>& asked) {
    Definitions defs(f);
    return ValueGraph(f, cfg, defs, {.asked = &asked}).num_nodes();
  };
  const std::size_t none = nodes({});
  EXPECT_EQ(nodes({ir::InstId(1)}), none + kEntryNodes - 1);
  EXPECT_EQ(nodes({ir::InstId(0), ir::InstId(1)}), none + 2 * (kEntryNodes - 1));
  EXPECT_EQ(nodes({ir::InstId(3)}), none + 2 * (kEntryNodes - 1));  // what R2 held, and the guard
}

TEST(ValueGraph, OnlyWrittenRegistersAreReadAtRet) {
  const ir::Function f = parse_function(R"(
func @f device target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
    #0 R24 = a
    #1 use R25
    #2 ret
)");
  const ir::Cfg cfg(f);
  Definitions defs(f);
  const std::vector<ir::PReg> saved = {{ir::RegFile::R, 1, 24}, {ir::RegFile::R, 1, 25}};
  const ValueGraph graph(f, cfg, defs, {.callee_saved = saved});
  ASSERT_EQ(graph.ret_reads().size(), 1u);
  EXPECT_EQ(graph.ret_reads()[0].unit, saved[0]);
}

}  // namespace
}  // namespace regduel::oracles
