// regduel lint: what is odd about programs before any allocation (oracles/lint/).

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/diagnostic.h"
#include "cli/show/output.h"
#include "oracles/lint/lint.h"

namespace regduel::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  int regs = 255;
  TargetOptions target;
  AbiOption abi;
  bool json = false;
};

int run_lint(const Options& o) {
  check_registers(o.regs);
  std::vector<Program> programs = load_all(o.inputs, o.abi.name());
  if (programs.empty()) throw BadInput("error: there is no function in the input");
  require_phase(programs, ir::Phase::Virtual);
  const bool colours = wants_colours();
  std::size_t num_findings = 0;
  Json list = Json::array();
  for (Program& p : programs) {
    // The lines are those of the file as it came; the target may come from the command line.
    const ir::Target& target = o.target.resolve(p.function, p.file);
    const std::vector<oracles::Finding> findings =
        oracles::lint(oracles::Before(p.function, target), o.target.limits_for(target, o.regs));
    num_findings += findings.size();
    if (findings.empty()) continue;
    const Listing listing(p);
    for (const oracles::Finding& f : findings) {
      if (!o.json) {
        fmt::print("{}", warn_of(f, listing, p.function.name, colours));
        continue;
      }
      Json j = to_json(f, p.function);
      j["file"] = p.file;
      j["function"] = p.function.name;
      if (p.text != nullptr) {
        const Listing::Mark at = listing.mark(f.inst, f.operand);
        j["line"] = at.line;
        j["column"] = at.column;
      }
      list.push_back(std::move(j));
    }
  }
  if (o.json) print_json({{"command", "lint"}, {"functions", programs.size()}, {"findings", list}});
  else fmt::print("{}, {}\n", counted(programs.size(), "function"), counted(num_findings, "finding"));
  return num_findings > 0 ? kExitFinding : 0;
}

}  // namespace

Action declare_lint(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("inputs", &o->inputs, "RIR or PTX files, or directories of them (- = standard input)").required();
  a.option("--regs,--maxrregcount", &o->regs, "Limit of the general register file that every instruction has to fit")
      .shows_default();
  o->target.add_to(a);
  o->abi.add_to(a);
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Looks at programs over vregs. Each finding has a name:\n"
      "  undefined-read      no path to here gives what is read, or some bytes of it, a value\n"
      "  undefined-guard     the same of a guard: whether the instruction happens is undefined\n"
      "  unreachable-code    no path leads from the entry to the block\n"
      "  impossible-tie      the operands cannot be packed into the registers of the target, but without their ties they can\n"
      "  demand-above-file   they cannot be packed there, ties or not: no allocator can do it\n"
      "  demand-above-limit  they do not fit the limit; says which one would do\n"
      "What is undefined on some paths alone is not told. Exit status 1: there is something to say.\n"
      "Examples:  regduel lint a.rir\n"
      "           regduel lint --regs 24 corpus/ptx");
  return [o] { return run_lint(*o); };
}

}  // namespace regduel::cli
