// See results.h.
#include "results/results.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>

#include <fmt/format.h>

#include "base/bad_input.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "results/measure.h"

namespace regduel::results {
namespace {

std::string text_of(const ir::Limits& limits, const ir::Target& target) {
  std::string text;
  for (const ir::RegFile file : ir::kAllFiles)
    if (target.units[ir::index(file)] > 0) text += fmt::format("{}{}={}", text.empty() ? "" : " ", ir::name(file), limits.of(file));
  return text;
}

std::string verdict_of(const duel::Bout& b) {
  if (b.verdict() != oracles::Verdict::Skipped) return std::string(oracles::name(b.verdict()));
  return b.unsupported.empty() ? "impossible" : "unsupported";
}

std::string text_of(duel::Knobs knobs) {
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : knobs) last[name] = value;
  std::string text;
  for (const auto& [name, value] : last) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

// The program that mix_source() names; nullopt for any other source.
std::optional<ir::Function> program_of_mix(const std::string& source) {
  std::uint64_t seed = 0, index = 0;
  if (std::sscanf(source.c_str(), "standard mix, seed %" SCNu64 ", case %" SCNu64, &seed, &index) != 2) return std::nullopt;
  return duel::standard_case(seed, index, {}).program;
}

}  // namespace

std::string mix_source(std::uint64_t seed, std::uint64_t index) {
  return fmt::format("standard mix, seed {}, case {}", seed, index);
}

duel::Knobs settings_in(const std::string& text) {
  duel::Knobs settings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t sign = word.find('=');
    if (sign != std::string::npos) settings.emplace_back(word.substr(0, sign), word.substr(sign + 1));
    else if (!settings.empty()) settings.back().second += " " + word;
    at = end + 1;
  }
  return settings;
}

std::optional<ir::Limits> limits_in(const std::string& text) {
  ir::Limits limits;
  for (const auto& [name, value] : settings_in(text)) {
    const auto file = ir::file_from_name(name);
    int units = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), units);
    if (!file || error != std::errc() || end != value.data() + value.size() || units < 1) return std::nullopt;
    limits.units[ir::index(*file)] = units;
  }
  return limits;
}

std::optional<duel::Case> case_of(const Configuration& c) {
  const ir::Target* const target = ir::find_target(c.target);
  const auto limits = limits_in(c.limits);
  if (target == nullptr || !limits) return std::nullopt;
  duel::Case input{target, ir::Limits::of(*target), settings_in(c.knobs), {}};
  for (const ir::RegFile file : ir::kAllFiles) {
    if (limits->of(file) > target->units[ir::index(file)]) return std::nullopt;
    if (limits->of(file) > 0) input.limits.units[ir::index(file)] = limits->of(file);
  }
  return input;
}

std::optional<std::string> answered_case(const Configuration& configuration, const ir::Function& program) {
  auto input = case_of(configuration);
  if (!input) return std::nullopt;
  input->program = program;
  return content_hash(duel::encode_case(*input));
}

CaseResults results_of(const duel::Case& input, const std::string& source, const duel::Duel& duel, Content content) {
  CaseResults r;
  Blob bytes = ir::encode(input.program);
  r.hash = content_hash(bytes);
  r.name = input.program.name;
  r.source = source;
  r.instructions = input.program.insts.size();
  if (content == Content::Kept) r.content = std::move(bytes);
  for (const duel::Bout& b : duel.bouts) {
    const ir::Allocator* const allocator = duel::find_allocator(b.allocator);
    CaseResults::Bout row{{b.allocator, text_of(allocator == nullptr ? input.knobs : duel::known_to(*allocator, input.knobs)),
                           input.target->name, text_of(input.limits, *input.target)},
                          verdict_of(b),
                          b.reason(),
                          {},
                          {},
                          {},
                          {}};
    for (const Measure& m : measures())
      row.figures.push_back(b.program || (b.is_figures_only && is_said_without_allocation(m)) ? m.of(b) : std::nullopt);
    const std::vector<std::string> signatures = b.signatures();
    const std::vector<oracles::Finding> findings = b.findings();
    for (std::size_t k = 0; k < findings.size(); ++k) row.objections.emplace_back(signatures[k], findings[k].message);
    if (b.program && !findings.empty() && duel::find_external(b.allocator) != nullptr)
      if (const auto asked = answered_case(row.configuration, input.program)) {
        row.answer = ir::print_file(*b.program);
        row.answered_to = *asked;
      }
    r.bouts.push_back(std::move(row));
  }
  return r;
}

