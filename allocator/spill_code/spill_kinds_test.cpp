// Each kind of spill, as a golden file that is read from top to bottom: a sentence on the kind, the program, and its allocation.
//
// A file of testdata/kinds says "// run FILE=N ..." (limits), perhaps with knobs ("FatPointX=V"), and "// shows TEXT" for what the
// result must contain. scripts/update-golden rewrites the part below the program.

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"
#include "base/io.h"
#include "base/testing.h"

namespace regduel::allocator {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kFolder = "allocator/spill_code/testdata/kinds";
constexpr std::string_view kMark = "\n// becomes\n";

struct Example {
  ir::AllocOptions options;
  std::vector<std::string> shows;
};

Example example(const std::string& text) {
  Example e;
  e.options.limits = ir::Limits::of(ir::default_target());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// shows ")) e.shows.push_back(line.substr(9));
    if (!line.starts_with("// run ")) continue;
    std::istringstream words(line.substr(7));
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
      const auto file =
          std::find_if(std::begin(ir::kAllFiles), std::end(ir::kAllFiles), [&](ir::RegFile f) { return ir::name(f) == name; });
      if (file == std::end(ir::kAllFiles)) e.options.knobs.emplace_back(name, value);
      else e.options.limits.units[ir::index(*file)] = std::stoi(value);
    }
  }
  return e;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/" + std::string(kFolder)))
    all.push_back(entry.path().filename().string());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(SpillKinds, Golden) {
  EXPECT_GE(names().size(), 15u);
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const std::string path = std::string(kFolder) + "/" + name;
    std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + path).value_or("");
    if (const std::size_t mark = text.find(kMark); mark != std::string::npos) text.resize(mark);
    const auto module = ir::parse(text, path);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    const ir::Function& f = module->functions.at(0);
    const Example e = example(text);
    const auto result = make_fatpoint()->allocate(f, ir::default_target(), e.options);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    testing::expect_same_behaviour(f, result->program);
    const std::string printed = ir::print(result->program);
    EXPECT_FALSE(e.shows.empty());
    for (const std::string& shown : e.shows) EXPECT_THAT(printed, HasSubstr(shown));
    text += kMark;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("  vreg ")) text += "// " + line + "\n";
    expect_golden(path, text);
  }
}

}  // namespace
}  // namespace regduel::allocator
