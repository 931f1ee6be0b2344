// The compact binary form, for the fuzz corpus. Any byte string either decodes to a well-formed function or is rejected
// with a reason; decode(encode(f)) == f to the letter of the text form.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"

namespace regduel::ir {

inline constexpr int kBinaryVersion = 2;  // the newest

[[nodiscard]] std::vector<std::uint8_t> encode(const Function& f);
// Cost and memory: O(bytes), whatever counts the bytes claim. Never throws on any input.
[[nodiscard]] std::expected<Function, std::string> decode(std::span<const std::uint8_t> bytes);
// True where the bytes begin like the binary form.
[[nodiscard]] bool looks_binary(std::span<const std::uint8_t> bytes);

}  // namespace regduel::ir
