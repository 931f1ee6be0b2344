// The one JSON document that the page of a report reads. Database -> document -> page: nothing flows back.
//
//   regduel, database        version of the program; name of the file
//   allocators[]             names, the duelists of this program first: production (fatpoint), reference (briggs)
//   texts[]                  strings that others name by number: targets, limits, knobs, reasons
//   runs[]                   {id, program, command, machine, mode, started, seconds, seed, first, next, allocations,
//                            verdicts: {allocator: {verdict: cases}}, samples: {time[], next[], inputs[], features[], edges[],
//                            findings[]}}; times in seconds since 1970, figures null where the database has none
//   programs                 {hash[] (its beginning), name[], source[], instructions[], fixed[] (the highest unit of R that an operand is
//                            fixed to, + 1)}
//   cases                    a row is a program at one target and limits in one run: {run[], program[] (places in the lists above),
//                            target[], limits[], knobs[] (texts; of all allocators together), limit[] (of file R, null = not
//                            limited), max_live[], fewest_refill_bytes[], detail[] (place, -1 = none), of: {allocator: {verdict[],
//                            reason[], MEASURE[]}}}
//   targets                  {name: {file: units}}, as shipped
//   objections[]             {case, allocator, signature, message}
//   findings[]               {bucket, allocator, signature, decision, state, count, instructions, first_seen, last_seen, version,
//                            arguments, program, detail}
//   sightings[]              {allocator, signature, message, count}
//   details[]                function_detail.h, and {title, case | finding}
//   details_missing          {asked, budget, no_program, too_large}: why there are no more of them
//
// Of a comparison also:
//   columns                  {allocator as above: {allocator: its own name, side: 0 = the older one, 1 = the newer one}}
//   cases.older_knobs[]      of the older side; knobs[] are those of the newer one where the case has it
//   comparison               comparison_part.h
//
// Tested by document_test.cpp.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/report/compared_runs.h"

namespace regduel::cli {

inline constexpr std::size_t kMostDetailBytes = 9'000'000;
inline constexpr std::size_t kMostSamples = 400;  // of one run; more are thinned evenly

struct ReportOptions {
  std::string version;       // of this program
  std::size_t details = 40;  // functions shown in detail: findings, then what judges objected to, then the largest gaps
};

// The same database gives the same document. Throws BadInput (database.h). Cost: O(rows), and for each detail some allocations.
[[nodiscard]] nlohmann::ordered_json report_document(const std::string& path, const ReportOptions& options);

// The document of two runs held against each other: each allocator of a side is an allocator of its own (joined.h). Findings of
// campaigns are not in it. Likewise.
[[nodiscard]] nlohmann::ordered_json comparison_document(const ComparedRuns& runs, bool across_knobs, const ReportOptions& options);

}  // namespace regduel::cli
