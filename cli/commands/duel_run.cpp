// See duel_run.h. Tested by duel_test.cpp.
#include "cli/commands/duel_run.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/command.h"
#include "cli/show/tally_text.h"
#include "cli/show/terminal.h"
#include "duel/allocators.h"

namespace regduel::cli {
namespace {

Json row_json(const std::string& file, const duel::Case& input, const duel::Duel& d, const duel::Bout& b) {
  const ir::Function& shown = b.program ? *b.program : input.program;
  Json findings = Json::array();
  for (const oracles::Finding& f : b.findings()) findings.push_back(to_json(f, shown));
  Json row = {{"file", file},
              {"function", input.program.name},
              {"allocator", b.allocator},
              {"limit", input.limits.of(ir::RegFile::R)},
              {"registers", nullptr},
              {"max_live", nullptr},
              {"threads", input.program.threads},
              {"warps_per_sm", nullptr},
              {"occupancy_percent", nullptr},
              {"spill_store_bytes", nullptr},
              {"spill_load_bytes", nullptr},
              {"weighted_spill_bytes", nullptr}};
  if (b.has_figures()) {
    if (const auto registers = b.registers()) row["registers"] = *registers;
    row["max_live"] = b.measures.max_live[0];
    row["warps_per_sm"] = b.measures.warps_per_sm;
    row["occupancy_percent"] = b.measures.occupancy_percent;
    row["spill_store_bytes"] = b.measures.spill_store_bytes;
    row["spill_load_bytes"] = b.measures.spill_load_bytes;
    if (b.measures.weighted_spill_bytes) row["weighted_spill_bytes"] = *b.measures.weighted_spill_bytes;
  }
  if (!b.notes.empty()) row["notes"] = b.notes;
  row["verdict"] = oracles::name(b.verdict());
  row["reason"] = b.reason();
  row["findings"] = findings;
  for (const duel::MetamorphicBout& m : d.metamorphic)
    if (m.allocator == b.allocator) row["metamorphic"] = to_json(m.metamorphic, shown);
  row["seconds"] = b.seconds;
  return row;
}

std::string verdict_of(const duel::Bout& b) {
  if (b.verdict() == oracles::Verdict::Skipped) return b.reason();
  std::string word(oracles::name(b.verdict()));
  if (b.verdict() == oracles::Verdict::Fail && !b.findings().empty())
    word += fmt::format(" ({}/{})", b.findings()[0].judge, b.findings()[0].category);
  if (b.verdict() == oracles::Verdict::Inconclusive) word += fmt::format(" ({})", b.reason());
  return word;
}

// The verdict of one row of the table: one word where all agree.
std::string verdict_cell(const duel::Duel& d) {
  std::string cell;
  for (const duel::Bout& b : d.bouts)
    if (const std::string word = verdict_of(b); cell.find(word) == std::string::npos) cell += (cell.empty() ? "" : ", ") + word;
  return cell;
}

std::vector<std::string> figures_of(const duel::Bout& b) {
  if (!b.has_figures()) return {"-", "-", "-", "-"};
  const auto registers = b.registers();
  return {registers ? fmt::format("{}", *registers) : "-", fmt::format("{}", b.measures.warps_per_sm),
          fmt::format("{}", b.measures.spill_store_bytes), fmt::format("{}", b.measures.spill_load_bytes)};
}

constexpr std::size_t kVerdictColumns = 12, kMostNameColumns = 24;

}  // namespace

// Rows are shown as they come. Bytes and verdicts may be wider than is thought here: their columns get wider then.
DuelTable::DuelTable(std::span<const ir::Allocator* const> duelists, std::size_t longest_name)
    : table_(std::vector<std::string>{}), columns_(static_cast<std::size_t>(columns_of(STDOUT_FILENO))),
      name_columns_(longest_name) {
  std::vector<ColumnGroup> groups = {{"", {"function", "limit", "MaxLive"}}};
  std::vector<std::string> grouped = {std::string(longest_name, ' '), "255", "1000"};
  std::size_t longest_allocator = 9;
  for (const ir::Allocator* a : duelists) {
    const std::string name = duel::shown_name(a->name());
    longest_allocator = std::max(longest_allocator, name.size());
    groups.push_back({name, {"registers", "warps", "stores", "loads"}});
    grouped.insert(grouped.end(), {"255", "64", "100000", "100000"});
  }
  groups.push_back({"", {"verdict"}});
  grouped.emplace_back("inconclusive");
  const std::size_t needed = std::max<std::size_t>(longest_name, 8) + 18 + duelists.size() * 34 + 2 + kVerdictColumns;
  is_stacked_ = columns_ > 0 && needed > columns_;
  if (!is_stacked_) {
    table_ = Table::grouped(std::move(groups));
    widest_ = std::move(grouped);
    return;
  }
  name_columns_ = std::min(longest_name, kMostNameColumns);
  table_ = Table({"function", "limit", "MaxLive", "allocator", "regs", "warps", "stores", "loads", "verdict"});
  widest_ = {
      std::string(name_columns_, ' '), "255", "1000", std::string(longest_allocator, ' '), "255", "64", "100000", "100000", "pass"};
}

std::string DuelTable::rows_of(const std::string& name, const duel::Case& input, const duel::Duel& d) {
  std::string max_live;
  for (const duel::Bout& b : d.bouts)
    if (b.program) max_live = fmt::format("{}", b.measures.max_live[0]);
  std::vector<std::string> cells = {shortened(name, name_columns_), fmt::format("{}", input.limits.of(ir::RegFile::R)), max_live};
  if (!is_stacked_) {
    for (const duel::Bout& b : d.bouts)
      for (std::string& figure : figures_of(b)) cells.push_back(std::move(figure));
    cells.push_back(verdict_cell(d));
    table_.row(std::move(cells));
    return table_.next(widest_);
  }
  for (const duel::Bout& b : d.bouts) {
    cells.push_back(duel::shown_name(b.allocator));
    for (std::string& figure : figures_of(b)) cells.push_back(std::move(figure));
    cells.push_back(shortened(verdict_of(b), kVerdictColumns));
    table_.row(std::move(cells));
    cells = {"", "", ""};
  }
  return table_.next(widest_);
}

DuelRun::DuelRun(const DuelOutput& output, std::span<const ir::Allocator* const> duelists, const results::RunInfo& info,
                 std::string label, std::int64_t total)
    : output_(output), findings_(output.findings), tally_(duelists), progress_(std::move(label), total) {
  if (!output.database.empty()) file_.emplace(output.database, info);
}

void DuelRun::add(const duel::Case& input, const duel::Duel& d, const Origin& origin) {
  for (const duel::Bout& b : d.bouts) {
    if (b.verdict() == oracles::Verdict::Fail) findings_.add(input, b);
    if (!output_.json) continue;
    rows_.push_back(row_json(origin.file, input, d, b));
    if (origin.number) rows_.back()["case"] = *origin.number;
  }
  tally_.add(input, d);
  if (file_) file_->add(results::results_of(input, origin.source, d, origin.content));
}

int DuelRun::finish(const std::string& legend, std::optional<std::uint64_t> seed, const std::vector<std::string>& unreadable) {
  progress_.done();
  const std::int64_t id = file_ ? file_->finish() : 0;
  if (output_.json) {
    Json document = {{"command", "duel"}};
    if (seed) document["seed"] = *seed;
    document["interrupted"] = is_interrupted();
    if (file_) document["run"] = id;
    document["results"] = std::move(rows_);
    if (ptxas_) document["ptxas"] = std::move(*ptxas_);
    document["summary"] = json_of(tally_);
    document["findings"] = findings_.json();
    document["unreadable"] = unreadable;
    print_json(document);
  } else {
    fmt::print("{}{}{}{}", legend, text_of(tally_), is_interrupted() ? "(interrupted)\n" : "", findings_.text());
    if (file_) fmt::print("{}: run {}{}\n", output_.database, id, id == 0 ? " has no results and is not kept" : "");
  }
  if (!unreadable.empty()) warn(fmt::format("error: {} could not be read and was left out", counted(unreadable.size(), "file")));
  return findings_.distinct() > 0 ? kExitFinding : unreadable.empty() ? 0 : kExitBadInput;
}

}  // namespace regduel::cli
