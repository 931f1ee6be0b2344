// See best_result.h.

#include "allocator/assign/best_result.h"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/planted.h"

namespace regduel::allocator {

bool is_better(const ResultRecord& a, const ResultRecord& b, ResultOrder order) {
  if (b.attempt < 0 || a.fits != b.fits) return b.attempt < 0 || a.fits;
  if (order == ResultOrder::Spill && a.fits)
    return std::tuple(a.cost, a.register_count, a.class_width) < std::tuple(b.cost, b.register_count, b.class_width);
  return std::tuple(a.register_count, a.cost, a.class_width) < std::tuple(b.register_count, b.cost, b.class_width);
}

bool BestResult::record(int number, const FileAllocator& allocator, Attempt attempt) {
  const ResultRecord r{.attempt = number,
                       .fits = attempt.fits,
                       .register_count = attempt.used,
                       .inverse_density = attempt.used > 0 ? 128 / attempt.used : 0,
                       .max_pressure = allocator.max_live(),
                       .cost = attempt.copy_weight,
                       .pressure = attempt.pressure,
                       .class_width = attempt.units.count(),
                       .arch_peak_1 = (attempt.units & allocator.callee_saved()).end(),
                       .arch_peak_2 = (attempt.units - allocator.callee_saved()).end()};
  if (!is_better(r, record_, order_)) {
    if (REGDUEL_PLANTED("fatpoint-best-homes-overwritten"))
      for (std::size_t v = 0; v < attempt.home.size(); ++v)
        if (attempt.home[v] >= 0) kept_.home[v] = attempt.home[v];
    return false;
  }
  record_ = r;
  kept_ = std::move(attempt);
  return true;
}

std::string describe(const ResultRecord& r) {
  return fmt::format("best: attempt {}, registers {}, density {}, pressure {}, cost {}, weight {}, width {}, peaks {} {}",
                     r.attempt, r.register_count, r.inverse_density, r.max_pressure, r.cost, r.pressure, r.class_width,
                     r.arch_peak_1, r.arch_peak_2);
}

}  // namespace regduel::allocator