std::int64_t ResultTable::program_id(const CaseResults& r) {
  const auto [known, is_new] = programs_.try_emplace(r.hash, 0);
  if (!is_new) return known->second;
  db_.execute("INSERT OR IGNORE INTO program(hash, name, source, instructions, content) VALUES(?, ?, ?, ?, ?)", r.hash, r.name,
              r.source, r.instructions, r.content.empty() ? std::optional<Blob>() : std::optional(r.content));
  Sqlite::Statement id(db_, "SELECT id FROM program WHERE hash = ?", r.hash);
  return known->second = id.step() ? id.integer(0) : 0;
}

std::int64_t ResultTable::configuration_id(const Configuration& c) {
  const auto [known, is_new] = configurations_.try_emplace(c, 0);
  if (!is_new) return known->second;
  db_.execute("INSERT OR IGNORE INTO configuration(allocator, knobs, target, limits) VALUES(?, ?, ?, ?)", c.allocator, c.knobs,
              c.target, c.limits);
  Sqlite::Statement id(db_, "SELECT id FROM configuration WHERE allocator = ? AND knobs = ? AND target = ? AND limits = ?",
                       c.allocator, c.knobs, c.target, c.limits);
  return known->second = id.step() ? id.integer(0) : 0;
}

void ResultTable::add(const CaseResults& results) {
  static const std::string kInsert = [] {
    std::string marks;
    for (std::size_t k = 0; k < measures().size(); ++k) marks += ", ?";
    return fmt::format("INSERT OR REPLACE INTO result(run, program, configuration, verdict, reason{}) VALUES(?, ?, ?, ?, ?{})",
                       columns_of_measures(), marks);
  }();
  const std::int64_t program = program_id(results);
  for (const CaseResults::Bout& b : results.bouts) {
    const std::int64_t configuration = configuration_id(b.configuration);
    Sqlite::Statement row(db_, kInsert.c_str(), run_, program, configuration, b.verdict, b.reason);
    int at = 5;
    for (const auto& figure : b.figures) row.bind_at(++at, figure);
    while (row.step()) {
    }
    for (const auto& [signature, message] : b.objections)
      db_.execute("INSERT OR IGNORE INTO objection VALUES(?, ?, ?, ?, ?)", run_, program, configuration, signature, message);
    if (!b.answer.empty()) keep_answer(db_, b.answered_to, b.configuration.allocator, b.answer);
  }
}

ResultFile::ResultFile(const std::string& path, const RunInfo& run) : db_(path), started_(microseconds_since_1970()) {
  open_database(db_);
  run_ = begin_run(db_, run);
  table_.emplace(db_, run_);
  db_.execute("BEGIN");
}

void ResultFile::add(const CaseResults& results) {
  table_->add(results);
  allocations_ += std::ssize(results.bouts);
  const auto now = std::chrono::steady_clock::now();
  if (++cases_ % kBatch != 0 && now - committed_ < kLongest) return;
  db_.execute("COMMIT");
  db_.execute("BEGIN");
  committed_ = now;
}

std::int64_t ResultFile::finish() {
  if (allocations_ == 0) db_.execute("DELETE FROM run WHERE id = ?", run_);
  db_.execute("UPDATE run SET next = first + ?, allocations = ?, seconds = ? WHERE id = ?", cases_, allocations_,
              (microseconds_since_1970() - started_) / 1'000'000, run_);
  db_.execute("COMMIT");
  close_database(db_);
  return allocations_ == 0 ? 0 : run_;
}

