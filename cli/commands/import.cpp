// regduel import: PTX in, RIR out, one file an entry or function.

#include <filesystem>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/function_names.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "ir/text/dot.h"
#include "ir/text/text.h"
#include "passes/ssa/ssa.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string emit = "rir";
  AbiOption abi;
  bool json = false, ssa = false, param_copies = false;
};

constexpr std::string_view kIndex = "index.json";

// One file a function, and the index, which says whose each is: names may be longer than a file's, or have bytes that it may not.
void write_files(const Options& o, const std::vector<Program>& programs) {
  std::error_code error;
  std::filesystem::create_directories(o.output, error);
  if (error) throw BadInput(fmt::format("error: {}: {}", o.output, error.message()));
  const std::filesystem::path directory(o.output);
  FileNames names;
  Json files = Json::array();
  for (const Program& p : programs) {
    const std::string file = names.of(p.function.name) + "." + o.emit, path = (directory / file).string();
    save(path, o.emit == "dot" ? ir::to_dot(p.function) : ir::print_file(p.function));
    files.push_back({{"file", file}, {"function", p.function.name}, {"demangled", demangled(p.function.name)}});
    if (!o.json) fmt::print("{}\n", path);
  }
  save((directory / kIndex).string(), Json{{"from", o.input}, {"files", files}}.text());
}

int import(const Options& o) {
  std::vector<Program> programs = load(o.input, o.abi.name(), o.param_copies ? ir::ParamCopies::Kept : ir::ParamCopies::Folded);
  if (programs.empty()) throw BadInput(fmt::format("{}: error: there is no function with a body in it", o.input));
  if (o.ssa)
    for (Program& p : programs) {
      require_phase({p}, ir::Phase::Virtual);
      p.function = *passes::ssa().run(p.function, ir::default_target(), {});
    }
  Json list = Json::array();
  for (const Program& p : programs)
    list.push_back({{"function", p.function.name},
                    {"kind", p.function.kind == ir::FunctionKind::Kernel ? "kernel" : "device"},
                    {"target", p.function.target},
                    {"instructions", p.function.insts.size()},
                    {"blocks", p.function.blocks.size()},
                    {"vregs", p.function.vregs.size()}});
  if (!o.output.empty()) {
    write_files(o, programs);
  } else if (!o.json) {
    ir::Module module;
    std::string dot;
    for (const Program& p : programs) {
      dot += ir::to_dot(p.function);
      module.functions.push_back(p.function);
    }
    save("-", o.emit == "dot" ? dot : ir::print(module));
  }
  if (o.json) print_json({{"command", "import"}, {"file", o.input}, {"results", list}});
  return 0;
}

}  // namespace

Action declare_import(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "PTX file (- = standard input)").required();
  a.option("-o,--output", &o->output,
           "Directory for one RIR file an entry or function, and index.json, which says whose each is (default: all to "
           "standard output)");
  a.option("--emit", &o->emit, "rir (text) or dot (Graphviz)").one_of({"rir", "dot"}).shows_default();
  o->abi.add_to(a);
  a.flag("--ssa", o->ssa, "In SSA form, with phis, as far as registers can be in it (regduel pass ssa)");
  a.flag("--param-copies", o->param_copies,
         "Keep each access to a parameter in a register as a copy, instead of letting the call name the registers");
  a.flag("--json", o->json, "One JSON document about what was read");
  a.footer("Example:  regduel import corpus/ptx/saxpy.ptx -o out");
  return [o] { return import(*o); };
}

}  // namespace regduel::cli
