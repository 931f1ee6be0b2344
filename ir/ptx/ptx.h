// The reader of PTX. Each .entry and each .func with a body becomes one Function. FORMAT.md, "PTX", defines the translation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/launch.h"
#include "ir/program.h"
#include "ir/ptx/declared.h"

namespace regduel::ir {

// What a file says of a function besides its instructions.
struct PtxDeclarations {
  LaunchBounds bounds;
  std::vector<std::uint32_t> lines;                         // of the file, by number of the instruction
  std::string target;                                       // as the file has it: "sm_90a"
  std::shared_ptr<const PtxVariables> variables = nullptr;  // of the file, by name
  bool is_weak = false;     // declared `.weak`: a linker may put another body in the place of its own
  bool is_visible = false;  // declared for other files, or named where a variable gets its value: others may call it
};
struct PtxModule : Module {
  std::vector<PtxDeclarations> declarations;  // by function
};

// Cost: O(bytes). Never throws on any input. An unknown opcode becomes a named operation; a syntax error is returned with
// line and column. Calls, arguments and results follow `abi`.
[[nodiscard]] Parsed<PtxModule> parse_ptx(std::string_view text, std::string_view file_name = "", AbiName abi = AbiName::Cuda,
                                          ParamCopies param_copies = ParamCopies::Folded);

}  // namespace regduel::ir
