// RIR as PTX that ptxas takes. FORMAT.md, "PTX out", has the rules.
#pragma once

#include <span>
#include <string>

#include "ir/program.h"
#include "ir/ptx/ptx.h"

namespace regduel::ir {

enum class PtxStyle : std::uint8_t {
  Operations,  // each operation is the instruction of PTX whose name it has
  StandIns,    // each operation becomes some arithmetic on the same operands, kept alive by stores
};

struct PtxFunction {
  const Function* function = nullptr;
  const PtxDeclarations* declared = nullptr;  // null = bounds and suffix of the target are not known
  PtxStyle style = PtxStyle::Operations;
};

// Operations where all that the function does is known by name, type and number of operands as an instruction of PTX, as all that was read
// from PTX is; else StandIns.
[[nodiscard]] PtxStyle ptx_style(const Function& f);

// One module, whose functions may call one another. Requires functions before allocation, of one target.
[[nodiscard]] std::string print_ptx(std::span<const PtxFunction> functions);

}  // namespace regduel::ir
