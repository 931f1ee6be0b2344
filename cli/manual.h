// Manual pages and shell completions, made of the table of the commands and of what each declares. Tested by manual_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace regduel::cli {

// A page of section 1 for man(1): of the program where `command` is null. Deterministic; there is no date in it.
[[nodiscard]] std::string man_page(const Command* command);

//   shell   bash, zsh or fish
[[nodiscard]] std::string completion(std::string_view shell);

}  // namespace regduel::cli
