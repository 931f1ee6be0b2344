#include "cli/show/diagnostic.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/show/terminal.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' || c == ':';
}

// Where the registers of a line begin, outside of strings, attributes and comments.
std::vector<std::pair<std::size_t, std::string_view>> words_of(std::string_view line) {
  std::vector<std::pair<std::size_t, std::string_view>> words;
  int depth = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"') {
      for (++k; k < line.size() && line[k] != '"'; ++k)
        if (line[k] == '\\') ++k;
    } else if (line.substr(k, 2) == "//") {
      break;
    } else if (line[k] == '{' || line[k] == '}') {
      depth += line[k] == '{' ? 1 : -1;
    } else if (depth == 0 && is_word(line[k])) {
      std::size_t end = k;
      while (end < line.size() && is_word(line[end])) ++end;
      std::string_view word = line.substr(k, end - k);
      // In the list of a phi, a block stands before its register: b0:%1.
      if (const std::size_t colon = word.find(":%"); colon != std::string_view::npos) {
        k += colon + 1;
        word.remove_prefix(colon + 1);
      }
      words.emplace_back(k, word);
      k += word.size() - 1;
    }
  }
  return words;
}

std::string register_text(const ir::Function& f, const ir::Operand& op) {
  return op.is_vreg() ? fmt::format("%{}", op.vreg().value) : ir::to_string(f, op.preg());
}

// Column and length of an operand in the line of its instruction. The guard stands first in the text and behind the uses by number.
std::optional<std::pair<int, int>> find_operand(std::string_view line, const ir::Function& f, const ir::Inst& i,
                                                std::size_t number) {
  const auto ops = f.operands_of(i);
  const ir::Operand& wanted = ops[number];
  if (!wanted.is_register()) return std::nullopt;
  const std::string text = register_text(f, wanted);
  const auto order = [&](std::size_t k) { return ops[k].role == ir::Role::Guard ? -1 : static_cast<int>(k); };
  int skip = 0;
  for (std::size_t k = 0; k < ops.size(); ++k)
    if (k != number && ops[k].is_register() && order(k) < order(number) && register_text(f, ops[k]) == text) ++skip;
  for (const auto& [at, word] : words_of(line))
    if (word == text && skip-- == 0) return std::pair(static_cast<int>(at) + 1, static_cast<int>(text.size()));
  return std::nullopt;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t n = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, n));
    if (!line.empty() && line.back() == '\r') line.pop_back();
    // A tab would put the mark below the wrong place.
    std::replace(line.begin(), line.end(), '\t', ' ');
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
  return lines;
}

constexpr std::string_view kBold = "\033[1m", kRed = "\033[1;31m", kCyan = "\033[1;36m", kGreen = "\033[1;32m", kPlain = "\033[0m";
std::string paint(std::string_view text, std::string_view how, bool colours) {
  return colours ? fmt::format("{}{}{}", how, text, kPlain) : std::string(text);
}

}  // namespace

Listing::Listing(const Program& program) : program_(program), is_file_(program.text != nullptr) {
  lines_ = split_lines(is_file_ ? *program.text : ir::print(program.function));
  bool inside = false;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    std::string_view line = lines_[k];
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const int number = static_cast<int>(k) + 1;
    if (line.starts_with("func ")) {
      const std::size_t at = line.find('@');
      std::string_view name = at == std::string_view::npos ? std::string_view() : line.substr(at + 1);
      const bool quoted = name.starts_with('"');
      name = name.substr(quoted ? 1 : 0);
      const std::string& wanted = program.function.name;
      inside = name.starts_with(wanted) && name.size() > wanted.size() && name[wanted.size()] == (quoted ? '"' : ' ');
      if (inside) first_ = number;
    } else if (inside && line.size() > 1 && (line[0] == '#' || line[0] == '+') && line[1] >= '0' && line[1] <= '9') {
      line_of_.emplace(static_cast<std::uint32_t>(std::strtoul(std::string(line.substr(1, 11)).c_str(), nullptr, 10)), number);
    }
  }
}

