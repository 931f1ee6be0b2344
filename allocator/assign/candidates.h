// What the pre-allocation pass hands to the attempts: homes to try before the scan.
//
// Three tables, each keyed by the number of a vreg of the lowered program:
//
//   candidates   every vreg that was ever proposed: why (priority) and how far from the operand that qualified (depth)
//   results      those for which a free home was found: its first unit
//   overflow     those for which there was none: the instruction at which they were proposed. They are not tried again
//
// The source has six tables, at offsets of its allocator, without saying what tells two of one kind apart; the FNV-1a hash
// and its 32-bit constants are the source's. A candidate is a wish: it is taken before the scan, and only where it is free of
// hard conflict (DECISIONS "candidate before or after commit"): may_take is the one place that decides so.
// Source: seed 000 "Interference Graph Builder" (hash), "Pre-Allocated Candidate Check", "Pre-Allocation Pass".
// Tested by candidates_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "allocator/assign/geometry.h"
#include "allocator/assign/occupancy.h"
#include "ir/ids.h"

namespace regduel::allocator {

inline constexpr std::uint32_t kFnvOffsetBasis = 0x811C9DC5u;
inline constexpr std::uint32_t kFnvPrime = 16777619u;

// FNV-1a, 32 bits.
[[nodiscard]] constexpr std::uint32_t fnv1a(std::string_view bytes) {
  std::uint32_t h = kFnvOffsetBasis;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return h;
}
// Of the four bytes of a number, the lowest first.
[[nodiscard]] constexpr std::uint32_t fnv1a(std::uint32_t number) {
  std::uint32_t h = kFnvOffsetBasis;
  for (int shift = 0; shift < 32; shift += 8) h = (h ^ (number >> shift & 0xFF)) * kFnvPrime;
  return h;
}

// A chained hash table from numbers to small values. It never shrinks, and keeps the order in which keys came.
template <class Value>
class CandidateTable {
 public:
  struct Entry {
    std::uint32_t key;
    Value value;
  };

  // Null where there is none; valid until the next insert. Cost: O(1) expected.
  [[nodiscard]] const Value* find(std::uint32_t key) const {
    if (buckets_.empty()) return nullptr;
    for (std::uint32_t e = buckets_[bucket(key)]; e != kEnd; e = next_[e])
      if (entries_[e].key == key) return &entries_[e].value;
    return nullptr;
  }
  // False, and nothing changes, where the key is there already.
  bool insert(std::uint32_t key, const Value& value) {
    if (find(key) != nullptr) return false;
    if (entries_.size() == buckets_.size()) grow();
    next_.push_back(kEnd);
    entries_.push_back({key, value});
    link(entries_.size() - 1);
    return true;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // In the order in which they were inserted.
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

 private:
  static constexpr std::uint32_t kEnd = 0xFFFFFFFFu;
  static constexpr std::size_t kFirstBuckets = 16;  // a power of two, as all later numbers

  [[nodiscard]] std::size_t bucket(std::uint32_t key) const { return fnv1a(key) & (buckets_.size() - 1); }
  void link(std::size_t e) {
    std::uint32_t& head = buckets_[bucket(entries_[e].key)];
    next_[e] = head;
    head = static_cast<std::uint32_t>(e);
  }
  void grow() {
    buckets_.assign(buckets_.empty() ? kFirstBuckets : 2 * buckets_.size(), kEnd);
    for (std::size_t e = 0; e < entries_.size(); ++e) link(e);
  }

  std::vector<std::uint32_t> buckets_;  // by hash: the entry that came last
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> next_;  // by entry: the one before it in its bucket
};

struct Candidate {
  std::uint8_t priority = 0;  // 1 its operand is read, 2 it is written, 3 both
  std::uint8_t depth = 0;     // 0 = the operand itself qualified; else steps through the operands that depend on it
};

class Candidates {
 public:
  // The first unit of a vreg's home, where one was found.
  [[nodiscard]] std::optional<int> home_of(ir::VRegId v) const {
    const std::int16_t* home = results_.find(v.value);
    return home == nullptr ? std::nullopt : std::optional<int>(*home);
  }
  // Of a chain: that of its first member that has one.
  [[nodiscard]] std::optional<int> home_of(std::span<const ir::VRegId> chain) const;

  [[nodiscard]] const CandidateTable<Candidate>& candidates() const { return candidates_; }
  [[nodiscard]] const CandidateTable<std::int16_t>& results() const { return results_; }
  [[nodiscard]] const CandidateTable<std::uint32_t>& overflow() const { return overflow_; }

  // False where the vreg was proposed before.
  bool propose(ir::VRegId v, Candidate c) { return candidates_.insert(v.value, c); }
  // Requires: v was proposed, and neither found a home nor overflowed.
  void decide(ir::VRegId v, int home) { results_.insert(v.value, static_cast<std::int16_t>(home)); }
  //   inst   number of the instruction (liveness.h)
  void overflow(ir::VRegId v, std::uint32_t inst) { overflow_.insert(v.value, inst); }

 private:
  CandidateTable<Candidate> candidates_;
  CandidateTable<std::int16_t> results_;
  CandidateTable<std::uint32_t> overflow_;
};

// Whether `home` may be taken by something of this geometry: aligned, below the limit, free.
//   conflicts         of the whole live range that is to stand there (of a chain: of all its members)
//   not_allocatable   reserved units and those outside the file
//   limit             the footprint ends at or below it
[[nodiscard]] bool may_take(int home, const Geometry& geometry, const UnitSet& conflicts, const UnitSet& not_allocatable,
                            int limit);

}  // namespace regduel::allocator
