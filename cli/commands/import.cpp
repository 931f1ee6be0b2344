// regduel import: PTX in, RIR out, one file an entry or function.

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/counted.h"
#include "cli/command.h"
#include "cli/function_names.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/print/print.h"
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
  bool json = false, ssa = false, param_copies = false, strict = false;
};

constexpr std::string_view kIndex = "index.json";

// All of them as one module, or each as one.
std::string ptx_of(const std::vector<Program>& programs, bool is_one) {
  std::vector<ir::PtxFunction> functions;
  std::string text;
  for (const Program& p : programs) {
    functions.push_back({&p.function, p.text == nullptr ? &p.declared : nullptr, ir::ptx_style(p.function)});
    if (is_one) continue;
    text += ir::print_ptx(functions);
    functions.clear();
  }
  return is_one ? ir::print_ptx(functions) : text;
}

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
    save(path, o.emit == "dot" ? ir::to_dot(p.function) : o.emit == "ptx" ? ptx_of({p}, true) : ir::print_file(p.function));
    files.push_back({{"file", file}, {"function", p.function.name}, {"demangled", demangled(p.function.name)}});
    if (!o.json) fmt::print("{}\n", path);
  }
  save((directory / kIndex).string(), Json{{"from", o.input}, {"files", files}}.text());
}

// Of a directory, what can be read of it.
std::vector<Program> programs_of(const Options& o, std::vector<std::string>& unreadable) {
  const ir::ParamCopies param_copies = o.param_copies ? ir::ParamCopies::Kept : ir::ParamCopies::Folded;
  if (!is_directory(o.input)) return load(o.input, o.abi.name(), param_copies);
  if (o.output.empty()) throw BadInput("of a directory files are made: -o DIR");
  return load_all({o.input}, o.abi.name(), &unreadable, param_copies);
}

// The opcodes that the tables of the reader do not have, which became operations nevertheless, and how many instructions have each.
std::map<std::string, std::size_t> unknown_opcodes(const std::vector<Program>& programs) {
  std::map<std::string, std::size_t> unknown;
  ir::ptx::OpcodeTable opcodes;
  for (const Program& p : programs) {
    std::vector<std::size_t> uses(p.function.symbols.size(), 0);  // by mnemonic
    for (const ir::Inst& i : p.function.insts)
      if (i.op == ir::Op::Named && i.mnemonic.is_valid()) ++uses[i.mnemonic.index()];
    for (std::size_t s = 0; s < uses.size(); ++s) {
      const std::string_view text = uses[s] == 0 ? std::string_view() : p.function.symbols[ir::SymbolId(s)];
      if (text.empty() || text.starts_with("abi.")) continue;  // abi.entry is the reader's own
      if (!opcodes.find(text).info.is_known) unknown[std::string(text)] += uses[s];
    }
  }
  return unknown;
}

// Says which there are; with --strict it throws BadInput.
Json tell_unknown_opcodes(const Options& o, const std::vector<Program>& programs) {
  Json list = Json::object();
  std::string text;
  for (const auto& [opcode, count] : unknown_opcodes(programs)) {
    list[opcode] = count;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", opcode, count);
  }
  if (text.empty()) return list;
  if (o.strict) throw BadInput(fmt::format("{}: error: unknown opcodes: {}", o.input, text));
  warn(fmt::format("warning: {}: unknown opcodes, taken for operations: {} (--strict refuses them)", o.input, text));
  return list;
}

int import(const Options& o) {
  std::vector<std::string> unreadable;
  std::vector<Program> programs = programs_of(o, unreadable);
  for (const std::string& complaint : unreadable) warn(complaint);
  if (programs.empty()) throw BadInput(fmt::format("{}: error: there is no function with a body in it", o.input));
  const Json unknown = std::ranges::all_of(programs, [](const Program& p) { return p.text == nullptr; })
                           ? tell_unknown_opcodes(o, programs)
                           : Json::object();
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
  } else if (!o.json && o.emit == "ptx") {
    save("-", ptx_of(programs, true));
  } else if (!o.json) {
    ir::Module module;
    std::string dot;
    for (Program& p : programs) {
      if (o.emit == "dot") dot += ir::to_dot(p.function);
      module.functions.push_back(std::move(p.function));
    }
    save("-", o.emit == "dot" ? dot : ir::print(module));
  }
  if (o.json)
    print_json(
        {{"command", "import"}, {"file", o.input}, {"results", list}, {"unreadable", unreadable}, {"unknown_opcodes", unknown}});
  if (unreadable.empty()) return 0;
  warn(fmt::format("error: {} could not be read and was left out", counted(unreadable.size(), "file")));
  return kExitBadInput;
}

}  // namespace

Action declare_import(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "PTX file, or a directory of them (- = standard input)").required();
  a.option("-o,--output", &o->output,
           "Directory for one RIR file an entry or function, and index.json, which says whose each is (default: all to "
           "standard output)");
  a.option("--emit", &o->emit, "rir (text), dot (Graphviz) or ptx (one module that ptxas takes)")
      .one_of({"rir", "dot", "ptx"})
      .shows_default();
  o->abi.add_to(a);
  a.flag("--ssa", o->ssa, "In SSA form, with phis, as far as registers can be in it (regduel pass ssa)");
  a.flag("--param-copies", o->param_copies,
         "Keep each access to a parameter in a register as a copy, instead of letting the call name the registers");
  a.flag("--strict", o->strict, "Opcodes that the reader's tables do not have are an error");
  a.flag("--json", o->json, "One JSON document about what was read");
  a.footer("Example:  regduel import corpus/ptx/saxpy.ptx -o out");
  return [o] { return import(*o); };
}

}  // namespace regduel::cli
