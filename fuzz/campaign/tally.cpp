#include "fuzz/campaign/tally.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/check_macro.h"

namespace regduel::fuzz {
namespace {

// "fuel: 3 of 40 blocks" and "fuel: 7 of 9 blocks" are one reason.
std::string without_numbers(const std::string& reason) {
  std::string out;
  for (const char c : reason)
    if (c < '0' || c > '9') out += c;
    else if (out.empty() || out.back() != '#') out += '#';
  return out;
}

// A sum that has gone beyond INT64_MAX stays nullopt.
void add_to(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  std::int64_t result = 0;
  if (!sum || !value || __builtin_add_overflow(*sum, *value, &result)) sum.reset();
  else sum = result;
}

using nlohmann::ordered_json;

ordered_json number_or_null(std::optional<std::int64_t> number) { return number ? ordered_json(*number) : ordered_json(nullptr); }

ordered_json to_json(const std::vector<Tally::Opinions>& opinions) {
  ordered_json out = ordered_json::array();
  for (const Tally::Opinions& o : opinions) {
    ordered_json one = {{"judge", o.judge}};
    for (const oracles::Verdict v :
         {oracles::Verdict::Pass, oracles::Verdict::Fail, oracles::Verdict::Inconclusive, oracles::Verdict::Skipped})
      one[std::string(oracles::name(v))] = o.verdicts[static_cast<std::size_t>(v)];
    if (!o.inconclusive.empty()) one["reasons"] = o.inconclusive;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Tally::Tally(std::span<const ir::Allocator* const> duelists) {
  for (const ir::Allocator* a : duelists) rows_.push_back({.allocator = std::string(a->name())});
}

void Tally::add(const duel::Case& input, const duel::Duel& d) {
  ++cases_;
  sizes_.push_back(static_cast<std::uint32_t>(input.program.insts.size()));
  for (const duel::Bout& b : d.bouts)
    if (std::ranges::any_of(b.findings(), [](const oracles::Finding& f) { return f.judge == "disagreement"; })) ++disagreements_;
  for (const duel::MetamorphicBout& m : d.metamorphic) {
    ++metamorphic_;
    if (m.metamorphic.result.verdict == oracles::Verdict::Inconclusive) ++metamorphic_inconclusive_;
    for (const oracles::Observation& o : m.metamorphic.observations) {
      Changes& changes = changes_[{m.allocator, o.variant, o.what}];
      ++(o.after > o.before ? changes.more : changes.less);
      add_to(changes.sum, o.after - o.before);
    }
  }
  bool all_pass = true, is_saturated = false;
  std::int64_t fewest = INT64_MAX;
  for (const duel::Bout& b : d.bouts) {
    all_pass = all_pass && b.verdict() == oracles::Verdict::Pass;
    is_saturated = is_saturated || (!b.is_figures_only && !b.measures.weighted_spill_bytes);
    fewest = std::min(fewest, b.measures.weighted_spill_bytes.value_or(INT64_MAX));
  }
  saturated_ += all_pass && is_saturated ? 1 : 0;
  for (std::size_t k = 0; k < d.bouts.size(); ++k) {
    const duel::Bout& b = d.bouts[k];
    Row& row = rows_[k];
    row.seconds += b.seconds;
    for (const oracles::JudgeResult& r : b.report.results) {
      Opinions& known = opinions_of(row, r.judge);
      ++known.verdicts[static_cast<std::size_t>(r.verdict)];
      if (r.verdict == oracles::Verdict::Inconclusive) ++known.inconclusive[without_numbers(r.reason)];
    }
    switch (b.verdict()) {
      case oracles::Verdict::Pass: ++row.pass; break;
      case oracles::Verdict::Fail: ++row.fail; break;
      case oracles::Verdict::Inconclusive: ++row.inconclusive; break;
      case oracles::Verdict::Skipped:
        ++(b.unsupported.empty() ? row.impossible : row.unsupported);
        if (!b.unsupported.empty()) count_reason(row, without_numbers(b.reason()), 1);
        break;
    }
    if (!b.has_figures()) continue;
    ++row.allocations;
    if (b.measures.spill_store_bytes + b.measures.spill_load_bytes > 0) ++row.spilling;
    if (!all_pass) continue;
    row.registers += b.registers().value_or(0);
    row.max_live += b.measures.max_live[0];
    row.store_bytes += b.measures.spill_store_bytes;
    row.load_bytes += b.measures.spill_load_bytes;
    row.frame_bytes += b.measures.local_frame_bytes + b.measures.shared_frame_bytes;
    if (is_saturated || b.is_figures_only) continue;
    add_to(row.weighted_bytes, b.measures.weighted_spill_bytes);
    if (b.measures.weighted_spill_bytes == fewest) ++row.best;
    else ++row.worst;
  }
}

void Tally::add(const Tally& other) {
  REGDUEL_CHECK(rows_.size() == other.rows_.size(), "a tally of other duelists");
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    Row& r = rows_[k];
    const Row& from = other.rows_[k];
    std::apply([&](auto... sum) { ((r.*sum += from.*sum), ...); }, Row::kSums);
    add_to(r.weighted_bytes, from.weighted_bytes);
    for (const auto& [reason, cases] : from.unsupported_for) count_reason(r, reason, cases);
    for (const Opinions& o : from.opinions) {
      Opinions& mine = opinions_of(r, o.judge);
      for (std::size_t v = 0; v < mine.verdicts.size(); ++v) mine.verdicts[v] += o.verdicts[v];
      for (const auto& [reason, count] : o.inconclusive) mine.inconclusive[reason] += count;
    }
  }
  std::apply([&](auto... sum) { ((this->*sum += other.*sum), ...); }, kSums);
  for (const auto& [key, c] : other.changes_) {
    Changes& mine = changes_[key];
    mine.more += c.more;
    mine.less += c.less;
    add_to(mine.sum, c.sum);
  }
  sizes_.insert(sizes_.end(), other.sizes_.begin(), other.sizes_.end());
}

void Tally::count_reason(Row& row, const std::string& reason, std::uint64_t cases) {
  const bool is_counted = row.unsupported_for.size() < kMostReasons || row.unsupported_for.contains(reason);
  row.unsupported_for[is_counted ? reason : "other"] += cases;
}

Tally::Opinions& Tally::opinions_of(Row& row, const std::string& judge) {
  for (Opinions& o : row.opinions)
    if (o.judge == judge) return o;
  return row.opinions.emplace_back(Opinions{.judge = judge});
}

std::uint64_t Tally::allocations() const {
  std::uint64_t sum = 0;
  for (const Row& r : rows_) sum += r.allocations;
  return sum;
}

ordered_json Tally::json() const {
  ordered_json list = ordered_json::array();
  for (const Row& r : rows_) {
    list.push_back({{"allocator", r.allocator},
                    {"pass", r.pass},
                    {"fail", r.fail},
                    {"inconclusive", r.inconclusive},
                    {"impossible", r.impossible},
                    {"spilling", r.spilling},
                    {"registers", r.registers},
                    {"max_live", r.max_live},
                    {"spill_store_bytes", r.store_bytes},
                    {"spill_load_bytes", r.load_bytes},
                    {"frame_bytes", r.frame_bytes},
                    {"weighted_spill_bytes", number_or_null(r.weighted_bytes)},
                    {"least_spill", r.best},
                    {"seconds", r.seconds},
                    {"allocations", r.allocations},
                    {"judges", to_json(r.opinions)}});
    if (r.unsupported > 0) list.back()["unsupported"] = {{"cases", r.unsupported}, {"reasons", r.unsupported_for}};
  }
  ordered_json out = {{"duels", cases_}, {"disagreements", disagreements_}, {"allocators", list}};
  if (saturated_ > 0) out["saturated"] = saturated_;
  if (metamorphic_ == 0) return out;
  ordered_json observations = ordered_json::array();
  for (const auto& [key, c] : changes_)
    observations.push_back({{"allocator", std::get<0>(key)},
                            {"variant", std::get<1>(key)},
                            {"figure", std::get<2>(key)},
                            {"more", c.more},
                            {"less", c.less},
                            {"sum_of_differences", number_or_null(c.sum)}});
  out["metamorphic"] = {{"allocations", metamorphic_}, {"inconclusive", metamorphic_inconclusive_}, {"observations", observations}};
  return out;
}

}  // namespace regduel::fuzz
