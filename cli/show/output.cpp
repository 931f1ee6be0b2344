#include "cli/show/output.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/show/terminal.h"

namespace regduel::cli {

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)), total_(total), is_terminal_(is_drawing_terminal()), start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() { done(); }

void Progress::step(std::int64_t n, const std::string& extra) {
  at_ += n;
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(150)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(at_) / seconds;
  std::string line = total_ > 0 ? fmt::format("{} {}/{} ({:.0f}/s, {:.0f} s left)", label_, at_, total_, rate,
                                              static_cast<double>(total_ - at_) / std::max(rate, 0.001))
                                : fmt::format("{} {} ({:.0f}/s)", label_, at_, rate);
  if (!extra.empty()) line += "  " + extra;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::say(const std::string& text) {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
  fmt::print("{}", text);
  std::fflush(stdout);
}

void Progress::done() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

std::string wrapped(const std::string& text, int columns) {
  if (columns <= 0) return text;
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (used > 0 && used + 1 + (end - at) > static_cast<std::size_t>(columns)) {
      out += '\n';
      used = 0;
    }
    if (used > 0) out += ' ';
    out.append(text, at, end - at);
    used += (used > 0 ? 1 : 0) + (end - at);
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      used = 0;
    }
    at = end + 1;
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (columns == 0 || text.size() <= columns || columns < 4) return text;
  return text.substr(0, columns - 3) + "...";
}

std::string percent_of(double part, double whole, int digits) {
  return whole == 0 ? "-" : fmt::format("{:.{}f}%", 100.0 * part / whole, digits);
}

Table::Table(std::vector<std::string> head, int left_columns) : left_(static_cast<std::size_t>(left_columns)) {
  rows_.push_back(std::move(head));
  rule();
}

Table Table::grouped(std::vector<ColumnGroup> groups, int left_columns) {
  std::vector<std::string> titles, head;
  for (ColumnGroup& g : groups) {
    titles.push_back(std::move(g.title));
    head.insert(head.end(), g.head.begin(), g.head.end());
    titles.resize(head.size());
  }
  Table table(std::move(head), left_columns);
  table.rows_.insert(table.rows_.begin(), std::move(titles));
  return table;
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
void Table::rule() { rows_.emplace_back(); }

std::string Table::text() const { return text_from(0, {}); }

std::size_t Table::width() const {
  const std::string text = this->text();
  std::size_t widest = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    widest = std::max(widest, end - at);
  return widest;
}

// Rows become columns; a rule separates the names of the columns from what they have.
Table Table::transposed() const {
  std::vector<std::vector<std::string>> columns(rows_[0].size());
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < columns.size() && !row.empty(); ++c) columns[c].push_back(c < row.size() ? row[c] : "");
  Table other(std::move(columns[0]));
  for (std::size_t c = 1; c < columns.size(); ++c) other.row(std::move(columns[c]));
  return other;
}

void Table::drop(std::string_view column) {
  const auto at = std::find(rows_[0].begin(), rows_[0].end(), column) - rows_[0].begin();
  if (at == std::ssize(rows_[0])) return;
  for (auto& row : rows_)
    if (at < std::ssize(row)) row.erase(row.begin() + at);
}

std::string Table::text_within(int columns, const std::vector<std::string>& droppable) const {
  const auto most = static_cast<std::size_t>(columns);
  if (columns == 0 || width() <= most) return text();
  if (droppable.empty()) {
    const Table other = transposed();
    return other.width() < width() ? other.text() : text();
  }
  Table less = *this;
  for (const std::string& column : droppable)
    if (less.width() > most) less.drop(column);
  return less.text();
}

std::string Table::next(const std::vector<std::string>& widest) {
  if (told_ == 0)
    for (const std::string& cell : widest) told_width_.push_back(cell.size());
  for (std::size_t r = told_; r < rows_.size(); ++r) {
    told_width_.resize(std::max(told_width_.size(), rows_[r].size()), 0);
    for (std::size_t c = 0; c < rows_[r].size(); ++c) told_width_[c] = std::max(told_width_[c], rows_[r][c].size());
  }
  std::string text = text_from(told_, told_width_);
  told_ = rows_.size();
  return text;
}

std::string Table::text_from(std::size_t first, std::vector<std::size_t> width) const {
  for (std::size_t r = first; r < rows_.size(); ++r) {
    const auto& row = rows_[r];
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::size_t total = 0;
  for (const std::size_t w : width) total += w + 2;
  std::string out;
  for (std::size_t r = first; r < rows_.size(); ++r) {
    const auto& row = rows_[r];
    std::string line;
    if (row.empty()) line = std::string(total > 2 ? total - 2 : 0, '-');
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      line += c < left_ ? fmt::format("{:<{}}", row[c], width[c]) : fmt::format("{:>{}}", row[c], width[c]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + '\n';
  }
  return out;
}

Json to_json(const oracles::Finding& f, const ir::Function& after) {
  Json j = {{"judge", f.judge},       {"category", f.category}, {"signature", oracles::signature(f, after)},
            {"instruction", nullptr}, {"operand", nullptr},     {"other_instruction", nullptr},
            {"message", f.message}};
  if (f.inst.is_valid()) j["instruction"] = f.inst.value;
  if (f.operand >= 0) j["operand"] = f.operand;
  if (f.other.is_valid()) j["other_instruction"] = f.other.value;
  const ir::Inst* const inst = after.find_inst(f.inst);
  if (inst != nullptr && inst->line.is_valid()) j["source"] = after.source_place(*inst);
  return j;
}

namespace {

Json judge_json(const oracles::JudgeResult& r, const ir::Function& after) {
  Json findings = Json::array();
  for (const oracles::Finding& f : r.findings) findings.push_back(to_json(f, after));
  return {{"judge", r.judge}, {"verdict", oracles::name(r.verdict)}, {"reason", r.reason}, {"findings", findings}};
}

}  // namespace

Json to_json(const oracles::Report& r, const ir::Function& after) {
  Json judges = Json::array();
  for (const oracles::JudgeResult& result : r.results) judges.push_back(judge_json(result, after));
  return judges;
}

Json to_json(const oracles::MetamorphicResult& r, const ir::Function& after) {
  Json j = judge_json(r.result, after);
  Json observations = Json::array();
  for (const oracles::Observation& o : r.observations)
    observations.push_back({{"variant", o.variant}, {"figure", o.what}, {"before", o.before}, {"after", o.after}});
  j["observations"] = observations;
  return j;
}

}  // namespace regduel::cli
