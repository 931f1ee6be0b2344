// regduel duel: every allocator on every program at every limit, judged, as a table.

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/commands/duel_ptxas.h"
#include "cli/commands/duel_run.h"
#include "cli/function_names.h"
#include "cli/input.h"
#include "cli/ipra.h"
#include "cli/least_registers.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/ptxas_lines.h"
#include "cli/show/output.h"
#include "cli/show/terminal.h"
#include "cli/this_run.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "duel/exec/words.h"
#include "duel/ptxas/ptxas_allocator.h"
#include "generate/generator.h"
#include "ir/launch.h"
#include "oracles/calls/calls.h"
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
  std::optional<std::int64_t> number;  // --random
  std::int64_t random = 0;
  std::string profile;
  std::uint64_t seed = 1;
  int size = 0;
  int jobs = 0;
  DuelOutput shown;
  bool metamorphic = false;
  bool ipra = false;
  bool demangle = false;
};

// A program and what came of it at each limit.
struct PlayedProgram {
  duel::Case input;
  std::vector<ir::Limits> limits;
  std::vector<duel::Duel> duels;
  // By limit: the program that was played, where its calls destroy less; empty = that of `input`.
  std::vector<ir::Function> narrowed = {};

  // The case as it was played at one limit.
  [[nodiscard]] const duel::Case& at(std::size_t limit) {
    input.limits = limits[limit];
    if (!narrowed.empty()) input.program = narrowed[limit];
    return input;
  }
};

// At which limits of the general register file programs are played.
class ChosenLimits {
 public:
  //   regs   of --regs: numbers, none, the words "sweep" or "file", or a share of MaxLive as "75%"
  ChosenLimits(const std::vector<std::string>& regs, const TargetOptions& target)
      : target_(target), sweeps_(regs == std::vector<std::string>{"sweep"}),
        follows_bounds_(regs == std::vector<std::string>{"file"}) {
    if (follows_bounds_) return;
    if (regs.size() == 1 && regs[0].ends_with('%')) percent_ = percent_of(regs[0]);
    else if (!sweeps_) numbers_ = parse_registers(regs);
  }
  // Each program has limits of its own.
  [[nodiscard]] bool hang_on_program() const { return sweeps_ || percent_ > 0; }
  // Every limit; else those of percent(), of MaxLive.
  [[nodiscard]] bool sweeps() const { return sweeps_; }
  [[nodiscard]] int percent() const { return percent_; }
  // The launch bounds of each kernel.
  [[nodiscard]] bool follows_bounds() const { return follows_bounds_; }
  [[nodiscard]] bool are_given() const { return hang_on_program() || !numbers_.empty(); }
  // How many that is for each program, where it is the same for all.
  [[nodiscard]] std::size_t count() const { return std::max<std::size_t>(numbers_.size(), 1); }
  [[nodiscard]] ir::Limits of(const ir::Target& t, int registers) const { return target_.limits_for(t, registers); }
  [[nodiscard]] std::vector<ir::Limits> given(const ir::Target& t, const ir::LaunchBounds& bounds) const {
    if (follows_bounds_) return {of(t, ir::launch_limit(bounds, t).registers)};
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
  bool sweeps_, follows_bounds_;
  int percent_ = 0;
  std::vector<int> numbers_;
};

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

// The functions of one file at the same limits, callees first. A call destroys what any of the duelists writes in its callee at this
// limit, so that all of them play the same program.
void play_file(std::span<PlayedProgram> file, const BottomUp& callees_first, const std::vector<const ir::Allocator*>& duelists,
               bool metamorphic) {
  for (std::size_t m = 0; m < file.front().limits.size(); ++m) {
    CalleeClobbers clobbers;
    for (const std::size_t k : callees_first.order) {
      PlayedProgram& r = file[k];
      const ir::Limits& l = r.limits[m];
      r.narrowed.push_back(clobbers.applied_to(r.input.program));
      const oracles::Before before(r.narrowed.back(), *r.input.target);
      r.duels.push_back(
          duel::duel(before, {.duelists = duelists, .limits = l, .knobs = r.input.knobs, .metamorphic = metamorphic}));
      if (!callees_first.is_known[k]) continue;
      for (const duel::Bout& b : r.duels.back().bouts)
        if (b.program) clobbers.add(r.narrowed.back(), *b.program, *r.input.target);
    }
  }
}

// At every limit from the program's demand to its unspilled need, ascending; or at a share of its MaxLive, if that is not below its
// demand, else there.
PlayedProgram play_own_limits(duel::Case input, const ChosenLimits& limits, const std::vector<const ir::Allocator*>& duelists,
                              bool metamorphic) {
  const int demand = least_registers(input.program, *input.target, [&](int n) { return limits.of(*input.target, n); });
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
        file.push_back({&programs[end].function, nullptr, nullptr, programs[end].declared.is_weak});
      const bool is_judged = file.size() > 1 && oracles::has_calls_inside(file);
      for (std::size_t k = begin; k < end; ++k) last_[k] = end - 1, is_judged_[k] = is_judged;
    }
  }
  // [begin, end) of the programs, in order: each alone, or those of a file whose functions call each other together.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> groups(bool together) const {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t k = 0; k < last_.size(); k = all.back().second)
      all.emplace_back(k, together && is_judged_[k] ? last_[k] + 1 : k + 1);
    return all;
  }

  // Takes the programs in their order.
  void add(std::size_t k, bool is_weak, PlayedProgram played, DuelRun& run) {
    if (!is_judged_[k]) return;
    functions_.push_back(std::move(played));
    are_weak_.push_back(is_weak);
    if (k != last_[k]) return;
    for (std::size_t m = 0; m < functions_[0].limits.size(); ++m)
      for (std::size_t d = 0; d < functions_[0].duels[m].bouts.size(); ++d) judge(m, d, run);
    functions_.clear();
    are_weak_.clear();
  }

 private:
  void judge(std::size_t limit, std::size_t duelist, DuelRun& run) {
    std::vector<oracles::FunctionOfFile> file;
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      const PlayedProgram& f = functions_[k];
      const auto& after = f.duels[limit].bouts[duelist].program;
      const ir::Function& before = f.narrowed.empty() ? f.input.program : f.narrowed[limit];
      file.push_back({&before, after ? &*after : nullptr, f.input.target, are_weak_[k]});
    }
    const std::vector<oracles::JudgeResult> results = oracles::judge_calls(file);
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      if (results[k].verdict != oracles::Verdict::Fail) continue;
      const duel::Bout& b = functions_[k].duels[limit].bouts[duelist];
      duel::Bout whole;
      whole.allocator = b.allocator;
      whole.program = b.program;
      whole.report.results.push_back(results[k]);
      run.object(functions_[k].at(limit), whole);
    }
  }

  std::vector<std::size_t> last_;  // by program: the last one of its file
  std::vector<bool> is_judged_;
  std::vector<PlayedProgram> functions_;  // of the file at hand
  std::vector<bool> are_weak_;
};

