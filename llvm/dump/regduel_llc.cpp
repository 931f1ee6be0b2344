// regduel-llc: an llc that writes down what each allocation run finds and leaves (llvm/JSON.md is the form).
//
// The user's own pipeline runs once, unchanged. A pass manager of ours sees each pass as the target adds it, and puts a pass that only writes before and
// after allocators, and after VirtRegRewriter, StackSlotColoring and MachineCopyPropagation. So live intervals stay, nothing is printed and
// parsed again, and what the allocator knows of an instruction that it inserted is asked while it is known.
//
//   who is who     before an allocation run each instruction gets a debug-instr-number. Allocators keep it on the originals and never copy it to clones;
//                  in place of an original that was folded there is one at the same SlotIndex
//   where from     of an inserted instruction: the vreg of the program before that its vreg or its stack slot descends from (VirtRegMap), and
//                  the definition of that vreg that reached there (the live intervals as they were before the run)
//
// With -before FILE.mir the input is what became of FILE.mir, whose instructions carry the same debug-instr-numbers: both are only written down.
//
// Without --dump this is llc: no pass of ours is added. Code generation with and without is compared by llvm-trial.
// The program holds no rule of judging: llvm/mapping says which of this is an allocation, and the judges whether it is right.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/CodeGen/CommandFlags.h>
#include <llvm/CodeGen/MIRParser/MIRParser.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/InitializePasses.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/InitLLVM.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/ToolOutputFile.h>
#include <llvm/Target/TargetMachine.h>

#if LLVM_VERSION_MAJOR >= 19
#include "llvm/dump/mir_reader.h"
#endif
#include "llvm/dump/passes.h"
#include "llvm/dump/versions.h"

using namespace llvm;
using regduel_dump::DumpingPassManager;
using regduel_dump::Origins;
using regduel_dump::VerifyPass;
using regduel_dump::Writer;
namespace versions = regduel_dump::versions;

static codegen::RegisterCodeGenFlags codegen_flags;
static cl::opt<std::string> input_file(cl::Positional, cl::desc("<input .ll, .bc or .mir>"), cl::init("-"));
static cl::opt<std::string> output_file("o", cl::desc("Assembly; none where it is not given"), cl::value_desc("file"));
static cl::opt<std::string> dump_file("dump", cl::desc("Where to write the JSON"), cl::value_desc("file"));
static cl::opt<std::string> before_file("before", cl::desc("MIR before allocation, of which the input is the MIR after it"),
                                        cl::value_desc("file"));
static cl::opt<std::string> pair_pass("pair-pass", cl::desc("With -before: after which pass the input stands"),
                                      cl::init("virtregrewriter"));
static cl::opt<bool> serve("serve", cl::desc("Answer requests on the standard input (llvm/JSON.md, \"Requests\")"));
static cl::opt<bool> verify(
    "verify",
    cl::desc(
        "The machine verifier looks at the input, at what the coalescer and the scheduler make of it, and at each allocation"));
static cl::opt<char> opt_level("O", cl::desc("Optimisation level: 0, 1, 2 or 3"), cl::Prefix, cl::init('2'));
static cl::opt<std::string> target_triple("mtriple", cl::desc("Triple, in place of the module's"));

namespace {

int fail(const Twine& message) {
  errs() << "regduel-llc: " << message << "\n";
  return 1;
}

// A module with the machine that it is for, and its machine functions where it is MIR.
struct Input {
  TargetMachine* machine = nullptr;
  std::unique_ptr<MIRParser> mir;
  std::unique_ptr<Module> module;

