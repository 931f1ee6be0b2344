// Which temps hold the same contents: interference by value (Boissinot, Darte, Rastello, de Dinechin, Guillon 2009) takes two temps
// for one value wherever copies have made them equal.
//
// A temp differs from another one at a point if some path leads there on which both are defined and hold different contents:
//
//   copy  x := y    differ(x, z) := differ(y, z), differ(x, y) := no
//   other def of x  differ(x, z) := yes, for each z that some def reaches
//   join            differ(x, z) := that on some edge
//
// Each transfer function takes a union to the union of its results. So the least solution is the answer over all paths. Only pairs
// that whole copies within a file connect are looked at; all others differ. Slots, and values that are computed again, have contents
// as well: a refill copies from its slot, and a remat what the def that it repeats computed. On a path on which one of the two is undefined, reading
// it may see anything, so such a path makes no difference. But a copy that is executed there destroys what was in its register, so it is also
// known whether some byte of a temp is undefined on some path. Tested by contents_test.cpp, and by
// properties/contents_test.cpp against random walks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

class Contents {
 public:
  // Cost: blocks x squares of the numbers of connected temps / 64, times a small factor for loops. Beyond kMostWords words no pair
  // is known to be the same.
  static constexpr std::size_t kMostWords = std::size_t{1} << 23;
  Contents(const Problem& problem, const Code& code);

  // From here on is_same and for_each_same answer for the head of a reachable block.
  void begin(std::uint32_t block) { state_ = in_[block]; }
  // Visits the instructions of a reachable block in their order; visit(i) is called after instruction i. Meanwhile is_same and
  // for_each_same answer for that point.
  template <class Visit>
  void walk(std::uint32_t block, Visit&& visit) {
    begin(block);
    const CodeBlock& b = code_.blocks[block];
    for (std::uint32_t i = b.first_inst; i < b.first_inst + b.num_insts; ++i) {
      pass(i, state_);
      visit(i);
    }
  }
  // Whether no path leads here on which the two are defined and differ. Requires that they are two.
  [[nodiscard]] bool is_same(TempId a, TempId b) const {
    return is_known_ && group_of_[a] != kNoGroup && group_of_[a] == group_of_[b] && !bit(state_, a, b);
  }
  // Whether the two are the same somewhere, perhaps: copies connect them.
  [[nodiscard]] bool is_connected(TempId a, TempId b) const { return group_of_[a] != kNoGroup && group_of_[a] == group_of_[b]; }
  // Calls f for each other temp that is the same.
  template <class F>
  void for_each_same(TempId a, F&& f) const {
    if (!is_known_ || group_of_[a] == kNoGroup) return;
    for (const TempId b : groups_[group_of_[a]].members)
      if (b != a && b < code_.temps.size() && !bit(state_, a, b)) f(b);
  }
  // Whether, on some path, some byte of the temp has no def. Requires that copies connect it with another temp.
  [[nodiscard]] bool is_missing(TempId a) const { return is_known_ && state_.missing[missing_at(a)] != 0; }
  // False where the program is too large, so that all differ.
  [[nodiscard]] bool is_known() const { return is_known_; }
  [[nodiscard]] bool has_groups() const { return is_known_ && !groups_.empty(); }

 private:
  static constexpr std::uint32_t kNoGroup = 0xFFFFFFFFu;
  // Temps that copies connect.
  struct Group {
    std::vector<TempId> members;           // ascending
    std::size_t row_words = 0, begin = 0;  // of its matrix, into State::differ
    std::size_t first_missing = 0;         // into State::missing
  };
  struct State {
    std::vector<std::uint64_t> differ, reached;  // reached: by place, whether some def reaches
    std::vector<ByteMask> missing;               // by member of a group: the bytes that are undefined on some path
  };

  // A place is a temp, or a slot behind them.
  struct Write {
    TempId to = kNoTemp, from = kNoTemp;  // from: none = something new
    ByteMask kills = 0;                   // what is written on every execution
    bool undefines = false;               // nothing is written; these bytes are undefined from here on
  };
  void find_writes();
  void find_groups();
  void solve();
  void pass(std::uint32_t inst, State& s) const;
  void copy(TempId to, std::span<const std::uint64_t> from_row, State& s) const;
  void define(TempId t, State& s) const;
  [[nodiscard]] std::span<std::uint64_t> row(State& s, TempId t) const {
    const Group& g = groups_[group_of_[t]];
    return {s.differ.data() + g.begin + place_[t] * g.row_words, g.row_words};
  }
  [[nodiscard]] bool bit(const State& s, TempId a, TempId b) const {
    const Group& g = groups_[group_of_[a]];
    return (s.differ[g.begin + place_[a] * g.row_words + place_[b] / 64] >> place_[b] % 64 & 1) != 0;
  }
  void set(State& s, TempId a, TempId b, bool differs) const;
  [[nodiscard]] std::size_t missing_at(TempId t) const { return groups_[group_of_[t]].first_missing + place_[t]; }

  const Problem& problem_;
  const Code& code_;
  bool is_known_ = true;
  std::size_t num_places_ = 0;
  Grouped<Write> writes_;                        // by instruction
  std::vector<std::uint32_t> group_of_, place_;  // by place
  std::vector<Group> groups_;
  std::vector<State> in_;  // by block
  State state_;            // of the walk
};

}  // namespace regduel::reference
