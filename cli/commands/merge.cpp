// regduel merge: one database of many shards; regduel export: what is in one, as files.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/show/output.h"
#include "fuzz/campaign/reproducer.h"
#include "fuzz/campaign/store.h"
#include "fuzz/explore/corpus_minimiser.h"
#include "ir/text/text.h"
#include "results/results.h"

namespace regduel::cli {
namespace {

namespace fs = std::filesystem;

void require_file(const std::string& path) {
  if (!fs::exists(path)) throw BadInput(fmt::format("error: {}: No such file or directory", path));
}

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool json = false;
};

// The database is made beside its place and moved there when it is whole.
int merge_command(const MergeOptions& o) {
  for (const std::string& input : o.inputs) require_file(input);
  results::require_unused(o.output);
  const std::string unfinished = fmt::format("{}.tmp.{}", o.output, ::getpid());
  const auto remove_unfinished = [&] {
    for (const char* const suffix : {"", "-wal", "-shm"}) std::remove((unfinished + suffix).c_str());
  };
  remove_unfinished();
  std::string totals;
  std::size_t kept = 0, all = 0;
  try {
    fuzz::Store store(unfinished);
    for (const std::string& input : o.inputs) store.merge(input);
    // What one shard shows with a smaller input, the others need not show.
    const std::vector<fuzz::StoredInput> stored = store.inputs();
    std::vector<fuzz::CorpusItem> items;
    for (const fuzz::StoredInput& s : stored) items.push_back({s.features, s.instructions, s.is_pinned});
    const std::vector<bool> keep = fuzz::minimise_corpus(items);
    for (std::size_t k = 0; k < stored.size(); ++k)
      if (!keep[k]) store.remove_input(stored[k].hash);
    store.finish();
    all = stored.size();
    kept = store.inputs().size();
    totals = store.totals();
  } catch (...) {
    remove_unfinished();
    throw;
  }
  results::require_unused(o.output);
  std::error_code error;
  fs::rename(unfinished, o.output, error);
  if (error) throw BadInput(fmt::format("error: {}: {}", o.output, error.message()));
  if (o.json)
    print_json({{"command", "merge"},
                {"output", o.output},
                {"databases", o.inputs.size()},
                {"inputs_before", all},
                {"inputs", kept},
                {"totals", totals}});
  else fmt::print("{}: {}\n", o.output, totals);
  return 0;
}

struct ExportOptions {
  std::string database, inputs, findings, state, program, output;
  std::size_t most = 0;  // inputs; 0 = all
  bool json = false;
};

// All of them, or those that show the most.
std::vector<fuzz::StoredInput> chosen_inputs(fuzz::Store& store, std::size_t most) {
  std::vector<fuzz::StoredInput> all = store.inputs();
  if (most == 0 || most >= all.size()) return all;
  std::vector<fuzz::CorpusItem> items;
  for (const fuzz::StoredInput& s : all) items.push_back({s.features, s.instructions, s.is_pinned});
  std::vector<fuzz::StoredInput> chosen;
  for (const std::size_t k : fuzz::select_most_covering(items, most)) chosen.push_back(std::move(all[k]));
  return chosen;
}

int export_command(const ExportOptions& o) {
  require_file(o.database);
  if (o.inputs.empty() && o.findings.empty() && o.program.empty())
    throw BadInput("say what to write: --inputs DIR, --findings DIR, --program HASH");
  if (o.program.empty() != o.output.empty()) throw BadInput("--program HASH and -o FILE go together");
  if (!o.program.empty()) {
    require_other_file(o.output, o.database);
    save(o.output, ir::print_file(results::read_program(o.database, o.program)));
    if (o.inputs.empty() && o.findings.empty()) return 0;
  }
  if (!o.state.empty() && o.state != "crashing" && o.state != "incubating" && o.state != "regression")
    throw BadInput(fmt::format("--state: expected crashing, incubating or regression, found \"{}\"", o.state));
  results::require_database(o.database);
  fuzz::Store store(o.database);
  std::size_t inputs = 0, findings = 0;
  if (!o.inputs.empty()) {
    std::error_code error;
    fs::create_directories(o.inputs, error);
    if (error) throw BadInput(fmt::format("error: {}: {}", o.inputs, error.message()));
    for (const fuzz::StoredInput& input : chosen_inputs(store, o.most)) {
      // A name of a file is made of it, and the database may be anybody's.
      if (!std::ranges::all_of(input.hash, [](unsigned char c) { return std::isxdigit(c) != 0; }))
        throw BadInput(fmt::format("{}: error: an input has no hash but \"{}\"", o.database, input.hash));
      save((fs::path(o.inputs) / input.hash.substr(0, 16)).string(),
           {reinterpret_cast<const char*>(input.input.data()), input.input.size()});
      ++inputs;
    }
  }
  if (!o.findings.empty())
    for (const fuzz::StoredFinding& f : store.findings()) {
      if (!o.state.empty() && f.state != o.state) continue;
      const std::string what = fmt::format("{}{}", counted(f.count, "case"),
                                           f.decision.empty() ? "" : fmt::format("; first bad decision: {}", f.decision));
      fuzz::write_reproducer(o.findings, f.failure, what, f.bucket, duel::decode_case(f.input),
                             store.answer_to(f.input, f.failure.allocator));
      ++findings;
    }
  if (o.json) print_json({{"command", "export"}, {"database", o.database}, {"inputs", inputs}, {"findings", findings}});
  else fmt::print("{}: {}, {} written\n", o.database, counted(inputs, "input"), counted(findings, "finding"));
  return 0;
}

}  // namespace

Action declare_merge(Arguments& a) {
  auto o = std::make_shared<MergeOptions>();
  a.option("databases", &o->inputs, "What regduel duel --db and fuzz --db have written").required();
  a.option("-o,--output", &o->output, "The database to make; one that is there is replaced when the new one is whole").required();
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Shards take other seeds: regduel fuzz --seed 1 --db 1.sqlite here, --seed 2 --db 2.sqlite there. Of the corpus, what others "
      "show with smaller inputs is left out.\n"
      "Example:  regduel merge 1.sqlite 2.sqlite -o all.sqlite");
  return [o] { return merge_command(*o); };
}

Action declare_export(Arguments& a) {
  auto o = std::make_shared<ExportOptions>();
  a.option("database", &o->database, "What regduel fuzz --db or duel --db has written").required();
  a.option(
      "--inputs", &o->inputs,
      "Directory for the inputs of the corpus, each named after its contents: seeds for regduel fuzz and for the fuzz targets");
  a.option("--most", &o->most, "Only so many inputs: those that show the most (0 = all)").shows_default();
  a.option("--findings", &o->findings, "Directory for the reduced cases of findings, each an .rir file whose head replays it");
  a.option("--program", &o->program, "A program that results are of, by the beginning of its hash (regduel compare)");
  a.option("-o,--output", &o->output, "Where to write that program (- = standard output)");
  a.option("--state", &o->state, "Only findings that are crashing, incubating or regression");
  a.flag("--json", o->json, "One JSON document");
  a.footer("Example:  regduel export campaign.sqlite --findings corpus/regression --state regression");
  return [o] { return export_command(*o); };
}

}  // namespace regduel::cli
