// Whether the values of a caller survive what its callees do beyond the lists of its calls.
//
// The must-analysis of symbolic.h is asked again about the caller alone, with effects at its calls:
//
//   Unit           the unit holds nothing known behind the call
//   Architectural  the unit is an architectural vreg of caller and callee, so both hold something new behind it: H loses (unit, n)
//                  for all other names n and (l, vreg) for all other locations l
//   SharedByte     the byte of shared memory holds nothing known behind the call
//
// An operand that is right without the effects and wrong with them needs what they took, and so does a `ret` at which a callee-saved
// register is not back. An address register (FORMAT.md, "Lowered spills") is needed where the spill code finds no address with the
// effects and finds one without. An operand that the program before leaves undefined, and junk that is moved and not read, need
// nothing. Tested by survival_test.cpp and calls_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracles/judge.h"
#include "oracles/symbolic/fixed_point.h"

namespace regduel::oracles::calls {

struct Effect {
  enum class Kind : std::uint8_t { Unit, Architectural, SharedByte };
  ir::InstId call;
  Kind kind = Kind::Unit;
  ir::PReg unit = {};      // a single one
  std::uint64_t byte = 0;  // of shared memory
};

class Survival {
 public:
  explicit Survival(const Case& caller) : case_(caller) {}

  struct Answer {
    ir::InstId reader;              // finds something else than without the effects; invalid = nobody does
    std::string doubt, unreadable;  // if not empty, why it cannot be told; the same because structure has findings
  };
  // Requires: the effects of one call stand together. Cost: as the symbolic judge.
  [[nodiscard]] Answer under(std::span<const Effect> effects);

 private:
  [[nodiscard]] ir::InstId lost_address(std::span<const Effect> effects) const;

  const Case& case_;
  std::optional<symbolic::Plan> plan_;  // without effects, made by the first question
};

}  // namespace regduel::oracles::calls
