// The MIR of random programs (llvm/random/mir_text.cpp) as machine functions: IR, one function with its registers, the target's function
// info, a body.
//
// LLVM's own reader makes tables of all names of the target anew for each file, which takes six times as long as to allocate a small function. These
// are kept here. A test compares their results: llvm/duelist/llvm_allocator_test.cpp. Only with LLVM 19, whose interfaces these are.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <llvm/AsmParser/SlotMapping.h>
#include <llvm/CodeGen/MIRParser/MIParser.h>
#include <llvm/CodeGen/MIRYamlMapping.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLTraits.h>
#include <llvm/Target/TargetMachine.h>

namespace regduel_dump {

using namespace llvm;

// A file of one function in its parts.
struct MirParts {
  StringRef ir, registers, info, body;

  static MirParts of(StringRef text) {
    MirParts p;
    std::tie(p.ir, text) = text.split("\n...\n");
    p.ir.consume_front("--- |\n");
    StringRef head;
    std::tie(head, p.body) = text.split("body: |\n");
    std::tie(p.registers, p.info) = head.split("machineFunctionInfo:\n");
    p.registers = p.registers.split("registers:\n").second;
    p.body = p.body.rsplit("...\n").first;
    return p;
  }
};

class MirReader {
 public:
  // The error is LLVM's; "" = none.
  std::string read(StringRef text, const MirParts& parts, const SlotMapping& slots, Function& function, MachineModuleInfo& info) {
    SMDiagnostic error;
    SourceMgr source;
    source.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text, "request", false), SMLoc());
    MachineFunction& mf = info.getOrCreateMachineFunction(function);
    std::unique_ptr<PerTargetMIParsingState>& names = names_[&mf.getSubtarget()];
    if (!names) names = std::make_unique<PerTargetMIParsingState>(mf.getSubtarget());
    PerFunctionMIParsingState state(mf, source, slots, *names);
    if (!read_registers(parts.registers, state)) return "registers: " + parts.registers.str();
    if (parseMachineBasicBlockDefinitions(state, parts.body, error) || parseMachineInstructions(state, parts.body, error) ||
        !read_info(parts.info, mf, state, error))
      return error.getMessage().str();
    MachineRegisterInfo& registers = mf.getRegInfo();
    for (auto& [reg, vreg] : state.VRegInfos) registers.setRegClass(reg, vreg->D.RC);
    using Property = MachineFunctionProperties::Property;
    mf.getProperties().set(Property::TracksLiveness).set(Property::NoPHIs).reset(Property::IsSSA).reset(Property::NoVRegs);
    registers.freezeReservedRegs();
    mf.getSubtarget().mirFileLoaded(mf);
    return "";
  }

 private:
  // Lines "  - { id: 0, class: vgpr_32 }".
  static bool read_registers(StringRef lines, PerFunctionMIParsingState& state) {
    for (StringRef line; !lines.empty();) {
      std::tie(line, lines) = lines.split('\n');
      unsigned id = 0;
      if (line.trim().empty()) continue;
      const auto [number, cls] = line.split(", class: ");
      const TargetRegisterClass* rc = state.Target.getRegClass(cls.rtrim(" }"));
      if (number.split("id: ").second.getAsInteger(10, id) || rc == nullptr) return false;
      VRegInfo& vreg = state.getVRegInfo(id);
      vreg.Kind = VRegInfo::NORMAL, vreg.Explicit = true, vreg.D.RC = rc;
    }
    return true;
  }
  static bool read_info(StringRef text, MachineFunction& mf, PerFunctionMIParsingState& state, SMDiagnostic& error) {
    const TargetMachine& machine = mf.getTarget();
    if (text.empty()) return true;
    std::unique_ptr<yaml::MachineFunctionInfo> info(machine.createDefaultFuncInfoYAML());
    const std::string terminated = text.str();
    yaml::Input in(terminated);
    in.setContext(&in);  // which values ask where they stand
    in >> info;
    SMRange range;
    return !in.error() && !machine.parseMachineFunctionInfo(*info, state, error, range);
  }

  std::map<const TargetSubtargetInfo*, std::unique_ptr<PerTargetMIParsingState>> names_;
};

}  // namespace regduel_dump
