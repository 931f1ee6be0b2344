// The child's side of regduel's protocol for allocators in a program of their own (docs/own-allocator.md): all that is needed to
// read frames and to write them, in one file to copy. C++17, the standard library alone.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace regduel_child {

struct Request {
  unsigned long long number = 0;
  std::string text;  // comments that say how many registers there are, and the program
};

// "hello", "allocated", "impossible" or "unsupported". The number is 1 for hello, else that of the request.
inline void write_frame(const std::string& word, unsigned long long number, const std::string& payload) {
  std::printf("%s %llu %zu\n", word.c_str(), number, payload.size());
  std::fwrite(payload.data(), 1, payload.size(), stdout);
  std::fflush(stdout);
}

// Waits for the next program. False where no more will come.
inline bool read_request(Request& request) {
  unsigned long long length = 0;
  if (std::scanf(" allocate %llu %llu", &request.number, &length) != 2 || std::getchar() != '\n') return false;
  request.text.resize(length);
  return std::fread(request.text.data(), 1, length, stdin) == length;
}

// The value of a comment "// KEY: VALUE" before the program: the units that may be used with "registers", for example. "" where
// there is none.
inline std::string comment(const std::string& text, const std::string& key) {
  const std::string wanted = "// " + key + ": ";
  for (std::size_t at = 0; text.compare(at, 2, "//") == 0; at = text.find('\n', at) + 1)
    if (text.compare(at, wanted.size(), wanted) == 0)
      return text.substr(at + wanted.size(), text.find('\n', at) - at - wanted.size());
  return "";
}

}  // namespace regduel_child
