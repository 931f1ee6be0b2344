// See help.h.
#include "cli/help.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli/show/output.h"
#include "cli/show/terminal.h"

namespace regduel::cli {
namespace {

constexpr int kMostColumns = 100;
constexpr std::size_t kNameColumns = 28;

class WrappedHelp : public CLI::Formatter {
 public:
  WrappedHelp() : columns_(std::min(terminal_columns(STDOUT_FILENO), kMostColumns)) { column_width(kNameColumns); }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), columns_);
  }
  std::string make_footer(const CLI::App* app) const override { return wrapped(CLI::Formatter::make_footer(app), columns_); }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return wrapped(CLI::Formatter::make_usage(app, std::move(name)), columns_);
  }

 private:
  // The name, and what it means in a column beside it; below it where the name is too long.
  [[nodiscard]] std::string entry(const std::string& name, const std::string& meaning) const {
    std::string out = "  " + name;
    std::istringstream lines(wrapped(meaning, columns_ - static_cast<int>(kNameColumns)));
    bool is_first = out.size() + 1 < kNameColumns;
    if (!is_first) out += '\n';
    for (std::string line; std::getline(lines, line);) {
      out += is_first ? std::string(kNameColumns - out.size(), ' ') : std::string(kNameColumns, ' ');
      out += line + '\n';
      is_first = false;
    }
    if (out.back() != '\n') out += '\n';
    return out;
  }

  int columns_;
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<WrappedHelp>(); }

}  // namespace regduel::cli
