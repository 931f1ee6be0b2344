// The inputs that a fuzz target begins with, made of the files in corpus/: for structured targets the programs as fuzz inputs, for
// the others texts and bytes of the kind that they read. regduel_seeds (seeds_main.cpp) writes them into a folder a target, from
// which the build makes NAME_fuzzer_seed_corpus.zip.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::targets {

struct Seed {
  std::string name;  // a file name: where it comes from
  std::vector<std::uint8_t> bytes;
};

inline constexpr std::size_t kMostSeedBytes = 65536;  // what is longer is left out: an engine would cut it short

// The names of all targets, those of fuzz_targets() and cli_args, sorted.
[[nodiscard]] std::vector<std::string> seeded_targets();
// Requires: one of those names. `root` is that of the source tree. In a fixed order, no name twice; an error says which file cannot
// be read.
[[nodiscard]] std::expected<std::vector<Seed>, std::string> seeds_of(std::string_view target, const std::string& root);

}  // namespace regduel::targets
