// See joined.h.
#include "cli/report/joined.h"

#include <algorithm>
#include <tuple>

namespace regduel::cli {
namespace {

class Join {
 public:
  explicit Join(const ComparedRuns& runs) : runs_(runs) {}

  void add(const ComparedRun& side, bool is_newer) {
    const ReportDatabase d = read_report_database(side.path);
    std::map<std::int64_t, std::int64_t> programs, configurations;  // ids: of the database, of the join
    for (const ReportResult& r : d.results) {
      const ReportConfiguration& c = d.configurations.at(r.configuration);
      if (r.run != side.run.id || !is_compared(c.allocator, is_newer)) continue;
      ReportResult joined = r;
      joined.run = kJoinedRun;
      joined.program = programs[r.program] = program_id(d.programs.at(r.program));
      joined.configuration = configurations[r.configuration] = configuration_id(c, is_newer);
      out_.results.push_back(std::move(joined));
    }
    for (const ReportObjection& o : d.objections)
      if (o.run == side.run.id && programs.contains(o.program) && configurations.contains(o.configuration))
        out_.objections.push_back({kJoinedRun, programs[o.program], configurations[o.configuration], o.signature, o.message});
    add_run(d, side, is_newer);
  }
  // The order is that of comparisons: by hash and configuration.
  ReportDatabase finish() {
    std::ranges::stable_sort(out_.results, {}, [&](const ReportResult& r) {
      const ReportConfiguration& c = out_.configurations.at(r.configuration);
      return std::tuple(std::string_view(out_.programs.at(r.program).hash), !c.side, std::string_view(c.allocator),
                        std::string_view(c.knobs), std::string_view(c.target), std::string_view(c.limits));
    });
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kJoinedRun = 1;

  [[nodiscard]] bool is_compared(const std::string& allocator, bool is_newer) const {
    return std::ranges::any_of(runs_.sections, [&](const ComparedAllocators& s) {
      return allocator == (is_newer ? s.newer : s.older) || (runs_.is_one_run() && allocator == s.older);
    });
  }
  [[nodiscard]] std::int64_t program_id(const ReportProgram& program) {
    const auto [at, is_new] = programs_.try_emplace(program.hash, static_cast<std::int64_t>(programs_.size()));
    if (is_new) out_.programs[at->second] = program;
    return at->second;
  }
  [[nodiscard]] std::int64_t configuration_id(const ReportConfiguration& c, bool is_newer) {
    const auto [at, is_new] = configurations_.try_emplace({is_newer, c.allocator, c.knobs, c.target, c.limits},
                                                          static_cast<std::int64_t>(configurations_.size()));
    if (is_new) {
      ReportConfiguration& joined = out_.configurations[at->second] = c;
      joined.column = column_of(runs_, c.allocator, is_newer);
      joined.side = is_newer ? 1 : 0;
    }
    return at->second;
  }
  void add_run(const ReportDatabase& d, const ComparedRun& side, bool is_newer) {
    for (const ReportRun& r : d.runs) {
      if (r.id != side.run.id) continue;
      ReportRun joined = r;
      joined.id = is_newer ? kJoinedRun : kJoinedRun - 1;
      joined.name = runs_.is_one_run() ? r.name : is_newer ? "new" : "old";
      joined.samples.clear();
      joined.verdicts.clear();
      for (const auto& [allocator, verdicts] : r.verdicts)
        if (is_compared(allocator, is_newer)) joined.verdicts[column_of(runs_, allocator, is_newer)] = verdicts;
      out_.runs.push_back(std::move(joined));
    }
  }

  const ComparedRuns& runs_;
  ReportDatabase out_;
  std::map<std::string, std::int64_t> programs_;  // by hash
  std::map<std::tuple<bool, std::string, std::string, std::string, std::string>, std::int64_t> configurations_;
};

}  // namespace

std::string column_of(const ComparedRuns& runs, const std::string& allocator, bool is_newer) {
  if (runs.is_one_run()) return allocator;
  return allocator + (is_newer ? " (new)" : " (old)");
}

ReportDatabase join(const ComparedRuns& runs, bool across_knobs) {
  Join join(runs);
  join.add(runs.newer, true);
  if (!runs.is_one_run()) join.add(runs.older, false);
  ReportDatabase joined = join.finish();
  std::ranges::stable_sort(joined.runs, {}, &ReportRun::id);
  joined.across_knobs = across_knobs;
  return joined;
}

}  // namespace regduel::cli
