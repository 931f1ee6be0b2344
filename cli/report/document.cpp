// See document.h.
#include "cli/report/document.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/comparison_part.h"
#include "cli/report/database.h"
#include "cli/report/function_detail.h"
#include "cli/report/joined.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/reproducer.h"
#include "ir/text/text.h"
#include "results/measure.h"
#include "results/results.h"
#include "results/statistics.h"

namespace regduel::cli {
namespace {

using Json = nlohmann::ordered_json;
using Figure = std::optional<std::int64_t>;

Json json_of(const Figure& figure) { return figure ? Json(*figure) : Json(nullptr); }

std::size_t place_of_measure(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kReportMeasures, name) - std::begin(kReportMeasures));
}

// A program at one target and limits in one run, and what each allocator made of it.
struct ReportCase {
  std::int64_t run = 0, program = 0;
  std::string target, limits;
  std::map<std::string, const ReportResult*> of;  // by allocator
  int detail = -1;

  [[nodiscard]] Figure figure(const std::string& allocator, std::string_view measure) const {
    const auto found = of.find(allocator);
    return found == of.end() ? std::nullopt : found->second->figures[place_of_measure(measure)];
  }
  [[nodiscard]] Figure any_figure(std::string_view measure) const {
    for (const auto& [allocator, result] : of)
      if (const Figure f = figure(allocator, measure)) return f;
    return std::nullopt;
  }
  [[nodiscard]] Figure limit() const {
    const auto units = results::limits_in(limits);
    return units && units->of(ir::RegFile::R) > 0 ? Figure(units->of(ir::RegFile::R)) : std::nullopt;
  }
};

// An allocator that is not here, as the program that it made of the one case: the judges look at that again.
class KeptAnswer final : public ir::Allocator {
 public:
  KeptAnswer(std::string name, ir::Function program) : name_(std::move(name)), program_(std::move(program)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& /*program*/,
                                                                         const ir::Target& /*target*/,
                                                                         const ir::AllocOptions& /*options*/) const override {
    return ir::Allocation{.program = program_, .claims = {}, .has_claims = false};
  }

 private:
  std::string name_;
  ir::Function program_;
};

// Allocators of a side that a detail shows, with the answers of those that do not play here.
class Players {
 public:
  explicit Players(duel::Knobs knobs) { side_.knobs = std::move(knobs); }
  void add(const std::string& allocator, const std::string& column) {
    const ir::Allocator* a = duel::find_allocator(allocator);
    if (a == nullptr || std::ranges::find(side_.allocators, a) != side_.allocators.end()) return;
    side_.allocators.push_back(a);
    side_.columns.push_back(column);
  }
  void add_answer(const std::string& column, const std::string& text) {
    auto module = ir::parse(text, column);
    if (!module || module->functions.size() != 1) return;
    kept_.push_back(std::make_unique<KeptAnswer>(column, std::move(module->functions[0])));
    side_.allocators.push_back(kept_.back().get());
    side_.columns.push_back(column);
  }
  [[nodiscard]] const DetailedSide& side() const { return side_; }

 private:
  DetailedSide side_;
  std::vector<std::unique_ptr<KeptAnswer>> kept_;
};

class DocumentBuilder {
 public:
  //   path      whose file names the report
  //   columns   of a comparison: the allocators on the page, in this order
  DocumentBuilder(const std::string& path, ReportDatabase data, std::vector<std::string> columns, const ReportOptions& options)
      : path_(path), options_(options), data_(std::move(data)), allocators_(std::move(columns)),
        is_comparison_(!allocators_.empty()) {}