  // False after a message.
  bool read(const std::string& file, LLVMContext& context) {
    SMDiagnostic error;
    if (StringRef(file).ends_with(".mir")) return take(createMIRParserFromFile(file, error, context), error);
    std::string problem;
    const auto data_layout = [&](StringRef of_module, StringRef) { return choose_machine(of_module, problem); };
    module = parseIRFile(file, error, context, ParserCallbacks(data_layout));
    return is_fine(error, problem);
  }
  // MIR of one function, as a request has it.
  bool read_text(StringRef text, LLVMContext& context) {
#if LLVM_VERSION_MAJOR >= 19
    request = text, parts = regduel_dump::MirParts::of(text);
    SMDiagnostic error;
    std::string problem;
    module = parseAssemblyString(parts.ir.str(), error, context, &slots);
    if (module)
      if (const auto layout = choose_machine(module->getTargetTriple(), problem)) module->setDataLayout(*layout);
    return is_fine(error, problem);
#else
    return take(createMIRParser(MemoryBuffer::getMemBuffer(text, "request"), context), SMDiagnostic());
#endif
  }
  bool parse_functions(MachineModuleInfo& info) {
#if LLVM_VERSION_MAJOR >= 19
    if (!request.empty()) {
      static regduel_dump::MirReader reader;
      const std::string error = reader.read(request, parts, slots, *module->begin(), info);
      return error.empty() || (fail(error), false);
    }
#endif
    return !mir || !mir->parseMachineFunctions(*module, info) || (fail("the machine functions cannot be parsed"), false);
  }
  bool is_mir() const { return mir || !request.empty(); }

 private:
  StringRef request;
#if LLVM_VERSION_MAJOR >= 19
  regduel_dump::MirParts parts;
  SlotMapping slots;
#endif

  bool take(std::unique_ptr<MIRParser> parser, const SMDiagnostic& error) {
    std::string problem;
    mir = std::move(parser);
    if (mir) module = mir->parseIRModule([&](StringRef of_module, StringRef) { return choose_machine(of_module, problem); });
    return is_fine(error, problem);
  }
  bool is_fine(const SMDiagnostic& error, const std::string& problem) {
    if (!module && !problem.empty()) return fail(problem), false;
    if (!module) return error.print("regduel-llc", errs()), false;
    if (!target_triple.empty()) module->setTargetTriple(Triple::normalize(target_triple));
    if (!machine) return fail("no target"), false;
    if (verifyModule(*module, &errs())) return fail("the module is not well-formed"), false;
    codegen::setFunctionAttributes(codegen::getCPUStr(), codegen::getFeaturesStr(), *module);
    machine->Options.MCOptions.AsmVerbose = true;  // as llc has it
    return true;
  }
  // Machines are kept, since a new one costs more than a small function.
  std::optional<std::string> choose_machine(StringRef of_module, std::string& problem) {
    Triple triple(Triple::normalize(target_triple.empty() ? of_module.str() : target_triple));
    const Target* target = TargetRegistry::lookupTarget(codegen::getMArch(), triple, problem);
    if (!target) return std::nullopt;
    static std::map<std::string, std::unique_ptr<TargetMachine>> machines;
    std::unique_ptr<TargetMachine>& kept = machines[triple.getTriple()];
    if (!kept)
      kept.reset(target->createTargetMachine(triple.getTriple(), codegen::getCPUStr(), codegen::getFeaturesStr(),
                                             codegen::InitTargetOptionsFromCodeGenFlags(triple), codegen::getExplicitRelocModel(),
                                             codegen::getExplicitCodeModel(), versions::level(opt_level)));
    machine = kept.get();
    return machine->createDataLayout().getStringRepresentation();
  }
};

void write_head(raw_ostream& out, const Input& input) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("regduel_llvm", 1);
    json.attribute("llvm", LLVM_VERSION_STRING), json.attribute("triple", input.module->getTargetTriple()),
        json.attribute("cpu", input.machine->getTargetCPU());
  });
  out << "\n";
}
void write_tables(raw_ostream& out, Writer& writer) {
  json::OStream json(out);
  json.object([&] { writer.tables.write(json); });
  out << "\n";
}

