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

std::string to_string(PReg r) {
  if (!r.is_valid() || static_cast<int>(r.file) >= kNumFiles) return "none";
  if (r.count == 1) return fmt::format("{}{}", name(r.file), r.first);
  return fmt::format("{0}{1}:{0}{2}", name(r.file), r.first, r.end() - 1);
}

std::optional<Part> Part::from_bytes(int offset, int size) {
  for (int log2 = 0; log2 <= 4; ++log2)
    if (size == 1 << log2 && offset >= 0 && offset % size == 0 && offset / size < 32) return of(log2, offset / size);
  return std::nullopt;
}

}  // namespace regduel::ir
