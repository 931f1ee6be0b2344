// regduel llvm: LLVM's own allocators before the judges (llvm/README.md, docs/llvm.md).
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/io.h"
#include "base/random.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "cli/this_run.h"
#include "llvm/compile/compile.h"
#include "llvm/compile/database.h"
#include "llvm/judge/damage.h"
#include "llvm/judge/judge_pair.h"
#include "llvm/judge/rows.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> files, with = {"greedy", "basic", "fast", "pbqp"}, after = {"virtregrewriter", "machine-cp"};
  std::string llvm_dir, keep, database;
  llvm::CompileOptions compile;
  int faults = 0;
  std::uint64_t seed = 1;
  int jobs = 0;
  bool json = false, pair = false;

  [[nodiscard]] bool keeps_rir() const { return !keep.empty() || faults > 0 || !database.empty(); }
};

// One file under one allocator.
struct Job {
  std::string file, allocator;
  std::vector<std::string> arguments = {};  // of the compilation database
};
struct Result {
  std::optional<llvm::CompileFailure> failure = {};
  std::string triple = {}, cpu = {}, command = {}, dumps = {};
  std::vector<llvm::Verdict> verdicts = {};
  llvm::Damage damage = {};
};

std::vector<std::string> sources(const std::vector<std::string>& paths) {
  static const std::set<std::string> kinds = {".c", ".cl", ".cpp", ".cc", ".ll", ".bc", ".mir", ".json"};
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error)) throw BadInput(fmt::format("{}: no such file", path));
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::recursive_directory_iterator(path, error))
      if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()) && entry.path().extension() != ".json")
        inside.push_back(entry.path().string());
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Result judge_dumps(const llvm::DumpFile& file, const Options& o) {
  Result r{.triple = file.triple, .cpu = file.cpu};
  for (const llvm::DumpPair& pair : llvm::pair_dumps(file, o.after)) {
    r.verdicts.push_back(llvm::judge_pair(file.tables, pair, o.keeps_rir()));
    const llvm::Verdict& v = r.verdicts.back();
    if (o.faults > 0 && !v.refusal && v.verdict == oracles::Verdict::Pass)
      r.damage.add(llvm::damage(v, hash_combine(o.seed, r.verdicts.size()), o.faults));
  }
  return r;
}

Result run(const llvm::Tools& tools, const Job& job, const Options& o) {
  if (job.file.ends_with(".json")) {
    const auto text = read_file(job.file);
    if (!text) throw BadInput(text.error());
    const auto file = llvm::read_dump_file(*text, job.file);
    if (!file) throw BadInput(to_string(file.error()));
    return judge_dumps(*file, o);
  }
  llvm::CompileOptions options = o.compile;
  options.clang_arguments.insert(options.clang_arguments.end(), job.arguments.begin(), job.arguments.end());
  auto compiled =
      o.pair ? llvm::read_pair(tools, o.files[0], o.files[1], options) : llvm::compile(tools, job.file, job.allocator, options);
  if (!compiled) return Result{.failure = compiled.error()};
  Result r = judge_dumps(compiled->file, o);
  r.command = compiled->command;
  if (!o.keep.empty()) r.dumps = std::move(compiled->json);
  return r;
}

std::string_view name(llvm::CompileError e) {
  switch (e) {
    case llvm::CompileError::NotSupported: return "not supported";
    case llvm::CompileError::Failed: return "failed";
    case llvm::CompileError::Crashed: return "crashed";
    case llvm::CompileError::Hung: return "hung";
    case llvm::CompileError::OtherCode: return "other code";
    case llvm::CompileError::BadForm: return "bad form";
  }
  return "";
}

// What became of all functions under one allocator on one target.
struct Column {
  int judged = 0, pass = 0, fail = 0, inconclusive = 0, refused = 0, not_compiled = 0;
  llvm::Counts counts;
  double seconds = 0;

  void add(const llvm::Verdict& v) {
    seconds += v.seconds;
    if (v.refusal) {
      ++refused;
      return;
    }
    ++judged;
    switch (v.verdict) {
      case oracles::Verdict::Pass: ++pass; break;
      case oracles::Verdict::Fail: ++fail; break;
      case oracles::Verdict::Inconclusive:
      case oracles::Verdict::Skipped: ++inconclusive; break;
    }
    counts.add(v.counts);
  }
};

