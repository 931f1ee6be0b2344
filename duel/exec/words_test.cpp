#include "duel/exec/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regduel::duel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Words, AreThoseOfAShell) {
  EXPECT_THAT(*split_words(""), IsEmpty());
  EXPECT_THAT(*split_words("  python3   a.py\t--bug x "), ElementsAre("python3", "a.py", "--bug", "x"));
  EXPECT_THAT(*split_words(R"('a b'c "d 'e'" f\ g '')"), ElementsAre("a bc", "d 'e'", "f g", ""));
  EXPECT_THAT(*split_words(R"("\"\\\x" '\')"), ElementsAre(R"("\\x)", R"(\)"));
  EXPECT_FALSE(split_words("it's").has_value());
  EXPECT_FALSE(split_words("a \"b").has_value());
  EXPECT_FALSE(split_words("a\\").has_value());
}

TEST(Words, QuotedComesBack) {
  EXPECT_EQ(shell_word("fatpoint"), "fatpoint");
  EXPECT_EQ(shell_word("copyprop+briggs,fatpoint"), "copyprop+briggs,fatpoint");
  EXPECT_EQ(shell_word("exec:a b"), "'exec:a b'");
  for (const char* word : {"", "a b", "it's", "\"", "\\", "$HOME", "a\nb", "'", "''"})
    EXPECT_THAT(*split_words(shell_word(word)), ElementsAre(word));
}

TEST(Words, CommasInQuotesSeparateNothing) {
  EXPECT_THAT(split_items("fatpoint,,briggs"), ElementsAre("fatpoint", "briggs"));
  EXPECT_THAT(split_items(""), IsEmpty());
  EXPECT_THAT(split_items("exec:a.py x,briggs"), ElementsAre("exec:a.py x", "briggs"));
  EXPECT_THAT(split_items("exec:'a.py 1,2',briggs"), ElementsAre("exec:'a.py 1,2'", "briggs"));
  EXPECT_THAT(split_items(R"(exec:a.py "1,2" 3\,4,briggs)"), ElementsAre(R"(exec:a.py "1,2" 3\,4)", "briggs"));
}

TEST(Words, QuotesAroundACommandAreTakenOff) {
  EXPECT_EQ(name_of_item("briggs"), "briggs");
  EXPECT_EQ(name_of_item("exec:a.py '1,2'"), "exec:a.py '1,2'");
  EXPECT_EQ(name_of_item("exec:'a.py 1,2'"), "exec:a.py 1,2");
  EXPECT_EQ(name_of_item("copyprop+exec:\"a.py '1,2'\""), "copyprop+exec:a.py '1,2'");
  EXPECT_EQ(name_of_item("exec:'a' 'b'"), "exec:'a' 'b'");
  EXPECT_EQ(name_of_item("exec:'a"), "exec:'a") << "what is wrong with it is said where it is run";
  for (const char* name : {"briggs", "copyprop+briggs", "exec:a b", "exec:a.py 1,2", "exec:a.py '1,2'", "copyprop+exec:a 1,2",
                           "exec:'/my dir/a'", R"(exec:a "\",\\" 'x', y)", "exec:", "exec:a+b"}) {
    const std::string item = item_of_name(name);
    EXPECT_THAT(split_items("x," + item + ",y"), ElementsAre("x", item, "y")) << name;
    EXPECT_EQ(name_of_item(item), name);
  }
}

TEST(Words, ACommandBeginsBehindExecAndPasses) {
  EXPECT_EQ(command_in("exec:a"), 5u);
  EXPECT_EQ(command_in("copyprop+exec:a+b"), 14u);
  EXPECT_EQ(command_in("copyprop+briggs"), std::string_view::npos);
  EXPECT_EQ(command_in("briggs"), std::string_view::npos);
}

}  // namespace
}  // namespace regduel::duel
