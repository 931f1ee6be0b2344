// Helpers of the judges' tests: programs as RIR text, small edits of it, and what a judge says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/judge.h"

namespace regduel::oracles::testing {

inline ir::Function parse_function(std::string_view text) {
  auto parsed = ir::parse("rir 1\n" + std::string(text), "test");
  if (!parsed) {
    ADD_FAILURE() << to_string(parsed.error()) << "\n" << text;
    return {};
  }
  EXPECT_EQ(parsed->functions.size(), 1u);
  return parsed->functions.front();
}

// `text` with the one occurrence of `from` replaced.
inline std::string edit(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    ADD_FAILURE() << "expected exactly one \"" << from << "\"";
    return text;
  }
  return text.replace(at, from.size(), to);
}

// A program before and after allocation with the same declarations.
struct Pair {
  std::string vregs, before, after;
  std::string frame = "  frame local 16 shared 16\n";
  std::string slots = R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  slot 2 local size 8 align 4 offset 8
  slot 3 shared size 4 align 4 offset 4
)";
  std::string kind = "kernel";

  [[nodiscard]] std::string before_text() const { return "func @f " + kind + " target sm_90 threads 32\n" + vregs + before; }
  [[nodiscard]] std::string after_text() const {
    return "func @f " + kind + " target sm_90 threads 32 allocated\n" + frame + vregs + slots + after;
  }
};

inline ir::Limits limits_of(const ir::Function& f, int registers) { return ir::Limits::of(*ir::find_target(f.target), registers); }

inline JudgeResult judge_text(const Judge& judge, const std::string& before, const std::string& after, int registers = 255,
                              const ir::Claims* claims = nullptr) {
  const ir::Function b = parse_function(before), a = parse_function(after);
  if (b.blocks.empty() || a.blocks.empty()) return {};
  return judge.judge({b, a, *ir::find_target(b.target), limits_of(b, registers), claims});
}

// The distinct categories of the findings, sorted.
inline std::vector<std::string> categories(const JudgeResult& r) {
  std::vector<std::string> list;
  for (const Finding& f : r.findings) list.push_back(f.category);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

inline std::string describe(const JudgeResult& r) {
  std::string text = std::string(name(r.verdict)) + " " + r.reason;
  for (const Finding& f : r.findings)
    text += "\n  " + f.category + " at " + std::to_string(f.inst.value) + "/" + std::to_string(f.operand) + ": " + f.message;
  return text;
}

inline JudgeResult judge_pair(const Judge& judge, const Pair& p) { return judge_text(judge, p.before_text(), p.after_text()); }

inline void expect_pass(const Judge& judge, const Pair& p) {
  const JudgeResult r = judge_pair(judge, p);
  EXPECT_EQ(r.verdict, Verdict::Pass) << describe(r) << "\n" << p.after_text();
}
// That it objects, with findings of this category alone.
inline void expect_category(const Judge& judge, const Pair& p, std::string_view category) {
  const JudgeResult r = judge_pair(judge, p);
  EXPECT_EQ(r.verdict, Verdict::Fail) << p.after_text();
  EXPECT_THAT(categories(r), ::testing::ElementsAre(category)) << describe(r) << "\n" << p.after_text();
}

}  // namespace regduel::oracles::testing
