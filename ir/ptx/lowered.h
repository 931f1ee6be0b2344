// What the translation of one PTX function makes (lower.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace regduel::ir::ptx {

// What a source file is called whose name is not known yet, before its number.
inline constexpr std::string_view kNamelessFile = "file ";

struct Lowered {
  Function function;
  std::vector<std::uint32_t> places;  // in the file, by number of the instruction
};

}  // namespace regduel::ir::ptx
