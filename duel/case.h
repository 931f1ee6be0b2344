// One input of the fuzz targets: a program, the target, the limits and the knobs, as bytes. The corpus holds these.
//
//   "RDF" version(1) target(1: index into ir::targets()) limits(7 x 2, little-endian) knobs(1: count, then name and value,
//   each a length byte and its characters) callees (version 2 alone; 1: count, then each with its length, 4, little-endian)
//   program (ir/text/binary.h)
//
// Any other bytes stand for a program that the generator derives from them, so that a campaign starts from nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "duel/knobs.h"
#include "ir/allocator.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::duel {

struct Case {
  const ir::Target* target = nullptr;  // never null
  ir::Limits limits;                   // within the target's files; at least 1 where the target has the file
  Knobs knobs;
  ir::Function program;  // well-formed for `target`, over vregs
  // Other functions of the same file, which calls of the program and of each other go to: device functions, over vregs, of different
  // names, well-formed for `target`. They are allocated for the judge of the whole file (oracles/calls/) alone.
  std::vector<ir::Function> callees = {};
};

// True for a device function of another name than the callees that the case has, while there is room for one more.
[[nodiscard]] bool may_be_callee(const ir::Function& f, const Case& c);

[[nodiscard]] std::vector<std::uint8_t> encode_case(const Case& input);
// Total: always an input that keeps the promises above. decode_case(encode_case(x)) is x. Cost: O(bytes), or that of a
// small generated program.
[[nodiscard]] Case decode_case(std::span<const std::uint8_t> bytes);
// What decode_case makes of bytes that are no input: of `size` instructions about, drawn where 0.
[[nodiscard]] Case derive_case(std::uint64_t seed, int size = 0);
// Case `index` of the standard mix that `seed` names (generate/standard_mix.h), with the knobs that it draws for these
// duelists.
[[nodiscard]] Case standard_case(std::uint64_t seed, std::uint64_t index, std::span<const ir::Allocator* const> duelists);

}  // namespace regduel::duel
