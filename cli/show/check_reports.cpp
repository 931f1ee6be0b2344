// See check_reports.h.
#include "cli/show/check_reports.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/show/xml.h"

namespace regduel::cli {
namespace {

constexpr std::array<std::string_view, 5> kOutcomes = {"same", "better", "worse", "new", "fails"};

std::string_view name(CheckOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

bool is_bad(const CheckRow& row) {
  return row.outcome == CheckOutcome::Worse || row.outcome == CheckOutcome::New || row.outcome == CheckOutcome::Fails;
}

std::string figure_text(const std::optional<std::int64_t>& figure) {
  return figure ? fmt::format("{}", *figure) : "beyond counting";
}

std::string kernel_text(const CheckRow& row) {
  return fmt::format("@{} at {} registers by {}", row.key.function, row.key.limit, row.key.allocator);
}

std::map<CheckOutcome, std::size_t> count(const std::vector<CheckRow>& rows) {
  std::map<CheckOutcome, std::size_t> counts;
  for (const CheckRow& row : rows) ++counts[row.outcome];
  return counts;
}

std::string sum_text(const std::vector<CheckRow>& rows) {
  std::string text = counted(rows.size(), "allocation");
  for (const auto& [outcome, rows_of] : count(rows)) text += fmt::format(", {} {}", rows_of, name(outcome));
  return text;
}

// Pipes end a cell of a table, and what looks like a tag is one.
std::string cell(std::string text) {
  for (std::size_t k = 0; k < text.size(); ++k)
    if (text[k] == '|' || text[k] == '<' || text[k] == '\\') text.insert(k++, 1, '\\');
  return text;
}

// "a.cu:12:3" as its file and numbers, 0 where they are not there.
struct Place {
  std::string file;
  int line = 0, column = 0;
};
Place place_in(const std::string& text) {
  Place place{text};
  std::vector<int> numbers;
  while (numbers.size() < 2) {
    const std::size_t colon = place.file.rfind(':');
    int number = 0;
    if (colon == std::string::npos) break;
    const auto [end, error] = std::from_chars(place.file.data() + colon + 1, place.file.data() + place.file.size(), number);
    if (error != std::errc() || end != place.file.data() + place.file.size()) break;
    numbers.insert(numbers.begin(), number);
    place.file.resize(colon);
  }
  if (!numbers.empty()) place.line = numbers[0];
  if (numbers.size() > 1) place.column = numbers[1];
  return place;
}

Json only(Json element) {
  Json list = Json::array();
  list.push_back(std::move(element));
  return list;
}

Json sarif_result(const CheckRow& row) {
  const Place place = row.place.empty() ? Place{row.path} : place_in(row.place);
  Json region = {{"startLine", std::max(place.line, 1)}};
  if (place.column > 0) region["startColumn"] = place.column;
  const Json physical = {{"artifactLocation", {{"uri", place.file}}}, {"region", region}};
  const Json logical = {{"name", row.key.function}, {"kind", "function"}};
  return {{"ruleId", std::string(name(row.outcome))},
          {"level", "error"},
          {"message", {{"text", fmt::format("{}: {}", kernel_text(row), row.message)}}},
          {"locations", only({{"physicalLocation", physical}, {"logicalLocations", only(logical)}})},
          {"partialFingerprints",
           {{"kernel", fmt::format("{}/{}/{}/{}", row.key.file, row.key.function, row.key.allocator, row.key.limit)}}}};
}

}  // namespace

void hold(CheckRow& row) {
  bool is_worse = false;
  std::string changes;
  for (std::size_t k = 0; k < kBaselineFigures.size(); ++k) {
    if (row.before[k] == row.now[k]) continue;
    is_worse = is_worse || !row.now[k] || (row.before[k] && *row.now[k] > *row.before[k]);
    changes += fmt::format("{}{} {} -> {}", changes.empty() ? "" : ", ", kBaselineFigures[k], figure_text(row.before[k]),
                           figure_text(row.now[k]));
  }
  row.outcome = changes.empty() ? CheckOutcome::Same : is_worse ? CheckOutcome::Worse : CheckOutcome::Better;
  row.message = changes;
}

std::string check_text(const std::vector<CheckRow>& rows) {
  std::string text;
  for (const CheckRow& row : rows)
    if (row.outcome != CheckOutcome::Same)
      text += fmt::format("{}: {}: {}: {}{}\n", row.path, name(row.outcome), kernel_text(row), row.message,
                          is_bad(row) && !row.place.empty() ? fmt::format(" (see {})", row.place) : "");
  return text + sum_text(rows) + "\n";
}

std::string markdown_text(const std::vector<CheckRow>& rows) {
  const bool fails = std::ranges::any_of(rows, is_bad);
  std::string text =
      fmt::format("**Registers and spills: {}.** {}\n", fails ? "worse than accepted" : "as accepted", sum_text(rows));
  bool is_first = true;
  for (const CheckRow& row : rows) {
    if (row.outcome == CheckOutcome::Same) continue;
    if (is_first) text += "\n| | kernel | limit | allocator | what | line |\n| --- | --- | --: | --- | --- | --- |\n";
    is_first = false;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name(row.outcome), cell(row.key.function), row.key.limit,
                        cell(row.key.allocator), cell(row.message), cell(row.place));
  }
  return text;
}

std::string junit_text(const std::vector<CheckRow>& rows) {
  std::string cases;
  std::size_t failures = 0;
  for (const CheckRow& row : rows) {
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\"", xml_escaped(row.key.function),
                         xml_escaped(kernel_text(row)), xml_escaped(row.path));
    if (!is_bad(row)) {
      cases += "/>\n";
      continue;
    }
    ++failures;
    cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n", name(row.outcome),
                         xml_escaped(row.message), xml_escaped(row.place));
  }
  return junit_document("regduel check", rows.size(), failures, cases);
}

