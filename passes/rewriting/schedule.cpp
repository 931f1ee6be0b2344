#include "passes/rewriting/schedule.h"

#include <string_view>
#include <vector>

#include "ir/cfg.h"
#include "passes/liveness.h"
#include "passes/rewriting/block_order.h"
#include "passes/rewriting/sink.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;

struct Settings {
  bool sinks = true;
  bool orders = true;
  int latency = 0;
};

const ir::KnobTable<Settings>& table() {
  using Table = ir::KnobTable<Settings>;
  static const Table knobs(
      "schedule",
      {
          {ir::knob("schedule-sink", "", "Instructions go to the blocks that read what they define", {"0", "1"}), &Settings::sinks},
          Table::Row({.name = "schedule-order",
                      .type = "pressure, source",
                      .default_value = "pressure",
                      .help = "The order of a block: that of least pressure, or as it is",
                      .samples = {"pressure", "source"}},
                     "pressure or source",
                     [](Settings& s, std::string_view text) {
                       if (text != "pressure" && text != "source") return false;
                       s.orders = text == "pressure";
                       return true;
                     }),
          {ir::knob("schedule-latency", "",
                    "Instructions between a read of memory and its reader, where pressure allows (0 = pressure alone)",
                    {"0", "8", "40"}),
           &Settings::latency,
           {0, 400}},
      });
  return knobs;
}

class Schedule final : public Pass {
 public:
  std::string_view name() const override { return "schedule"; }
  std::string_view what_it_does() const override {
    return "rewrites: instructions go to their readers, and blocks into the order of least pressure";
  }
  bool rewrites() const override { return true; }
  std::span<const ir::KnobInfo> knobs() const override { return table().infos(); }
  std::expected<Function, std::string> run(const Function& program, const ir::Target&, const PassOptions& options) const override {
    const auto settings = table().parse(options.knobs);
    if (!settings) return std::unexpected(settings.error());
    Order order = source_order(program);
    if (settings->sinks) sink(program, order, options.fuel);
    const Function sunk = in_order(program, order);
    if (!settings->orders) return sunk;
    const Liveness liveness(sunk, ir::Cfg(sunk));
    const std::vector<int> units = units_of_roots(sunk);
    BlockOrder blocks(sunk, units);
    order = source_order(sunk);
    for (std::uint32_t b = 0; b < order.size(); ++b) {
      std::vector<std::uint32_t> best = blocks.best(order[b], liveness.live_out(BlockId(b)), settings->latency);
      if (best != order[b] && ir::may(options.fuel, "order-block")) order[b] = std::move(best);
    }
    return in_order(sunk, order);
  }
};

}  // namespace

const Pass& schedule() {
  static const Schedule pass;
  return pass;
}

}  // namespace regduel::passes
