#include "cli/campaign_db.h"

#include <sqlite3.h>

#include <chrono>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include "cli/command.h"
#include "ir/text.h"

namespace regduel::cli {
namespace {

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A prepared statement.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& path, const char* sql) : db_(db), path_(path) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) fail();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class Value>
  void bind(int at, const Value& value) {
    int status = SQLITE_OK;
    if constexpr (std::is_integral_v<Value>) status = sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(value));
    else status = sqlite3_bind_text(statement_, at, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
    if (status != SQLITE_OK) fail();
  }
  // True while there is a row.
  bool step() {
    const int status = sqlite3_step(statement_);
    if (status != SQLITE_ROW && status != SQLITE_DONE) fail();
    return status == SQLITE_ROW;
  }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  [[noreturn]] void fail() const { throw BadInput(fmt::format("error: {}: {}", path_, sqlite3_errmsg(db_))); }

  sqlite3* db_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace

template <class... Values>
void CampaignDb::execute(const char* sql, const Values&... values) {
  Statement statement(db_, path_, sql);
  int at = 0;
  (statement.bind(++at, values), ...);
  while (statement.step()) {
  }
}
void CampaignDb::execute(const char* sql) { execute<>(sql); }

CampaignDb::CampaignDb(const std::string& path, std::uint64_t seed) : path_(path), seed_(seed) {
  if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(db_);
    sqlite3_close(db_);
    throw BadInput(fmt::format("error: {}: {}", path, why));
  }
  try {
    sqlite3_busy_timeout(db_, 10'000);
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = NORMAL");
    execute("CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL)");
    execute("INSERT OR IGNORE INTO meta VALUES('format', ?)", kDatabaseVersion);
    Statement version(db_, path_, "SELECT value FROM meta WHERE key = 'format'");
    if (!version.step() || version.integer(0) < 1 || version.integer(0) > kDatabaseVersion)
      throw BadInput(fmt::format("error: {}: a database of another version (this program knows up to {})", path, kDatabaseVersion));
    execute("UPDATE meta SET value = ? WHERE key = 'format'", kDatabaseVersion);  // version 1 lacks nothing but a table
    execute("CREATE TABLE IF NOT EXISTS campaigns(seed INTEGER PRIMARY KEY, next_index INTEGER NOT NULL)");
    execute("CREATE TABLE IF NOT EXISTS rates(seed INTEGER, time INTEGER, duels INTEGER, findings INTEGER)");
    execute(
        "CREATE TABLE IF NOT EXISTS findings(seed INTEGER, allocator TEXT, signature TEXT, message TEXT, count INTEGER, replay TEXT, "
        "program TEXT, PRIMARY KEY(seed, allocator, signature))");
    execute(
        "CREATE TABLE IF NOT EXISTS sessions(id INTEGER PRIMARY KEY, seed INTEGER, first INTEGER, next INTEGER, program TEXT, "
        "started INTEGER, seconds INTEGER, allocations INTEGER, summary TEXT)");
    execute("INSERT OR IGNORE INTO campaigns VALUES(?, 0)", seed_);
    Statement resume(db_, path_, "SELECT next_index FROM campaigns WHERE seed = ?");
    resume.bind(1, seed_);
    if (resume.step()) next_index_ = static_cast<std::uint64_t>(resume.integer(0));
    started_ = now_seconds();
  } catch (...) {
    sqlite3_close_v2(db_);
    throw;
  }
}

CampaignDb::~CampaignDb() { sqlite3_close_v2(db_); }

void CampaignDb::add(const DuelCase& c, const fuzz::Bout& bout) {
  const std::vector<std::string> signatures = bout.signatures();
  std::set<std::string> seen;
  const std::string replay = replay_arguments(c, bout.allocator);
  const std::string program = fmt::format("rir {}\n{}", ir::kTextVersion, ir::print(c.program));
  for (std::size_t k = 0; k < signatures.size(); ++k)
    if (seen.insert(signatures[k]).second)
      execute(
          "INSERT INTO findings VALUES(?, ?, ?, ?, 1, ?, ?) ON CONFLICT(seed, allocator, signature) DO UPDATE SET count = count + 1", seed_,
          bout.allocator, signatures[k], bout.findings[k].message, replay, program);
}

void CampaignDb::done(std::uint64_t next_index, std::uint64_t findings, const Tally& tally) {
  next_index_ = next_index;
  findings_ = findings;
  dirty_ = true;
  if (now_seconds() > last_write_) flush(tally);
}

void CampaignDb::flush(const Tally& tally) {
  if (!dirty_) return;
  dirty_ = false;
  last_write_ = now_seconds();
  execute("BEGIN");
  execute("UPDATE campaigns SET next_index = ? WHERE seed = ?", next_index_, seed_);
  execute("INSERT INTO rates VALUES(?, ?, ?, ?)", seed_, last_write_, next_index_, findings_);
  if (session_ == 0) {
    execute("INSERT INTO sessions(seed, first, program, started) VALUES(?, ?, ?, ?)", seed_, next_index_ - tally.cases(), program_version(), started_);
    session_ = sqlite3_last_insert_rowid(db_);
  }
  execute("UPDATE sessions SET next = ?, seconds = ?, allocations = ?, summary = ? WHERE id = ?", next_index_, last_write_ - started_,
          tally.allocations(), tally.json().dump(), session_);
  execute("COMMIT");
}

std::string CampaignDb::totals() {
  Statement sums(db_, path_, "SELECT count(*), count(DISTINCT seed), sum(next - first), sum(allocations) FROM sessions");
  Statement findings(db_, path_, "SELECT count(DISTINCT signature) FROM findings");
  sums.step();
  findings.step();
  return fmt::format("{} sessions over {} seeds: {} programs, {} allocations judged, {} distinct findings", sums.integer(0), sums.integer(1),
                     sums.integer(2), sums.integer(3), findings.integer(0));
}

}  // namespace regduel::cli
