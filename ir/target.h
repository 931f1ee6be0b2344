// Target descriptions: what an SM offers to an allocator, as data. The shipped ones are in target.cpp; target_json.cpp reads others
// from a JSON file (`--target my.json`; FORMAT.md, "Targets").
//
// Sources: source 000 "Per-Class Iteration" (file sizes), "Worked Example" (x_min, x_max); source 002 and 003 (`abi seed`, tensor
// alignment, register file); DECISIONS for the granularities; scripts/measure/abi-experiment for `abi cuda`.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/registers.h"

namespace regduel::ir {

// Registers at which the operands of one operation would rather not begin: a preference, never a rule. Source 000 leaves the
// meaning of the constraint types 4, 9 and 10 to the target.
struct CustomConstraint {
  int type = 4;           // 4, 9 or 10
  std::string operation;  // mnemonic
  PReg registers;         // the first of them, and each `step` further
  int step = 1;
  int weight = 1;  // 1 to 15
};

struct Target {
  std::string name;  // "sm_90"
  int sm = 90;
  PerFile<int> units = {};     // units of each file; 0 = the target does not have it
  std::vector<PReg> reserved;  // never allocated, under any ABI
  std::array<Abi, kAllAbis.size()> abis;
  int registers_per_sm = 65536;    // 32-bit registers in the register file of one SM
  int register_granularity = 256;  // registers are given to a warp in multiples of this (8 a thread)
  int max_warps_per_sm = 64;
  int max_blocks_per_sm = 32;
  int max_registers_per_thread = 255;
  int shared_bytes_per_sm = 233472;
  int register_banks = 4;         // bank of unit u of file R: u % register_banks
  int tensor_align_log2 = 3;      // alignment in units of tensor tuples
  bool predicate_halves = false;  // two predicates to a register: units of P and UP are halves. Synthetic targets only
  int device_type = 5;            // 5 allows spilling to shared memory
  int occupancy_x_min = 240;      // x range of the occupancy model's linear part
  int occupancy_x_max = 480;
  std::vector<CustomConstraint> custom_constraints;

  [[nodiscard]] const Abi& abi(AbiName a) const { return abis[static_cast<std::size_t>(a)]; }
  [[nodiscard]] Abi& abi(AbiName a) { return abis[static_cast<std::size_t>(a)]; }
  [[nodiscard]] int bank(int unit) const { return unit % register_banks; }
  [[nodiscard]] bool has(RegFile f) const { return units[index(f)] > 0; }
  // The most registers of a thread with which an SM holds all of its warps.
  [[nodiscard]] int registers_of_all_warps() const;
  // What no allocation of a function under this ABI may name: by the target or by the ABI.
  [[nodiscard]] bool is_reserved(AbiName a, RegFile f, int unit) const {
    const PReg one = {f, 1, static_cast<std::uint16_t>(unit)};
    const auto takes = [&](PReg r) { return r.overlaps(one); };
    return std::ranges::any_of(reserved, takes) || std::ranges::any_of(abi(a).reserved, takes);
  }
};

// All shipped targets, in ascending order of SM.
[[nodiscard]] std::span<const Target> targets();
// By name: "sm_90", "sm_90a" (suffixes a and f are dropped) or "90"; null where there is none.
[[nodiscard]] const Target* find_target(std::string_view name);
[[nodiscard]] const Target& default_target();  // sm_90
// A target from JSON: every key optional but "name"; an unknown key or a value out of range is an error.
[[nodiscard]] Parsed<Target> parse_target(std::string_view text, std::string_view file_name = "");

// How many units of each file an allocation may use: units [0, limit) less those that the target and the ABI reserve.
struct Limits {
  PerFile<int> units = {};

  [[nodiscard]] int of(RegFile f) const { return units[index(f)]; }
  // The target's own sizes.
  static Limits of(const Target& t);
  // The same with file R (classes R and Ralt) limited to `registers`.
  static Limits of(const Target& t, int registers);
};
// True where an allocation of a function under this ABI may put something into this unit.
[[nodiscard]] inline bool is_allocatable(const Target& t, AbiName a, const Limits& l, RegFile f, int unit) {
  return unit >= 0 && unit < l.of(f) && unit < t.units[index(f)] && !t.is_reserved(a, f, unit);
}

}  // namespace regduel::ir