// -before: no pass runs.
int write_pair(raw_ostream& out, LLVMContext& context) {
  Input inputs[2];
  std::unique_ptr<MachineModuleInfo> infos[2];
  const std::string files[2] = {before_file, input_file};
  for (int k = 0; k < 2; ++k) {
    if (!inputs[k].read(files[k], context)) return 1;
    if (!inputs[k].mir) return fail(files[k] + " is no .mir");
    infos[k] = std::make_unique<MachineModuleInfo>(static_cast<versions::Machine*>(inputs[k].machine));
    if (!inputs[k].parse_functions(*infos[k])) return 1;
  }
  write_head(out, inputs[0]);
  Writer writer(out);
  for (const Function& f : *inputs[0].module) {
    MachineFunction* before = infos[0]->getMachineFunction(f);
    const Function* g = inputs[1].module->getFunction(f.getName());
    MachineFunction* after = g ? infos[1]->getMachineFunction(*g) : nullptr;
    if (!before || !after) continue;
    Origins origins;
    origins.run = 0, origins.allocator = "greedy";
    for (auto& b : *before)
      for (auto& mi : b.instrs())
        if (const unsigned n = mi.peekDebugInstrNum()) origins.originals.insert(n);
    writer.write(*before, origins, "greedy", true);
    writer.write(*after, origins, pair_pass, false);
  }
  write_tables(out, writer);
  return 0;
}

// The user's pipeline, with a dump where one is asked for.
int compile(Input& input, Writer* writer, raw_ostream* dump, raw_ostream* assembly) {
  if (dump) write_head(*dump, input);
  DumpingPassManager passes(writer, verify);
  TargetLibraryInfoImpl library(Triple(input.module->getTargetTriple()));
  passes.add(new TargetLibraryInfoWrapperPass(library));
  auto* machine = static_cast<versions::Machine*>(input.machine);
  auto* modules = new MachineModuleInfoWrapperPass(machine);
  if (!input.parse_functions(modules->getMMI())) return 1;
  if (verify && input.is_mir())
    for (const Function& f : *input.module)
      if (const MachineFunction* mf = modules->getMMI().getMachineFunction(f)) mf->verify(nullptr, "input");
  SmallString<0> text;
  raw_svector_ostream stream(text);
  if (machine->addPassesToEmitFile(passes, stream, nullptr, codegen::getFileType(), true, modules))
    return fail("the target cannot emit this kind of file");
  passes.run(*input.module);
  if (assembly) *assembly << text;
  if (dump) write_tables(*dump, *writer);
  return 0;
}

int compile_file(LLVMContext& context, raw_ostream* dump, raw_ostream* assembly) {
  Input input;
  if (!input.read(input_file, context)) return 1;
  std::unique_ptr<Writer> writer;
  if (dump) writer = std::make_unique<Writer>(*dump);
  return compile(input, writer.get(), dump, assembly);
}

// -serve: requests and answers in the frames of duel/exec/protocol.h.
class Server {
 public:
  int run() {
    std::string knobs;
    for (const Knob& k : kKnobs)
      if (cl::getRegisteredOptions().count(k.name))
        knobs += std::string("knob: ") + k.name + " " + k.type + " " + k.value + " " + k.samples + " " + k.help + "\n";
    send("hello", 1, "name: llvm\nversion: " LLVM_VERSION_STRING "\n" + knobs);
    std::string number, request;
    while (receive(number, request)) {
      std::string json, error;
      const int status = answer(request, json, error);
      if (status != 0) return status;
      send(error.empty() ? "allocated" : "unsupported", std::stoull(number), error.empty() ? json : error);
    }
    return 0;
  }

 private:
  // Options of LLVM that change what its allocators do.
  struct Knob {
    const char *name, *type, *value, *samples, *help;
  };
  static constexpr Knob kKnobs[] = {
      {"stress-regalloc", "int", "0", "0,4,6,8,10,16", "registers of each class that are left; 0 = all"},
      {"split-spill-mode", "word", "speed", "default,size,speed", "where splitting puts spills"},
      {"join-splitedges", "bool", "false", "false,true", "coalesce copies on split edges"},
      {"terminal-rule", "bool", "false", "false,true", "the coalescer's terminal rule"},
      {"consider-local-interval-cost", "bool", "false", "false,true", "the cost of local intervals when a region is split"},
      {"exhaustive-register-search", "bool", "false", "false,true", "recolour without limits"},
  };

