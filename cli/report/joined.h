// Both sides of a comparison as one database for a report: each allocator of a side is an allocator of its own, "fatpoint (old)" and
// "fatpoint (new)", and the rows of one program under one target and limits are one case. So all of the page's charts that hold
// allocators against each other hold the sides against each other.
//
// Tested by document_test.cpp.
#pragma once

#include <string>

#include "cli/report/compared_runs.h"
#include "cli/report/database.h"

namespace regduel::cli {

// The name of an allocator in a report of `runs`: its own where two allocators of one run are compared.
[[nodiscard]] std::string column_of(const ComparedRuns& runs, const std::string& allocator, bool is_newer);

// The compared rows of both databases: no other run, allocator or campaign. Throws BadInput as read_report_database().
[[nodiscard]] ReportDatabase join(const ComparedRuns& runs, bool across_knobs);

}  // namespace regduel::cli
