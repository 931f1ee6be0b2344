#include "cli/finding.h"

#include <set>

#include <fmt/format.h>

#include "base/bad_input.h"
#include "base/counted.h"
#include "base/io.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/reproducer.h"
#include "ir/text/text.h"

namespace regduel::cli {

namespace {

// The list of --with in the command that the head of a reproducer shows, where that starts a program; else "".
std::string program_in_head(const std::string& path) {
  const auto text = path == "-" ? std::unexpected(std::string()) : read_file(path);
  const std::string_view mark = "// regduel ";
  const std::size_t at = text ? text->find(mark) : std::string::npos;
  if (at == std::string::npos) return "";
  const auto words = duel::split_words(std::string_view(*text).substr(at, text->find('\n', at) - at));
  for (std::size_t k = 0; words && k + 1 < words->size(); ++k)
    if ((*words)[k] == "--with" && (*words)[k + 1].contains(duel::kExec)) return (*words)[k + 1];
  return "";
}

}  // namespace

fuzz::Failure failure_shown(const FailureQuery& q, const duel::Case& input) {
  std::vector<const ir::Allocator*> duelists;
  if (!q.with.empty()) duelists.push_back(&q.allocators.named(q.with));
  // An allocation beats a proof only if the prover takes part.
  if (const auto provers = fuzz::provers_beaten({q.with, q.signature}); !provers.empty()) {
    if (q.with.empty()) duelists.assign(duel::all_duelists().begin(), duel::all_duelists().end());
    duelists.insert(duelists.end(), provers.begin(), provers.end());
  }
  std::vector<fuzz::Failure> all = fuzz::failures_of(input, duelists, q.metamorphic);
  if (!q.with.empty()) std::erase_if(all, [&](const fuzz::Failure& f) { return f.allocator != duelists[0]->name(); });
  if (!q.signature.empty()) std::erase_if(all, [&](const fuzz::Failure& f) { return f.signature != q.signature; });
  if (const std::string program = program_in_head(q.file); all.empty() && q.with.empty() && !program.empty())
    throw BadInput(
        fmt::format("{}: error: its head says --with {}, and a file may not start a program: give that on the command line", q.file,
                    duel::shell_word(program)));
  if (all.empty())
    throw BadInput(q.signature.empty() ? fmt::format("{}: error: no judge objects to it: {}", q.file, q.otherwise)
                                       : fmt::format("{}: error: it does not show {}", q.file, q.signature));
  return all.front();
}

namespace {

std::string answer_of(const duel::Bout& bout) {
  return bout.program && duel::find_external(bout.allocator) != nullptr ? ir::print_file(*bout.program) : "";
}

}  // namespace

Findings::Findings(std::string directory) : directory_(std::move(directory)) {
  try {
    require_directory_possible(directory_);
  } catch (const BadInput& e) {
    if (directory_ != kUsualDirectory) throw;
    complaint_ = e.what();
    directory_.clear();
  }
}

void Findings::add(const duel::Case& input, const duel::Bout& bout) {
  const std::vector<std::string> signatures = bout.signatures();
  if (signatures.empty()) return;
  Entry& entry = by_signature_[bout.allocator + " " + signatures[0]];
  if (entry.count++ > 0) return;
  const std::vector<oracles::Finding> findings = bout.findings();
  entry.signature = signatures[0];
  entry.allocator = bout.allocator;
  entry.message = findings[0].message;
  // One bout may find the same thing at many places.
  std::set<std::string> judges = {findings[0].judge};
  for (const oracles::Finding& f : findings)
    if (judges.insert(f.judge).second) entry.also.push_back(fmt::format("{}: {}", f.judge, f.message));
  if (!directory_.empty())
    entry.path = fuzz::write_reproducer(directory_, {bout.allocator, entry.signature}, entry.message, entry.signature, input,
                                        answer_of(bout));
}

std::string Findings::text() const {
  std::string out;
  for (const auto& [key, e] : by_signature_) {
    out += fmt::format("finding: {} in {} (seen {})\n  {}\n", e.signature, duel::shown_name(e.allocator),
                       e.count == 1 ? "once" : counted(e.count, "time"), e.message);
    for (const std::string& other : e.also) out += fmt::format("  {}\n", other);
    if (!e.path.empty()) out += fmt::format("  replay: see the head of {}\n", e.path);
  }
  if (!complaint_.empty() && !by_signature_.empty())
    out += fmt::format("{}: no reproducer is written there (--findings DIR)\n", complaint_);
  return out;
}

Json Findings::json() const {
  Json list = Json::array();
  for (const auto& [key, e] : by_signature_)
    list.push_back({{"signature", e.signature},
                    {"allocator", e.allocator},
                    {"count", e.count},
                    {"message", e.message},
                    {"also", e.also},
                    {"reproducer", e.path}});
  return list;
}

}  // namespace regduel::cli
