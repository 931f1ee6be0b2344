// The machines of LLVM that random programs are written for: which class a value gets, and which registers have names.
//
// Tested by mir_program_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/registers.h"

namespace regduel::llvm {

// The two kinds of registers that a program for one of our targets has: those of threads (R, ACC, Tensor ...) and those that a warp shares.
enum class Bank : unsigned char { Vector, Scalar };
[[nodiscard]] Bank bank_of(ir::RegFile file);

struct Machine {
  std::string_view name;  // "amdgcn-gfx1100"
  std::string_view triple, cpu, features;
  bool has_lanes;  // each 32 bits of a wide register are a sub-register of their own
  int budget[2];   // units that one instruction may read, and as many that it may write, by bank: so that each fits
  int clobbers;    // registers that one instruction destroys at most
  std::string_view attributes, calling_convention, function_info;  // of a function of IR, and of MIR
  std::string_view branch, jump, end;                              // {} = the number of a block
  bool runs_twice;                                                 // the allocator runs once for each bank
};
[[nodiscard]] std::span<const Machine> machines();
[[nodiscard]] const Machine* find_machine(std::string_view name);

// The class of a value of so many units, 1 to 8.
[[nodiscard]] std::string_view class_of(const Machine& m, Bank bank, int units);
// How many units a value of that class has: those of x86 come in 1, 2, 4 and 8.
[[nodiscard]] int units_of_class(const Machine& m, Bank bank, int units);
// A physical register of that class, in which values are that are fixed to `first`; "" = the machine names none.
[[nodiscard]] std::string physical(const Machine& m, Bank bank, int first, int units);

}  // namespace regduel::llvm
