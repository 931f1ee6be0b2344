// The variables that a function names, as far as its instructions tell: in which memory each is, and how large it must be. RIR does not keep
// declarations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/program.h"

namespace regduel::ir::ptx {

class OpcodeTable;

struct Variable {
  // Param: of the function itself. Argument, Result: of a call, in memory. Return: what the function returns in memory.
  enum class Space : std::uint8_t {
    Unknown,
    Param,
    Argument,
    Result,
    Return,
    Shared,
    Local,
    Global,
    Const,
    Texture,
    Sampler,
    Surface
  };
  Space space = Space::Unknown;
  int bytes = 0, align = 1;  // of what is accessed by name
  bool has_address = false;  // and its address is in a register
};

// An access to a variable of a call that is in memory: which call, by its number among those of the function, and which of its variables.
struct CallVariable {
  int call = -1;
  std::string name;
};

struct Variables {
  std::map<std::string, Variable, std::less<>> by_name;
  std::map<std::uint32_t, CallVariable> of_calls;            // by number of the instruction that accesses it
  std::vector<std::vector<std::string>> arguments, results;  // of each call, by name, those in memory
  std::map<std::pair<int, std::string>, int> bytes_of_calls;
};

[[nodiscard]] Variables variables_of(const Function& f, OpcodeTable& opcodes);

}  // namespace regduel::ir::ptx
