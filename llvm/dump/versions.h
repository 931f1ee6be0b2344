// Where the C++ interfaces of LLVM 16 to 19 differ: the rest of dump/ is the same for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/CodeGen/LiveIntervals.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/SlotIndexes.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

static_assert(LLVM_VERSION_MAJOR >= 16 && LLVM_VERSION_MAJOR <= 19, "regduel-llc knows LLVM 16 to 19");

namespace regduel_dump::versions {

using Machine = llvm::LLVMTargetMachine;

#if LLVM_VERSION_MAJOR >= 19
using SlotIndexesPass = llvm::SlotIndexesWrapperPass;
using LiveIntervalsPass = llvm::LiveIntervalsWrapperPass;
inline const llvm::SlotIndexes* result(SlotIndexesPass* p) { return p ? &p->getSI() : nullptr; }
inline const llvm::LiveIntervals* result(LiveIntervalsPass* p) { return p ? &p->getLIS() : nullptr; }
inline int64_t bytes(const llvm::MachineMemOperand& m) {
  return m.getSize().hasValue() ? int64_t(m.getSize().getValue().getKnownMinValue()) : -1;
}
#else
using SlotIndexesPass = llvm::SlotIndexes;
using LiveIntervalsPass = llvm::LiveIntervals;
inline const llvm::SlotIndexes* result(SlotIndexesPass* p) { return p; }
inline const llvm::LiveIntervals* result(LiveIntervalsPass* p) { return p; }
inline int64_t bytes(const llvm::MachineMemOperand& m) { return m.getSize() == ~UINT64_C(0) ? -1 : int64_t(m.getSize()); }
#endif

#if LLVM_VERSION_MAJOR >= 18
inline llvm::CodeGenOptLevel level(char c) { return llvm::CodeGenOpt::parseLevel(c).value_or(llvm::CodeGenOptLevel::Default); }
#else
inline llvm::CodeGenOpt::Level level(char c) { return llvm::CodeGenOpt::parseLevel(c).value_or(llvm::CodeGenOpt::Default); }
#endif

inline unsigned bits(unsigned n) { return n; }
inline unsigned bits(llvm::TypeSize size) { return unsigned(size.getKnownMinValue()); }

inline std::vector<unsigned> units(const llvm::TargetRegisterInfo& tri, unsigned reg) {
  std::vector<unsigned> list;
  for (llvm::MCRegUnitIterator u(reg, &tri); u.isValid(); ++u) list.push_back(*u);
  return list;
}

}  // namespace regduel_dump::versions
