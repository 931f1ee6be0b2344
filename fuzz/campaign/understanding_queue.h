// Which failing cases are understood (fuzz/triage/triage.h), that is, reduced and bisected: of each failure, by allocator and
// signature, the 1st, 2nd, 4th, 8th ... case, and at most kMostUnderstood of them. One bug shows under many signatures and one
// signature may be many bugs: a few cases of each tell them apart.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "fuzz/campaign/messages.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

inline constexpr std::uint64_t kMostUnderstood = 24;  // cases of one failure

class UnderstandingQueue {
 public:
  // One more case of the failure. True where it is the 1st, 2nd, 4th, ...
  [[nodiscard]] bool count(const Failure& failure);
  // How many cases count() was told of.
  [[nodiscard]] std::uint64_t cases_of(const Failure& failure) const;

  // Numbers the task. False where enough cases of its failure have been queued already.
  bool push(Understand task);
  [[nodiscard]] std::optional<Understand> pop();  // the oldest
  [[nodiscard]] bool empty() const { return tasks_.empty(); }
  [[nodiscard]] std::size_t size() const { return tasks_.size(); }

 private:
  std::map<std::string, std::uint64_t> seen_, queued_;  // by name_of
  std::deque<Understand> tasks_;
  std::uint64_t next_ = 0;
};

// "briggs: structure/tied-operand@op:use"
[[nodiscard]] std::string name_of(const Failure& failure);

}  // namespace regduel::fuzz
