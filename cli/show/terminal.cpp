// See terminal.h.
#include "cli/show/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace regduel::cli {
namespace {

constexpr int kLeastColumns = 20, kUsualColumns = 80;

std::string& color_asked_for() {
  static std::string when = "auto";
  return when;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

int columns_of(int fd) {
  const int asked = std::atoi(std::string(variable("COLUMNS")).c_str());
  if (asked >= kLeastColumns) return asked;
  winsize size = {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastColumns ? size.ws_col : 0;
}

int terminal_columns(int fd) {
  const int columns = columns_of(fd);
  return columns > 0 ? columns : kUsualColumns;
}

bool is_drawing_terminal() { return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb"; }

void set_color(const std::string& when) { color_asked_for() = when; }

bool has_colors(int fd) {
  if (color_asked_for() != "auto") return color_asked_for() == "always";
  if (!variable("NO_COLOR").empty()) return false;
  if (!variable("CLICOLOR_FORCE").empty() && variable("CLICOLOR_FORCE") != "0") return true;
  return ::isatty(fd) == 1 && variable("TERM") != "dumb";
}

}  // namespace regduel::cli
