// regduel check: the gate for one run. Each kernel at each limit is held against what was accepted of it before.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/check_reports.h"
#include "cli/show/output.h"
#include "cli/show/spilled_values.h"
#include "duel/allocators.h"
#include "duel/duel.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> inputs, with, regs;
  std::string baseline, junit, sarif, markdown;
  TargetOptions target;
  AbiOption abi;
  KnobOptions knobs;
  AllocatorOptions allocators;
  int jobs = 0;
  bool update = false, json = false;
};

// One function to be played.
struct Kernel {
  Program program;
  const ir::Target* target;
  std::string file;  // as the baseline has it
};

BaselineFigures figures_of(const oracles::Measures& m) {
  return {m.registers[ir::index(ir::RegFile::R)], m.spill_store_bytes, m.spill_load_bytes, m.weighted_spill_bytes};
}

// Where the heaviest spilled value comes from, else the first line that the function names.
std::string place_of(const ir::Function& before, const ir::Function& after) {
  for (const SpilledValue& v : spilled_values(before, after))
    if (!v.source.empty()) return v.source;
  for (const ir::Inst& i : before.insts)
    if (i.line.is_valid()) return before.source_place(i);
  return "";
}

// What came of one kernel at one limit, held against the baseline.
CheckRow judged(const Kernel& k, const duel::Bout& bout, int limit, const Baseline& baseline) {
  CheckRow row{
      {k.file, k.program.function.name, k.target->name, bout.allocator, limit}, k.program.file, CheckOutcome::Same, "", {}, {}, {}};
  if (!bout.program) {
    row.outcome = CheckOutcome::Fails;
    row.message = bout.reason();
    return row;
  }
  row.now = figures_of(bout.measures);
  row.place = place_of(k.program.function, *bout.program);
  if (bout.verdict() == oracles::Verdict::Fail) {
    row.outcome = CheckOutcome::Fails;
    row.message = fmt::format("{}: {}", bout.signatures().front(), bout.findings().front().message);
    return row;
  }
  const auto known = baseline.find(row.key);
  if (known == baseline.end()) {
    row.outcome = CheckOutcome::New;
    row.message = "is not in the baseline";
    return row;
  }
  row.before = known->second;
  hold(row);
  return row;
}

std::vector<Kernel> kernels_of(const Options& o) {
  std::vector<Kernel> kernels;
  const fs::path folder = fs::absolute(o.baseline).parent_path();
  for (Program& p : load_all(o.inputs, o.abi.name())) {
    require_phase({p}, ir::Phase::Virtual);
    const ir::Target& target = o.target.resolve(p.function, p.file);
    const std::string file =
        p.file == "<stdin>" ? p.file : fs::absolute(p.file).lexically_normal().lexically_relative(folder).generic_string();
    kernels.push_back({std::move(p), &target, file});
  }
  if (kernels.empty()) throw BadInput("error: there is no function in the input");
  return kernels;
}

std::vector<CheckRow> play(const Options& o, const std::vector<Kernel>& kernels, const std::vector<const ir::Allocator*>& duelists,
                           const Baseline& baseline) {
  std::vector<int> limits = parse_registers(o.regs);
  if (limits.empty()) limits.push_back(255);
  const duel::Knobs knobs = o.knobs.settings(duelists);
  std::vector<CheckRow> rows;
  Progress progress("check", std::ssize(kernels));
  const std::function<std::vector<CheckRow>(std::int64_t)> work = [&](std::int64_t at) {
    const Kernel& k = kernels[static_cast<std::size_t>(at)];
    std::vector<CheckRow> of_kernel;
    const oracles::Before before(k.program.function, *k.target);
    for (const int limit : limits)
      for (const duel::Bout& bout :
           duel::duel(before, {.duelists = duelists, .limits = o.target.limits_for(*k.target, limit), .knobs = knobs}).bouts)
        of_kernel.push_back(judged(k, bout, limit, baseline));
    return of_kernel;
  };
  const std::function<bool(std::int64_t, std::vector<CheckRow>)> take = [&](std::int64_t, std::vector<CheckRow> of_kernel) {
    for (CheckRow& row : of_kernel) rows.push_back(std::move(row));
    progress.step();
    return true;
  };
  in_order<std::vector<CheckRow>>(std::ssize(kernels), resolve_jobs(o.jobs), work, take);
  return rows;
}

