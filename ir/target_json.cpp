// Targets from JSON (FORMAT.md, "Targets"). See target.h.

#include <algorithm>
#include <charconv>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/target.h"

namespace regduel::ir {
namespace {

using nlohmann::json;
using Done = std::expected<void, SourceError>;

// "R4" or "R4:R7"; with predicate halves also "P1.lo", and "P1" is both halves.
std::optional<PReg> parse_units(std::string_view s, bool predicate_halves) {
  const auto one = [&](std::string_view text) -> std::optional<PReg> {
    std::size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'A' && text[letters] <= 'Z') ++letters;
    const auto file = file_from_name(text.substr(0, letters));
    int number = -1;
    const auto [end, error] = std::from_chars(text.data() + letters, text.data() + text.size(), number);
    if (!file || error != std::errc() || number < 0 || number >= kMaxUnits) return std::nullopt;
    const PReg r = register_of(*file, number, predicate_halves);
    const std::string_view part = text.substr(static_cast<std::size_t>(end - text.data()));
    if (r.end() > kMaxUnits || (!part.empty() && r.count != 2)) return std::nullopt;
    if (part.empty()) return r;
    if (part != ".lo" && part != ".hi") return std::nullopt;
    const int unit = r.begin() + (part == ".hi" ? 1 : 0);
    return PReg{*file, 1, static_cast<std::uint16_t>(unit)};
  };
  const std::size_t colon = s.find(':');
  const auto first = one(s.substr(0, colon));
  if (!first || colon == std::string_view::npos) return first;
  const auto last = one(s.substr(colon + 1));
  if (!last || last->file != first->file || last->first < first->first || last->end() - first->first > 255) return std::nullopt;
  return PReg{first->file, static_cast<std::uint8_t>(last->end() - first->first), first->first};
}

// Line and column of a byte offset, both 1-based.
std::pair<int, int> place_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t newline = before.rfind('\n');
  return {line, static_cast<int>(newline == std::string_view::npos ? offset : offset - newline - 1) + 1};
}

bool read_custom_constraints(const json& list, bool predicate_halves, std::vector<CustomConstraint>& out) {
  if (!list.is_array()) return false;
  const auto number = [](const json& item, const char* key, int fallback, int low, int high) -> std::optional<int> {
    if (!item.contains(key)) return fallback;
    const json& value = item[key];
    if (!value.is_number_integer() || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) return std::nullopt;
    return value.get<int>();
  };
  for (const json& item : list) {
    if (!item.is_object()) return false;
    for (const auto& [key, value] : item.items())
      if (key != "type" && key != "operation" && key != "registers" && key != "step" && key != "weight") return false;
    const auto type = number(item, "type", 4, 4, 10), step = number(item, "step", 1, 1, 255),
               weight = number(item, "weight", 1, 1, 15);
    if (!type || (*type != 4 && *type != 9 && *type != 10) || !step || !weight) return false;
    if (!item.contains("operation") || !item["operation"].is_string() || !item.contains("registers") ||
        !item["registers"].is_string())
      return false;
    const auto registers = parse_units(item["registers"].get<std::string>(), predicate_halves);
    if (!registers) return false;
    out.push_back({*type, item["operation"].get<std::string>(), *registers, *step, *weight});
  }
  return true;
}

class TargetReader {
 public:
  TargetReader(std::string_view text, std::string_view file_name) : text_(text), file_(file_name) { t_.units = {}; }

  Parsed<Target> run() {
    for (const auto step : {&TargetReader::parse, &TargetReader::naming, &TargetReader::other_keys, &TargetReader::registers_exist})
      if (Done done = (this->*step)(); !done) return std::unexpected(std::move(done.error()));
    return std::move(t_);
  }

 private:
  [[nodiscard]] std::unexpected<SourceError> fail(std::string message, int line = 0, int column = 0) const {
    return std::unexpected(SourceError{std::string(file_), line, column, std::move(message)});
  }
  // The error for valid JSON that is no valid target. Its place is the first mention of the key.
  [[nodiscard]] std::unexpected<SourceError> fail_at(const std::string& key, std::string message) const {
    const std::size_t offset = text_.find('"' + key + '"');
    if (offset == std::string_view::npos) return fail(std::move(message));
    const auto [line, column] = place_of(text_, offset);
    return fail(std::move(message), line, column);
  }

