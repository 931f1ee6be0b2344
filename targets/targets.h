// The fuzz targets: each a plain function from bytes to what is wrong. Entry points of engines (engine.cpp) and the smoke test call
// the same.
//
// Structured targets read fuzz inputs (duel/case.h) and come with a mutator and a crossover of programs; the others read text or
// bytes, for which the engine's own mutations and a dictionary (targets/dictionaries/NAME.dict) do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regduel::targets {

using Bytes = std::span<const std::uint8_t>;

struct FuzzTarget {
  std::string_view name;
  std::string_view what;  // one line: what it tries
  bool is_structured;
  // The finding as text, with a case to replay; nullopt where all is well. Total on any bytes.
  std::optional<std::string> (*body)(Bytes bytes);
};

// Sorted by name. (cli_args, which needs the program's commands, is in cli/.)
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();
[[nodiscard]] const FuzzTarget* find_fuzz_target(std::string_view name);

// The bodies.
std::optional<std::string> try_duel(Bytes bytes);
std::optional<std::string> try_classic(Bytes bytes);
std::optional<std::string> try_fatpoint(Bytes bytes);
std::optional<std::string> try_briggs(Bytes bytes);
std::optional<std::string> try_spill(Bytes bytes);
std::optional<std::string> try_coalesce(Bytes bytes);
std::optional<std::string> try_judges(Bytes bytes);
std::optional<std::string> try_rir_text(Bytes bytes);
std::optional<std::string> try_rir_binary(Bytes bytes);
std::optional<std::string> try_ptx(Bytes bytes);

}  // namespace regduel::targets
