// regduel faults: the detection matrix. Correct allocations are damaged in known ways, and each judge is asked what it sees; then
// constraints are dropped before allocation, and the results judged against the program as it was (trial/faults/).

#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "trial/faults/faults.h"
#include "trial/faults/pairs.h"
#include "trial/faults/patterns.h"
#include "trial/faults/relax.h"
#include "trial/faults/rewritings.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::int64_t runs = 700;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> run;         // alone
  std::optional<std::int64_t> rewritings;  // nothing else then
  int jobs = 0;
  std::string save_to;
  bool json = false;
};

// Rounded down: 100% is all of them.
std::string share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  if (part == whole) return "100%";
  return fmt::format("{}.{}%", part * 1000 / whole / 10, part * 1000 / whole % 10);
}
std::string of(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return part == whole ? "all" : fmt::format("{}/{}", part, whole);
}

std::string end_of(const Interrupt& interrupt) { return interrupt.is_asked_for() ? " (interrupted)" : ""; }

// One miss as NAME.before.rir, NAME.after.rir and what the judges said as comments at the head of the second.
void save(const trial::FaultMiss& m, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw BadInput(fmt::format("--save {}: {}", directory, error.message()));
  const std::string stem = (fs::path(directory) / fmt::format("{}-{}-{}-{}", m.kind,
                                                              m.operator_name.empty() ? "plain" : m.operator_name, m.seed, m.index))
                               .string();
  std::string head = fmt::format("// {}: {}, seed {}, run {}\n// regduel faults --seed {} --run {}\n// regduel verify", m.kind,
                                 m.operator_name, m.seed, m.index, m.seed, m.index);
  for (const ir::RegFile file : ir::kAllFiles)
    if (m.limits.of(file) > 0) head += fmt::format(" --limit {}={}", ir::name(file), m.limits.of(file));
  head += fmt::format(" {}.before.rir {}.after.rir\n", stem, stem);
  for (std::size_t begin = 0; begin < m.detail.size();) {
    const std::size_t end = std::min(m.detail.find('\n', begin), m.detail.size());
    head += "// " + m.detail.substr(begin, end - begin) + '\n';
    begin = end + 1;
  }
  for (const auto& [suffix, text] : {std::pair<std::string, std::string>(".before.rir", m.before), {".after.rir", head + m.after}})
    if (const auto written = write_file(stem + suffix, text); !written) throw BadInput(fmt::format("--save: {}", written.error()));
}

std::string codes(const trial::FaultOperator& op) {
  std::string text;
  for (const int code : op.memcheck) text += (text.empty() ? "" : " ") + fmt::format("{}", code);
  for (const std::string_view category : op.structure) text += (text.empty() ? "" : " ") + std::string(category);
  return text.empty() ? "-" : text;
}

struct Totals {
  std::int64_t escaped = 0, wrong_category = 0, broken_accepted = 0, kept_rejected = 0, internal_errors = 0;
  [[nodiscard]] bool is_clean(const trial::FaultMatrix& matrix) const {
    return escaped + wrong_category + broken_accepted + kept_rejected + internal_errors + matrix.false_alarms() == 0;
  }
};

Totals count(const trial::FaultMatrix& matrix, const trial::RelaxTable& relaxed, const trial::PairTable& pairs) {
  Totals t;
  const trial::OperatorRow all = matrix.total();
  t.escaped = all.changing - all.caught_static;
  t.wrong_category = all.memcheck_asked - all.memcheck_right + all.structure_asked - all.structure_right;
  for (const auto* list : {&matrix.misses(), &relaxed.misses(), &pairs.misses()})
    for (const trial::FaultMiss& m : *list) t.internal_errors += m.kind == "internal-error" ? 1 : 0;
  for (const trial::RelaxRow& row : relaxed.rows()) {
    t.broken_accepted += row.broken - row.rejected;
    t.kept_rejected += row.kept - row.accepted;
  }
  for (const trial::PairRow& row : pairs.rows()) {
    t.broken_accepted += row.made - row.rejected;
    t.kept_rejected += row.made - row.accepted;
  }
  return t;
}

