// Independent pieces of work on several threads, their results taken in order: the same output for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace regduel::cli {

// Calls work(k) for k in [0, n) on `jobs` threads, and what it returns on the calling thread, in ascending order of k. When that
// returns false, no new work is begun and the rest is dropped. An exception of work(k) is thrown where its result would be taken.
void in_order(std::int64_t n, int jobs, const std::function<std::function<bool()>(std::int64_t)>& work);

// The same where work(k) returns a Result, which take(k, result) gets.
template <class Result>
void in_order(std::int64_t n, int jobs, const std::function<Result(std::int64_t)>& work,
              const std::function<bool(std::int64_t, Result)>& take) {
  in_order(n, jobs, [&](std::int64_t k) {
    return [&take, k, result = std::make_shared<Result>(work(k))] { return take(k, std::move(*result)); };
  });
}

// 0 = as many threads as the machine has cores.
[[nodiscard]] int resolve_jobs(int jobs);

}  // namespace regduel::cli
