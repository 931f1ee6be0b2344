// See comparison_part.h.
#include "cli/report/comparison_part.h"

#include <cmath>
#include <filesystem>

#include "cli/report/joined.h"

namespace regduel::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostChanged = 10;  // programs a list

Json side_json(const ComparedRun& side, const std::string& version) {
  return {{"database", std::filesystem::path(side.path).filename().string()},
          {"run", side.run.id},
          {"command", side.run.info.command},
          {"version", side.run.info.program},
          {"machine", side.run.info.machine},
          {"rows", side.rows.size()},
          {"made_again", side.run.info.program == version}};
}

Json changes_json(const std::vector<results::Change>& changes, const CaseOf& case_of) {
  Json list = Json::array();
  for (const results::Change& c : changes)
    list.push_back(
        {{"case", case_of(*c.newer, 1)}, {"old", c.older_figure}, {"new", c.newer_figure}, {"ratio", std::exp(c.log_ratio)}});
  return list;
}

Json measures_json(const results::Comparison& c, const CaseOf& case_of) {
  Json measures = Json::array();
  for (const results::MeasureComparison& m : c.measures) {
    const results::Changes changes = results::most_changed(c, *m.measure, kMostChanged);
    Json measure = json_of(m);
    measure["what"] = m.measure->what;
    measure["worst"] = changes_json(changes.worst, case_of);
    measure["best"] = changes_json(changes.best, case_of);
    measures.push_back(std::move(measure));
  }
  return measures;
}

}  // namespace

Json json_of(const results::MeasureComparison& m) {
  return {{"measure", m.measure->name},  {"old", m.older_sum},         {"new", m.newer_sum},
          {"pairs", m.statistics.pairs}, {"less", m.statistics.fewer}, {"more", m.statistics.more},
          {"ratio", m.statistics.ratio}, {"low", m.statistics.low},    {"high", m.statistics.high},
          {"p", m.statistics.p},         {"p_adjusted", m.adjusted_p}, {"effect", m.statistics.effect}};
}

Json comparison_json(const ComparedRuns& runs, bool across_knobs, const std::string& version, const CaseOf& case_of) {
  const std::vector<results::Comparison> comparisons = compare_sections(runs, {.across_knobs = across_knobs});
  Json sections = Json::array();
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const results::Comparison& c = comparisons[k];
    Json verdicts = Json::array();
    for (const results::VerdictChange& v : c.verdicts)
      verdicts.push_back(
          {{"case", case_of(*v.newer, 1)}, {"old", v.older->verdict}, {"new", v.newer->verdict}, {"reason", v.newer->reason}});
    sections.push_back({{"old", column_of(runs, runs.sections[k].older, false)},
                        {"new", column_of(runs, runs.sections[k].newer, true)},
                        {"title", runs.sections[k].title()},
                        {"pairs", c.pairs},
                        {"passed", c.passed},
                        {"only_old", c.only_older},
                        {"only_new", c.only_newer},
                        {"changed_inputs", c.changed_inputs},
                        {"changed_knobs", c.changed_knobs},
                        {"verdicts", verdicts},
                        {"measures", measures_json(c, case_of)}});
  }
  return {{"old", side_json(runs.older, version)},
          {"new", side_json(runs.newer, version)},
          {"across_knobs", across_knobs},
          {"alpha", results::kAlpha},
          {"sections", sections}};
}

}  // namespace regduel::cli
