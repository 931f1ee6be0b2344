// See knobs.h.

#include "ir/knobs.h"

#include <charconv>

#include <fmt/format.h>

namespace regduel::ir {

bool read_knob(std::string_view text, KnobRange /*range*/, bool& value) {
  const bool is_on = text == "1" || text == "true" || text == "on";
  if (!is_on && text != "0" && text != "false" && text != "off") return false;
  value = is_on;
  return true;
}

bool read_knob(std::string_view text, KnobRange range, std::int64_t& value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < range.low || number > range.high) return false;
  value = number;
  return true;
}

bool read_knob(std::string_view text, KnobRange range, int& value) {
  std::int64_t number = value;
  if (!read_knob(text, range, number)) return false;
  value = static_cast<int>(number);
  return true;
}

std::string knob_words(KnobRange /*range*/, bool /*value*/) { return "bool"; }
std::string knob_words(KnobRange range, int value) { return knob_words(range, std::int64_t{value}); }
std::string knob_words(KnobRange range, std::int64_t /*value*/) { return fmt::format("int {} to {}", range.low, range.high); }
std::string knob_text(bool value) { return value ? "1" : "0"; }
std::string knob_text(int value) { return fmt::format("{}", value); }
std::string knob_text(std::int64_t value) { return fmt::format("{}", value); }

std::string unknown_knob(std::string_view owner, std::string_view name) {
  return fmt::format("{0} has no knob \"{1}\" (regduel knobs --with {0})", owner, name);
}

std::string bad_knob_value(std::string_view name, std::string_view expected, std::string_view found) {
  return fmt::format("knob {}: expected {}, found \"{}\"", name, expected, found);
}

bool is_called(const KnobInfo& knob, std::string_view name) {
  return knob.name == name || (knob.id >= 0 && fmt::format("{}", knob.id) == name);
}

}  // namespace regduel::ir
