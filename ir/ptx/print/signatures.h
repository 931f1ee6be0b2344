// The parameters of functions, as the registers of their calls and entries tell. RIR does not keep declarations, so a structure in registers
// is as many parameters as it has words.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/ptx/print/variables.h"

namespace regduel::ir::ptx {

// A parameter in registers: `units` of R from `first` on; one in memory has none.
struct Parameter {
  int first = -1, units = 0;
  int bytes = 0;
  int offset = -1;  // in the one structure that several results are
};

struct Signature {
  std::vector<Parameter> arguments, results;
  [[nodiscard]] bool empty() const { return arguments.empty() && results.empty(); }
};

// A function and what is known of its variables.
struct Analysed {
  const Function* function = nullptr;
  Variables variables;
};

// What a call calls.
struct Callee {
  std::string_view name;             // "" through a register
  const Operand* address = nullptr;  // the register
};
[[nodiscard]] Callee callee_of(const Function& f, const Inst& call);

// Signatures by name: one that suits the function with this name and all calls of it.
[[nodiscard]] std::map<std::string, Signature, std::less<>> signatures_of(std::span<const Analysed> functions);
// Of a call through a register.
[[nodiscard]] Signature signature_of(const Analysed& f, const Inst& call, int number);

// "(.param .b32 r0) NAME (.param .b64 a0, .param .b32 a1)", of a prototype with "_" for each name.
[[nodiscard]] std::string text_of(const Signature& s, std::string_view name, bool has_names);

// Where parameter `k` of a list is: "PREFIX0+8" of the structure of results, "PREFIXk" else.
[[nodiscard]] std::string place_of(const std::vector<Parameter>& list, std::size_t k, std::string_view prefix);
// The declarations of a list, as ".param .b32 PREFIXk" or one of a structure, each with its name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> declarations_of(const std::vector<Parameter>& list,
                                                                               std::string_view prefix);

// The registers of arguments or results: of a call, of an entry or of a return, those that are fixed.
[[nodiscard]] std::vector<const Operand*> fixed_operands(const Function& f, std::span<const Operand> ops);

}  // namespace regduel::ir::ptx
