#include "ir/registers.h"

#include <fmt/format.h>

namespace regduel::ir {
namespace {

constexpr std::array<std::string_view, kNumClasses> kClassNames = {"R", "Ralt", "UR", "URext", "P", "UP", "ACC", "B", "UB"};
constexpr std::array<std::string_view, kNumFiles> kFileNames = {"R", "P", "B", "UR", "UP", "UB", "ACC"};

template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view s) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == s) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(RegClass c) { return kClassNames[static_cast<std::size_t>(c)]; }
std::string_view name(RegFile f) { return kFileNames[index(f)]; }
std::optional<RegClass> class_from_name(std::string_view s) { return find_name<RegClass>(kClassNames, s); }
std::optional<RegFile> file_from_name(std::string_view s) { return find_name<RegFile>(kFileNames, s); }

std::string to_string(PReg r, bool predicate_halves) {
  if (!r.is_valid() || static_cast<int>(r.file) >= kNumFiles) return "none";
  const bool has_halves = predicate_halves && is_predicate(r.file);
  const bool is_whole = has_halves && r.begin() % 2 == 0 && r.end() % 2 == 0;
  const auto unit = [&](int u) {
    const std::string_view half = !has_halves || is_whole ? "" : u % 2 == 0 ? ".lo" : ".hi";
    return fmt::format("{}{}{}", name(r.file), has_halves ? u / 2 : u, half);
  };
  return r.count == (is_whole ? 2 : 1) ? unit(r.begin()) : unit(r.begin()) + ":" + unit(r.end() - 1);
}

std::optional<Part> Part::from_bytes(int offset, int size) {
  for (int log2 = 0; log2 <= 4; ++log2)
    if (size == 1 << log2 && offset >= 0 && offset % size == 0 && offset / size < 32) return of(log2, offset / size);
  return std::nullopt;
}

}  // namespace regduel::ir
