#include "cli/command.h"

#include <algorithm>
#include <cstdio>
#include <expected>
#include <iostream>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/check_macro.h"
#include "cli/help.h"
#include "cli/show/json.h"
#include "cli/show/terminal.h"
#include "cli/suggestion.h"
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

// "a.rir:4:11: error: ..." and "a.rir: error: ..." begin with their place, as compilers have it; all others with the program's name.
std::string with_place(const std::string& message) {
  if (const std::size_t at = message.find(": error: ");
      at != std::string::npos && at < message.find('\n') && !message.starts_with('-'))
    return message;
  const bool has_kind =
      message.starts_with("error: ") || message.starts_with("internal error: ") || message.starts_with("warning: ");
  return fmt::format("regduel: {}{}", has_kind ? "" : "error: ", message);
}

// The parts of "FILE:LINE:COLUMN: error: MESSAGE", or those that are there.
Json error_json(const std::string& said, int status) {
  const std::string first = said.substr(0, said.find('\n'));
  const std::size_t at = first.find(": error: ");
  Json place = nullptr, line = nullptr, column = nullptr;
  std::string message = first;
  if (at != std::string::npos && !first.starts_with("regduel: ")) {
    static const std::regex numbers("^(.*?):([0-9]+)(?::([0-9]+))?$");
    std::string before = first.substr(0, at);
    message = first.substr(at + 9);
    if (std::smatch m; std::regex_match(before, m, numbers)) {
      line = std::stoll(m[2]);
      if (m[3].matched) column = std::stoll(m[3]);
      before = m[1];
    }
    place = before;
  } else if (first.starts_with("regduel: error: ")) {
    message = first.substr(16);
  }
  return {{"error", {{"file", place}, {"line", line}, {"column", column}, {"message", message}, {"status", status}}}};
}

bool wants_json = false;  // --json is among the arguments: what goes wrong is told as a document as well

int complain(const std::string& message, int status) {
  const std::string said = printable(with_place(message));
  std::fputs((said + (said.ends_with('\n') ? "" : "\n")).c_str(), stderr);  // where that fails, the status still says it
  if (wants_json) std::fputs(error_json(said, status).text().c_str(), stdout);
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

std::span<const Command> all_commands = kCommands;
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

void describe_program(CLI::App& app) {
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help message and exit");
  app.set_help_all_flag("--help-all", "Help of all commands");
  app.set_version_flag("--version,-V", fmt::format("regduel {}", program_version()));
  app.add_option_function<std::string>("--color", set_color, "Colours: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}));
  app.fallthrough();
  app.formatter(help_formatter());
  app.footer(
      "Exit status: 0 all well; 1 a finding; 2 bad usage or bad input; 3 an internal error; 4 (verify) no judge objects, one could "
      "not tell.\n"
      "Start with:  regduel duel --regs 24,32,64,255 corpus/ptx\n"
      "Each command explains itself:  regduel duel --help");
}

// What CLI11 did not like, in a line that names the command, and what may have been meant.
std::string worded(const CLI::ParseError& e, const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : " " + chosen.front()->get_name();
  const std::string see = fmt::format(" (see regduel{} --help)", command);
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && !chosen.empty()) {
    std::string word = app.remaining(true).front();
    if (word.starts_with("--")) word = word.substr(0, word.find('='));
    const bool is_option = word.starts_with('-');
    const std::vector<std::string> known = options_of(*find_command(chosen.front()->get_name()));
    return fmt::format("{}: no {} \"{}\"{}{}", chosen.front()->get_name(), is_option ? "option" : "such argument", word,
                       is_option ? did_you_mean(word, known) : "", see);
  }
  return fmt::format("{}{}{}", chosen.empty() ? "" : chosen.front()->get_name() + ": ", one_line(e.what()), see);
}

// Reads the command line: what to do, or the status to end with, having said why.
std::expected<Action, int> read_command_line(std::vector<std::string> words) {
  CLI::App app(
      "regduel: differential testing of GPU register allocators.\n"
      "Programs in, two allocators (fatpoint, briggs), independent judges, a table out.",
      "regduel");
  describe_program(app);
  Action chosen;
  std::vector<std::string_view> names;
  for (const Command& c : commands()) {
    CLI::App& command = *app.add_subcommand(std::string(c.name), std::string(c.what));
    command.callback([action = declared(c, command), &chosen] { chosen = action; });
    names.push_back(c.name);
  }
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return std::unexpected(complain("no command is given (see above)", kExitBadInput));
  }
  if (words[0] == "help") {  // as git has it
    words.erase(words.begin());
    if (!words.empty() && words.back().starts_with('-')) words.pop_back();
    words.emplace_back("--help");
  }
  if (words[0][0] != '-' && std::ranges::find(names, words[0]) == names.end())
    return std::unexpected(
        complain(fmt::format("no command \"{}\"{} (there are {})", words[0], did_you_mean(words[0], names), fmt::join(names, ", ")),
                 kExitBadInput));
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::Success& e) {
    const int status = app.exit(e);
    std::cout.flush();
    if (!std::cout) return std::unexpected(complain("error: writing to standard output failed", kExitBadInput));
    return std::unexpected(status);
  } catch (const CLI::ParseError& e) {
    return std::unexpected(complain(worded(e, app), kExitBadInput));
  }
  return chosen;
}

}  // namespace

std::span<const Command> commands() { return all_commands; }

const Command* find_command(std::string_view name) {
  const auto at = std::ranges::find(commands(), name, &Command::name);
  return at == commands().end() ? nullptr : &*at;
}

CommandManual manual_of(const Command& command) {
  CLI::App app;
  app.set_help_flag();
  static_cast<void>(declared(command, app));
  CommandManual manual{command, {}, app.get_footer()};
  for (const CLI::Option* o : app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); })) {
    OptionManual option{{},
                        o->nonpositional() ? o->get_type_name() : o->get_name(),
                        o->get_description(),
                        o->nonpositional(),
                        o->get_items_expected_max() > 0 && o->get_expected_min() > 0};
    for (const std::string& name : o->get_snames()) option.names.push_back("-" + name);
    for (const std::string& name : o->get_lnames()) option.names.push_back("--" + name);
    manual.options.push_back(std::move(option));
  }
  return manual;
}

std::vector<std::string> options_of(const Command& command) {
  std::vector<std::string> names;
  for (const OptionManual& o : manual_of(command).options)
    if (o.is_option) names.insert(names.end(), o.names.begin(), o.names.end());
  return names;
}

void warn(const std::string& message) { std::fputs((printable(with_place(message)) + "\n").c_str(), stderr); }

std::string_view command_line() { return called_as; }

bool is_command_line(int argc, const char* const* argv) {
  return read_command_line({argv + std::min(argc, 1), argv + argc}).has_value();
}

namespace {

int run_words(std::vector<std::string> words) {
  wants_json = std::ranges::find(words, "--json") != words.end();
  const auto chosen = read_command_line(std::move(words));
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

}  // namespace

int run(int argc, const char* const* argv) {
  called_as = joined(argc, argv);
  return run_words({argv + std::min(argc, 1), argv + argc});
}

int run_alone(const Command& command, int argc, const char* const* argv) {
  called_as = joined(argc, argv);
  all_commands = std::span(&command, 1);
  std::vector<std::string> words = {std::string(command.name)};
  words.insert(words.end(), argv + std::min(argc, 1), argv + argc);
  return run_words(std::move(words));
}

}  // namespace regduel::cli
