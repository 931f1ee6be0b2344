// The variables of a PTX file, as they were declared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace regduel::ir {

// In whatever memory. Where several functions have a variable of one name, the most of them.
struct PtxVariable {
  std::uint64_t bytes = 0;  // of an array without a size, one element
  std::uint32_t align = 1;
};
using PtxVariables = std::map<std::string, PtxVariable, std::less<>>;

}  // namespace regduel::ir
