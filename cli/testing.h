// The program as its users run it, for tests: in a directory of its own, with what it prints.
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

#include "base/io.h"

namespace regduel::cli {

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() /
           fmt::format("regduel_cli_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

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
  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, std::string_view text) { ASSERT_TRUE(write_file(path(name), text).has_value()); }

  // Bad input: status 2, one line, which says this.
  void expect_complaint(const std::string& arguments, const std::string& what) {
    const Outcome r = run(arguments);
    EXPECT_EQ(r.status, 2) << arguments << '\n' << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_THAT(r.err, testing::StartsWith("regduel: "));
    EXPECT_THAT(r.err, testing::HasSubstr(what)) << arguments;
  }

  std::filesystem::path dir_;
};

}  // namespace regduel::cli
