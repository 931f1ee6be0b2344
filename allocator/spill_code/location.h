// Where a value lives between the instructions that name it.
//
//   Register      in whatever register the assignment gives it
//   OwnRegister   precoloured, and in its register for its whole range
//   LocalSlot     in a spill slot of local memory
//   SharedSlot    in a spill slot of shared memory; in local memory once the thread's share is used up (frame/slot_layout.h)
//   PackBit       a predicate in a bit of a register that the plan has added, its pack (predicate_packs.h)
//   Recomputed    in no place: inst() is repeated before each use, after the instruction that computes its register source, and so
//                 on; steps() instructions in all
//
// A new kind (different places in different parts of a range) is a case of Kind; the switches below and in
// spill_code_writer.cpp are exhaustive, so that the compiler names each place that has to handle it. Tested by plan_test.cpp.
#pragma once

#include <cstdint>

#include "base/check_macro.h"
#include "ir/program.h"

namespace regduel::allocator {

class Location {
 public:
  enum class Kind : std::uint8_t { Register, OwnRegister, LocalSlot, SharedSlot, PackBit, Recomputed };

  constexpr Location() = default;
  [[nodiscard]] static constexpr Location own_register() { return Location(Kind::OwnRegister); }
  [[nodiscard]] static constexpr Location slot(ir::MemSpace space) {
    return Location(space == ir::MemSpace::Shared ? Kind::SharedSlot : Kind::LocalSlot);
  }
  //   inst    index of the instruction to repeat
  //   steps   number of instructions repeated, `inst` included
  [[nodiscard]] static constexpr Location recomputed_by(std::uint32_t inst, int steps = 1) {
    return Location(Kind::Recomputed, inst, steps);
  }
  //   pack   index into Plan::packs
  //   bit    0 to 31
  [[nodiscard]] static constexpr Location bit_of(std::uint32_t pack, int bit) {
    return Location(Kind::PackBit, pack * kPackBits + static_cast<std::uint32_t>(bit));
  }
  friend bool operator==(const Location&, const Location&) = default;

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr bool is_in_register() const {
    switch (kind_) {
      case Kind::Register:
      case Kind::OwnRegister: return true;
      case Kind::LocalSlot:
      case Kind::SharedSlot:
      case Kind::PackBit:
      case Kind::Recomputed: return false;
    }
    return false;
  }
  [[nodiscard]] constexpr bool is_recomputed() const { return kind_ == Kind::Recomputed; }
  // Requires is_recomputed().
  [[nodiscard]] std::uint32_t inst() const {
    REGDUEL_CHECK(is_recomputed(), "only a value that is computed again has an instruction for it");
    return detail_;
  }
  // 0 where it is not recomputed.
  [[nodiscard]] constexpr int steps() const { return steps_; }
  [[nodiscard]] constexpr bool is_packed() const { return kind_ == Kind::PackBit; }
  // Both require is_packed().
  [[nodiscard]] std::uint32_t pack() const {
    REGDUEL_CHECK(is_packed(), "only a packed predicate has a pack");
    return detail_ / kPackBits;
  }
  [[nodiscard]] int bit() const {
    REGDUEL_CHECK(is_packed(), "only a packed predicate has a bit");
    return static_cast<int>(detail_ % kPackBits);
  }

  static constexpr std::uint32_t kPackBits = 32;

 private:
  constexpr explicit Location(Kind kind, std::uint32_t detail = 0, int steps = 0)
      : kind_(kind), steps_(static_cast<std::uint8_t>(steps)), detail_(detail) {}
  Kind kind_ = Kind::Register;
  std::uint8_t steps_ = 0;
  std::uint32_t detail_ = 0;  // Recomputed: the instruction; PackBit: pack and bit
};

// Bytes of a vreg's slot, and of a move of the whole vreg: its own bytes if it is narrower than a register, else whole registers.
[[nodiscard]] inline int slot_bytes(const ir::VReg& v) {
  const bool is_narrow = v.bytes() < ir::unit_bytes(v.file()) && ir::Part::from_bytes(0, v.bytes()).has_value();
  return is_narrow ? v.bytes() : v.units() * ir::unit_bytes(v.file());
}

}  // namespace regduel::allocator
