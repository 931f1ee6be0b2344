// Knobs: the description of each, and one table type that binds knobs to the members of a settings struct and reads their values.
//
// A value is read by the type of its member. A boolean is 0, 1, false, true, off or on; an integer is a decimal number in the range
// of its row. A folder with a type of its own gives it three functions, found by argument-dependent lookup: read_knob,
// knob_words and knob_text. Tested by knobs_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace regduel::ir {

// Name and value; of two settings of one knob the later wins.
using KnobSettings = std::span<const std::pair<std::string, std::string>>;

// The purpose of a knob. infos() does not list knobs of group Internal, which only callers in this program set.
enum class KnobGroup : std::uint8_t { Other, Coalescing, Internal };

struct KnobInfo {
  std::string name;
  int id = -1;  // number in the source, -1 = known by name only, or our own
  std::string type = {}, default_value = {}, source = {}, help = {};
  // Legal values worth trying: the ends of the range and a few between. Random knobs come from here; a knob without samples is
  // set on purpose only.
  std::vector<std::string> samples = {};
  KnobGroup group = KnobGroup::Other;
  std::string low = {}, high = {};  // of a number whose `type` does not name its range; both included
};

// The fields that most rows of a table fill in.
[[nodiscard]] inline KnobInfo knob(std::string name, std::string source, std::string help, std::vector<std::string> samples = {},
                                   KnobGroup group = KnobGroup::Other) {
  return {
      .name = std::move(name), .source = std::move(source), .help = std::move(help), .samples = std::move(samples), .group = group};
}

// Of a number; both included.
struct KnobRange {
  std::int64_t low = 0, high = 1'000'000'000;
};

// Each reads a value of one type, and returns false, without a change, for a text that is no such value.
[[nodiscard]] bool read_knob(std::string_view text, KnobRange range, bool& value);
[[nodiscard]] bool read_knob(std::string_view text, KnobRange range, int& value);
[[nodiscard]] bool read_knob(std::string_view text, KnobRange range, std::int64_t& value);
// The values of a type in words: "bool", "int 1 to 1000".
[[nodiscard]] std::string knob_words(KnobRange range, bool value);
[[nodiscard]] std::string knob_words(KnobRange range, int value);
[[nodiscard]] std::string knob_words(KnobRange range, std::int64_t value);
[[nodiscard]] std::string knob_text(bool value);
[[nodiscard]] std::string knob_text(int value);
[[nodiscard]] std::string knob_text(std::int64_t value);

// The two errors, on one line each; `owner` is the allocator, pass or judge that was asked.
[[nodiscard]] std::string unknown_knob(std::string_view owner, std::string_view name);
[[nodiscard]] std::string bad_knob_value(std::string_view name, std::string_view expected, std::string_view found);
// Whether a setting by this name, or by this decimal number, means the knob.
[[nodiscard]] bool is_called(const KnobInfo& knob, std::string_view name);

// A table lives as long as the program, because Allocator::knobs() and Pass::knobs() hand on the span of infos().
template <class Settings>
class KnobTable {
 public:
  using Read = std::function<bool(Settings&, std::string_view)>;  // false: the knob cannot have the value

  struct Row {
    // Binds to a member: `member` is a pointer to it, or a function from Settings& to a reference. Where `info` has no type and no
    // default, both follow from the member.
    template <class Member>
    Row(KnobInfo told, Member member, KnobRange range = {})
        : info(std::move(told)), expected(knob_words(range, value_of(Settings(), member))),
          read([member, range](Settings& s, std::string_view text) { return read_knob(text, range, std::invoke(member, s)); }),
          default_of([member](Settings s) { return knob_text(value_of(std::move(s), member)); }) {}
    //   words   the values that `reader` takes, as the error names them
    Row(KnobInfo told, std::string words, Read reader)
        : info(std::move(told)), expected(std::move(words)), read(std::move(reader)) {}

    KnobInfo info;
    std::string expected;
    Read read;
    std::function<std::string(Settings)> default_of = {};  // its value in some settings; empty = `info` has the default

   private:
    template <class Member>
    static auto value_of(Settings s, Member member) {
      return std::invoke(member, s);
    }
  };

  //   standard   the settings where nothing is set
  KnobTable(std::string owner, std::vector<Row> rows, Settings standard = {})
      : owner_(std::move(owner)), rows_(std::move(rows)), standard_(std::move(standard)) {
    for (Row& row : rows_) {
      if (row.info.type.empty()) row.info.type = row.expected;
      if (row.info.default_value.empty() && row.default_of) row.info.default_value = row.default_of(standard_);
      if (row.info.group != KnobGroup::Internal) infos_.push_back(row.info);
    }
  }

  [[nodiscard]] std::span<const KnobInfo> infos() const { return infos_; }

  [[nodiscard]] std::expected<void, std::string> set(Settings& settings, std::string_view name, std::string_view value) const {
    const auto row = std::ranges::find_if(rows_, [&](const Row& r) { return is_called(r.info, name); });
    if (row == rows_.end()) return std::unexpected(unknown_knob(owner_, name));
    if (!row->read(settings, value)) return std::unexpected(bad_knob_value(row->info.name, row->expected, value));
    return {};
  }
  [[nodiscard]] std::expected<Settings, std::string> parse(KnobSettings list) const {
    Settings settings = standard_;
    for (const auto& [name, value] : list)
      if (auto is_set = set(settings, name, value); !is_set) return std::unexpected(std::move(is_set.error()));
    return settings;
  }

 private:
  std::string owner_;
  std::vector<Row> rows_;
  Settings standard_;
  std::vector<KnobInfo> infos_;
};

}  // namespace regduel::ir
