// A pattern is a correct rewriting of a correct allocation. patterns() lists them all.
#pragma once

#include <optional>
#include <string_view>

#include "trial/faults/site.h"

namespace regduel::trial {

struct Patterned {
  ir::Function program;
  ir::Limits limits;  // those of the subject, raised where the pattern took registers above them
};

struct Pattern {
  std::string_view name;  // "p2r"
  std::string_view what;  // one line
  // Nothing where there is no place for it. Ensures: well-formed, and a correct allocation of subject.before under the limits
  // returned.
  std::optional<Patterned> (*apply)(const Subject& subject, Random& random);
};

}  // namespace regduel::trial
