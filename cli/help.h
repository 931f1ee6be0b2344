// Help as the terminal has room for it: CLI11's texts, wrapped at the width of the terminal, at most 100 columns. Only command.cpp includes
// this. Tested by cli_test.cpp.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace regduel::cli {

[[nodiscard]] std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace regduel::cli
