#include "ir/target.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace regduel::ir {
namespace {

struct SmRow {
  int sm;
  int max_warps, max_blocks, shared_kib;
  int tensor_align_log2;  // source 003: 8 / 4 / 8 / 8 for 70-75 / 80-89 / 90 / 100 and up
  int device_type;
  int acc_units;  // tensor memory columns: a file of its own from sm_100 on datacentre parts
};
// Occupancy limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr SmRow kRows[] = {
    {70, 64, 32, 96, 3, 4, 0},     {75, 32, 16, 64, 3, 4, 0},   {80, 64, 32, 164, 2, 4, 0},    {86, 48, 16, 100, 2, 4, 0},
    {89, 48, 24, 100, 2, 4, 0},    {90, 64, 32, 228, 3, 5, 0},  {100, 64, 32, 228, 3, 5, 512}, {103, 64, 32, 228, 3, 5, 512},
    {110, 48, 24, 228, 3, 5, 512}, {120, 48, 24, 100, 3, 5, 0}, {121, 48, 24, 100, 3, 5, 0},
};

PReg units(RegFile f, int first, int last) {
  return PReg{f, static_cast<std::uint8_t>(last - first + 1), static_cast<std::uint16_t>(first)};
}

Abi seed_abi(bool has_uniform) {
  Abi abi;
  abi.callee_saved = {units(RegFile::R, 24, 31)};
  abi.clobbered = {units(RegFile::R, 0, 23), units(RegFile::R, 32, 254), units(RegFile::P, 0, 6)};
  if (has_uniform) {
    abi.clobbered.push_back(units(RegFile::UR, 0, 62));
    abi.clobbered.push_back(units(RegFile::UP, 0, 6));
  }
  return abi;
}

// What ptxas does, by scripts/measure/abi-experiment: a function keeps R2, R16 to R31 and from R36 on the upper four of each eight; R20:R21
// is the return address, which the caller writes; no predicate is kept; of UR the upper part is. From sm_80 on the functions of the
// runtime keep all from R16 on. Not measured: sm_70 (like sm_75), and units above the last that ptxas gives out (R253, R254, UR62
// up to sm_90), which go with their neighbours.
Abi cuda_abi(int sm) {
  Abi abi;
  abi.arguments = abi.results = units(RegFile::R, 4, 15);
  abi.fills_gaps = true;
  abi.callee_saved = {units(RegFile::R, 2, 2), units(RegFile::R, 16, 31)};
  abi.clobbered = {units(RegFile::R, 0, 1), units(RegFile::R, 3, 15), units(RegFile::R, 20, 21)};
  abi.runtime_clobbered = abi.clobbered;
  for (int low = 32; low < 255; low += 8) {
    abi.clobbered.push_back(units(RegFile::R, low, low + 3));
    abi.callee_saved.push_back(units(RegFile::R, low + 4, std::min(low + 7, 254)));
  }
  std::vector<PReg> others = {units(RegFile::P, 0, 6)};
  if (sm >= 75) {
    abi.callee_saved.push_back(units(RegFile::UR, 36, 62));
    others.push_back(units(RegFile::UR, 0, 35));
    others.push_back(units(RegFile::UP, 0, 6));
  }
  abi.clobbered.insert(abi.clobbered.end(), others.begin(), others.end());
  abi.runtime_clobbered.insert(abi.runtime_clobbered.end(), others.begin(), others.end());
  if (sm >= 80) abi.runtime_functions = {"vprintf", "malloc", "free", "__assertfail"};
  return abi;
}

// The range of registers over which they decide how many warps an SM holds: the most with which it holds all, and the most that
// there are.
int registers_of_all_warps(const Target& t) {
  const int of_warp = t.registers_per_sm / t.max_warps_per_sm / t.register_granularity * t.register_granularity;
  return std::min(of_warp / 32, t.max_registers_per_thread);
}

