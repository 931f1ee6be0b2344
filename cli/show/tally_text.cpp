// See tally_text.h.
#include "cli/show/tally_text.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/show/output.h"
#include "cli/show/terminal.h"
#include "duel/allocators.h"

namespace regduel::cli {

std::string text_of(const fuzz::Tally& tally) {
  if (tally.cases() == 0) return "";
  std::vector<std::uint32_t> sizes = tally.sizes();
  std::sort(sizes.begin(), sizes.end());
  const auto large = static_cast<std::uint64_t>(sizes.end() - std::lower_bound(sizes.begin(), sizes.end(), 1000u));
  std::string out = fmt::format("{}; instructions: median {}, {} of 1000 or more, largest {}\n", counted(tally.cases(), "duel"),
                                sizes[sizes.size() / 2], percent(large, tally.cases(), 1), sizes.back());
  Table table({"allocator", "pass", "fail", "inconclusive", "impossible", "spilling", "registers", "MaxLive", "store bytes",
               "load bytes", "frame bytes", "least spill", "seconds"});
  for (const fuzz::Tally::Row& r : tally.rows())
    table.row({duel::shown_name(r.allocator), fmt::format("{}", r.pass), fmt::format("{}", r.fail),
               fmt::format("{}", r.inconclusive), percent(r.impossible, tally.cases(), 1),
               percent(r.spilling, tally.cases() - r.impossible - r.unsupported, 1), fmt::format("{}", r.registers),
               fmt::format("{}", r.max_live), fmt::format("{}", r.store_bytes), fmt::format("{}", r.load_bytes),
               fmt::format("{}", r.frame_bytes), percent(r.best, r.best + r.worst, 1), fmt::format("{:.2f}", r.seconds)});
  out += table.text_within(columns_of(STDOUT_FILENO));
  for (const fuzz::Tally::Row& r : tally.rows())
    for (const fuzz::Tally::Opinions& o : r.opinions)
      for (const auto& [reason, count] : o.inconclusive)
        out += fmt::format("inconclusive: {} on {} of {} allocations ({}) of {}: {}\n", o.judge, count, r.allocations,
                           percent(count, r.allocations, 1), duel::shown_name(r.allocator), reason);
  for (const fuzz::Tally::Row& r : tally.rows())
    if (r.unsupported > 0) {
      out += fmt::format("unsupported: {} of {} cases ({}) by {}\n", r.unsupported, tally.cases(),
                         percent(r.unsupported, tally.cases(), 1), duel::shown_name(r.allocator));
      for (const auto& [reason, cases] : r.unsupported_for) out += fmt::format("  {:>6}  {}\n", cases, reason);
    }
  if (tally.saturated() > 0)
    out += fmt::format("{} cases are in no weighted sum and no comparison: what is moved in their loops is beyond counting\n",
                       tally.saturated());
  if (tally.disagreements() > 0)
    out += fmt::format("{} on whose correctness two judges contradict each other\n", counted(tally.disagreements(), "allocation"));
  if (tally.metamorphic() == 0) return out;
  out += fmt::format("metamorphic: {} allocations asked for again with variants of the program, {} of them inconclusive\n",
                     tally.metamorphic(), tally.metamorphic_inconclusive());
  if (tally.changes().empty()) return out;
  Table observed({"allocator", "variant", "figure", "more in", "less in", "sum of differences"}, 3);
  for (const auto& [key, c] : tally.changes())
    observed.row({duel::shown_name(std::get<0>(key)), std::get<1>(key), std::get<2>(key),
                  percent(c.more, tally.metamorphic() / tally.rows().size(), 1),
                  percent(c.less, tally.metamorphic() / tally.rows().size(), 1),
                  c.sum ? fmt::format("{:+}", *c.sum) : "saturated"});
  return out + observed.text_within(columns_of(STDOUT_FILENO), {"sum of differences", "figure"});
}

Json json_of(const fuzz::Tally& tally) { return tally.json(); }

}  // namespace regduel::cli