void print_text(const trial::FaultMatrix& matrix, const trial::RelaxTable& relaxed, const trial::PairTable& pairs,
                const Totals& totals, double seconds, const Interrupt& interrupt) {
  std::vector<std::string> judges;
  for (const oracles::Judge* j : trial::fault_judges()) judges.emplace_back(j->name());
  Table table = Table::grouped({{"", {"operator", "meant to raise", "injected", "changing"}},
                                {"caught by", judges},
                                {"of changing", {"static"}},
                                {"right", {"category"}}},
                               2);
  const auto add = [&](const std::string& name, const std::string& meant, const trial::OperatorRow& row) {
    std::vector<std::string> cells = {name, meant, fmt::format("{}", row.injected), fmt::format("{}", row.changing)};
    for (const std::int64_t caught : row.caught) cells.push_back(of(caught, row.injected));
    cells.push_back(of(row.caught_static, row.changing));
    cells.push_back(of(row.memcheck_right + row.structure_right, row.memcheck_asked + row.structure_asked));
    table.row(std::move(cells));
  };
  for (std::size_t k = 0; k < matrix.rows().size(); ++k) {
    const trial::FaultOperator& op = trial::fault_operators()[k];
    add(std::string(op.name), codes(op), matrix.rows()[k]);
  }
  table.rule();
  const trial::OperatorRow all = matrix.total();
  add(fmt::format("{} operators", matrix.rows().size()), "", all);
  fmt::print("{}\n", table.text());

  Table relax({"relaxed", "allocated", "broken", "rejected", "kept", "accepted", "undecided"});
  for (std::size_t k = 0; k < trial::kNumRelaxations; ++k) {
    const trial::RelaxRow& row = relaxed.rows()[k];
    relax.row({std::string(name(trial::kAllRelaxations[k])), fmt::format("{}", row.tried), fmt::format("{}", row.broken),
               of(row.rejected, row.broken), fmt::format("{}", row.kept), of(row.accepted, row.kept),
               fmt::format("{}", row.undecided)});
  }
  fmt::print("{}\n", relax.text());

  Table pair({"pair or file", "made", "damaged rejected", "right accepted"});
  for (std::size_t k = 0; k < pairs.rows().size(); ++k) {
    const trial::PairRow& row = pairs.rows()[k];
    pair.row({std::string(trial::pair_faults()[k].name), fmt::format("{}", row.made), of(row.rejected, row.made),
              of(row.accepted, row.made)});
  }
  fmt::print("{}\n", pair.text());

  fmt::print("correct allocations judged: {} ({} of them rewritten by patterns), false alarms {}, inconclusive {}\n",
             matrix.subjects(), matrix.patterned(), matrix.false_alarms(), matrix.plain_inconclusive());
  std::string patterns;
  for (const auto& [name, uses] : matrix.patterns_used())
    patterns += fmt::format("{}{} {}", patterns.empty() ? "" : ", ", name, uses);
  fmt::print("patterns: {}\n", patterns);
  fmt::print("faults: {} injected, {} change the trace ({}), {} undecided\n", all.injected, all.changing,
             share(all.changing, all.injected), all.undecided);
  fmt::print("trace-changing faults caught by a static judge: {} of {} ({})\n", all.caught_static, all.changing,
             share(all.caught_static, all.changing));
  fmt::print("right category: memcheck {} of {} ({}), structure {} of {} ({})\n", all.memcheck_right, all.memcheck_asked,
             share(all.memcheck_right, all.memcheck_asked), all.structure_right, all.structure_asked,
             share(all.structure_right, all.structure_asked));
  std::string by_code;
  for (std::size_t code = 1; code < matrix.asked_by_code().size(); ++code)
    by_code += fmt::format("{}{}: {}", by_code.empty() ? "" : ", ", code, matrix.asked_by_code()[code]);
  fmt::print("memcheck asked for, by code: {}\n", by_code);
  if (totals.internal_errors > 0) fmt::print("internal errors of an allocator: {}\n", totals.internal_errors);
  for (const auto* list : {&matrix.misses(), &relaxed.misses(), &pairs.misses()})
    for (std::size_t k = 0; k < std::min<std::size_t>(list->size(), 20); ++k)
      fmt::print("{}: {} (seed {}, run {})\n", (*list)[k].kind, (*list)[k].operator_name, (*list)[k].seed, (*list)[k].index);
  fmt::print("{} in {:.0f} s{}\n", totals.is_clean(matrix) ? "no miss" : "MISSES", seconds, end_of(interrupt));
}

