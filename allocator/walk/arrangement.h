// Homes for the values of one instruction, whatever homes they had before: which value stands in which units, at the moment of reading
// and at that of writing.
//
// A value that lives across the instruction has one home at both. What does not stand anywhere yet gets room first where others need
// not move, then where the fewest units of others move aside, those in their preferred home last; if that fails, all are placed anew, the widest first.
// Tested by arrangement_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/geometry.h"
#include "ir/ids.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

using ir::UnitSet;

inline constexpr int kNowhere = -1;

struct Stand {
  ir::VRegId vreg;
  Geometry shape = {};
  bool at_reads = false, at_writes = false;
  int bound = kNowhere;      // the only home that it may have
  int before = kNowhere;     // where it stands before the instruction
  int now = kNowhere;        // its home
  int preferred = kNowhere;  // the home that it gets where it needs a new one and this is free
  UnitSet forbidden = {};    // units that are destroyed while it lives
};

// The units of a file, for tightest().
struct Room {
  UnitSet usable;
  int needed = 0;           // the program needs so many anyhow: the units below are taken first
  bool has_tuples = false;  // some value has several units
};

// The position of those in `free` that leaves the most tuples whole: next to units in use, else the highest of those needed anyhow, so
// that tuples find room at the lower end. kNowhere if there is none.
[[nodiscard]] int tightest(const UnitSet& free, const Geometry& shape, const Room& room);

class Arrangement {
 public:
  // The room outlives it.
  explicit Arrangement(const Room& room) : room_(room) {}

  std::vector<Stand> stands;

  // Gives each stand a home; those that have one keep it if they can. False if no way was found: `now` is `before` then.
  bool arrange() { return mend() || place_anew(); }
  // All of them anew: for a moment at which moving costs the same as staying.
  bool place_anew();

 private:
  // How much they leave to others: bound ones first, then the widest.
  [[nodiscard]] std::pair<int, int> order(std::size_t k) const;
  void clear_rows();
  void mark(std::size_t k, bool on);
  void put(std::size_t k, int unit);
  [[nodiscard]] UnitSet free_for(const Stand& s) const;
  // A new home in `free`; kNowhere if there is none.
  [[nodiscard]] int home_in(const UnitSet& free, const Stand& s) const;
  [[nodiscard]] bool is_taken(const Stand& s, int unit) const;
  bool mend();
  bool make_room(std::size_t k);
  [[nodiscard]] int cost_of_room(const Stand& s, int unit);
  bool move_aside(const Stand& s, int unit, bool stays);

  const Room& room_;
  // By row (reading, writing) and unit: the stand that is there, -1 = none.
  std::array<std::array<std::int16_t, ir::kMaxUnits>, 2> rows_ = {};
  std::array<UnitSet, 2> taken_ = {};
  std::vector<char> is_settled_;  // by stand: 1 = it has moved already, and does not move again for a narrower one
  std::vector<std::size_t> aside_, list_;
  std::vector<int> left_;
};

}  // namespace regduel::allocator
