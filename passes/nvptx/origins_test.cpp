#include "passes/nvptx/origins.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

constexpr const char* kVRegs =
    R"(  vreg %0 R b128
  vreg %1 R b128
  vreg %2 R b64
  vreg %3 R b64
  vreg %4 R f64
  vreg %5 P pred
)";

// The number of the origin's root, and whether it is found through a piece; -1 where there is none.
std::pair<int, bool> origin(const std::string& body, std::uint32_t inst, std::size_t pair = 0, bool guarded = false) {
  const ir::Function f = testing::program(kVRegs + ("  block b0\n" + body) + "    #9 exit\n");
  const Origins origins(f, guarded);
  const ir::Storage& s = origins.of(inst, pair);
  return {s.root.is_valid() ? static_cast<int>(s.root.value) : -1, origins.is_through(inst, pair)};
}
using Found = std::pair<int, bool>;

TEST(Origins, ACopyOfOneShapeComesFromItsUse) {
  EXPECT_EQ(origin("    #0 %2 = copy %3\n", 0), (Found{3, false}));
  EXPECT_EQ(origin("    #0 %0.d1 = copy %1.d1\n", 0), (Found{1, false}));
  EXPECT_EQ(origin("    #0 %0.d1 = copy %1.d0\n", 0), (Found{-1, false})) << "another part";
  EXPECT_EQ(origin("    #0 %2 = copy %4\n", 0), (Found{-1, false})) << "another class";
  EXPECT_EQ(origin("    #0 %2 = copy %0.d0\n", 0), (Found{-1, false})) << "half of a quad";
}

TEST(Origins, AnExtractComesFromWhatWasInserted) {
  EXPECT_EQ(origin("    #0 %0.d1 = copy %2\n    #1 %3 = copy %0.d1\n", 1), (Found{2, true}));
  EXPECT_EQ(origin("    #0 %0 = pack %2, %3\n    #1 %2 = copy %0.d1\n", 1), (Found{3, true}));
  EXPECT_EQ(origin("    #0 %0.d1 = copy %2\n    #1 %3 = copy %0.d0\n", 1), (Found{-1, false})) << "the other half";
  EXPECT_EQ(origin("    #0 %0.d1 = copy %2\n    #1 %4 = copy %0.d1\n", 1), (Found{-1, false})) << "another class";
}

TEST(Origins, AnInsertComesFromWhatWasExtracted) {
  EXPECT_EQ(origin("    #0 %2 = copy %0.d1\n    #1 %1.d1 = copy %2\n", 1), (Found{0, true}));
  EXPECT_EQ(origin("    #0 %2, %3 = unpack %0\n    #1 %1.d1 = copy %3\n", 1), (Found{0, true}));
  EXPECT_EQ(origin("    #0 %2 = copy %0.d1\n    #1 %1.d0 = copy %2\n", 1), (Found{-1, false})) << "into another part";
}

TEST(Origins, AreForgottenWhereEitherIsWritten) {
  const std::string insert = "    #0 %0.d1 = copy %2\n", extract = "    #2 %3 = copy %0.d1\n";
  EXPECT_EQ(origin(insert + "    #1 %2 = ld\n" + extract, 2), (Found{-1, false}));
  EXPECT_EQ(origin(insert + "    #1 %0.w2 = ld\n" + extract, 2), (Found{-1, false}));
  EXPECT_EQ(origin(insert + "    #1 %0.d0 = ld\n" + extract, 2), (Found{2, true})) << "the other half may change";
  EXPECT_EQ(origin(insert + "    #1 @%5 %2 = ld\n" + extract, 2), (Found{-1, false}));
  EXPECT_EQ(origin("    #0 %0.d1, %2 = copy %2, %0.d1\n" + extract, 1), (Found{-1, false})) << "both move";
}

TEST(Origins, UnderAGuardOnlyWhereAsked) {
  EXPECT_EQ(origin("    #0 @%5 %2 = copy %3\n", 0), (Found{-1, false}));
  EXPECT_EQ(origin("    #0 @%5 %2 = copy %3\n", 0, 0, true), (Found{3, false}));
  EXPECT_EQ(origin("    #0 @%5 %0.d1 = copy %2\n    #1 %3 = copy %0.d1\n", 1, 0, true), (Found{-1, false}));
}

}  // namespace
}  // namespace regduel::passes::nvptx
