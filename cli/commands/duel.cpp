// regduel duel: every allocator on every program at every limit, judged, as a table.

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/finding.h"
#include "cli/function_names.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "cli/show/tally_text.h"
#include "cli/this_run.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "fuzz/campaign/tally.h"
#include "generate/generator.h"
#include "oracles/calls/calls.h"
#include "oracles/completeness.h"
#include "oracles/judge.h"
#include "oracles/quality/max_live.h"
#include "results/results.h"

namespace regduel::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> with;
  std::vector<std::string> regs;
  TargetOptions target;
  AbiOption abi;
  KnobOptions knobs;
  AllocatorOptions allocators;
  std::int64_t random = 0;
  std::string profile;
  std::uint64_t seed = 1;
  int size = 0;
  int jobs = 0;
  std::string save_to = "findings";
  std::string database;
  bool metamorphic = false;
  bool demangle = false;
  bool json = false;
};

// A program and what came of it at each limit.
struct PlayedProgram {
  duel::Case input;
  std::vector<ir::Limits> limits;
  std::vector<duel::Duel> duels;
};

// Throws BadInput for a knob that none of them has.
duel::Knobs parse_knobs(const KnobOptions& options, const std::vector<const ir::Allocator*>& duelists) {
  duel::Knobs knobs = options.settings(duelists);
  for (const auto& [knob, value] : knobs) {
    bool known = false;
    for (const ir::Allocator* a : duelists)
      for (const ir::KnobInfo& k : a->knobs()) known = known || k.name == knob;
    if (!known) throw BadInput(fmt::format("--knob {}: no allocator here has such a knob", knob));
  }
  return knobs;
}

Json row_json(const std::string& file, const duel::Case& input, const duel::Duel& d, const duel::Bout& b) {
  const ir::Function& shown = b.program ? *b.program : input.program;
  Json findings = Json::array();
  for (const oracles::Finding& f : b.findings()) findings.push_back(to_json(f, shown));
  Json row = {{"file", file},
              {"function", input.program.name},
              {"allocator", b.allocator},
              {"limit", input.limits.of(ir::RegFile::R)},
              {"registers", nullptr},
              {"max_live", nullptr},
              {"threads", input.program.threads},
              {"warps_per_sm", nullptr},
              {"occupancy_percent", nullptr},
              {"spill_store_bytes", nullptr},
              {"spill_load_bytes", nullptr},
              {"weighted_spill_bytes", nullptr}};
  if (b.program) {
    row["registers"] = b.measures.registers[0];
    row["max_live"] = b.measures.max_live[0];
    row["warps_per_sm"] = b.measures.warps_per_sm;
    row["occupancy_percent"] = b.measures.occupancy_percent;
    row["spill_store_bytes"] = b.measures.spill_store_bytes;
    row["spill_load_bytes"] = b.measures.spill_load_bytes;
    if (b.measures.weighted_spill_bytes) row["weighted_spill_bytes"] = *b.measures.weighted_spill_bytes;
  }
  if (!b.notes.empty()) row["notes"] = b.notes;
  row["verdict"] = oracles::name(b.verdict());
  row["reason"] = b.reason();
  row["findings"] = findings;
  for (const duel::MetamorphicBout& m : d.metamorphic)
    if (m.allocator == b.allocator) row["metamorphic"] = to_json(m.metamorphic, shown);
  row["seconds"] = b.seconds;
  return row;
}

// The verdict of one row of the table: one word where all agree.
std::string verdict_cell(const duel::Duel& d) {
  std::string cell;
  for (const duel::Bout& b : d.bouts) {
    std::string word(oracles::name(b.verdict()));
    if (b.verdict() == oracles::Verdict::Skipped) word = b.reason();
    if (b.verdict() == oracles::Verdict::Fail && !b.findings().empty())
      word += fmt::format(" ({}/{})", b.findings()[0].judge, b.findings()[0].category);
    if (b.verdict() == oracles::Verdict::Inconclusive) word += fmt::format(" ({})", b.reason());
    if (cell.find(word) == std::string::npos) cell += (cell.empty() ? "" : ", ") + word;
  }
  return cell;
}

