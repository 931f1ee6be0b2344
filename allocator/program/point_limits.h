// The limit of file R by program point, where `setmaxnreg` changes it on the way (FORMAT.md, "Limits by point"): forward along the paths,
// the least of all that meet. Tested by point_limits_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "ir/unit_set.h"

namespace regduel::allocator {

class PointLimits {
 public:
  // The limit is the same everywhere.
  PointLimits() = default;
  // Of any version of a program. Cost: O(instructions), where some of them change the limit.
  PointLimits(const ir::Function& f, int at_entry);

  [[nodiscard]] bool vary() const { return least_ < most_; }
  // Without instructions that change it, both are the limit at the entry.
  [[nodiscard]] int least() const { return least_; }
  [[nodiscard]] int most() const { return most_; }
  // At an instruction, by its index; the lower of the two at one that changes it.
  [[nodiscard]] int at(std::size_t inst) const { return limit_.empty() ? most_ : limit_[inst]; }
  [[nodiscard]] bool is_lower(std::size_t inst) const { return vary() && at(inst) < most_; }
  // The units of a file that nothing may be in there, of those below most().
  [[nodiscard]] ir::UnitSet closed(ir::RegFile file, std::size_t inst) const {
    return file == ir::RegFile::R && is_lower(inst) ? ir::UnitSet::range(at(inst), most_) : ir::UnitSet();
  }

 private:
  int least_ = 0, most_ = 0;
  std::vector<std::uint16_t> limit_;  // by instruction; empty = no instruction changes it
};

}  // namespace regduel::allocator
