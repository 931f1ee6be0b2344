#include "base/source_error.h"

#include <fmt/format.h>

namespace regduel {

std::string to_string(const SourceError& e) {
  std::string place = e.file;
  if (e.line > 0) place += fmt::format("{}{}", place.empty() ? "line " : ":", e.line);
  if (e.line > 0 && e.column > 0) place += fmt::format(":{}", e.column);
  return place.empty() ? "error: " + e.message : fmt::format("{}: error: {}", place, e.message);
}

}  // namespace regduel