std::string registers(const llvm::Counts& c) {
  std::string text;
  for (const auto& [file, n] : c.registers) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", file, n);
  return text;
}

Json to_json(const Job& job, const Result& r, const llvm::Verdict& v) {
  Json findings = Json::array();
  for (const llvm::MirFinding& f : v.findings)
    findings.push_back({{"judge", f.judge},
                        {"category", f.category},
                        {"block", f.block},
                        {"before", f.before},
                        {"after", f.after},
                        {"message", f.message},
                        {"other", f.other}});
  Json j = {{"file", job.file},   {"function", v.function}, {"allocator", v.allocator},
            {"target", r.triple}, {"cpu", r.cpu},           {"pass", v.pass},
            {"run", v.run}};
  j["verdict"] = v.refusal ? "refused" : std::string(oracles::name(v.verdict));
  if (v.refusal) j["refusal"] = {{"kind", v.refusal->kind}, {"message", v.refusal->message}};
  j["registers"] = v.counts.registers;
  j["spill_store_bytes"] = v.counts.spill_bytes, j["spill_load_bytes"] = v.counts.refill_bytes;
  j["spills"] = v.counts.spills, j["refills"] = v.counts.refills, j["folds"] = v.counts.folds, j["copies"] = v.counts.copies,
  j["remats"] = v.counts.remats;
  j["originals"] = v.counts.originals;
  j["findings"] = findings;
  j["seconds"] = v.seconds;
  return j;
}

void keep_files(const std::string& directory, const Job& job, const Result& r, const llvm::Verdict& v) {
  if (v.before_rir.empty()) return;
  std::string base =
      fmt::format("{}/{}.{}.{}.{}.{}", directory, fs::path(job.file).filename().string(), v.function, v.allocator, v.run, v.pass);
  for (char& c : base)
    if (c == ' ' || c == '(' || c == ')') c = '_';
  save(base + ".before.rir", v.before_rir), save(base + ".after.rir", v.after_rir), save(base + ".target.json", v.target_json);
  if (!r.dumps.empty()) save(fmt::format("{}/{}.{}.json", directory, fs::path(job.file).filename().string(), v.allocator), r.dumps);
}

void print_verdict(const Job& job, const Result& r, const llvm::Verdict& v) {
  if (v.verdict == oracles::Verdict::Inconclusive)
    fmt::print("{}: {}: {} after {} (run {}): inconclusive: {}\n", job.file, v.function, v.allocator, v.pass, v.run, v.reason);
  if (v.findings.empty()) return;
  fmt::print("{}: {}: {} after {} (run {}): {} objection{}\n", job.file, v.function, v.allocator, v.pass, v.run, v.findings.size(),
             v.findings.size() == 1 ? "" : "s");
  constexpr std::size_t kShown = 4;
  for (std::size_t k = 0; k < std::min(kShown, v.findings.size()); ++k) fmt::print("{}", print(v.findings[k]));
  if (v.findings.size() > kShown) fmt::print("  ... and {} more\n", v.findings.size() - kShown);
  if (!r.command.empty()) fmt::print("    made by: {}\n", r.command);
}

std::string target_name(const std::string& triple, const std::string& cpu) { return cpu.empty() ? triple : triple + " " + cpu; }

// What is printed, kept and counted, result by result.
class Summary {
 public:
  explicit Summary(const Options& o) : o_(o) {
    if (!o.database.empty()) database_.emplace(o.database, this_run());
  }

