// See arguments.h.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

namespace regduel::cli {
namespace {

// CLI11 takes 010 for eight.
std::string complaint_about_octal(const std::string& s) {
  const std::size_t digits = s.starts_with('-') ? 1 : 0;
  return s.size() > digits + 1 && s[digits] == '0' ? s + " is no decimal number" : "";
}

}  // namespace

Argument& Argument::required() {
  option_.required();
  return *this;
}
Argument& Argument::shows_default() {
  option_.capture_default_str();
  return *this;
}
Argument& Argument::one_of(const std::vector<std::string>& words) {
  option_.check(CLI::IsMember(words));
  return *this;
}
Argument& Argument::between(int low, int high) {
  option_.check(CLI::Range(low, high));
  return *this;
}
Argument& Argument::between(double low, double high) {
  option_.check(CLI::Range(low, high));
  return *this;
}
Argument& Argument::at_least_zero() {
  option_.check(CLI::NonNegativeNumber);
  return *this;
}
Argument& Argument::excludes(const Argument& other) {
  option_.excludes(&other.option_);
  return *this;
}
Argument& Argument::type(const std::string& name) {
  option_.type_name(name);
  return *this;
}
Argument& Argument::check(std::string (*complaint)(const std::string&)) {
  option_.check(complaint);
  return *this;
}
Argument& Argument::hidden() {
  option_.group("");
  return *this;
}

Argument Arguments::option(const std::string& names, Variable to, const std::string& help) {
  CLI::Option* const option = std::visit(
      [&]<class Value>(Value* value) {
        CLI::Option* const o = command_.add_option(names, *value, help);
        if constexpr (requires { value->push_back({}); })
          if (names.starts_with('-') && !std::is_same_v<Value, std::string>) o->allow_extra_args(false);
        if constexpr (std::is_same_v<Value, std::vector<int>>) o->delimiter(',');
        if constexpr (std::is_integral_v<Value> || std::is_same_v<Value, std::optional<std::int64_t>> ||
                      std::is_same_v<Value, std::vector<int>>)
          o->check(complaint_about_octal, "");
        return o;
      },
      to);
  return Argument(*option);
}
Argument Arguments::flag(const std::string& names, bool& to, const std::string& help) {
  return Argument(*command_.add_flag(names, to, help));
}
Argument Arguments::flag(const std::string& names, std::string& to, const std::string& help) {
  return Argument(*command_.add_flag(names, to, help));
}
void Arguments::footer(const std::string& text) { command_.footer(text); }

}  // namespace regduel::cli
