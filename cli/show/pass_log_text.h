// What each pass over a program did, as a table, with the dumps below where there are some.
#pragma once

#include <string>

#include "ir/pass_scope.h"
#include "ir/program.h"

namespace regduel::cli {

[[nodiscard]] std::string text_of(const ir::Function& f, const ir::PassLog& log);

}  // namespace regduel::cli
