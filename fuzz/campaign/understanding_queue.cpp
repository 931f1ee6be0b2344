#include "fuzz/campaign/understanding_queue.h"

#include <bit>
#include <utility>

namespace regduel::fuzz {

std::string name_of(const Failure& failure) { return failure.allocator + ": " + failure.signature; }

bool UnderstandingQueue::count(const Failure& failure) { return std::has_single_bit(++seen_[name_of(failure)]); }

std::uint64_t UnderstandingQueue::cases_of(const Failure& failure) const {
  const auto at = seen_.find(name_of(failure));
  return at == seen_.end() ? 0 : at->second;
}

bool UnderstandingQueue::push(Understand task) {
  if (queued_[name_of(task.failure)]++ >= kMostUnderstood) return false;
  task.number = next_++;
  tasks_.push_back(std::move(task));
  return true;
}

std::optional<Understand> UnderstandingQueue::pop() {
  if (tasks_.empty()) return std::nullopt;
  Understand task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

}  // namespace regduel::fuzz
