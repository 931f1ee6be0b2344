// Verification before and after coalescing (knob verify-coalescing; LLVM's MachineVerifier, with the markers of source 004): the
// program is well-formed, and its live intervals, made anew, agree with a plain walk: each read is in a segment where a def reaches
// it, each def begins a segment or lies in one, and no segment of a value begins elsewhere than at its def or at the head of a
// block. A fault is one of ours: an internal error that names the marker. Tested by llvm_test.cpp.
#pragma once

#include <string_view>

#include "ir/allocator.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::passes::llvm {

// Writes the marker into the trace first.
void verify(const ir::Function& f, const ir::Target& target, std::string_view marker, ir::Trace* trace);

}  // namespace regduel::passes::llvm
