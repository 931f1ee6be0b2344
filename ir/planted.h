// Planted bugs: places in the allocators where a known mistake can be switched on, one at a time, to see whether it is found.
//
//   if (!REGDUEL_PLANTED("fatpoint-clobber-missed")) base_.add_clobber(n, clobbered);
//
// Only the zoo build (preset "zoo", macro REGDUEL_ZOO) has them; in any other build the condition is the constant false, and nothing is left.
// fuzz/zoo/catalogue.cpp names them all, and a test holds the sources and the catalogue against each other.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace regduel {

[[nodiscard]] constexpr std::uint64_t planted_id(std::string_view name) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return h;
}

#ifdef REGDUEL_ZOO
// Which bug is switched on: planted_id of its name, 0 = none. Set before any allocation begins.
inline std::uint64_t planted_bug = 0;
#define REGDUEL_PLANTED(name) (::regduel::planted_bug == std::integral_constant<std::uint64_t, ::regduel::planted_id(name)>::value)
#else
#define REGDUEL_PLANTED(name) false
#endif

}  // namespace regduel
