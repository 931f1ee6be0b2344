// See nospill_phase.h.

#include "allocator/phases/nospill_phase.h"

#include "allocator/assign/retry.h"
#include "allocator/phases/attempts.h"

namespace regduel::allocator {

std::optional<Placed> run_nospill_phase(Progress& p) {
  const Knobs& knobs = p.run.facts.knobs;
  ir::PassScope scope(p.run.instruments.passes, "nospill", &p.program().code().f);
  std::vector<FileAttempts> files;
  files.reserve(ir::kNumFiles);
  for (const ir::RegFile file : kFileOrder) {
    if (p.program().vregs(file).empty()) continue;
    bool& is_high = p.high_pressure[ir::index(file)];
    is_high = knobs[Knob::FastAllocation] == 0 && p.program().guidance().is_over(file);
    p.first_misfit = file;
    const std::int64_t most = attempts_without_spilling(knobs, !is_high);
    if (most == 0) return std::nullopt;
    files.emplace_back(p.run, p.program(), file, FileAttempts::Options{.most = most});
    files.back().try_until_one_fits();
    is_high = !files.back().fits();
    if (is_high) return std::nullopt;
  }
  return Placed{improved_homes(p.program(), files)};
}

}  // namespace regduel::allocator
