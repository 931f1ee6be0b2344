#include "llvm/judge/rows.h"

#include <map>
#include <numeric>

#include <fmt/format.h>

#include "results/measure.h"

namespace regduel::llvm {
namespace {

std::map<std::string_view, std::int64_t> figures(const Counts& c) {
  const auto registers = std::accumulate(c.registers.begin(), c.registers.end(), std::int64_t{0},
                                         [](std::int64_t sum, const auto& file) { return sum + file.second; });
  return {{"registers", registers},
          {"spill_store_bytes", c.spill_bytes},
          {"spill_load_bytes", c.refill_bytes},
          {"inserted_copies", c.copies},
          {"remats", c.remats},
          {"instructions", c.originals + c.spills + c.refills + c.copies + c.remats}};
}

}  // namespace

results::CaseResults row_of(const Verdict& v, const std::string& source, const std::string& target, int stress) {
  results::CaseResults r;
  const std::string identity = v.before_rir.empty() ? fmt::format("{} {} {} {}", source, v.function, v.run, target) : v.before_rir;
  r.hash = results::content_hash({identity.begin(), identity.end()});
  r.name = v.run > 0 ? fmt::format("{}, run {}", v.function, v.run) : v.function;
  r.source = source;
  r.instructions = static_cast<std::uint64_t>(v.counts.originals);
  results::CaseResults::Bout row;
  row.configuration = {"llvm:" + v.allocator, "after=" + v.pass, target, stress > 0 ? fmt::format("stress={}", stress) : ""};
  row.verdict = v.refusal ? "unsupported" : std::string(oracles::name(v.verdict));
  row.reason = v.refusal ? v.refusal->kind + ": " + v.refusal->message : v.reason;
  const auto known = figures(v.counts);
  for (const results::Measure& m : results::measures()) {
    const auto it = known.find(m.name);
    row.figures.push_back(v.refusal || it == known.end() ? std::nullopt : std::optional(it->second));
  }
  for (const MirFinding& f : v.findings) row.objections.emplace_back(fmt::format("{}/{}", f.judge, f.category), f.message);
  r.bouts.push_back(std::move(row));
  return r;
}

}  // namespace regduel::llvm
