#include "fuzz/campaign/schedule.h"

#include <algorithm>
#include <utility>

namespace regduel::fuzz {

Schedule::Schedule(std::uint64_t first, std::uint64_t runs, std::uint64_t window)
    : first_(first), done_(first), next_(first), end_(runs > 0 ? first + runs : UINT64_MAX), window_(window) {}

std::optional<Schedule::Range> Schedule::next_returned() {
  if (returned_.empty()) return std::nullopt;
  const auto [first, count] = *returned_.begin();
  returned_.erase(returned_.begin());
  return Range{first, count};
}

std::optional<Schedule::Range> Schedule::next_fresh(std::uint64_t most) {
  if (!has_fresh() || next_ - done_ >= window_) return std::nullopt;
  const std::uint64_t count = std::min(most, end_ - next_);
  return Range{std::exchange(next_, next_ + count), count};
}

std::uint64_t Schedule::next_one() { return next_++; }

void Schedule::hand_back(Range range) {
  if (range.count > 0) returned_.emplace(range.first, range.count);
}

void Schedule::finish(Range range, std::optional<Tally> tally, Tally& total) {
  finished_.emplace(range.first, Batch{range.count, std::move(tally)});
  for (auto at = finished_.begin(); at != finished_.end() && at->first == done_; at = finished_.erase(at)) {
    if (at->second.tally) total.add(*at->second.tally);
    done_ += at->second.count;
  }
}

}  // namespace regduel::fuzz