std::string sarif_text(const std::vector<CheckRow>& rows, std::string_view version) {
  Json results = Json::array(), rules = Json::array();
  for (const CheckRow& row : rows)
    if (is_bad(row)) results.push_back(sarif_result(row));
  constexpr std::array<std::pair<CheckOutcome, std::string_view>, 3> kRules = {
      {{CheckOutcome::Worse, "A kernel takes more registers or moves more bytes to and from memory than its baseline accepts."},
       {CheckOutcome::New, "A kernel is not in the baseline."},
       {CheckOutcome::Fails, "An allocation is wrong, or there is none."}}};
  for (const auto& [outcome, what] : kRules)
    rules.push_back({{"id", std::string(name(outcome))}, {"shortDescription", {{"text", std::string(what)}}}});
  const Json driver = {{"name", "regduel"}, {"version", std::string(version)}, {"rules", rules}};
  return Json{{"version", "2.1.0"},
              {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"runs", only({{"tool", {{"driver", driver}}}, {"results", results}})}}
      .text();
}

Json json_of(const std::vector<CheckRow>& rows, const std::vector<BaselineKey>& gone) {
  Json list = Json::array(), missing = Json::array();
  for (const CheckRow& row : rows) {
    Json one = {{"file", row.path},         {"function", row.key.function},
                {"target", row.key.target}, {"allocator", row.key.allocator},
                {"limit", row.key.limit},   {"outcome", std::string(name(row.outcome))},
                {"message", row.message},   {"source", row.place}};
    for (std::size_t k = 0; k < kBaselineFigures.size(); ++k) one[kBaselineFigures[k]] = Json(row.now[k]);
    list.push_back(std::move(one));
  }
  for (const BaselineKey& key : gone)
    missing.push_back({{"file", key.file}, {"function", key.function}, {"allocator", key.allocator}, {"limit", key.limit}});
  return {{"command", "check"}, {"results", list}, {"gone", missing}};
}

}  // namespace regduel::cli
