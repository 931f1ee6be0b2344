// See operators.h.
#include "fuzz/faults/operators.h"

namespace regduel::fuzz {

std::span<const FaultOperator> fault_operators() {
  static const std::vector<FaultOperator> all = [] {
    std::vector<FaultOperator> list = general_faults();
    std::vector<FaultOperator> more = pattern_faults();
    for (FaultOperator& o : more) list.push_back(std::move(o));
    return list;
  }();
  return all;
}

}  // namespace regduel::fuzz
