// regduel verify: one program before and after any allocator; every judge looks at it.

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/ipra.h"
#include "cli/options.h"
#include "cli/show/diagnostic.h"
#include "cli/show/output.h"
#include "ir/check.h"
#include "oracles/agreement/disagreement.h"
#include "oracles/judges.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/quality/quality.h"
#include "passes/in_memory.h"
#include "passes/take_back.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string before, after;
  std::vector<std::string> judges, knobs;
  std::string format = "pretty";
  int regs = 255;
  TargetOptions target;
  AbiOption abi;
  bool ipra = false;
  bool json = false;
};

oracles::MemcheckOptions memcheck_options(const std::vector<std::string>& knobs) {
  oracles::MemcheckOptions options;
  for (const std::string& knob : knobs) {
    const std::size_t equals = knob.find('=');
    std::optional<std::string_view> value;
    if (equals != std::string::npos) value = std::string_view(knob).substr(equals + 1);
    if (const auto set = oracles::set_knob(options, std::string_view(knob).substr(0, equals), value); !set)
      throw BadInput(fmt::format("--knob {}: {}", knob, set.error()));
  }
  return options;
}

// Where the knob memcheck is off, the others are asked without it, and its result says so.
oracles::Report judge(const oracles::Case& c, const std::vector<std::string>& names, const oracles::MemcheckOptions& options) {
  const auto is_asked = [&](std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  if (options.is_on || !is_asked("memcheck")) return oracles::judge(c, names);
  oracles::Report report;
  for (const oracles::Judge* j : oracles::judges())
    if (is_asked(j->name()))
      report.results.push_back(j == &oracles::memcheck_judge() ? oracles::judge_memcheck(c, options) : j->judge(c));
  return report;
}

// Who objects where memcheck does not: "structure fail x1, execution fail x2".
std::string objections_but_memcheck(const oracles::Report& report) {
  std::string text;
  for (const oracles::JudgeResult& r : report.results) {
    if (r.verdict != oracles::Verdict::Fail) continue;
    if (r.judge == "memcheck") return {};
    text += fmt::format("{}{} fail x{}", text.empty() ? "" : ", ", r.judge, r.findings.size());
  }
  return text;
}

// What a pass has made of `before`, as an allocation of it that the judges can read (passes/in_memory.h).
Program in_memory(const Program& before, const Program& after, const ir::Target& target) {
  if (const auto faults = ir::check(after.function, target, 1); !faults.empty())
    throw BadInput(fmt::format("{}: error: {}", after.file, ir::to_string(after.function, faults[0])));
  const auto allocation = passes::allocate_in_memory(after.function, target);
  if (!allocation) throw BadInput(fmt::format("{}: error: @{}: {}", after.file, after.function.name, allocation.error()));
  Program p{after.file, passes::take_back(before.function, *allocation), nullptr};
  if (const auto faults = ir::check(p.function, 1); !faults.empty())
    throw BadInput(
        fmt::format("{}: error: not made of {} by a pass: {}", after.file, before.file, ir::to_string(p.function, faults[0])));
  return p;
}

int verify(const Options& o) {
  check_registers(o.regs);
  const oracles::MemcheckOptions memcheck = memcheck_options(o.knobs);
  const std::vector<std::string> names = split_list(o.judges);
  for (const std::string& name : names)
    if (oracles::find_judge(name) == nullptr) {
      std::vector<std::string_view> known;
      for (const oracles::Judge* j : oracles::judges()) known.push_back(j->name());
      throw BadInput(fmt::format("--judge: no judge \"{}\" (there are {})", name, fmt::join(known, ", ")));
    }
  if (o.before == "-" && o.after == "-") throw BadInput("only one of the two programs can come from standard input");
  std::vector<Program> before = load(o.before, o.abi.name());
  std::vector<Program> after = load(o.after, o.abi.name());
  require_phase(before, ir::Phase::Virtual);
  require_different_names(after);
  std::map<std::string, Program*> afterwards;
  for (Program& p : after) afterwards.emplace(p.function.name, &p);
  if (before.size() != after.size())
    throw BadInput(fmt::format("{}: error: {} functions, but {} has {}", o.after, after.size(), o.before, before.size()));

  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool failed = false, gave_up = false;
  const bool colours = wants_colours();
  const BottomUp callees_first = bottom_up(before);
  CalleeClobbers clobbers;
  for (std::size_t step = 0; step < before.size(); ++step) {
    const std::size_t k = o.ipra ? callees_first.order[step] : step;
    Program& p = before[k];
    const auto found = afterwards.find(p.function.name);
    if (found == afterwards.end()) throw BadInput(fmt::format("{}: error: there is no @{}", o.after, p.function.name));
    const ir::Target& target = o.target.resolve(p.function, p.file);
    // What the callees of the allocation write is read off the allocation itself.
    if (o.ipra) {
      if (found->second->function.phase == ir::Phase::Virtual)
        throw BadInput(fmt::format("--ipra: @{} is not allocated", p.function.name));
      p.function = clobbers.applied_to(p.function);
      if (callees_first.is_known[k]) clobbers.add(p.function, found->second->function, target);
    }
    const bool is_pass = found->second->function.phase == ir::Phase::Virtual;
    if (is_pass) *found->second = in_memory(p, *found->second, target);
    const ir::Function& post = found->second->function;
    const oracles::Case c{p.function, post, target, is_pass ? ir::Limits::of(target) : o.target.limits_for(target, o.regs),
                          nullptr};
    oracles::Report report = judge(c, names, memcheck);
    if (names.empty())
      if (oracles::JudgeResult r = oracles::judge_success_against_completeness(report, c); r.verdict == oracles::Verdict::Fail)
        report.results.push_back(std::move(r));
    failed = failed || report.verdict() == oracles::Verdict::Fail;
    gave_up = gave_up || report.verdict() == oracles::Verdict::Inconclusive;
    if (o.json || o.format == "json") {
      const oracles::Measures m = oracles::measure(c.prepared, post);
      list.push_back({{"function", p.function.name},
                      {"limit", c.limits.of(ir::RegFile::R)},
                      {"registers", m.registers[0]},
                      {"max_live", m.max_live[0]},
                      {"spill_store_bytes", m.spill_store_bytes},
                      {"spill_load_bytes", m.spill_load_bytes},
                      {"verdict", oracles::name(report.verdict())},
                      {"judges", to_json(report, post)}});
      continue;
    }
    if (o.format == "memcheck") {
      if (before.size() > 1) fmt::print("FUNCTION: {}\n", p.function.name);
      fmt::print("{}", oracles::print_memcheck(c, memcheck));
      if (const std::string others = objections_but_memcheck(report); !others.empty()) fmt::print("OTHER JUDGES: {}\n", others);
      continue;
    }
    if (report.verdict() == oracles::Verdict::Fail) {
      const Listing before_lines(p), after_lines(*found->second);
      for (const oracles::JudgeResult& r : report.results)
        for (const oracles::Finding& f : r.findings)
          fmt::print("{}", diagnose(f, before_lines, after_lines, p.function.name, colours));
    }
    std::string line = fmt::format("@{}: {}", p.function.name, oracles::name(report.verdict()));
    std::string separator = " (";
    for (const oracles::JudgeResult& r : report.results) {
      line += fmt::format("{}{} {}", separator, r.judge, oracles::name(r.verdict));
      if (!r.findings.empty()) line += fmt::format(" x{}", r.findings.size());
      if (!r.reason.empty()) line += fmt::format(": {}", r.reason);
      separator = ", ";
    }
    fmt::print("{})\n", line);
    if (memcheck.dump_ir) fmt::print("{}", oracles::print_memcheck(c, memcheck));
  }
  if (o.json || o.format == "json")
    print_json({{"command", "verify"}, {"before", o.before}, {"after", o.after}, {"results", list}});
  return failed ? kExitFinding : gave_up ? kExitInconclusive : 0;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Judge an allocation, or what a pass made of a program, whoever made it");
  command->add_option("before", o->before, "The program over vregs")->required();
  command
      ->add_option("after", o->after,
                   "The allocated program; or one over vregs, as a pass left it (then each vreg gets a slot of its own)")
      ->required();
  std::string judges;
  for (const oracles::Judge* j : oracles::judges())
    judges += fmt::format("{}{} ({})", judges.empty() ? "" : "; ", j->name(), j->what_it_proves());
  command->add_option("--judge", o->judges, "Judges to ask, comma-separated (default all): " + judges)->allow_extra_args(false);
  command->add_option("--format", o->format, "pretty, json, or memcheck: the report of the memcheck judge alone, as ptxas words it")
      ->check(CLI::IsMember({"pretty", "memcheck", "json"}))
      ->capture_default_str();
  std::string knobs;
  for (const ir::KnobInfo& k : oracles::memcheck_knobs())
    knobs += fmt::format("{}{} ({})", knobs.empty() ? "" : "; ", k.name, k.help);
  command->add_option("--knob", o->knobs, "Knob of memcheck, NAME or NAME=VALUE, repeatable: " + knobs)->allow_extra_args(false);
  command->add_option("--regs,--maxrregcount", o->regs, "Limit of the general register file that must have been kept")
      ->capture_default_str();
  o->target.add_to(*command);
  o->abi.add_to(*command);
  command->add_flag("--ipra", o->ipra, "Calls destroy what the allocations of their callees write, as regduel alloc --ipra has it");
  command->add_flag("--json", o->json, "The same as --format json");
  command->footer(
      "Exit status 1: a judge objects; 4: none does, but one could not tell, and says why. Example:  regduel verify a.rir b.rir");
  command->callback([o, &chosen] { chosen = [o] { return verify(*o); }; });
}

}  // namespace regduel::cli
