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
// It holds no rule of judging: what of this is an allocation, and whether it is right, is for llvm/mapping to say.
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
#include <llvm/CodeGen/LiveIntervals.h>
#include <llvm/CodeGen/MIRParser/MIRParser.h>
#include <llvm/CodeGen/MachineConstantPool.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/PseudoSourceValue.h>
#include <llvm/CodeGen/SlotIndexes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/CodeGen/VirtRegMap.h>
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
#include "llvm/dump/tables.h"
#include "llvm/dump/versions.h"

using namespace llvm;
using regduel_dump::Tables;
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

// What is known of the function that is being allocated, from its first allocation run on.
struct Origins {
  struct Segment {
    SlotIndex begin, end;
    unsigned def;  // number of the instruction, 0 = a join of several
  };
  struct Inserted {
    int vreg = -1;     // of the program before: whose value this moves or computes
    unsigned def = 0;  // the instruction that defined that value
    int slot_of = -1;  // the stack slot that it names is the home of this vreg of the program before
  };
  int function = -1;  // its number: addresses are used again
  int run = -1;
  std::string allocator;
  std::set<unsigned> originals;      // of this run
  std::map<SlotIndex, unsigned> at;  // where they stood
  std::map<unsigned, std::vector<Segment>> live;
  std::map<unsigned, Inserted> inserted;    // by number
  std::map<unsigned, unsigned> stands_for;  // number of a folded instruction: the original in whose place it is
  std::set<std::string> dumped;             // passes after which this run was written down already

  unsigned original(unsigned number) const {
    const auto it = stands_for.find(number);
    return it == stands_for.end() ? number : it->second;
  }
  unsigned reaching(unsigned vreg, SlotIndex where) const {
    const auto it = live.find(vreg);
    if (it == live.end()) return 0;
    for (const Segment& s : it->second)
      if (s.begin <= where && where < s.end) return s.def;
    return 0;
  }
};

class Writer {
 public:
  explicit Writer(raw_ostream& out) : out_(&out) {}
  // From here on to this stream, with tables of their own.
  void begin(raw_ostream& out) { out_ = &out, tables.forget_names(); }

  void write(MachineFunction& mf, Origins& o, StringRef pass, bool before) {
    tables.start(mf);
    json::OStream json(*out_);
    const auto& tri = *mf.getSubtarget().getRegisterInfo();
    const auto& mri = mf.getRegInfo();
    const auto& mfi = mf.getFrameInfo();
    json.object([&] {
      json.attribute("stage", before ? "before" : "after");
      json.attribute("pass", pass), json.attribute("allocator", o.allocator), json.attribute("run", o.run);
      json.attribute("function", mf.getName());
      json.attribute("subreg_liveness", mri.subRegLivenessEnabled());
      json.attributeArray("reserved", [&] {
        std::set<unsigned> named;
        for (const MachineBasicBlock& b : mf) {
          for (const auto& l : b.liveins()) named.insert(l.PhysReg);
          for (const MachineInstr& mi : b.instrs())
            for (const auto& op : mi.operands())
              if (op.isReg() && op.getReg().isPhysical()) named.insert(op.getReg());
        }
        for (unsigned r : named)
          if (mri.isReserved(r)) json.value(tri.getName(r));
      });
      json.attributeArray("vregs", [&] {
        for (unsigned v = 0; v < mri.getNumVirtRegs(); ++v)
          json.value(tables.class_name(mri.getRegClassOrNull(Register::index2VirtReg(v))));
      });
      json.attributeArray("stack", [&] {
        for (int f = mfi.getObjectIndexBegin(); f < mfi.getObjectIndexEnd(); ++f)
          json.object([&] {
            json.attribute("fi", f), json.attribute("size", mfi.getObjectSize(f)),
                json.attribute("align", int64_t(mfi.getObjectAlign(f).value()));
            if (mfi.isSpillSlotObjectIndex(f)) json.attribute("spill", true);
            if (mfi.getStackID(f)) json.attribute("id", int64_t(mfi.getStackID(f)));
            if (mfi.isDeadObjectIndex(f)) json.attribute("dead", true);
          });
      });
      json.attributeArray("blocks", [&] {
        for (MachineBasicBlock& b : mf) write(json, b, o, before);
      });
      json.attributeArray("substitutions", [&] {
        for (const auto& s : mf.DebugValueSubstitutions)
          json.array([&] { json.value(int64_t(s.Src.first)), json.value(int64_t(s.Dest.first)); });
      });
    });
    *out_ << "\n";
  }

