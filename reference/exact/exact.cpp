// See exact.h.

#include "reference/exact/exact.h"

#include <charconv>

#include <fmt/format.h>

#include "reference/colour/interference_graph.h"
#include "reference/exact/fewest_units.h"
#include "reference/liveness.h"
#include "reference/loops.h"
#include "reference/lower.h"
#include "reference/plan.h"
#include "reference/problem.h"
#include "reference/rewrite.h"

namespace regduel::reference {
namespace {

constexpr std::string_view kEffort = "exact-effort";
constexpr int kMostEffort = 1'000'000, kConflicts = 1000;
constexpr int kLoopBase = 10;  // of frequencies, which decide nothing here

// Thousands of conflicts; the error is one line.
std::expected<int, std::string> parse_effort(std::span<const std::pair<std::string, std::string>> settings) {
  int effort = 20;
  for (const auto& [name, value] : settings) {
    if (name != kEffort) return std::unexpected(fmt::format("exact has no knob \"{}\" (regduel knobs --with exact)", name));
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), effort);
    if (error != std::errc() || end != value.data() + value.size() || effort < 1 || effort > kMostEffort)
      return std::unexpected(fmt::format("{}: \"{}\" is no number from 1 to {}", name, value, kMostEffort));
  }
  return effort;
}

class Exact final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "exact"; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override {
    return {{std::string(kEffort),
             -1,
             fmt::format("int 1 to {}", kMostEffort),
             "20",
             "regduel",
             "thousands of conflicts of the solver in each question; then the answer is a range",
             {"1", "5"}}};
  }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    const auto effort = parse_effort(options.knobs);
    if (!effort) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, effort.error()});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, block_frequencies(program, cfg, kLoopBase), options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    const Plan plan = problem.all_in_registers();
    const Code code = lower(problem, plan);
    Liveness liveness(code);
    const InterferenceGraphs graphs = build_interference_graphs(problem, code, liveness);
    std::vector<ir::PReg> homes(code.temps.size());
    for (TempId t = 0; t < code.temps.size(); ++t) homes[t] = code.temps[t].fixed;
    std::vector<std::string> notes;
    for (const ir::RegFile file : ir::kAllFiles) {
      const FileGraph& graph = graphs.files[ir::index(file)];
      if (graph.size() == 0) continue;
      const UnitSet& all = problem.allocatable()[ir::index(file)];
      const FewestUnits fewest = fewest_units(graph, all, {.conflicts = std::int64_t{*effort} * kConflicts, .proof = {}});
      if (fewest.at_most < 0)
        return std::unexpected(
            ir::AllocFailure{ir::AllocFailure::Kind::Unsupported,
                             fewest.is_impossible(all.count())
                                 ? fmt::format("file {} does not fit into {} registers without spilling, which is proved",
                                               ir::name(file), all.count())
                                 : fmt::format("whether file {} fits into {} registers without spilling is not known",
                                               ir::name(file), all.count())});
      for (NodeId n = 0; n < graph.size(); ++n)
        homes[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(fewest.unit_of[n])};
      notes.push_back(fewest.is_proved()
                          ? fmt::format("file {}: {} registers, the fewest without splitting", ir::name(file), fewest.at_most)
                          : fmt::format("file {}: {} registers; the fewest are between {} and {}", ir::name(file), fewest.at_most,
                                        fewest.at_least, fewest.at_most));
      if (options.trace != nullptr)
        options.trace->line(fmt::format("exact: file {}: clique {}, {} to {}, questions {}", ir::name(file), fewest.clique,
                                        fewest.at_least, fewest.at_most, fewest.questions));
    }
    ir::Allocation result = rewrite(problem, plan, code, homes, graphs.is_dead, options.fuel);
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
    return result;
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_exact() { return std::make_unique<Exact>(); }

}  // namespace regduel::reference
