// The list of patterns. See patterns.h; tested by patterns_test.cpp.
#include "fuzz/faults/patterns.h"

#include "fuzz/faults/workshop.h"

namespace regduel::fuzz {

std::span<const Pattern> patterns() {
  static const std::vector<Pattern> list = [] {
    std::vector<Pattern> all;
    for (const auto& part : {pack_patterns(), slot_patterns(), remat_patterns(), move_patterns()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return list;
}

}  // namespace regduel::fuzz
