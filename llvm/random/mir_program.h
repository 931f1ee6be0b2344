// A random program of RIR as a machine function of LLVM, whose operations are inline assembly: any number of operands of any class, tied,
// early-clobber, in fixed registers, parts of tuples, clobbers.
//
//   operation   INLINEASM; a def that keeps something (guarded, a part, def-use, tied) is tied to a use of the same register
//   copy        COPY, where one whole register goes to another of its class
//   phi         a copy to a register of its own, and from there, at the end of each predecessor
//   fixed       COPY from and to the physical register
//   branch      a chain of conditional branches, whose condition is undefined
//
// Valid by construction, which the machine verifier confirms: blocks that cannot be reached are left out; what may be read before it is written
// is defined at the entry; of the operands of one instruction as many are kept as surely fit (Machine::budget). The result means what LLVM
// says that it means: the program of RIR only gives it its form.
// Tested by mir_program_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "llvm/random/machine.h"

namespace regduel::llvm {

struct MirItem {
  enum class Kind : unsigned char { Def, EarlyDef, Use, TiedUse, Clobber };
  Kind kind = Kind::Use;
  int vreg = -1;
  std::string sub = {};   // ".sub0_sub1"
  std::string preg = {};  // "$vgpr3", in place of a vreg
  int tied = -1;          // TiedUse: which item it is tied to

  [[nodiscard]] bool is_def() const { return kind == Kind::Def || kind == Kind::EarlyDef; }
  [[nodiscard]] bool names_same(const MirItem& o) const { return vreg == o.vreg && sub == o.sub && preg == o.preg; }
};
struct MirOperation {
  bool is_copy = false;  // else inline assembly
  std::vector<MirItem> items = {};
};
struct MirBlock {
  int number = 0;
  std::vector<int> successors = {};  // each once; none: the function ends
  std::vector<MirOperation> operations = {};
};
struct MirFunction {
  std::vector<std::string> classes;  // of each vreg
  std::vector<MirBlock> blocks;
};

// Requires a program over vregs. Cost: O(size x vregs / 64).
[[nodiscard]] MirFunction mir_function(const ir::Function& program, const Machine& machine);
// A .mir file of these functions, named p0, p1 ...
[[nodiscard]] std::string mir_file(std::span<const MirFunction> functions, const Machine& machine);

}  // namespace regduel::llvm