Listing::Mark Listing::mark(ir::InstId inst, int operand) const {
  const auto found = inst.is_valid() ? line_of_.find(inst.value) : line_of_.end();
  Mark m{found == line_of_.end() ? first_ : found->second, 1, 1};
  const std::string& line = lines_[static_cast<std::size_t>(m.line - 1)];
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  m.column = static_cast<int>(begin) + 1;
  m.length = std::max(1, static_cast<int>(std::min(line.find(' ', begin), line.size()) - begin));
  if (found == line_of_.end() || operand < 0) return m;
  const ir::Function& f = program_.function;
  const ir::Inst* const i = f.find_inst(inst);
  if (i == nullptr || operand >= i->num_operands) return m;
  if (const auto at = find_operand(line, f, *i, static_cast<std::size_t>(operand))) std::tie(m.column, m.length) = *at;
  return m;
}

std::string Listing::source_place(ir::InstId inst) const {
  const ir::Inst* const i = program_.function.find_inst(inst);
  return i == nullptr ? "" : program_.function.source_place(*i);
}

std::string Listing::place(const Mark& m) const {
  return is_file_ ? fmt::format("{}:{}:{}", program_.file, m.line, m.column) : program_.file;
}

std::string Listing::excerpt(const Mark& m, int context, bool colours) const {
  std::string out;
  for (int n = std::max(first_, m.line - context); n <= m.line; ++n)
    out += fmt::format("{:>6} | {}\n", is_file_ ? fmt::format("{}", n) : "", lines_[static_cast<std::size_t>(n - 1)]);
  const std::string under = "^" + std::string(static_cast<std::size_t>(m.length - 1), '~');
  return out +
         fmt::format("       | {}{}\n", std::string(static_cast<std::size_t>(m.column - 1), ' '), paint(under, kGreen, colours));
}

namespace {

// The finding at its place in `at`; `sources` knows the lines of the source that the program was made from.
std::string headed(const oracles::Finding& f, const Listing& at, const Listing& sources, const std::string& function,
                   std::string_view kind, bool colours) {
  const Listing::Mark mark = at.mark(f.inst, f.operand);
  std::string where = fmt::format("@{}", function);
  if (f.inst.is_valid()) where += fmt::format(": #{}", f.inst.value);
  if (f.operand >= 0) where += fmt::format(", operand {}", f.operand);
  if (const std::string source = sources.source_place(f.inst); !source.empty()) where += fmt::format(", from {}", source);
  std::string out = fmt::format("{} {} {}: {} [{}/{}]\n", paint(at.place(mark) + ":", kBold, colours), paint(kind, kRed, colours),
                                where, f.message, f.judge, f.category);
  if (!f.inst.is_valid() || at.has(f.inst)) out += at.excerpt(mark, f.inst.is_valid() ? 3 : 0, colours);
  return out;
}

}  // namespace

std::string diagnose(const oracles::Finding& f, const Listing& before, const Listing& after, const std::string& function,
                     bool colours) {
  std::string out = headed(f, after, before, function, "error:", colours);
  const auto note = [&](const Listing& listing, ir::InstId inst, int operand, std::string_view text) {
    const Listing::Mark m = listing.mark(inst, operand);
    out += fmt::format("{} {} {}\n{}", paint(listing.place(m) + ":", kBold, colours), paint("note:", kCyan, colours), text,
                       listing.excerpt(m, 0, colours));
  };
  if (f.inst.is_valid() && before.has(f.inst)) note(before, f.inst, f.operand, "before allocation");
  if (f.other.is_valid() && f.other != f.inst) {
    if (after.has(f.other)) note(after, f.other, -1, "see also");
    else if (before.has(f.other)) note(before, f.other, -1, "see also, before allocation");
  }
  return out;
}

std::string warn_of(const oracles::Finding& f, const Listing& program, const std::string& function, bool colours) {
  return headed(f, program, program, function, "warning:", colours);
}

bool wants_colours() { return has_colors(STDOUT_FILENO); }

}  // namespace regduel::cli
