// A database of its own for each test, and what tests put into it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "results/results.h"

namespace regduel::results {

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override { remove(); }
  void TearDown() override { remove(); }
  void remove() const {
    for (const char* const suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  const std::string path_ = [] {
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    return testing::TempDir() + fmt::format("regduel_{}_{}_{}.sqlite", ::getpid(), test->test_suite_name(), test->name());
  }();
};

//   judges   of these alone; empty = all
inline CaseResults dueled(const duel::Case& input, const std::string& source, Content content = Content::MadeAgain,
                          std::span<const ir::Allocator* const> duelists = duel::all_duelists(),
                          std::span<const std::string> judges = {}) {
  return results_of(input, source, duel::duel(input, {.duelists = duelists, .judges = judges}), content);
}

}  // namespace regduel::results
