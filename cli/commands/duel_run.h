// What a run of `regduel duel` comes to: its table, rows of JSON, rows of a database, findings, the sum.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/finding.h"
#include "cli/interrupt.h"
#include "cli/show/json.h"
#include "cli/show/output.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "fuzz/campaign/tally.h"
#include "results/results.h"

namespace regduel::cli {

struct DuelOutput {
  std::string findings{Findings::kUsualDirectory};
  std::string database;
  bool json = false;
};

// A row for each program and limit, the figures of the allocators beside each other; where that is wider than the terminal, a row for
// each allocator.
class DuelTable {
 public:
  //   longest_name   of the functions, in characters
  DuelTable(std::span<const ir::Allocator* const> duelists, std::size_t longest_name);
  // The rows of one duel, with the head before the first of them.
  //   name   of the function; "" where the rows above are of the same
  [[nodiscard]] std::string rows_of(const std::string& name, const duel::Case& input, const duel::Duel& duel);

 private:
  Table table_;
  std::vector<std::string> widest_;
  std::size_t columns_, name_columns_;
  bool is_stacked_ = false;
};

// Where a program is from.
struct Origin {
  std::string file;    // of the rows of JSON
  std::string source;  // of the rows of the database
  results::Content content = results::Content::Kept;
  std::optional<std::int64_t> number;  // of a random program
};

class DuelRun {
 public:
  //   total   of duels, for the progress line
  DuelRun(const DuelOutput& output, std::span<const ir::Allocator* const> duelists, const results::RunInfo& info, std::string label,
          std::int64_t total);
  void add(const duel::Case& input, const duel::Duel& duel, const Origin& origin);
  // What a judge of a whole file holds against one function.
  void object(const duel::Case& input, const duel::Bout& bout) { findings_.add(input, bout); }
  // What ptxas says of the files, as JSON.
  void set_ptxas(Json figures) { ptxas_ = std::move(figures); }
  void say(const std::string& text) { progress_.say(text); }
  void step() { progress_.step(1, "findings " + std::to_string(findings_.distinct())); }
  // Ctrl-C or SIGTERM: what has been added is kept.
  [[nodiscard]] bool is_interrupted() const { return interrupt_.is_asked_for(); }
  // Prints the sum. Returns the exit status.
  //   legend   above it, in text
  //   seed     of random programs, in JSON
  //   unreadable   complaints about files that were left out
  [[nodiscard]] int finish(const std::string& legend, std::optional<std::uint64_t> seed,
                           const std::vector<std::string>& unreadable);

 private:
  const DuelOutput& output_;
  Interrupt interrupt_;
  Findings findings_;
  fuzz::Tally tally_;
  std::optional<results::ResultFile> file_;
  Json rows_ = Json::array();
  std::optional<Json> ptxas_;
  Progress progress_;
};

}  // namespace regduel::cli