  Done parse() {
    try {
      doc_ = json::parse(text_);
    } catch (const json::parse_error& e) {
      const auto [line, column] = place_of(text_, e.byte > 0 ? e.byte - 1 : 0);
      return fail("not valid JSON", line, column);
    } catch (const json::out_of_range& e) {
      // The number does not fit a double. what() quotes it, but the exception does not say where it stands.
      const std::string_view what = e.what();
      const std::size_t quote = std::min(what.find('\''), what.size() - 1);
      const std::string_view number = what.substr(quote + 1, what.rfind('\'') - quote - 1);
      const auto [line, column] = place_of(text_, std::min(text_.find(number), text_.size()));
      return fail(fmt::format("out of range: {}", number), line, column);
    }
    if (!doc_.is_object()) return fail("expected a JSON object", 1, 1);
    return {};
  }

  // Reads the keys that the others rely on: the names of registers, and the ABI that has both names unless "abis" says otherwise.
  Done naming() {
    if (!doc_.contains("name")) return fail("expected \"name\": a string", 1, 1);
    if (!doc_["name"].is_string()) return fail_at("name", "\"name\": expected a string");
    t_.name = doc_["name"].get<std::string>();
    if (doc_.contains("predicate_halves")) {
      if (!doc_["predicate_halves"].is_boolean())
        return fail_at("predicate_halves", "\"predicate_halves\": expected true or false");
      t_.predicate_halves = doc_["predicate_halves"].get<bool>();
    }
    if (!doc_.contains("abi")) return {};
    if (!doc_["abi"].is_object()) return fail_at("abi", "\"abi\": expected an object");
    const Done done = abi("abi", doc_["abi"], t_.abi(AbiName::Seed));
    t_.abi(AbiName::Cuda) = t_.abi(AbiName::Seed);
    return done;
  }

  Done other_keys() {
    for (const auto& [key, value] : doc_.items()) {
      if (key == "name" || key == "predicate_halves" || key == "abi") continue;
      const Done done = key == "units"                ? units(key, value)
                        : key == "reserved"           ? reserved(key, value)
                        : key == "custom_constraints" ? custom_constraints(key, value)
                        : key == "abis"               ? abis(key, value)
                                                      : number(key, value);
      if (!done) return done;
    }
    if (!doc_.contains("occupancy_x_min")) t_.occupancy_x_min = t_.registers_of_all_warps();
    if (!doc_.contains("occupancy_x_max")) t_.occupancy_x_max = t_.max_registers_per_thread;
    return {};
  }

  Done units(const std::string& key, const json& value) {
    if (!value.is_object()) return fail_at(key, "\"units\": expected an object, file name to number of units");
    for (const auto& [file_key, count] : value.items()) {
      const auto file = file_from_name(file_key);
      if (!file)
        return fail_at(file_key, fmt::format("\"units\": no register file \"{}\" (there are R, P, B, UR, UP, UB, ACC)", file_key));
      if (!count.is_number_integer() || count.get<std::int64_t>() < 0 || count.get<std::int64_t>() > kMaxUnits)
        return fail_at(file_key, fmt::format("\"units\": \"{}\": expected a number from 0 to {}", file_key, kMaxUnits));
      t_.units[index(*file)] = count.get<int>();
    }
    return {};
  }

  Done reserved(const std::string& key, const json& value) {
    if (!read_units(key, value, t_.reserved)) return fail_at(key, "\"reserved\": expected registers like [\"R0\", \"R4:R7\"]");
    return {};
  }

  Done custom_constraints(const std::string& key, const json& value) {
    if (!read_custom_constraints(value, t_.predicate_halves, t_.custom_constraints))
      return fail_at(
          key,
          "\"custom_constraints\": expected a list of {\"type\": 4, 9 or 10, \"operation\": NAME, \"registers\": \"R0:R15\", "
          "\"step\": 1 to 255, \"weight\": 1 to 15}");
    for (const CustomConstraint& c : t_.custom_constraints) named_.emplace_back(key, c.registers);
    return {};
  }

  Done abis(const std::string& key, const json& value) {
    if (!value.is_object()) return fail_at(key, "\"abis\": expected an object, \"seed\" and \"cuda\" to what \"abi\" has");
    for (const auto& [abi_key, object] : value.items()) {
      const auto named = abi_from_name(abi_key);
      if (!named) return fail_at(abi_key, fmt::format("\"abis\": unknown key \"{}\" (there are seed and cuda)", abi_key));
      if (!object.is_object()) return fail_at(abi_key, fmt::format("\"{}\": expected an object", abi_key));
      if (const Done done = abi(abi_key, object, t_.abi(*named)); !done) return done;
    }
    return {};
  }

