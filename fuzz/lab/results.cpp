// See results.h.
#include "fuzz/lab/results.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "base/bad_input.h"
#include "fuzz/lab/measure.h"
#include "ir/text/binary.h"

namespace regduel::fuzz {
namespace {

std::string names_of_measures(std::string_view before, std::string_view behind) {
  std::string list;
  for (const Measure& m : measures()) list += fmt::format(", {}{}{}", before, m.name, behind);
  return list;
}

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void make_tables(Sqlite& db) {
  db.execute("CREATE TABLE IF NOT EXISTS results(version INTEGER NOT NULL)");
  db.execute("INSERT INTO results SELECT ? WHERE NOT EXISTS (SELECT * FROM results)", kResultsVersion);
  db.execute("CREATE TABLE IF NOT EXISTS run(id INTEGER PRIMARY KEY, program TEXT, command TEXT, machine TEXT, started INTEGER)");
  db.execute(
      "CREATE TABLE IF NOT EXISTS program(id INTEGER PRIMARY KEY, hash TEXT UNIQUE, name TEXT, source TEXT, instructions "
      "INTEGER)");
  db.execute(
      "CREATE TABLE IF NOT EXISTS configuration(id INTEGER PRIMARY KEY, allocator TEXT, knobs TEXT, target TEXT, limits "
      "TEXT, UNIQUE(allocator, knobs, target, limits))");
  db.execute(fmt::format("CREATE TABLE IF NOT EXISTS result(run INTEGER, program INTEGER, configuration INTEGER, verdict TEXT, "
                         "reason TEXT{}, PRIMARY KEY(run, program, configuration)) WITHOUT ROWID",
                         names_of_measures("", " INTEGER"))
                 .c_str());
  db.execute(
      "CREATE TABLE IF NOT EXISTS objection(run INTEGER, program INTEGER, configuration INTEGER, signature TEXT, message "
      "TEXT)");
}

void check_version(Sqlite& db) {
  Sqlite::Statement tables(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'results'");
  if (!tables.step() || tables.integer(0) == 0) throw BadInput(fmt::format("error: {}: there are no results in it", db.path()));
  Sqlite::Statement version(db, "SELECT version FROM results");
  if (!version.step() || version.integer(0) != kResultsVersion)
    throw BadInput(
        fmt::format("error: {}: results of format {} (this program knows {})", db.path(), version.integer(0), kResultsVersion));
}

std::string text_of(const ir::Limits& limits, const ir::Target& target) {
  std::string text;
  for (const ir::RegFile file : ir::kAllFiles)
    if (target.units[ir::index(file)] > 0) text += fmt::format("{}{}={}", text.empty() ? "" : " ", ir::name(file), limits.of(file));
  return text;
}

std::string text_of(Knobs knobs) {
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : knobs) last[name] = value;
  std::string text;
  for (const auto& [name, value] : last) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace

ResultWriter::ResultWriter(const std::string& path, const RunInfo& run) : db_(path) {
  db_.execute("PRAGMA journal_mode = WAL");
  db_.execute("PRAGMA synchronous = NORMAL");
  make_tables(db_);
  check_version(db_);
  db_.execute("INSERT INTO run(program, command, machine, started) VALUES(?, ?, ?, ?)", run.program, run.command, run.machine,
              now_seconds());
  run_ = db_.last_id();
  db_.execute("BEGIN");
}

std::int64_t ResultWriter::program_id(const FuzzInput& input, const std::string& source) {
  const std::vector<std::uint8_t> bytes = ir::encode(input.program);
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  const std::string hash = fmt::format("{:016x}{:016x}", h.high64, h.low64);
  const auto [known, is_new] = programs_.try_emplace(hash, 0);
  if (!is_new) return known->second;
  db_.execute("INSERT OR IGNORE INTO program(hash, name, source, instructions) VALUES(?, ?, ?, ?)", hash, input.program.name,
              source, input.program.insts.size());
  Sqlite::Statement id(db_, "SELECT id FROM program WHERE hash = ?", hash);
  return known->second = id.step() ? id.integer(0) : 0;
}

std::int64_t ResultWriter::configuration_id(const Configuration& c) {
  const auto [known, is_new] = configurations_.try_emplace(c, 0);
  if (!is_new) return known->second;
  db_.execute("INSERT OR IGNORE INTO configuration(allocator, knobs, target, limits) VALUES(?, ?, ?, ?)", c.allocator, c.knobs,
              c.target, c.limits);
  Sqlite::Statement id(db_, "SELECT id FROM configuration WHERE allocator = ? AND knobs = ? AND target = ? AND limits = ?",
                       c.allocator, c.knobs, c.target, c.limits);
  return known->second = id.step() ? id.integer(0) : 0;
}

void ResultWriter::add(const FuzzInput& input, const std::string& source, const Duel& duel) {
  const std::int64_t program = program_id(input, source);
  static const std::string kInsert = fmt::format(
      "INSERT OR REPLACE INTO result(run, program, configuration, verdict, reason{}) "
      "VALUES(?, ?, ?, ?, ?{})",
      names_of_measures("", ""), [] {
        std::string marks;
        for (std::size_t k = 0; k < measures().size(); ++k) marks += ", ?";
        return marks;
      }());
  for (const Bout& b : duel.bouts) {
    const ir::Allocator* const allocator = find_allocator(b.allocator);
    const std::int64_t configuration =
        configuration_id({b.allocator, text_of(allocator == nullptr ? input.knobs : known_to(*allocator, input.knobs)),
                          input.target->name, text_of(input.limits, *input.target)});
    Sqlite::Statement row(db_, kInsert.c_str(), run_, program, configuration, oracles::name(b.verdict), b.reason);
    int at = 5;
    for (const Measure& m : measures()) row.bind_at(++at, b.program ? m.of(b) : std::nullopt);
    while (row.step()) {
    }
    const std::vector<std::string> signatures = b.signatures();
    for (std::size_t k = 0; k < b.findings.size(); ++k)
      db_.execute("INSERT INTO objection VALUES(?, ?, ?, ?, ?)", run_, program, configuration, signatures[k],
                  b.findings[k].message);
  }
  if (++pending_ < kBatch) return;
  db_.execute("COMMIT");
  db_.execute("BEGIN");
  pending_ = 0;
}

void ResultWriter::finish() {
  db_.execute("COMMIT");
  db_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  db_.execute("BEGIN");
}

std::vector<ResultRow> read_results(const std::string& path, std::int64_t run) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw BadInput(fmt::format("error: {}: no such file", path));
  Sqlite db(path);
  check_version(db);
  Sqlite::Statement which(db, "SELECT id FROM run WHERE id = ? OR ? = 0 ORDER BY id DESC LIMIT 1", run, run);
  if (!which.step()) throw BadInput(fmt::format("error: {}: there is no run {} in it", path, run));
  const std::string select = fmt::format(
      "SELECT p.hash, p.name, p.source, c.allocator, c.knobs, c.target, c.limits, r.verdict, r.reason{} FROM result r "
      "JOIN program p ON p.id = r.program JOIN configuration c ON c.id = r.configuration WHERE r.run = ? "
      "ORDER BY p.hash, c.allocator, c.knobs, c.target, c.limits",
      names_of_measures("r.", ""));
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

}  // namespace regduel::fuzz
