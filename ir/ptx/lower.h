// One PTX function to one Function of RIR: blocks with explicit fall-through, vectors as aligned tuples with pack and unpack around
// them, call sequences folded into `call`. FORMAT.md, "PTX", defines the translation.
//
// Source: PTX ISA 9.0; the tuples follow what the hardware does with a vector access and with a matrix fragment (source 000,
// "pair modes"; source 003, tensor alignment). Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"
#include "ir/ptx/lowered.h"
#include "ir/ptx/syntax.h"
#include "ir/target.h"

namespace regduel::ir::ptx {

// `files` has the names of source files that are known so far; of another one the lines name kNamelessFile and N.
// Ensures: the result is well-formed (ir::check) for the target. Cost: O(size of f).
[[nodiscard]] Parsed<Lowered> lower(const FunctionSyntax& f, const Target& target, AbiName abi, ParamCopies param_copies,
                                    std::string_view file_name, const std::map<std::uint64_t, std::string_view>& files);

}  // namespace regduel::ir::ptx
