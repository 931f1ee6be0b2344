// Tests of campaigns: a folder of their own, options, and the reproducers that were written.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/case_file.h"
#include "fuzz/campaign/campaign.h"
#include "ir/prover.h"

namespace regduel::fuzz {

// Says that 199 general registers are not enough for anything.
class ProvesTooMuch : public ir::Prover {
 public:
  std::string_view name() const override { return "proves-too-much"; }
  ir::Bound::Kind kind() const override { return ir::Bound::Kind::Registers; }
  std::expected<ir::Allocation, ir::AllocFailure> prove(const ir::Function&, const ir::Target&, const ir::AllocOptions&,
                                                        std::vector<ir::Bound>& bounds) const override {
    bounds.push_back({.at_least = 200});
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "no allocation"});
  }
};

class CampaignTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() /
           fmt::format("regduel_campaign_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string path(const std::string& name) const { return (dir_ / name).string(); }

  CampaignOptions options(std::span<const ir::Allocator* const> duelists, std::uint64_t runs) const {
    CampaignOptions o;
    o.duelists = duelists;
    o.runs = runs;
    o.directory = path("findings");
    o.db = path("c.sqlite");
    o.today = "2026-06-01";
    o.reduce_budget = 60'000;
    return o;
  }
  static duel::Case played(const std::string& path) { return duel::parse_case(read_file(path).value(), path).value(); }
  static CampaignResult run(const CampaignOptions& o) {
    CampaignResult r = run_campaign(o, [](const CampaignStatus&) { return true; });
    EXPECT_TRUE(r.lost_workers.empty()) << r.lost_workers.begin()->first;
    return r;
  }
  std::vector<std::string> reproducers() const {
    std::vector<std::string> files;
    if (std::filesystem::exists(path("findings")))
      for (const auto& entry : std::filesystem::directory_iterator(path("findings"))) files.push_back(entry.path().string());
    return files;
  }

  std::filesystem::path dir_;
};

}  // namespace regduel::fuzz
