// regduel color: graphs of the colouring benchmarks, by the reference's colouring and exactly.

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/show/output.h"
#include "duel/exec/words.h"
#include "reference/colour/select.h"
#include "reference/colour/simplify.h"
#include "reference/exact/clique.h"
#include "reference/exact/dimacs.h"
#include "reference/exact/fewest_units.h"

namespace regduel::cli {
namespace {

struct Options {
  std::vector<std::string> graphs, with = {"briggs,exact"};
  int registers = 0;  // 0 = as few as can be
  std::int64_t effort = 200;
  std::string proof;
  bool json = false;
};

constexpr int kThousand = 1000;

struct Row {
  std::string by;
  int colours = -1;  // -1 = not all vertices have one
  std::size_t spilled = 0;
  int at_least = 0, questions = 0;
  double seconds = 0;
};

// With K colours; without, the first K from the clique on with which no vertex is left over, or all that there can be.
Row by_briggs(const reference::FileGraph& graph, int registers, int clique) {
  Row row{.by = "briggs", .at_least = clique};
  for (int k = registers > 0 ? registers : std::min(clique, ir::kMaxUnits); k <= ir::kMaxUnits; ++k) {
    reference::SelectOptions options;
    options.available = reference::UnitSet::range(0, k);
    const auto optimism = registers > 0 ? reference::Optimism::CheapestFirst : reference::Optimism::SmallestLast;
    const auto colouring = reference::select(graph, reference::simplify(graph, options.available, optimism), options);
    row.spilled = colouring.failed.size();
    if (row.spilled == 0) row.colours = *std::max_element(colouring.unit_of.begin(), colouring.unit_of.end()) + 1;
    if (row.spilled == 0 || registers > 0) break;
  }
  return row;
}

Row by_search(const reference::FileGraph& graph, const Options& o) {
  const int limit = o.registers > 0 ? o.registers : ir::kMaxUnits;
  const reference::FewestUnits f =
      reference::fewest_units(graph, reference::UnitSet::range(0, limit), {.conflicts = o.effort * kThousand, .proof = o.proof});
  return {.by = "exact", .colours = f.at_most, .at_least = f.at_least, .questions = f.questions};
}

std::string answer(const Row& row) {
  if (row.by == "briggs") return row.colours < 0 ? fmt::format("{} vertices without a colour", row.spilled) : "all coloured";
  if (row.colours == row.at_least) return "proved";
  if (row.colours >= 0) return fmt::format("between {} and {}", row.at_least, row.colours);
  return fmt::format("at least {}", row.at_least);
}

int color(const Options& o) {
  if (o.registers < 0 || o.registers > ir::kMaxUnits) throw BadInput(fmt::format("--regs: expected 1 to {}", ir::kMaxUnits));
  if (o.effort < 1 || o.effort > 1'000'000) throw BadInput("--effort: expected 1 to 1000000");
  std::vector<std::string> with;
  for (const std::string& list : o.with)
    for (const std::string& item : duel::split_items(list)) {
      if (item != "briggs" && item != "exact")
        throw BadInput(fmt::format("--with: nobody colours graphs as \"{}\" (there are briggs, exact)", item));
      with.push_back(item);
    }
  if (!o.proof.empty() && o.graphs.size() != 1) throw BadInput("--proof: of one graph alone");
  Table table({"graph", "vertices", "edges", "clique", "by", "colours", "answer", "questions", "seconds"});
  Json list = Json::array();
  for (const std::string& path : o.graphs) {
    const auto text = read_file(path);
    if (!text) throw BadInput(text.error());
    const auto parsed = reference::parse_dimacs(*text, path);
    if (!parsed) throw BadInput(to_string(parsed.error()));
    if (parsed->loops > 0) fmt::print(stderr, "{}: note: {} loops from a vertex to itself are passed over\n", path, parsed->loops);
    if (parsed->weights > 0) fmt::print(stderr, "{}: note: weights of {} vertices are passed over\n", path, parsed->weights);
    const reference::FileGraph graph = reference::graph_of(*parsed);
    std::vector<reference::NodeId> all;
    for (reference::NodeId n = 0; n < graph.size(); ++n) all.push_back(n);
    const int clique = std::max<int>(1, reference::heaviest_clique(graph, all).units);
    for (const std::string& by : with) {
      const auto start = std::chrono::steady_clock::now();
      Row row = by == "briggs" ? by_briggs(graph, o.registers, clique) : by_search(graph, o);
      row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const std::string colours = row.colours < 0 ? "-" : fmt::format("{}", row.colours);
      table.row({path, fmt::format("{}", parsed->vertices), fmt::format("{}", parsed->edges.size()), fmt::format("{}", clique), by,
                 colours, answer(row), fmt::format("{}", row.questions), fmt::format("{:.2f}", row.seconds)});
      Json entry = {{"graph", path},
                    {"vertices", parsed->vertices},
                    {"edges", parsed->edges.size()},
                    {"clique", clique},
                    {"by", by},
                    {"colours", nullptr},
                    {"at_least", row.at_least},
                    {"spilled", row.spilled},
                    {"questions", row.questions},
                    {"seconds", row.seconds}};
      if (row.colours >= 0) entry["colours"] = row.colours;
      list.push_back(std::move(entry));
    }
  }
  if (o.json) print_json({{"command", "color"}, {"results", list}});
  else fmt::print("{}", table.text());
  return 0;
}

}  // namespace

Action declare_color(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("graphs", &o->graphs, "Graphs (DIMACS: p edge VERTICES EDGES, e A B; PACE: p tw VERTICES EDGES, A B)").required();
  a.option("--with", &o->with, "briggs (optimistic colouring), exact (cliques and a SAT solver), comma-separated").shows_default();
  a.option("--regs", &o->registers, "Colours that there are, 1 to 512; without, as few as can be");
  a.option("--effort", &o->effort, "Thousands of conflicts of the solver in each question").shows_default();
  a.option(
      "--proof", &o->proof,
      "Of one graph: write the certificate that fewer colours do not do, for scripts/check-proof: PATH.col with PATH.clique, or "
      "with PATH.cnf and PATH.drat");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "clique: vertices that are all neighbours of one another, so that each needs a colour of its own. With --regs, briggs leaves "
      "vertices\n"
      "over where the colours do not suffice: those would be spilled. Example:  regduel color mulsol.i.1.col --with exact");
  return [o] { return color(*o); };
}

}  // namespace regduel::cli
