// Lowered spill code (FORMAT.md, "Lowered spills") taken back to spills and refills, so that judges look through it.
//
// No pattern is matched: each instruction is evaluated. The value of an address register is
//
//   base * times / per + plus      with the base of the local frame, or the phase of the shared one
//
// or unknown; the base register of the thread holds the local base plus a number of bytes. Both are followed forward over the
// control-flow graph; if two paths bring different values, the value is unknown. An access whose address is one
// byte of one slot becomes a spill or a refill there, under the guard of the branch that may jump over it. All others are faults:
//
//   lowered-address    an access, a call or a ret that finds no address, or not the one that it has to find
//   lowered-register   an address stands in a register that may not hold one, or that something else names too
//   lowered-branch     a branch over anything but the address and the access behind it
//
// Unreachable blocks begin with all values unknown but the base register, and an access to what is unknown there is no fault, as no
// path leads to it. Faulty and unknown accesses are left out of the program.
// Shares nothing with what lowers. Tested by raise_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"

namespace regduel::oracles {

struct RaiseFault {
  std::string_view category;
  ir::InstId inst;  // invalid = the function
  int operand = -1;
  std::string message;
  ir::InstId other = {};
};

struct Raised {
  ir::Function program;
  std::vector<RaiseFault> faults;  // in program order
};

// Requires: both well-formed. Null where there is no lowered instruction in `after`. Cost: O(size of after) there; else passes x
// size of after + blocks x address registers.
[[nodiscard]] std::shared_ptr<const Raised> raise(const ir::Function& before, const ir::Function& after, const ir::Target& target,
                                                  const ir::Limits& limits);

}  // namespace regduel::oracles