// The functions of the input, and the target of each. A file of a directory that cannot be played is left out, with a complaint; a file
// that was named has to be playable.
std::vector<Program> playable_programs(const Options& o, std::vector<const ir::Target*>& targets,
                                       std::vector<std::string>& unreadable) {
  std::vector<Program> programs;
  for (const std::string& path : o.inputs)
    for (Program& p : load_all({path}, o.abi.name(), &unreadable)) try {
        require_phase({p}, ir::Phase::Virtual);
        targets.push_back(&o.target.resolve(p.function, p.file));
        programs.push_back(std::move(p));
      } catch (const BadInput& e) {
        if (!is_directory(path)) throw;
        unreadable.emplace_back(e.what());
      }
  for (const std::string& complaint : unreadable) warn(complaint);
  if (programs.empty()) throw BadInput("error: there is no function in the input");
  return programs;
}

// What the launch bounds of a kernel mean for each allocation of it. A line each.
std::string launch_lines(const duel::Case& input, const ir::LaunchBounds& bounds, const duel::Duel& duel, bool are_the_limit) {
  const ir::LaunchLimit limit = ir::launch_limit(bounds, *input.target);
  std::string text;
  for (const duel::Bout& b : duel.bouts) {
    if (!b.program) continue;
    const int asked = input.limits.of(ir::RegFile::R);
    const int registers =
        registers_at_entry(input.program, b.measures, asked < input.target->units[ir::index(ir::RegFile::R)] ? asked : 0);
    for (const std::string& note : notes_of_launch(bounds, *input.target, b.measures, registers, are_the_limit ? &limit : nullptr))
      text += fmt::format("note: @{} by {}: {}\n", input.program.name, b.allocator, note);
  }
  return text;
}

// Where ptxas and the others do not agree on whether a program fits.
std::string floor_lines(const duel::Case& input, const duel::Duel& d) {
  std::string text;
  for (const duel::Bout& b : d.bouts)
    if (b.allocator == duel::kPtxas)
      for (const std::string& note : b.notes) text += fmt::format("note: @{}: {} {}\n", input.program.name, b.allocator, note);
  return text;
}

