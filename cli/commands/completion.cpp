// regduel completion, regduel man: the table of the commands for shells and for man(1).

#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/manual.h"
#include "cli/suggestion.h"

namespace regduel::cli {

Action declare_completion(Arguments& a) {
  auto shell = std::make_shared<std::string>();
  a.option("shell", shell.get(), "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  a.footer("Example:  source <(regduel completion bash)");
  return [shell] {
    fmt::print("{}", completion(*shell));
    return 0;
  };
}

Action declare_man(Arguments& a) {
  auto name = std::make_shared<std::string>();
  a.option("of", name.get(), "A command (default: the page of the program)");
  a.footer("Example:  regduel man duel | man -l -");
  return [name] {
    const Command* const command = find_command(*name);
    if (command == nullptr && !name->empty()) {
      std::vector<std::string_view> names;
      for (const Command& c : commands()) names.push_back(c.name);
      throw BadInput(fmt::format("no command \"{}\"{}", *name, did_you_mean(*name, names)));
    }
    fmt::print("{}", man_page(command));
    return 0;
  };
}

}  // namespace regduel::cli
