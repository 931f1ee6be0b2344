// Candidates: homes that the pre-allocation pass proposes to the attempts, which try them before the scan.
//
// Three tables, each keyed by the number of a vreg of the lowered program:
//
//   candidates   every vreg that was ever proposed, with its reason (priority) and distance from the operand that qualified (depth)
//   results      vregs for which a free home was found, with its first unit
//   overflow     vregs without a free home, with the instruction at which they were proposed. They are not tried again
//
// The source has six hash tables (FNV-1a, 32 bits), two of each kind, and does not say how these differ. Numbers of vregs are dense,
// so a table by number takes their place. A candidate is tried before the scan, and taken only if it is free of hard conflict
// (DECISIONS "candidate before or after commit"), which may_take decides.
//
// Source: source 000 "Interference Builder" (hash), "Pre-Allocated Candidate Check", "Pre-Allocation Pass". Tested by
// candidates_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/assign/geometry.h"
#include "allocator/assign/occupancy.h"
#include "ir/ids.h"

namespace regduel::allocator {

using ir::UnitSet;

// Small values by vreg number, in the order in which they were inserted.
template <class Value>
class CandidateTable {
 public:
  struct Entry {
    std::uint32_t key;
    Value value;
  };

  // Null if there is none; valid until the next insert.
  [[nodiscard]] const Value* find(std::uint32_t key) const {
    return key < entry_of_.size() && entry_of_[key] != kNone ? &entries_[entry_of_[key]].value : nullptr;
  }
  // False, without a change, if the key is there already.
  bool insert(std::uint32_t key, const Value& value) {
    if (key >= entry_of_.size()) entry_of_.resize(key + std::size_t{1}, kNone);
    if (entry_of_[key] != kNone) return false;
    entry_of_[key] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({key, value});
    return true;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> entry_of_;  // by key
  std::vector<Entry> entries_;
};

struct Candidate {
  std::uint8_t priority = 0;  // 1 its operand is read, 2 it is written, 3 both
  std::uint8_t depth = 0;     // 0 = the operand itself qualified; else steps through the operands that depend on it
};

class Candidates {
 public:
  // The first unit of a vreg's home, if one was found.
  [[nodiscard]] std::optional<int> home_of(ir::VRegId v) const {
    const std::int16_t* home = results_.find(v.value);
    return home == nullptr ? std::nullopt : std::optional<int>(*home);
  }
  // The home of a coalesced class is that of its first member that has one.
  [[nodiscard]] std::optional<int> home_of(std::span<const ir::VRegId> members) const;

  [[nodiscard]] const CandidateTable<Candidate>& candidates() const { return candidates_; }
  [[nodiscard]] const CandidateTable<std::int16_t>& results() const { return results_; }
  [[nodiscard]] const CandidateTable<std::uint32_t>& overflow() const { return overflow_; }

  // False if the vreg was proposed before.
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

// True if a footprint of this geometry may stand at `home`: aligned, below the limit, free.
//   conflicts         of the whole live range to be placed (for a class: of all its members)
//   not_allocatable   reserved units and those outside the file
//   limit             the footprint ends at or below it
[[nodiscard]] bool may_take(int home, const Geometry& geometry, const UnitSet& conflicts, const UnitSet& not_allocatable,
                            int limit);

}  // namespace regduel::allocator
