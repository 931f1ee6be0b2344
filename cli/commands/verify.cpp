// regduel verify: one program before and after any allocator; every judge looks at it.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/claims.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/ipra.h"
#include "cli/options.h"
#include "cli/show/diagnostic.h"
#include "cli/show/output.h"
#include "ir/check.h"
#include "oracles/agreement/disagreement.h"
#include "oracles/before.h"
#include "oracles/calls/calls.h"
#include "oracles/judges.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/pair/constraints.h"
#include "oracles/quality/quality.h"
#include "oracles/rewrite/rewrite.h"
#include "passes/in_memory.h"
#include "passes/take_back.h"

namespace regduel::cli {
namespace {

using oracles::kCalls;                            // the judge of a whole file
constexpr std::string_view kRewrite = "rewrite";  // the judge of two programs over vregs

struct Options {
  std::string before, after;
  std::vector<std::string> judges, knobs, claims;
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

void require_judges(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (oracles::find_judge(name) == nullptr && name != kCalls && name != kRewrite) {
      std::vector<std::string_view> known;
      for (const oracles::Judge* j : oracles::judges()) known.push_back(j->name());
      known.push_back(kCalls);
      known.push_back(kRewrite);
      throw BadInput(fmt::format("--judge: no judge \"{}\" (there are {})", name, fmt::join(known, ", ")));
    }
}

// The results in the order in which a person reads them best: memcheck, which speaks of sets of definitions, comes behind those that
// name what a register holds.
std::vector<const oracles::JudgeResult*> clearest_first(const oracles::Report& report) {
  std::vector<const oracles::JudgeResult*> results;
  for (const oracles::JudgeResult& r : report.results) results.push_back(&r);
  std::ranges::stable_partition(results, [](const oracles::JudgeResult* r) { return r->judge != "memcheck"; });
  return results;
}

// One line: the verdict on the function, and that of each judge.
std::string verdict_line(const std::string& function, const oracles::Report& report) {
  std::vector<std::string> judges;
  for (const oracles::JudgeResult& r : report.results)
    judges.push_back(fmt::format("{} {}{}{}", r.judge, oracles::name(r.verdict),
                                 r.findings.empty() ? "" : fmt::format(" x{}", r.findings.size()),
                                 r.reason.empty() ? "" : ": " + r.reason));
  return fmt::format("@{}: {} ({})\n", function, oracles::name(report.verdict()), fmt::join(judges, ", "));
}

// The judgement of one function, as --format says.
class Shown {
 public:
  Shown(const Options& o, const oracles::MemcheckOptions& memcheck, bool has_several)
      : o_(o), memcheck_(memcheck), has_several_(has_several) {}

  void add(const Program& before, const Program& after, const oracles::Case& c, const oracles::Report& report) {
    if (is_json()) {
      const oracles::Measures m = oracles::measure(c.prepared, after.function);
      list_.push_back({{"function", before.function.name},
                       {"limit", c.limits.of(ir::RegFile::R)},
                       {"registers", m.registers[0]},
                       {"max_live", m.max_live[0]},
                       {"spill_store_bytes", m.spill_store_bytes},
                       {"spill_load_bytes", m.spill_load_bytes},
                       {"verdict", oracles::name(report.verdict())},
                       {"judges", to_json(report, after.function)}});
    } else if (o_.format == "memcheck") {
      if (has_several_) fmt::print("FUNCTION: {}\n", before.function.name);
      fmt::print("{}", oracles::print_memcheck(c, memcheck_));
      if (const std::string others = objections_but_memcheck(report); !others.empty()) fmt::print("OTHER JUDGES: {}\n", others);
    } else {
      if (report.verdict() == oracles::Verdict::Fail) {
        const Listing before_lines(before), after_lines(after);
        for (const oracles::JudgeResult* r : clearest_first(report))
          for (const oracles::Finding& f : r->findings)
            fmt::print("{}", diagnose(f, before_lines, after_lines, before.function.name, colours_));
      }
      fmt::print("{}", verdict_line(before.function.name, report));
      if (memcheck_.dump_ir) fmt::print("{}", oracles::print_memcheck(c, memcheck_));
    }
  }
  void finish() const {
    if (is_json()) print_json({{"command", "verify"}, {"before", o_.before}, {"after", o_.after}, {"results", list_}});
  }

 private:
  [[nodiscard]] bool is_json() const { return o_.json || o_.format == "json"; }

