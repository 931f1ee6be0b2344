// A property of one's own allocator: all judges pass whatever it allocates. With --planted-bug it has a bug, and the property shows
// the smallest program that it found.
//
//   RC_PARAMS="seed=7 max_success=1000" ./property
#include <iostream>
#include <string>
#include <string_view>

#include <oracles/judges.h>
#include <properties/arbitrary.h>
#include <rapidcheck.h>

#include "linear_scan.h"

namespace {

namespace generate = regduel::generate;
namespace ir = regduel::ir;
namespace oracles = regduel::oracles;
namespace properties = regduel::properties;

bool holds(const ir::Allocator& allocator) {
  const ir::Target& target = *ir::find_target("sm_90");
  properties::ArbitraryOptions shape;
  shape.profiles = {generate::Profile::Straight, generate::Profile::Loops, generate::Profile::Irreducible,
                    generate::Profile::Guarded, generate::Profile::MixedSize};
  shape.max_size = 80;
  const auto programs = properties::arbitrary_program(target, shape);
  return rc::check("what linear-scan allocates is right", [&] {
    const ir::Function program = *programs;
    ir::AllocOptions options;
    options.limits = ir::Limits::of(target);
    const auto allocation = allocator.allocate(program, target, options);
    RC_PRE(allocation.has_value());  // it does not know everything
    const oracles::Report report = oracles::judge({program, allocation->program, target, options.limits, &allocation->claims});
    for (const oracles::JudgeResult& judge : report.results)
      for (const oracles::Finding& finding : judge.findings)
        RC_FAIL(oracles::signature(finding, allocation->program) + ": " + finding.message);
  });
}

}  // namespace

int main(int argc, char** argv) {
  using example::LinearScan;
  const bool is_planted = argc == 2 && std::string_view(argv[1]) == "--planted-bug";
  if (argc > 1 && !is_planted) {
    std::cerr << "usage: property [--planted-bug]\n";
    return 2;
  }
  return holds(LinearScan(is_planted ? LinearScan::Loops::Forget : LinearScan::Loops::Stretch)) ? 0 : 1;
}
