// For the golden tests of passes: each file of a folder is a program, and below a mark what a pass makes of it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/text/text.h"

namespace regduel::passes::testing {

// The files of a folder of the source, as paths from its root, in ascending order.
inline std::vector<std::string> files_of(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(REGDUEL_SOURCE_DIR) + "/" + std::string(folder)))
    names.push_back(std::string(folder) + "/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The file above the mark.
inline std::string head_of(const std::string& file, std::string_view mark) {
  const std::string text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/" + file).value();
  return text.substr(0, text.find(mark));
}

inline ir::Function parsed(const std::string& text, const std::string& file = "") {
  const auto module = ir::parse(text, file);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? module->functions.front() : ir::Function();
}

}  // namespace regduel::passes::testing