Json row_json(const trial::OperatorRow& row) {
  Json caught = Json::object(), changing = Json::object();
  for (std::size_t k = 0; k < trial::fault_judges().size(); ++k) {
    caught[std::string(trial::fault_judges()[k]->name())] = row.caught[k];
    changing[std::string(trial::fault_judges()[k]->name())] = row.caught_changing[k];
  }
  return {{"injected", row.injected},
          {"trace_changing", row.changing},
          {"undecided", row.undecided},
          {"caught", caught},
          {"caught_trace_changing", changing},
          {"caught_by_static", row.caught_static},
          {"memcheck_asked", row.memcheck_asked},
          {"memcheck_right", row.memcheck_right},
          {"structure_asked", row.structure_asked},
          {"structure_right", row.structure_right}};
}

void print_document(const Options& o, const trial::FaultMatrix& matrix, const trial::RelaxTable& relaxed,
                    const trial::PairTable& pairs, const Totals& totals, double seconds, const Interrupt& interrupt) {
  Json operators = Json::array(), relaxations = Json::array(), made = Json::array();
  for (std::size_t k = 0; k < pairs.rows().size(); ++k) {
    const trial::PairFault& fault = trial::pair_faults()[k];
    const trial::PairRow& row = pairs.rows()[k];
    made.push_back({{"fault", fault.name},
                    {"what", fault.what},
                    {"category", fault.category},
                    {"made", row.made},
                    {"rejected", row.rejected},
                    {"accepted", row.accepted}});
  }
  for (std::size_t k = 0; k < matrix.rows().size(); ++k) {
    const trial::FaultOperator& op = trial::fault_operators()[k];
    Json row = {{"operator", op.name}, {"what", op.what}, {"memcheck_codes", op.memcheck}, {"structure_categories", op.structure}};
    row.update(row_json(matrix.rows()[k]));
    operators.push_back(std::move(row));
  }
  for (std::size_t k = 0; k < trial::kNumRelaxations; ++k) {
    const trial::RelaxRow& row = relaxed.rows()[k];
    relaxations.push_back({{"constraint", name(trial::kAllRelaxations[k])},
                           {"allocated", row.tried},
                           {"broken", row.broken},
                           {"rejected", row.rejected},
                           {"kept", row.kept},
                           {"accepted", row.accepted},
                           {"undecided", row.undecided}});
  }
  Json misses = Json::array();
  for (const auto* list : {&matrix.misses(), &relaxed.misses(), &pairs.misses()})
    for (const trial::FaultMiss& m : *list)
      misses.push_back({{"kind", m.kind}, {"operator", m.operator_name}, {"seed", m.seed}, {"run", m.index}, {"detail", m.detail}});
  print_json({{"command", "faults"},
              {"seed", o.seed},
              {"runs", matrix.runs()},
              {"subjects", matrix.subjects()},
              {"patterned", matrix.patterned()},
              {"false_alarms", matrix.false_alarms()},
              {"inconclusive", matrix.plain_inconclusive()},
              {"operators", operators},
              {"total", row_json(matrix.total())},
              {"relaxed", relaxations},
              {"pairs", made},
              {"escaped", totals.escaped},
              {"wrong_category", totals.wrong_category},
              {"broken_accepted", totals.broken_accepted},
              {"kept_rejected", totals.kept_rejected},
              {"internal_errors", totals.internal_errors},
              {"misses", misses},
              {"interrupted", interrupt.is_asked_for()},
              {"seconds", seconds}});
}

