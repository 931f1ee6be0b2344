// Golden files: a test's output is compared with a file of the source tree, and REGDUEL_UPDATE_GOLDEN=1 (set by
// scripts/update-golden) rewrites that file instead. For tests only; needs REGDUEL_SOURCE_DIR, which every test program has.
// Name such a test with "Golden", for that is how scripts/update-golden finds it. dot_test.cpp is an example.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/io.h"

namespace regduel {

// Expects the bytes of the file `path_in_source_tree` (such as "ir/text/testdata/example.dot") to be `actual`; a file that is
// not there is a failure. In update mode writes the file, making its folder where needed.
inline void expect_golden(const std::string& path_in_source_tree, const std::string& actual) {
  const std::string path = std::string(REGDUEL_SOURCE_DIR) + "/" + path_in_source_tree;
  const char* update = std::getenv("REGDUEL_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::error_code ignored;  // write_file says what is wrong
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    const auto written = write_file(path, actual);
    EXPECT_TRUE(written.has_value()) << (written ? "" : written.error());
    return;
  }
  const auto expected = read_file(path);
  ASSERT_TRUE(expected.has_value()) << expected.error();
  EXPECT_EQ(*expected, actual) << path_in_source_tree << " differs; if it should, run scripts/update-golden and read the diff";
}

}  // namespace regduel