// Rows of the files that were checked, of functions, limits and allocators that were not among them.
std::vector<BaselineKey> gone(const Baseline& baseline, const std::vector<CheckRow>& rows) {
  std::set<std::string> files;
  std::set<BaselineKey> seen;
  for (const CheckRow& row : rows) {
    files.insert(row.key.file);
    seen.insert(row.key);
  }
  std::vector<BaselineKey> list;
  for (const auto& [key, figures] : baseline)
    if (files.contains(key.file) && !seen.contains(key)) list.push_back(key);
  return list;
}

int check(const Options& o) {
  std::vector<std::string> with = o.with;
  if (with.empty()) with.emplace_back("fatpoint");
  const std::vector<const ir::Allocator*> duelists = o.allocators.duelists(with);
  for (const std::string& path : {o.junit, o.sarif, o.markdown}) require_file_possible(path);
  std::error_code error;
  const Baseline baseline = o.update && !fs::exists(o.baseline, error) ? Baseline() : read_baseline(o.baseline);
  const std::vector<Kernel> kernels = kernels_of(o);
  const std::vector<CheckRow> rows = play(o, kernels, duelists, baseline);
  const std::vector<BaselineKey> missing = gone(baseline, rows);

  const bool fails = std::ranges::any_of(rows, [&](const CheckRow& r) {
    return r.outcome == CheckOutcome::Fails || (!o.update && (r.outcome == CheckOutcome::Worse || r.outcome == CheckOutcome::New));
  });
  if (o.update && !fails) {
    Baseline updated = baseline;
    for (const BaselineKey& key : missing) updated.erase(key);
    for (const CheckRow& row : rows) updated[row.key] = row.now;
    save(o.baseline, text_of(updated));
  }
  if (!o.junit.empty()) save(o.junit, junit_text(rows));
  if (!o.sarif.empty()) save(o.sarif, sarif_text(rows, program_version()));
  if (!o.markdown.empty()) save(o.markdown, markdown_text(rows));
  if (o.json) print_json(json_of(rows, missing));
  else if (o.junit != "-" && o.sarif != "-" && o.markdown != "-") {
    fmt::print("{}", check_text(rows));
    for (const BaselineKey& key : missing)
      fmt::print("gone: {} @{} {} at {} is in the baseline and was not played{}\n", key.file, key.function, key.allocator,
                 key.limit, o.update ? "" : " (--update takes it out)");
    if (o.update && fails) fmt::print("{} is as it was\n", o.baseline);
    else if (o.update) fmt::print("{}: {} written\n", o.baseline, counted(rows.size(), "row"));
    else if (fails) fmt::print("If that is meant to be: the same command with --update, and commit {}\n", o.baseline);
  }
  return fails ? kExitFinding : 0;
}

}  // namespace

Action declare_check(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("inputs", &o->inputs, "RIR or PTX files, or directories of them").required();
  a.option("--baseline", &o->baseline, "JSON file of what is accepted: registers and spill bytes of each kernel at each limit")
      .required();
  a.flag("--update", o->update, "Write what is so now into the baseline; it is made where it is not there");
  a.option("--with", &o->with,
           fmt::format("Allocators, comma-separated (default fatpoint): {}{}", duel::duelist_names(), kExecHelp));
  a.option("--regs,--maxrregcount", &o->regs, "Limits of the general register file, comma-separated, 1 to 255 (default: no limit)");
  o->allocators.add_to(a);
  o->target.add_to(a);
  o->abi.add_to(a);
  o->knobs.add_to(a, "Set a knob (regduel knobs), NAME=VALUE or ID=VALUE, for the allocators that have it; repeatable");
  add_jobs(a, o->jobs, "Threads, 0 = one a core; the output is the same for any number");
  a.option("--markdown", &o->markdown, "File for a comment on a pull request (- = standard output)");
  a.option("--junit", &o->junit, "File for a test report, a case a kernel and limit (- = standard output)");
  a.option(
      "--sarif", &o->sarif,
      "File for code scanning (- = standard output): what is worse stands beside the line of the source that .loc names, of the "
      "value that costs most");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Exit status 1: a kernel takes more registers or moves more bytes than is accepted, is not in the baseline, or a judge "
      "objects.\n"
      "Examples:  regduel check kernels --regs 32,64 --baseline spills.json --update\n"
      "           regduel check kernels --regs 32,64 --baseline spills.json --sarif spills.sarif");
  return [o] { return check(*o); };
}

}  // namespace regduel::cli
