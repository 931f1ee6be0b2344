// The best attempt at one file so far, and its homes, to be restored when the last attempt was not the best.
//
// Attempts are compared field by field, less being better. Without spilling: registers, then cost, then class width (source 000).
// With spilling: cost, then registers, since fewer registers first would reward spilling more (DECISIONS). An attempt that fits is
// better than one that does not.
//
// Source: source 000 "Best Result Recorder", source 001 "Best-result comparison". Tested by best_result_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/assign/attempt.h"
#include "allocator/assign/file_allocator.h"

namespace regduel::allocator {

struct ResultRecord {
  int attempt = -1;  // number of the attempt, -1 = none yet
  bool fits = false;
  int register_count = 0;     // highest unit used + 1
  int inverse_density = 0;    // 128 / register_count, 0 where that is 0
  int max_pressure = 0;       // most units live at one moment
  std::int64_t cost = 0;      // weight of the copies that remain
  std::int64_t pressure = 0;  // cumulative primary weight
  int class_width = 0;        // different units used
  int arch_peak_1 = 0;        // highest callee-saved unit used + 1
  int arch_peak_2 = 0;        // highest other unit used + 1
};

enum class ResultOrder : std::uint8_t { NoSpill, Spill };

// True if a is better than b, whose attempt came before.
[[nodiscard]] bool is_better(const ResultRecord& a, const ResultRecord& b, ResultOrder order);

class BestResult {
 public:
  explicit BestResult(ResultOrder order) : order_(order) {}

  // For comparisons from now on.
  void set_order(ResultOrder order) { order_ = order; }

  // Keeps the attempt, homes and all, if it is the best so far. True if so.
  bool record(int number, const FileAllocator& allocator, Attempt attempt);
  [[nodiscard]] bool has_any() const { return record_.attempt >= 0; }
  [[nodiscard]] const ResultRecord& best() const { return record_; }
  // The attempt behind it, as it was recorded. Requires has_any().
  [[nodiscard]] const Attempt& attempt() const { return kept_; }

 private:
  ResultOrder order_;
  ResultRecord record_;
  Attempt kept_;
};

// One line for the trace: every field.
[[nodiscard]] std::string describe(const ResultRecord& r);

}  // namespace regduel::allocator
