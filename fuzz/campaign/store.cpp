// See store.h.
#include "fuzz/campaign/store.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/bad_input.h"
#include "base/counted.h"
#include "fuzz/triage/reduce.h"

namespace regduel::fuzz {
namespace {

constexpr std::uint32_t kMostFeatures = 1u << 24;
constexpr std::int64_t kCheckpointSeconds = 60;

std::int64_t now_seconds() { return results::microseconds_since_1970() / 1'000'000; }

results::Blob pack(const std::vector<std::uint32_t>& features) {
  results::Blob out;
  for (const std::uint32_t f : features)
    for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::uint8_t>(f >> (8 * k)));
  return out;
}

std::vector<std::uint32_t> unpack(const results::Blob& bytes) {
  std::vector<std::uint32_t> out(bytes.size() / 4);
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t b = 0; b < 4; ++b) out[k] |= static_cast<std::uint32_t>(bytes[4 * k + b]) << (8 * b);
  std::erase_if(out, [](std::uint32_t f) { return f >= kMostFeatures; });  // no build has them: the database is damaged
  return out;
}

}  // namespace

Store::Store(const std::string& path, results::RunInfo run) : db_(path), run_(std::move(run)), started_(now_seconds()) {
  results::open_database(db_);
}

void Store::begin() {
  if (!is_open_) db_.execute("BEGIN IMMEDIATE");
  is_open_ = true;
}

std::uint64_t Store::begin_session(std::uint64_t seed, const std::string& mode) {
  run_.seed = seed;
  run_.mode = mode;
  if (!db_.path().empty()) lock_.emplace(db_.path(), seed, mode);
  db_.execute("INSERT OR IGNORE INTO campaign VALUES(?, ?, 0)", seed, mode);
  results::Sqlite::Statement next(db_, "SELECT next FROM campaign WHERE seed = ? AND mode = ?", seed, mode);
  run_.first = next.step() ? static_cast<std::uint64_t>(next.integer(0)) : 0;
  return run_.first;
}

Earlier Store::earlier(const std::set<std::string>& present) {
  Earlier e;
  results::Sqlite::Statement sessions(db_, "SELECT count(*) FROM run WHERE seed = ? AND mode = ?", run_.seed, run_.mode);
  if (sessions.step()) e.sessions = static_cast<std::uint64_t>(sessions.integer(0));
  e.programs = run_.first;
  std::set<std::string> absent;
  const auto add = [&](const std::string& allocator, std::uint64_t& count) {
    if (present.contains(allocator)) {
      ++count;
    } else if (allocator != "unknown") {
      ++e.left_alone;
      absent.insert(allocator);
    }
  };
  for (const StoredFinding& f : findings()) add(f.failure.allocator, e.findings);
  for (const Sighting& s : sightings())
    if (s.reduced == 0) add(s.failure.allocator, e.not_understood);
  e.absent.assign(absent.begin(), absent.end());
  return e;
}

void Store::require_run() {
  begin();
  if (run_id_ != 0) return;
  run_id_ = results::begin_run(db_, run_);
  results_.emplace(db_, run_id_);
}

void Store::add(const results::CaseResults& results) {
  require_run();
  results_->add(results);
}

std::vector<StoredInput> Store::inputs() {
  std::vector<StoredInput> result;
  results::Sqlite::Statement rows(
      db_, "SELECT hash, input, features, program = ?, pinned, instructions FROM input ORDER BY instructions, hash", run_.program);
  while (rows.step())
    result.push_back({rows.text(0), rows.blob(1), unpack(rows.blob(2)), rows.integer(4) != 0,
                      static_cast<std::uint32_t>(rows.integer(5)), rows.integer(3) != 0});
  return result;
}

void Store::add(const StoredInput& input) {
  begin();
  db_.execute(
      "INSERT INTO input VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(hash) DO UPDATE SET features = excluded.features, program = "
      "excluded.program, "
      "pinned = max(pinned, excluded.pinned)",
      input.hash, input.input, pack(input.features), run_.program, input.is_pinned ? 1 : 0, input.instructions, now_seconds());
}