// Programs from files: a row for each program and limit.
int duel_files(const Options& o, const std::vector<const ir::Allocator*>& duelists, const duel::Knobs& knobs, bool asks_ptxas) {
  const ChosenLimits limits(o.regs, o.target);
  std::vector<std::string> unreadable;
  std::vector<const ir::Target*> targets;
  std::vector<Program> programs = playable_programs(o, targets, unreadable);
  const std::vector<PtxasRow> ptxas =
      asks_ptxas && !limits.hang_on_program()
          ? rows_of_ptxas(programs, limits.follows_bounds() ? std::vector<int>() : parse_registers(o.regs))
          : std::vector<PtxasRow>();
  std::size_t longest_name = 0;
  for (const Program& p : programs)
    longest_name = std::max(longest_name, (o.demangle ? demangled(p.function.name) : p.function.name).size());
  DuelRun run(o.shown, duelists, this_run(), "duel", static_cast<std::int64_t>(programs.size() * limits.count()));
  DuelTable table(duelists, longest_name);
  WholeFiles whole_files(programs);
  // Programs that wait for one another are played as one.
  const auto groups = whole_files.groups(o.ipra && !limits.hang_on_program());
  const std::function<std::vector<PlayedProgram>(std::int64_t)> work = [&](std::int64_t g) {
    const auto [begin, end] = groups[static_cast<std::size_t>(g)];
    const BottomUp callees_first = end - begin > 1 ? bottom_up(std::span(programs).subspan(begin, end - begin)) : BottomUp();
    std::vector<PlayedProgram> played;
    for (std::size_t at = begin; at < end; ++at) {
      duel::Case input{targets[at], {}, knobs, std::move(programs[at].function)};
      if (limits.hang_on_program()) {
        played.push_back(play_own_limits(std::move(input), limits, duelists, o.metamorphic));
        continue;
      }
      std::vector<ir::Limits> all = limits.given(*targets[at], programs[at].declared.bounds);
      if (end - begin > 1) played.push_back({std::move(input), std::move(all), {}});
      else played.push_back(play(std::move(input), std::move(all), duelists, o.metamorphic));
    }
    if (end - begin > 1) play_file(played, callees_first, duelists, o.metamorphic);
    return played;
  };
  const auto take_program = [&](std::size_t k, PlayedProgram r) {
    const std::string& file = programs[k].file;
    for (std::size_t m = 0; m < r.duels.size(); ++m) {
      const duel::Case& input = r.at(m);
      const std::string name = m > 0 ? "" : o.demangle ? demangled(input.program.name) : input.program.name;
      if (!o.shown.json) run.say(table.rows_of(name, input, r.duels[m]) + floor_lines(input, r.duels[m]));
      if (!o.shown.json) run.say(launch_lines(input, programs[k].declared.bounds, r.duels[m], limits.follows_bounds()));
      run.add(input, r.duels[m], {file, file, results::Content::Kept, std::nullopt});
      if (!limits.hang_on_program()) run.step();
    }
    if (limits.hang_on_program()) run.step();
    else whole_files.add(k, programs[k].declared.is_weak, std::move(r), run);
  };
  const std::function<bool(std::int64_t, std::vector<PlayedProgram>)> take = [&](std::int64_t g,
                                                                                 std::vector<PlayedProgram> played) {
    for (std::size_t k = 0; k < played.size(); ++k)
      take_program(groups[static_cast<std::size_t>(g)].first + k, std::move(played[k]));
    return !run.is_interrupted();
  };
  in_order<std::vector<PlayedProgram>>(static_cast<std::int64_t>(groups.size()), resolve_jobs(o.jobs), work, take);
  const std::string legend = "warps: of an SM at the block size; stores, loads: bytes of spill stores and refills";
  if (asks_ptxas) run.set_ptxas(json_of(ptxas));
  return run.finish("\n" + wrapped(legend, columns_of(STDOUT_FILENO)) + "\n" + text_of(ptxas), std::nullopt, unreadable);
}

// Random programs: a summary; with --json also a row for each.
int duel_random(const Options& o, const std::vector<const ir::Allocator*>& duelists, const duel::Knobs& knobs, bool asks_ptxas) {
  const ChosenLimits limits(o.regs, o.target);
  const bool standard = o.profile.empty() && !limits.are_given() && o.target.sm == 0 && o.target.target_file.empty() &&
                        o.target.limits.empty() && o.size == 0 && !asks_ptxas;
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
      if (!limits.hang_on_program()) all = limits.given(*c.target, {});
    }
    c.knobs.insert(c.knobs.end(), knobs.begin(), knobs.end());
    if (limits.hang_on_program()) return play_own_limits(std::move(c), limits, duelists, o.metamorphic);
    return play(std::move(c), std::move(all), duelists, o.metamorphic);
  };
  const std::string mix = fmt::format("{}, seed {}", standard ? "standard mix" : o.profile.empty() ? "mix" : o.profile, o.seed);
  results::RunInfo info = this_run();
  info.seed = o.seed;
  DuelRun run(o.shown, duelists, info, "random duels", o.random * static_cast<std::int64_t>(limits.count()));
  const std::function<bool(std::int64_t, PlayedProgram)> take = [&](std::int64_t k, PlayedProgram r) {
    const std::string source =
        standard ? results::mix_source(o.seed, static_cast<std::uint64_t>(k)) : fmt::format("{}, case {}", mix, k);
    for (std::size_t m = 0; m < r.duels.size(); ++m) {
      r.input.limits = r.limits[m];
      if (!o.shown.json)
        if (const std::string lines = floor_lines(r.input, r.duels[m]); !lines.empty()) run.say(lines);
      run.add(r.input, r.duels[m], {"", source, standard ? results::Content::MadeAgain : results::Content::Kept, k});
      if (!limits.hang_on_program()) run.step();
    }
    if (limits.hang_on_program()) run.step();
    return !run.is_interrupted();
  };
  in_order<PlayedProgram>(o.random, resolve_jobs(o.jobs), work, take);
  return run.finish("", o.seed, {});
}

