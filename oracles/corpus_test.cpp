// Pairs of programs with the verdict that each judge must come to: corpus/judges/.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "ir/text/text.h"
#include "oracles/judges.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

namespace fs = std::filesystem;

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& entry : fs::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/judges")) {
    const std::string name = entry.path().filename().string();
    if (const auto at = name.find(".before.rir"); at != std::string::npos) list.push_back(name.substr(0, at));
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string text_of(const std::string& name) {
  const auto text = read_file(REGDUEL_SOURCE_DIR "/corpus/judges/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

// The line "// verdict: structure pass, memcheck fail, ..." of the program after.
std::string wanted_verdict(const std::string& text) {
  constexpr std::string_view kHead = "// verdict: ";
  EXPECT_TRUE(text.starts_with(kHead));
  return text.substr(kHead.size(), text.find('\n') - kHead.size());
}

// The target of the line "// target: FILE" of the program before, or the shipped one that the function names.
ir::Target target_of(const std::string& before_text, const ir::Function& before) {
  constexpr std::string_view kHead = "\n// target: ";
  const std::size_t at = before_text.find(kHead);
  if (at == std::string::npos) return *ir::find_target(before.target);
  const std::size_t name = at + kHead.size();
  auto target = ir::parse_target(text_of(before_text.substr(name, before_text.find('\n', name) - name)));
  EXPECT_TRUE(target) << to_string(target.error());
  return target ? *target : ir::Target();
}

class JudgesCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(JudgesCorpus, GetsItsVerdict) {
  const std::string after_text = text_of(GetParam() + ".after.rir");
  const auto parsed = [](const std::string& text) {
    auto module = ir::parse(text);
    EXPECT_TRUE(module) << to_string(module.error());
    return module ? module->functions.at(0) : ir::Function();
  };
  const std::string before_text = text_of(GetParam() + ".before.rir");
  const ir::Function before = parsed(before_text), after = parsed(after_text);
  ASSERT_FALSE(before.blocks.empty());
  ASSERT_FALSE(after.blocks.empty());
  const ir::Target target = target_of(before_text, before);
  const Report report = judge({before, after, target, ir::Limits::of(target, 255)});
  std::string got;
  for (const JudgeResult& r : report.results) {
    if (r.judge == "quality") continue;  // nothing is claimed
    got += fmt::format("{}{} {}", got.empty() ? "" : ", ", r.judge, name(r.verdict));
  }
  EXPECT_EQ(got, wanted_verdict(after_text));
}

INSTANTIATE_TEST_SUITE_P(All, JudgesCorpus, ::testing::ValuesIn(names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace regduel::oracles