  Json build() {
    if (!is_comparison_) list_allocators();
    list_cases();
    Json findings = findings_json();
    add_details(findings);
    return {{"regduel", options_.version},
            {"database", std::filesystem::path(path_).filename().string()},
            {"allocators", allocators_},
            {"runs", runs_json()},
            {"spill_offset", results::find_measure("weighted_spill_bytes")->offset},
            {"programs", programs_json()},
            {"cases", cases_json()},
            {"targets", targets_json()},
            {"texts", texts_},
            {"objections", objections_json()},
            {"findings", findings},
            {"sightings", sightings_json()},
            {"details", details_},
            {"details_missing",
             {{"asked", options_.details}, {"budget", over_budget_}, {"no_program", no_program_}, {"too_large", too_large_}}}};
  }
  // After build(): by column, the allocator that plays under this name.
  [[nodiscard]] Json columns_json() const {
    Json columns = Json::object();
    for (const std::string& column : allocators_)
      for (const auto& [id, c] : data_.configurations)
        if (c.column == column) columns[column] = {{"allocator", c.allocator}, {"side", c.side}};
    return columns;
  }
  // After build(): the place of the case that has this row; -1 where the report has not that run.
  [[nodiscard]] int case_of(const results::ResultRow& row, int side) const {
    const results::Configuration& c = row.configuration;
    const auto at = case_of_row_.find({row.hash, side, c.allocator, c.knobs, c.target, c.limits});
    return at == case_of_row_.end() ? -1 : static_cast<int>(at->second);
  }

 private:
  void list_allocators() {
    std::set<std::string> names;
    for (const auto& [id, c] : data_.configurations) names.insert(c.column);
    for (const ReportRun& r : data_.runs)
      for (const auto& [allocator, verdicts] : r.verdicts) names.insert(allocator);
    for (const std::string& known : duel::allocator_names())
      if (names.erase(known) > 0) allocators_.push_back(known);
    allocators_.insert(allocators_.end(), names.begin(), names.end());
  }

  void list_cases() {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::string>, std::vector<ReportCase>> cases;
    for (const ReportResult& r : data_.results) {
      const ReportConfiguration& c = data_.configurations[r.configuration];
      ReportCase made{r.run, r.program, c.target, c.limits, {}};
      auto& same = cases[{r.run, r.program, made.limit().value_or(0), c.target, c.limits}];
      const auto free = std::ranges::find_if(same, [&](const ReportCase& k) { return belongs_to(k, c); });
      ReportCase& into = free == same.end() ? same.emplace_back(std::move(made)) : *free;
      into.of[c.column] = &r;
    }
    for (auto& [key, same] : cases)
      for (ReportCase& c : same) cases_.push_back(std::move(c));
    for (std::size_t k = 0; k < cases_.size(); ++k)
      for (const auto& [column, r] : cases_[k].of) {
        case_of_[{r->run, r->program, r->configuration}] = k;
        const ReportConfiguration& c = data_.configurations[r->configuration];
        case_of_row_[{data_.programs[r->program].hash, c.side, c.allocator, c.knobs, c.target, c.limits}] = k;
      }
  }
  // One allocator with other knobs in the same run is another case, and so it is on the other side, unless the two are compared.
  [[nodiscard]] bool belongs_to(const ReportCase& known, const ReportConfiguration& c) {
    return !known.of.contains(c.column) && std::ranges::none_of(known.of, [&](const auto& one) {
      const ReportConfiguration& other = data_.configurations[one.second->configuration];
      return !data_.across_knobs && other.side != c.side && other.allocator == c.allocator && other.knobs != c.knobs;
    });
  }

  std::size_t text(const std::string& s) {
    const auto [known, is_new] = text_places_.try_emplace(s, texts_.size());
    if (is_new) texts_.push_back(s);
    return known->second;
  }

