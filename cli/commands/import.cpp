// regduel import: PTX in, RIR out, one file an entry or function.

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "ir/text/dot.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string emit = "rir";
  bool json = false;
};

// A function name as a file name: letters, digits and a few marks stay.
std::string file_name(std::string_view name, std::set<std::string>& taken) {
  std::string safe;
  for (const char c : name)
    safe += (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-') ? c : '_';
  if (safe.empty() || safe[0] == '.') safe = "_" + safe;
  std::string unique = safe;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", safe, n);
  return unique;
}

int import(const Options& o) {
  const std::vector<Program> programs = load(o.input);
  if (programs.empty()) throw BadInput(fmt::format("{}: error: there is no function with a body in it", o.input));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Program& p : programs)
    list.push_back({{"function", p.function.name},
                    {"kind", p.function.kind == ir::FunctionKind::Kernel ? "kernel" : "device"},
                    {"target", p.function.target},
                    {"instructions", p.function.insts.size()},
                    {"blocks", p.function.blocks.size()},
                    {"vregs", p.function.vregs.size()}});
  if (!o.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(o.output, error);
    if (error) throw BadInput(fmt::format("error: {}: {}", o.output, error.message()));
    std::set<std::string> taken;
    for (const Program& p : programs) {
      const std::string path = (std::filesystem::path(o.output) / file_name(p.function.name, taken)).string() + "." + o.emit;
      save(path, o.emit == "dot" ? ir::to_dot(p.function) : fmt::format("rir {}\n{}", ir::kTextVersion, ir::print(p.function)));
      if (!o.json) fmt::print("{}\n", path);
    }
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

void add_import_command(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Turn PTX into RIR");
  command->add_option("input", o->input, "PTX file (- = standard input)")->required();
  command->add_option("-o,--output", o->output,
                      "Directory for one RIR file an entry or function (default: all to standard output)");
  command->add_option("--emit", o->emit, "rir (text) or dot (Graphviz)")
      ->check(CLI::IsMember({"rir", "dot"}))
      ->capture_default_str();
  command->add_flag("--json", o->json, "One JSON document about what was read");
  command->footer("Example:  regduel import corpus/ptx/saxpy.ptx -o out");
  command->callback([o, &chosen] { chosen = [o] { return import(*o); }; });
}

}  // namespace regduel::cli
