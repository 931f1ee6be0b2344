// regduel test: cases whose heads say what is to come of them, played against any allocator.

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/io.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/parallel.h"
#include "cli/show/output.h"
#include "cli/show/xml.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/duel.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string with, junit;
  AllocatorOptions allocators;
  int jobs = 0;
  bool is_verbose = false, json = false;
};

// What the head of a case expects: the words behind "// verdict:" and the texts behind "// becomes:".
struct Expectation {
  std::string verdict = "pass";
  std::vector<std::string> becomes;
};

enum class Outcome { Pass, Fail, Unsupported };
constexpr std::array<std::string_view, 3> kOutcomes = {"PASS", "FAIL", "UNSUPPORTED"};

struct Played {
  std::string file;
  Outcome outcome = Outcome::Pass;
  std::string why;
};

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at), static_cast<int>(line));
    at = end + 1;
  }
}

Expectation expectation_in(std::string_view text, const std::string& file) {
  constexpr std::string_view kVerdict = "// verdict:", kBecomes = "// becomes:";
  Expectation e;
  each_line(text, [&](std::string_view line, int number) {
    if (line.starts_with(kBecomes)) e.becomes.push_back(trimmed(line.substr(kBecomes.size())));
    if (!line.starts_with(kVerdict)) return;
    e.verdict = trimmed(line.substr(kVerdict.size()));
    if (e.verdict != "pass" && e.verdict != "fail" && e.verdict != "impossible")
      throw BadInput(fmt::format("{}:{}:1: error: expected pass, fail or impossible, found \"{}\"", file, number, e.verdict));
  });
  return e;
}

// The first text that stands in no line of the program behind the one before; nullopt where all do.
std::optional<std::string> not_found(const std::vector<std::string>& wanted, const ir::Function& program) {
  std::size_t next = 0;
  each_line(ir::print_file(program), [&](std::string_view line, int) {
    if (next < wanted.size() && line.contains(wanted[next])) ++next;
  });
  return next == wanted.size() ? std::nullopt : std::optional(wanted[next]);
}

Played play(const std::string& file, const ir::Allocator& allocator) {
  const auto text = read_file(file);
  if (!text) throw BadInput(fmt::format("error: {}", text.error()));
  const Expectation wanted = expectation_in(*text, file);
  const std::array one = {&allocator};
  const duel::Duel d = duel::duel(load_case(file), {.duelists = one});
  const duel::Bout& b = d.bouts[0];
  if (!b.unsupported.empty()) return {file, Outcome::Unsupported, b.reason()};
  const std::string verdict = b.verdict() == oracles::Verdict::Skipped ? "impossible" : std::string(oracles::name(b.verdict()));
  if (verdict != wanted.verdict) {
    const auto findings = b.findings();
    return {file, Outcome::Fail,
            fmt::format("the verdict is {}, expected {}{}", verdict, wanted.verdict,
                        findings.empty() ? b.reason().empty() ? "" : ": " + b.reason()
                                         : fmt::format(": {}: {}", b.signatures().front(), findings.front().message))};
  }
  if (b.program)
    if (const auto missing = not_found(wanted.becomes, *b.program))
      return {file, Outcome::Fail,
              fmt::format("\"{}\" stands nowhere in the allocated program, or before the text above it", *missing)};
  return {file, Outcome::Pass, ""};
}

std::vector<std::string> cases_in(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs)
    if (!is_directory(input)) files.push_back(input);
    else
      for (std::string& file : files_below(input))
        if (file.ends_with(".rir")) files.push_back(std::move(file));
  if (files.empty()) throw BadInput("error: there is no .rir file in the input");
  return files;
}

std::string junit_text(const std::vector<Played>& all) {
  std::string cases;
  std::size_t failures = 0;
  for (const Played& p : all) {
    cases += fmt::format("    <testcase classname=\"regduel\" name=\"{}\"", xml_escaped(p.file));
    if (p.outcome == Outcome::Pass) cases += "/>\n";
    else if (p.outcome == Outcome::Unsupported)
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml_escaped(p.why));
    else cases += fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n", xml_escaped(p.why));
    failures += p.outcome == Outcome::Fail ? 1 : 0;
  }
  return junit_document("regduel test", all.size(), failures, cases);
}

int test(const Options& o) {
  const ir::Allocator& allocator = o.allocators.named(o.with);
  const std::vector<std::string> files = cases_in(o.inputs);
  require_file_possible(o.junit);
  std::vector<Played> all;
  std::array<std::size_t, kOutcomes.size()> counts = {};
  Progress progress("test", std::ssize(files));
  const std::function<Played(std::int64_t)> work = [&](std::int64_t k) {
    return play(files[static_cast<std::size_t>(k)], allocator);
  };
  const std::function<bool(std::int64_t, Played)> take = [&](std::int64_t, Played p) {
    ++counts[static_cast<std::size_t>(p.outcome)];
    if (!o.json && (o.is_verbose || p.outcome == Outcome::Fail))
      progress.say(
          fmt::format("{}: {}{}\n", kOutcomes[static_cast<std::size_t>(p.outcome)], p.file, p.why.empty() ? "" : ": " + p.why));
    all.push_back(std::move(p));
    progress.step();
    return true;
  };
  in_order<Played>(std::ssize(files), resolve_jobs(o.jobs), work, take);
  progress.done();
  if (!o.junit.empty()) save(o.junit, junit_text(all));
  if (o.json) {
    Json list = Json::array();
    for (const Played& p : all)
      list.push_back({{"file", p.file}, {"outcome", kOutcomes[static_cast<std::size_t>(p.outcome)]}, {"reason", p.why}});
    print_json({{"command", "test"}, {"allocator", o.with}, {"results", list}});
  } else if (o.junit != "-") {
    fmt::print("{} against {}: {} passed, {} failed, {} unsupported\n", counted(all.size(), "case"),
               duel::shown_name(allocator.name()), counts[0], counts[1], counts[2]);
  }
  return counts[1] > 0 ? kExitFinding : 0;
}

}  // namespace

Action declare_test(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("inputs", &o->inputs, "Cases, or directories of them: .rir files whose heads say how to play them").required();
  a.option("--with", &o->with, fmt::format("Allocator: {}{}", duel::duelist_names(), kExecHelp)).required();
  o->allocators.add_to(a);
  add_jobs(a, o->jobs, "Threads, 0 = one a core; the output is the same for any number");
  a.flag("-v,--verbose", o->is_verbose, "Show each case, and not those that fail alone");
  a.option("--junit", &o->junit, "File for a test report (- = standard output)");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "The head of a case has lines like these:\n"
      "// target: sm_90\n"
      "// limit: R=16\n"
      "// knob: NAME=VALUE\n"
      "// verdict: pass          or fail, or impossible; pass where nothing is said\n"
      "// becomes: R0 = refill   stands in a line of the allocated program, behind the line of the one before\n"
      "What the allocator does not support is counted, and fails nothing. Exit status 1: a case fails.\n"
      "Example:  regduel test corpus/regression --with exec:'python3 example/linear_scan.py'");
  return [o] { return test(*o); };
}

}  // namespace regduel::cli