// At which limits of the general register file programs are played.
class ChosenLimits {
 public:
  //   regs   of --regs: numbers, none, the word "sweep", or a share of MaxLive as "75%"
  ChosenLimits(const std::vector<std::string>& regs, const TargetOptions& target)
      : target_(target), sweeps_(regs == std::vector<std::string>{"sweep"}) {
    if (regs.size() == 1 && regs[0].ends_with('%')) percent_ = percent_of(regs[0]);
    else if (!sweeps_) numbers_ = parse_registers(regs);
  }
  // Each program has limits of its own.
  [[nodiscard]] bool hang_on_program() const { return sweeps_ || percent_ > 0; }
  // Every limit; else those of percent(), of MaxLive.
  [[nodiscard]] bool sweeps() const { return sweeps_; }
  [[nodiscard]] int percent() const { return percent_; }
  [[nodiscard]] bool are_given() const { return hang_on_program() || !numbers_.empty(); }
  // How many that is for each program, where it is the same for all.
  [[nodiscard]] std::size_t count() const { return std::max<std::size_t>(numbers_.size(), 1); }
  [[nodiscard]] ir::Limits of(const ir::Target& t, int registers) const { return target_.limits_for(t, registers); }
  [[nodiscard]] std::vector<ir::Limits> given(const ir::Target& t) const {
    std::vector<ir::Limits> all;
    for (const int n : numbers_) all.push_back(of(t, n));
    if (all.empty()) all.push_back(of(t, 0));
    return all;
  }

 private:
  static int percent_of(const std::string& s) {
    int percent = 0;
    const char* const end = s.data() + s.size() - 1;
    if (const auto [at, error] = std::from_chars(s.data(), end, percent);
        error != std::errc() || at != end || percent < 1 || percent > 100)
      throw BadInput(fmt::format("--regs: expected 1% to 100%, found \"{}\"", s));
    return percent;
  }

  const TargetOptions& target_;
  bool sweeps_;
  int percent_ = 0;
  std::vector<int> numbers_;
};

// The least limit at which no instruction is impossible; all registers of the target where there is none.
int demand_of(const duel::Case& input, const ChosenLimits& limits) {
  int impossible = 0, enough = limits.of(*input.target, 0).of(ir::RegFile::R);
  while (enough - impossible > 1) {
    const int middle = (impossible + enough) / 2;
    const bool fits = !oracles::find_impossible(input.program, *input.target, limits.of(*input.target, middle));
    (fits ? enough : impossible) = middle;
  }
  return enough;
}

// How many registers the duelists use at most where nothing limits them: what they still spill then (predicates, callee-saved
// registers) no limit helps.
int unspilled_need(const duel::Duel& duel) {
  int need = 1;
  for (const duel::Bout& b : duel.bouts)
    if (b.program) need = std::max(need, b.measures.registers[ir::index(ir::RegFile::R)]);
  return need;
}

// What the judges need of the program is made once for all limits.
PlayedProgram play(duel::Case input, std::vector<ir::Limits> limits, const std::vector<const ir::Allocator*>& duelists,
                   bool metamorphic) {
  PlayedProgram r{std::move(input), std::move(limits), {}};
  const oracles::Before before(r.input.program, *r.input.target);
  for (const ir::Limits& l : r.limits) {
    r.input.limits = l;
    r.duels.push_back(duel::duel(before, {.duelists = duelists, .limits = l, .knobs = r.input.knobs, .metamorphic = metamorphic}));
  }
  return r;
}

// At every limit from the program's demand to its unspilled need, ascending; or at a share of its MaxLive, if that is not below its
// demand, else there.
PlayedProgram play_own_limits(duel::Case input, const ChosenLimits& limits, const std::vector<const ir::Allocator*>& duelists,
                              bool metamorphic) {
  const int demand = demand_of(input, limits);
  std::vector<ir::Limits> each;
  if (limits.sweeps()) {
    input.limits = limits.of(*input.target, 0);
    const oracles::Before before(input.program, *input.target);
    const int need = unspilled_need(duel::duel(before, {.duelists = duelists, .limits = input.limits, .knobs = input.knobs}));
    for (int n = std::min(demand, need); n <= need; ++n) each.push_back(limits.of(*input.target, n));
  } else {
    const int live = oracles::max_live(input.program, ir::Cfg(input.program))[ir::index(ir::RegFile::R)];
    const int all = limits.of(*input.target, 0).of(ir::RegFile::R);
    each.push_back(limits.of(*input.target, std::clamp((live * limits.percent() + 99) / 100, demand, all)));
  }
  return play(std::move(input), std::move(each), duelists, metamorphic);
}

