// The interface by which the driver shows a run, as far as it concerns one vreg. explain/observer.h implements it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/assign/attempt_listener.h"
#include "allocator/spill/guidance.h"
#include "allocator/spill_code/spill_code.h"
#include "allocator/walk/file_walk.h"

namespace regduel::allocator {

class RunListener : public AttemptListener {
 public:
  [[nodiscard]] virtual ir::VRegId vreg() const = 0;
  [[nodiscard]] virtual ir::RegFile file() const = 0;

  // From here on the listener is about the vreg that stands for its vreg.
  //   stands_for   by vreg: the vreg that it is merged into (merge_copies.h); empty = no vreg is merged
  virtual void follow(std::span<const ir::VRegId> stands_for) = 0;
  // A run begins, or goes on with its live ranges split.
  //   first_of   by vreg: the vreg that it is a piece of; empty = no live range is split
  // Both outlive the run.
  virtual void begin_run(const ir::Function& without_phis, std::span<const ir::VRegId> first_of, bool lives) = 0;
  //   rank   its turn in the queue of guidance, if guidance has named it
  virtual void spilled(const VictimRank& rank, std::int64_t round, std::int64_t cost) = 0;
  // A walk through the file of the vreg: it fits, or names vregs to spill.
  virtual void walked(const FileAllocator& allocator, const Walk& walk) = 0;
  // The last emitted() and the last finish() of a run hold: a result may be improved once more.
  virtual void emitted(std::int64_t round, std::int64_t number) = 0;
  virtual void finish(const SpillCode& lowered, const std::vector<int>& homes, const Plan& plan, bool is_fallback) = 0;
};

}  // namespace regduel::allocator
