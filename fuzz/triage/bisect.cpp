// See bisect.h.
#include "fuzz/triage/bisect.h"

#include <set>
#include <string_view>

namespace regduel::fuzz {

BadDecision first_bad_decision(const ShowsUnder& shows_under) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;  // more decisions than any program that can be allocated has
  const auto at = [&](std::int64_t limit) {
    ir::Fuel fuel{.limit = limit};
    return shows_under(fuel);
  };
  if (at(0)) return {};
  std::int64_t good = 0, bad = 1;
  for (; !at(bad); bad *= 2) {
    if (bad >= kMost) return {};
    good = bad;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (at(middle) ? bad : good) = middle;
  }
  // The first decision that is refused at the last good limit is the bad one.
  ir::Fuel fuel{.limit = good};
  static_cast<void>(shows_under(fuel));
  return {bad, std::string(fuel.refused)};
}

std::vector<std::string> needed_decisions(const ShowsUnder& shows_under) {
  std::set<std::string_view> taken;
  ir::Fuel enough{.taken = &taken};
  if (!shows_under(enough)) return {};
  std::vector<std::string> needed;
  for (const std::string_view kind : taken) {
    ir::Fuel fuel{.without = kind};
    if (!shows_under(fuel)) needed.emplace_back(kind);
  }
  return needed;
}

BadDecision first_bad_decision(const duel::Case& input, const Failure& failure) {
  return first_bad_decision([&](ir::Fuel& fuel) { return reproduces(input, failure, &fuel); });
}

}  // namespace regduel::fuzz
