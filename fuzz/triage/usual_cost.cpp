// See usual_cost.h.
#include "fuzz/triage/usual_cost.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check_macro.h"
#include "duel/case_file.h"
#include "duel/heap_use.h"

namespace regduel::fuzz {
namespace {

constexpr std::uint64_t kUsualSeed = 1;
constexpr std::string_view kLeastProgram = R"(rir 1
func @f kernel target sm_90 threads 32
  block b0
    #0 exit
)";

std::int64_t processor_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// A fraction of a microsecond counts as one.
std::int64_t microseconds_of(const ir::Allocator& allocator, const duel::Case& input, const ir::AllocOptions& options) {
  const std::int64_t start = processor_nanoseconds();
  const auto allocation = allocator.allocate(input.program, *input.target, options);
  return (processor_nanoseconds() - start + 999) / 1000;
}

ir::AllocOptions options_for(const ir::Allocator& allocator, const duel::Case& input) {
  ir::AllocOptions options;
  options.limits = input.limits;
  options.knobs = duel::known_to(allocator, input.knobs);
  return options;
}

std::optional<std::int64_t> cost_once(const ir::Allocator& allocator, const duel::Case& input, Cost cost,
                                      const ir::AllocOptions& options) {
  if (cost == Cost::Microseconds) return microseconds_of(allocator, input, options);
  const duel::HeapPeak heap;
  const auto allocation = allocator.allocate(input.program, *input.target, options);
  return heap.bytes();
}

std::optional<UsualCost> measured(const ir::Allocator& allocator, Cost cost) {
  const auto least = duel::parse_case(kLeastProgram, "the least program");
  REGDUEL_CHECK(least.has_value(), "the least program is none");
  const std::optional<std::int64_t> base = cost_of(allocator, *least, cost);
  if (!base) return std::nullopt;
  const std::array one = {&allocator};
  std::vector<double> each;
  for (std::uint64_t k = 0; k < kUsualPrograms; ++k) {
    duel::Case input = duel::standard_case(kUsualSeed, k, one);
    input.knobs.clear();
    if (const auto all = cost_once(allocator, input, cost, options_for(allocator, input)))
      each.push_back(static_cast<double>(std::max<std::int64_t>(0, *all - *base)) /
                     static_cast<double>(input.program.insts.size()));
  }
  if (each.empty()) return std::nullopt;
  std::ranges::sort(each);
  return UsualCost{static_cast<double>(*base), each[each.size() / 2]};
}

}  // namespace

std::optional<Cost> find_cost(std::string_view name) {
  if (name == "heap_bytes") return Cost::HeapBytes;
  if (name == "microseconds") return Cost::Microseconds;
  return std::nullopt;
}

std::optional<UsualCost> usual_cost(const ir::Allocator& allocator, Cost cost) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Cost>, std::optional<UsualCost>> known;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace({std::string(allocator.name()), cost});
  if (is_new) at->second = measured(allocator, cost);
  return at->second;
}

std::optional<std::int64_t> cost_of(const ir::Allocator& allocator, const duel::Case& input, Cost cost, ir::Fuel* fuel) {
  ir::AllocOptions options = options_for(allocator, input);
  options.fuel = fuel;
  if (cost == Cost::HeapBytes) return cost_once(allocator, input, cost, options);
  // Each time with the same fuel.
  const ir::Fuel whole = fuel != nullptr ? *fuel : ir::Fuel();
  std::int64_t least = INT64_MAX;
  for (int k = 0; k < kTimings; ++k) {
    if (fuel != nullptr) *fuel = whole;
    least = std::min(least, microseconds_of(allocator, input, options));
  }
  return least;
}

}  // namespace regduel::fuzz
