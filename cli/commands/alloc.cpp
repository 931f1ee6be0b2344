// regduel alloc: one allocator on the functions of one file.

#include <unistd.h>

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "allocator/frame/lower_spills.h"
#include "cli/command.h"
#include "cli/function_names.h"
#include "cli/input.h"
#include "cli/ipra.h"
#include "cli/least_registers.h"
#include "cli/options.h"
#include "cli/ptxas_lines.h"
#include "cli/show/output.h"
#include "cli/show/pass_log_text.h"
#include "cli/show/spilled_values.h"
#include "cli/show/terminal.h"
#include "duel/allocators.h"
#include "ir/launch.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/completeness.h"
#include "oracles/limit_by_point.h"
#include "oracles/pair/raise.h"
#include "oracles/quality/frame_use.h"
#include "oracles/quality/quality.h"
#include "oracles/quality/spill_statistics.h"
#include "reference/exact/exact.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string input;
  std::string output = "-";
  std::string with = "fatpoint";
  std::string regs;  // a number, or "file"
  TargetOptions target;
  AbiOption abi;
  KnobOptions knobs;
  AllocatorOptions allocators;
  std::int64_t fuel = -1;
  bool ipra = false;
  bool stats = false, verbose = false, warns_on_spills = false, trace = false, json = false, lower_spills = false, spills = false;
  PassesOption passes;
  std::string proof;
};

class StderrTrace : public ir::Trace {
 public:
  void line(std::string text) override { fmt::print(stderr, "{}\n", text); }
};

std::string statistics(const ir::Function& f, const std::string& allocator, const oracles::Measures& m,
                       const oracles::SpillStatistics& s, std::int64_t in_use) {
  std::string registers;
  for (const ir::RegFile file : ir::kAllFiles)
    if (m.registers[ir::index(file)] > 0 || m.max_live[ir::index(file)] > 0)
      registers += fmt::format("  {} {} (MaxLive {})", ir::name(file), m.registers[ir::index(file)], m.max_live[ir::index(file)]);
  const std::string shared = m.shared_frame_bytes == 0
                                 ? ""
                                 : fmt::format("  shared frame {} bytes a thread, at {}, within {}\n", m.shared_frame_bytes,
                                               ir::kSmemPhaseSymbol, ir::kSmemMaskSymbol);
  return fmt::format(
      "@{} by {}\n  registers:{}\n  spill stores {} ({} bytes), refills {} ({} bytes), stack frame {} bytes ({} in use at a time), "
      "weighted spill bytes "
      "{}\n"
      "{}  copies inserted {}, kept {}; remats {}; edge blocks {}; instructions {} -> {}; occupancy {}%\n{}",
      f.name, allocator, registers, m.spill_stores, m.spill_store_bytes, m.spill_loads, m.spill_load_bytes, m.local_frame_bytes,
      in_use, m.weighted_spill_bytes ? std::to_string(*m.weighted_spill_bytes) : "saturated", shared, m.inserted_copies,
      m.kept_copies, m.remats, m.edge_blocks, m.instructions_before, m.instructions_after, m.occupancy_percent,
      oracles::report_lines(s));
}

Json to_json(const oracles::SpillStatistics& s) {
  Json fields = Json::object();
  fields["est latency"] = s.estimated_latency;
  for (const auto& [name, field] : oracles::kSpillFields) fields[std::string(name)] = s.*field;
  return fields;
}

// One line that says which function failed, at which instruction, and why.
std::string failure_text(const ir::Function& f, ir::AllocFailure failure) {
  if (failure.kind == ir::AllocFailure::Kind::Unsupported) failure.message.insert(0, "unsupported: ");
  if (failure.kind == ir::AllocFailure::Kind::Broken)
    failure.message.insert(0, fmt::format("harness/broken-{}: ", failure.category));
  return ir::failure_report(f, failure);
}

Json row_json(const Options& o, int limit, const std::string& function, const oracles::Measures& m,
              const oracles::SpillStatistics& spills, std::int64_t in_use) {
  return {{"function", function},
          {"allocator", o.with},
          {"limit", limit},
          {"registers", m.registers[0]},
          {"max_live", m.max_live[0]},
          {"spill_store_bytes", m.spill_store_bytes},
          {"spill_load_bytes", m.spill_load_bytes},
          {"weighted_spill_bytes", m.weighted_spill_bytes},
          {"stack_frame_bytes", m.local_frame_bytes},
          {"stack_bytes_in_use", in_use},
          {"instructions", m.instructions_after},
          {"occupancy_percent", m.occupancy_percent},
          {"statistics", to_json(spills)}};
}

// --regs: a limit for all functions, or what the launch bounds of each leave it; 0 = none.
int limit_of(const Options& o, const Program& p, const ir::Target& target) {
  if (o.regs.empty()) return 0;
  return o.regs == "file" ? ir::launch_limit(p.declared.bounds, target).registers : parse_registers({o.regs}).at(0);
}

