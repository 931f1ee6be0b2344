#include "llvm/random/campaign.h"

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <span>

#include <fmt/format.h>

#include "base/io.h"
#include "base/random.h"
#include "fuzz/triage/reduce.h"
#include "generate/generator.h"
#include "llvm/random/mir_program.h"

namespace regduel::llvm {
namespace {

namespace fs = std::filesystem;

CompileOptions compile_options(const RandomOptions& o) {
  CompileOptions c = o.compile;
  const bool is_fast = o.allocator == "fast";
  c.triple.clear();
  c.cpu = o.machine->cpu, c.features = o.machine->features;
  c.level = is_fast ? "0" : "2";
  if (is_fast) {
    c.llc_arguments.emplace_back("-start-before=regallocfast,0");
    c.llc_arguments.push_back(fmt::format("-stop-after=regallocfast,{}", o.machine->runs_twice ? 1 : 0));
  } else {
    c.llc_arguments.emplace_back("-start-after=twoaddressinstruction");
    c.llc_arguments.emplace_back("-stop-after=machine-cp");
  }
  if (o.verify) c.llc_arguments.emplace_back("-verify-machineinstrs");
  return c;
}

std::expected<Compiled, CompileFailure> compile_mir(const Tools& tools, const RandomOptions& o, const std::string& mir) {
  const fs::path file = fs::temp_directory_path() / fmt::format("regduel-random-{}-{}.mir", ::getpid(), fmt::ptr(&mir));
  if (const auto written = write_file(file.string(), mir); !written)
    return std::unexpected(CompileFailure{CompileError::Failed, written.error(), ""});
  auto compiled = compile(tools, file.string(), o.allocator, compile_options(o));
  std::error_code ignored;
  fs::remove(file, ignored);
  return compiled;
}

// What differs from program to program is left out: numbers and addresses.
std::string without_numbers(const std::string& s) {
  static const std::regex number("0x[0-9a-f]+|[0-9]+");
  return std::regex_replace(s, number, "N");
}

RandomFinding finding_of(const CompileFailure& f) {
  RandomFinding r{.kind = "failed", .signature = "", .words = f.message, .command = f.command};
  if (f.kind == CompileError::Crashed) r.kind = "crash";
  if (f.kind == CompileError::Hung) r.kind = "hang";
  if (f.message.find("ran out of registers") != std::string::npos) r.kind = "out-of-registers";
  if (f.message.find("machine code") != std::string::npos) r.kind = "verifier";
  r.signature = r.kind == "out-of-registers" ? r.kind : without_numbers(f.message).substr(0, 160);
  return r;
}

RandomFinding finding_of(const Verdict& v, const std::string& command) {
  RandomFinding r{.kind = "wrong", .signature = "", .words = "", .command = command};
  for (const MirFinding& f : v.findings) {
    if (r.signature.empty()) r.signature = fmt::format("{} after {}: {}/{}", v.allocator, v.pass, f.judge, f.category);
    r.words += print(f);
  }
  return r;
}

const std::vector<std::string> kPasses = {"virtregrewriter", "stack-slot-coloring", "machine-cp"};

class Batch {
 public:
  Batch(const Tools& tools, const RandomOptions& o) : tools_(tools), o_(o) {}

  // The functions are those of programs first, first + 1, ...
  void play(std::span<const MirFunction> functions, std::uint64_t first) {
    const std::string mir = mir_file(functions, *o_.machine);
    const auto compiled = compile_mir(tools_, o_, mir);
    if (!compiled && compiled.error().kind != CompileError::NotSupported &&
        functions.size() > 1) {  // one of them ended the process
      const std::size_t half = functions.size() / 2;
      play(functions.first(half), first);
      return play(functions.subspan(half), first + half);
    }
    out.programs += static_cast<int>(functions.size());
    if (compiled) return judge(*compiled, functions, first);
    if (compiled.error().kind == CompileError::NotSupported) return;
    RandomFinding f = finding_of(compiled.error());
    f.index = first, f.mir = mir;
    out.findings.push_back(std::move(f));
  }

  RandomBatch out;

 private:
  void judge(const Compiled& compiled, std::span<const MirFunction> functions, std::uint64_t first) {
    std::map<std::string, RandomFinding> found;  // the first of each function
    for (const DumpPair& pair : pair_dumps(compiled.file, kPasses)) {
      const Verdict v = judge_pair(compiled.file.tables, pair);
      if (v.refusal) {
        out.refused.add(v.refusal->kind, fmt::format("program {}: {}", first, v.refusal->message));
        continue;
      }
      ++out.judged;
      out.counts.add(v.counts);
      if (v.verdict == oracles::Verdict::Pass) ++out.pass;
      if (v.verdict == oracles::Verdict::Inconclusive) ++out.inconclusive;
      if (v.verdict == oracles::Verdict::Fail) found.emplace(v.function, finding_of(v, compiled.command));
    }
    for (std::size_t k = 0; k < functions.size(); ++k)
      if (const auto it = found.find(fmt::format("p{}", k)); it != found.end()) {
        it->second.index = first + k;
        it->second.mir = mir_file(functions.subspan(k, 1), *o_.machine);
        out.findings.push_back(std::move(it->second));
      }
  }

  const Tools& tools_;
  const RandomOptions& o_;
};

}  // namespace

ir::Function random_program(const RandomOptions& o, std::uint64_t index) {
  const std::uint64_t seed = hash_combine(o.seed, index);
  const auto profiles = generate::profiles();
  generate::Profile profile = profiles[seed % profiles.size()];
  if (profile == generate::Profile::Undefined) profile = generate::Profile::Mix;
  return generate::generate({.profile = profile, .seed = seed, .size = o.size, .target = "sm_90"});
}

RandomBatch play(const Tools& tools, const RandomOptions& options, std::uint64_t first, int count) {
  std::vector<MirFunction> functions;
  for (int k = 0; k < count; ++k)
    functions.push_back(mir_function(random_program(options, first + static_cast<std::uint64_t>(k)), *options.machine));
  Batch batch(tools, options);
  batch.play(functions, first);
  return std::move(batch.out);
}

RandomFinding reduce(const Tools& tools, const RandomOptions& options, const RandomFinding& finding, int tries) {
  RandomFinding best = finding;
  const ir::Target* target = ir::find_target("sm_90");
  const duel::Case whole{
      .target = target, .limits = ir::Limits::of(*target), .knobs = {}, .program = random_program(options, finding.index)};
  int left = tries;
  const auto still_fails = [&](const duel::Case& c) {
    if (left-- <= 0) return false;
    const MirFunction alone = mir_function(c.program, *options.machine);
    Batch batch(tools, options);
    batch.play(std::span(&alone, 1), finding.index);
    if (batch.out.findings.empty()) return false;
    RandomFinding& found = batch.out.findings.front();
    if (found.kind != finding.kind || found.signature != finding.signature) return false;
    best = std::move(found);
    return true;
  };
  // What shows in company alone stays as it is.
  if (!still_fails(whole)) return best;
  (void)fuzz::reduce(whole, still_fails,
                     {.leaps = false, .progress = [&](const fuzz::CaseSize&, std::uint64_t) { return left > 0; }});
  return best;
}

}  // namespace regduel::llvm
