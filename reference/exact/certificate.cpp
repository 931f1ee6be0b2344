// See certificate.h.

#include "reference/exact/certificate.h"

#include <fmt/format.h>

#include "base/bad_input.h"
#include "base/io.h"

namespace regduel::reference {
namespace {

void write(const std::string& path, const std::string& text) {
  if (const auto written = write_file(path, text); !written) throw BadInput(written.error());
}
// f(first, last) for each run of units.
template <class F>
void for_each_run(const UnitSet& units, F&& f) {
  for (int u = units.first(); u >= 0;) {
    int last = u;
    while (units.has(last) && last + 1 < ir::kMaxUnits && units.has(last + 1)) ++last;
    f(u, last);
    u = last + 1 < ir::kMaxUnits ? units.next(last + 1) : -1;
  }
}

}  // namespace

void write_graph(const std::string& path, const FileGraph& graph, const UnitSet& available, std::span<const std::string> names) {
  std::string text, edges;
  std::size_t num_edges = 0;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.is_fixed(n)) continue;
    graph.for_neighbours(n, [&](NodeId m) {
      if (n >= m) return;
      edges += fmt::format("e {} {}\n", n + 1, m + 1);
      ++num_edges;
    });
  }
  text += fmt::format("p edge {} {}\n", graph.size(), num_edges);
  for_each_run(available, [&](int first, int last) { text += fmt::format("a {} {}\n", first, last); });
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (n < names.size()) text += fmt::format("c vertex {} {}\n", n + 1, names[n]);
    if (graph.is_fixed(n)) {
      text += fmt::format("x {} {}\n", n + 1, graph.fixed(n).begin());
      continue;
    }
    if (graph.units(n) > 1 || graph.align_log2(n) > 0)
      text += fmt::format("w {} {} {}\n", n + 1, graph.units(n), 1 << graph.align_log2(n));
    for_each_run(graph.forbidden(n), [&](int first, int last) { text += fmt::format("f {} {} {}\n", n + 1, first, last); });
  }
  write(path + ".col", text + edges);
}

void write_clique(const std::string& path, std::span<const NodeId> nodes, int units) {
  std::string text = fmt::format("k {}\n", units);
  for (const NodeId n : nodes) text += fmt::format("v {}\n", n + 1);
  write(path + ".clique", text);
}

}  // namespace regduel::reference
