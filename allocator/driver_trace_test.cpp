// The traces of the driver, as golden files.
//
// Each file of allocator/testdata/ holds a program, the ways to run it, and the driver's trace of each run as comments: its attempts
// in the words of the source's debug lines, its rounds of spilling, and how it ends. A line "// run N NAME=VALUE ..." asks for a
// run within N registers with these knobs. scripts/update-golden rewrites the part below the program. Source: source 000 "Retry
// Loop" (the line of an attempt), source 001 "Allocation Failure" (the text of a failure).

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "allocator/testing.h"
#include "base/io.h"
#include "base/testing.h"

namespace regduel::allocator {
namespace {

constexpr std::string_view kRun = "// run ", kMark = "\n// trace of run ";

class Comments final : public ir::Trace {
 public:
  void line(std::string text) override { lines += "// " + text + "\n"; }
  std::string lines;
};

// "8 638=1": what is said of a run within 8 registers with that knob.
std::string trace_of(const ir::Function& f, std::string_view run) {
  std::istringstream words{std::string(run)};
  int registers = 0;
  words >> registers;
  ir::AllocOptions options;
  options.limits = testing::limits(registers);
  for (std::string word; words >> word;)
    options.knobs.emplace_back(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
  Comments trace;
  options.trace = &trace;
  const auto result = make_fatpoint()->allocate(f, ir::default_target(), options);
  std::string text = fmt::format("{}{}\n{}", kMark, run, trace.lines);
  if (!result) return text + "// " + result.error().message + "\n";
  testing::expect_same_behaviour(f, result->program);
  const ir::Claims& claims = result->claims;
  return text + fmt::format("// registers {}, spill stores {} bytes, refills {} bytes\n",
                            claims.registers[ir::index(ir::RegFile::R)], claims.spill_store_bytes, claims.spill_load_bytes);
}

std::vector<std::string> runs_in(std::string_view text) {
  std::vector<std::string> runs;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (const std::string_view line = text.substr(at, end - at); line.starts_with(kRun))
      runs.emplace_back(line.substr(kRun.size()));
    at = end + 1;
  }
  return runs;
}

TEST(DriverTrace, GoldenTraces) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/allocator/testdata"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_GE(names.size(), 8u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string path = "allocator/testdata/" + name;
    std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + path).value_or("");
    if (const std::size_t mark = text.find(kMark); mark != std::string::npos) text.resize(mark);
    const auto module = ir::parse(text, path);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    ASSERT_EQ(module->functions.size(), 1u);
    const std::vector<std::string> runs = runs_in(text);
    EXPECT_FALSE(runs.empty());
    for (const std::string& run : runs) text += trace_of(module->functions[0], run);
    expect_golden(path, text);
  }
}

}  // namespace
}  // namespace regduel::allocator
