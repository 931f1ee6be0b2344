// See parallel.h. Tested by duel_test.cpp and fuzz_test.cpp: the same output for any number of threads.
#include "cli/parallel.h"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace regduel::cli {
namespace {

// What work(k) returned or threw.
struct Slot {
  std::function<bool()> take;
  std::exception_ptr error;
};

}  // namespace

void in_order(std::int64_t n, int jobs, const std::function<std::function<bool()>(std::int64_t)>& work) {
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
        slot.take = work(k);
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
    while (taken < n) {
      Slot slot;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ready.contains(taken); });
        slot = std::move(ready.extract(taken).mapped());
        ++taken;
      }
      changed.notify_all();
      if (slot.error) std::rethrow_exception(slot.error);
      if (!slot.take()) break;
    }
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

int resolve_jobs(int jobs) {
  if (jobs > 0) return jobs;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

}  // namespace regduel::cli
