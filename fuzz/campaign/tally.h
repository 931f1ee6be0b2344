// The sum of many duels: how the allocators compare, and the shares that say what kind of programs these were. As text:
// cli/show/tally_text.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "duel/case.h"
#include "duel/duel.h"

namespace regduel::fuzz {

class Tally {
 public:
  static constexpr std::size_t kMostReasons = 50;  // further ones are counted together, as "other"

  Tally() = default;
  explicit Tally(std::span<const ir::Allocator* const> duelists);
  void add(const duel::Case& input, const duel::Duel& duel);
  // Adds another tally of the same duelists.
  void add(const Tally& other);
  [[nodiscard]] nlohmann::ordered_json json() const;
  [[nodiscard]] std::uint64_t cases() const { return cases_; }
  // Allocations that were judged.
  [[nodiscard]] std::uint64_t allocations() const;

  // The verdicts of one judge. Reasons stand without their numbers, so that like ones are counted together.
  struct Opinions {
    std::string judge;
    std::array<std::uint64_t, 4> verdicts = {};  // by oracles::Verdict
    std::map<std::string, std::uint64_t> inconclusive = {};

    static constexpr auto kFields = std::tuple(&Opinions::judge, &Opinions::verdicts, &Opinions::inconclusive);
  };
  struct Row {
    std::string allocator;
    std::uint64_t pass = 0, fail = 0, inconclusive = 0, impossible = 0, unsupported = 0;
    std::uint64_t allocations = 0;  // programs that came out of it, each judged by all judges
    std::uint64_t spilling = 0;     // allocations that move at least one byte
    // Cases in which this one spilled fewest / not fewest weighted bytes, all having passed, and none being saturated.
    std::uint64_t best = 0, worst = 0;
    std::int64_t registers = 0, max_live = 0;                       // sums over passed cases, file R
    std::int64_t store_bytes = 0, load_bytes = 0, frame_bytes = 0;  // frames of local and shared memory
    std::optional<std::int64_t> weighted_bytes = 0;                 // of the cases of best and worst; nullopt = beyond INT64_MAX
    double seconds = 0;
    std::vector<Opinions> opinions = {};                        // in the order of judging
    std::map<std::string, std::uint64_t> unsupported_for = {};  // by reason, likewise; at most kMostReasons

    // The fields whose sum is that of both; the others have rules of their own.
    static constexpr auto kSums = std::tuple(&Row::pass, &Row::fail, &Row::inconclusive, &Row::impossible, &Row::unsupported,
                                             &Row::allocations, &Row::spilling, &Row::best, &Row::worst, &Row::registers,
                                             &Row::max_live, &Row::store_bytes, &Row::load_bytes, &Row::frame_bytes, &Row::seconds);
    static constexpr auto kFields =
        std::tuple_cat(std::tuple(&Row::allocator), kSums, std::tuple(&Row::weighted_bytes, &Row::opinions, &Row::unsupported_for));
  };
  // The changes that the metamorphic judge observed of one allocator, one variant, one figure.
  struct Changes {
    std::uint64_t more = 0, less = 0;     // cases
    std::optional<std::int64_t> sum = 0;  // of the differences; nullopt = beyond INT64_MAX

    static constexpr auto kFields = std::tuple(&Changes::more, &Changes::less, &Changes::sum);
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }  // in the order of the duelists
  // Passed cases whose weighted bytes are beyond counting for some allocator (oracles::Measures).
  [[nodiscard]] std::uint64_t saturated() const { return saturated_; }
  [[nodiscard]] const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  [[nodiscard]] std::uint64_t disagreements() const { return disagreements_; }
  [[nodiscard]] std::uint64_t metamorphic() const { return metamorphic_; }
  [[nodiscard]] std::uint64_t metamorphic_inconclusive() const { return metamorphic_inconclusive_; }
  using ChangeKey = std::tuple<std::string, std::string, std::string>;  // allocator, variant, figure
  [[nodiscard]] const std::map<ChangeKey, Changes>& changes() const { return changes_; }

 private:
  static void count_reason(Row& row, const std::string& reason, std::uint64_t cases);
  static Opinions& opinions_of(Row& row, const std::string& judge);

  std::vector<Row> rows_;
  std::uint64_t cases_ = 0;
  std::uint64_t saturated_ = 0;
  std::uint64_t disagreements_ = 0;                               // allocations of which two judges contradict each other
  std::uint64_t metamorphic_ = 0, metamorphic_inconclusive_ = 0;  // allocations that the metamorphic judge was asked about
  std::map<ChangeKey, Changes> changes_;
  std::vector<std::uint32_t> sizes_;  // instructions of each program

  static constexpr auto kSums = std::tuple(&Tally::cases_, &Tally::saturated_, &Tally::disagreements_, &Tally::metamorphic_,
                                           &Tally::metamorphic_inconclusive_);

 public:
  // The fields, for the codec of messages (messages.h).
  static constexpr auto kFields = std::tuple_cat(std::tuple(&Tally::rows_, &Tally::changes_, &Tally::sizes_), kSums);
};

}  // namespace regduel::fuzz