// Where a failure is in a PTX file, and the limit that would do.
std::string failure_of(const Options& o, const Program& p, const ir::Target& target, const ir::AllocFailure& failure) {
  const std::vector<std::uint32_t>& lines = p.declared.lines;
  const std::string place =
      failure.inst.is_valid() && failure.inst.index() < lines.size() ? fmt::format(":{}", lines[failure.inst.index()]) : "";
  std::string text = fmt::format("{}{}: {}", p.file, place, failure_text(p.function, failure));
  if (failure.kind != ir::AllocFailure::Kind::Impossible) return text;
  const auto limits_of = [&](int registers) { return o.target.limits_for(target, registers); };
  const int enough = least_registers(p.function, target, limits_of);
  const auto impossible = oracles::find_impossible(p.function, target, limits_of(enough));
  if (!impossible) return fmt::format("{}; {} registers would do", text, enough);
  // No limit at the entry helps where an instruction on the way lowers it.
  const ir::Inst& there = *p.function.find_inst(*impossible);
  const auto demand = oracles::demand(p.function, there, ir::RegFile::R, target);
  const oracles::LimitByPoint limit(p.function, limits_of(0).of(ir::RegFile::R));
  const int left = limit.before(static_cast<std::size_t>(&there - p.function.insts.data()));
  return demand > left ? fmt::format("{}; setmaxnreg leaves {} registers there, and {} would do", text, left, *demand) : text;
}

int alloc(const Options& o) {
  if (!o.regs.empty() && o.regs != "file" && parse_registers({o.regs}).size() != 1)
    throw BadInput(fmt::format("--regs: expected 1 to 255 or file, found \"{}\"", o.regs));
  const ir::Allocator& allocator = o.allocators.named(o.with);
  const auto settings = o.knobs.settings(std::array{&allocator});
  std::vector<Program> programs = load(o.input, o.abi.name());
  require_phase(programs, ir::Phase::Virtual);
  require_different_names(programs);
  if (programs.empty()) throw BadInput(fmt::format("{}: error: there is no function in it", o.input));
  if (!o.proof.empty() && !o.with.starts_with("exact"))
    throw BadInput(fmt::format("--proof: {} proves nothing, exact does", o.with));
  StderrTrace trace;
  ir::Module result;
  result.functions.resize(programs.size());
  std::vector<std::string> stats(programs.size());
  std::string notes;
  std::vector<Json> list(programs.size());
  PtxasLines ptxas_lines(programs);
  const BottomUp callees_first = bottom_up(programs);
  CalleeClobbers clobbers;
  FileNames proof_names;
  for (std::size_t step = 0; step < programs.size(); ++step) {
    const std::size_t k = o.ipra ? callees_first.order[step] : step;
    Program& p = programs[k];
    const ir::Target& target = o.target.resolve(p.function, p.file);
    if (o.ipra) p.function = clobbers.applied_to(p.function);
    ir::AllocOptions options;
    const int limit = limit_of(o, p, target);
    options.limits = o.target.limits_for(target, limit);
    options.knobs = settings;
    options.trace = o.trace ? &trace : nullptr;
    ir::Fuel fuel{.limit = o.fuel};
    if (o.fuel >= 0) options.fuel = &fuel;
    if (!o.proof.empty())
      options.knobs.emplace_back(reference::kExactProof,
                                 programs.size() == 1 ? o.proof : fmt::format("{}.{}", o.proof, proof_names.of(p.function.name)));
    ir::PassLog passes;
    options.passes = o.passes.record_in(passes);
    auto allocation = o.lower_spills ? allocator::allocate_lowered(allocator, p.function, target, options)
                                     : allocator.allocate(p.function, target, options);
    if (!allocation) {
      if (allocation.error().kind == ir::AllocFailure::Kind::BadKnob)
        throw BadInput(fmt::format("--knob: {}", allocation.error().message));
      fmt::print(stderr, "{}\n", failure_of(o, p, target, allocation.error()));
      return kExitFinding;
    }
    // What a rewriting pass made of the program is what is allocated, and counts from here on.
    if (!allocation->runs.empty()) {
      p.function = std::move(allocation->runs[0].before);
      allocation->program = std::move(allocation->runs[0].after);
      allocation->notes.emplace_back(
          "is allocated as the passes rewrite it: `regduel verify` wants what `regduel pass` makes as the program before");
    }
    for (const std::string& note : allocation->notes) notes += fmt::format("{}: note: @{}: {}\n", p.file, p.function.name, note);
    const oracles::Measures m = oracles::measure({p.function, target}, allocation->program);
    if (o.passes.is_given()) stats[k] += text_of(p.function, passes);
    // Of lowered spill code what it stands for is counted.
    const auto raised = oracles::raise(p.function, allocation->program, target, options.limits);
    const ir::Function& counted = raised ? raised->program : allocation->program;
    Json spilled;
    const oracles::SpillStatistics spills = oracles::spill_statistics(m, p.function, counted);
    const std::int64_t in_use = oracles::most_bytes_in_use(counted, ir::Cfg(counted), ir::MemSpace::Local);
    if (o.stats) stats[k] += statistics(p.function, o.with, m, spills, in_use);
    if (o.spills) {
      const std::vector<SpilledValue> values = spilled_values(p.function, counted);
      stats[k] += values.empty() ? fmt::format("@{}: nothing is spilled or rematerialised\n", p.function.name)
                                 : fmt::format("@{}\n{}", p.function.name, text_of(values, columns_of(STDERR_FILENO)));
      spilled = json_of(values);
    }
    const ir::LaunchLimit bounds = ir::launch_limit(p.declared.bounds, target);
    const std::string properties =
        ptxas_lines.of_function(k, target, m, spills, limit, o.regs == "file" ? bounds.reason : "maxrregcount option");
    if (o.verbose) stats[k] += properties;
    for (const std::string& note : notes_of_launch(p.declared.bounds, target, m, registers_at_entry(p.function, m, limit),
                                                   o.regs == "file" ? &bounds : nullptr))
      notes += fmt::format("{}: note: @{}: {}\n", p.file, p.function.name, note);
    if (const auto warning = oracles::spill_warning(p.function.name, spills); warning && o.warns_on_spills)
      fmt::print(stderr, "regduel warning : {}\n", *warning);
    list[k] = row_json(o, options.limits.of(ir::RegFile::R), p.function.name, m, spills, in_use);
    if (o.spills) list[k]["spilled_values"] = std::move(spilled);
    if (o.ipra && callees_first.is_known[k]) clobbers.add(p.function, allocation->program, target);
    result.functions[k] = std::move(allocation->program);
  }
  for (std::size_t k = 0; k < programs.size() && o.verbose; ++k) stats[k] += ptxas_lines.of_kernel(k);
  if (!o.json || o.output != "-") save(o.output, ir::print(result));
  fmt::print(stderr, "{}", notes);
  if (o.json) print_json({{"command", "alloc"}, {"file", o.input}, {"results", list}});
  else fmt::print(o.output == "-" ? stderr : stdout, "{}", fmt::join(stats, ""));
  return 0;
}

}  // namespace

