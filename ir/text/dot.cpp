#include "ir/text/dot.h"

#include <fmt/format.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

// In a quoted string only the quotes and the backslash are special; in a record label these marks too.
std::string escape(std::string_view s, std::string_view marks) {
  std::string out;
  for (const char c : s) {
    if (c == '"' || c == '\\' || marks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string to_dot(const Function& f) {
  std::string out =
      fmt::format("digraph \"{}\" {{\n  node [shape=record, fontname=\"monospace\", fontsize=10];\n", escape(f.name, ""));
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    out += fmt::format("  b{} [{}label=\"{{b{}{}|", b, block.is_edge_block() ? "style=dashed, " : "", b,
                       block.depth > 0 ? fmt::format(" depth {}", block.depth) : "");
    for (const Inst& i : f.insts_of(block)) out += escape(print(f, i), "{}<>|") + "\\l";
    out += "}\"];\n";
    const auto successors = f.successors(BlockId(b));
    const Op op = f.terminator(BlockId(b)).op;
    for (std::size_t k = 0; k < successors.size(); ++k) {
      std::string label;
      if (op == Op::CBra) label = k == 0 ? "taken" : "not taken";
      if (op == Op::MBra) label = fmt::format("{}", k);
      out += fmt::format("  b{} -> b{} [label=\"{}\"];\n", b, successors[k].value, label);
    }
  }
  return out + "}\n";
}

}  // namespace regduel::ir
