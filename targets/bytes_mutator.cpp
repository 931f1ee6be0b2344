// See bytes_mutator.h.
#include "targets/bytes_mutator.h"

#include "fuzz/edit/mutator.h"

namespace regduel::targets {
namespace {

std::vector<std::uint8_t> fit(const duel::Case& child, const duel::Case& parent, std::size_t max_size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes = duel::encode_case(child);
  // The parent may have been derived from other bytes, so it is not always one that fits.
  if (bytes.size() > max_size) bytes = duel::encode_case(parent);
  for (int length = 64; bytes.size() > max_size && length > 0; length /= 2) {
    duel::Case input = duel::derive_case(seed, length);
    input.knobs.clear();
    bytes = duel::encode_case(input);
  }
  if (bytes.size() > max_size) bytes.clear();
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> mutate_bytes(Bytes bytes, std::size_t max_size, std::uint64_t seed) {
  const duel::Case parent = duel::decode_case(bytes);
  duel::Case child = parent;
  fuzz::mutate(child, seed);
  return fit(child, parent, max_size, seed);
}

std::vector<std::uint8_t> cross_bytes(Bytes a, Bytes b, std::size_t max_size, std::uint64_t seed) {
  const duel::Case parent = duel::decode_case(a);
  return fit(fuzz::cross(parent, duel::decode_case(b), seed), parent, max_size, seed);
}

}  // namespace regduel::targets
