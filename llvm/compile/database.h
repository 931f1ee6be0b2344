// Compilation databases (compile_commands.json, which CMake, meson and bear write): which files there are, and what the compiler was told of each.
//
// Tested by database_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"

namespace regduel::llvm {

struct DatabaseEntry {
  std::string file;                    // absolute, where the database says its folder
  std::vector<std::string> arguments;  // those that say what the program is: -I, -D, -U, -isystem, -iquote, -include, -std, -f, -m
};
// Files of C and C++, in the order of the database, each once. Error: not the form of a compilation database.
[[nodiscard]] Parsed<std::vector<DatabaseEntry>> read_database(std::string_view text, std::string_view file_name = "");

}  // namespace regduel::llvm
