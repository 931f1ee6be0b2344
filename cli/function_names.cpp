// See function_names.h.
#include "cli/function_names.h"

#include <cctype>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>
#include <fmt/format.h>
#include <xxhash.h>

namespace regduel::cli {

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

std::string FileNames::of(std::string_view name) {
  std::string safe;
  for (const char c : name)
    safe += (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-') ? c : '_';
  if (safe.empty() || safe[0] == '.') safe = "_" + safe;
  if (safe.size() > kMostBytes) {
    constexpr std::size_t kHash = 17;  // "-" and 16 digits
    safe = fmt::format("{}-{:016x}", safe.substr(0, kMostBytes - kHash), XXH3_64bits(name.data(), name.size()));
  }
  std::string unique = safe;
  for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{}-{}", safe, n);
  return unique;
}

}  // namespace regduel::cli
