// See profile.h.
#include "generate/profile.h"

#include <array>

namespace regduel::generate {
namespace {

constexpr std::array<std::string_view, kNumProfiles + 1> kNames = {
    "straight", "loops",   "irreducible", "pressure",   "tuples",  "predicates", "uniform",   "tensor",      "calls", "copies",
    "phis",     "guarded", "converted",   "mixed_size", "subregs", "cliffs",     "undefined", "constraints", "mix",   "plain"};

}  // namespace

std::span<const Profile> profiles() {
  static constexpr auto kAll = [] {
    std::array<Profile, kNumProfiles> all{};
    for (int i = 0; i < kNumProfiles; ++i) all[static_cast<std::size_t>(i)] = static_cast<Profile>(i);
    return all;
  }();
  return kAll;
}

std::string_view name(Profile p) { return kNames[static_cast<std::size_t>(p)]; }

std::optional<Profile> profile_from_name(std::string_view s) {
  for (const Profile p : profiles())
    if (name(p) == s) return p;
  return s == name(Profile::Plain) ? std::optional(Profile::Plain) : std::nullopt;
}

}  // namespace regduel::generate
