// SQLite, as far as the database (schema.h) needs it: statements with parameters, errors as BadInput.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace regduel::results {

using Blob = std::vector<std::uint8_t>;

class Sqlite {
 public:
  // Opens or makes the file; "" = in memory. Throws BadInput, as all that follows does.
  explicit Sqlite(const std::string& path);
  ~Sqlite() { sqlite3_close_v2(db_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  class Statement {
   public:
    // The values stand for the question marks, in their order.
    template <class... Values>
    Statement(Sqlite& db, const char* sql, const Values&... values) : db_(db) {
      prepare(sql);
      int at = 0;
      (bind(++at, values), ...);
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // The value of one question mark, from 1; nothing = NULL.
    void bind_at(int at, std::optional<std::int64_t> value) { bind(at, value); }

    [[nodiscard]] bool step();  // true while there is a row
    [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] Blob blob(int column) const;

   private:
    void prepare(const char* sql);
    template <class Value>
    void bind(int at, const Value& value) {
      if constexpr (std::is_integral_v<Value>) check(sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(value)));
      else if constexpr (std::is_same_v<Value, Blob>)
        check(sqlite3_bind_blob64(statement_, at, value.empty() ? reinterpret_cast<const std::uint8_t*>("") : value.data(),
                                  value.size(), SQLITE_TRANSIENT));
      else if constexpr (requires { value.has_value(); }) {
        if (value) bind(at, *value);
        else check(sqlite3_bind_null(statement_, at));
      } else {
        const std::string_view text = value;
        check(sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
      }
    }
    void check(int status) const;

    Sqlite& db_;
    sqlite3_stmt* statement_ = nullptr;
  };

  // Whether the file can only be read.
  [[nodiscard]] bool is_read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }
  // How many milliseconds a statement waits for another process.
  void set_patience(int milliseconds) { sqlite3_busy_timeout(db_, milliseconds); }
  static constexpr int kPatience = 10'000;

  template <class... Values>
  void execute(const char* sql, const Values&... values) {
    Statement statement(*this, sql, values...);
    while (statement.step()) {
    }
  }
  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(db_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  sqlite3* db_ = nullptr;
};

}  // namespace regduel::results
