// regduel diff: two allocations of one program side by side, aligned by the numbers of the original instructions.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/show/output.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string left, right, function;
  int width = 60, context = 3;
  bool all = false, json = false;
};

// One line: the same instruction on both sides, or one that only one of them has ("").
struct Row {
  std::string left, right;
  [[nodiscard]] char mark() const { return left == right ? ' ' : left.empty() ? '>' : right.empty() ? '<' : '|'; }
};
struct BlockRows {
  std::string title;
  std::vector<Row> rows;
};

struct Counts {
  int spills = 0, refills = 0, copies = 0, remats = 0, deleted = 0, others = 0;  // inserted ones, but for deleted
};

Counts count(const ir::Function& f) {
  Counts c;
  for (const ir::Inst& i : f.insts) {
    if (i.is_deleted()) ++c.deleted;
    if (!i.is_inserted()) continue;
    if (i.op == ir::Op::Spill) ++c.spills;
    else if (i.op == ir::Op::Refill) ++c.refills;
    else if (i.op == ir::Op::Copy) ++c.copies;
    else if (i.op == ir::Op::Remat) ++c.remats;
    else if (!ir::is_terminator(i.op)) ++c.others;
  }
  return c;
}

// The text of an instruction, without the number that an inserted one has: that differs where nothing else does.
std::string text_of(const ir::Function& f, const ir::Inst& i) {
  const std::string text = ir::print(f, i);
  return i.is_inserted() ? "+" + text.substr(std::min(text.find(' '), text.size())) : text;
}

std::string title_of(const ir::Function& f, std::size_t b) {
  const ir::Block& block = f.blocks[b];
  return block.is_edge_block() ? fmt::format("edge b{} -> b{}", block.edge_from.value, block.edge_to.value) : fmt::format("b{}", b);
}

// The equal ones of these meet.
void add_different(std::vector<Row>& rows, std::vector<std::string> left, std::vector<std::string> right) {
  constexpr std::size_t kMostPairs = 4'000'000;
  if (left.size() * right.size() > kMostPairs) {  // too long to look for what is equal
    for (std::string& line : left) rows.push_back({std::move(line), ""});
    for (std::string& line : right) rows.push_back({"", std::move(line)});
    return;
  }
  // The longest common subsequence, by table.
  std::vector<std::vector<std::size_t>> longest(left.size() + 1, std::vector<std::size_t>(right.size() + 1, 0));
  for (std::size_t a = left.size(); a-- > 0;)
    for (std::size_t b = right.size(); b-- > 0;)
      longest[a][b] = left[a] == right[b] ? longest[a + 1][b + 1] + 1 : std::max(longest[a + 1][b], longest[a][b + 1]);
  std::size_t a = 0, b = 0;
  while (a < left.size() || b < right.size()) {
    if (a < left.size() && b < right.size() && left[a] == right[b]) rows.push_back({left[a++], right[b++]});
    else if (b == right.size() || (a < left.size() && longest[a + 1][b] >= longest[a][b + 1])) rows.push_back({left[a++], ""});
    else rows.push_back({"", right[b++]});
  }
}

// Of runs of inserted instructions the equal ones meet.
void add_inserted(std::vector<Row>& rows, std::vector<std::string> left, std::vector<std::string> right) {
  std::size_t same = 0, same_at_end = 0;
  const std::size_t shorter = std::min(left.size(), right.size());
  while (same < shorter && left[same] == right[same]) ++same;
  while (same + same_at_end < shorter && left[left.size() - 1 - same_at_end] == right[right.size() - 1 - same_at_end])
    ++same_at_end;
  const std::vector<std::string> end(left.end() - static_cast<std::ptrdiff_t>(same_at_end), left.end());
  for (std::size_t k = 0; k < same; ++k) rows.push_back({left[k], right[k]});
  for (std::vector<std::string>* side : {&left, &right}) {
    side->resize(side->size() - same_at_end);
    side->erase(side->begin(), side->begin() + static_cast<std::ptrdiff_t>(same));
  }
  add_different(rows, std::move(left), std::move(right));
  for (const std::string& line : end) rows.push_back({line, line});
}

