// regduel pass: one pass on the functions of one file; `regduel verify` judges the two files as a pair.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "cli/show/pass_log_text.h"
#include "ir/text/text.h"
#include "passes/passes.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string pass, input, output = "-";
  TargetOptions target;
  AbiOption abi;
  std::vector<std::string> knobs;  // NAME=VALUE
  PassesOption passes;
  bool json = false;
};

std::string pass_names() {
  std::string names;
  for (const passes::Pass* p : passes::passes()) names += fmt::format("{}{}", names.empty() ? "" : ", ", p->name());
  return names;
}

Json sizes(const ir::Function& f) {
  std::size_t copies = 0, phis = 0;
  for (const ir::Inst& i : f.insts) {
    copies += i.is_copy() ? 1 : 0;
    phis += i.is_phi() ? 1 : 0;
  }
  return {
      {"vregs", f.vregs.size()}, {"blocks", f.blocks.size()}, {"instructions", f.insts.size()}, {"copies", copies}, {"phis", phis}};
}

int run_pass(const Options& o) {
  const passes::Pass* pass = passes::find_pass(o.pass);
  if (pass == nullptr) throw BadInput(fmt::format("no pass \"{}\" (there are {})", o.pass, pass_names()));
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& knob : o.knobs) {
    const std::size_t equals = knob.find('=');
    if (equals == std::string::npos || equals == 0) throw BadInput(fmt::format("--knob {}: expected NAME=VALUE", knob));
    settings.emplace_back(knob.substr(0, equals), knob.substr(equals + 1));
  }
  std::vector<Program> programs = load(o.input, o.abi.name());
  require_phase(programs, ir::Phase::Virtual);
  ir::Module result;
  std::string shown;
  std::vector<Json> list;
  for (Program& p : programs) {
    const ir::Target& target = o.target.resolve(p.function, p.file);
    ir::PassLog log;
    auto after = passes::run_recorded(*pass, p.function, target, {.knobs = settings, .passes = o.passes.record_in(log)});
    if (!after) throw BadInput(after.error());
    if (o.passes.is_given()) shown += text_of(p.function, log);
    list.push_back(
        {{"function", p.function.name}, {"pass", pass->name()}, {"before", sizes(p.function)}, {"after", sizes(*after)}});
    result.functions.push_back(std::move(*after));
  }
  if (!o.json || o.output != "-") save(o.output, ir::print(result));
  if (o.json) print_json({{"command", "pass"}, {"file", o.input}, {"results", list}});
  else fmt::print(o.output == "-" ? stderr : stdout, "{}", shown);
  return 0;
}

}  // namespace

Action declare_pass(Arguments& a) {
  auto o = std::make_shared<Options>();
  std::string known;
  for (const passes::Pass* p : passes::passes())
    known += fmt::format("{}{} ({})", known.empty() ? "" : "; ", p->name(), p->what_it_does());
  a.option("pass", &o->pass, "Which: " + known).required();
  a.option("input", &o->input, "RIR or PTX file (- = standard input)").required();
  a.option("-o,--output", &o->output, "Where to write the program (- = standard output)").shows_default();
  a.option("--knob", &o->knobs, "Set a knob of the pass (regduel knobs), NAME=VALUE; repeatable");
  a.flag("--json", o->json, "One JSON document with the sizes before and after (with -o: beside the program)");
  o->passes.add_to(a, "Show its time and sizes, and with series those of each pass");
  o->target.add_to(a);
  o->abi.add_to(a);
  a.footer("`regduel verify IN OUT` judges what it did. Example:  regduel pass copyprop a.rir -o b.rir");
  return [o] { return run_pass(*o); };
}

}  // namespace regduel::cli