  void add(const Job& job, Result r) {
    const std::string target = target_name(r.triple, r.cpu);
    if (r.failure) add_failure(job, *r.failure);
    for (const llvm::Verdict& v : r.verdicts) {
      columns_[{target, v.allocator}].add(v);
      has_failed_ = has_failed_ || (!v.refusal && v.verdict == oracles::Verdict::Fail);
      if (v.refusal) {
        refusals_.add(v.refusal->kind, fmt::format("{}: {}: {}", job.file, v.function, v.refusal->message));
      }
      if (o_.json) results_.push_back(to_json(job, r, v));
      else print_verdict(job, r, v);
      if (!o_.keep.empty()) keep_files(o_.keep, job, r, v);
      if (database_) database_->add(llvm::row_of(v, job.file, target, o_.compile.stress));
    }
    for (const llvm::Escaped& e : r.damage.escaped) {
      has_failed_ = true;
      if (!o_.json) fmt::print("{}: {}: no static judge sees the fault {}\n", job.file, job.allocator, e.fault);
      if (!o_.keep.empty()) save(fmt::format("{}/{}.{}.rir", o_.keep, fs::path(job.file).filename().string(), e.fault), e.after);
    }
    damage_.add(std::move(r.damage));
  }

  int finish() {
    if (database_) database_->finish();
    if (o_.json) {
      print_json({{"command", "llvm"},
                  {"results", results_},
                  {"not_compiled", failures_},
                  {"faults", {{"injected", damage_.injected}, {"changing", damage_.changing}, {"caught", damage_.caught}}}});
      return has_failed_ ? kExitFinding : 0;
    }
    print_table();
    for (const auto& [key, c] : columns_)
      if (!c.counts.registers.empty())
        fmt::print("registers, summed over functions: {} {}: {}\n", key.first, key.second, registers(c.counts));
    for (const auto& [kind, r] : refusals_) fmt::print("refused, {}: {} (such as {})\n", kind, r.count, r.example);
    if (o_.faults > 0)
      fmt::print("faults: {} injected, {} change what the program does, {} of these caught by a static judge\n", damage_.injected,
                 damage_.changing, damage_.caught);
    return has_failed_ ? kExitFinding : 0;
  }

 private:
  void add_failure(const Job& job, const llvm::CompileFailure& f) {
    has_failed_ = has_failed_ || f.kind == llvm::CompileError::OtherCode || f.kind == llvm::CompileError::BadForm;
    ++columns_[{target_name(o_.compile.triple, o_.compile.cpu), job.allocator}].not_compiled;
    failures_.push_back(
        {{"file", job.file}, {"allocator", job.allocator}, {"kind", name(f.kind)}, {"message", f.message}, {"command", f.command}});
    if (!o_.json && f.kind != llvm::CompileError::NotSupported)
      fmt::print("{}: {}: {}: {}\n    {}\n", job.file, job.allocator, name(f.kind), f.message, f.command);
  }
  void print_table() const {
    Table table({"target", "allocator", "judged", "pass", "fail", "open", "refused", "not compiled", "originals", "spill B",
                 "refill B", "folds", "copies", "remats", "seconds"},
                2);
    for (const auto& [key, c] : columns_)
      table.row({key.first.empty() ? "-" : key.first, key.second, fmt::format("{}", c.judged), fmt::format("{}", c.pass),
                 fmt::format("{}", c.fail), fmt::format("{}", c.inconclusive), fmt::format("{}", c.refused),
                 fmt::format("{}", c.not_compiled), fmt::format("{}", c.counts.originals), fmt::format("{}", c.counts.spill_bytes),
                 fmt::format("{}", c.counts.refill_bytes), fmt::format("{}", c.counts.folds), fmt::format("{}", c.counts.copies),
                 fmt::format("{}", c.counts.remats), fmt::format("{:.2f}", c.seconds)});
    fmt::print("{}", table.text());
  }

  const Options& o_;
  std::map<std::pair<std::string, std::string>, Column> columns_;
  llvm::Refusals refusals_;
  Json results_ = Json::array(), failures_ = Json::array();
  std::optional<results::ResultFile> database_;
  llvm::Damage damage_;
  bool has_failed_ = false;
};

std::vector<Job> jobs_of(const Options& o, const std::vector<std::string>& with) {
  std::vector<Job> jobs;
  if (o.pair) {
    if (o.files.size() != 2) throw BadInput("--pair: two files of MIR, before and after");
    return {{o.files[1], "pair"}};
  }
  for (const std::string& file : sources(o.files)) {
    if (fs::path(file).filename() == "compile_commands.json") {
      const auto text = read_file(file);
      if (!text) throw BadInput(text.error());
      const auto entries = llvm::read_database(*text, file);
      if (!entries) throw BadInput(to_string(entries.error()));
      for (const llvm::DatabaseEntry& e : *entries)
        for (const std::string& a : with) jobs.push_back({e.file, a, e.arguments});
    } else if (file.ends_with(".json")) {
      jobs.push_back({file, ""});
    } else {
      for (const std::string& a : with) jobs.push_back({file, a});
    }
  }
  return jobs;
}