  static void send(StringRef word, uint64_t number, StringRef payload) {
    outs() << word << " " << number << " " << payload.size() << "\n" << payload;
    outs().flush();
  }
  static bool receive(std::string& number, std::string& request) {
    char word[32], digits[32];
    unsigned long long size = 0;
    if (std::scanf("%31s %31s %llu", word, digits, &size) != 3 || std::getchar() != '\n') return false;
    number = digits;
    request.resize(size);
    return std::fread(request.data(), 1, size, stdin) == size;
  }

  // Keeps the first error: without a handler LLVM ends the process, and to start another takes longer than many functions.
  struct Errors : DiagnosticHandler {
    explicit Errors(std::string& first_) : first(first_) {}
    bool handleDiagnostics(const DiagnosticInfo& info) override {
      if (info.getSeverity() != DS_Error) return true;
      VerifyPass::has_error = true;
      raw_string_ostream out(first);
      DiagnosticPrinterRawOStream printer(out);
      if (first.empty()) info.print(printer);
      return true;
    }
    std::string& first;
  };

  // Lines NAME=VALUE up to an empty one, then MIR.
  int answer(StringRef request, std::string& json, std::string& error) {
    for (const Knob& k : kKnobs) reset_option(k.name);
    VerifyPass::has_error = false;
    StringRef line;
    for (std::tie(line, request) = request.split('\n'); !line.empty(); std::tie(line, request) = request.split('\n'))
      if (!set_option(line.split('=').first, line.split('=').second)) return fail("no option " + line);
    LLVMContext context;
    context.setDiscardValueNames(false);
    context.setDiagnosticHandler(std::make_unique<Errors>(error));
    Input input;
    if (!input.read_text(request, context)) return 1;
    raw_string_ostream out(json);
    writer_.begin(out);
    return compile(input, &writer_, &out, nullptr);
  }
  static void reset_option(StringRef name) {
    auto& options = cl::getRegisteredOptions();
    if (const auto it = options.find(name); it != options.end()) it->second->reset();
  }
  static bool set_option(StringRef name, StringRef value) {
    auto& options = cl::getRegisteredOptions();
    const auto it = options.find(name);
    return it != options.end() && !it->second->addOccurrence(0, name, value);
  }

  Writer writer_{nulls()};
};

}  // namespace

int main(int argc, char** argv) {
  ::setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 0);  // a crash says its pass, and a campaign sees many
  InitLLVM x(argc, argv);
  InitializeAllTargets(), InitializeAllTargetMCs(), InitializeAllAsmPrinters(), InitializeAllAsmParsers();
  PassRegistry& registry = *PassRegistry::getPassRegistry();
  initializeCore(registry), initializeCodeGen(registry), initializeScalarOpts(registry), initializeTransformUtils(registry);
  initializeTarget(registry), initializeUnreachableBlockElimLegacyPassPass(registry);
  cl::ParseCommandLineOptions(argc, argv, "llc, and what its register allocators did as JSON\n");

  if (serve) return Server().run();
  LLVMContext context;
  context.setDiscardValueNames(false);
  std::error_code code;
  std::unique_ptr<ToolOutputFile> assembly, dump;
  if (!output_file.empty()) assembly = std::make_unique<ToolOutputFile>(output_file, code, sys::fs::OF_Text);
  if (!code && !dump_file.empty()) dump = std::make_unique<ToolOutputFile>(dump_file, code, sys::fs::OF_Text);
  if (code) return fail(code.message());
  if (!before_file.empty() && !dump) return fail("-before without -dump");
  const int status = !before_file.empty()
                         ? write_pair(dump->os(), context)
                         : compile_file(context, dump ? &dump->os() : nullptr, assembly ? &assembly->os() : nullptr);
  if (status != 0) return status;
  if (assembly) assembly->keep();
  if (dump) dump->keep();
  return 0;
}
