#include "cli/least_registers.h"

#include "oracles/completeness.h"

namespace regduel::cli {

int least_registers(const ir::Function& program, const ir::Target& target, const std::function<ir::Limits(int)>& limits_of) {
  int impossible = 0, enough = limits_of(0).of(ir::RegFile::R);
  while (enough - impossible > 1) {
    const int middle = (impossible + enough) / 2;
    const bool fits = !oracles::find_impossible(program, target, limits_of(middle));
    (fits ? enough : impossible) = middle;
  }
  return enough;
}

}  // namespace regduel::cli
