// The program as its users run it, for tests: in a directory of its own, with what it prints. A test that includes this also
// includes base/testing.h, which is how the build knows that it asks for the root of the sources.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/io.h"
#include "base/testing.h"

namespace regduel::cli {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

inline std::string source(const std::string& name) { return std::string(REGDUEL_SOURCE_DIR) + "/" + name; }

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() /
           fmt::format("regduel_cli_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  Outcome run(const std::string& arguments) {
    const std::string out = path("stdout"), err = path("stderr");
    const std::string command =
        fmt::format("cd '{}' && '{}' {} >'{}' 2>'{}' </dev/null", dir_.string(), REGDUEL_PROGRAM, arguments, out, err);
    const int raw = std::system(command.c_str());
    Outcome r;
    r.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128;
    r.out = read_file(out).value_or("");
    r.err = read_file(err).value_or("");
    return r;
  }
  // The document that it prints.
  nlohmann::json json(const std::string& arguments) { return nlohmann::json::parse(run(arguments).out); }
  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, std::string_view text) { ASSERT_TRUE(write_file(path(name), text).has_value()); }

  // Bad input: status 2, and an error that says this; below it stands nothing but the line of text that it is about.
  void expect_complaint(const std::string& arguments, const std::string& what) {
    const Outcome r = run(arguments);
    EXPECT_EQ(r.status, 2) << arguments << '\n' << r.err;
    const std::string first = r.err.substr(0, r.err.find('\n'));
    EXPECT_TRUE(first.starts_with("regduel: error: ") || first.contains(": error: ")) << r.err;
    EXPECT_FALSE(first.starts_with("regduel: ") && !first.starts_with("regduel: error: ")) << r.err;
    for (std::size_t at = first.size() + 1; at < r.err.size(); at = r.err.find('\n', at) + 1)
      EXPECT_THAT(r.err.substr(at, 8), testing::MatchesRegex(" +[0-9]* [|].*")) << r.err;
    EXPECT_THAT(r.err, HasSubstr(what)) << arguments;
  }

  fs::path dir_;
};

}  // namespace regduel::cli