std::vector<StoredRun> read_runs(const std::string& path) {
  require_database(path);
  Sqlite db(path);
  Sqlite::Statement row(db,
                        "SELECT id, program, command, machine, mode, seed, first, (SELECT count(*) FROM result WHERE run = id) "
                        "FROM run ORDER BY id");
  std::vector<StoredRun> runs;
  while (row.step())
    runs.push_back({row.integer(0),
                    {row.text(1), row.text(2), row.text(3), row.text(4), static_cast<std::uint64_t>(row.integer(5)),
                     static_cast<std::uint64_t>(row.integer(6))},
                    row.integer(7)});
  return runs;
}

std::vector<ResultRow> read_results(const std::string& path, std::int64_t run) {
  require_database(path);
  Sqlite db(path);
  Sqlite::Statement which(
      db, "SELECT id FROM run WHERE id = ? OR ? = 0 ORDER BY EXISTS(SELECT 1 FROM result WHERE run = id) DESC, id DESC LIMIT 1",
      run, run);
  if (!which.step()) throw BadInput(fmt::format("error: {}: there is no run {} in it", path, run));
  const std::string select = fmt::format(
      "SELECT p.hash, p.name, p.source, c.allocator, c.knobs, c.target, c.limits, r.verdict, r.reason{} FROM result r "
      "JOIN program p ON p.id = r.program JOIN configuration c ON c.id = r.configuration WHERE r.run = ? "
      "ORDER BY p.hash, c.allocator, c.knobs, c.target, c.limits",
      columns_of_measures("r."));
  Sqlite::Statement row(db, select.c_str(), which.integer(0));
  std::vector<ResultRow> rows;
  while (row.step()) {
    ResultRow r{row.text(0), row.text(1), row.text(2), {row.text(3), row.text(4), row.text(5), row.text(6)},
                row.text(7), row.text(8), {}};
    for (std::size_t k = 0; k < measures().size(); ++k) {
      const int column = 9 + static_cast<int>(k);
      r.figures.push_back(row.is_null(column) ? std::nullopt : std::optional(row.integer(column)));
    }
    rows.push_back(std::move(r));
  }
  return rows;
}

std::expected<ir::Function, std::string> read_program(Sqlite& db, std::int64_t id) {
  Sqlite::Statement row(db, "SELECT hash, source, content FROM program WHERE id = ?", id);
  if (!row.step()) return std::unexpected(fmt::format("no program of number {}", id));
  const std::string hash = row.text(0), source = row.text(1);
  if (!row.is_null(2)) {
    auto decoded = ir::decode(row.blob(2));
    if (!decoded) return std::unexpected(fmt::format("program {}: {}", hash, decoded.error()));
    return std::move(*decoded);
  }
  auto program = program_of_mix(source);
  if (!program) return std::unexpected(fmt::format("the program {} was not kept", hash));
  if (content_hash(ir::encode(*program)) != hash)
    return std::unexpected(fmt::format("another version of regduel made the program of \"{}\"", source));
  return std::move(*program);
}

ir::Function read_program(const std::string& path, const std::string& hash) {
  require_database(path);
  Sqlite db(path);
  Sqlite::Statement row(db, "SELECT id FROM program WHERE substr(hash, 1, length(?1)) = ?1 LIMIT 2", hash);
  if (hash.empty() || !row.step()) throw BadInput(fmt::format("error: {}: no program {}", path, hash));
  const std::int64_t id = row.integer(0);
  if (row.step()) throw BadInput(fmt::format("error: {}: several programs begin with {}", path, hash));
  auto program = read_program(db, id);
  if (!program) throw BadInput(fmt::format("error: {}: {}", path, program.error()));
  return std::move(*program);
}

}  // namespace regduel::results
