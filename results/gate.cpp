// See gate.h.
#include "results/gate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace regduel::results {
namespace {

bool is_beyond(const Gate& gate, double ratio) { return gate.is_increase ? ratio > 1 + gate.share : ratio < 1 - gate.share; }

// The p of the side that the gate asks about: the distribution of the signed ranks is symmetric.
double one_sided(const Gate& gate, const PairedStatistics& s) {
  const bool is_that_way = gate.is_increase ? s.effect > 0 : s.effect < 0;
  return is_that_way ? s.p / 2 : 1 - s.p / 2;
}

// The least n with tests x 2^-n < alpha.
std::size_t needed_pairs(std::size_t tests, double alpha) {
  std::size_t n = 0;
  for (double p = static_cast<double>(tests); p >= alpha; p /= 2) ++n;
  return n;
}

// The number before a "%" that ends the text.
std::optional<double> percents_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::string_view(end) != "%" || !std::isfinite(value)) return std::nullopt;
  return value / 100;
}

}  // namespace

std::expected<Gate, std::string> parse_gate(const std::string& text) {
  const std::size_t at = text.find_first_of("<>");
  const auto complaint = [&] {
    return std::unexpected(fmt::format("expected MEASURE>PERCENT%, as weighted_spill_bytes>1%, found \"{}\"", text));
  };
  if (at == std::string::npos) return complaint();
  Gate gate{find_measure(text.substr(0, at)), text[at] == '>', 0, text};
  if (gate.measure == nullptr) {
    std::string names;
    for (const Measure& m : measures()) names += (names.empty() ? "" : ", ") + std::string(m.name);
    return std::unexpected(fmt::format("no measure \"{}\" (there are {})", text.substr(0, at), names));
  }
  const std::optional<double> share = percents_in(text.substr(at + 1));
  if (!share || *share < 0 || *share >= 1000) return complaint();
  gate.share = *share;
  return gate;
}

std::optional<double> parse_percentage(const std::string& text) {
  const std::optional<double> share = percents_in(text);
  return share && *share >= 0 && *share <= 1 ? share : std::nullopt;
}

std::vector<GateJudgement> judge(std::span<const Gate> gates, std::span<const Comparison> comparisons, double alpha) {
  std::vector<GateJudgement> list;
  std::vector<double> p;
  for (std::size_t c = 0; c < comparisons.size(); ++c)
    for (std::size_t g = 0; g < gates.size(); ++g)
      for (const MeasureComparison& m : comparisons[c].measures) {
        if (m.measure != gates[g].measure) continue;
        const PairedStatistics& s = m.statistics;
        list.push_back({c, g, GateVerdict::Kept, s.pairs, s.more + s.fewer, s.ratio, 1, 0});
        p.push_back(one_sided(gates[g], s));
      }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t k = 0; k < list.size(); ++k) {
    GateJudgement& j = list[k];
    j.adjusted_p = adjusted[k];
    j.needed = needed_pairs(list.size(), alpha);
    const bool is_worse = is_beyond(gates[j.gate], j.ratio);
    if (is_worse && j.adjusted_p < alpha) j.verdict = GateVerdict::Exceeded;
    else if (j.pairs < j.needed || (is_worse && j.changed < j.needed)) j.verdict = GateVerdict::TooFew;
  }
  return list;
}

std::vector<Change> beyond(const Gate& worst, const Comparison& comparison) {
  std::vector<Change> list;
  for (const auto& [older, newer] : comparison.both)
    if (const auto change = change_of(*worst.measure, *older, *newer); change && is_beyond(worst, std::exp(change->log_ratio)))
      list.push_back(*change);
  const double sign = worst.is_increase ? 1 : -1;
  std::ranges::stable_sort(list, [&](const Change& a, const Change& b) { return sign * a.log_ratio > sign * b.log_ratio; });
  return list;
}

double paired_share(const Comparison& c) {
  const std::size_t rows = c.pairs + std::max(c.only_older, c.only_newer);
  return rows == 0 ? 0 : static_cast<double>(c.pairs) / static_cast<double>(rows);
}

}  // namespace regduel::results