  Tables tables;

 private:
  void write(json::OStream& json, MachineBasicBlock& b, Origins& o, bool before) {
    json.object([&] {
      json.attribute("n", b.getNumber());
      if (b.isEHPad()) json.attribute("pad", true);
      if (b.isInlineAsmBrIndirectTarget()) json.attribute("asm_target", true);
      json.attributeArray("succ", [&] {
        for (auto* s : b.successors()) json.value(s->getNumber());
      });
      json.attributeArray("livein", [&] {
        for (const auto& l : b.liveins()) json.value(tables.name(l.PhysReg));
      });
      json.attributeArray("insts", [&] {
        for (MachineInstr& mi : b.instrs())
          if (!mi.isDebugInstr()) write(json, mi, o, before);
      });
    });
  }

  static std::string flags(const MachineInstr& mi, const TargetInstrInfo& tii) {
    std::string f;
    const auto add = [&](bool holds, char c) {
      if (holds) f += c;
    };
    add(mi.isCall(), 'c'), add(mi.isTerminator(), 't'), add(mi.isReturn(), 'e'), add(mi.mayLoad(), 'l'), add(mi.mayStore(), 's');
    add(mi.hasUnmodeledSideEffects(), 'u'), add(mi.isInlineAsm(), 'a'), add(mi.isBundle(), 'B'), add(mi.isBundledWithPred(), 'b');
    add(!mi.isBundle() && mi.getNumExplicitDefs() > 0 && tii.isTriviallyReMaterializable(mi), 'r');
    add(mi.isCopy(), 'y'), add(mi.isConvergent(), 'v'), add(mi.isCommutable(), 'm'), add(mi.hasOrderedMemoryRef(), 'o');
    add(mi.mayLoad() && mi.isDereferenceableInvariantLoad(), 'i'), add(mi.isMetaInstruction(), 'z');
    return f;
  }

  void write(json::OStream& json, MachineInstr& mi, Origins& o, bool before) {
    const auto& tii = *mi.getMF()->getSubtarget().getInstrInfo();
    json.object([&] {
      json.attribute("op", tii.getName(mi.getOpcode()));
      if (const unsigned n = mi.peekDebugInstrNum()) {
        json.attribute("num", int64_t(o.original(n)));
        if (!o.originals.count(o.original(n))) json.attribute("new", true);
        if (const auto it = o.inserted.find(n); it != o.inserted.end()) {
          if (it->second.vreg >= 0) json.attribute("of", it->second.vreg);
          if (it->second.def != 0) json.attribute("def", int64_t(it->second.def));
          if (it->second.slot_of >= 0) json.attribute("slot_of", it->second.slot_of);
        }
      }
      json.attribute("fl", flags(mi, tii));
      int fi = 0;
      if (tii.isStoreToStackSlot(mi, fi)) json.attribute("st", fi);
      if (tii.isLoadFromStackSlot(mi, fi)) json.attribute("ld", fi);
      if (!mi.memoperands_empty())
        json.attributeArray("mem", [&] {
          for (const auto* m : mi.memoperands())
            json.object([&] {
              json.attribute("rw", std::string(m->isLoad() ? "r" : "") + (m->isStore() ? "w" : "") + (m->isVolatile() ? "v" : ""));
              json.attribute("size", versions::bytes(*m));
              if (const auto* p = dyn_cast_or_null<FixedStackPseudoSourceValue>(m->getPseudoValue()))
                json.attribute("fi", p->getFrameIndex());
            });
        });
      json.attributeArray("ops", [&] {
        for (unsigned k = 0; k < mi.getNumOperands(); ++k) write(json, mi, k, o, before);
      });
    });
  }

