// The control-flow graph for Graphviz, with the instructions in the nodes.
#pragma once

#include <string>

#include "ir/program.h"

namespace regduel::ir {

[[nodiscard]] std::string to_dot(const Function& f);

}  // namespace regduel::ir
