// The body of the fuzz target `duel`, as plain functions: bytes in, every allocator and every judge, nothing out but findings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fuzz/duel_body.h"
#include "fuzz/fuzz_input.h"

namespace regduel::fuzz {

// What is wrong, for people: each finding, then the case as an .rir file (case_file.h); nullopt where every bout ended in
// pass, in inconclusive, or in an impossibility that the judge proved.
[[nodiscard]] std::optional<std::string> find_in(const FuzzInput& input);
// The text of find_in for a duel that has been fought.
[[nodiscard]] std::string describe(const FuzzInput& input, const Duel& duel);

// Prints what find_in says to standard error and aborts. Returns 0 otherwise. Total on any bytes.
int duel_target(std::span<const std::uint8_t> bytes);

}  // namespace regduel::fuzz
