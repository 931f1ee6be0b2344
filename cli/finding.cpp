#include "cli/finding.h"

#include <fmt/format.h>

#include "base/bad_input.h"
#include "fuzz/campaign/reproducer.h"

namespace regduel::cli {

fuzz::Failure failure_shown(const FailureQuery& q, const duel::Case& input) {
  std::vector<const ir::Allocator*> duelists;
  if (!q.with.empty()) duelists.push_back(&q.allocators.named(q.with));
  std::vector<fuzz::Failure> all = fuzz::failures_of(input, duelists, q.metamorphic);
  if (!q.signature.empty()) std::erase_if(all, [&](const fuzz::Failure& f) { return f.signature != q.signature; });
  if (all.empty())
    throw BadInput(q.signature.empty() ? fmt::format("{}: error: no judge objects to it: {}", q.file, q.otherwise)
                                       : fmt::format("{}: error: it does not show {}", q.file, q.signature));
  return all.front();
}

void Findings::add(const duel::Case& input, const duel::Bout& bout) {
  const std::vector<std::string> signatures = bout.signatures();
  for (std::size_t k = 0; k < signatures.size(); ++k) {
    // One bout may find the same thing at many places.
    bool again = false;
    for (std::size_t m = 0; m < k; ++m) again = again || signatures[m] == signatures[k];
    if (again) continue;
    Entry& entry = by_signature_[bout.allocator + " " + signatures[k]];
    if (entry.count++ > 0) continue;
    entry.signature = signatures[k];
    entry.allocator = bout.allocator;
    entry.message = bout.findings()[k].message;
    if (!directory_.empty())
      entry.path = fuzz::write_reproducer(directory_, {bout.allocator, entry.signature}, entry.message, entry.signature, input);
  }
}

std::string Findings::text() const {
  std::string out;
  for (const auto& [key, e] : by_signature_) {
    out += fmt::format("finding: {} in {} (seen {} times)\n  {}\n", e.signature, e.allocator, e.count, e.message);
    if (!e.path.empty()) out += fmt::format("  replay: see the head of {}\n", e.path);
  }
  return out;
}

Json Findings::json() const {
  Json list = Json::array();
  for (const auto& [key, e] : by_signature_)
    list.push_back({{"signature", e.signature},
                    {"allocator", e.allocator},
                    {"count", e.count},
                    {"message", e.message},
                    {"reproducer", e.path}});
  return list;
}

}  // namespace regduel::cli
