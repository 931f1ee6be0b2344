// Constraints on the home of a vreg, in the numbering of seed 000, and the builder that derives them from a lowered program.
//
// Only preferences come this way: what must not be is a bit of the occupancy (DESIGN 4). So the weight of a constraint is 16
// where the source calls it hard and 1 to 15 where it is soft, and no weight decides correctness.
//
// The builder makes type 15, range, from every copy, edge copy, tie and hint: affinity to the unit in which it would vanish,
// weighted by the frequency of its block. It is the only type that goes to the secondary array. The pressure arrays know how the
// others weigh, except 4, 9 and 10.
// Source: seed 000 "Constraint Types", DECISIONS on types 0 to 15. Tested by scan_test.cpp (weights) and chains_test.cpp (affinities).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/lower.h"
#include "ir/program.h"

namespace regduel::allocator {

enum class ConstraintType : std::uint8_t {
  PointInterference = 0,
  ExcludeOne = 1,
  ExcludeAllBut = 2,
  BelowPoint = 3,
  PairedLow = 5,
  PairedHigh = 6,
  AlignedPair = 7,
  PhiRelated = 8,
  EvenParity = 11,
  OddParity = 12,
  ParityGroup = 13,
  ParityExtended = 14,
  Range = 15,
};

inline constexpr int kHardWeight = 16;
inline constexpr int kMaxSoftWeight = 15;

struct Constraint {
  ConstraintType type = ConstraintType::PointInterference;
  bool is_soft = true;
  std::int16_t weight = 1;
  std::int16_t unit = 0;       // the target where `partner` is invalid; else added to the partner's home
  ir::VRegId partner;          // counts once it has a home
};

// Constraint lists by vreg, one behind the other.
class ConstraintLists {
 public:
  // Affinities of all copies, ties and hints of a lowered program. Order: as the program has them.
  ConstraintLists(const ir::Function& original, const Lowered& lowered, const std::vector<std::int64_t>& block_frequency,
                  const Liveness& live);

  [[nodiscard]] std::span<const Constraint> of(ir::VRegId v) const {
    return {nodes_.data() + begin_[v.index()], begin_[v.index() + 1] - begin_[v.index()]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<Constraint> nodes_;
};

// 1 to 15, by the order of magnitude (binary) of how often something happens.
[[nodiscard]] int soft_weight(std::int64_t frequency);

}  // namespace regduel::allocator
