// Bad input: where, what was found, what was expected. One line: "file:line:column: error: message".
#pragma once

#include <expected>
#include <string>

namespace regduel {

struct SourceError {
  std::string file;  // "" = no file (bytes in memory)
  int line = 0;      // 1-based; 0 = the whole file
  int column = 0;    // 1-based, in bytes; 0 = the whole line
  std::string message;
};
[[nodiscard]] std::string to_string(const SourceError& e);

template <class T>
using Parsed = std::expected<T, SourceError>;

}  // namespace regduel
