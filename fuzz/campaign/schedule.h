// Which programs of a campaign have been handed out, and which are done.
//
// Programs have numbers, [first, end). Workers are given ranges of them and answer in any order; results are taken in the order of
// the numbers, so that the sum is the same for any number of workers:
//
//   [first, done)   done, and added to the total
//   [done, next)    handed out, handed back, or done before something that precedes it is
//   [next, end)     not begun
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "fuzz/campaign/tally.h"

namespace regduel::fuzz {

class Schedule {
 public:
  struct Range {
    std::uint64_t first = 0, count = 0;
  };

  //   runs     programs to try; 0 = without end
  //   window   at most so many programs are handed out before the first of them is done: what waits for it stays bounded
  Schedule(std::uint64_t first, std::uint64_t runs, std::uint64_t window);

  // A range that was handed back; nullopt where there is none.
  [[nodiscard]] std::optional<Range> next_returned();
  // The next numbers, `most` of them unless fewer are left; nullopt at the end, and where the window is full.
  [[nodiscard]] std::optional<Range> next_fresh(std::uint64_t most);
  // Likewise one number, even where the window is full. Requires has_fresh().
  [[nodiscard]] std::uint64_t next_one();
  [[nodiscard]] bool has_fresh() const { return next_ < end_; }

  // Takes back a range that was handed out and will not be done there.
  void hand_back(Range range);
  // These were tried. Adds the tallies of all numbers up to done() to the total.
  //   tally   nullopt where the worker died
  void finish(Range range, std::optional<Tally> tally, Tally& total);

  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  struct Batch {
    std::uint64_t count = 0;
    std::optional<Tally> tally;
  };

  std::uint64_t first_, done_, next_, end_, window_;
  std::map<std::uint64_t, std::uint64_t> returned_;  // first, count
  std::map<std::uint64_t, Batch> finished_;          // by first; something before them is not done
};

}  // namespace regduel::fuzz
