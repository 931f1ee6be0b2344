// See store.h.
#include "fuzz/campaign/store.h"

#include <chrono>
#include <cstring>
#include <map>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bad_input.h"
#include "fuzz/triage/reduce.h"

namespace regduel::fuzz {
namespace {

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS campaigns(seed INTEGER, mode TEXT, next_index INTEGER NOT NULL, PRIMARY KEY(seed, mode))",
    "CREATE TABLE IF NOT EXISTS sessions(id INTEGER PRIMARY KEY, seed INTEGER, mode TEXT, first INTEGER, next INTEGER, program "
    "TEXT, started INTEGER, "
    "seconds INTEGER, allocations INTEGER, summary TEXT, UNIQUE(seed, mode, first, program, started))",
    "CREATE TABLE IF NOT EXISTS progress(session INTEGER, time INTEGER, next INTEGER, inputs INTEGER, features INTEGER, edges "
    "INTEGER, findings INTEGER, "
    "PRIMARY KEY(session, time))",
    "CREATE TABLE IF NOT EXISTS inputs(hash TEXT PRIMARY KEY, input BLOB NOT NULL, features BLOB NOT NULL, program TEXT, pinned "
    "INTEGER, instructions INTEGER, "
    "found INTEGER)",
    "CREATE TABLE IF NOT EXISTS sightings(allocator TEXT, signature TEXT, message TEXT, count INTEGER, reduced INTEGER, input "
    "BLOB, first_seen INTEGER, "
    "last_seen INTEGER, PRIMARY KEY(allocator, signature))",
    "CREATE TABLE IF NOT EXISTS findings(bucket TEXT PRIMARY KEY, allocator TEXT, signature TEXT, decision TEXT, state TEXT, "
    "passes INTEGER, count INTEGER, "
    "instructions INTEGER, input BLOB, program TEXT, first_seen INTEGER, last_seen INTEGER)"};

Blob pack(const std::vector<std::uint32_t>& features) {
  Blob out;
  for (const std::uint32_t f : features)
    for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::uint8_t>(f >> (8 * k)));
  return out;
}

std::vector<std::uint32_t> unpack(const Blob& bytes) {
  std::vector<std::uint32_t> out(bytes.size() / 4);
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t b = 0; b < 4; ++b) out[k] |= static_cast<std::uint32_t>(bytes[4 * k + b]) << (8 * b);
  return out;
}

}  // namespace

