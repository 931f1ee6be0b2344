// regduel llvm: LLVM's own allocators before the judges (llvm/README.md, docs/llvm.md).
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/io.h"

#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "llvm/compile/compile.h"
#include "llvm/judge/judge_pair.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> files, with = {"greedy", "basic", "fast", "pbqp"}, after = {"virtregrewriter", "machine-cp"};
  std::string llvm_dir, keep;
  llvm::CompileOptions compile;
  int jobs = 0;
  bool json = false;
};

// One file under one allocator.
struct Job {
  std::string file, allocator;
};
struct Result {
  std::optional<llvm::CompileFailure> failure = {};
  std::string triple = {}, cpu = {}, command = {}, dumps = {};
  std::vector<llvm::Verdict> verdicts = {};
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
  for (const llvm::DumpPair& pair : llvm::pair_dumps(file, o.after))
    r.verdicts.push_back(llvm::judge_pair(file.tables, pair, !o.keep.empty()));
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
  auto compiled = llvm::compile(tools, job.file, job.allocator, o.compile);
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
    counts.originals += v.counts.originals, counts.spills += v.counts.spills, counts.refills += v.counts.refills;
    counts.folds += v.counts.folds, counts.copies += v.counts.copies, counts.remats += v.counts.remats;
    counts.copies_deleted += v.counts.copies_deleted;
    counts.spill_bytes += v.counts.spill_bytes, counts.refill_bytes += v.counts.refill_bytes;
    for (const auto& [file, n] : v.counts.registers) counts.registers[file] += n;
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

int llvm_command(const Options& o) {
  std::vector<std::string> with = split_list(o.with);
  for (const std::string& a : with)
    if (std::ranges::find(llvm::kAllocators, a) == std::end(llvm::kAllocators))
      throw BadInput(fmt::format("--with: LLVM has no allocator \"{}\" (there are greedy, basic, fast, pbqp)", a));
  Options options = o;
  options.after = split_list(o.after);
  if (!o.keep.empty()) {
    require_directory_possible(o.keep);
    fs::create_directories(o.keep);
  }
  const llvm::Tools tools = llvm::find_tools(o.llvm_dir);
  std::vector<Job> jobs;
  for (const std::string& file : sources(o.files)) {
    if (file.ends_with(".json")) jobs.push_back({file, ""});
    else
      for (const std::string& a : with) jobs.push_back({file, a});
  }
  if (tools.regduel_llc.empty() && std::ranges::any_of(jobs, [](const Job& j) { return !j.allocator.empty(); })) {
    fmt::print("skipped: no regduel-llc (build with LLVM 19; on Debian: apt-get install llvm-19-dev)\n");
    return 0;
  }
  std::map<std::pair<std::string, std::string>, Column> columns;
  std::map<std::string, std::pair<int, std::string>> refusals;
  Json results = Json::array(), failures = Json::array();
  bool failed = false;
  in_order<Result>(
      std::ssize(jobs), resolve_jobs(o.jobs), [&](std::int64_t k) { return run(tools, jobs[k], options); },
      [&](std::int64_t k, Result r) {
        const Job& job = jobs[k];
        const std::string target = r.triple + (r.cpu.empty() ? "" : " " + r.cpu);
        if (r.failure) {
          failed = failed || r.failure->kind == llvm::CompileError::OtherCode || r.failure->kind == llvm::CompileError::BadForm;
          ++columns[{o.compile.triple + (o.compile.cpu.empty() ? "" : " " + o.compile.cpu), job.allocator}].not_compiled;
          failures.push_back({{"file", job.file},
                              {"allocator", job.allocator},
                              {"kind", name(r.failure->kind)},
                              {"message", r.failure->message},
                              {"command", r.failure->command}});
          if (!o.json && r.failure->kind != llvm::CompileError::NotSupported)
            fmt::print("{}: {}: {}: {}\n    {}\n", job.file, job.allocator, name(r.failure->kind), r.failure->message,
                       r.failure->command);
        }
        for (const llvm::Verdict& v : r.verdicts) {
          columns[{target, v.allocator}].add(v);
          failed = failed || (!v.refusal && v.verdict == oracles::Verdict::Fail);
          if (v.refusal) {
            auto& [count, example] = refusals[v.refusal->kind];
            if (count++ == 0) example = fmt::format("{}: {}: {}", job.file, v.function, v.refusal->message);
          }
          if (o.json) results.push_back(to_json(job, r, v));
          else print_verdict(job, r, v);
          if (!o.keep.empty()) keep_files(o.keep, job, r, v);
        }
        return true;
      });
  if (o.json) {
    print_json({{"command", "llvm"}, {"results", results}, {"not_compiled", failures}});
    return failed ? kExitFinding : 0;
  }
  Table table({"target", "allocator", "judged", "pass", "fail", "open", "refused", "not compiled", "originals", "spill B",
               "refill B", "folds", "copies", "remats", "seconds"},
              2);
  for (const auto& [key, c] : columns)
    table.row({key.first.empty() ? "-" : key.first, key.second, fmt::format("{}", c.judged), fmt::format("{}", c.pass),
               fmt::format("{}", c.fail), fmt::format("{}", c.inconclusive), fmt::format("{}", c.refused),
               fmt::format("{}", c.not_compiled), fmt::format("{}", c.counts.originals), fmt::format("{}", c.counts.spill_bytes),
               fmt::format("{}", c.counts.refill_bytes), fmt::format("{}", c.counts.folds), fmt::format("{}", c.counts.copies),
               fmt::format("{}", c.counts.remats), fmt::format("{:.2f}", c.seconds)});
  fmt::print("{}", table.text());
  for (const auto& [key, c] : columns)
    if (!c.counts.registers.empty())
      fmt::print("registers, summed over functions: {} {}: {}\n", key.first, key.second, registers(c.counts));
  for (const auto& [kind, r] : refusals) fmt::print("refused, {}: {} (such as {})\n", kind, r.first, r.second);
  return failed ? kExitFinding : 0;
}

}  // namespace

Action declare_llvm(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("files", &o->files, "C, OpenCL C, LLVM IR or MIR, folders of them, or dumps of regduel-llc (.json)").required();
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
  a.option("--keep", &o->keep, "Directory for the pairs of RIR, and for the dumps");
  add_jobs(a, o->jobs, "Programs at a time");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Needs regduel-llc (built where LLVM 19 is found) and, for sources, clang. Exit status 1: a judge objects.\n"
      "Example:  regduel llvm corpus/llvm/x86 --with greedy,fast");
  return [o] { return llvm_command(*o); };
}

}  // namespace regduel::cli
