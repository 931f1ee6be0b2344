// The hunt for one planted bug: a campaign on one core until something fails, then the reducer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duel/case.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"
#include "trial/planted/catalogue.h"

namespace regduel::trial {

struct HuntOptions {
  std::uint64_t seed = 1;
  double seconds = 60;                         // of looking; reducing comes on top
  std::vector<duel::Case> seeds;               // tried first; empty = from nothing
  std::vector<const ir::Allocator*> duelists;  // empty = all
  // Of a loss: hunts for this gap instead of any failure, past programs that have it without the loss, too.
  const PlantedBug* loss = nullptr;
};

struct Catch {
  bool found = false;
  double seconds = 0;                                    // until the first failure
  std::uint64_t inputs = 0;                              // tried until then
  fuzz::Failure failure;                                 // the first of that case, by the order of judges
  std::size_t instructions_found = 0, instructions = 0;  // of the case as it was found, and reduced
  double reduce_seconds = 0;
  bool keeps_signature = false;  // the reduced case still shows the failure when all judges look at it; and not without the loss
  std::string reduced;           // as text (case_file.h)
};

// Hunts for any failure in this process. The caller plants the bug before, with plant().
[[nodiscard]] Catch hunt(const HuntOptions& options);

}  // namespace regduel::trial
