// See database.h.
#include "cli/report/database.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/schema.h"

namespace regduel::cli {
namespace {

using results::Sqlite;

std::optional<std::int64_t> number(const Sqlite::Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

void read_runs(Sqlite& db, ReportDatabase& d) {
  std::map<std::int64_t, std::size_t> at;
  Sqlite::Statement runs(db,
                         "SELECT id, program, command, machine, mode, started / 1000000, seconds, seed, first, next, allocations "
                         "FROM run ORDER BY id");
  while (runs.step()) {
    at[runs.integer(0)] = d.runs.size();
    d.runs.push_back({runs.integer(0),
                      std::to_string(runs.integer(0)),
                      runs.text(1),
                      runs.text(2),
                      runs.text(3),
                      runs.text(4),
                      number(runs, 5),
                      number(runs, 6),
                      number(runs, 7),
                      number(runs, 8),
                      number(runs, 9),
                      number(runs, 10),
                      {},
                      {}});
  }
  Sqlite::Statement counted(db, "SELECT run, allocator, verdict, cases FROM verdict");
  while (counted.step())
    if (at.contains(counted.integer(0)))
      d.runs[at[counted.integer(0)]].verdicts[counted.text(1)][counted.text(2)] += counted.integer(3);
  Sqlite::Statement samples(db, "SELECT run, time, next, inputs, features, edges, findings FROM sample ORDER BY run, time");
  while (samples.step())
    if (at.contains(samples.integer(0)))
      d.runs[at[samples.integer(0)]].samples.push_back(
          {samples.integer(1), samples.integer(2), samples.integer(3), samples.integer(4), samples.integer(5), samples.integer(6)});
}

void read_results(Sqlite& db, const std::string& path, ReportDatabase& d) {
  Sqlite::Statement programs(db, "SELECT id, hash, name, source, instructions FROM program");
  while (programs.step())
    d.programs[programs.integer(0)] = {
        path, programs.integer(0), programs.text(1), programs.text(2), programs.text(3), programs.integer(4)};
  Sqlite::Statement configurations(db, "SELECT id, allocator, knobs, target, limits FROM configuration");
  while (configurations.step())
    d.configurations[configurations.integer(0)] = {
        configurations.text(1), 0, path, configurations.text(1), configurations.text(2), configurations.text(3),
        configurations.text(4)};
  const std::string select =
      fmt::format("SELECT run, program, configuration, verdict, reason, {} FROM result ORDER BY run, program, configuration",
                  fmt::join(kReportMeasures, ", "));
  Sqlite::Statement rows(db, select.c_str());
  while (rows.step()) {
    ReportResult r{rows.integer(0), rows.integer(1), rows.integer(2), rows.text(3), rows.text(4), {}};
    for (std::size_t k = 0; k < std::size(kReportMeasures); ++k) r.figures.push_back(number(rows, 5 + static_cast<int>(k)));
    d.results.push_back(std::move(r));
  }
  Sqlite::Statement objections(
      db, "SELECT run, program, configuration, signature, message FROM objection ORDER BY run, program, configuration, signature");
  while (objections.step())
    d.objections.push_back(
        {objections.integer(0), objections.integer(1), objections.integer(2), objections.text(3), objections.text(4)});
}

void read_findings(Sqlite& db, ReportDatabase& d) {
  Sqlite::Statement findings(db,
                             "SELECT bucket, allocator, signature, decision, state, program, count, instructions, first_seen, "
                             "last_seen, input FROM finding ORDER BY bucket");
  while (findings.step())
    d.findings.push_back({findings.text(0), findings.text(1), findings.text(2), findings.text(3), findings.text(4),
                          findings.text(5), findings.integer(6), findings.integer(7), findings.integer(8), findings.integer(9),
                          findings.blob(10)});
  Sqlite::Statement sightings(db, "SELECT allocator, signature, message, count FROM sighting ORDER BY allocator, signature");
  while (sightings.step()) d.sightings.push_back({sightings.text(0), sightings.text(1), sightings.text(2), sightings.integer(3)});
}

// Of a run without sums of its own.
void add_up_verdicts(ReportDatabase& d) {
  std::map<std::int64_t, ReportRun*> without;
  for (ReportRun& r : d.runs)
    if (r.verdicts.empty()) without[r.id] = &r;
  for (const ReportResult& r : d.results)
    if (const auto run = without.find(r.run); run != without.end())
      ++run->second->verdicts[d.configurations[r.configuration].allocator][r.verdict];
}

}  // namespace

ReportDatabase read_report_database(const std::string& path) {
  results::require_database(path);
  Sqlite db(path);
  ReportDatabase d;
  read_runs(db, d);
  read_results(db, path, d);
  read_findings(db, d);
  add_up_verdicts(d);
  return d;
}

}  // namespace regduel::cli
