// The figures of ptxas on the PTX files of a duel, at each limit and at two levels of optimisation.
#pragma once

#include <string>
#include <vector>

#include "cli/input.h"
#include "cli/show/json.h"
#include "duel/ptxas/ptxas.h"

namespace regduel::cli {

struct PtxasRow {
  std::string file;
  int limit = 0;  // 0 = none
  int level = 3;
  duel::PtxasRun run;
};
// Says "skipped: no ptxas", and returns none, where there is no ptxas. Throws BadInput where no program is from a PTX file.
//   limits   none = no limit but the launch bounds of each kernel
[[nodiscard]] std::vector<PtxasRow> rows_of_ptxas(const std::vector<Program>& programs, std::vector<int> limits);
[[nodiscard]] Json json_of(const std::vector<PtxasRow>& rows);
// A table, and why there are no figures of a file; "" without rows.
[[nodiscard]] std::string text_of(const std::vector<PtxasRow>& rows);

}  // namespace regduel::cli