int duel_command(const Options& o) {
  const auto duelists = o.allocators.duelists(o.with);
  const bool asks_ptxas = std::ranges::any_of(duelists, [](const ir::Allocator* a) { return a->name() == duel::kPtxas; });
  const duel::Knobs knobs = o.knobs.settings(duelists);
  check_size(o.size);
  if (o.size != 0 && o.random == 0) throw BadInput("--size: of random programs, with --random N");
  if ((o.random > 0) != o.inputs.empty()) throw BadInput("give either files or directories, or --random N");
  if (o.ipra && o.random > 0) throw BadInput("--ipra: of files; random programs have no bodies of what they call");
  return o.random > 0 ? duel_random(o, duelists, knobs, asks_ptxas) : duel_files(o, duelists, knobs, asks_ptxas);
}

}  // namespace

Action declare_duel(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("inputs", &o->inputs, "RIR or PTX files, or directories of them");
  a.option(
      "--with", &o->with,
      fmt::format(
          "Allocators, comma-separated (default fatpoint,briggs): {}{}. ptxas, where it is installed, has figures alone; those of "
          "PTX files as they are, at -O3 and -O1, stand below the table",
          duel::duelist_names(), kExecHelp));
  a.option("--regs,--maxrregcount", &o->regs,
           "Limits of the general register file, comma-separated, 1 to 255 (default: no limit); sweep: every limit from "
           "the least that no instruction of the program exceeds to what the allocators use without one; 75%: that share "
           "of the program's MaxLive; file: what the launch bounds of each kernel leave it, as with ptxas");
  o->allocators.add_to(a);
  o->target.add_to(a);
  o->abi.add_to(a);
  o->knobs.add_to(a, "Set a knob (regduel knobs), NAME=VALUE or ID=VALUE, for the allocators that have it; repeatable");
  a.option("--random", &o->number,
           "Instead of files: N random programs; the standard mix unless --profile, --regs, --limit, --sm, --target or "
           "--size say otherwise");
  a.option("--profile", &o->profile, "Profile of the random programs (regduel gen --help), or all, in turn");
  add_seed(a, o->seed, "Seed of the random programs");
  a.option("--size", &o->size, "Instructions of a random program, approximately; 0 = drawn from the seed");
  add_jobs(a, o->jobs, "Threads, 0 = one a core; the output is the same for any number, times apart");
  a.option("--findings", &o->shown.findings, "Directory for reproducers of findings").shows_default();
  a.option("--save", &o->shown.findings, "The old name of --findings").hidden();
  a.flag("--metamorphic", o->metamorphic,
         "Ask each allocator again about variants of each program (other numbers, names, order of blocks, dead code, "
         "one register more): a change of verdict is a finding. Takes about ten times as long");
  a.flag("--ipra", o->ipra,
         "Inter-procedural: a call of a function with a body in the same file destroys what the allocations of that body by these "
         "duelists write at this limit, and no more, as with ptxas; not in recursion, nor through registers, nor with --regs sweep "
         "and 75%");
  a.option("--db", &o->shown.database,
           "SQLite file that gets a run of results: a row a program, allocator and limit, with all measures (regduel compare)");
  a.flag("--demangle", o->demangle, "Names of functions in the table as in the source: k(int) for _Z1ki");
  a.flag("--json", o->shown.json, "One JSON document");
  a.footer(
      "Exit status 1: a judge objected; 2: no judge did, and a file of a directory could not be read. An impossible limit is "
      "skipped, once a judge has proved it.\n"
      "Examples:  regduel duel --regs 24,32,64,255 corpus/ptx\n"
      "           regduel duel --random 2000 --seed 1\n"
      "           regduel duel --random 500 --with exec:'python3 example/linear_scan.py',briggs");
  return [o] {
    if (o->number && (*o->number < 1 || *o->number > 1'000'000'000))
      throw BadInput(fmt::format("--random: expected 1 to 1000000000, found {}", *o->number));
    o->random = o->number.value_or(0);
    return duel_command(*o);
  };
}

}  // namespace regduel::cli
