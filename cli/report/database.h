// What a report reads from a database (results/schema.h). Nothing is written to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/sqlite.h"

namespace regduel::cli {

struct ReportRun {
  std::int64_t id = 0;
  std::string name;  // on the page: its id, or the side of a comparison
  std::string program, command, machine, mode;
  std::optional<std::int64_t> started, seconds, seed, first, next, allocations;  // started: in seconds since 1970
  // How many cases of each verdict, by allocator: what the session says, or else what its rows add up to.
  std::map<std::string, std::map<std::string, std::int64_t>> verdicts;
  struct Sample {
    std::int64_t time = 0, next = 0, inputs = 0, features = 0, edges = 0, findings = 0;
  };
  std::vector<Sample> samples;  // by time
};

struct ReportProgram {
  std::string path;     // of the database that has it
  std::int64_t id = 0;  // there
  std::string hash, name, source;
  std::int64_t instructions = 0;
};

struct ReportConfiguration {
  std::string column;  // its allocator, on the page: another one for each side of a comparison
  int side = 0;        // 1 = the newer one of a comparison
  std::string path;    // of the database that has it
  std::string allocator, knobs, target, limits;
};

struct ReportResult {
  std::int64_t run = 0, program = 0, configuration = 0;  // ids
  std::string verdict, reason;
  std::vector<std::optional<std::int64_t>> figures;  // in the order of kReportMeasures
};

struct ReportObjection {
  std::int64_t run = 0, program = 0, configuration = 0;
  std::string signature, message;
};

struct ReportFinding {
  std::string bucket, allocator, signature, decision, state, version;
  std::int64_t count = 0, instructions = 0, first_seen = 0, last_seen = 0;
  results::Blob input;
};

// An objection of a campaign as it was seen, whether or not it was reduced to a finding.
struct ReportSighting {
  std::string allocator, signature, message;
  std::int64_t count = 0;
};

// Names of measures (results/measure.h) that a report shows.
inline constexpr std::string_view kReportMeasures[] = {
    "registers",       "max_live",  "weighted_spill_bytes", "spill_store_bytes", "spill_load_bytes", "fewest_refill_bytes",
    "weighted_copies", "remats",    "bank_conflicts",       "estimated_latency", "instructions",     "occupancy_percent",
    "microseconds",    "heap_bytes"};

// Rows of a database, or of both sides of a comparison: then all rows are of the newer run, and ids are those of the join.
struct ReportDatabase {
  std::vector<ReportRun> runs;
  std::map<std::int64_t, ReportProgram> programs;              // by id
  std::map<std::int64_t, ReportConfiguration> configurations;  // likewise
  std::vector<ReportResult> results;                           // by run, program and configuration
  std::vector<ReportObjection> objections;
  std::vector<ReportFinding> findings;    // by bucket
  std::vector<ReportSighting> sightings;  // by allocator and signature
  bool across_knobs = false;              // of a comparison: what differs in its knobs is one case
};

// Throws BadInput: no such file, not a database of ours, another format.
[[nodiscard]] ReportDatabase read_report_database(const std::string& path);

}  // namespace regduel::cli