// Files whose functions call each other: what each duelist makes of one is judged as a whole, at each limit.
class WholeFiles {
 public:
  // Requires: the programs are as they were loaded; those of one file stand together.
  explicit WholeFiles(const std::vector<Program>& programs) : last_(programs.size(), 0), is_judged_(programs.size(), false) {
    for (std::size_t begin = 0, end = 0; begin < programs.size(); begin = end) {
      std::vector<oracles::FunctionOfFile> file;
      for (; end < programs.size() && programs[end].file == programs[begin].file; ++end)
        file.push_back({&programs[end].function, nullptr, nullptr, programs[end].is_weak});
      const bool is_judged = file.size() > 1 && oracles::has_calls_inside(file);
      for (std::size_t k = begin; k < end; ++k) last_[k] = end - 1, is_judged_[k] = is_judged;
    }
  }

  // Takes the programs in their order.
  void add(std::size_t k, bool is_weak, PlayedProgram played, Findings& findings) {
    if (!is_judged_[k]) return;
    functions_.push_back(std::move(played));
    are_weak_.push_back(is_weak);
    if (k != last_[k]) return;
    for (std::size_t m = 0; m < functions_[0].limits.size(); ++m)
      for (std::size_t d = 0; d < functions_[0].duels[m].bouts.size(); ++d) judge(m, d, findings);
    functions_.clear();
    are_weak_.clear();
  }

 private:
  void judge(std::size_t limit, std::size_t duelist, Findings& findings) {
    std::vector<oracles::FunctionOfFile> file;
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      const PlayedProgram& f = functions_[k];
      const auto& after = f.duels[limit].bouts[duelist].program;
      file.push_back({&f.input.program, after ? &*after : nullptr, f.input.target, are_weak_[k]});
    }
    const std::vector<oracles::JudgeResult> results = oracles::judge_calls(file);
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      if (results[k].verdict != oracles::Verdict::Fail) continue;
      const duel::Bout& b = functions_[k].duels[limit].bouts[duelist];
      duel::Bout whole;
      whole.allocator = b.allocator;
      whole.program = b.program;
      whole.report.results.push_back(results[k]);
      functions_[k].input.limits = functions_[k].limits[limit];
      findings.add(functions_[k].input, whole);
    }
  }

  std::vector<std::size_t> last_;  // by program: the last one of its file
  std::vector<bool> is_judged_;
  std::vector<PlayedProgram> functions_;  // of the file at hand
  std::vector<bool> are_weak_;
};