void Store::remove_input(const std::string& hash) {
  begin();
  db_.execute("DELETE FROM input WHERE hash = ? AND NOT pinned", hash);
}

std::vector<Sighting> Store::sightings() {
  std::vector<Sighting> result;
  results::Sqlite::Statement rows(
      db_, "SELECT allocator, signature, message, count, reduced, input FROM sighting ORDER BY allocator, signature");
  while (rows.step())
    result.push_back({{rows.text(0), rows.text(1)},
                      rows.text(2),
                      static_cast<std::uint64_t>(rows.integer(3)),
                      static_cast<std::uint64_t>(rows.integer(4)),
                      rows.blob(5)});
  return result;
}

std::uint64_t Store::saw(const Failure& f, const std::string& message, const results::Blob& input) {
  begin();
  db_.execute(
      "INSERT INTO sighting VALUES(?, ?, ?, 1, 0, ?, ?, ?) ON CONFLICT(allocator, signature) DO UPDATE SET count = count + 1, "
      "last_seen = excluded.last_seen",
      f.allocator, f.signature, message, input, now_seconds(), now_seconds());
  results::Sqlite::Statement count(db_, "SELECT count FROM sighting WHERE allocator = ? AND signature = ?", f.allocator,
                                   f.signature);
  return count.step() ? static_cast<std::uint64_t>(count.integer(0)) : 0;
}

void Store::reduced(const Failure& f) {
  begin();
  db_.execute("UPDATE sighting SET reduced = reduced + 1 WHERE allocator = ? AND signature = ?", f.allocator, f.signature);
}

void Store::forget(const Failure& f) {
  begin();
  db_.execute("DELETE FROM sighting WHERE allocator = ? AND signature = ?", f.allocator, f.signature);
}