int rewritings_command(const Options& o) {
  const std::int64_t wanted = *o.rewritings;
  const auto start = std::chrono::steady_clock::now();
  trial::RewritingTable table;
  Progress progress("rewritings", wanted);
  const Interrupt interrupt;
  in_order<trial::RewritingRun>(
      INT64_MAX, resolve_jobs(o.jobs),
      [&](std::int64_t k) { return trial::run_rewritings_on(o.seed, static_cast<std::uint64_t>(o.run.value_or(0) + k)); },
      [&](std::int64_t, trial::RewritingRun run) {
        const std::int64_t made = run.rewritings;
        table.add(std::move(run));
        progress.step(made, fmt::format("misses {}", table.num_misses));
        return table.rewritings < wanted && !interrupt.is_asked_for();
      });
  progress.done();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.save_to.empty())
    for (const trial::FaultMiss& m : table.misses) save(m, o.save_to);
  if (o.json) {
    Json patterns = Json::object(), misses = Json::array();
    for (const auto& [name, uses] : table.patterns) patterns[std::string(name)] = uses;
    for (const trial::FaultMiss& m : table.misses)
      misses.push_back({{"kind", m.kind}, {"seed", m.seed}, {"run", m.index}, {"detail", m.detail}});
    print_json({{"command", "faults"},
                {"seed", o.seed},
                {"programs", table.programs},
                {"rewritings", table.rewritings},
                {"undecided", table.judgements_undecided},
                {"reasons", table.reasons},
                {"patterns", patterns},
                {"rejected", table.num_misses},
                {"misses", misses},
                {"interrupted", interrupt.is_asked_for()},
                {"seconds", seconds}});
    return table.num_misses == 0 ? 0 : kExitFinding;
  }
  Table text({"pattern", "what", "applied"}, 2);
  for (const trial::Pattern& p : trial::patterns())
    text.row({std::string(p.name), std::string(p.what), fmt::format("{}", table.patterns[p.name])});
  fmt::print("{}\n", text.text());
  fmt::print("valid rewritings: {} of {} allocations, all accepted but {}; undecided judgements {}\n", table.rewritings,
             table.programs, table.num_misses, table.judgements_undecided);
  for (const auto& [reason, count] : table.reasons) fmt::print("  undecided {} times, {}\n", count, reason);
  for (const trial::FaultMiss& m : table.misses)
    fmt::print("{}: seed {}, program {}: {}\n", m.kind, m.seed, m.index, m.detail.substr(0, m.detail.find('\n')));
  fmt::print("{} in {:.0f} s{}\n", table.num_misses == 0 ? "no miss" : "MISSES", seconds, end_of(interrupt));
  return table.num_misses == 0 ? 0 : kExitFinding;
}

