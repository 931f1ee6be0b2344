// See exact.h.

#include "reference/exact/exact.h"

#include <fmt/format.h>

#include "ir/loops.h"
#include "ir/prover.h"
#include "ir/register_limit.h"
#include "reference/by_point/least.h"
#include "reference/exact/fewest_units.h"
#include "reference/exact/least_spill.h"
#include "reference/exact/value_graphs.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/program/rewrite.h"
#include "reference/textbook/chordal.h"

namespace regduel::reference {
namespace {

constexpr int kConflicts = 1000;

struct Knobs {
  int effort = 20;   // thousands of conflicts
  int values = 200;  // that may be spilled
  std::string proof;
};

ir::KnobTable<Knobs>::Row effort_row(std::vector<std::string> samples = {"1", "5"}) {
  return {ir::knob("exact-effort", "regduel", "thousands of conflicts of the solver in each question; then the answer is a range",
                   std::move(samples)),
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
const ir::KnobTable<Knobs>& exact_split_knobs() {
  static const ir::KnobTable<Knobs> table(
      "exact-split",
      {effort_row({"5", "20"}),
       {ir::knob("exact-values", "regduel", "functions with more values have a relaxation as their bound", {"20", "100"}),
        &Knobs::values,
        {1, 10'000}}},
      [] {
        Knobs many_questions;
        many_questions.effort = 1;
        return many_questions;
      }());
  return table;
}
std::unexpected<ir::AllocFailure> unsupported(std::string message) {
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, std::move(message)});
}

// The highest register that the program names itself, plus 1, where no allocation leaves the instruction out.
std::int64_t registers_named(const ir::Function& f, ir::RegFile file) {
  std::int64_t registers = 0;
  for (const ir::Inst& inst : f.insts) {
    if (inst.op == ir::Op::Copy || inst.is_phi() || inst.has(ir::kRematerialisable)) continue;
    for (const ir::Operand& op : f.operands_of(inst))
      if (const ir::PReg r = f.fixed_of(op); r.is_valid() && r.file == file && f.is_whole(op))
        registers = std::max<std::int64_t>(registers, r.end());
  }
  return registers;
}

// What a duel counts where the first `units` units are in use: the highest, plus 1; with more units than there are, the end of all
// that there are, plus 1.
std::int64_t registers_of(int units, const UnitSet& all) {
  int registers = 0;
  for (int u = all.first(); u >= 0 && units > 0; u = all.next(u + 1), --units) registers = u + 1;
  return registers + (units > 0 ? 1 : 0);
}

// Temps by number: those of vregs come first.
std::string names(const FileGraph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId n : nodes) text += fmt::format("{}%{}", text.empty() ? "" : " ", graph.temp(n));
  return text;
}

// The nodes by what they stand for in the program.
std::vector<std::string> names_of(const Problem& problem, const Code& code, const FileGraph& graph) {
  const ir::Function& f = problem.program();
  std::vector<std::string> phis(code.num_values), names;
  for (std::size_t i = 0; i < f.insts.size(); ++i)
    if (f.insts[i].is_phi()) phis[problem.phi_value(i)] = fmt::format("phi #{}", f.insts[i].id.value);
  for (NodeId n = 0; n < graph.size(); ++n) {
    const TempId t = graph.temp(n);
    const std::uint32_t source = code.temps[t].source;
    names.push_back(t < f.vregs.size()    ? fmt::format("%{}", t)
                    : t < code.num_values ? phis[t]
                    : source != kNoSource ? fmt::format("operand of #{}", f.insts[source].id.value)
                                          : "moved");
  }
  return names;
}

using Result = std::expected<ir::Allocation, ir::AllocFailure>;

Result fewest_registers(const Problem& problem, const Knobs& knobs, const ir::AllocOptions& options,
                        std::vector<ir::Bound>& bounds) {
  const Plan plan = problem.all_in_registers();
  const ValueGraphs graphs = lower_by_value(problem, plan);
  std::vector<ir::PReg> homes(graphs.code.temps.size());
  for (TempId t = 0; t < homes.size(); ++t) homes[t] = graphs.code.temps[t].fixed;
  for (const ir::RegFile file : ir::kAllFiles) {
    const FileGraph& graph = graphs.value.files[ir::index(file)];
    if (graph.size() == 0) continue;
    const UnitSet& all = problem.allocatable()[ir::index(file)];
    const std::string proof = knobs.proof.empty() ? "" : fmt::format("{}.{}", knobs.proof, ir::name(file));
    const Effort effort{.conflicts = std::int64_t{knobs.effort} * kConflicts,
                        .proof = proof,
                        .names = proof.empty() ? std::vector<std::string>() : names_of(problem, graphs.code, graph)};
    const FewestUnits fewest = fewest_units(graph, all, effort, &graphs.necessary.files[ir::index(file)]);
    bounds.push_back(
        {ir::Bound::Kind::Registers, file, std::max(registers_of(fewest.at_least, all), registers_named(problem.program(), file))});
    if (fewest.at_most < 0)
      return unsupported(
          fewest.is_impossible(all.count())
              ? fmt::format("file {} does not fit into {} registers without spilling, which is proved", ir::name(file), all.count())
              : fmt::format("whether file {} fits into {} registers without spilling is not known", ir::name(file), all.count()));
    for (NodeId n = 0; n < graph.size(); ++n)
      homes[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(fewest.unit_of[n])};
    if (options.trace != nullptr)
      options.trace->line(fmt::format("exact: file {}: clique {} ({}), {} to {}, questions {}", ir::name(file), fewest.clique,
                                      names(graph, fewest.clique_nodes), fewest.at_least, fewest.at_most, fewest.questions));
  }
  ir::Allocation result = rewrite(problem, plan, graphs.code, homes, graphs.is_dead, options.fuel);
  for (const ir::Bound& bound : bounds) {
    const std::int64_t registers = result.claims.registers[ir::index(bound.file)];
    result.notes.push_back(registers <= bound.at_least
                               ? fmt::format("file {}: {} registers, the fewest without splitting", ir::name(bound.file), registers)
                               : fmt::format("file {}: {} registers; the fewest are between {} and {}", ir::name(bound.file),
                                             registers, bound.at_least, registers));
  }
  return result;
}

Result least_spill_bytes(const Problem& problem, const Knobs& knobs, const ir::AllocOptions& options,
                         std::vector<ir::Bound>& bounds) {
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
  bounds.push_back({ir::Bound::Kind::SpillBytes, ir::RegFile::R, least.at_least});
  if (!least.is_written) result.notes.push_back("a proof was not finished: exact-effort is the knob for that");
  return result;
}

Result least_split_bytes(const Problem& problem, const Knobs& knobs, const ir::AllocOptions& options,
                         std::vector<ir::Bound>& bounds) {
  LeastByPoint least =
      least_by_point(problem, {.conflicts = std::int64_t{knobs.effort} * kConflicts, .most_values = knobs.values}, options.fuel);
  if (options.trace != nullptr)
    options.trace->line(fmt::format("exact-split: {} values, {} elements, {} demands of points, {} of packing, cost {} to {}",
                                    least.values, least.elements, least.demands, least.misfits, least.at_least, least.at_most));
  bounds.push_back({ir::Bound::Kind::SpillBytesByPoint, ir::RegFile::R, least.at_least});
  if (!least.allocation) {
    ir::Allocation other = allocate_by_chordal_colouring(problem, options.fuel);
    other.notes.push_back(
        fmt::format("the least weighted spill bytes by point are at least {}; {}, so that this is what chordal makes",
                    least.at_least, least.why_none));
    return other;
  }
  least.allocation->notes.push_back(least.is_proved()
                                        ? fmt::format("weighted spill bytes: {}, the least by point", least.at_most)
                                        : fmt::format("weighted spill bytes: {}; the least by point are between {} and {}",
                                                      least.at_most, least.at_least, least.at_most));
  return std::move(*least.allocation);
}

class Exact final : public ir::Prover {
 public:
  using Solve = Result (*)(const Problem&, const Knobs&, const ir::AllocOptions&, std::vector<ir::Bound>&);
  Exact(std::string_view name, ir::Bound::Kind kind, const ir::KnobTable<Knobs>& knobs, Solve solve)
      : name_(name), kind_(kind), knobs_(knobs), solve_(solve) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] ir::Bound::Kind kind() const override { return kind_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return knobs_.infos(); }
  [[nodiscard]] Result prove(const ir::Function& program, const ir::Target& target, const ir::AllocOptions& options,
                             std::vector<ir::Bound>& bounds) const override {
    const auto knobs = knobs_.parse(options.knobs);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    if (ir::changes_register_limit(program))
      return std::unexpected(
          ir::AllocFailure{ir::AllocFailure::Kind::Unsupported,
                           fmt::format("{} knows one limit for a whole function, and setmaxnreg changes it", name_)});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, ir::kFrequencyBase, options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    return solve_(problem, *knobs, options, bounds);
  }

 private:
  std::string_view name_;
  ir::Bound::Kind kind_;
  const ir::KnobTable<Knobs>& knobs_;
  Solve solve_;
};

}  // namespace

std::unique_ptr<ir::Allocator> make_exact() {
  return std::make_unique<Exact>("exact", ir::Bound::Kind::Registers, exact_knobs(), fewest_registers);
}
std::unique_ptr<ir::Allocator> make_exact_spill() {
  return std::make_unique<Exact>("exact-spill", ir::Bound::Kind::SpillBytes, exact_spill_knobs(), least_spill_bytes);
}
std::unique_ptr<ir::Allocator> make_exact_split() {
  return std::make_unique<Exact>("exact-split", ir::Bound::Kind::SpillBytesByPoint, exact_split_knobs(), least_split_bytes);
}

}  // namespace regduel::reference