  // Keys that the object lacks leave `to` as it is.
  Done abi(const std::string& path, const json& object, Abi& to) {
    for (const auto& [key, value] : object.items()) {
      if (key == "memory_through_r") {
        if (!value.is_boolean()) return fail_at(key, fmt::format("\"{}\": \"{}\": expected true or false", path, key));
        to.memory_through_r = value.get<bool>();
        continue;
      }
      if (key == "runtime_functions") {
        to.runtime_functions.clear();
        if (!value.is_array() || !std::all_of(value.begin(), value.end(), [](const auto& f) { return f.is_string(); }))
          return fail_at(key, fmt::format("\"{}\": \"{}\": expected names like [\"vprintf\"]", path, key));
        for (const auto& f : value) to.runtime_functions.push_back(f.template get<std::string>());
        continue;
      }
      std::vector<PReg> list;
      if (!read_units(key, value, list))
        return fail_at(key, fmt::format("\"{}\": \"{}\": expected registers like [\"R0:R7\"]", path, key));
      if ((key == "arguments" || key == "results") && list.size() != 1)
        return fail_at(key, fmt::format("\"{}\": \"{}\": expected one range", path, key));
      if (key == "arguments") to.arguments = list[0];
      else if (key == "results") to.results = list[0];
      else if (key == "callee_saved") to.callee_saved = list;
      else if (key == "clobbered") to.clobbered = list;
      else if (key == "reserved") to.reserved = list;
      else if (key == "runtime_clobbered") to.runtime_clobbered = list;
      else
        return fail_at(key, fmt::format("\"{}\": unknown key \"{}\" (there are arguments, results, callee_saved, clobbered, "
                                        "reserved, memory_through_r, runtime_functions, runtime_clobbered)",
                                        path, key));
    }
    return {};
  }

  Done number(const std::string& key, const json& value) {
    struct Row {
      const char* key;
      int Target::* member;
      int low, high;
    };
    static constexpr Row kRows[] = {
        {"sm", &Target::sm, 0, 999},
        {"registers_per_sm", &Target::registers_per_sm, 1, 1 << 24},
        {"register_granularity", &Target::register_granularity, 1, 1 << 16},
        {"max_warps_per_sm", &Target::max_warps_per_sm, 1, 1024},
        {"max_blocks_per_sm", &Target::max_blocks_per_sm, 1, 1024},
        {"max_registers_per_thread", &Target::max_registers_per_thread, 1, kMaxUnits},
        {"shared_bytes_per_sm", &Target::shared_bytes_per_sm, 0, 1 << 30},
        {"register_banks", &Target::register_banks, 1, 64},
        {"tensor_align_log2", &Target::tensor_align_log2, 0, 5},
        {"device_type", &Target::device_type, 0, 255},
        {"occupancy_x_min", &Target::occupancy_x_min, 0, 1 << 20},
        {"occupancy_x_max", &Target::occupancy_x_max, 0, 1 << 20},
    };
    const auto* const row = std::ranges::find_if(kRows, [&](const Row& r) { return key == r.key; });
    if (row == std::end(kRows)) return fail_at(key, fmt::format("unknown key \"{}\"", key));
    if (!value.is_number_integer() || value.get<std::int64_t>() < row->low || value.get<std::int64_t>() > row->high)
      return fail_at(key, fmt::format("\"{}\": expected a number from {} to {}", key, row->low, row->high));
    t_.*(row->member) = value.get<int>();
    return {};
  }

  bool read_units(const std::string& key, const json& list, std::vector<PReg>& out) {
    if (!list.is_array()) return false;
    for (const auto& item : list) {
      const auto r = item.is_string() ? parse_units(item.get<std::string>(), t_.predicate_halves) : std::nullopt;
      if (!r) return false;
      out.push_back(*r);
      named_.emplace_back(key, *r);
    }
    return true;
  }

  // The ends of the files are known only after all keys.
  Done registers_exist() {
    for (const auto& [key, r] : named_)
      if (r.end() > t_.units[index(r.file)])
        return fail_at(key, fmt::format("\"{}\": this target has no {}", key, to_string(r, t_.predicate_halves)));
    return {};
  }

  std::string_view text_, file_;
  json doc_;
  Target t_;
  std::vector<std::pair<std::string, PReg>> named_;  // registers, with the key under which they stand
};

}  // namespace

Parsed<Target> parse_target(std::string_view text, std::string_view file_name) { return TargetReader(text, file_name).run(); }

}  // namespace regduel::ir
