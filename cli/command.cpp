#include "cli/command.h"

#include <algorithm>
#include <cstdio>
#include <expected>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/check_macro.h"
#include "duel/exec/words.h"
#include "version.h"

namespace regduel::cli {
namespace {

// A message may have the name of a file in it, and that any byte.
std::string printable(std::string_view s) {
  std::string text;
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F) text += fmt::format("\\x{:02x}", byte);
    else text += c;
  }
  return text;
}

int complain(const std::string& message, int status) {
  std::fputs(fmt::format("regduel: {}\n", printable(message)).c_str(), stderr);  // where that fails, the status still says it
  return status;
}

// CLI11 words its errors over several lines now and then.
std::string one_line(std::string s) {
  for (char& c : s)
    if (c == '\n' || c == '\r') c = ' ';
  while (!s.empty() && s.back() == ' ') s.pop_back();
  return s;
}

}  // namespace

std::string_view program_version() { return REGDUEL_VERSION; }

namespace {

constexpr Command kCommands[] = {
#define REGDUEL_COMMAND(name, what) {#name, what, declare_##name},
#include "cli/commands.inc"
#undef REGDUEL_COMMAND
};

std::string called_as;

std::string joined(int argc, const char* const* argv) {
  std::string line = "regduel";
  for (int k = 1; k < argc; ++k) line += " " + duel::shell_word(argv[k]);
  return line;
}

Action declared(const Command& command, CLI::App& app) {
  Arguments arguments(app);
  return command.declare(arguments);
}

// Reads the command line: what to do, or the status to end with, having said why.
std::expected<Action, int> read_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "regduel: differential testing of GPU register allocators.\n"
      "Programs in, two allocators (fatpoint, briggs), independent judges, a table out.",
      "regduel");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("regduel {}", program_version()));
  app.footer(
      "Exit status: 0 all well; 1 a finding; 2 bad usage or bad input; 3 an internal error; 4 (verify) no judge objects, one could "
      "not tell.\n"
      "Start with:  regduel duel --regs 24,32,64,255 corpus/ptx\n"
      "Each command explains itself:  regduel duel --help");
  Action chosen;
  std::vector<std::string_view> names;
  for (const Command& c : commands()) {
    CLI::App& command = *app.add_subcommand(std::string(c.name), std::string(c.what));
    command.callback([action = declared(c, command), &chosen] { chosen = action; });
    names.push_back(c.name);
  }
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(names, argv[1]) == names.end())
    return std::unexpected(
        complain(fmt::format("no command \"{}\" (there are {})", argv[1], fmt::join(names, ", ")), kExitBadInput));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    const int status = app.exit(e);
    std::cout.flush();
    if (!std::cout) return std::unexpected(complain("error: writing to standard output failed", kExitBadInput));
    return std::unexpected(status);
  } catch (const CLI::ParseError& e) {
    return std::unexpected(complain(one_line(e.what()) + " (see regduel --help)", kExitBadInput));
  }
  return chosen;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::vector<std::string> options_of(const Command& command) {
  CLI::App app;
  app.set_help_flag();
  static_cast<void>(declared(command, app));
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options([](const CLI::Option* o) { return o->nonpositional() && !o->get_group().empty(); })) {
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string_view command_line() { return called_as; }

bool is_command_line(int argc, const char* const* argv) { return read_command_line(argc, argv).has_value(); }

int run(int argc, const char* const* argv) {
  called_as = joined(argc, argv);
  const auto chosen = read_command_line(argc, argv);
  if (!chosen) return chosen.error();
  try {
    const int status = (*chosen)();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return complain("error: writing to standard output failed", kExitBadInput);
    return status;
  } catch (const BadInput& e) {
    return complain(e.what(), kExitBadInput);
  } catch (const InternalError& e) {
    return complain(fmt::format("internal error: {}", e.what()), kExitInternal);
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return complain("error: writing to standard output failed", kExitBadInput);
    return complain(fmt::format("internal error: {}", e.what()), kExitInternal);
  }
}

}  // namespace regduel::cli
