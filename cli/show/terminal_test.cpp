#include "cli/show/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "cli/show/output.h"

namespace regduel::cli {
namespace {

// The environment of a test, as it was before behind it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST(Terminal, IsAsWideAsColumnsSays) {
  const int none = ::open("/dev/null", O_RDONLY);
  {
    const Variable columns("COLUMNS", "61");
    EXPECT_EQ(columns_of(none), 61);
    EXPECT_EQ(terminal_columns(none), 61);
  }
  for (const char* value : {"", "3", "x"}) {
    const Variable columns("COLUMNS", value);
    EXPECT_EQ(columns_of(none), 0) << value;
    EXPECT_EQ(terminal_columns(none), 80) << value;
  }
  ::close(none);
}

TEST(Terminal, ColoursAreAskedFor) {
  const int none = ::open("/dev/null", O_RDONLY);
  EXPECT_FALSE(has_colors(none));
  {
    const Variable forced("CLICOLOR_FORCE", "1");
    EXPECT_TRUE(has_colors(none));
    const Variable without("NO_COLOR", "1");
    EXPECT_FALSE(has_colors(none));
    set_color("always");
    EXPECT_TRUE(has_colors(none));
    set_color("never");
    EXPECT_FALSE(has_colors(none));
    set_color("auto");
  }
  ::close(none);
}

TEST(Tables, FitTheirColumns) {
  Table wide({"name", "alpha", "beta", "gamma", "delta"});
  wide.row({"one", "1", "2", "3", "4"});
  wide.row({"two", "11", "22", "33", "44"});
  EXPECT_EQ(wide.text_within(0), wide.text());
  EXPECT_EQ(wide.text_within(24),
            "name   one  two\n---------------\nalpha    1   11\nbeta     2   22\ngamma    3   33\ndelta    4   44\n");
  EXPECT_EQ(wide.text_within(24, {"delta", "gamma"}),
            "name  alpha  beta  gamma\n------------------------\none       1     2      3\ntwo      11    22     33\n");
  EXPECT_EQ(wrapped("one two three\nfour", 7), "one two\nthree\nfour");
  EXPECT_EQ(shortened("abcdefgh", 6), "abc...");
}

}  // namespace
}  // namespace regduel::cli
