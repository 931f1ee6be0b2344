// See exact.h.

#include "reference/exact/exact.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "reference/colour/interference_graph.h"
#include "reference/exact/fewest_units.h"
#include "reference/exact/least_spill.h"
#include "reference/program/liveness.h"
#include "reference/program/loops.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/program/rewrite.h"

namespace regduel::reference {
namespace {

constexpr int kMostEffort = 1'000'000, kConflicts = 1000;
constexpr int kMostValues = 10'000;
constexpr int kLoopBase = 10;  // of frequencies where the program gives none, as those of FORMAT.md

struct Knobs {
  int effort = 20;   // thousands of conflicts
  int values = 200;  // that may be spilled
};

struct Row {
  ir::KnobInfo info;
  int Knobs::* member;
  int most;  // in [1, most]
};
Row effort_row() {
  return {{"exact-effort",
           -1,
           fmt::format("int 1 to {}", kMostEffort),
           "20",
           "regduel",
           "thousands of conflicts of the solver in each question; then the answer is a range",
           {"1", "5"}},
          &Knobs::effort,
          kMostEffort};
}
Row values_row() {
  return {{"exact-values",
           -1,
           fmt::format("int 1 to {}", kMostValues),
           "200",
           "regduel",
           "functions with more values that could be spilled are unsupported",
           {"20", "100"}},
          &Knobs::values,
          kMostValues};
}

// The error is one line.
std::expected<Knobs, std::string> parse(std::string_view allocator, const std::vector<Row>& rows,
                                        std::span<const std::pair<std::string, std::string>> settings) {
  Knobs knobs;
  for (const auto& [name, value] : settings) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.info.name == name; });
    if (row == rows.end())
      return std::unexpected(fmt::format("{} has no knob \"{}\" (regduel knobs --with {})", allocator, name, allocator));
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 1 || number > row->most)
      return std::unexpected(fmt::format("{}: \"{}\" is no number from 1 to {}", name, value, row->most));
    knobs.*(row->member) = number;
  }
  return knobs;
}
std::vector<ir::KnobInfo> infos(const std::vector<Row>& rows) {
  std::vector<ir::KnobInfo> list;
  for (const Row& r : rows) list.push_back(r.info);
  return list;
}
std::unexpected<ir::AllocFailure> bad_knob(const std::string& message) {
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, message});
}
std::unexpected<ir::AllocFailure> unsupported(std::string message) {
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, std::move(message)});
}
std::unexpected<ir::AllocFailure> impossible(const Problem& problem, const ir::Limits& limits) {
  return std::unexpected(
      ir::AllocFailure{.message = ir::failure_message(limits.of(*problem.impossible())), .inst = problem.impossible_inst()});
}

class Exact final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "exact"; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override { return infos({effort_row()}); }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    const auto knobs = parse(name(), {effort_row()}, options.knobs);
    if (!knobs) return bad_knob(knobs.error());
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, block_frequencies(program, cfg, kLoopBase), options.fuel);
    if (problem.impossible()) return impossible(problem, options.limits);
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
      const std::string proof = options.proof.empty() ? "" : fmt::format("{}.{}", options.proof, ir::name(file));
      const FewestUnits fewest = fewest_units(graph, all, {.conflicts = std::int64_t{knobs->effort} * kConflicts, .proof = proof});
      if (fewest.at_most < 0)
        return unsupported(
            fewest.is_impossible(all.count())
                ? fmt::format("file {} does not fit into {} registers without spilling, which is proved", ir::name(file),
                              all.count())
                : fmt::format("whether file {} fits into {} registers without spilling is not known", ir::name(file), all.count()));
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

class ExactSpill final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "exact-spill"; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override { return infos({effort_row(), values_row()}); }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    const auto knobs = parse(name(), {effort_row(), values_row()}, options.knobs);
    if (!knobs) return bad_knob(knobs.error());
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, block_frequencies(program, cfg, kLoopBase), options.fuel);
    if (problem.impossible()) return impossible(problem, options.limits);
    const LeastSpill least = least_spill(
        problem, {.conflicts = std::int64_t{knobs->effort} * kConflicts, .most_values = knobs->values, .proof = options.proof});
    switch (least.end) {
      case LeastSpill::End::Found: break;
      case LeastSpill::End::TooLarge:
        return unsupported(fmt::format("{} values could be spilled, more than exact-values = {}", least.values, knobs->values));
      case LeastSpill::End::Impossible:
        return unsupported("nothing fits, even with each value in memory, unless tuples are moved around single instructions");
    }
    if (options.trace != nullptr)
      options.trace->line(fmt::format("exact-spill: {} values, {} demands of points, {} of colouring, cost {} to {}", least.values,
                                      least.demands, least.refutations, least.at_least, least.at_most));
    ir::Allocation result = rewrite(problem, least.plan, least.code, least.homes, least.is_dead, options.fuel);
    result.notes.push_back(
        least.is_proved()
            ? fmt::format("weighted spill bytes: {}, the least with each value in a register or in memory throughout",
                          least.at_most)
            : fmt::format(
                  "weighted spill bytes: {}; the least with each value in a register or in memory throughout are between {} and "
                  "{}",
                  least.at_most, least.at_least, least.at_most));
    if (!least.is_written) result.notes.push_back("a proof was not finished: exact-effort is the knob for that");
    return result;
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_exact_spill() { return std::make_unique<ExactSpill>(); }
std::unique_ptr<ir::Allocator> make_exact() { return std::make_unique<Exact>(); }

}  // namespace regduel::reference
