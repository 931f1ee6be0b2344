#include "reference/textbook/textbook.h"

#include <functional>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "ir/cfg.h"
#include "ir/loops.h"
#include "ir/register_limit.h"
#include "reference/colour/interference_graph.h"
#include "reference/colour/simplify.h"
#include "reference/program/lower.h"
#include "reference/program/rewrite.h"
#include "reference/spill/choose.h"
#include "reference/spill/costs.h"
#include "reference/textbook/chaitin_briggs.h"
#include "reference/textbook/chordal.h"
#include "reference/textbook/irc.h"
#include "reference/textbook/linear_scan.h"
#include "reference/textbook/pbqp.h"

namespace regduel::reference {
namespace {

constexpr int kMostRounds = 40;

Colouring colour_what_is_left(FileGraph& graph, const Registers& registers) {
  return select(graph, simplify(graph, registers.available, Optimism::SmallestLast),
                {.available = registers.available, .last_resort = registers.last_resort, .biased = false});
}

class Rounds {
 public:
  Rounds(const Problem& problem, ColourFile colour, ir::Fuel* fuel) : problem_(problem), colour_(colour), fuel_(fuel) {}

  ir::Allocation run() {
    Plan plan = problem_.all_in_registers(fuel_);
    bool coalesces = true;
    for (int round = 0; round < kMostRounds; ++round) {
      const Plan before = plan;
      progress_ = false;
      if (colour_all(before, colour_, coalesces, plan)) return rewrite(problem_, before, code_, homes_, graphs_.is_dead, fuel_);
      if (!ir::may(fuel_, "spill-round")) break;
      // A coalesced node can stand in the way where its members would not.
      if (!progress_ && !std::exchange(coalesces, false)) break;
    }
    const Plan last = problem_.all_in_memory();
    REGDUEL_CHECK(colour_all(last, colour_what_is_left, false, plan),
                  "no colouring even with everything in memory: @" + problem_.program().name);
    return rewrite(problem_, last, code_, homes_, graphs_.is_dead, fuel_);
  }

 private:
  bool colour_all(const Plan& plan, ColourFile colour, bool coalesces, Plan& next) {
    code_ = lower(problem_, plan, fuel_);
    Liveness liveness(code_);
    graphs_ = build_interference_graphs(problem_, code_, liveness);
    fill_in_costs(problem_, code_, false, graphs_);
    homes_.assign(code_.temps.size(), ir::PReg{});
    for (TempId t = 0; t < code_.temps.size(); ++t) homes_[t] = code_.temps[t].fixed;
    bool complete = true;
    for (const ir::RegFile file : ir::kAllFiles) {
      FileGraph& graph = graphs_.files[ir::index(file)];
      if (graph.size() == 0) continue;
      const UnitSet& available = problem_.allocatable()[ir::index(file)];
      const Colouring c = colour(graph, {available, problem_.callee_saved()[ir::index(file)], coalesces, fuel_});
      if (c.failed.empty()) {
        for (NodeId n = 0; n < graph.size(); ++n)
          homes_[graph.temp(n)] = {file, static_cast<std::uint8_t>(graph.units(n)), static_cast<std::uint16_t>(c.unit_of[n])};
        continue;
      }
      complete = false;
      progress_ = choose_spills(graph, c, available, problem_, code_, {.use_remat = false}, next, fuel_) || progress_;
    }
    return complete;
  }

  const Problem& problem_;
  const ColourFile colour_;
  ir::Fuel* const fuel_;
  Code code_;
  InterferenceGraphs graphs_;
  std::vector<ir::PReg> homes_;
  bool progress_ = false;
};

ir::Allocation colour_and_spill(const Problem& problem, ColourFile colour, ir::Fuel* fuel) {
  return Rounds(problem, colour, fuel).run();
}

class Textbook final : public ir::Allocator {
 public:
  using Solve = std::function<ir::Allocation(const Problem&, ir::Fuel*)>;
  Textbook(std::string_view name, Solve solve) : name_(name), solve_(std::move(solve)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    if (!options.knobs.empty())
      return std::unexpected(
          ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, ir::unknown_knob(name_, options.knobs.front().first)});
    if (ir::changes_register_limit(program))
      return std::unexpected(
          ir::AllocFailure{ir::AllocFailure::Kind::Unsupported,
                           fmt::format("{} knows one limit for a whole function, and setmaxnreg changes it", name_)});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, ir::kFrequencyBase, options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    return solve_(problem, options.fuel);
  }

 private:
  std::string_view name_;
  Solve solve_;
};

std::unique_ptr<ir::Allocator> colourer(std::string_view name, ColourFile colour) {
  return std::make_unique<Textbook>(
      name, [colour](const Problem& problem, ir::Fuel* fuel) { return colour_and_spill(problem, colour, fuel); });
}

}  // namespace

std::unique_ptr<ir::Allocator> make_chaitin_briggs() { return colourer("chaitin-briggs", colour_after_chaitin_and_briggs); }
std::unique_ptr<ir::Allocator> make_irc() { return colourer("irc", colour_by_iterated_coalescing); }
std::unique_ptr<ir::Allocator> make_pbqp() { return colourer("pbqp", colour_by_pbqp); }
std::unique_ptr<ir::Allocator> make_linear_scan() { return std::make_unique<Textbook>("linear-scan", allocate_by_linear_scan); }
std::unique_ptr<ir::Allocator> make_chordal() { return std::make_unique<Textbook>("chordal", allocate_by_chordal_colouring); }

}  // namespace regduel::reference