  [[nodiscard]] Json runs_json() const {
    Json runs = Json::array();
    for (const ReportRun& r : data_.runs) {
      Json verdicts = Json::object();
      for (const auto& [allocator, counts] : r.verdicts)
        for (const auto& [verdict, cases] : counts) verdicts[allocator][verdict] = cases;
      runs.push_back({{"id", r.name},
                      {"program", r.program},
                      {"command", r.command},
                      {"machine", r.machine},
                      {"mode", r.mode},
                      {"started", json_of(r.started)},
                      {"seconds", json_of(r.seconds)},
                      {"seed", json_of(r.seed)},
                      {"first", json_of(r.first)},
                      {"next", json_of(r.next)},
                      {"allocations", json_of(r.allocations)},
                      {"verdicts", verdicts},
                      {"samples", samples_json(r.samples)}});
    }
    return runs;
  }
  // The first and the last are always among them.
  static Json samples_json(const std::vector<ReportRun::Sample>& samples) {
    Json time = Json::array(), next = Json::array(), inputs = Json::array(), features = Json::array(), edges = Json::array(),
         findings = Json::array();
    const std::size_t count = std::min(samples.size(), kMostSamples);
    for (std::size_t k = 0; k < count; ++k) {
      const ReportRun::Sample& s = samples[count == 1 ? 0 : k * (samples.size() - 1) / (count - 1)];
      time.push_back(s.time);
      next.push_back(s.next);
      inputs.push_back(s.inputs);
      features.push_back(s.features);
      edges.push_back(s.edges);
      findings.push_back(s.findings);
    }
    return {{"time", time}, {"next", next}, {"inputs", inputs}, {"features", features}, {"edges", edges}, {"findings", findings}};
  }

  // Those of some case, in the order of their ids.
  Json programs_json() {
    constexpr std::size_t kShownOfHash = 12;
    Json hash = Json::array(), name = Json::array(), source = Json::array(), instructions = Json::array(), fixed = Json::array();
    std::map<std::string, results::Sqlite> databases;
    for (const ReportCase& c : cases_) program_places_.try_emplace(c.program, 0);
    std::size_t place = 0;
    for (auto& [id, at] : program_places_) {
      at = place++;
      const ReportProgram& p = data_.programs[id];
      hash.push_back(p.hash.substr(0, kShownOfHash));
      name.push_back(p.name);
      source.push_back(p.source);
      instructions.push_back(p.instructions);
      fixed.push_back(highest_fixed(databases.try_emplace(p.path, p.path).first->second, p.id));
    }
    return {{"hash", hash}, {"name", name}, {"source", source}, {"instructions", instructions}, {"fixed", fixed}};
  }

  // The highest unit of R that an operand of the program is fixed to, + 1; 0 where none is, or the program is not known.
  static std::int64_t highest_fixed(results::Sqlite& db, std::int64_t id) {
    const auto program = results::read_program(db, id);
    std::int64_t highest = 0;
    const auto take = [&](ir::PReg r) {
      if (r.is_valid() && r.file == ir::RegFile::R) highest = std::max<std::int64_t>(highest, r.end());
    };
    if (!program) return 0;
    for (const ir::Operand& op : program->operands) take(op.is_vreg() ? program->fixed_of(op) : ir::PReg());
    return highest;
  }

  // Of all its allocators of a side: each takes those that it has.
  [[nodiscard]] std::string knobs_of(const ReportCase& c, int side) {
    std::map<std::string, std::string> all;
    for (const auto& [column, r] : c.of)
      if (const ReportConfiguration& of = data_.configurations[r->configuration]; of.side == side)
        for (auto& [knob, value] : results::settings_in(of.knobs)) all[knob] = value;
    std::string out;
    for (const auto& [knob, value] : all) out += fmt::format("{}{}={}", out.empty() ? "" : " ", knob, value);
    return out;
  }

  // The side that a case is played on: the newer one of a comparison where it has it.
  [[nodiscard]] int last_side(const ReportCase& c) {
    int last = 0;
    for (const auto& [column, r] : c.of) last = std::max(last, data_.configurations[r->configuration].side);
    return last;
  }

