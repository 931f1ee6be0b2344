// Calling conventions: the registers that a call destroys, those that a function preserves, and those of arguments and results. A
// program names its convention; the registers themselves are data of a target.
//
// Sources: `seed` is that of sources 002 and 003 (DECISIONS, "callee-saved R24-R31"); `cuda` is what ptxas 13.0 does, measured by
// scripts/measure/abi-experiment.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/registers.h"

namespace regduel::ir {

enum class AbiName : std::uint8_t { Seed, Cuda };
inline constexpr std::array kAllAbis = {AbiName::Seed, AbiName::Cuda};

[[nodiscard]] constexpr std::string_view name(AbiName abi) { return abi == AbiName::Seed ? "seed" : "cuda"; }
[[nodiscard]] constexpr std::optional<AbiName> abi_from_name(std::string_view s) {
  for (const AbiName abi : kAllAbis)
    if (name(abi) == s) return abi;
  return std::nullopt;
}

// The translation of PTX accesses to parameters in registers: st.param before a call, ld.param behind it and at the entry.
enum class ParamCopies : std::uint8_t {
  Folded,  // the call itself names the registers if that has the same meaning
  Kept,    // each access is a copy, as the compiler has it, for a coalescer to remove
};

// Registers that calls use. The tables only *generate* calls: an instruction always lists its own argument, result and
// clobber registers, and those are what holds. A device function must preserve `callee_saved`.
struct Abi {
  PReg arguments = {RegFile::R, 8, 0};  // in order; 64-bit values take an even pair
  PReg results = {RegFile::R, 4, 0};
  bool fills_gaps = false;         // a later value takes the register that the alignment of an earlier one has left
  std::vector<PReg> callee_saved;  // a callee-saved register may be clobbered as well: the return address
  std::vector<PReg> clobbered;     // what a call destroys
  std::vector<PReg> reserved;      // never allocated, besides those of the target: the stack pointer
  bool memory_through_r = false;   // what another file than R holds goes to memory, and comes from there, through a register of R

  // Functions of the runtime that keep more than others, and what a call of one of them destroys.
  std::vector<std::string> runtime_functions;
  std::vector<PReg> runtime_clobbered;

  [[nodiscard]] bool is_runtime(std::string_view function) const {
    return std::find(runtime_functions.begin(), runtime_functions.end(), function) != runtime_functions.end();
  }
  [[nodiscard]] const std::vector<PReg>& clobbers_of(std::string_view function) const {
    return is_runtime(function) ? runtime_clobbered : clobbered;
  }
};

}  // namespace regduel::ir
