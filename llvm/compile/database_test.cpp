#include "llvm/compile/database.h"

#include <gmock/gmock.h>

namespace regduel::llvm {
namespace {

using ::testing::ElementsAre;

TEST(Database, KeepsWhatSaysWhatTheProgramIs) {
  const auto entries = read_database(
      R"([{"directory": "/src/b", "file": "../a.c", "command": "cc -O2 -Iinc -isystem /sys -DX=\\\"y\\ z\\\" -std=c99 -Wall -c -o a.o ../a.c"},
          {"directory": "/src", "file": "b.cc", "arguments": ["c++", "-I", "inc", "-D", "N", "-fno-rtti", "b.cc"]},
          {"directory": "/src", "file": "b.cc", "arguments": ["c++", "b.cc"]}, {"directory": "/src", "file": "c.s", "command": "as c.s"}])");
  ASSERT_TRUE(entries) << to_string(entries.error());
  ASSERT_EQ(entries->size(), 2);
  EXPECT_EQ((*entries)[0].file, "/src/a.c");
  EXPECT_THAT((*entries)[0].arguments, ElementsAre("-I", "/src/b/inc", "-isystem", "/sys", "-DX=\"y z\"", "-std=c99"));
  EXPECT_EQ((*entries)[1].file, "/src/b.cc");
  EXPECT_THAT((*entries)[1].arguments, ElementsAre("-I", "/src/inc", "-DN", "-fno-rtti"));
}

TEST(Database, RefusesAnotherForm) {
  EXPECT_FALSE(read_database("{}"));
  EXPECT_FALSE(read_database("[{}]"));
  EXPECT_FALSE(read_database("nothing"));
  EXPECT_FALSE(read_database(R"([{"file": 3}])"));
  EXPECT_FALSE(read_database(R"([{"file": "a.c", "directory": []}])"));
  EXPECT_FALSE(read_database(R"([{"file": "a.c", "command": 1}])"));
  EXPECT_FALSE(read_database(R"([{"file": "a.c", "command": "cc 'a.c"}])"));
  EXPECT_FALSE(read_database(R"([{"file": "a.c", "arguments": ["cc", 1]}])"));
}

}  // namespace
}  // namespace regduel::llvm