  Json cases_json() {
    Json columns = {{"run", Json::array()},      {"program", Json::array()}, {"target", Json::array()},
                    {"limits", Json::array()},   {"knobs", Json::array()},   {"limit", Json::array()},
                    {"max_live", Json::array()}, {"detail", Json::array()},  {"fewest_refill_bytes", Json::array()},
                    {"of", Json::object()}};
    std::map<std::int64_t, std::size_t> run_places;
    for (std::size_t k = 0; k < data_.runs.size(); ++k) run_places[data_.runs[k].id] = k;
    for (const ReportCase& c : cases_) {
      columns["run"].push_back(run_places[c.run]);
      columns["program"].push_back(program_places_[c.program]);
      columns["target"].push_back(text(c.target));
      columns["limits"].push_back(text(c.limits));
      columns["knobs"].push_back(text(knobs_of(c, last_side(c))));
      if (is_comparison_) columns["older_knobs"].push_back(text(knobs_of(c, 0)));
      columns["limit"].push_back(json_of(c.limit()));
      for (const char* bound : {"max_live", "fewest_refill_bytes"}) columns[bound].push_back(json_of(c.any_figure(bound)));
      columns["detail"].push_back(c.detail);
    }
    for (const std::string& allocator : allocators_) columns["of"][allocator] = figures_json(allocator);
    return columns;
  }
  Json figures_json(const std::string& allocator) {
    Json verdict = Json::array(), reason = Json::array();
    for (const ReportCase& c : cases_) {
      const auto found = c.of.find(allocator);
      verdict.push_back(found == c.of.end() ? Json(nullptr) : Json(found->second->verdict));
      reason.push_back(found == c.of.end() ? Json(nullptr) : Json(text(found->second->reason)));
    }
    Json columns = {{"verdict", verdict}, {"reason", reason}};
    for (const std::string_view measure : kReportMeasures) {
      if (measure == "max_live" || measure == "fewest_refill_bytes") continue;
      Json column = Json::array();
      for (const ReportCase& c : cases_) column.push_back(json_of(c.figure(allocator, measure)));
      columns[std::string(measure)] = std::move(column);
    }
    return columns;
  }

  // Those that are shipped, of the cases.
  [[nodiscard]] Json targets_json() const {
    std::set<std::string> names;
    for (const ReportCase& c : cases_) names.insert(c.target);
    Json targets = Json::object();
    for (const std::string& name : names)
      if (const ir::Target* target = ir::find_target(name))
        for (const ir::RegFile file : ir::kAllFiles)
          if (target->has(file)) targets[name][std::string(ir::name(file))] = target->units[ir::index(file)];
    return targets;
  }

  [[nodiscard]] Json objections_json() const {
    Json list = Json::array();
    for (const ReportObjection& o : data_.objections) {
      const auto at = case_of_.find({o.run, o.program, o.configuration});
      if (at == case_of_.end()) continue;
      list.push_back({{"case", at->second},
                      {"allocator", data_.configurations.at(o.configuration).column},
                      {"signature", o.signature},
                      {"message", o.message}});
    }
    return list;
  }

  [[nodiscard]] Json findings_json() const {
    Json list = Json::array();
    for (const ReportFinding& f : data_.findings) {
      const duel::Case input = duel::decode_case(f.input);
      list.push_back({{"bucket", f.bucket},
                      {"allocator", f.allocator},
                      {"signature", f.signature},
                      {"decision", f.decision},
                      {"state", f.state},
                      {"count", f.count},
                      {"instructions", f.instructions},
                      {"first_seen", f.first_seen},
                      {"last_seen", f.last_seen},
                      {"version", f.version},
                      {"arguments", fuzz::replay_arguments(input, fuzz::players_of({f.allocator, f.signature}))},
                      {"program", duel::print_case(input)},
                      {"detail", -1}});
    }
    return list;
  }

  [[nodiscard]] Json sightings_json() const {
    Json list = Json::array();
    for (const ReportSighting& s : data_.sightings)
      list.push_back({{"allocator", s.allocator}, {"signature", s.signature}, {"message", s.message}, {"count", s.count}});
    return list;
  }

