// The database: one SQLite file, which `regduel duel --db`, `fuzz --db` and `merge` write, and `compare`, `report` and `export`
// read.
//
//   meta(key, value)           'format': kDatabaseFormat
//   run                        one row a run of a command
//     id, program (the version of regduel), command, machine, started (microseconds since 1970), seconds
//     mode ('duel', 'mix', 'explore'), seed, first, next (of a campaign: programs [first, next) of the seed), allocations
//   program                    one row for all programs of one content
//     id, hash (of the content), name, source ("corpus/ptx/saxpy.ptx"; "standard mix, seed 1, case 17"), instructions
//     content (ir::encode(); NULL where the source says how this version makes it again)
//   configuration              id, allocator, knobs ("a=1 b=2"), target, limits ("R=32 P=7")
//   result                     one row a program, configuration and run: verdict ('pass', 'fail', 'inconclusive', 'impossible',
//                              'unsupported'), reason, one column a measure (measure.h), NULL where there is no allocation or where
//                              it is beyond counting. A campaign that explores has them for the inputs that it keeps and for those
//                              that fail
//   objection                  what judges said against a result, by signature: message
//   verdict(run, allocator, verdict, cases)   of a campaign: the sums over all its cases
//   sample(run, time, next, inputs, features, edges, findings)   of a campaign: one row a second (since 1970): how far it is
//   campaign(seed, mode, next)    programs [0, next) of this seed are done, and the next session goes on there
//   answer(input, allocator, program)   the allocated programs, as RIR text, of external allocators that judges have objected to; input:
//                              content_hash() of the bytes of the case (duel/case.h)
//   input(hash, ...)              the corpus of campaigns (campaign/store.h)
//   sighting(allocator, signature, ...), finding(bucket, ...)   what campaigns have found (campaign/store.h)
//
// Ids hold within one file; in others a run is known by its start, machine, command and seed, a program by its hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "results/sqlite.h"

namespace regduel::results {

inline constexpr int kDatabaseFormat = 6;

// Makes what is missing; of a file that can't be written, nothing. Throws BadInput where it is of another format, or can't be made.
void open_database(Sqlite& db);
// A writer calls it when it has written everything. The file then holds all of it, and reading it needs no permission to write in
// its folder. While another process has the file open nothing changes; the last writer to end does it.
void close_database(Sqlite& db);
// Opens a file that has to be there. Throws BadInput: no such file, no database of ours, another format.
void require_database(const std::string& path);
// The file may be replaced: no other process has it open, and nothing of it is left in a log beside it. Throws BadInput.
void require_unused(const std::string& path);

struct RunInfo {
  std::string program, command, machine;
  std::string mode = "duel";
  std::uint64_t seed = 0, first = 0;
};
// A new row, begun now. Returns its id.
[[nodiscard]] std::int64_t begin_run(Sqlite& db, const RunInfo& info);

// Adds runs, programs, configurations, results and what belongs to them that the database `other`, attached under this name, has.
// Rows that both have stay once; of one run the later copy counts.
void merge_runs(Sqlite& db);

// Rows of `answer`. Nothing where it was not kept, or an older version has written the file.
void keep_answer(Sqlite& db, const std::string& input_hash, const std::string& allocator, const std::string& program);
[[nodiscard]] std::optional<std::string> read_answer(Sqlite& db, const std::string& input_hash, const std::string& allocator);

[[nodiscard]] std::int64_t microseconds_since_1970();

// The name of a program or an input: XXH3 of 128 bits, in 32 hexadecimal digits.
[[nodiscard]] std::string content_hash(const Blob& bytes);

}  // namespace regduel::results