Target make_target(const SmRow& row) {
  Target t;
  t.name = fmt::format("sm_{}", row.sm);
  t.sm = row.sm;
  t.units[index(RegFile::R)] = 255;
  t.units[index(RegFile::P)] = 7;
  t.units[index(RegFile::B)] = 16;
  if (row.sm >= 75) {  // the uniform datapath came with Turing
    t.units[index(RegFile::UR)] = 63;
    t.units[index(RegFile::UP)] = 7;
    t.units[index(RegFile::UB)] = 16;
  }
  t.units[index(RegFile::Acc)] = row.acc_units;
  t.abi(AbiName::Seed) = seed_abi(row.sm >= 75);
  t.abi(AbiName::Cuda) = cuda_abi(row.sm);
  t.max_warps_per_sm = row.max_warps;
  t.max_blocks_per_sm = row.max_blocks;
  t.shared_bytes_per_sm = row.shared_kib * 1024;
  t.register_banks = row.sm == 70 ? 2 : 4;
  t.tensor_align_log2 = row.tensor_align_log2;
  t.device_type = row.device_type;
  t.occupancy_x_min = registers_of_all_warps(t);
  t.occupancy_x_max = t.max_registers_per_thread;
  return t;
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> list = [] {
    std::vector<Target> result;
    for (const SmRow& row : kRows) result.push_back(make_target(row));
    return result;
  }();
  return list;
}

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
    return units(*file, unit, unit);
  };
  const std::size_t colon = s.find(':');
  const auto first = one(s.substr(0, colon));
  if (!first || colon == std::string_view::npos) return first;
  const auto last = one(s.substr(colon + 1));
  if (!last || last->file != first->file || last->first < first->first || last->end() - first->first > 255) return std::nullopt;
  return units(first->file, first->first, last->end() - 1);
}

// Line and column of a byte offset, both 1-based.
std::pair<int, int> place_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t newline = before.rfind('\n');
  return {line, static_cast<int>(newline == std::string_view::npos ? offset : offset - newline - 1) + 1};
}

bool read_custom_constraints(const nlohmann::json& list, bool predicate_halves, std::vector<CustomConstraint>& out) {
  if (!list.is_array()) return false;
  const auto number = [](const nlohmann::json& item, const char* key, int fallback, int low, int high) -> std::optional<int> {
    if (!item.contains(key)) return fallback;
    const nlohmann::json& value = item[key];
    if (!value.is_number_integer() || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) return std::nullopt;
    return value.get<int>();
  };
  for (const nlohmann::json& item : list) {
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

}  // namespace

std::span<const Target> targets() { return all_targets(); }

const Target* find_target(std::string_view name) {
  if (name.starts_with("sm_")) name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  int sm = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sm);
  if (error != std::errc() || end != name.data() + name.size()) return nullptr;
  for (const Target& t : all_targets())
    if (t.sm == sm) return &t;
  return nullptr;
}

const Target& default_target() { return *find_target("sm_90"); }

Limits Limits::of(const Target& t) {
  Limits l;
  l.units = t.units;
  return l;
}

Limits Limits::of(const Target& t, int registers) {
  Limits l = of(t);
  l.units[index(RegFile::R)] = std::min(registers, t.units[index(RegFile::R)]);
  return l;
}