  // --- details

  void add_details(Json& findings) {
    for (std::size_t k = 0; k < data_.findings.size(); ++k) {
      results::Sqlite db(path_);
      const duel::Case input = duel::decode_case(data_.findings[k].input);
      Players players(input.knobs);
      const std::string& failed = data_.findings[k].allocator;
      if (const auto answer = results::read_answer(db, results::content_hash(data_.findings[k].input), failed))
        players.add_answer(failed, *answer);
      players.add(failed, failed);
      for (const std::string& a : duel::allocator_names()) players.add(a, a);
      findings[k]["detail"] =
          add_detail(input, std::span(&players.side(), 1), {{"title", data_.findings[k].bucket}, {"finding", k}});
    }
    for (const std::size_t k : cases_by_interest()) {
      if (details_.size() >= options_.details) break;
      ReportCase& c = cases_[k];
      const auto input = input_of(c);
      if (!input) {
        ++no_program_;
        continue;
      }
      std::vector<Players> players;
      std::vector<DetailedSide> sides;
      for (int side = 0; side <= last_side(c); ++side)
        if (is_made_again(side)) players.push_back(players_of(c, side, input->program));
      for (const Players& p : players)
        if (!p.side().allocators.empty()) sides.push_back(p.side());
      c.detail = add_detail(*input, sides, {{"title", data_.programs[c.program].name}, {"case", k}});
    }
  }

  // Of an allocation of another version only the figures are known.
  [[nodiscard]] bool is_made_again(int side) const {
    return !is_comparison_ || (side == 0 ? data_.runs.front() : data_.runs.back()).program == options_.version;
  }

  // Its place in the list, or -1.
  int add_detail(const duel::Case& input, std::span<const DetailedSide> sides, const Json& head) {
    if (details_.size() >= options_.details) return -1;
    if (input.program.insts.size() > kMostDetailedInstructions) return ++too_large_, -1;
    if (detail_bytes_ > kMostDetailBytes) return ++over_budget_, -1;
    Json detail = head;
    detail.update(function_detail(input, sides));
    detail_bytes_ += detail.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    details_.push_back(std::move(detail));
    return static_cast<int>(details_.size()) - 1;
  }

