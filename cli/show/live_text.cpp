// See live_text.h.
#include "cli/show/live_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/show/live_map.h"

namespace regduel::cli {
namespace {

constexpr int kRows = 8;  // of the curve
constexpr std::size_t kMostNeighbours = 12;

class Picture {
 public:
  Picture(const ir::Function& f, const LiveMap& map, std::size_t columns)
      : f_(f), map_(map), per_column_(std::max<std::size_t>(1, (f.insts.size() + columns - 1) / columns)),
        columns_((f.insts.size() + per_column_ - 1) / per_column_) {}

  std::string pressure(ir::RegFile file, int limit) const {
    std::vector<int> most(columns_);
    const std::vector<int> units = map_.pressure(file);
    for (std::size_t k = 0; k < units.size(); ++k) most[k / per_column_] = std::max(most[k / per_column_], units[k]);
    const int top = most.empty() ? 0 : *std::max_element(most.begin(), most.end());
    std::string out = fmt::format("pressure on {}: {} units at the most, the limit is {}{}\n", ir::name(file), top, limit,
                                  per_column_ > 1 ? fmt::format("; a column is {} instructions", per_column_) : "");
    if (top == 0) return out;
    const int step = (top + kRows - 1) / kRows;
    // A row shows what reaches into it: from more than `below` units on.
    for (int above = (top + step - 1) / step * step; above > 0; above -= step) {
      const int below = above - step;
      std::string line;
      for (const int m : most) line += m > below ? '#' : ' ';
      out += row(fmt::format("{}{}", below < limit && limit <= above ? "-> " : "", std::min(above, top)), line);
    }
    return out + blocks();
  }

  std::string range(std::size_t holder) const {
    std::string line(columns_, ' ');
    for (const LiveRange& r : map_.ranges(holder))
      for (std::size_t m = r.begin; m < r.end; ++m) line[m / 2 / per_column_] = '#';
    return row(fmt::format("%{}", map_.holders()[holder].number), line);
  }

 private:
  static std::string row(const std::string& label, std::string line) {
    line.resize(line.find_last_not_of(' ') + 1);
    return fmt::format("{:>9} |{}{}\n", label, line.empty() ? "" : " ", line);
  }
  // Where blocks begin, as far as there is room for their names.
  [[nodiscard]] std::string blocks() const {
    std::string line;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      const std::size_t at = f_.blocks[b].first_inst / per_column_;
      if (at < line.size()) continue;
      line.resize(at, ' ');
      line += fmt::format("^b{} ", b);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    return fmt::format("{:>9}   {}\n", "", line);
  }

  const ir::Function& f_;
  const LiveMap& map_;
  std::size_t per_column_, columns_;
};

}  // namespace

std::string live_text(const ir::Function& f, const ir::Limits& limits, ir::VRegId vreg, std::size_t columns) {
  const LiveMap map(f);
  const Picture picture(f, map, columns);
  const ir::RegFile file = f.vreg(vreg).file();
  std::string out = picture.pressure(file, limits.of(file));
  const auto holders = map.holders();
  const std::uint32_t root = f.storage(ir::Operand::of_vreg(ir::Role::Use, vreg)).root.value;
  const auto own = std::find_if(holders.begin(), holders.end(), [&](const Holder& h) { return h.number == root; });
  if (own == holders.end()) return out;
  const auto at = static_cast<std::size_t>(own - holders.begin());
  std::vector<std::size_t> shown = map.neighbours(at);
  const std::size_t all = shown.size();
  shown.resize(std::min(all, kMostNeighbours));
  std::sort(shown.begin(), shown.end());
  out += fmt::format("live ranges: %{} and {} of the {} vregs that are live with it\n", root, shown.size(), all);
  out += picture.range(at);
  for (const std::size_t h : shown) out += picture.range(h);
  return out;
}

}  // namespace regduel::cli