std::vector<StoredFinding> Store::findings() {
  std::vector<StoredFinding> result;
  results::Sqlite::Statement rows(
      db_, "SELECT bucket, allocator, signature, decision, state, count, instructions, input FROM finding ORDER BY bucket");
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

void Store::keep_answer(const results::Blob& input, const std::string& allocator, const std::string& program) {
  begin();
  results::keep_answer(db_, results::content_hash(input), allocator, program);
}

std::string Store::answer_to(const results::Blob& input, const std::string& allocator) {
  return results::read_answer(db_, results::content_hash(input), allocator).value_or("");
}

bool Store::add(const Understood& u) {
  begin();
  const results::Blob input = duel::encode_case(u.reduced);
  const auto instructions = u.reduced.program.insts.size();
  results::Sqlite::Statement known(db_, "SELECT instructions FROM finding WHERE bucket = ?", u.bucket);
  if (!known.step()) {
    db_.execute("INSERT INTO finding VALUES(?, ?, ?, ?, 'crashing', 0, 1, ?, ?, ?, ?, ?)", u.bucket, u.failure.allocator,
                u.failure.signature, u.decision, instructions, input, run_.program, now_seconds(), now_seconds());
    return true;
  }
  db_.execute("UPDATE finding SET count = count + 1, state = 'crashing', passes = 0, program = ?, last_seen = ? WHERE bucket = ?",
              run_.program, now_seconds(), u.bucket);
  if (static_cast<std::int64_t>(instructions) < known.integer(0))
    db_.execute("UPDATE finding SET allocator = ?, signature = ?, decision = ?, instructions = ?, input = ? WHERE bucket = ?",
                u.failure.allocator, u.failure.signature, u.decision, instructions, input, u.bucket);
  return false;
}

std::string Store::tried_again(const std::string& bucket, bool fails, const std::string& version) {
  begin();
  if (fails) {
    db_.execute("UPDATE finding SET state = 'crashing', passes = 0, program = ? WHERE bucket = ?", version, bucket);
  } else {
    // Another look by the same version tells nothing new.
    db_.execute("UPDATE finding SET passes = passes + 1, program = ?1 WHERE bucket = ?2 AND (program <> ?1 OR passes = 0)", version,
                bucket);
    db_.execute("UPDATE finding SET state = CASE WHEN passes >= ? THEN 'regression' ELSE 'incubating' END WHERE bucket = ?",
                kIncubation, bucket);
  }
  results::Sqlite::Statement state(db_, "SELECT state FROM finding WHERE bucket = ?", bucket);
  return state.step() ? state.text(0) : "";
}

void Store::commit(const Standing& s, const Tally& tally) {
  require_run();
  const std::int64_t now = now_seconds();
  db_.execute("UPDATE campaign SET next = ? WHERE seed = ? AND mode = ?", s.next_index, run_.seed, run_.mode);
  db_.execute("UPDATE run SET next = ?, seconds = ?, allocations = ? WHERE id = ?", s.next_index, now - started_,
              tally.allocations(), run_id_);
  for (const Tally::Row& row : tally.rows()) {
    const std::pair<const char*, std::uint64_t> counts[] = {{"pass", row.pass},
                                                            {"fail", row.fail},
                                                            {"inconclusive", row.inconclusive},
                                                            {"impossible", row.impossible},
                                                            {"unsupported", row.unsupported}};
    for (const auto& [verdict, cases] : counts)
      if (cases > 0) db_.execute("INSERT OR REPLACE INTO verdict VALUES(?, ?, ?, ?)", run_id_, row.allocator, verdict, cases);
  }
  if (now != last_sample_)
    db_.execute("INSERT OR REPLACE INTO sample VALUES(?, ?, ?, ?, ?, ?, ?)", run_id_, now, s.next_index, s.inputs, s.features,
                s.edges, s.findings);
  last_sample_ = now;
  db_.execute("COMMIT");
  is_open_ = false;
  if (now - std::max(last_checkpoint_, started_) < kCheckpointSeconds) return;
  last_checkpoint_ = now;
  db_.execute("PRAGMA wal_checkpoint(PASSIVE)");  // readers and other writers go on
}

void Store::finish() {
  if (is_open_) db_.execute("COMMIT");
  is_open_ = false;
  results::close_database(db_);
  lock_.reset();
}

std::string Store::totals() {
  results::Sqlite::Statement sums(db_, "SELECT count(*), count(DISTINCT seed), sum(next - first), sum(allocations) FROM run");
  results::Sqlite::Statement counts(
      db_,
      "SELECT (SELECT count(*) FROM finding WHERE signature NOT LIKE 'gap/%' AND signature NOT LIKE "
      "'cliff/%'), (SELECT count(*) FROM sighting WHERE reduced = 0 AND signature NOT LIKE 'gap/%' AND "
      "signature NOT LIKE 'cliff/%'), (SELECT count(*) FROM input)");
  if (!sums.step() || !counts.step()) return "";
  const std::int64_t unreduced = counts.integer(1);
  return fmt::format("{} over {}: {}, {} judged, {}{}, {}", counted(sums.integer(0), "session"), counted(sums.integer(1), "seed"),
                     counted(sums.integer(2), "program"), counted(sums.integer(3), "allocation"),
                     counted(counts.integer(0), "finding"), unreduced > 0 ? fmt::format(" and {} not reduced yet", unreduced) : "",
                     counted(counts.integer(2), "input"));
}

void Store::merge(const std::string& other) {
  results::require_database(other);
  db_.execute("ATTACH DATABASE ? AS other", other);
  db_.execute("BEGIN IMMEDIATE");
  results::merge_runs(db_);
  db_.execute(
      "INSERT INTO campaign SELECT * FROM other.campaign WHERE true ON CONFLICT DO UPDATE SET next = max(next, excluded.next)");
  db_.execute(
      "INSERT INTO input SELECT * FROM other.input WHERE true ON CONFLICT DO UPDATE SET pinned = max(pinned, excluded.pinned)");
  db_.execute(
      "INSERT INTO sighting SELECT * FROM other.sighting WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count, "
      "reduced = reduced + excluded.reduced, "
      "first_seen = min(first_seen, excluded.first_seen), last_seen = max(last_seen, excluded.last_seen)");
  // The smaller case stays. The state is that of the later look; a case that fails in either still fails.
  db_.execute(
      "INSERT INTO finding SELECT * FROM other.finding WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count, "
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
