// See sqlite.h.
#include "results/sqlite.h"

#include <fmt/format.h>

#include "base/bad_input.h"

namespace regduel::results {

Sqlite::Sqlite(const std::string& path) : path_(path) {
  if (sqlite3_open(path.empty() ? ":memory:" : path.c_str(), &db_) == SQLITE_OK) {
    set_patience(kPatience);
    return;
  }
  const std::string why = sqlite3_errmsg(db_);
  sqlite3_close(db_);
  throw BadInput(fmt::format("error: {}: {}", path, why));
}

void Sqlite::fail() const { throw BadInput(fmt::format("error: {}: {}", path_, sqlite3_errmsg(db_))); }

void Sqlite::Statement::check(int status) const {
  if (status != SQLITE_OK) db_.fail();
}

void Sqlite::Statement::prepare(const char* sql) { check(sqlite3_prepare_v2(db_.db_, sql, -1, &statement_, nullptr)); }

bool Sqlite::Statement::step() {
  const int status = sqlite3_step(statement_);
  if (status != SQLITE_ROW && status != SQLITE_DONE) db_.fail();
  return status == SQLITE_ROW;
}

std::string Sqlite::Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

Blob Sqlite::Statement::blob(int column) const {
  const auto* const bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  return bytes == nullptr ? Blob() : Blob(bytes, bytes + sqlite3_column_bytes(statement_, column));
}

}  // namespace regduel::results
