// See dimacs.h.

#include "reference/exact/dimacs.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace regduel::reference {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  Parsed<PlainGraph> run() {
    while (next_line()) {
      const std::string_view what = word();
      if (what.empty() || what == "c") continue;
      const bool is_bare = is_pace_ && what[0] >= '0' && what[0] <= '9';
      if (is_bare) at_ = word_at_;
      if (auto wrong = what == "p"              ? problem()
                       : what == "e" || is_bare ? edge()
                       : what == "n"            ? weight()
                                                : fail("expected a line of c, p, e or n"))
        return std::unexpected(*wrong);
    }
    if (!has_problem_) return std::unexpected(SourceError{std::string(file_), number_, 0, "no line \"p edge VERTICES EDGES\""});
    std::sort(graph_.edges.begin(), graph_.edges.end());
    graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
    return std::move(graph_);
  }

 private:
  using Wrong = std::optional<SourceError>;

  bool next_line() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    at_ = word_at_ = 0;
    return true;
  }
  std::string_view word() {
    constexpr std::string_view kBlank = " \t\r";
    word_at_ = std::min(line_.find_first_not_of(kBlank, at_), line_.size());
    at_ = std::min(line_.find_first_of(kBlank, word_at_), line_.size());
    return line_.substr(word_at_, at_ - word_at_);
  }
  [[nodiscard]] Wrong fail(std::string message) const {
    return SourceError{std::string(file_), number_, static_cast<int>(word_at_) + 1, std::move(message)};
  }
  // A number in [least, most].
  Wrong number(std::uint64_t least, std::uint64_t most, std::uint64_t& to) {
    const std::string_view text = word();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || to < least || to > most)
      return fail(fmt::format("expected a number from {} to {}", least, most));
    return std::nullopt;
  }
  Wrong problem() {
    if (has_problem_) return fail("a second p line");
    const std::string_view kind = word();
    is_pace_ = kind == "tw";
    if (kind != "edge" && kind != "col" && kind != "edges" && !is_pace_) return fail("expected edge, col or tw");
    std::uint64_t vertices = 0, edges = 0;
    if (auto wrong = number(1, kMostVertices, vertices)) return wrong;
    if (auto wrong = number(0, UINT64_MAX, edges)) return wrong;
    graph_.vertices = static_cast<NodeId>(vertices);
    has_problem_ = true;
    return std::nullopt;
  }
  Wrong weight() {
    std::uint64_t vertex = 0, of_vertex = 0;
    if (!has_problem_) return fail("a weight before the p line");
    if (auto wrong = number(1, graph_.vertices, vertex)) return wrong;
    if (auto wrong = number(0, UINT64_MAX, of_vertex)) return wrong;
    ++graph_.weights;
    return std::nullopt;
  }
  Wrong edge() {
    if (!has_problem_) return fail("an edge before the p line");
    std::uint64_t a = 0, b = 0;
    if (auto wrong = number(1, graph_.vertices, a)) return wrong;
    if (auto wrong = number(1, graph_.vertices, b)) return wrong;
    if (a == b) {
      ++graph_.loops;
      return std::nullopt;
    }
    if (graph_.edges.size() == kMostEdges) return fail(fmt::format("more than {} edges", kMostEdges));
    graph_.edges.emplace_back(static_cast<NodeId>(std::min(a, b) - 1), static_cast<NodeId>(std::max(a, b) - 1));
    return std::nullopt;
  }

  std::string_view rest_, line_, file_;
  int number_ = 0;
  std::size_t at_ = 0, word_at_ = 0;
  bool has_problem_ = false, is_pace_ = false;
  PlainGraph graph_;
};

}  // namespace

Parsed<PlainGraph> parse_dimacs(std::string_view text, std::string_view file) { return Reader(text, file).run(); }

FileGraph graph_of(const PlainGraph& graph) {
  FileGraph g;
  g.reserve_nodes(graph.vertices);
  for (NodeId n = 0; n < graph.vertices; ++n) g.add_cost(g.add_node(n, {}), 1);
  g.finish_nodes();
  for (const auto& [a, b] : graph.edges) g.add_edge(a, b);
  g.finish();
  return g;
}

}  // namespace regduel::reference
