// Passes that only write and look, beside those of the target's own pipeline.
#pragma once

#include <map>
#include <string>
#include <utility>

#include <llvm/CodeGen/LiveIntervals.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/SlotIndexes.h>
#include <llvm/CodeGen/VirtRegMap.h>
#include <llvm/IR/LegacyPassManager.h>

#include "llvm/dump/writer.h"

namespace regduel_dump {

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
  // A KILL that was an identity copy keeps its number, to which the machine verifier objects.
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
inline char DumpPass::ID = 0;

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
inline char VerifyPass::ID = 0;

// The pipeline as the target makes it, with a writer beside the passes that matter.
class DumpingPassManager : public legacy::PassManager {
 public:
  //   writer   null: nothing is written, and nothing looked at
  //   verify   the machine verifier looks at each allocation, and at what the coalescer and the scheduler leave
  DumpingPassManager(Writer* writer, bool verify) : writer_(writer), verify_(verify) {}
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
      // Later passes crash on functions that these leave behind.
      if (verify_ && (pass == "Register Coalescer" || pass == "Machine Instruction Scheduler"))
        legacy::PassManager::add(new VerifyPass("after " + pass.str()));
      return;
    }
    const auto [name, is_allocator] = it->second;
    if (is_allocator) {
      if (verify_) legacy::PassManager::add(new VerifyPass("before " + std::string(name)));
      legacy::PassManager::add(new DumpPass(*writer_, origins_, name, true, true));
    }
    legacy::PassManager::add(p);
    if (verify_ && StringRef(name) != "stack-slot-coloring") legacy::PassManager::add(new VerifyPass("after " + std::string(name)));
    legacy::PassManager::add(new DumpPass(*writer_, origins_, name, false, is_allocator));
  }

 private:
  Writer* writer_;
  bool verify_;
  Origins origins_;
};

}  // namespace regduel_dump
