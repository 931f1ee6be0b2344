// Helpers of the judges' tests: programs as RIR text, small edits of it, and what a judge says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/judge.h"

namespace regduel::oracles::testing {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

struct Programs {
  std::string before, after;
};

// Two programs written side by side. A line with a bar is an instruction before allocation and after it, with its number once. The
// program after alone has the inserted instructions (+N), the edge blocks, the frame and the slots; all other lines are in both.
// The head of a function is that of the program before. `vreg %0..%2 R b32` declares three registers.
inline Programs side_by_side(const std::string& text) {
  Programs programs;
  const auto in_both = [&](const std::string& line) {
    programs.before += line + "\n";
    programs.after += line + "\n";
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' '), bar = line.find('|'), dots = line.find("..%");
    if (start == std::string::npos) continue;
    const std::string_view words = std::string_view(line).substr(start);
    if (bar != std::string::npos) {
      if (words.starts_with('#')) programs.before += line.substr(0, line.find_last_not_of(' ', bar - 1) + 1) + "\n";
      programs.after += line.substr(0, line.find(' ', start)) + line.substr(bar + 1) + "\n";
    } else if (words.starts_with("vreg %") && dots != std::string::npos) {
      const int last = std::stoi(line.substr(dots + 3));
      for (int k = std::stoi(line.substr(start + 6)); k <= last; ++k)
        in_both("  vreg %" + std::to_string(k) + line.substr(line.find(' ', dots)));
    } else if (words.starts_with("func ")) {
      programs.before += line + "\n";
      programs.after += line + " allocated\n";
    } else if (words.starts_with('+') || words.starts_with("frame ") || words.starts_with("slot ") || line.contains(" edge b")) {
      programs.after += line + "\n";
    } else {
      in_both(line);
    }
  }
  return programs;
}

struct Functions {
  ir::Function before, after;
};
inline Functions parse_both(const std::string& text) {
  const Programs programs = side_by_side(text);
  return {parse_function(programs.before), parse_function(programs.after)};
}

// The declarations that most pairs take, after allocation alone.
inline constexpr const char* kFrame = "  frame local 16 shared 16\n";
inline constexpr const char* kSlots = R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
  slot 2 local size 8 align 4 offset 8
  slot 3 shared size 4 align 4 offset 4
)";

// A program before and after allocation with the same declarations: `vregs`, or those that both programs begin with.
struct Pair {
  Pair() = default;
  Pair(Programs both, std::string the_frame = kFrame, std::string the_slots = kSlots)  // NOLINT: a pair is written as its programs
      : before(std::move(both.before)), after(std::move(both.after)), frame(std::move(the_frame)), slots(std::move(the_slots)) {}
  Pair(std::string the_vregs, Programs both, std::string the_frame = kFrame, std::string the_slots = kSlots)
      : Pair(std::move(both), std::move(the_frame), std::move(the_slots)) {
    vregs = std::move(the_vregs);
  }
  Pair(std::string the_vregs, std::string one, std::string other, std::string the_frame = kFrame, std::string the_slots = kSlots)
      : Pair(std::move(the_vregs), Programs{std::move(one), std::move(other)}, std::move(the_frame), std::move(the_slots)) {}

  std::string vregs, before, after, frame = kFrame, slots = kSlots, kind = "kernel";

  [[nodiscard]] std::string before_text() const { return "func @f " + kind + " target sm_90 threads 32\n" + vregs + before; }
  [[nodiscard]] std::string after_text() const {
    return "func @f " + kind + " target sm_90 threads 32 allocated\n" + frame + vregs + slots + after;
  }
};

// The same pair with one edit of the program after.
inline Pair with(Pair p, std::string_view from, std::string_view to) {
  p.after = edit(p.after, from, to);
  return p;
}

inline ir::Limits limits_of(const ir::Function& f, int registers) { return ir::Limits::of(*ir::find_target(f.target), registers); }

inline JudgeResult judge_text(const Judge& judge, const std::string& before, const std::string& after, int registers = 255,
                              const ir::Claims* claims = nullptr) {
  const ir::Function b = parse_function(before), a = parse_function(after);
  if (b.blocks.empty() || a.blocks.empty()) return {};
  return judge.judge({b, a, *ir::find_target(b.target), limits_of(b, registers), claims});
}

inline JudgeResult judge_text(const Judge& judge, const Programs& both, int registers = 255) {
  return judge_text(judge, both.before, both.after, registers);
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
