// The least limit of the general register file that a program can be allocated with.
#pragma once

#include <functional>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::cli {

// The least N at whose limits no instruction is impossible; where there is none, all registers of the target.
//   limits_of   the limits for N registers; for 0 those without a limit of registers
[[nodiscard]] int least_registers(const ir::Function& program, const ir::Target& target,
                                  const std::function<ir::Limits(int)>& limits_of);

}  // namespace regduel::cli