// An input for llc, with what an upstream report needs, and llvm-reduce's test beside it.

int llvm_command(const Options& o) {
  const std::vector<std::string> with = split_list(o.with);
  for (const std::string& a : with)
    if (std::ranges::find(llvm::kAllocators, a) == std::end(llvm::kAllocators))
      throw BadInput(fmt::format("--with: LLVM has no allocator \"{}\" (there are greedy, basic, fast, pbqp)", a));
  if (o.files.empty()) throw BadInput("which files? (random programs: regduel fuzz --with llvm:greedy@x86_64)");
  Options options = o;
  options.after = split_list(o.after);
  if (!o.keep.empty()) {
    require_directory_possible(o.keep);
    fs::create_directories(o.keep);
  }
  const llvm::Tools tools = llvm::find_tools(o.llvm_dir);
  const std::vector<Job> jobs = jobs_of(options, with);
  const bool needs_llc = std::ranges::any_of(jobs, [](const Job& j) { return !j.allocator.empty(); });
  if (tools.regduel_llc.empty() && needs_llc) {
    fmt::print("skipped: no regduel-llc (build with LLVM 19; on Debian: apt-get install llvm-19-dev)\n");
    return 0;
  }
  Summary summary(options);
  in_order<Result>(
      std::ssize(jobs), resolve_jobs(o.jobs), [&](std::int64_t k) { return run(tools, jobs[k], options); },
      [&](std::int64_t k, Result r) {
        summary.add(jobs[k], std::move(r));
        return true;
      });
  return summary.finish();
}

}  // namespace

Action declare_llvm(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("files", &o->files,
           "C, OpenCL C, LLVM IR or MIR, folders of them, compile_commands.json, or dumps of regduel-llc (.json)");
  a.option("--with", &o->with,
           "Allocators, comma-separated: greedy, basic, fast (the -O0 pipeline unless -O says otherwise), pbqp");
  a.option(
      "--after", &o->after,
      "Judge what stands after these passes: virtregrewriter, stack-slot-coloring, machine-cp; fast is judged right after itself");
  a.option("--triple", &o->compile.triple, "Target triple, else the module's own, or this machine");
  a.option("--cpu", &o->compile.cpu, "Processor");
  a.option("--features", &o->compile.features, "Features of the processor, as llc's -mattr has them");
  a.option("-O", &o->compile.level, "Level of optimisation, 0 to 3; without, 0 for fast and 2 for others")
      .one_of({"0", "1", "2", "3"});
  a.option("--stress", &o->compile.stress, "Leave the allocator so few registers of each class (-stress-regalloc)");
  a.option("--llvm", &o->llvm_dir, "Where LLVM is installed: DIR/bin/clang");
  a.option("--clang-arg", &o->compile.clang_arguments, "An argument more for clang");
  a.option("--llc-arg", &o->compile.llc_arguments, "An argument more for regduel-llc");
  a.flag("--compare-code", o->compile.compare_code, "Compile without the dump as well; other code is an error");
  a.flag("--pair", o->pair, "Two files of MIR with the same debug-instr-numbers: before an allocation, and after it");
  a.option("--faults", &o->faults, "Damage each allocation that passes in so many ways, and see whether the judges object");
  a.option("--seed", &o->seed, "Of the faults");
  a.option("--db", &o->database, "Add the results to this database, for regduel report and regduel compare");
  a.option("--keep", &o->keep, "Directory for the pairs of RIR, and the dumps");
  add_jobs(a, o->jobs, "Programs at a time");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Needs regduel-llc (built where LLVM 19 is found) and, for sources, clang. Exit status 1: a judge objects.\n"
      "Example:  regduel llvm corpus/llvm/x86 --with greedy,fast");
  return [o] { return llvm_command(*o); };
}

}  // namespace regduel::cli
