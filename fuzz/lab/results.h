// The database of results: what each allocator made of each program under each configuration, a row a case, in one SQLite file.
//
//   results(version)                                  format
//   run(id, program, command, machine, started)       one row a run of a command; `program` is the version of regduel
//   program(id, hash, name, source, instructions)     `hash` of its content (ir/text/binary.h), `source` says where from
//   configuration(id, allocator, knobs, target, limits)
//   result(run, program, configuration, verdict, reason, one column a measure (measure.h))
//   objection(run, program, configuration, signature, message)   what judges said against it
//
// The same program is one row of `program`, whatever file or run it came from; the first name and source are kept. A measure is
// NULL where there is no allocation or where it is beyond counting. Readers take pairs by (hash, configuration).
// Tested by results_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/sqlite.h"
#include "fuzz/duel/duel.h"
#include "fuzz/duel/fuzz_input.h"

namespace regduel::fuzz {

inline constexpr int kResultsVersion = 1;

struct RunInfo {
  std::string program;  // version of regduel
  std::string command;
  std::string machine;
};

struct Configuration {
  std::string allocator, knobs, target, limits;  // knobs "a=1 b=2", limits "R=32 P=7"

  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

// Adds one run to a file. What was added is there for good after finish(), or every kBatch duels.
class ResultWriter {
 public:
  // Opens or makes it. Throws BadInput, as all that follows does: not a database of ours, another format, no room.
  ResultWriter(const std::string& path, const RunInfo& run);
  //   source   where the program is from: "corpus/ptx/saxpy.ptx", "standard mix, seed 1, case 17"
  // Cost: about 20 microseconds a bout.
  void add(const FuzzInput& input, const std::string& source, const Duel& duel);
  void finish();

 private:
  static constexpr int kBatch = 500;
  [[nodiscard]] std::int64_t program_id(const FuzzInput& input, const std::string& source);
  [[nodiscard]] std::int64_t configuration_id(const Configuration& configuration);

  Sqlite db_;
  std::int64_t run_ = 0;
  int pending_ = 0;
  std::map<std::string, std::int64_t> programs_;  // by hash
  std::map<Configuration, std::int64_t> configurations_;
};

struct ResultRow {
  std::string hash, name, source;
  Configuration configuration;
  std::string verdict, reason;
  std::vector<std::optional<std::int64_t>> figures;  // in the order of measures()
};
// All rows of the run, by hash and configuration. Throws BadInput: no such file, not a database of results, no such run.
//   run   its id; 0 = the last one
[[nodiscard]] std::vector<ResultRow> read_results(const std::string& path, std::int64_t run = 0);

}  // namespace regduel::fuzz
