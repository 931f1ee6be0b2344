#include "cli/function_names.h"

#include <gmock/gmock.h>

namespace regduel::cli {
namespace {

TEST(FunctionNames, AreDemangled) {
  EXPECT_EQ(demangled("_Z1kIiEvPT_"), "void k<int>(int*)");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled("plain"), "plain");
  EXPECT_EQ(demangled(""), "");
}

TEST(FunctionNames, AsFileNamesAreSafeAndDiffer) {
  FileNames names;
  EXPECT_EQ(names.of("f"), "f");
  EXPECT_EQ(names.of("f"), "f-2");
  EXPECT_EQ(names.of("a/b c"), "a_b_c");
  EXPECT_EQ(names.of("a b/c"), "a_b_c-2");
  EXPECT_EQ(names.of(".."), "_..");
  EXPECT_EQ(names.of(""), "_");
}

TEST(FunctionNames, AsFileNamesAreShort) {
  FileNames names;
  const std::string whole(FileNames::kMostBytes, 'x');
  EXPECT_EQ(names.of(whole), whole);
  std::set<std::string> all;
  for (int n = 0; n < 1000; ++n) {
    const std::string name = names.of(std::string(4000, 'x') + std::to_string(n));
    EXPECT_EQ(name.size(), FileNames::kMostBytes);
    EXPECT_TRUE(all.insert(name).second) << name;
  }
  EXPECT_THAT(names.of(whole + "y"), testing::StartsWith(whole.substr(0, 100)));
}

}  // namespace
}  // namespace regduel::cli
