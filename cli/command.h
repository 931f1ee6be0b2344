// The commands of the program, and the program: it reads the command line and runs the command that it names.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bad_input.h"
#include "cli/arguments.h"

namespace regduel::cli {

inline constexpr int kExitFinding = 1;       // a judge objected, an allocation is impossible
inline constexpr int kExitBadInput = 2;      // bad usage or bad input (BadInput)
inline constexpr int kExitInternal = 3;      // a bug of ours
inline constexpr int kExitInconclusive = 4;  // verify: nothing failed, and a judge gave up

// An Action runs a command whose arguments are read, and returns the exit status.
using Action = std::function<int()>;

// A row of the table of the commands (commands.inc).
struct Command {
  std::string_view name;
  std::string_view what;          // in one line
  Action (*declare)(Arguments&);  // declares the arguments
};
[[nodiscard]] std::span<const Command> commands();
[[nodiscard]] const Command* find_command(std::string_view name);  // null where there is none

// What the help of a command is made of, for manual pages and completions (manual.h).
struct OptionManual {
  std::vector<std::string> names;  // as one types them; of a positional argument none
  std::string value;               // the kind of its value, or the name of a positional argument
  std::string help;
  bool is_option = true, takes_value = false;
};
struct CommandManual {
  const Command& command;
  std::vector<OptionManual> options;  // without hidden ones
  std::string footer;
};
[[nodiscard]] CommandManual manual_of(const Command& command);
// The names of the options of a command, as one types them: "-o", "--output".
[[nodiscard]] std::vector<std::string> options_of(const Command& command);

#define REGDUEL_COMMAND(name, what) Action declare_##name(Arguments& a);
#include "cli/commands.inc"
#undef REGDUEL_COMMAND

// Version and commit: "0.1.0 (0123456789ab)", with a "+" where the sources had changes, "unknown" where they came without git.
[[nodiscard]] std::string_view program_version();

// A line on stderr about something that does not end the command, worded as an error or a warning is: "a.rir:1:1: error: ...".
void warn(const std::string& message);

// How run() was called, as a shell reads it: "regduel duel --random 500".
[[nodiscard]] std::string_view command_line();

// Whether the arguments name a command that could be run; what is wrong with them has been said on stderr. Runs nothing.
[[nodiscard]] bool is_command_line(int argc, const char* const* argv);
// The whole program: parses, runs, and turns what went wrong into one line on stderr and an exit status.
int run(int argc, const char* const* argv);
// The same for a program that has this one command, whose name is not among the arguments.
int run_alone(const Command& command, int argc, const char* const* argv);

}  // namespace regduel::cli
