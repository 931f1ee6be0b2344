// The text form of RIR (FORMAT.md has the grammar): print and parse are inverse to each other.
#pragma once

#include <string>
#include <string_view>

#include "base/source_error.h"
#include "ir/program.h"

namespace regduel::ir {

// Format version that print writes; parse reads every version up to it.
inline constexpr int kTextVersion = 1;

[[nodiscard]] std::string print(const Function& f);                     // without the "rir 1" line
[[nodiscard]] std::string print(const Module& m);                       // a whole file
[[nodiscard]] std::string print_file(const Function& f);                // a whole file, of one function
[[nodiscard]] std::string print(const Function& f, const Inst& i);      // one instruction, no newline
[[nodiscard]] std::string print(const Function& f, const Operand& op);  // one operand
[[nodiscard]] std::string print_type(const VReg& v);                    // "b32", "f64", "pred"

// Parses and checks well-formedness (check.h), so the result can be used at once. The error names the first fault, with
// line and column. Cost: O(bytes). Never throws on any input.
[[nodiscard]] Parsed<Module> parse(std::string_view text, std::string_view file_name = "");

}  // namespace regduel::ir