class Alignment {
 public:
  Alignment(const ir::Function& left, const ir::Function& right) : left_(left), right_(right) {}

  // Throws BadInput where they are not allocations of one program.
  std::vector<BlockRows> rows() {
    std::map<std::string, std::size_t> left_blocks, right_blocks;
    std::vector<std::string> order;
    for (std::size_t b = 0; b < left_.blocks.size(); ++b) add(left_, b, left_blocks, order);
    for (std::size_t b = 0; b < right_.blocks.size(); ++b) add(right_, b, right_blocks, order);
    std::vector<BlockRows> all;
    for (const std::string& title : order) {
      BlockRows block{title, {}};
      const auto in_left = left_blocks.find(title), in_right = right_blocks.find(title);
      if (in_left == left_blocks.end() || in_right == right_blocks.end()) {
        const bool is_left = in_left != left_blocks.end();
        if (!title.starts_with("edge"))
          throw BadInput(fmt::format("error: not two allocations of one program: {} alone has block {}",
                                     is_left ? "the first" : "the second", title));
        for (const ir::Inst& i : is_left ? insts(left_, in_left->second) : insts(right_, in_right->second))
          block.rows.push_back(is_left ? Row{text_of(left_, i), ""} : Row{"", text_of(right_, i)});
      } else {
        align(block, insts(left_, in_left->second), insts(right_, in_right->second));
      }
      all.push_back(std::move(block));
    }
    return all;
  }

 private:
  // Several blocks may stand on one edge.
  static void add(const ir::Function& f, std::size_t b, std::map<std::string, std::size_t>& blocks,
                  std::vector<std::string>& order) {
    std::string title = title_of(f, b);
    for (int k = 2; blocks.contains(title); ++k) title = fmt::format("{} ({})", title_of(f, b), k);
    blocks.emplace(title, b);
    if (std::find(order.begin(), order.end(), title) == order.end()) order.push_back(title);
  }
  static std::span<const ir::Inst> insts(const ir::Function& f, std::size_t b) {
    return std::span(f.insts).subspan(f.blocks[b].first_inst, f.blocks[b].num_insts);
  }

  void align(BlockRows& block, std::span<const ir::Inst> left, std::span<const ir::Inst> right) const {
    std::size_t a = 0, b = 0;
    for (;;) {
      std::vector<std::string> only_left, only_right;
      for (; a < left.size() && left[a].is_inserted(); ++a) only_left.push_back(text_of(left_, left[a]));
      for (; b < right.size() && right[b].is_inserted(); ++b) only_right.push_back(text_of(right_, right[b]));
      add_inserted(block.rows, std::move(only_left), std::move(only_right));
      if (a == left.size() && b == right.size()) return;
      if (a == left.size() || b == right.size() || left[a].id != right[b].id)
        throw BadInput(
            fmt::format("error: not two allocations of one program: block {} goes on with {} in the first, with {} in the second",
                        block.title, a < left.size() ? fmt::format("#{}", left[a].id.value) : "nothing",
                        b < right.size() ? fmt::format("#{}", right[b].id.value) : "nothing"));
      block.rows.push_back({text_of(left_, left[a++]), text_of(right_, right[b++])});
    }
  }

  const ir::Function &left_, &right_;
};

ir::Function one_function(const std::string& path, const std::string& name) {
  std::vector<Program> programs = load(path);
  require_phase(programs, ir::Phase::Allocated);
  for (Program& p : programs)
    if (name.empty() ? programs.size() == 1 : p.function.name == name) return std::move(p.function);
  throw BadInput(name.empty() ? fmt::format("{}: there are {} functions: say which with --function", path, programs.size())
                              : fmt::format("--function: no function \"{}\" in {}", name, path));
}

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