  void write(json::OStream& json, MachineInstr& mi, unsigned k, Origins& o, bool before) {
    const auto& tri = *mi.getMF()->getSubtarget().getRegisterInfo();
    const MachineOperand& op = mi.getOperand(k);
    json.object([&] {
      switch (op.getType()) {
        case MachineOperand::MO_Register: {
          const auto say = [&](bool holds, const char* what) {
            if (holds) json.attribute(what, true);
          };
          if (op.getReg().isVirtual()) json.attribute("v", int64_t(Register::virtReg2Index(op.getReg())));
          else json.attribute("p", tables.name(op.getReg().asMCReg()));
          if (op.getSubReg()) json.attribute("sub", tables.sub_name(op.getSubReg()));
          say(op.isDef(), "d"), say(op.isImplicit(), "imp"), say(op.isUndef(), "undef"), say(op.isDef() && op.isDead(), "dead");
          say(op.isUse() && op.isKill(), "kill"), say(op.isEarlyClobber(), "ec"), say(op.isInternalRead(), "int"),
              say(op.isRenamable(), "ren");
          if (op.isTied()) json.attribute("tied", int64_t(mi.findTiedOperandIdx(k)));
          if (before && op.isUse() && op.getReg().isVirtual() && mi.peekDebugInstrNum() && indexes != nullptr &&
              indexes->hasIndex(mi))
            if (const unsigned def = o.reaching(Register::virtReg2Index(op.getReg()), indexes->getInstructionIndex(mi)))
              json.attribute("def", int64_t(def));
          if (before && op.isUse() && op.getReg().isVirtual()) write_undefined(json, mi, op);
          break;
        }
        case MachineOperand::MO_Immediate: json.attribute("i", op.getImm()); break;
        case MachineOperand::MO_FrameIndex: json.attribute("f", op.getIndex()); break;
        case MachineOperand::MO_MachineBasicBlock: json.attribute("b", op.getMBB()->getNumber()); break;
        case MachineOperand::MO_RegisterMask: json.attribute("m", int64_t(tables.mask(op.getRegMask()))); break;
        default: {
          std::string text;
          raw_string_ostream stream(text);
          op.print(stream, &tri, nullptr);
          if (op.isCPI()) {  // a register of zeros may have been folded to this
            const auto& entry = mi.getMF()->getConstantPool()->getConstants()[op.getIndex()];
            if (!entry.isMachineConstantPoolEntry() && entry.Val.ConstVal->isNullValue()) stream << " zero";
            if (!entry.isMachineConstantPoolEntry() && entry.Val.ConstVal->isAllOnesValue()) stream << " ones";
          }
          json.attribute("s", json::fixUTF8(text));
        }
      }
    });
  }

  // Of a use of a whole tuple some lanes may have no value by the live intervals, which the operand cannot say.
  void write_undefined(json::OStream& json, const MachineInstr& mi, const MachineOperand& op) {
    if (intervals == nullptr || indexes == nullptr || !indexes->hasIndex(mi) || !intervals->hasInterval(op.getReg())) return;
    const LiveInterval& interval = intervals->getInterval(op.getReg());
    const TargetRegisterClass* cls = mi.getMF()->getRegInfo().getRegClassOrNull(op.getReg());
    if (!interval.hasSubRanges() || cls == nullptr) return;
    LaneBitmask live = LaneBitmask::getNone();
    for (const auto& range : interval.subranges())
      if (range.liveAt(indexes->getInstructionIndex(mi))) live |= range.LaneMask;
    const std::vector<int> undefined = tables.undefined_pieces(*cls, live);
    if (!undefined.empty())
      json.attributeArray("undef_pieces", [&] {
        for (int k : undefined) json.value(k);
      });
  }

