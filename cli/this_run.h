// What this run of the program is called in a database.
#pragma once

#include "results/schema.h"

namespace regduel::cli {

// Version, command line, machine; the rest is the command's.
[[nodiscard]] results::RunInfo this_run();

}  // namespace regduel::cli
