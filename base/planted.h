// Planted bugs: places in the allocators and the passes where a known mistake can be switched on, alone or with others, to see
// whether it is found.
//
//   if (!REGDUEL_PLANTED("fatpoint-clobber-missed")) base_.add_clobber(n, clobbered);
//
// Only the zoo build (preset "zoo", macro REGDUEL_ZOO) has them; in any other build the condition is the constant false, and
// nothing is left. trial/planted/catalogue.cpp names them all, and a test holds the sources and the catalogue against each other, and
// sees that no two names share a switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace regduel {

[[nodiscard]] constexpr std::uint64_t planted_id(std::string_view name) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return h;
}
// Which of the switches is that of a name.
inline constexpr std::size_t kPlantedSwitches = std::size_t{1} << 18;
[[nodiscard]] constexpr std::size_t planted_switch(std::string_view name) { return (planted_id(name) >> 20) % kPlantedSwitches; }

#ifdef REGDUEL_ZOO
// Which bugs are switched on, by planted_switch of the name. Set before any allocation begins.
inline bool planted_switches[kPlantedSwitches] = {};
#define REGDUEL_PLANTED(name) \
  (::regduel::planted_switches[std::integral_constant<std::size_t, ::regduel::planted_switch(name)>::value])
#else
#define REGDUEL_PLANTED(name) false
#endif

}  // namespace regduel
