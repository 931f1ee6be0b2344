// Independent pieces of work on several threads, their results taken in order: the same output for any number of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace regduel::cli {

// Calls work(k) for k in [0, n) on `jobs` threads, and take(k, result) on the calling thread, in ascending order of k. When take
// returns false, no new work is begun and the rest is dropped. An exception of work(k) is thrown where its result would be taken.
template <class Result>
void in_order(std::int64_t n, int jobs, const std::function<Result(std::int64_t)>& work,
              const std::function<bool(std::int64_t, Result)>& take) {
  struct Slot {
    std::optional<Result> result;
    std::exception_ptr error;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int64_t, Slot> ready;
  std::int64_t next = 0, taken = 0;
  bool stop = false;
  // No thread runs further ahead than this, so that memory stays bounded.
  const std::int64_t window = 64 * jobs;
  const auto worker = [&] {
    for (;;) {
      std::int64_t k = 0;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || next >= n || next < taken + window; });
        if (stop || next >= n) return;
        k = next++;
      }
      Slot slot;
      try {
        slot.result = work(k);
      } catch (...) {
        slot.error = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex);
        ready.emplace(k, std::move(slot));
      }
      changed.notify_all();
    }
  };
  std::vector<std::thread> threads;
  const auto finish = [&] {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    for (std::thread& t : threads) t.join();
  };
  try {
    for (int j = 0; j < jobs; ++j) threads.emplace_back(worker);
    for (; taken < n;) {
      Slot slot;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ready.contains(taken); });
        slot = std::move(ready.extract(taken).mapped());
        ++taken;
      }
      changed.notify_all();
      if (slot.error) std::rethrow_exception(slot.error);
      if (!take(taken - 1, std::move(*slot.result))) break;
    }
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

// 0 = as many threads as the machine has cores.
[[nodiscard]] inline int resolve_jobs(int jobs) {
  if (jobs > 0) return jobs;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

}  // namespace regduel::cli
