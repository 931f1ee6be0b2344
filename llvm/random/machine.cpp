#include "llvm/random/machine.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace regduel::llvm {
namespace {

constexpr std::string_view kAmdAttributes = R"("amdgpu-num-vgpr"="64" "target-cpu"="{}")";
constexpr std::string_view kAmdInfo = "machineFunctionInfo:\n  isEntryFunction: true\n  stackPtrOffsetReg: '$sgpr32'\n";

constexpr Machine kMachines[] = {
    {"amdgcn-gfx1100",
     "amdgcn-amd-amdhsa",
     "gfx1100",
     "",
     true,
     {16, 8},
     16,
     kAmdAttributes,
     "amdgpu_kernel ",
     kAmdInfo,
     "S_CBRANCH_SCC1 %bb.{}, implicit undef $scc",
     "S_BRANCH %bb.{}",
     "S_ENDPGM 0",
     true},
    {"amdgcn-gfx90a",
     "amdgcn-amd-amdhsa",
     "gfx90a",
     "",
     true,
     {16, 8},
     16,
     kAmdAttributes,
     "amdgpu_kernel ",
     "machineFunctionInfo:\n  isEntryFunction: true\n  scratchRSrcReg: '$sgpr0_sgpr1_sgpr2_sgpr3'\n  stackPtrOffsetReg: "
     "'$sgpr32'\n",
     "S_CBRANCH_SCC1 %bb.{}, implicit undef $scc",
     "S_BRANCH %bb.{}",
     "S_ENDPGM 0",
     true},
    {"x86_64",
     "x86_64-pc-linux-gnu",
     "",
     "+avx2",
     false,
     {3, 3},
     3,
     "nounwind",
     "",
     "",
     "JCC_1 %bb.{}, 4, implicit undef $eflags",
     "JMP_1 %bb.{}",
     "RET 0",
     false},
};

constexpr std::array<std::string_view, 9> kVectorClasses = {"",         "vgpr_32",  "vreg_64",  "vreg_96", "vreg_128",
                                                            "vreg_160", "vreg_192", "vreg_224", "vreg_256"};
constexpr std::array<std::string_view, 9> kAlignedClasses = {"",
                                                             "vgpr_32",
                                                             "vreg_64_align2",
                                                             "vreg_96_align2",
                                                             "vreg_128_align2",
                                                             "vreg_160_align2",
                                                             "vreg_192_align2",
                                                             "vreg_224_align2",
                                                             "vreg_256_align2"};
constexpr std::array<std::string_view, 9> kScalarClasses = {"",         "sreg_32",  "sreg_64",  "sgpr_96", "sgpr_128",
                                                            "sgpr_160", "sgpr_192", "sgpr_224", "sgpr_256"};
constexpr std::array<std::string_view, 9> kX86Classes = {"", "gr32", "gr64", "vr128", "vr128", "vr256", "vr256", "vr256", "vr256"};
constexpr std::array<std::string_view, 7> kX86Registers = {"ax", "cx", "dx", "si", "di", "bx", "bp"};

}  // namespace

Bank bank_of(ir::RegFile file) {
  switch (file) {
    case ir::RegFile::R:
    case ir::RegFile::Acc: return Bank::Vector;
    default: return Bank::Scalar;
  }
}

std::span<const Machine> machines() { return kMachines; }

const Machine* find_machine(std::string_view name) {
  const auto it = std::ranges::find(kMachines, name, &Machine::name);
  return it == std::end(kMachines) ? nullptr : it;
}

int units_of_class(const Machine& m, Bank, int units) { return m.has_lanes || units <= 2 ? units : units <= 4 ? 4 : 8; }

std::string_view class_of(const Machine& m, Bank bank, int units) {
  const auto n = static_cast<std::size_t>(units);
  if (!m.has_lanes) return kX86Classes.at(n);
  if (bank == Bank::Scalar) return kScalarClasses.at(n);
  return m.cpu == "gfx90a" ? kAlignedClasses.at(n) : kVectorClasses.at(n);
}

std::string physical(const Machine& m, Bank bank, int first, int units) {
  if (!m.has_lanes) {
    if (units > 2) return fmt::format("${}mm{}", units > 4 ? 'y' : 'x', first / 2 % 14);
    const auto n = static_cast<std::size_t>(first / 2 % static_cast<int>(kX86Registers.size()));
    return fmt::format("${}{}", units == 2 ? 'r' : 'e', kX86Registers[n]);
  }
  const int base = bank == Bank::Vector ? 0 : 36;  // SGPRs below are those that the function is called with
  const int last = bank == Bank::Vector ? 63 : 99;
  if (base + first + units - 1 > last || (m.cpu == "gfx90a" && units > 1 && first % 2 != 0)) return "";
  if (bank == Bank::Scalar && units > 1 && first % (units == 2 ? 2 : 4) != 0) return "";
  std::string name = "$";
  for (int k = 0; k < units; ++k)
    name += fmt::format("{}{}gpr{}", k ? "_" : "", bank == Bank::Vector ? 'v' : 's', base + first + k);
  return name;
}

}  // namespace regduel::llvm