// Programs from files: a row for each program and limit.
int duel_files(const Options& o, const std::vector<const ir::Allocator*>& duelists, const duel::Knobs& knobs) {
  const ChosenLimits limits(o.regs, o.target);
  std::vector<Program> programs = load_all(o.inputs, o.abi.name());
  require_phase(programs, ir::Phase::Virtual);
  if (programs.empty()) throw BadInput("error: there is no function in the input");
  std::vector<const ir::Target*> targets;
  for (Program& p : programs) targets.push_back(&o.target.resolve(p.function, p.file));
  std::vector<ColumnGroup> columns = {{"", {"function", "limit", "MaxLive"}}};
  for (const ir::Allocator* a : duelists) columns.push_back({std::string(a->name()), {"registers", "warps", "stores", "loads"}});
  columns.push_back({"", {"verdict"}});
  Table table = Table::grouped(std::move(columns));
  // Rows are shown as they come. Bytes and verdicts may be wider than is thought here: their columns get wider then.
  std::vector<std::string> widest = {"", "255", "1000"};
  for (const Program& p : programs) {
    const std::string name = o.demangle ? demangled(p.function.name) : p.function.name;
    if (name.size() > widest[0].size()) widest[0] = name;
  }
  for (std::size_t k = 0; k < duelists.size(); ++k) widest.insert(widest.end(), {"255", "64", "100000", "100000"});
  widest.emplace_back("inconclusive");
  Findings findings(o.save_to);
  WholeFiles whole_files(programs);
  fuzz::Tally tally(duelists);
  std::optional<results::ResultFile> file;
  if (!o.database.empty()) file.emplace(o.database, this_run());
  Json rows = Json::array();
  Progress progress("duel", static_cast<std::int64_t>(programs.size() * limits.count()));
  const std::function<PlayedProgram(std::int64_t)> work = [&](std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    duel::Case input{targets[at], {}, knobs, std::move(programs[at].function)};
    if (limits.hang_on_program()) return play_own_limits(std::move(input), limits, duelists, o.metamorphic);
    return play(std::move(input), limits.given(*targets[at]), duelists, o.metamorphic);
  };
  const std::function<bool(std::int64_t, PlayedProgram)> take = [&](std::int64_t k, PlayedProgram r) {
    for (std::size_t m = 0; m < r.duels.size(); ++m) {
      const duel::Duel& d = r.duels[m];
      r.input.limits = r.limits[m];
      std::vector<std::string> cells = {m > 0        ? ""
                                        : o.demangle ? demangled(r.input.program.name)
                                                     : r.input.program.name,
                                        fmt::format("{}", r.input.limits.of(ir::RegFile::R)), ""};
      for (const duel::Bout& b : d.bouts) {
        if (b.program) cells[2] = fmt::format("{}", b.measures.max_live[0]);
        cells.push_back(b.program ? fmt::format("{}", b.measures.registers[0]) : "-");
        cells.push_back(b.program ? fmt::format("{}", b.measures.warps_per_sm) : "-");
        cells.push_back(b.program ? fmt::format("{}", b.measures.spill_store_bytes) : "-");
        cells.push_back(b.program ? fmt::format("{}", b.measures.spill_load_bytes) : "-");
        if (o.json) rows.push_back(row_json(programs[static_cast<std::size_t>(k)].file, r.input, d, b));
        if (b.verdict() == oracles::Verdict::Fail) findings.add(r.input, b);
      }
      cells.push_back(verdict_cell(d));
      table.row(std::move(cells));
      if (!o.json) progress.say(table.next(widest));
      tally.add(r.input, d);
      if (file) file->add(results::results_of(r.input, programs[static_cast<std::size_t>(k)].file, d, results::Content::Kept));
      if (!limits.hang_on_program()) progress.step();
    }
    if (limits.hang_on_program()) progress.step();
    else whole_files.add(static_cast<std::size_t>(k), programs[static_cast<std::size_t>(k)].is_weak, std::move(r), findings);
    return true;
  };
  in_order<PlayedProgram>(static_cast<std::int64_t>(programs.size()), resolve_jobs(o.jobs), work, take);
  progress.done();
  if (file) file->finish();
  if (o.json) print_json({{"command", "duel"}, {"results", rows}, {"summary", json_of(tally)}, {"findings", findings.json()}});
  else
    fmt::print("\nwarps: of an SM at the block size; stores, loads: bytes of spill stores and refills\n{}{}", text_of(tally),
               findings.text());
  return findings.distinct() > 0 ? kExitFinding : 0;
}

// Random programs: a summary; with --json also a row for each.
int duel_random(const Options& o, const std::vector<const ir::Allocator*>& duelists, const duel::Knobs& knobs) {
  const ChosenLimits limits(o.regs, o.target);
  const bool standard = o.profile.empty() && !limits.are_given() && o.target.sm == 0 && o.target.target_file.empty() &&
                        o.target.limits.empty() && o.size == 0;
  const auto profile = generate::profile_from_name(o.profile.empty() ? "mix" : o.profile);
  if (!profile && o.profile != "all")
    throw BadInput(fmt::format("--profile: no profile \"{}\" (see regduel gen --help)", o.profile));
  const std::function<PlayedProgram(std::int64_t)> work = [&](std::int64_t k) {
    const auto number = static_cast<std::uint64_t>(k);
    duel::Case c;
    std::vector<ir::Limits> all;
    if (standard) {
      c = duel::standard_case(o.seed, number, duelists);
      all.push_back(c.limits);
    } else {
      generate::GeneratorOptions g;
      g.profile = profile ? *profile : generate::profiles()[number % generate::profiles().size()];
      g.size = o.size;
      g.seed = o.seed + number;
      c.target = &o.target.of_random_programs();
      c.program = generate::generate(g, *c.target);
      if (!limits.hang_on_program()) all = limits.given(*c.target);
    }
    c.knobs.insert(c.knobs.end(), knobs.begin(), knobs.end());
    if (limits.hang_on_program()) return play_own_limits(std::move(c), limits, duelists, o.metamorphic);
    return play(std::move(c), std::move(all), duelists, o.metamorphic);
  };
  Findings findings(o.save_to);
  fuzz::Tally tally(duelists);
  const std::string mix = fmt::format("{}, seed {}", standard ? "standard mix" : o.profile.empty() ? "mix" : o.profile, o.seed);
  results::RunInfo run = this_run();
  run.seed = o.seed;
  std::optional<results::ResultFile> file;
  if (!o.database.empty()) file.emplace(o.database, run);
  Json rows = Json::array();
  Progress progress("random duels", o.random * static_cast<std::int64_t>(limits.count()));
  const std::function<bool(std::int64_t, PlayedProgram)> take = [&](std::int64_t k, PlayedProgram r) {
    for (std::size_t m = 0; m < r.duels.size(); ++m) {
      r.input.limits = r.limits[m];
      for (const duel::Bout& b : r.duels[m].bouts) {
        if (b.verdict() == oracles::Verdict::Fail) findings.add(r.input, b);
        if (!o.json) continue;
        rows.push_back(row_json("", r.input, r.duels[m], b));
        rows.back()["case"] = k;
      }
      tally.add(r.input, r.duels[m]);
      const std::string source =
          standard ? results::mix_source(o.seed, static_cast<std::uint64_t>(k)) : fmt::format("{}, case {}", mix, k);
      const results::Content content = standard ? results::Content::MadeAgain : results::Content::Kept;
      if (file) file->add(results::results_of(r.input, source, r.duels[m], content));
      if (!limits.hang_on_program()) progress.step(1, fmt::format("findings {}", findings.distinct()));
    }
    if (limits.hang_on_program()) progress.step(1, fmt::format("findings {}", findings.distinct()));
    return true;
  };
  in_order<PlayedProgram>(o.random, resolve_jobs(o.jobs), work, take);
  progress.done();
  if (file) file->finish();
  if (o.json)
    print_json(
        {{"command", "duel"}, {"seed", o.seed}, {"results", rows}, {"summary", json_of(tally)}, {"findings", findings.json()}});
  else fmt::print("{}{}", text_of(tally), findings.text());
  return findings.distinct() > 0 ? kExitFinding : 0;
}

