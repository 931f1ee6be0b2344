#include "passes/series.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace regduel::passes {
namespace {

constexpr std::string_view kDefaultOrder = "ssa+cssa+llvm+nvptx";

// Each order of each choice of the coalescers, as the program is and in SSA form; and copy propagation in front and behind.
std::vector<std::string> orders() {
  std::vector<std::string> all = {"none", "ssa", "copyprop+llvm+copyprop"};
  std::vector<std::string> names = {"cssa", "llvm", "nvptx"};
  do {
    std::string order;
    for (const std::string& name : names) {
      order += (order.empty() ? "" : "+") + name;
      if (std::ranges::find(all, order) != all.end()) continue;
      all.push_back(order);
      all.push_back("ssa+" + order);
    }
  } while (std::ranges::next_permutation(names).found);
  return all;
}

class Series final : public Pass {
 public:
  [[nodiscard]] std::string_view name() const override { return "series"; }
  [[nodiscard]] std::string_view what_it_does() const override {
    return "other passes one after the other, in the order of a knob";
  }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override {
    std::vector<ir::KnobInfo> all = {{std::string(kSeriesOrder), -1, "names of passes with + between them, or none",
                                      std::string(kDefaultOrder), "regduel", "the passes, in this order", orders()}};
    for (const Pass* p : passes())
      if (p != this) std::ranges::move(p->knobs(), std::back_inserter(all));
    return all;
  }
  [[nodiscard]] std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target& target,
                                                             const PassOptions& options) const override {
    std::string_view order = kDefaultOrder;
    std::vector<std::pair<std::string, std::string>> rest;
    for (const auto& setting : options.knobs) {
      if (setting.first == kSeriesOrder) order = setting.second;
      else rest.push_back(setting);
    }
    auto steps = parse(order);
    if (!steps) return std::unexpected(steps.error());
    if (!rest.empty()) {
      const std::vector<ir::KnobInfo> known = knobs();
      for (const auto& [name, value] : rest)
        if (std::ranges::none_of(known, [&](const ir::KnobInfo& k) { return k.name == name; }))
          return std::unexpected(fmt::format("series has no knob \"{}\"", name));
    }
    ir::Function result = program;
    std::uint32_t next_id = program.next_inst_id().value;
    for (const Pass* step : *steps) {
      std::vector<std::pair<std::string, std::string>> own;
      std::ranges::copy_if(rest, std::back_inserter(own), [&](const auto& setting) { return is_of(*step, setting.first); });
      auto next = run_recorded(*step, result, target,
                               {.fuel = options.fuel, .knobs = own, .trace = options.trace, .passes = options.passes});
      if (!next) return next;
      renumber(*next, result, next_id);
      next_id = std::max(next_id, next->next_inst_id().value);
      result = std::move(*next);
    }
    return result;
  }

 private:
  // What a step added gets ids from `next_id` on where an id below it may be that of an instruction which an earlier step took
  // away: it would be taken for that one.
  static void renumber(ir::Function& after, const ir::Function& before, std::uint32_t next_id) {
    if (before.next_inst_id().value == next_id) return;
    std::unordered_set<std::uint32_t> known;
    for (const ir::Inst& i : before.insts) known.insert(i.id.value);
    for (ir::Inst& i : after.insts)
      if (!known.contains(i.id.value)) i.id = ir::InstId(next_id++);
  }
  // Names of knobs begin with that of their pass (pass.h).
  static bool is_of(const Pass& pass, std::string_view knob) {
    return knob.starts_with(pass.name()) && knob.substr(pass.name().size()).starts_with('-');
  }
  [[nodiscard]] std::expected<std::vector<const Pass*>, std::string> parse(std::string_view order) const {
    std::vector<const Pass*> steps;
    if (order == "none") return steps;
    for (std::size_t at = 0; at <= order.size();) {
      const std::size_t end = std::min(order.find('+', at), order.size());
      const Pass* const step = find_pass(order.substr(at, end - at));
      if (step == nullptr || step == this)
        return std::unexpected(
            fmt::format("knob {}: expected names of passes with + between them, or none, found \"{}\"", kSeriesOrder, order));
      steps.push_back(step);
      at = end + 1;
    }
    return steps;
  }
};

}  // namespace

const Pass& series() {
  static const Series pass;
  return pass;
}

}  // namespace regduel::passes
