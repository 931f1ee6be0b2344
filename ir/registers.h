// Register classes, register files, physical registers and parts of registers.
//
// A *register class* is what a vreg asks for; a *register file* is what holds it. Two classes may share a file
// (R and RAlt, UR and URExt), and then they compete for the same units. A *unit* is the smallest thing that is
// allocated: 32 bits in R, UR, ACC, B and UB; one predicate in P and UP, which is half a register where a target has
// predicate halves.
//
// Source: source 000 "Per-Class Iteration" (class numbers), source 001 "Stack-local queue header array" (queue order).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regduel::ir {

enum class RegClass : std::uint8_t { R, RAlt, UR, URExt, P, UP, Acc, B, UB };
inline constexpr int kNumClasses = 9;

// In the order of the spill queues of source 001: R, P, B, UR, UP, UB, Acc.
enum class RegFile : std::uint8_t { R, P, B, UR, UP, UB, Acc };
inline constexpr int kNumFiles = 7;
inline constexpr std::array<RegFile, kNumFiles> kAllFiles = {RegFile::R,  RegFile::P,  RegFile::B,  RegFile::UR,
                                                             RegFile::UP, RegFile::UB, RegFile::Acc};
// No file of any target is larger, as the two pressure arrays of source 000 have 512 entries.
inline constexpr int kMaxUnits = 512;

template <class T>
using PerFile = std::array<T, kNumFiles>;

[[nodiscard]] constexpr RegFile file_of(RegClass c) {
  switch (c) {
    case RegClass::R:
    case RegClass::RAlt: return RegFile::R;
    case RegClass::UR:
    case RegClass::URExt: return RegFile::UR;
    case RegClass::P: return RegFile::P;
    case RegClass::UP: return RegFile::UP;
    case RegClass::Acc: return RegFile::Acc;
    case RegClass::B: return RegFile::B;
    case RegClass::UB: return RegFile::UB;
  }
  return RegFile::R;
}

[[nodiscard]] constexpr bool is_predicate(RegFile f) { return f == RegFile::P || f == RegFile::UP; }
[[nodiscard]] constexpr bool is_barrier(RegFile f) { return f == RegFile::B || f == RegFile::UB; }
// One register for all threads of a warp.
[[nodiscard]] constexpr bool is_uniform(RegFile f) { return f == RegFile::UR || f == RegFile::UP || f == RegFile::UB; }
[[nodiscard]] constexpr std::size_t index(RegFile f) { return static_cast<std::size_t>(f); }

// Bytes that one unit occupies in memory and in the byte-wise location model: 1 for a predicate, else 4.
[[nodiscard]] constexpr int unit_bytes(RegFile f) { return is_predicate(f) ? 1 : 4; }

[[nodiscard]] std::string_view name(RegClass c);  // "R", "Ralt", "UR", "URext", "P", ...
[[nodiscard]] std::string_view name(RegFile f);   // "R", "P", "B", "UR", "UP", "UB", "ACC"
[[nodiscard]] std::optional<RegClass> class_from_name(std::string_view s);
[[nodiscard]] std::optional<RegFile> file_from_name(std::string_view s);

// A tuple of consecutive units of one file, [first, first + count). count == 0 means "none".
struct PReg {
  RegFile file = RegFile::R;
  std::uint8_t count = 0;
  std::uint16_t first = 0;

  [[nodiscard]] constexpr bool is_valid() const { return count != 0; }
  [[nodiscard]] constexpr int begin() const { return first; }
  [[nodiscard]] constexpr int end() const { return first + count; }
  [[nodiscard]] constexpr bool overlaps(PReg o) const {
    return is_valid() && o.is_valid() && file == o.file && begin() < o.end() && o.begin() < end();
  }
  friend constexpr auto operator<=>(PReg, PReg) = default;
};
// "R4", "R4:R7".
//   predicate_halves   units of predicate files are halves of registers: "P1.lo", "P1.hi", and both together "P1"
[[nodiscard]] std::string to_string(PReg r, bool predicate_halves = false);
// Register `number` of a file, which is one unit or two halves.
[[nodiscard]] constexpr PReg register_of(RegFile file, int number, bool predicate_halves = false) {
  const int units = predicate_halves && is_predicate(file) ? 2 : 1;
  return PReg{file, static_cast<std::uint8_t>(units), static_cast<std::uint16_t>(units * number)};
}

// A part of a register: an aligned power-of-two number of bytes of it. Whole = everything.
class Part {
 public:
  constexpr Part() = default;
  // size_log2 in [0, 4] (1 to 16 bytes), index in [0, 31]: the bytes [index << size_log2, (index + 1) << size_log2).
  static constexpr Part of(int size_log2, int index) {
    Part p;
    p.code_ = static_cast<std::uint8_t>(((size_log2 + 1) << 5) | index);
    return p;
  }
  // The part that is the bytes [offset, offset + size) of something; nullopt where they are no aligned power of two.
  static std::optional<Part> from_bytes(int offset, int size);
  static constexpr Part from_code(std::uint8_t code) {
    Part p;
    p.code_ = code;
    return p;
  }

  [[nodiscard]] constexpr bool is_whole() const { return code_ == 0; }
  [[nodiscard]] constexpr bool is_valid_code() const { return code_ == 0 || (code_ >> 5 >= 1 && code_ >> 5 <= 5); }
  // Only for a part that is not whole.
  [[nodiscard]] constexpr int size_bytes() const { return 1 << ((code_ >> 5) - 1); }
  [[nodiscard]] constexpr int offset_bytes() const { return (code_ & 31) << ((code_ >> 5) - 1); }
  [[nodiscard]] constexpr int size_log2() const { return (code_ >> 5) - 1; }
  [[nodiscard]] constexpr int element() const { return code_ & 31; }
  [[nodiscard]] constexpr std::uint8_t code() const { return code_; }
  friend constexpr bool operator==(Part, Part) = default;

 private:
  std::uint8_t code_ = 0;
};

}  // namespace regduel::ir
