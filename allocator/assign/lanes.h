// A weight added to stretches of a pressure array: one scalar truth, and one vector form of it.
//
// The vector form is written in the vector extensions that clang and GCC have for every machine (four 32-bit lanes: one register of
// SSE2 or NEON, plain code elsewhere). Narrow stretches go the scalar way, where setting up lanes costs more than it saves.
// Source: seed 000 "Step 3: Zero Pressure Arrays" (scalar up to a width of 14), "SSE2 Vectorization in Constraint Walk". Its
// stride-2 loop gathers every other element; this one adds (weight, 0, weight, 0). Tested by lanes_test.cpp: both forms agree on
// every width, offset and overlap.
#pragma once

#include <cstdint>
#include <cstring>

namespace regduel::allocator {

inline constexpr int kWidestScalar = 14;

// All of them: lo <= hi, in elements.
namespace scalar {

inline void zero(std::int32_t* a, int lo, int hi) {
  for (int i = lo; i < hi; ++i) a[i] = 0;
}
inline void add(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  for (int i = lo; i < hi; ++i) a[i] += weight;
}
// Elements lo, lo + 2, lo + 4 ...
inline void add_every_second(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  for (int i = lo; i < hi; i += 2) a[i] += weight;
}

}  // namespace scalar

namespace vector {

using Lanes = std::int32_t __attribute__((vector_size(16)));
inline constexpr int kLanes = 4;

inline void add_lanes(std::int32_t* at, Lanes weights) {
  Lanes v;
  std::memcpy(&v, at, sizeof v);
  v += weights;
  std::memcpy(at, &v, sizeof v);
}
inline void zero(std::int32_t* a, int lo, int hi) {
  const Lanes zeros = {};
  for (; lo + kLanes <= hi; lo += kLanes) std::memcpy(a + lo, &zeros, sizeof zeros);
  scalar::zero(a, lo, hi);
}
inline void add(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  const Lanes weights = {weight, weight, weight, weight};
  for (; lo + kLanes <= hi; lo += kLanes) add_lanes(a + lo, weights);
  scalar::add(a, lo, hi, weight);
}
inline void add_every_second(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  const Lanes weights = {weight, 0, weight, 0};
  for (; lo + kLanes <= hi; lo += kLanes) add_lanes(a + lo, weights);
  scalar::add_every_second(a, lo, hi, weight);
}

}  // namespace vector

// The form that the width asks for.
inline void zero_weights(std::int32_t* a, int lo, int hi) {
  hi - lo > kWidestScalar ? vector::zero(a, lo, hi) : scalar::zero(a, lo, hi);
}
inline void add_weight(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  hi - lo > kWidestScalar ? vector::add(a, lo, hi, weight) : scalar::add(a, lo, hi, weight);
}
inline void add_weight_every_second(std::int32_t* a, int lo, int hi, std::int32_t weight) {
  hi - lo > kWidestScalar ? vector::add_every_second(a, lo, hi, weight) : scalar::add_every_second(a, lo, hi, weight);
}

}  // namespace regduel::allocator