int faults_command(const Options& o) {
  if (o.rewritings && (*o.rewritings < 1 || *o.rewritings > 100'000'000)) throw BadInput("--rewritings: expected 1 to 100000000");
  if (o.run && (*o.run < 0 || *o.run > 100'000'000)) throw BadInput("--run: expected 0 to 100000000");
  if (o.rewritings) return rewritings_command(o);
  if (o.runs < 1 || o.runs > 100'000'000) throw BadInput("--runs: expected 1 to 100000000");
  const auto start = std::chrono::steady_clock::now();
  // One run is repeated with all operators; else each has those that are its turn.
  const std::int64_t begin = o.run.value_or(0), end = o.run ? *o.run + 1 : o.runs;
  const int jobs = resolve_jobs(o.jobs);
  trial::FaultMatrix matrix;
  trial::RelaxTable relaxed;
  trial::PairTable pairs;
  Progress progress("faults", end - begin);
  const auto misses = [&] {
    return fmt::format("misses {}", matrix.num_misses() + relaxed.num_misses() + std::ssize(pairs.misses()));
  };
  const Interrupt interrupt;
  struct Run {
    trial::FaultRun faults;
    trial::RelaxRun relaxed;
    trial::PairRun pair;
  };
  // What is injected next depends on what was injected before, so that rare operators get their share: decided once a batch.
  for (std::int64_t first = begin, next; first < end && !interrupt.is_asked_for(); first = next) {
    next = std::min(first + trial::fault_batch(first - begin), end);
    const std::vector<std::int64_t> injected = o.run ? std::vector<std::int64_t>() : matrix.injected();
    in_order<Run>(
        next - first, jobs,
        [&](std::int64_t k) {
          const auto index = static_cast<std::uint64_t>(first + k);
          return Run{trial::run_faults_on(o.seed, index, injected), trial::run_relaxed_on(o.seed, index),
                     trial::run_pair_on(o.seed, index)};
        },
        [&](std::int64_t, Run run) {
          matrix.add(std::move(run.faults));
          relaxed.add(std::move(run.relaxed));
          pairs.add(std::move(run.pair));
          progress.step(1, misses());
          return !interrupt.is_asked_for();
        });
  }
  progress.done();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.save_to.empty())
    for (const auto* list : {&matrix.misses(), &relaxed.misses(), &pairs.misses()})
      for (const trial::FaultMiss& m : *list) save(m, o.save_to);
  const Totals totals = count(matrix, relaxed, pairs);
  if (o.json) print_document(o, matrix, relaxed, pairs, totals, seconds, interrupt);
  else print_text(matrix, relaxed, pairs, totals, seconds, interrupt);
  return totals.is_clean(matrix) ? 0 : kExitFinding;
}

}  // namespace

Action declare_faults(Arguments& a) {
  auto o = std::make_shared<Options>();
  const Argument runs =
      a.option(
           "--runs", &o->runs,
           "Programs to damage, as many to allocate under a relaxed constraint, and as many pairs of a pass and files to damage")
          .shows_default();
  add_seed(a, o->seed, "Another seed, other programs and faults");
  a.option("--run", &o->run,
           "This run of the seed alone, with every operator that finds a place: repeats a miss. With --rewritings: the "
           "program to begin with")
      .excludes(runs);
  a.option("--rewritings", &o->rewritings,
           "Damage nothing: judge so many correct allocations that patterns have rewritten, all of which must be accepted")
      .excludes(runs);
  add_jobs(a, o->jobs, "Threads, 0 = one a core; the output is the same for any number");
  a.option("--save", &o->save_to, "Directory for the misses, each as a program before and after");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "A run takes a program of the standard mix and a correct allocation of it, asks all judges (an objection is a false alarm), "
      "rewrites it by\n"
      "patterns that the allocators do not make by themselves (packs, remats, shared slots), and injects some of the fault "
      "operators, those first\n"
      "that were injected least. Columns of the table:\n"
      "  meant to raise   codes of memcheck that it aims at, categories of structure of which one must be raised\n"
      "  changing         faults that change what the program does: the execution judge, which runs both programs, objects\n"
      "  caught by        objections of each judge, of all injected; \"all\" = every one\n"
      "  static           of the changing ones, those that a judge catches that does not run the programs: must be all\n"
      "  category right   memcheck's code, of the changing ones of which it follows from the program; structure's category, of "
      "all\n"
      "The second table: one kind of constraint is dropped before allocation. Results that break it must be rejected, those that "
      "keep it accepted.\n"
      "With --rewritings N: how often each pattern was applied, and what no judge may object to but did.\n"
      "Exit status 1: a changing fault escapes the static judges, a category is wrong, a broken relaxed result is accepted, a "
      "correct\n"
      "allocation is rejected, or an allocator ends with an internal error.\n"
      "Example:  regduel faults --runs 20000 --seed 7 --save misses");
  return [o] { return faults_command(*o); };
}

}  // namespace regduel::cli
