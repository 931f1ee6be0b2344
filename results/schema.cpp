// See schema.h. Tested by results_test.cpp and store_test.cpp.
#include "results/schema.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/bad_input.h"
#include "results/measure.h"

namespace regduel::results {
namespace {

constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS run(id INTEGER PRIMARY KEY, program TEXT, command TEXT, machine TEXT, started INTEGER, seconds "
    "INTEGER DEFAULT 0, mode TEXT, seed INTEGER, first INTEGER, next INTEGER, allocations INTEGER DEFAULT 0, "
    "UNIQUE(started, machine, command, mode, seed))",
    "CREATE TABLE IF NOT EXISTS program(id INTEGER PRIMARY KEY, hash TEXT UNIQUE, name TEXT, source TEXT, instructions INTEGER, "
    "content BLOB)",
    "CREATE TABLE IF NOT EXISTS configuration(id INTEGER PRIMARY KEY, allocator TEXT, knobs TEXT, target TEXT, limits TEXT, "
    "UNIQUE(allocator, knobs, target, limits))",
    "CREATE TABLE IF NOT EXISTS objection(run INTEGER, program INTEGER, configuration INTEGER, signature TEXT, message TEXT, "
    "PRIMARY KEY(run, program, configuration, signature)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS verdict(run INTEGER, allocator TEXT, verdict TEXT, cases INTEGER, PRIMARY KEY(run, allocator, "
    "verdict)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS sample(run INTEGER, time INTEGER, next INTEGER, inputs INTEGER, features INTEGER, edges INTEGER, "
    "findings INTEGER, PRIMARY KEY(run, time)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS campaign(seed INTEGER, mode TEXT, next INTEGER NOT NULL, PRIMARY KEY(seed, mode))",
    "CREATE TABLE IF NOT EXISTS input(hash TEXT PRIMARY KEY, input BLOB NOT NULL, features BLOB NOT NULL, program TEXT, pinned "
    "INTEGER, instructions INTEGER, found INTEGER)",
    "CREATE TABLE IF NOT EXISTS sighting(allocator TEXT, signature TEXT, message TEXT, count INTEGER, reduced INTEGER, input BLOB, "
    "first_seen INTEGER, last_seen INTEGER, PRIMARY KEY(allocator, signature))",
    "CREATE TABLE IF NOT EXISTS answer(input TEXT, allocator TEXT, program TEXT, PRIMARY KEY(input, allocator)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS finding(bucket TEXT PRIMARY KEY, allocator TEXT, signature TEXT, decision TEXT, state TEXT, passes "
    "INTEGER, count INTEGER, instructions INTEGER, input BLOB, program TEXT, first_seen INTEGER, last_seen INTEGER)"};

void check_format(Sqlite& db) {
  Sqlite::Statement tables(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  if (!tables.step() || tables.integer(0) == 0) throw BadInput(fmt::format("error: {}: no database of regduel", db.path()));
  Sqlite::Statement format(db, "SELECT value FROM meta WHERE key = 'format'");
  const std::int64_t found = format.step() ? format.integer(0) : 0;
  if (found != kDatabaseFormat)
    throw BadInput(
        fmt::format("error: {}: a database of version {} (this program knows version {})", db.path(), found, kDatabaseFormat));
}

}  // namespace

std::int64_t microseconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string content_hash(const Blob& bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

void open_database(Sqlite& db) {
  const bool is_new = [&] {
    Sqlite::Statement tables(db, "SELECT count(*) FROM sqlite_master");
    return !tables.step() || tables.integer(0) == 0;
  }();
  if (!is_new) check_format(db);  // nothing is added to what is not ours
  if (!is_new && db.is_read_only()) return;
  db.execute("PRAGMA journal_mode = WAL");
  db.execute("PRAGMA synchronous = NORMAL");
  db.execute("BEGIN IMMEDIATE");  // another process that opens the new file finds the table with its row, or no table
  db.execute("CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL)");
  db.execute("INSERT OR IGNORE INTO meta VALUES('format', ?)", kDatabaseFormat);
  db.execute("COMMIT");
  check_format(db);
  for (const char* table : kTables) db.execute(table);
  db.execute(fmt::format("CREATE TABLE IF NOT EXISTS result(run INTEGER, program INTEGER, configuration INTEGER, verdict TEXT, "
                         "reason TEXT{}, PRIMARY KEY(run, program, configuration)) WITHOUT ROWID",
                         columns_of_measures("", " INTEGER"))
                 .c_str());
}

void close_database(Sqlite& db) {
  db.set_patience(0);
  try {
    db.execute("PRAGMA journal_mode = DELETE");
  } catch (const BadInput&) {
    // In use.
  }
  db.set_patience(Sqlite::kPatience);
}

void require_database(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw BadInput(fmt::format("error: {}: No such file or directory", path));
  Sqlite db(path);
  check_format(db);
}

void require_unused(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path + "-wal", error)) return;
  if (!std::filesystem::exists(path, error)) {
    // Of a database that is gone: SQLite would take it for a part of the new one.
    for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(path + ending, error);
    return;
  }
  {
    // The log that a killed writer has left is written into the file. Refused while another process has the file open.
    Sqlite db(path);
    db.execute("PRAGMA locking_mode = EXCLUSIVE");
    db.execute("PRAGMA journal_mode = DELETE");
  }
  if (std::filesystem::exists(path + "-wal", error)) throw BadInput(fmt::format("error: {}: another process uses it", path));
}

std::int64_t begin_run(Sqlite& db, const RunInfo& info) {
  db.execute("INSERT INTO run(program, command, machine, started, mode, seed, first, next) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
             info.program, info.command, info.machine, microseconds_since_1970(), info.mode, info.seed, info.first, info.first);
  return db.last_id();
}

namespace {

// A database that an older version has written, and that nothing is written to now, has no such table.
bool has_answers(Sqlite& db, const std::string& schema) {
  Sqlite::Statement table(db,
                          fmt::format("SELECT 1 FROM {}sqlite_master WHERE type = 'table' AND name = 'answer'", schema).c_str());
  return table.step();
}

}  // namespace

void keep_answer(Sqlite& db, const std::string& input_hash, const std::string& allocator, const std::string& program) {
  db.execute("INSERT OR REPLACE INTO answer VALUES(?, ?, ?)", input_hash, allocator, program);
}

std::optional<std::string> read_answer(Sqlite& db, const std::string& input_hash, const std::string& allocator) {
  if (!has_answers(db, "")) return std::nullopt;
  Sqlite::Statement row(db, "SELECT program FROM answer WHERE input = ? AND allocator = ?", input_hash, allocator);
  return row.step() ? std::optional(row.text(0)) : std::nullopt;
}

void merge_runs(Sqlite& db) {
  db.execute(
      "INSERT INTO run(program, command, machine, started, seconds, mode, seed, first, next, allocations) SELECT program, command, "
      "machine, started, seconds, mode, seed, first, next, allocations FROM other.run WHERE true ORDER BY id ON CONFLICT DO UPDATE "
      "SET next = excluded.next, seconds = excluded.seconds, allocations = excluded.allocations WHERE excluded.next > next");
  db.execute(
      "INSERT OR IGNORE INTO program(hash, name, source, instructions, content) SELECT hash, name, source, instructions, content "
      "FROM other.program ORDER BY id");
  db.execute(
      "INSERT OR IGNORE INTO configuration(allocator, knobs, target, limits) SELECT allocator, knobs, target, limits FROM "
      "other.configuration ORDER BY id");
  const std::string join_run = "JOIN other.run r ON r.id = t.run JOIN main.run mine USING(started, machine, command, mode, seed)";
  const std::string join_all =
      join_run +
      " JOIN other.program p ON p.id = t.program JOIN main.program mp USING(hash) JOIN other.configuration c "
      "ON c.id = t.configuration JOIN main.configuration mc USING(allocator, knobs, target, limits)";
  const auto take = [&](const std::string& table, const std::string& columns, const std::string& join) {
    db.execute(fmt::format("INSERT OR REPLACE INTO {} SELECT {} FROM other.{} t {}", table, columns, table, join).c_str());
  };
  take("result", "mine.id, mp.id, mc.id, t.verdict, t.reason" + columns_of_measures("t."), join_all);
  take("objection", "mine.id, mp.id, mc.id, t.signature, t.message", join_all);
  take("verdict", "mine.id, t.allocator, t.verdict, t.cases", join_run);
  if (has_answers(db, "other.")) db.execute("INSERT OR IGNORE INTO answer SELECT input, allocator, program FROM other.answer");
  take("sample", "mine.id, t.time, t.next, t.inputs, t.features, t.edges, t.findings", join_run);
}

}  // namespace regduel::results