int duel_command(const Options& o) {
  const auto duelists = o.allocators.duelists(o.with);
  const duel::Knobs knobs = parse_knobs(o.knobs, duelists);
  if (o.random < 0 || o.random > 1'000'000'000) throw BadInput("--random: expected 1 to 1000000000");
  check_size(o.size);
  if (o.size != 0 && o.random == 0) throw BadInput("--size: of random programs, with --random N");
  if ((o.random > 0) != o.inputs.empty()) throw BadInput("give either files or directories, or --random N");
  return o.random > 0 ? duel_random(o, duelists, knobs) : duel_files(o, duelists, knobs);
}

}  // namespace

Action declare_duel(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("inputs", &o->inputs, "RIR or PTX files, or directories of them");
  a.option("--with", &o->with,
           fmt::format("Allocators, comma-separated (default fatpoint,briggs): {}{}", duel::duelist_names(), kExecHelp));
  a.option("--regs,--maxrregcount", &o->regs,
           "Limits of the general register file, comma-separated, 1 to 255 (default: no limit); sweep: every limit from "
           "the least that no instruction of the program exceeds to what the allocators use without one; 75%: that share "
           "of the program's MaxLive");
  o->allocators.add_to(a);
  o->target.add_to(a);
  o->abi.add_to(a);
  o->knobs.add_to(a, "Set a knob (regduel knobs), NAME=VALUE or ID=VALUE, for the allocators that have it; repeatable");
  a.option("--random", &o->random,
           "Instead of files: N random programs; the standard mix unless --profile, --regs, --limit, --sm, --target or "
           "--size say otherwise");
  a.option("--profile", &o->profile, "Profile of the random programs (regduel gen --help), or all, in turn");
  add_seed(a, o->seed, "Seed of the random programs");
  a.option("--size", &o->size, "Instructions of a random program, approximately; 0 = drawn from the seed");
  add_jobs(a, o->jobs, "Threads, 0 = one a core; the output is the same for any number, times apart");
  a.option("--save", &o->save_to, "Directory for reproducers of findings").shows_default();
  a.flag("--metamorphic", o->metamorphic,
         "Ask each allocator again about variants of each program (other numbers, names, order of blocks, dead code, "
         "one register more): a change of verdict is a finding. Takes about ten times as long");
  a.option("--db", &o->database,
           "SQLite file that gets a run of results: a row a program, allocator and limit, with all measures (regduel compare)");
  a.flag("--demangle", o->demangle, "Names of functions in the table as in the source: k(int) for _Z1ki");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Exit status 1: a judge objected. An impossible limit is skipped, once a judge has proved it.\n"
      "Examples:  regduel duel --regs 24,32,64,255 corpus/ptx\n"
      "           regduel duel --random 2000 --seed 1\n"
      "           regduel duel --random 500 --with exec:'python3 example/linear_scan.py',briggs");
  return [o] { return duel_command(*o); };
}

}  // namespace regduel::cli