std::string input_hash(const Blob& input) {
  const XXH128_hash_t h = XXH3_128bits(input.data(), input.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

Store::Store(const std::string& path, std::string version) : db_(path), version_(std::move(version)), started_(now_seconds()) {
  db_.execute("PRAGMA journal_mode = WAL");
  db_.execute("PRAGMA synchronous = NORMAL");
  db_.execute("CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL)");
  db_.execute("INSERT OR IGNORE INTO meta VALUES('format', ?)", kDatabaseVersion);
  Sqlite::Statement format(db_, "SELECT value FROM meta WHERE key = 'format'");
  if (!format.step() || format.integer(0) != kDatabaseVersion)
    throw BadInput(fmt::format("error: {}: a database of version {} (this program knows version {})", path, format.integer(0),
                               kDatabaseVersion));
  for (const char* table : kTables) db_.execute(table);
}

void Store::begin() {
  if (!is_open_) db_.execute("BEGIN IMMEDIATE");
  is_open_ = true;
}

std::uint64_t Store::begin_session(std::uint64_t seed, const std::string& mode) {
  seed_ = seed;
  mode_ = mode;
  db_.execute("INSERT OR IGNORE INTO campaigns VALUES(?, ?, 0)", seed, mode);
  Sqlite::Statement next(db_, "SELECT next_index FROM campaigns WHERE seed = ? AND mode = ?", seed, mode);
  first_ = next.step() ? static_cast<std::uint64_t>(next.integer(0)) : 0;
  return first_;
}

std::vector<StoredInput> Store::inputs() {
  std::vector<StoredInput> result;
  Sqlite::Statement rows(
      db_, "SELECT hash, input, features, program = ?, pinned, instructions FROM inputs ORDER BY instructions, hash", version_);
  while (rows.step())
    result.push_back({rows.text(0), rows.blob(1), unpack(rows.blob(2)), rows.integer(4) != 0,
                      static_cast<std::uint32_t>(rows.integer(5)), rows.integer(3) != 0});
  return result;
}

void Store::add(const StoredInput& input) {
  begin();
  db_.execute(
      "INSERT INTO inputs VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(hash) DO UPDATE SET features = excluded.features, program = "
      "excluded.program, "
      "pinned = max(pinned, excluded.pinned)",
      input.hash, input.input, pack(input.features), version_, input.is_pinned ? 1 : 0, input.instructions, now_seconds());
}

void Store::remove_input(const std::string& hash) {
  begin();
  db_.execute("DELETE FROM inputs WHERE hash = ? AND NOT pinned", hash);
}

std::vector<Sighting> Store::sightings() {
  std::vector<Sighting> result;
  Sqlite::Statement rows(
      db_, "SELECT allocator, signature, message, count, reduced, input FROM sightings ORDER BY allocator, signature");
  while (rows.step())
    result.push_back({{rows.text(0), rows.text(1)},
                      rows.text(2),
                      static_cast<std::uint64_t>(rows.integer(3)),
                      static_cast<std::uint64_t>(rows.integer(4)),
                      rows.blob(5)});
  return result;
}

std::uint64_t Store::saw(const Failure& f, const std::string& message, const Blob& input) {
  begin();
  db_.execute(
      "INSERT INTO sightings VALUES(?, ?, ?, 1, 0, ?, ?, ?) ON CONFLICT(allocator, signature) DO UPDATE SET count = count + 1, "
      "last_seen = excluded.last_seen",
      f.allocator, f.signature, message, input, now_seconds(), now_seconds());
  Sqlite::Statement count(db_, "SELECT count FROM sightings WHERE allocator = ? AND signature = ?", f.allocator, f.signature);
  return count.step() ? static_cast<std::uint64_t>(count.integer(0)) : 0;
}

void Store::reduced(const Failure& f) {
  begin();
  db_.execute("UPDATE sightings SET reduced = reduced + 1 WHERE allocator = ? AND signature = ?", f.allocator, f.signature);
}

void Store::forget(const Failure& f) {
  begin();
  db_.execute("DELETE FROM sightings WHERE allocator = ? AND signature = ?", f.allocator, f.signature);
}

std::vector<StoredFinding> Store::findings() {
  std::vector<StoredFinding> result;
  Sqlite::Statement rows(
      db_, "SELECT bucket, allocator, signature, decision, state, count, instructions, input FROM findings ORDER BY bucket");
  while (rows.step())
    result.push_back({rows.text(0),
                      {rows.text(1), rows.text(2)},
                      rows.text(3),
                      rows.text(4),
                      static_cast<std::uint64_t>(rows.integer(5)),
                      static_cast<std::uint32_t>(rows.integer(6)),
                      rows.blob(7)});
  return result;
}

bool Store::add(const Understood& u) {
  begin();
  const Blob input = encode_input(u.reduced);
  const auto instructions = u.reduced.program.insts.size();
  Sqlite::Statement known(db_, "SELECT instructions FROM findings WHERE bucket = ?", u.bucket);
  if (!known.step()) {
    db_.execute("INSERT INTO findings VALUES(?, ?, ?, ?, 'crashing', 0, 1, ?, ?, ?, ?, ?)", u.bucket, u.failure.allocator,
                u.failure.signature, u.decision, instructions, input, version_, now_seconds(), now_seconds());
    return true;
  }
  db_.execute("UPDATE findings SET count = count + 1, state = 'crashing', passes = 0, program = ?, last_seen = ? WHERE bucket = ?",
              version_, now_seconds(), u.bucket);
  if (static_cast<std::int64_t>(instructions) < known.integer(0))
    db_.execute("UPDATE findings SET allocator = ?, signature = ?, decision = ?, instructions = ?, input = ? WHERE bucket = ?",
                u.failure.allocator, u.failure.signature, u.decision, instructions, input, u.bucket);
  return false;
}

std::string Store::tried_again(const std::string& bucket, bool fails, const std::string& version) {
  begin();
  if (fails) {
    db_.execute("UPDATE findings SET state = 'crashing', passes = 0, program = ? WHERE bucket = ?", version, bucket);
  } else {
    // Another look by the same version tells nothing new.
    db_.execute("UPDATE findings SET passes = passes + 1, program = ?1 WHERE bucket = ?2 AND (program <> ?1 OR passes = 0)",
                version, bucket);
    db_.execute("UPDATE findings SET state = CASE WHEN passes >= ? THEN 'regression' ELSE 'incubating' END WHERE bucket = ?",
                kIncubation, bucket);
  }
  Sqlite::Statement state(db_, "SELECT state FROM findings WHERE bucket = ?", bucket);
  return state.step() ? state.text(0) : "";
}

void Store::commit(const Standing& s, const Tally& tally) {
  begin();
  const std::int64_t now = now_seconds();
  db_.execute("UPDATE campaigns SET next_index = ? WHERE seed = ? AND mode = ?", s.next_index, seed_, mode_);
  if (session_ == 0) {
    db_.execute("INSERT OR REPLACE INTO sessions(seed, mode, first, program, started) VALUES(?, ?, ?, ?, ?)", seed_, mode_, first_,
                version_, started_);
    session_ = db_.last_id();
  }
  db_.execute("UPDATE sessions SET next = ?, seconds = ?, allocations = ?, summary = ? WHERE id = ?", s.next_index, now - started_,
              tally.allocations(), tally.json().dump(), session_);
  if (now != last_progress_)
    db_.execute("INSERT OR REPLACE INTO progress VALUES(?, ?, ?, ?, ?, ?, ?)", session_, now, s.next_index, s.inputs, s.features,
                s.edges, s.findings);
  last_progress_ = now;
  db_.execute("COMMIT");
  is_open_ = false;
}

void Store::finish() {
  if (is_open_) db_.execute("COMMIT");
  is_open_ = false;
  db_.execute("PRAGMA journal_mode = DELETE");
}

std::string Store::totals() {
  Sqlite::Statement sums(db_, "SELECT count(*), count(DISTINCT seed), sum(next - first), sum(allocations) FROM sessions");
  Sqlite::Statement counts(db_, "SELECT (SELECT count(*) FROM findings), (SELECT count(*) FROM inputs)");
  if (!sums.step() || !counts.step()) return "";
  return fmt::format("{} sessions over {} seeds: {} programs, {} allocations judged, {} findings, {} inputs", sums.integer(0),
                     sums.integer(1), sums.integer(2), sums.integer(3), counts.integer(0), counts.integer(1));
}

void Store::merge(const std::string& other) {
  {
    const Store checked(other);
  }  // complains about what is no database of ours
  db_.execute("ATTACH DATABASE ? AS other", other);
  db_.execute("BEGIN IMMEDIATE");
  db_.execute(
      "INSERT INTO campaigns SELECT * FROM other.campaigns WHERE true ON CONFLICT DO UPDATE SET next_index = max(next_index, "
      "excluded.next_index)");
  // The same session in a later copy of the same file has more in it.
  db_.execute(
      "INSERT INTO sessions(seed, mode, first, next, program, started, seconds, allocations, summary) SELECT seed, mode, first, "
      "next, program, started, seconds, "
      "allocations, summary FROM other.sessions WHERE true ORDER BY id ON CONFLICT DO UPDATE SET next = excluded.next, seconds = "
      "excluded.seconds, "
      "allocations = excluded.allocations, summary = excluded.summary WHERE excluded.next > next");
  db_.execute(
      "INSERT OR REPLACE INTO progress SELECT mine.id, time, p.next, inputs, features, edges, findings FROM other.progress p JOIN "
      "other.sessions theirs ON "
      "theirs.id = p.session JOIN main.sessions mine USING(seed, mode, first, program, started)");
  db_.execute(
      "INSERT INTO inputs SELECT * FROM other.inputs WHERE true ON CONFLICT DO UPDATE SET pinned = max(pinned, excluded.pinned)");
  db_.execute(
      "INSERT INTO sightings SELECT * FROM other.sightings WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count, "
      "reduced = reduced + excluded.reduced, "
      "first_seen = min(first_seen, excluded.first_seen), last_seen = max(last_seen, excluded.last_seen)");
  // The smaller case stays. The state is that of the later look; a case that fails in either still fails.
  db_.execute(
      "INSERT INTO findings SELECT * FROM other.findings WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count, "
      "state = CASE WHEN last_seen >= excluded.last_seen THEN state ELSE excluded.state END, "
      "passes = CASE WHEN last_seen >= excluded.last_seen THEN passes ELSE excluded.passes END, "
      "allocator = CASE WHEN instructions <= excluded.instructions THEN allocator ELSE excluded.allocator END, "
      "signature = CASE WHEN instructions <= excluded.instructions THEN signature ELSE excluded.signature END, "
      "decision = CASE WHEN instructions <= excluded.instructions THEN decision ELSE excluded.decision END, "
      "input = CASE WHEN instructions <= excluded.instructions THEN input ELSE excluded.input END, "
      "instructions = min(instructions, excluded.instructions), first_seen = min(first_seen, excluded.first_seen), last_seen = "
      "max(last_seen, excluded.last_seen)");
  db_.execute("COMMIT");
  db_.execute("DETACH DATABASE other");
}

}  // namespace regduel::fuzz
