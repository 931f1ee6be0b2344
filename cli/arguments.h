// Commands declare their options and positional arguments here. CLI11 reads the command line, and only arguments.cpp,
// help.h and command.cpp include it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace regduel::cli {

// Where the value of an option goes; it must live until the command ends.
using Variable = std::variant<std::string*, std::vector<std::string>*, std::vector<int>*, int*, std::int64_t*, std::uint64_t*,
                              double*, std::optional<std::int64_t>*>;

// Argument is an option or a positional argument that was declared, to be refined further.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(option) {}
  Argument& required();
  Argument& shows_default();  // in the help
  Argument& one_of(const std::vector<std::string>& words);
  Argument& between(int low, int high);
  Argument& between(double low, double high);
  Argument& at_least_zero();
  Argument& excludes(const Argument& other);
  Argument& type(const std::string& name);                        // as the help has it
  Argument& check(std::string (*complaint)(const std::string&));  // "" where the value will do
  Argument& hidden();

 private:
  CLI::Option& option_;
};

class Arguments {
 public:
  explicit Arguments(CLI::App& command) : command_(command) {}
  // names: "--long,-s" of an option, "name" of a positional argument. An option that fills a list takes one word each time that it
  // is given.
  Argument option(const std::string& names, Variable to, const std::string& help);
  Argument flag(const std::string& names, bool& to, const std::string& help);
  // --name or --name=WORD; without a word, `names` says which is meant: "--name{word}".
  Argument flag(const std::string& names, std::string& to, const std::string& help);
  // The text is the end of the help.
  void footer(const std::string& text);

 private:
  CLI::App& command_;
};

}  // namespace regduel::cli
