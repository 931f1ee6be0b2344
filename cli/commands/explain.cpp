// regduel explain: why one vreg got its register, or none, from the fat-point allocator.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocator/explain/explain.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/diagnostic.h"
#include "cli/show/explain_text.h"
#include "cli/show/live_text.h"
#include "cli/show/output.h"

namespace regduel::cli {
namespace {

constexpr std::string_view kExplains = "fatpoint";
constexpr std::size_t kColumns = 100;  // of the pressure curve

struct Options {
  std::string input, vreg, function;
  std::string with = std::string(kExplains);
  int regs = 255;
  TargetOptions target;
  AbiOption abi;
  KnobOptions knobs;
  bool all = false, json = false, live = false;
};

Program& choose_function(std::vector<Program>& programs, const Options& o) {
  if (programs.empty()) throw BadInput(fmt::format("{}: error: there is no function in it", o.input));
  std::vector<std::string> names;
  for (Program& p : programs) {
    if (p.function.name == o.function || (o.function.empty() && programs.size() == 1)) return p;
    names.push_back(p.function.name);
  }
  if (o.function.empty())
    throw BadInput(
        fmt::format("{}: there are {} functions: say which with --function ({})", o.input, names.size(), fmt::join(names, ", ")));
  throw BadInput(fmt::format("--function: no function \"{}\" in {} (there are {})", o.function, o.input, fmt::join(names, ", ")));
}

// "%4", "4", or a name as the text form declares it, with or without its %.
ir::VRegId find_vreg(const ir::Function& f, const std::string& asked) {
  const std::string_view bare = std::string_view(asked).substr(asked.starts_with('%') ? 1 : 0);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(bare.data(), bare.data() + bare.size(), number);
  if (error == std::errc() && end == bare.data() + bare.size() && number < f.vregs.size()) return ir::VRegId(number);
  std::optional<ir::VRegId> found;
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    const std::string_view name = f.symbols[f.vregs[v].name];
    if (name.empty() || (name != asked && name != bare && name != fmt::format("%{}", bare))) continue;
    if (found) throw BadInput(fmt::format("--vreg {}: %{} and %{} of @{} both have that name", asked, found->value, v, f.name));
    found = ir::VRegId(v);
  }
  if (!found)
    throw BadInput(fmt::format("--vreg {}: @{} has {} vregs, %0 to %{}, and none of that name", asked, f.name, f.vregs.size(),
                               std::ssize(f.vregs) - 1));
  return *found;
}

int explain(const Options& o) {
  check_registers(o.regs);
  const ir::Allocator& allocator = AllocatorOptions().named(o.with);
  if (allocator.name() != kExplains) throw BadInput(fmt::format("--with {}: only {} explains itself", o.with, kExplains));
  const auto settings = o.knobs.settings(std::array{&allocator});
  std::vector<Program> programs = load(o.input, o.abi.name());
  require_phase(programs, ir::Phase::Virtual);
  Program& p = choose_function(programs, o);
  const ir::VRegId vreg = find_vreg(p.function, o.vreg);
  const ir::Target& target = o.target.resolve(p.function, p.file);
  ir::AllocOptions options;
  options.limits = o.target.limits_for(target, o.regs);
  options.knobs = settings;
  const auto explanation = allocator::explain(p.function, target, options, vreg);
  if (!explanation) {
    if (explanation.error().kind == ir::AllocFailure::Kind::BadKnob)
      throw BadInput(fmt::format("--knob: {}", explanation.error().message));
    fmt::print(stderr, "{}: {}\n", p.file, ir::failure_report(p.function, explanation.error()));
    return kExitFinding;
  }
  if (o.json) {
    Json document = {
        {"command", "explain"}, {"file", o.input}, {"function", p.function.name}, {"allocator", kExplains}, {"limit", o.regs}};
    document.update(explain_json(*explanation));
    print_json(document);
  } else {
    fmt::print("{}", explain_text(*explanation, {.all = o.all, .colours = wants_colours()}));
    if (o.live) fmt::print("{}", live_text(p.function, options.limits, vreg, kColumns));
  }
  return 0;
}

}  // namespace

Action declare_explain(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "RIR or PTX file (- = standard input)").required();
  a.option("--vreg", &o->vreg, "Which: its number (%4 or 4) or its name").required();
  a.option("--function", &o->function, "In which function; needed where the file has several");
  a.option("--with", &o->with, "Allocator; only fatpoint explains itself").shows_default();
  a.option("--regs,--maxrregcount", &o->regs, "Limit of the general register file (classes R and Ralt), 1 to 255").shows_default();
  o->target.add_to(a);
  o->abi.add_to(a);
  o->knobs.add_to(a, "Set a knob of the allocator (regduel knobs), NAME=VALUE or ID=VALUE; repeatable");
  a.flag("--all", o->all, "Every attempt in full, not only the one that decided");
  a.flag("--live", o->live, "The pressure curve of its file too, and its live range beside those that it overlaps");
  a.flag("--json", o->json, "One JSON document: every attempt in full, both arrays slot by slot");
  a.footer(
      "Moments of an instruction: R uses are read, C clobbers happen, W defs are written. * is the attempt whose result is "
      "emitted.\n"
      "Exit status 1: the limit is impossible. Example:  regduel explain --vreg %4 --regs 16 a.rir");
  return [o] { return explain(*o); };
}

}  // namespace regduel::cli
