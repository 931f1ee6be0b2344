// regduel report: a database of results and campaigns as one page to look at.

#include <filesystem>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/io.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/report/document.h"
#include "cli/report/page.h"
#include "cli/show/output.h"

namespace regduel::cli {
namespace {

struct Options {
  ComparedOptions compared;
  std::string output;
  int details = 40;
  bool json = false;
};

// One database shows what is in it; anything else compares.
nlohmann::ordered_json document_of(const Options& o) {
  const ReportOptions options = {.version = std::string(program_version()), .details = static_cast<std::size_t>(o.details)};
  const ComparedOptions& c = o.compared;
  if (c.databases.size() == 1 && c.runs.empty() && c.allocators.empty() && !c.across_knobs)
    return report_document(c.databases[0], options);
  return comparison_document(read_compared_runs(c), c.across_knobs, options);
}

int report(const Options& o) {
  if (o.details < 0 || o.details > 1000) throw BadInput("--details: expected 0 to 1000");
  if (o.output.empty() && !o.json) throw BadInput("say where to write the page: -o report.html");
  require_file_possible(o.output);
  for (const std::string& database : o.compared.databases) require_other_file(o.output, database);
  const nlohmann::ordered_json document = document_of(o);
  if (o.json) print_json(document);
  if (o.output.empty()) return 0;
  const std::string page = report_page(document);
  if (const auto written = write_file(o.output, page); !written) throw BadInput(fmt::format("error: {}", written.error()));
  if (!o.json && o.output != "-")
    fmt::print("{}: {:.1f} MB: {}, {}, {}, {} in detail\n", o.output, static_cast<double>(page.size()) / 1e6,
               counted(document["runs"].size(), "run"), counted(document["cases"]["run"].size(), "case"),
               counted(document["findings"].size(), "finding"), counted(document["details"].size(), "function"));
  return 0;
}

}  // namespace

Action declare_report(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("databases", &o->compared.databases,
           "What regduel duel --db and regduel fuzz --db have written; OLD NEW: what regduel compare says, as pages")
      .required();
  a.option("-o,--output", &o->output, "The HTML file to write (- = standard output); needed unless --json is given");
  a.option("--details", &o->details,
           "Show so many functions in detail: findings first, then those that judges objected to, then the largest gaps")
      .shows_default();
  o->compared.add_to(a);
  a.flag("--json", o->json, "One JSON document: what the page shows");
  a.footer(
      "The same database gives the same bytes. docs/report.md explains what one sees.\n"
      "Examples:  regduel report r.sqlite -o report.html\n"
      "           regduel report old.sqlite new.sqlite -o change.html\n"
      "           regduel report r.sqlite --runs 1,2 --across-knobs -o change.html");
  return [o] { return report(*o); };
}

}  // namespace regduel::cli
