// regduel zoo --together: many planted bugs at a time, and how well the triage tells them apart (trial/planted/together.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duel/case.h"

namespace regduel::cli {

struct TogetherRun {
  int bugs = 30;                  // drawn evenly from the catalogue; another seed begins at another one
  std::vector<std::string> only;  // these instead, where it is not empty
  int time = 600;                 // seconds, of each worker
  std::uint64_t seed = 1;
  int jobs = 1;
  std::vector<std::string> seed_arguments;  // how a worker is told of the inputs to begin with
  std::string save_to;                      // directory for the reduced cases; "" = nowhere
  bool json = false;
};

// The smallest shares that will do, in percent: of cases that belong to the majority bug of their bucket, and of cases in the
// largest bucket of their bug.
inline constexpr int kPurityWanted = 95, kInversePurityWanted = 80;

// Prints how it went; exit status kExitFinding where the shares are too small. Throws BadInput.
int zoo_together(const TogetherRun& run);
// One worker's part, in this process: a line of JSON a case on standard output.
int zoo_together_worker(const std::string& bugs, int time, std::uint64_t seed, std::vector<duel::Case> seeds);

}  // namespace regduel::cli
