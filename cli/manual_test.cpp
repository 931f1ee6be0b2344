// Pages and completions have all commands and all options, and shells and man take them.
#include "cli/manual.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/testing.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, EachCommandHasAPage) {
  EXPECT_THAT(man_page(nullptr), HasSubstr("regduel\\-duel"));
  for (const Command& c : commands()) {
    const std::string page = man_page(&c);
    EXPECT_THAT(page, StartsWith(fmt::format(".TH regduel\\-{} 1 ", c.name)));
    for (const OptionManual& o : manual_of(c).options) {
      EXPECT_FALSE(o.help.empty()) << c.name;
      EXPECT_TRUE(!o.is_option || !o.names.empty());
    }
    const std::vector<std::string> options = options_of(c);
    EXPECT_EQ(page.contains("\\fB\\-\\-json\\fR"), std::ranges::find(options, "--json") != options.end()) << c.name;
  }
  expect_complaint("man deul", "no command \"deul\" (did you mean \"duel\"?)");
}

TEST_F(Cli, ShellsAreTold) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = completion(shell);
    for (const Command& c : commands()) EXPECT_THAT(text, HasSubstr(c.name)) << shell;
    EXPECT_THAT(text, HasSubstr("metamorphic")) << shell;
    write(shell, text);
    if (std::system(fmt::format("command -v {} >/dev/null", shell).c_str()) == 0) {
      EXPECT_EQ(std::system(fmt::format("{} -n '{}'", shell, path(shell)).c_str()), 0) << shell;
    }
  }
  // What bash makes of "regduel duel --meta".
  const std::string ask = fmt::format(
      "bash -c 'source \"{}\"; COMP_WORDS=(regduel duel --meta); COMP_CWORD=2; _regduel; echo \"${{COMPREPLY[*]}}\"' > '{}'",
      path("bash"), path("said"));
  ASSERT_EQ(std::system(ask.c_str()), 0);
  EXPECT_EQ(read_file(path("said")).value(), "--metamorphic\n");
  expect_complaint("completion tcsh", "tcsh");
}

}  // namespace
}  // namespace regduel::cli
