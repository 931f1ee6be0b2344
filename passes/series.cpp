#include "passes/series.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace regduel::passes {
namespace {

constexpr std::string_view kOrderWords = "names of passes with + between them, or none";
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

// The names of the knobs of a pass begin with its name (pass.h).
bool is_of(const Pass& pass, std::string_view knob) {
  return knob.starts_with(pass.name()) && knob.substr(pass.name().size()).starts_with('-');
}

// Gives what a step added ids from `next_id` on, if an id below it may be that of an instruction that an earlier step took away:
// the new instruction would be taken for that one.
void renumber(ir::Function& after, const ir::Function& before, std::uint32_t next_id) {
  if (before.next_inst_id().value == next_id) return;
  std::unordered_set<std::uint32_t> known;
  for (const ir::Inst& i : before.insts) known.insert(i.id.value);
  for (ir::Inst& i : after.insts)
    if (!known.contains(i.id.value)) i.id = ir::InstId(next_id++);
}

}  // namespace

Series::Series(std::span<const Pass* const> single)
    : single_(single), knobs_{ir::KnobInfo{.name = std::string(kSeriesOrder),
                                           .type = std::string(kOrderWords),
                                           .default_value = std::string(kDefaultOrder),
                                           .source = "regduel",
                                           .help = "the passes, in this order",
                                           .samples = orders()}} {
  for (const Pass* p : single) knobs_.insert(knobs_.end(), p->knobs().begin(), p->knobs().end());
}

std::expected<ir::Function, std::string> Series::run(const ir::Function& program, const ir::Target& target,
                                                     const PassOptions& options) const {
  std::string_view order = kDefaultOrder;
  for (const auto& [name, value] : options.knobs) {
    if (name == kSeriesOrder) order = value;
    if (std::ranges::find(knobs_, name, &ir::KnobInfo::name) == knobs_.end())
      return std::unexpected(ir::unknown_knob(kSeries, name));
  }
  const auto steps = parse(order);
  if (!steps) return std::unexpected(steps.error());
  ir::Function result = program;
  std::uint32_t next_id = program.next_inst_id().value;
  for (const Pass* step : *steps) {
    std::vector<std::pair<std::string, std::string>> own;
    std::ranges::copy_if(options.knobs, std::back_inserter(own), [&](const auto& setting) { return is_of(*step, setting.first); });
    auto next =
        run_recorded(*step, result, target, {.fuel = options.fuel, .knobs = own, .trace = options.trace, .passes = options.passes});
    if (!next) return next;
    renumber(*next, result, next_id);
    next_id = std::max(next_id, next->next_inst_id().value);
    result = std::move(*next);
  }
  return result;
}

std::expected<std::vector<const Pass*>, std::string> Series::parse(std::string_view order) const {
  std::vector<const Pass*> steps;
  if (order == "none") return steps;
  for (std::size_t at = 0; at <= order.size();) {
    const std::size_t end = std::min(order.find('+', at), order.size());
    const auto step = std::ranges::find(single_, order.substr(at, end - at), &Pass::name);
    if (step == single_.end()) return std::unexpected(ir::bad_knob_value(kSeriesOrder, kOrderWords, order));
    steps.push_back(*step);
    at = end + 1;
  }
  return steps;
}

}  // namespace regduel::passes
