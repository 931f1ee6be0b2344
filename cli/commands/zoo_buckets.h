// regduel zoo --buckets: a campaign against each planted bug, one at a time, and how many buckets it makes of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trial/planted/catalogue.h"

namespace regduel::cli {

struct BucketsRun {
  std::vector<const trial::PlantedBug*> bugs;
  int time = 20;  // seconds of each campaign; what is being understood then takes some more
  std::uint64_t seed = 1;
  int jobs = 1;                             // campaigns at a time, each of one worker
  std::vector<std::string> seed_arguments;  // of the inputs to begin with
  std::string save_to;                      // directory for the findings, a folder a bug; "" = nowhere
  bool json = false;
};

// The most buckets a bug, at the mean, that will do; kPurityWanted (zoo_together.h) is the share of cases that belong to the
// commonest bug of their bucket, over all bugs.
inline constexpr double kMeanBucketsWanted = 1.5;

// Prints a line a bug; exit status kExitFinding where buckets are too many, or too mixed. Throws BadInput.
int zoo_buckets(const BucketsRun& run);

}  // namespace regduel::cli
