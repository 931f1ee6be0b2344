// The attempts at one file of one planned program, and the best of them.
//
// An attempt is one of three kinds:
//
//   of the table   number n = 0, 1, ...: one of three orders in turn, coalesced classes, weights
//   packing        after those of the table: without weights, since a duel counts registers and not copies. Tried too if no attempt
//                  of the table fits, since it may fit without weights. With spilling: fewer registers for the same spill code, one
//                  by one, as long as the vregs above them find room below
//   evicting       with spilling: finds the vregs to spill, and fits if there are none. In two orders, and then from the homes of
//                  the better one, as long as that spills less. The attempt that spills least stays
//
// Source: source 000 "Retry Loop"; the packing attempt is ours. Tested by attempts_test.cpp, driver_test.cpp and
// driver_trace_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "allocator/assign/attempt.h"
#include "allocator/assign/best_result.h"
#include "allocator/phases/planned_program.h"

namespace regduel::allocator {

class AttemptId {
 public:
  enum class Kind : std::uint8_t { OfTable, Packing, Evicting };

  [[nodiscard]] static constexpr AttemptId of_table(std::int64_t n) { return AttemptId(Kind::OfTable, n); }
  [[nodiscard]] static constexpr AttemptId packing() { return AttemptId(Kind::Packing, 98); }
  [[nodiscard]] static constexpr AttemptId evicting() { return AttemptId(Kind::Evicting, 99); }
  friend bool operator==(const AttemptId&, const AttemptId&) = default;

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  // As traces and explanations show it.
  [[nodiscard]] constexpr int number() const { return static_cast<int>(number_); }

 private:
  constexpr AttemptId(Kind kind, std::int64_t number) : kind_(kind), number_(number) {}
  Kind kind_;
  std::int64_t number_;
};

// Where eviction starts.
struct Eviction {
  std::vector<int>& kept;              // homes of the last attempt of this kind by long-lived vreg, empty = none; replaced
  std::span<const ir::VRegId> absent;  // ascending: vregs that guidance spills
  std::size_t num_long_lived = 0;
};

// Homes that a walk prefers.
struct HomesForWalk {
  std::vector<int> preferred;  // by vreg, -1 = none
  int used = 0;                // highest unit in them + 1
};

class FileAttempts {
 public:
  struct Options {
    std::int64_t round = 0;  // 0 = without spilling
    std::int64_t most = 0;   // attempts of the table
  };
  // Requires that the file has vregs. The run and the program outlive it.
  FileAttempts(const Run& run, PlannedProgram& program, ir::RegFile file, const Options& options);

  [[nodiscard]] ir::RegFile file() const { return allocator_.file(); }
  [[nodiscard]] const FileAllocator& allocator() const { return allocator_; }
  [[nodiscard]] bool fits() const { return best_.has_any() && best_.best().fits; }
  [[nodiscard]] const Attempt& best() const { return best_.attempt(); }

  // The attempts of the table and then one that packs, until one fits.
  void try_until_one_fits();
  // More of the table, and those that pack, while the result is above MaxLive. Requires fits().
  void improve();
  // An attempt with eviction, which fits if it spills no vreg and no vreg is absent.
  [[nodiscard]] Attempt evict(const Eviction& eviction);
  // An attempt with eviction that places classes as one where it can. If it fits, there is no need to walk.
  [[nodiscard]] HomesForWalk homes_for_walk();

 private:
  [[nodiscard]] bool may_spill() const { return options_.round > 0; }
  [[nodiscard]] bool may_improve() const;
  void next_of_table(int ceiling);
  void try_once(AttemptId id, int ceiling);
  void pack_into_fewer();
  [[nodiscard]] AttemptOptions scan_options(AttemptId id) const;
  void trace_eviction(const Attempt& result) const;
  template <class Try>
  [[nodiscard]] Attempt observed(const FileAllocator& allocator, AttemptId id, const AttemptOptions& options, Try try_it) const;

  const Run& run_;
  PlannedProgram& program_;
  Options options_;
  FileAllocator allocator_;
  BestResult best_;
  std::int64_t made_ = 0;  // attempts of the table
  bool has_packed_ = false;
};

// Improves the result of each file, and puts their best homes together. Requires that all fit.
[[nodiscard]] Homes improved_homes(const PlannedProgram& program, std::span<FileAttempts> files);

}  // namespace regduel::allocator
