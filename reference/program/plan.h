// A plan: where each value lives, and which instructions are pinned. A round colours the program under one plan, and adds to it
// what it has to spill. Tested by plan_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/program/code.h"

namespace regduel::reference {

// Where a value lives. A new home (a bit of a pack, one place before an instruction and another one after it) is a new kind with
// its data here; the switches over kind() have no default, so that the compiler names each place that has to know it.
class Location {
 public:
  enum class Kind : std::uint8_t {
    Register,
    Slot,     // of memory
    Nowhere,  // computed again before each use
  };

  constexpr Location() = default;  // in a register
  static constexpr Location in_slot(std::uint32_t slot) { return {Kind::Slot, slot}; }
  static constexpr Location nowhere() { return {Kind::Nowhere, 0}; }

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr bool is_register() const { return kind_ == Kind::Register; }
  [[nodiscard]] constexpr bool is_slot() const { return kind_ == Kind::Slot; }
  [[nodiscard]] constexpr bool is_nowhere() const { return kind_ == Kind::Nowhere; }
  // Index into Plan::slots. Requires is_slot().
  [[nodiscard]] constexpr std::uint32_t slot() const { return slot_; }
  friend constexpr bool operator==(Location, Location) = default;

 private:
  constexpr Location(Kind kind, std::uint32_t slot) : kind_(kind), slot_(slot) {}

  Kind kind_ = Kind::Register;
  std::uint32_t slot_ = 0;
};

struct SpillSlot {
  std::uint32_t bytes = 4;
};

struct Plan {
  std::vector<Location> locations;  // by value
  std::vector<SpillSlot> slots;
  std::vector<std::uint8_t> is_pinned;    // by index of instruction: all operands in the registers of the exact packing
  std::vector<std::uint8_t> is_left_out;  // by index of instruction: dead code; empty = none
  // Instructions and the values that they read where no path defines them, ascending: nothing is refilled or computed for these.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> undefined_reads;

  [[nodiscard]] bool reads_nothing(std::uint32_t inst, std::uint32_t value) const {
    return std::ranges::binary_search(undefined_reads, std::pair(inst, value));
  }
  // Several values in one slot are never there at a time, or are copies of each other.
  std::uint32_t add_slot(std::uint32_t bytes) {
    slots.push_back({bytes});
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
};

}  // namespace regduel::reference
