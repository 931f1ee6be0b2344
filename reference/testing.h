// Helpers of this folder's tests: programs as RIR text, and the phases run on them up to a point.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/check.h"
#include "ir/text/text.h"
#include "reference/colour/interference_graph.h"
#include "reference/colourer.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"
#include "reference/spill/choose.h"
#include "reference/spill/costs.h"

namespace regduel::reference::testing {

// `text` without its "rir 1" and "func" lines.
inline ir::Function parse_body(std::string_view text, std::string_view kind = "kernel") {
  const std::string file = "rir 1\nfunc @f " + std::string(kind) + " target sm_90 threads 32\n" + std::string(text);
  auto parsed = ir::parse(file, "test");
  if (!parsed) {
    ADD_FAILURE() << to_string(parsed.error()) << "\n" << file;
    return {};
  }
  return parsed->functions.front();
}

// The phases up to the graphs, with everything in registers.
struct Phases {
  ir::Function f;
  const ir::Target& target = ir::default_target();
  ir::Cfg cfg;
  Problem problem;
  Plan plan;
  Code code;
  Liveness liveness;
  InterferenceGraphs graphs;

  explicit Phases(std::string_view text, int registers = 255, std::string_view kind = "kernel")
      : f(parse_body(text, kind)), cfg(f), problem(f, cfg, target, ir::Limits::of(target, registers), 10),
        plan(problem.all_in_registers()), code(lower(problem, plan)), liveness(code),
        graphs(build_interference_graphs(problem, code, liveness)) {
    fill_in_costs(problem, code, true, graphs);
  }

  FileGraph& r() { return graphs.files[ir::index(ir::RegFile::R)]; }
  [[nodiscard]] bool interfere(TempId a, TempId b) { return r().interferes(graphs.node_of[a], graphs.node_of[b]); }
  [[nodiscard]] UnitSet forbidden(TempId t) { return r().forbidden(graphs.node_of[t]); }
};

struct Outcome {
  std::string text;  // the allocated blocks, or the message of the failure
  bool ok = false;
  ir::Allocation allocation;
};

// Allocates, and checks what can be said without a judge: well-formed, below the limit, originals in order.
inline Outcome allocate(const ir::Function& f, int registers, std::vector<std::pair<std::string, std::string>> knobs = {}) {
  const ir::Target& target = *ir::find_target(f.target);
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, registers);
  options.knobs = std::move(knobs);
  auto result = make_briggs()->allocate(f, target, options);
  Outcome run;
  if (!result) {
    run.text = result.error().message;
    return run;
  }
  run.ok = true;
  run.allocation = std::move(*result);
  const ir::Function& after = run.allocation.program;
  for (const ir::Diagnostic& d : ir::check(after, target)) ADD_FAILURE() << ir::to_string(after, d);
  EXPECT_LE(run.allocation.claims.registers[ir::index(ir::RegFile::R)], registers);
  std::vector<ir::InstId> before_ids, after_ids;
  for (const ir::Inst& i : f.insts) before_ids.push_back(i.id);
  for (const ir::Inst& i : after.insts)
    if (!i.is_inserted()) after_ids.push_back(i.id);
  EXPECT_EQ(before_ids, after_ids);
  const std::string all = ir::print(after);
  run.text = all.substr(all.find("  block"));
  return run;
}
inline Outcome allocate(std::string_view text, int registers, std::vector<std::pair<std::string, std::string>> knobs = {},
                        std::string_view kind = "kernel") {
  return allocate(parse_body(text, kind), registers, std::move(knobs));
}

}  // namespace regduel::reference::testing
