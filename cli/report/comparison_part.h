// The part of a report's document that says what `regduel compare` says:
//
//   old, new       {database, run, command, version, machine, rows, made_again: whether the program that makes the report made this run,
//                  so that it can make its allocations again}
//   across_knobs, alpha
//   sections[]     {old, new (columns of the page), title, pairs, passed, only_old, only_new, changed_inputs, changed_knobs,
//                  verdicts[]: {case, old, new, reason},
//                  measures[]: {measure, old, new, pairs, less, more, ratio, low, high, p, p_adjusted, effect,
//                  worst[], best[]: {case, old, new, ratio}}}
//
// `case` is a place in the document's cases. Tested by document_test.cpp.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/report/compared_runs.h"

namespace regduel::cli {

// Where the report has the row of a side (0 = the older one).
using CaseOf = std::function<int(const results::ResultRow& row, int side)>;

// One measure as `compare --json` and the page have it, without its programs.
[[nodiscard]] nlohmann::ordered_json json_of(const results::MeasureComparison& m);

[[nodiscard]] nlohmann::ordered_json comparison_json(const ComparedRuns& runs, bool across_knobs, const std::string& version,
                                                     const CaseOf& case_of);

}  // namespace regduel::cli