Action declare_alloc(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "RIR or PTX file (- = standard input)").required();
  a.option("-o,--output", &o->output, "Where to write the allocated program (- = standard output)").shows_default();
  a.option("--with", &o->with, fmt::format("Allocator: {}{}", duel::duelist_names(), kExecHelp)).shows_default();
  a.option("--regs,--maxrregcount", &o->regs,
           "Limit of the general register file (classes R and Ralt), 1 to 255 (default: no limit), or file: what the launch bounds "
           "of each "
           "kernel of a PTX file leave it, as with ptxas");
  o->allocators.add_to(a);
  o->target.add_to(a);
  o->abi.add_to(a);
  o->knobs.add_to(a, "Set a knob of the allocator (regduel knobs), NAME=VALUE or ID=VALUE; repeatable");
  a.option("--fuel", &o->fuel,
           "How many of its optional decisions the allocator may take in each function; what is plain is done from there "
           "on (see bisect)")
      .at_least_zero();
  a.flag("--ipra", o->ipra,
         "Allocate callees first: a call of a function with a body in the file destroys what its allocation writes, and no "
         "more; not in recursion, nor through registers. `regduel verify --ipra` judges the result");
  a.flag("--lower-spills", o->lower_spills,
         "Replace spills and refills by the instructions that compute their addresses and access memory; two registers "
         "are kept for addresses where the program spills");
  a.flag("--stats", o->stats, "Show registers, spills and copies, and the spill statistics in the lines of ptxas");
  a.flag("--spills", o->spills,
         "Show each value that is spilled or computed again: its line of the source, bytes, bytes times the weight of their block, "
         "depth of loops, and with how many registers it would stay in one");
  a.flag("-v,--verbose", o->verbose, "Show the stack frame, spills and registers of each function, as ptxas -v does");
  a.flag("--warn-on-spills", o->warns_on_spills,
         "Warn of each function whose registers are spilled to local memory, as ptxas does");
  o->passes.add_to(a, "Show each pass with its time and sizes");
  a.option("--proof", &o->proof,
           "With exact and exact-spill: write the certificate that nothing is better, for scripts/check-proof: a graph and its "
           "clique (PATH.*.col, .clique), or a formula (DIMACS) and its refutation (DRAT: .cnf, .drat); of several functions to "
           "PATH.FUNCTION.*")
      .type("PATH");
  a.flag("--trace", o->trace, "Show what the allocator does, on standard error");
  a.flag("--json", o->json, "One JSON document with the figures (with -o: beside the program)");
  a.footer(
      "Exit status 1: the limit is impossible, or an external allocator is broken or does not do such programs.\n"
      "Examples:  regduel alloc --with fatpoint --regs 16 a.rir -o b.rir\n"
      "           regduel alloc --with exec:'python3 example/linear_scan.py' --regs 16 a.rir -o b.rir");
  return [o] { return alloc(*o); };
}

}  // namespace regduel::cli
