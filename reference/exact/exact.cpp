// See exact.h.

#include "reference/exact/exact.h"

#include <fmt/format.h>

#include "ir/loops.h"
#include "reference/colour/interference_graph.h"
#include "reference/exact/fewest_units.h"
#include "reference/exact/least_spill.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/program/rewrite.h"

namespace regduel::reference {
namespace {

constexpr int kConflicts = 1000;

struct Knobs {
  int effort = 20;   // thousands of conflicts
  int values = 200;  // that may be spilled
  std::string proof;
};

ir::KnobTable<Knobs>::Row effort_row() {
  return {ir::knob("exact-effort", "regduel", "thousands of conflicts of the solver in each question; then the answer is a range",
                   {"1", "5"}),
          &Knobs::effort,
          {1, 1'000'000}};
}
ir::KnobTable<Knobs>::Row proof_row() {
  return {{.name = std::string(kExactProof), .group = ir::KnobGroup::Internal}, "a path", [](Knobs& k, std::string_view path) {
            k.proof = path;
            return true;
          }};
}
const ir::KnobTable<Knobs>& exact_knobs() {
  static const ir::KnobTable<Knobs> table("exact", {effort_row(), proof_row()});
  return table;
}
const ir::KnobTable<Knobs>& exact_spill_knobs() {
  static const ir::KnobTable<Knobs> table(
      "exact-spill",
      {effort_row(),
       {ir::knob("exact-values", "regduel", "functions with more values that could be spilled are unsupported", {"20", "100"}),
        &Knobs::values,
        {1, 10'000}},
       proof_row()});
  return table;
}
std::unexpected<ir::AllocFailure> unsupported(std::string message) {
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, std::move(message)});
}

using Result = std::expected<ir::Allocation, ir::AllocFailure>;

Result fewest_registers(const Problem& problem, const Knobs& knobs, const ir::AllocOptions& options) {
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
    const std::string proof = knobs.proof.empty() ? "" : fmt::format("{}.{}", knobs.proof, ir::name(file));
    const FewestUnits fewest = fewest_units(graph, all, {.conflicts = std::int64_t{knobs.effort} * kConflicts, .proof = proof});
    if (fewest.at_most < 0)
      return unsupported(
          fewest.is_impossible(all.count())
              ? fmt::format("file {} does not fit into {} registers without spilling, which is proved", ir::name(file), all.count())
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

Result least_spill_bytes(const Problem& problem, const Knobs& knobs, const ir::AllocOptions& options) {
  const LeastSpill least = least_spill(
      problem, {.conflicts = std::int64_t{knobs.effort} * kConflicts, .most_values = knobs.values, .proof = knobs.proof});
  switch (least.end) {
    case LeastSpill::End::Found: break;
    case LeastSpill::End::TooLarge:
      return unsupported(fmt::format("{} values could be spilled, more than exact-values = {}", least.values, knobs.values));
    case LeastSpill::End::Impossible:
      return unsupported("nothing fits, even with each value in memory, unless tuples are moved around single instructions");
  }
  if (options.trace != nullptr)
    options.trace->line(fmt::format("exact-spill: {} values, {} demands of points, {} of colouring, cost {} to {}", least.values,
                                    least.demands, least.refutations, least.at_least, least.at_most));
  ir::Allocation result = rewrite(problem, least.plan, least.code, least.homes, least.is_dead, options.fuel);
  result.notes.push_back(
      least.is_proved()
          ? fmt::format("weighted spill bytes: {}, the least with each value in a register or in memory throughout", least.at_most)
          : fmt::format(
                "weighted spill bytes: {}; the least with each value in a register or in memory throughout are between {} and "
                "{}",
                least.at_most, least.at_least, least.at_most));
  if (!least.is_written) result.notes.push_back("a proof was not finished: exact-effort is the knob for that");
  return result;
}

class Exact final : public ir::Allocator {
 public:
  using Solve = Result (*)(const Problem&, const Knobs&, const ir::AllocOptions&);
  Exact(std::string_view name, const ir::KnobTable<Knobs>& knobs, Solve solve) : name_(name), knobs_(knobs), solve_(solve) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return knobs_.infos(); }
  [[nodiscard]] Result allocate(const ir::Function& program, const ir::Target& target,
                                const ir::AllocOptions& options) const override {
    const auto knobs = knobs_.parse(options.knobs);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, ir::kFrequencyBase, options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    return solve_(problem, *knobs, options);
  }

 private:
  std::string_view name_;
  const ir::KnobTable<Knobs>& knobs_;
  Solve solve_;
};

}  // namespace

std::unique_ptr<ir::Allocator> make_exact() { return std::make_unique<Exact>("exact", exact_knobs(), fewest_registers); }
std::unique_ptr<ir::Allocator> make_exact_spill() {
  return std::make_unique<Exact>("exact-spill", exact_spill_knobs(), least_spill_bytes);
}

}  // namespace regduel::reference
