// See bytes_mutator.h.
#include "targets/bytes_mutator.h"

#include "fuzz/edit/mutator.h"

namespace regduel::fuzz {
namespace {

std::vector<std::uint8_t> fit(const FuzzInput& child, const FuzzInput& parent, std::size_t max_size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes = encode_input(child);
  // The parent may have been derived from other bytes, so it is not always one that fits.
  if (bytes.size() > max_size) bytes = encode_input(parent);
  for (int length = 64; bytes.size() > max_size && length > 0; length /= 2) {
    FuzzInput input = derive_input(seed, length);
    input.knobs.clear();
    bytes = encode_input(input);
  }
  if (bytes.size() > max_size) bytes.clear();
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> mutate_bytes(Bytes bytes, std::size_t max_size, std::uint64_t seed) {
  const FuzzInput parent = decode_input(bytes);
  FuzzInput child = parent;
  mutate(child, seed);
  return fit(child, parent, max_size, seed);
}

std::vector<std::uint8_t> cross_bytes(Bytes a, Bytes b, std::size_t max_size, std::uint64_t seed) {
  const FuzzInput parent = decode_input(a);
  return fit(cross(parent, decode_input(b), seed), parent, max_size, seed);
}

}  // namespace regduel::fuzz
