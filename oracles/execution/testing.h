// Helpers of the execution judge's tests: pairs of which one fault is judged, and graphs of blocks that lose a value on some edges.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracles/execution/execution.h"
#include "oracles/testing.h"

namespace regduel::oracles::testing::execution {

inline JudgeResult judged(Pair p, const std::string& after) {
  p.after = after;
  return judge_text(execution_judge(), p.before_text(), p.after_text());
}

inline void expect_pass(const Pair& p) {
  const JudgeResult r = judged(p, p.after);
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r) << p.after_text();
}
inline void expect_fail(const Pair& p, std::string_view from, std::string_view to, const std::string& category,
                        std::uint32_t inst) {
  const JudgeResult r = judged(p, edit(p.after, from, to));
  EXPECT_EQ(r.verdict, Verdict::Fail) << from << " -> " << to;
  EXPECT_THAT(categories(r), ::testing::Contains(category)) << describe(r);
  if (!r.findings.empty()) {
    EXPECT_EQ(r.findings[0].inst, ir::InstId(inst)) << describe(r);
  }
}

inline constexpr auto kWrong = "execution-wrong-value", kUndefined = "execution-undefined";

using EdgeOf = std::pair<int, int>;  // a block, and the position among its successors

// A pair of programs: block k goes to successors[k], and ends where there are none. %0 is in R0 after allocation, and saved in slot
// 0; it is lost on some edges, restored on others, and read by some blocks.
struct Graph {
  std::vector<std::vector<int>> successors;
  std::vector<int> reads;
  std::vector<EdgeOf> loses = {}, restores = {};
  int steps = 1;  // instructions of a block besides its read and its branch

  [[nodiscard]] std::string text(bool is_after) const {
    std::string text = is_after ? R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 4 shared 0
)"
                                : "func @t kernel target sm_90 threads 32\n";
    text += R"(
  vreg %0 R b32
  vreg %1 R b32
)";
    if (is_after) text += "  slot 0 local size 4 align 4 offset 0\n";
    const auto reg = [&](int k) { return (is_after ? "R" : "%") + std::to_string(k); };
    std::string edge_blocks;
    int inst = 0, inserted = 100'000, next_block = static_cast<int>(successors.size());
    const auto original = [&](const std::string& what) { text += "    #" + std::to_string(inst++) + " " + what; };
    const auto has = [](const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); };
    for (int b = 0; b < static_cast<int>(successors.size()); ++b) {
      text += "  block b" + std::to_string(b) + "\n";
      if (b == 0) {
        original(reg(0) + " = a\n");
        original(reg(1) + " = b\n");
        if (is_after) text += "    +99999 spill R0, slot 0\n";
      }
      for (int k = 0; k < steps; ++k) original("step\n");
      if (has(reads, b)) original("use " + reg(0) + "\n");
      const auto& to = successors[static_cast<std::size_t>(b)];
      original(to.empty() ? "exit" : to.size() == 1 ? "bra ->" : "mbra " + reg(1) + " ->");
      for (int k = 0; k < static_cast<int>(to.size()); ++k) {
        const std::string target = std::to_string(to[static_cast<std::size_t>(k)]);
        const bool loses_it = has(loses, EdgeOf(b, k)), changes = is_after && (loses_it || has(restores, EdgeOf(b, k)));
        text += (k == 0 ? " b" : ", b") + (changes ? std::to_string(next_block) : target);
        if (!changes) continue;
        edge_blocks += "  block b" + std::to_string(next_block) + " edge b" + std::to_string(b) + " -> b" + target + "\n    +" +
                       std::to_string(inserted) + (loses_it ? " R0 = copy R9\n" : " R0 = refill slot 0\n") + "    +" +
                       std::to_string(inserted + 1) + " bra -> b" + target + "\n";
        ++next_block;
        inserted += 2;
      }
      text += "\n";
    }
    return text + edge_blocks;
  }
};

inline JudgeResult walk(const Graph& g, const ExecutionOptions& options, ExecutionCost* cost = nullptr) {
  const ir::Function before = parse_function(g.text(false)), after = parse_function(g.text(true));
  return judge_execution({before, after, *ir::find_target("sm_90"), limits_of(before, 255), nullptr}, options, cost);
}

}  // namespace regduel::oracles::testing::execution
