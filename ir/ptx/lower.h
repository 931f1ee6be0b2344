// One PTX function to one Function of RIR: blocks with explicit fall-through, vectors as aligned tuples with pack and unpack around
// them, call sequences folded into `call`. FORMAT.md, "PTX", defines the translation.
//
// Source: PTX ISA 9.0; the tuples follow what the hardware does with a vector access and with a matrix fragment (source 000,
// "pair modes"; source 003, tensor alignment). Tested by ptx_test.cpp.
#pragma once

#include <string_view>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"
#include "ir/ptx/syntax.h"
#include "ir/target.h"

namespace regduel::ir::ptx {

// Ensures: the result is well-formed (ir::check) for the target. Cost: O(size of f).
[[nodiscard]] Parsed<Function> lower(const FunctionSyntax& f, const Target& target, AbiName abi, ParamCopies param_copies,
                                     std::string_view file_name);

}  // namespace regduel::ir::ptx
