#include "reference/exact/proof.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <cadical.hpp>

#include "base/bad_input.h"
#include "base/io.h"

namespace regduel::reference {
namespace {

class ProofTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // x1 or x2, and neither. With `is_less` without the last clause: x2 holds then.
  void ask(bool is_less) {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    Proof proof(solver, path_);
    for (const int literal : {1, 2, 0, -1, 0}) proof.add(literal);
    if (!is_less)
      for (const int literal : {-2, 0}) proof.add(literal);
    proof.write_formula(2);
    proof.end(solver.solve() == 20);
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("regduel-proof-{}", ::getpid());
  const std::string path_ = (folder_ / "p").string();
};

TEST_F(ProofTest, IsThereWhenTheFormulaIsRefuted) {
  ask(false);
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(read_file(path_ + ".cnf").value_or("").starts_with("p cnf 2 "));
  EXPECT_EQ(read_file(path_ + ".drat").value_or("").find(".tmp."), std::string::npos);
}

TEST_F(ProofTest, LeavesNothingWhereTheFormulaHolds) {
  ask(true);
  EXPECT_EQ(files(), 0u);
}

TEST_F(ProofTest, LeavesNothingWhereNobodyAnswered) {
  {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    Proof proof(solver, path_);
    proof.add(1);
    proof.add(0);
    proof.write_formula(1);
    EXPECT_EQ(files(), 2u) << "temporary ones";
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(ProofTest, SaysWhatCannotBeWritten) {
  CaDiCaL::Solver solver;
  try {
    Proof proof(solver, (folder_ / "none" / "p").string());
    FAIL() << "there is no such directory";
  } catch (const BadInput& e) {
    EXPECT_EQ(std::string_view(e.what()), (folder_ / "none" / "p.drat").string() + ": No such file or directory");
  }
}

}  // namespace
}  // namespace regduel::reference
