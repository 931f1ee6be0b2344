// See baseline.h.
#include "cli/baseline.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bad_input.h"
#include "base/io.h"
#include "base/source_error.h"

namespace regduel::cli {
namespace {

constexpr int kVersion = 1;

using Json = nlohmann::ordered_json;

SourceError error_at(const std::string& path, std::string_view text, std::size_t at, std::string message) {
  SourceError e{path, 1, 1, std::move(message)};
  for (std::size_t k = 0; k + 1 < at && k < text.size(); ++k) {
    e.column = text[k] == '\n' ? 1 : e.column + 1;
    e.line += text[k] == '\n' ? 1 : 0;
  }
  return e;
}

}  // namespace

Baseline read_baseline(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw BadInput(fmt::format("error: {} (--update makes a baseline)", text.error()));
  try {
    const Json document = Json::parse(*text);
    const Json* const version =
        document.is_object() && document.contains("regduel_baseline") ? &document["regduel_baseline"] : nullptr;
    if (version == nullptr) throw BadInput(fmt::format("{}: error: it is no baseline: it has no \"regduel_baseline\"", path));
    if (*version != kVersion)
      throw BadInput(
          fmt::format("{}: error: a baseline of version {} (this program knows version {})", path, version->dump(), kVersion));
    Baseline baseline;
    for (const Json& row : document.at("kernels")) {
      BaselineFigures figures;
      for (std::size_t k = 0; k < figures.size(); ++k)
        if (const Json& figure = row.at(kBaselineFigures[k]); !figure.is_null()) figures[k] = figure.get<std::int64_t>();
      baseline[{row.at("file"), row.at("function"), row.at("target"), row.at("allocator"), row.at("limit")}] = figures;
    }
    return baseline;
  } catch (const Json::parse_error& e) {
    throw BadInput(to_string(error_at(path, *text, e.byte, "it is no JSON")));
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: error: it is no baseline: {}", path, e.what()));
  }
}

std::string text_of(const Baseline& baseline) {
  std::string rows;
  for (const auto& [key, figures] : baseline) {
    Json row = {
        {"file", key.file}, {"function", key.function}, {"target", key.target}, {"allocator", key.allocator}, {"limit", key.limit}};
    for (std::size_t k = 0; k < figures.size(); ++k)
      row[std::string(kBaselineFigures[k])] = figures[k] ? Json(*figures[k]) : Json(nullptr);
    std::string line = "{";
    for (const auto& [name, value] : row.items())
      line += fmt::format("{}\"{}\": {}", line.size() > 1 ? ", " : "", name,
                          value.dump(-1, ' ', false, Json::error_handler_t::replace));
    rows += fmt::format("{}    {}}}", rows.empty() ? "\n" : ",\n", line);
  }
  return fmt::format("{{\n  \"regduel_baseline\": {},\n  \"kernels\": [{}\n  ]\n}}\n", kVersion, rows);
}

}  // namespace regduel::cli
