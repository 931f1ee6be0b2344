// The body of the fuzz target cli_args: the lines of the input are arguments. Whatever they are, the program reads them in good
// order; nothing is run. cli_args_target.cpp is what an engine calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace regduel::cli {

// What is wrong, as fuzz::FuzzTarget says it. Help and complaints go to stdout and stderr.
[[nodiscard]] std::optional<std::string> try_cli_args(std::span<const std::uint8_t> bytes);

}  // namespace regduel::cli