int diff_command(const Options& o) {
  if (o.width < 20 || o.width > 1000) throw BadInput(fmt::format("--width: expected 20 to 1000, found {}", o.width));
  if (o.context < 0) throw BadInput(fmt::format("--context: expected 0 or more, found {}", o.context));
  const ir::Function left = one_function(o.left, o.function), right = one_function(o.right, o.function);
  const std::vector<BlockRows> blocks = Alignment(left, right).rows();
  std::size_t differing = 0;
  for (const BlockRows& b : blocks)
    differing +=
        static_cast<std::size_t>(std::count_if(b.rows.begin(), b.rows.end(), [](const Row& r) { return r.mark() != ' '; }));
  const Counts l = count(left), r = count(right);
  if (o.json) {
    Json list = Json::array();
    for (const BlockRows& b : blocks)
      for (const Row& row : b.rows)
        if (o.all || row.mark() != ' ')
          list.push_back({{"block", b.title}, {"mark", std::string(1, row.mark())}, {"left", row.left}, {"right", row.right}});
    const auto counts = [](const Counts& c) {
      return Json{{"spills", c.spills}, {"refills", c.refills}, {"copies", c.copies},
                  {"remats", c.remats}, {"deleted", c.deleted}, {"others", c.others}};
    };
    print_json({{"command", "diff"}, {"differing", differing}, {"left", counts(l)}, {"right", counts(r)}, {"rows", list}});
    return differing > 0 ? kExitFinding : 0;
  }
  const auto width = static_cast<std::size_t>(o.width);
  const auto line = [&](const Row& row) {
    const std::string text = fmt::format("  {:<{}} {} {}", cut(row.left, width), width, row.mark(), cut(row.right, width));
    fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  };
  const auto summary = [](const Counts& c) {
    return fmt::format("{} spills, {} refills, {} copies, {} remats, {} deleted", c.spills, c.refills, c.copies, c.remats,
                       c.deleted);
  };
  fmt::print("  {:<{}}   {}\n  {:<{}}   {}\n", cut(o.left, width), width, cut(o.right, width), cut(summary(l), width), width,
             cut(summary(r), width));
  const auto context = static_cast<std::size_t>(o.context);
  for (const BlockRows& b : blocks) {
    std::vector<bool> shown(b.rows.size(), o.all);
    for (std::size_t k = 0; k < b.rows.size(); ++k)
      if (b.rows[k].mark() != ' ')
        for (std::size_t n = k - std::min(k, context); n < std::min(b.rows.size(), k + context + 1); ++n) shown[n] = true;
    if (std::find(shown.begin(), shown.end(), true) == shown.end()) continue;
    fmt::print("{}\n", b.title);
    for (std::size_t k = 0; k < b.rows.size(); ++k) {
      if (shown[k]) line(b.rows[k]);
      else if (k == 0 || shown[k - 1]) fmt::print("  ...\n");
    }
  }
  fmt::print("{}\n", differing == 0 ? "no difference" : fmt::format("{} lines differ", differing));
  return differing > 0 ? kExitFinding : 0;
}

}  // namespace

Action declare_diff(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("left", &o->left, "An allocated program").required();
  a.option("right", &o->right, "Another allocation of the same program").required();
  a.option("--function", &o->function, "Which function, where the files have several");
  a.option("--width", &o->width, "Columns of each side; what is longer is cut").shows_default();
  a.option("--context", &o->context, "Equal lines to show around one that differs").shows_default();
  a.flag("--all", o->all, "Equal lines too");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "Between the sides: | the instruction differs, < only the left one has it, > only the right one. Inserted instructions (+) "
      "have no\n"
      "numbers here. Exit status 1: there is a difference.\n"
      "Example:  regduel alloc --with fatpoint a.rir -o f.rir; regduel alloc --with briggs a.rir -o b.rir; regduel diff f.rir "
      "b.rir");
  return [o] { return diff_command(*o); };
}

}  // namespace regduel::cli
