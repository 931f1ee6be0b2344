#include "ir/allocator.h"

#include <fmt/format.h>

namespace regduel::ir {

std::string failure_message(int limit) {
  return fmt::format("Register allocation failed with register count of '{}'. Compile the program with a higher register target",
                     limit);
}

std::string failure_report(const Function& program, const AllocFailure& failure) {
  const Inst* const inst = failure.inst.is_valid() ? program.find_inst(failure.inst) : nullptr;
  if (inst == nullptr) return fmt::format("@{}: {}", program.name, failure.message);
  const std::string place = program.source_place(*inst);
  return fmt::format("@{}: #{}{}: {}", program.name, inst->id.value, place.empty() ? "" : " at " + place, failure.message);
}

}  // namespace regduel::ir