  // What judges objected to; then in turns the largest difference between allocators in spill bytes (of the first two, by ratio; of a
  // comparison between its sides), and in registers.
  [[nodiscard]] std::vector<std::size_t> cases_by_interest() const {
    struct Interest {
      std::size_t at;
      double spills = 0, registers = 0;
    };
    std::vector<std::size_t> order;
    std::vector<Interest> others;
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      const bool failed = std::ranges::any_of(cases_[k].of, [](const auto& r) { return r.second->verdict == "fail"; });
      if (failed) order.push_back(k);
      else others.push_back({k, spill_gap(cases_[k]), register_gap(cases_[k])});
    }
    std::vector<Interest> by_registers = others;
    std::ranges::stable_sort(others, std::greater<>(), &Interest::spills);
    std::ranges::stable_sort(by_registers, std::greater<>(), &Interest::registers);
    std::set<std::size_t> taken(order.begin(), order.end());
    for (std::size_t k = 0; k < others.size(); ++k)
      for (const std::size_t at : {others[k].at, by_registers[k].at})
        if (taken.insert(at).second) order.push_back(at);
    return order;
  }
  // The columns that are held against each other: of a comparison both sides of each allocator, else all.
  [[nodiscard]] std::vector<std::span<const std::string>> rivals() const {
    if (!is_comparison_) return {allocators_};
    std::vector<std::span<const std::string>> pairs;
    for (std::size_t k = 0; k + 1 < allocators_.size(); k += 2) pairs.push_back(std::span(allocators_).subspan(k, 2));
    return pairs;
  }
  [[nodiscard]] double spill_gap(const ReportCase& c) const {
    double gap = 0;
    for (const std::span<const std::string> pair : rivals()) {
      if (pair.size() < 2) continue;
      const Figure a = c.figure(pair[0], "weighted_spill_bytes"), b = c.figure(pair[1], "weighted_spill_bytes");
      if (a && b) gap = std::max(gap, std::abs(results::log_ratio(*a, *b, results::find_measure("weighted_spill_bytes")->offset)));
    }
    return gap;
  }
  [[nodiscard]] double register_gap(const ReportCase& c) const {
    double gap = 0;
    for (const std::span<const std::string> group : rivals()) {
      Figure least, most;
      for (const std::string& a : group)
        if (const Figure used = c.figure(a, "registers")) {
          least = std::min(least.value_or(*used), *used);
          most = std::max(most.value_or(*used), *used);
        }
      if (least) gap = std::max(gap, static_cast<double>(*most - *least));
    }
    return gap;
  }

  // Those of a side that play here; of external allocators the answers that are kept of rows that have an objection.
  [[nodiscard]] Players players_of(const ReportCase& c, int side, const ir::Function& program) {
    Players players(results::settings_in(knobs_of(c, side)));
    for (const std::string& column : allocators_) {
      const auto row = c.of.find(column);
      if (row == c.of.end()) continue;
      const ReportConfiguration& of = data_.configurations[row->second->configuration];
      if (of.side != side) continue;
      players.add(of.allocator, column);
      if (row->second->verdict != "fail" || duel::command_in(of.allocator) == std::string::npos) continue;
      results::Sqlite db(of.path);
      if (const auto asked = results::answered_case({of.allocator, of.knobs, of.target, of.limits}, program))
        if (const auto answer = results::read_answer(db, *asked, of.allocator)) players.add_answer(column, *answer);
    }
    return players;
  }

  // Nothing where the database has not kept the program and nothing makes the same one again.
  [[nodiscard]] std::optional<duel::Case> input_of(const ReportCase& c) {
    auto input = results::case_of({"", knobs_of(c, last_side(c)), c.target, c.limits});
    if (!input) return std::nullopt;
    results::Sqlite db(data_.programs[c.program].path);
    auto program = results::read_program(db, data_.programs[c.program].id);
    if (!program) return std::nullopt;
    input->program = std::move(*program);
    return input;
  }

  std::string path_;
  ReportOptions options_;
  ReportDatabase data_;
  std::vector<std::string> allocators_, texts_;
  bool is_comparison_;
  std::map<std::string, std::size_t> text_places_;
  std::vector<ReportCase> cases_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> case_of_;  // by run, program, configuration
  // By hash, side, allocator, knobs, target, limits.
  std::map<std::tuple<std::string, int, std::string, std::string, std::string, std::string>, std::size_t> case_of_row_;
  std::map<std::int64_t, std::size_t> program_places_;  // by id
  Json details_ = Json::array();
  std::size_t detail_bytes_ = 0, over_budget_ = 0, no_program_ = 0, too_large_ = 0;
};

}  // namespace

Json report_document(const std::string& path, const ReportOptions& options) {
  return DocumentBuilder(path, read_report_database(path), {}, options).build();
}

Json comparison_document(const ComparedRuns& runs, bool across_knobs, const ReportOptions& options) {
  std::vector<std::string> columns;
  for (const ComparedAllocators& s : runs.sections)
    for (const std::string& column : {column_of(runs, s.newer, true), column_of(runs, s.older, false)})
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  DocumentBuilder builder(runs.newer.path, join(runs, across_knobs), columns, options);
  Json document = builder.build();
  document["columns"] = builder.columns_json();
  document["comparison"] = comparison_json(runs, across_knobs, options.version,
                                           [&](const results::ResultRow& row, int side) { return builder.case_of(row, side); });
  return document;
}

}  // namespace regduel::cli
