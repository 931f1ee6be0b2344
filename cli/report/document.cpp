// See document.h.
#include "cli/report/document.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/database.h"
#include "cli/report/function_detail.h"
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

class DocumentBuilder {
 public:
  DocumentBuilder(const std::string& path, const ReportOptions& options)
      : path_(path), options_(options), data_(read_report_database(path)) {}

  Json build() {
    list_allocators();
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

 private:
  void list_allocators() {
    std::set<std::string> names;
    for (const auto& [id, c] : data_.configurations) names.insert(c.allocator);
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
      // One allocator with other knobs in the same run is another case.
      const auto free = std::ranges::find_if(same, [&](const ReportCase& k) { return !k.of.contains(c.allocator); });
      ReportCase& into = free == same.end() ? same.emplace_back(std::move(made)) : *free;
      into.of[c.allocator] = &r;
    }
    for (auto& [key, same] : cases)
      for (ReportCase& c : same) cases_.push_back(std::move(c));
    for (std::size_t k = 0; k < cases_.size(); ++k)
      for (const auto& [allocator, r] : cases_[k].of) case_of_[{r->run, r->program, r->configuration}] = k;
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
      runs.push_back({{"id", r.id},
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
    results::Sqlite db(path_);
    for (const ReportCase& c : cases_) program_places_.try_emplace(c.program, 0);
    std::size_t place = 0;
    for (auto& [id, at] : program_places_) {
      at = place++;
      const ReportProgram& p = data_.programs[id];
      hash.push_back(p.hash.substr(0, kShownOfHash));
      name.push_back(p.name);
      source.push_back(p.source);
      instructions.push_back(p.instructions);
      fixed.push_back(highest_fixed(db, id));
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

  // Of all its allocators: each takes those that it has.
  [[nodiscard]] std::string knobs_of(const ReportCase& c) {
    std::map<std::string, std::string> all;
    for (const auto& [allocator, r] : c.of)
      for (auto& [knob, value] : results::settings_in(data_.configurations[r->configuration].knobs)) all[knob] = value;
    std::string out;
    for (const auto& [knob, value] : all) out += fmt::format("{}{}={}", out.empty() ? "" : " ", knob, value);
    return out;
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
      columns["knobs"].push_back(text(knobs_of(c)));
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
                      {"allocator", data_.configurations.at(o.configuration).allocator},
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
                      {"arguments", fuzz::replay_arguments(input, {f.allocator})},
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
    results::Sqlite db(path_);
    for (std::size_t k = 0; k < data_.findings.size(); ++k) {
      std::map<std::string, std::string> answers;
      if (const auto answer = results::read_answer(db, results::content_hash(data_.findings[k].input), data_.findings[k].allocator))
        answers[data_.findings[k].allocator] = *answer;
      std::vector<std::string> names = {data_.findings[k].allocator};
      for (const std::string& a : duel::allocator_names()) names.push_back(a);
      findings[k]["detail"] = add_detail(duel::decode_case(data_.findings[k].input), names,
                                         {{"title", data_.findings[k].bucket}, {"finding", k}}, answers);
    }
    for (const std::size_t k : cases_by_interest()) {
      if (details_.size() >= options_.details) break;
      ReportCase& c = cases_[k];
      const auto input = case_of(db, c);
      if (!input) {
        ++no_program_;
        continue;
      }
      std::vector<std::string> names;
      for (const std::string& a : allocators_)
        if (c.of.contains(a)) names.push_back(a);
      c.detail =
          add_detail(*input, names, {{"title", data_.programs[c.program].name}, {"case", k}}, answers_to(db, c, input->program));
    }
  }

  // Its place in the list, or -1.
  //   answers   of allocators that do not play here, by name: the programs that they made, as text
  int add_detail(const duel::Case& input, const std::vector<std::string>& names, const Json& head,
                 const std::map<std::string, std::string>& answers) {
    if (details_.size() >= options_.details) return -1;
    if (input.program.insts.size() > kMostDetailedInstructions) return ++too_large_, -1;
    if (detail_bytes_ > kMostDetailBytes) return ++over_budget_, -1;
    std::vector<const ir::Allocator*> allocators;
    std::vector<std::unique_ptr<KeptAnswer>> kept;
    for (const auto& [name, text] : answers)
      if (auto module = ir::parse(text, name); module && module->functions.size() == 1) {
        kept.push_back(std::make_unique<KeptAnswer>(name, std::move(module->functions[0])));
        allocators.push_back(kept.back().get());
      }
    for (const std::string& name : names)
      if (const ir::Allocator* a = duel::find_allocator(name); a != nullptr && std::ranges::find(allocators, a) == allocators.end())
        allocators.push_back(a);
    Json detail = head;
    detail.update(function_detail(input, allocators));
    detail_bytes_ += detail.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    details_.push_back(std::move(detail));
    return static_cast<int>(details_.size()) - 1;
  }

  // What judges objected to; then in turns the largest difference between allocators in spill bytes (of the first two, by ratio), and in
  // registers.
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
  [[nodiscard]] double spill_gap(const ReportCase& c) const {
    if (allocators_.size() < 2) return 0;
    const Figure a = c.figure(allocators_[0], "weighted_spill_bytes"), b = c.figure(allocators_[1], "weighted_spill_bytes");
    if (!a || !b) return 0;
    return std::abs(results::log_ratio(*a, *b, results::find_measure("weighted_spill_bytes")->offset));
  }
  [[nodiscard]] double register_gap(const ReportCase& c) const {
    Figure least, most;
    for (const std::string& a : allocators_)
      if (const Figure used = c.figure(a, "registers")) {
        least = std::min(least.value_or(*used), *used);
        most = std::max(most.value_or(*used), *used);
      }
    return least ? static_cast<double>(*most - *least) : 0;
  }

  // What external allocators were seen to answer, of those rows that have an objection.
  [[nodiscard]] std::map<std::string, std::string> answers_to(results::Sqlite& db, const ReportCase& c,
                                                              const ir::Function& program) {
    std::map<std::string, std::string> answers;
    for (const auto& [allocator, r] : c.of) {
      if (r->verdict != "fail" || duel::command_in(allocator) == std::string::npos) continue;
      const ReportConfiguration& configuration = data_.configurations[r->configuration];
      const auto asked =
          results::answered_case({allocator, configuration.knobs, configuration.target, configuration.limits}, program);
      if (!asked) continue;
      if (const auto answer = results::read_answer(db, *asked, allocator)) answers[allocator] = *answer;
    }
    return answers;
  }

  // Nothing where the database has not kept the program and nothing makes the same one again.
  [[nodiscard]] std::optional<duel::Case> case_of(results::Sqlite& db, const ReportCase& c) {
    auto input = results::case_of({"", knobs_of(c), c.target, c.limits});
    if (!input) return std::nullopt;
    auto program = results::read_program(db, c.program);
    if (!program) return std::nullopt;
    input->program = std::move(*program);
    return input;
  }

  std::string path_;
  ReportOptions options_;
  ReportDatabase data_;
  std::vector<std::string> allocators_, texts_;
  std::map<std::string, std::size_t> text_places_;
  std::vector<ReportCase> cases_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> case_of_;  // by run, program, configuration
  std::map<std::int64_t, std::size_t> program_places_;                                   // by id
  Json details_ = Json::array();
  std::size_t detail_bytes_ = 0, over_budget_ = 0, no_program_ = 0, too_large_ = 0;
};

}  // namespace

Json report_document(const std::string& path, const ReportOptions& options) { return DocumentBuilder(path, options).build(); }

}  // namespace regduel::cli