  raw_ostream* out_;

 public:
  const SlotIndexes* indexes = nullptr;  // while they are there
  const LiveIntervals* intervals = nullptr;
};

// One place in the pipeline: before or after a pass.
class DumpPass : public MachineFunctionPass {
 public:
  static char ID;
  DumpPass(Writer& writer, Origins& origins, std::string pass, bool before, bool is_allocator)
      : MachineFunctionPass(ID), writer_(writer), o_(origins), pass_(std::move(pass)), before_(before),
        is_allocator_(is_allocator) {}
  StringRef getPassName() const override { return "regduel dump"; }
  void getAnalysisUsage(AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction& mf) override {
    auto* slots = getAnalysisIfAvailable<versions::SlotIndexesPass>();
    writer_.indexes = versions::result(slots);
    auto* lis = getAnalysisIfAvailable<versions::LiveIntervalsPass>();
    writer_.intervals = versions::result(lis);
    if (before_) begin_run(mf);
    else if (o_.function != static_cast<int>(mf.getFunctionNumber()) || !is_first_of_run()) return false;
    else if (is_allocator_) ask_allocator(mf);
    writer_.write(mf, o_, pass_, before_);
    if (!before_) take_numbers_from_kills(mf);
    return false;
  }

 private:
  // Copies are propagated once more much later, when there are prologues.
  bool is_first_of_run() {
    return (is_allocator_ || pass_ == "virtregrewriter" || o_.dumped.count("virtregrewriter")) && o_.dumped.insert(pass_).second;
  }
  void begin_run(MachineFunction& mf) {
    const int run = o_.function == static_cast<int>(mf.getFunctionNumber()) ? o_.run + 1 : 0;
    o_ = Origins();
    o_.function = static_cast<int>(mf.getFunctionNumber()), o_.run = run, o_.allocator = pass_;
    for (auto& b : mf)
      for (auto& mi : b.instrs()) {
        if (mi.isMetaInstruction()) continue;
        const unsigned n = mi.getDebugInstrNum();
        o_.originals.insert(n);
        if (writer_.indexes && writer_.indexes->hasIndex(mi)) o_.at.emplace(writer_.indexes->getInstructionIndex(mi), n);
      }
    if (writer_.intervals == nullptr) return;
    const LiveIntervals& lis = *writer_.intervals;
    for (unsigned v = 0; v < mf.getRegInfo().getNumVirtRegs(); ++v) {
      const Register r = Register::index2VirtReg(v);
      if (!lis.hasInterval(r)) continue;
      for (const auto& s : lis.getInterval(r)) {
        const auto def = s.valno->isPHIDef() ? o_.at.end() : o_.at.find(s.valno->def.getBaseIndex());
        o_.live[v].push_back({s.start, s.end, def == o_.at.end() ? 0 : def->second});
      }
    }
  }