  const Options& o_;
  const oracles::MemcheckOptions& memcheck_;
  const bool has_several_, colours_ = wants_colours();
  Json list_ = Json::array();
};

// A function with what the judges say of it.
struct Judged {
  Program* before;
  Program* after;
  std::unique_ptr<ir::Claims> claims;  // null = none
  std::unique_ptr<oracles::Case> of;
  oracles::Report report;
};

// Adds what the judge of the whole file says, if its functions call each other.
void judge_file(std::vector<Judged>& all, std::span<const std::string> names) {
  if (!names.empty() && std::ranges::find(names, kCalls) == names.end()) return;
  std::vector<oracles::FunctionOfFile> file;
  for (const Judged& j : all) {
    file.push_back({&j.before->function, &j.after->function, &j.of->target, j.before->declared.is_weak});
  }
  if (!oracles::has_calls_inside(file)) return;
  std::vector<oracles::JudgeResult> results = oracles::judge_calls(file);
  for (std::size_t k = 0; k < all.size(); ++k) all[k].report.results.push_back(std::move(results[k]));
}

// The claims of --claim and of the claim lines of the program after about one function, which is number `index` in its file. Null where
// there are none.
std::unique_ptr<ir::Claims> claims_on(const Options& o, const Program& before, const Program& after, std::size_t index,
                                      const ir::Target& target) {
  std::vector<Claim> claims;
  if (after.text) {
    const auto lines = claim_lines(*after.text, after.file);
    if (!lines) throw BadInput(to_string(lines.error()));
    if (index < lines->size()) claims = (*lines)[index];
  }
  for (const std::string& list : o.claims)
    if (const auto added = add_claims(claims, list, "--claim"); !added) throw BadInput(fmt::format("--claim: {}", added.error()));
  if (claims.empty()) return nullptr;
  return std::make_unique<ir::Claims>(figures_of(claims, oracles::measure({before.function, target}, after.function)));
}

// What the judge of rewritings says. The case is that of the program after in memory, so that figures and places can be shown.
Judged judged_rewriting(Program& before, Program& after, const ir::Target& target) {
  if (const auto faults = ir::check(after.function, target, 1); !faults.empty())
    throw BadInput(fmt::format("{}: error: {}", after.file, ir::to_string(after.function, faults[0])));
  oracles::Report report;
  report.results.push_back(oracles::judge_rewrite(before.function, after.function, target));
  auto of = std::make_unique<oracles::Case>(after.function, after.function, target, ir::Limits::of(target), nullptr);
  return {&before, &after, nullptr, std::move(of), std::move(report)};
}

int verify(const Options& o) {
  check_registers(o.regs);
  const oracles::MemcheckOptions memcheck = memcheck_options(o.knobs);
  const std::vector<std::string> names = split_list(o.judges);
  require_judges(names);
  if (o.before == "-" && o.after == "-") throw BadInput("only one of the two programs can come from standard input");
  std::vector<Program> before = load(o.before, o.abi.name()), after = load(o.after, o.abi.name());
  for (const auto& [programs, file] : {std::pair(&before, &o.before), std::pair(&after, &o.after)})
    if (programs->empty()) throw BadInput(fmt::format("{}: error: there is no function in it", *file));
  require_phase(before, ir::Phase::Virtual);
  require_different_names(before);
  require_different_names(after);
  std::map<std::string, Program*> afterwards;
  for (Program& p : after) afterwards.emplace(p.function.name, &p);
  if (before.size() != after.size())
    throw BadInput(fmt::format("{}: error: {} functions, but {} has {}", o.after, after.size(), o.before, before.size()));

  bool failed = false, gave_up = false;
  Shown shown(o, memcheck, before.size() > 1);
  const BottomUp callees_first = bottom_up(before);
  CalleeClobbers clobbers;
  std::vector<Judged> all, rewritings;
  bool has_pass = false;
  for (std::size_t step = 0; step < before.size(); ++step) {
    const std::size_t k = o.ipra ? callees_first.order[step] : step;
    Program& p = before[k];
    const auto found = afterwards.find(p.function.name);
    if (found == afterwards.end()) throw BadInput(fmt::format("{}: error: there is no @{}", o.after, p.function.name));
    Program& made = *found->second;
    const ir::Target& target = o.target.resolve(p.function, p.file);
    const bool is_pass = made.function.phase == ir::Phase::Virtual;
    // What the callees of the allocation write is read off the allocation itself.
    if (o.ipra) {
      if (is_pass) throw BadInput(fmt::format("--ipra: @{} is not allocated", p.function.name));
      p.function = clobbers.applied_to(p.function);
      if (callees_first.is_known[k]) clobbers.add(p.function, made.function, target);
    }
    auto claims = is_pass ? nullptr : claims_on(o, p, made, static_cast<std::size_t>(&made - after.data()), target);
    const bool is_rewriting = std::ranges::find(names, kRewrite) != names.end();
    if (is_rewriting && !is_pass)
      throw BadInput(fmt::format("--judge rewrite: @{} is allocated; give two programs over vregs", p.function.name));
    if (is_rewriting) {
      if (names.size() != 1)
        throw BadInput("--judge rewrite: looks at two programs over vregs, where no other judge of the list can");
      rewritings.push_back(judged_rewriting(p, made, target));
      continue;
    }
    std::optional<oracles::JudgeResult> constraints;
    if (is_pass) {
      if (names.empty()) constraints = oracles::judge_constraints(p.function, made.function, target);
      made = in_memory(p, made, target);
    }
    has_pass = has_pass || is_pass;
    auto of = std::make_unique<oracles::Case>(p.function, made.function, target,
                                              is_pass ? ir::Limits::of(target) : o.target.limits_for(target, o.regs), claims.get());
    const oracles::Case& c = *of;
    oracles::Report report = judge(c, names, memcheck);
    if (names.empty())
      if (oracles::JudgeResult r = oracles::judge_success_against_completeness(report, c); r.verdict == oracles::Verdict::Fail)
        report.results.push_back(std::move(r));
    if (constraints) report.results.push_back(std::move(*constraints));
    all.push_back({&p, &made, std::move(claims), std::move(of), std::move(report)});
  }
  if (!has_pass) judge_file(all, names);
  std::ranges::move(rewritings, std::back_inserter(all));
  for (const Judged& j : all) {
    failed = failed || j.report.verdict() == oracles::Verdict::Fail;
    gave_up = gave_up || j.report.verdict() == oracles::Verdict::Inconclusive;
    shown.add(*j.before, *j.after, *j.of, j.report);
  }
  shown.finish();
  return failed ? kExitFinding : gave_up ? kExitInconclusive : 0;
}

}  // namespace

Action declare_verify(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("before", &o->before, "The program over vregs").required();
  a.option("after", &o->after,
           "The allocated program; or one over vregs, as a pass left it (then each vreg gets a slot of its own)")
      .required();
  std::string judges;
  for (const oracles::Judge* j : oracles::judges())
    judges += fmt::format("{}{} ({})", judges.empty() ? "" : "; ", j->name(), j->what_it_proves());
  judges += fmt::format("; {} (where functions of a file call each other: what a callee writes is in its callers' lists)", kCalls);
  judges +=
      fmt::format("; {} (two programs over vregs: each effect of the one happens in the other, and reads the same)", kRewrite);
  a.option("--judge", &o->judges, "Judges to ask, comma-separated (default all): " + judges);
  a.option("--claim", &o->claims,
           "Figures that the judge quality compares with what is there, e.g. registers=24,spill_store_bytes=96; of every function. "
           "A line \"// claim ...\" in front of a function of the allocated program claims them of that one");
  a.option("--format", &o->format, "pretty, json, or memcheck: the report of the memcheck judge alone, as ptxas words it")
      .one_of({"pretty", "memcheck", "json"})
      .shows_default();
  std::string knobs;
  for (const ir::KnobInfo& k : oracles::memcheck_knobs())
    knobs += fmt::format("{}{} ({})", knobs.empty() ? "" : "; ", k.name, k.help);
  a.option("--knob", &o->knobs, "Knob of memcheck, NAME or NAME=VALUE, repeatable: " + knobs);
  a.option("--regs,--maxrregcount", &o->regs, "Limit of the general register file that must have been kept").shows_default();
  o->target.add_to(a);
  o->abi.add_to(a);
  a.flag("--ipra", o->ipra, "Calls destroy what the allocations of their callees write, as regduel alloc --ipra has it");
  a.flag("--json", o->json, "The same as --format json");
  a.footer(
      "Exit status 1: a judge objects; 4: none does, but one could not tell, and says why. Example:  regduel verify a.rir b.rir");
  return [o] { return verify(*o); };
}

}  // namespace regduel::cli
