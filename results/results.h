// Results in the database (schema.h): what each allocator made of each program under each configuration, a row a case.
//
// Programs of equal content, also of several runs, share one row of `program`, which keeps the first name and source. Readers take
// pairs by (hash, configuration). Tested by results_test.cpp.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "duel/case.h"
#include "duel/duel.h"
#include "results/schema.h"

namespace regduel::results {

struct Configuration {
  std::string allocator, knobs, target, limits;  // as in the table

  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

// The inverses of the texts in a configuration.
//
// Name and value of each: "a=1 b=2 c=x y" says a = "1", b = "2", c = "x y". A word without "=" goes on with the value before it.
[[nodiscard]] duel::Knobs settings_in(const std::string& text);
// Units by file, 0 where nothing is said of it. nullopt where the text names no file or no number from 1.
[[nodiscard]] std::optional<ir::Limits> limits_in(const std::string& text);
// Target, limits and knobs; there is no program in it. nullopt where the target is not a shipped one, or a limit is beyond it.
[[nodiscard]] std::optional<duel::Case> case_of(const Configuration& configuration);

// One duel as rows.
struct CaseResults {
  struct Bout {
    Configuration configuration;
    std::string verdict, reason;
    std::vector<std::optional<std::int64_t>> figures;             // in the order of measures()
    std::vector<std::pair<std::string, std::string>> objections;  // signature, message
    std::string answer = {};       // of an external allocator, where judges object: the allocated program as text
    std::string answered_to = {};  // the hash of answered_case(), where there is an answer
  };
  std::string hash, name, source;
  std::uint64_t instructions = 0;
  Blob content;  // empty: NULL
  std::vector<Bout> bouts;
};

enum class Content { Kept, MadeAgain };  // whether the program is stored, or its source says how to make it again
//   source   where the program is from, as in the table
[[nodiscard]] CaseResults results_of(const duel::Case& input, const std::string& source, const duel::Duel& duel, Content content);

// What an external allocator was asked in a row: the program under its configuration. Its bytes name the answer (schema.h). nullopt as
// of case_of().
[[nodiscard]] std::optional<std::string> answered_case(const Configuration& configuration, const ir::Function& program);

// The source of a program of the standard mix.
[[nodiscard]] std::string mix_source(std::uint64_t seed, std::uint64_t index);

// Adds rows of one run. Transactions are the caller's. Throws BadInput. Cost: about 20 microseconds a bout.
class ResultTable {
 public:
  ResultTable(Sqlite& db, std::int64_t run) : db_(db), run_(run) {}
  void add(const CaseResults& results);

 private:
  [[nodiscard]] std::int64_t program_id(const CaseResults& results);
  [[nodiscard]] std::int64_t configuration_id(const Configuration& configuration);

  Sqlite& db_;
  std::int64_t run_;
  std::map<std::string, std::int64_t> programs_;  // by hash
  std::map<Configuration, std::int64_t> configurations_;
};

// One run in a file. Rows are there for good after every kBatch duels or kLongest, and after finish(), behind which nothing is added.
class ResultFile {
 public:
  // Opens or makes it. Throws BadInput, as all that follows does: not a database of ours, another format, no room.
  ResultFile(const std::string& path, const RunInfo& run);
  void add(const CaseResults& results);
  // The id of the run; 0 where it has no rows: then nothing is left of it.
  std::int64_t finish();

 private:
  static constexpr int kBatch = 500;
  static constexpr std::chrono::seconds kLongest{1};  // others wait for the lock meanwhile, and it is what an interrupt loses

  Sqlite db_;
  std::int64_t run_ = 0, cases_ = 0, allocations_ = 0, started_ = 0;
  std::chrono::steady_clock::time_point committed_ = std::chrono::steady_clock::now();
  std::optional<ResultTable> table_;
};

struct StoredRun {
  std::int64_t id = 0;
  RunInfo info;
  std::int64_t rows = 0;  // of `result`
};
// By id. Throws BadInput: no such file, not a database of ours.
[[nodiscard]] std::vector<StoredRun> read_runs(const std::string& path);

struct ResultRow {
  std::string hash, name, source;
  Configuration configuration;
  std::string verdict, reason;
  std::vector<std::optional<std::int64_t>> figures;  // in the order of measures()
};
// All rows of the run, by hash and configuration. Throws BadInput: no such file, not a database of ours, no such run.
//   run   its id; 0 = the last one that has rows
[[nodiscard]] std::vector<ResultRow> read_results(const std::string& path, std::int64_t run = 0);

// The program of a row of `program`: its content, or made again from its source. The error says why there is none: it was not kept,
// or this version makes another one.
[[nodiscard]] std::expected<ir::Function, std::string> read_program(Sqlite& db, std::int64_t id);
// The one whose hash begins so. Throws BadInput: none, several, or as above.
[[nodiscard]] ir::Function read_program(const std::string& path, const std::string& hash);

}  // namespace regduel::results