  // New instructions get numbers as well, so that later dumps can tell where they come from.
  void ask_allocator(MachineFunction& mf) {
    const auto* map = getAnalysisIfAvailable<VirtRegMap>();
    std::map<int, int> home;  // stack slot: vreg of the program before
    if (map)
      for (unsigned v = 0; v < mf.getRegInfo().getNumVirtRegs(); ++v) {
        const Register r = Register::index2VirtReg(v);
        if (const int slot = map->getStackSlot(r); slot != VirtRegMap::NO_STACK_SLOT) home[slot] = original(*map, r);
      }
    for (auto& b : mf)
      for (auto& mi : b.instrs()) {
        if (mi.isMetaInstruction() && !mi.isKill()) continue;
        const unsigned known = mi.peekDebugInstrNum();
        const unsigned n = mi.getDebugInstrNum();
        Origins::Inserted& info = o_.inserted[n];
        for (const auto& op : mi.operands())
          if (op.isFI() && home.count(op.getIndex())) info.slot_of = home[op.getIndex()];
        if (o_.originals.count(known) || !writer_.indexes || !writer_.indexes->hasIndex(mi)) continue;
        const SlotIndex where = writer_.indexes->getInstructionIndex(mi);
        if (const auto it = o_.at.find(where); it != o_.at.end()) {
          o_.stands_for[n] = it->second;
          continue;
        }
        if (map)
          for (const auto& op : mi.operands())
            if (op.isReg() && op.isDef() && op.getReg().isVirtual() && !op.isImplicit()) {
              info.vreg = original(*map, op.getReg());
              info.def = o_.reaching(info.vreg, where);
              break;
            }
      }
  }
  // What an identity copy has become keeps its number, to which the machine verifier objects.
  static void take_numbers_from_kills(MachineFunction& mf) {
    for (auto& b : mf)
      for (auto& mi : b.instrs())
        if (mi.isKill() && mi.peekDebugInstrNum()) mi.setDebugInstrNum(0);
  }
  static int original(const VirtRegMap& map, Register r) {
    const Register o = map.getOriginal(r);
    return Register::virtReg2Index(o.isVirtual() ? o : r);
  }

  Writer& writer_;
  Origins& o_;
  std::string pass_;
  bool before_, is_allocator_;
};
char DumpPass::ID = 0;

// The machine verifier, unless LLVM has reported an error: what it goes on with then is nothing to look at.
class VerifyPass : public MachineFunctionPass {
 public:
  static char ID;
  static inline bool has_error = false;
  explicit VerifyPass(std::string when) : MachineFunctionPass(ID), when_(std::move(when)) {}
  StringRef getPassName() const override { return "regduel verify"; }
  void getAnalysisUsage(AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction& mf) override {
    if (!has_error) mf.verify(this, when_.c_str());
    return false;
  }

 private:
  std::string when_;
};
char VerifyPass::ID = 0;

// The pipeline as the target makes it, with a writer beside the passes that matter.
class DumpingPassManager : public legacy::PassManager {
 public:
  explicit DumpingPassManager(Writer* writer) : writer_(writer) {}
  void add(Pass* p) override {
    static const std::map<StringRef, std::pair<const char*, bool>> watched = {
        {"Greedy Register Allocator", {"greedy", true}},
        {"Basic Register Allocator", {"basic", true}},
        {"Fast Register Allocator", {"fast", true}},
        {"PBQP Register Allocator", {"pbqp", true}},
        {"Virtual Register Rewriter", {"virtregrewriter", false}},
        {"Stack Slot Coloring", {"stack-slot-coloring", false}},
        {"Machine Copy Propagation Pass", {"machine-cp", false}},
    };
    const StringRef pass = p->getPassName();
    const auto it = writer_ ? watched.find(pass) : watched.end();
    if (it == watched.end()) {
      legacy::PassManager::add(p);
      // What these leave behind makes later passes crash.
      if (verify && (pass == "Register Coalescer" || pass == "Machine Instruction Scheduler"))
        legacy::PassManager::add(new VerifyPass("after " + pass.str()));
      return;
    }
    const auto [name, is_allocator] = it->second;
    if (is_allocator) {
      if (verify) legacy::PassManager::add(new VerifyPass("before " + std::string(name)));
      legacy::PassManager::add(new DumpPass(*writer_, origins_, name, true, true));
    }
    legacy::PassManager::add(p);
    if (verify && StringRef(name) != "stack-slot-coloring") legacy::PassManager::add(new VerifyPass("after " + std::string(name)));
    legacy::PassManager::add(new DumpPass(*writer_, origins_, name, false, is_allocator));
  }

 private:
  Writer* writer_;
  Origins origins_;
};

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
  DumpingPassManager passes(writer);
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
