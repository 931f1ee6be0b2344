// Two runs that are held against each other, and which of their allocators: what `regduel compare` and `regduel report` ask for.
//
// Two databases, two runs of one, or two allocators of one run. Tested by duel_test.cpp and document_test.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "results/comparison.h"
#include "results/results.h"

namespace regduel::cli {

struct ComparedOptions {
  std::vector<std::string> databases, runs, allocators;
  bool across_knobs = false;

  // All but the databases.
  void add_to(Arguments& a);
};

struct ComparedRun {
  std::string path;
  results::StoredRun run;
  std::vector<results::ResultRow> rows;  // by hash and configuration
};

// The allocators of one comparison: the same on both sides, or two of one run.
struct ComparedAllocators {
  std::string older, newer;
  [[nodiscard]] std::string title() const;
};

struct ComparedRuns {
  ComparedRun older, newer;
  std::vector<ComparedAllocators> sections;  // at least one
  std::vector<std::string> asked;            // names of --allocators
  [[nodiscard]] bool is_one_run() const { return older.path == newer.path && older.run.id == newer.run.id; }
};

// Throws BadInput: no such file, run or allocator, or nothing to compare with.
[[nodiscard]] ComparedRuns read_compared_runs(const ComparedOptions& options);

// One comparison a section; their p-values are adjusted together. They hold pointers into the rows of `runs`.
[[nodiscard]] std::vector<results::Comparison> compare_sections(const ComparedRuns& runs, results::CompareOptions options);

}  // namespace regduel::cli