Parsed<Target> parse_target(std::string_view json, std::string_view file_name) {
  const auto fail = [&](std::string message, int line = 0, int column = 0) {
    return std::unexpected(SourceError{std::string(file_name), line, column, std::move(message)});
  };
  nlohmann::json doc;
  try {
    doc = nlohmann::json::parse(json);
  } catch (const nlohmann::json::parse_error& e) {
    const auto [line, column] = place_of(json, e.byte > 0 ? e.byte - 1 : 0);
    return fail("not valid JSON", line, column);
  } catch (const nlohmann::json::out_of_range& e) {
    // Of a number that no double holds: what() quotes it, and nothing says where it stands.
    const std::string_view what = e.what();
    const std::size_t quote = std::min(what.find('\''), what.size() - 1);
    const std::string_view number = what.substr(quote + 1, what.rfind('\'') - quote - 1);
    const auto [line, column] = place_of(json, std::min(json.find(number), json.size()));
    return fail(fmt::format("out of range: {}", number), line, column);
  }
  // The place of a key, for what is valid JSON but no valid target: the first mention of the key.
  const auto fail_at = [&](const std::string& key, std::string message) {
    const std::size_t offset = json.find('"' + key + '"');
    if (offset == std::string_view::npos) return fail(std::move(message));
    const auto [line, column] = place_of(json, offset);
    return fail(std::move(message), line, column);
  };
  if (!doc.is_object()) return fail("expected a JSON object", 1, 1);
  if (!doc.contains("name")) return fail("expected \"name\": a string", 1, 1);
  if (!doc["name"].is_string()) return fail_at("name", "\"name\": expected a string");

  Target t;
  t.name = doc["name"].get<std::string>();
  t.units = {};
  struct IntKey {
    const char* key;
    int* value;
    int low, high;
  };
  const IntKey ints[] = {
      {"sm", &t.sm, 0, 999},
      {"registers_per_sm", &t.registers_per_sm, 1, 1 << 24},
      {"register_granularity", &t.register_granularity, 1, 1 << 16},
      {"max_warps_per_sm", &t.max_warps_per_sm, 1, 1024},
      {"max_blocks_per_sm", &t.max_blocks_per_sm, 1, 1024},
      {"max_registers_per_thread", &t.max_registers_per_thread, 1, kMaxUnits},
      {"shared_bytes_per_sm", &t.shared_bytes_per_sm, 0, 1 << 30},
      {"register_banks", &t.register_banks, 1, 64},
      {"tensor_align_log2", &t.tensor_align_log2, 0, 5},
      {"device_type", &t.device_type, 0, 255},
      {"occupancy_x_min", &t.occupancy_x_min, 0, 1 << 20},
      {"occupancy_x_max", &t.occupancy_x_max, 0, 1 << 20},
  };
  // Before all others: it says how registers are named.
  if (doc.contains("predicate_halves")) {
    if (!doc["predicate_halves"].is_boolean()) return fail_at("predicate_halves", "\"predicate_halves\": expected true or false");
    t.predicate_halves = doc["predicate_halves"].get<bool>();
  }
  std::vector<std::pair<std::string, PReg>> named;  // with the key under which it stands; where the files end is known only later
  const auto read_units = [&](const std::string& key, const nlohmann::json& list, std::vector<PReg>& out) {
    if (!list.is_array()) return false;
    for (const auto& item : list) {
      const auto r = item.is_string() ? parse_units(item.get<std::string>(), t.predicate_halves) : std::nullopt;
      if (!r) return false;
      out.push_back(*r);
      named.emplace_back(key, *r);
    }
    return true;
  };
  // An ABI from an object; what it does not say stays as it is in `abi`. An error, or null.
  const auto read_abi = [&](const std::string& path, const nlohmann::json& object, Abi& abi) -> std::optional<SourceError> {
    for (const auto& [key, value] : object.items()) {
      if (key == "runtime_functions") {
        abi.runtime_functions.clear();
        if (!value.is_array() || !std::all_of(value.begin(), value.end(), [](const auto& f) { return f.is_string(); }))
          return fail_at(key, fmt::format("\"{}\": \"{}\": expected names like [\"vprintf\"]", path, key)).error();
        for (const auto& f : value) abi.runtime_functions.push_back(f.template get<std::string>());
        continue;
      }
      std::vector<PReg> list;
      if (!read_units(key, value, list))
        return fail_at(key, fmt::format("\"{}\": \"{}\": expected registers like [\"R0:R7\"]", path, key)).error();
      if ((key == "arguments" || key == "results") && list.size() != 1)
        return fail_at(key, fmt::format("\"{}\": \"{}\": expected one range", path, key)).error();
      if (key == "arguments") abi.arguments = list[0];
      else if (key == "results") abi.results = list[0];
      else if (key == "callee_saved") abi.callee_saved = list;
      else if (key == "clobbered") abi.clobbered = list;
      else if (key == "runtime_clobbered") abi.runtime_clobbered = list;
      else
        return fail_at(key, fmt::format("\"{}\": unknown key \"{}\" (there are arguments, results, callee_saved, clobbered, "
                                        "runtime_functions, runtime_clobbered)",
                                        path, key))
            .error();
    }
    return std::nullopt;
  };
  // Before those: a target that describes one ABI has it under both names, unless "abis" says otherwise.
  if (doc.contains("abi")) {
    if (!doc["abi"].is_object()) return fail_at("abi", "\"abi\": expected an object");
    if (auto error = read_abi("abi", doc["abi"], t.abi(AbiName::Seed))) return std::unexpected(std::move(*error));
    t.abi(AbiName::Cuda) = t.abi(AbiName::Seed);
  }
  for (const auto& [key, value] : doc.items()) {
    if (key == "name" || key == "predicate_halves" || key == "abi") continue;
    if (key == "units") {
      if (!value.is_object()) return fail_at(key, "\"units\": expected an object, file name to number of units");
      for (const auto& [file_key, count] : value.items()) {
        const auto file = file_from_name(file_key);
        if (!file)
          return fail_at(file_key,
                         fmt::format("\"units\": no register file \"{}\" (there are R, P, B, UR, UP, UB, ACC)", file_key));
        if (!count.is_number_integer() || count.get<std::int64_t>() < 0 || count.get<std::int64_t>() > kMaxUnits)
          return fail_at(file_key, fmt::format("\"units\": \"{}\": expected a number from 0 to {}", file_key, kMaxUnits));
        t.units[index(*file)] = count.get<int>();
      }
    } else if (key == "reserved") {
      if (!read_units(key, value, t.reserved)) return fail_at(key, "\"reserved\": expected registers like [\"R0\", \"R4:R7\"]");
    } else if (key == "custom_constraints") {
      if (!read_custom_constraints(value, t.predicate_halves, t.custom_constraints))
        return fail_at(
            key,
            "\"custom_constraints\": expected a list of {\"type\": 4, 9 or 10, \"operation\": NAME, \"registers\": \"R0:R15\", "
            "\"step\": 1 to 255, \"weight\": 1 to 15}");
      for (const CustomConstraint& c : t.custom_constraints) named.emplace_back(key, c.registers);
    } else if (key == "abis") {
      if (!value.is_object()) return fail_at(key, "\"abis\": expected an object, \"seed\" and \"cuda\" to what \"abi\" has");
      for (const auto& [abi_key, object] : value.items()) {
        const auto abi = abi_from_name(abi_key);
        if (!abi) return fail_at(abi_key, fmt::format("\"abis\": unknown key \"{}\" (there are seed and cuda)", abi_key));
        if (!object.is_object()) return fail_at(abi_key, fmt::format("\"{}\": expected an object", abi_key));
        if (auto error = read_abi(abi_key, object, t.abi(*abi))) return std::unexpected(std::move(*error));
      }
    } else {
      const auto known = std::find_if(std::begin(ints), std::end(ints), [&](const IntKey& k) { return key == k.key; });
      if (known == std::end(ints)) return fail_at(key, fmt::format("unknown key \"{}\"", key));
      if (!value.is_number_integer() || value.get<std::int64_t>() < known->low || value.get<std::int64_t>() > known->high)
        return fail_at(key, fmt::format("\"{}\": expected a number from {} to {}", key, known->low, known->high));
      *known->value = value.get<int>();
    }
  }
  if (!doc.contains("occupancy_x_min")) t.occupancy_x_min = registers_of_all_warps(t);
  if (!doc.contains("occupancy_x_max")) t.occupancy_x_max = t.max_registers_per_thread;
  for (const auto& [key, r] : named)
    if (r.end() > t.units[index(r.file)])
      return fail_at(key, fmt::format("\"{}\": this target has no {}", key, to_string(r, t.predicate_halves)));
  return t;
}

}  // namespace regduel::ir
