// Every case of corpus/regression/, and every input of corpus/seeds/, fought again: none may have a finding.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/case_file.h"
#include "fuzz/triage/failure.h"

namespace regduel::properties {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/regression"))
    if (entry.path().extension() == ".rir") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Regression, EveryCasePasses) {
  for (const std::string& path : case_files()) {
    SCOPED_TRACE(path);
    const auto text = read_file(path);
    ASSERT_TRUE(text.has_value()) << text.error();
    const auto input = duel::parse_case(*text, path);
    ASSERT_TRUE(input.has_value()) << to_string(input.error());
    const auto report = fuzz::find_in(*input);
    EXPECT_FALSE(report.has_value()) << *report;
  }
}

TEST(Seeds, AreWhatTheyAreNamedAndPass) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/seeds"))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 100u);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const auto text = read_file(path);
    ASSERT_TRUE(text.has_value()) << text.error();
    const std::vector<std::uint8_t> bytes(text->begin(), text->end());
    const duel::Case input = duel::decode_case(bytes);
    EXPECT_EQ(duel::encode_case(input), bytes)
        << "not an input of this version: it would stand for a program that is made from its hash";
    const auto report = fuzz::find_in(input);
    EXPECT_FALSE(report.has_value()) << *report;
  }
}

}  // namespace
}  // namespace regduel::properties
