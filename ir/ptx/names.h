// Types and registers of PTX, and the names that it knows without a declaration. Source: PTX ISA 9.0, sections 5.2 and 10.
#pragma once

#include <string_view>

#include "ir/program.h"

namespace regduel::ir::ptx {

// A fundamental type: ".f16x2" is F, 32 bits; ".pred" is Pred, 1 bit. Zero bits where the name is no type.
struct TypeInfo {
  TypeKind kind = TypeKind::B;
  int bits = 0;
};
[[nodiscard]] TypeInfo type_from_name(std::string_view name);  // without the dot

// A register of a function. `elements` is above 1 for a vector register (.reg .v4 .f32 %v), `type` is that of one element.
struct Register {
  std::string_view name;  // points into the text of the file
  TypeInfo type;
  int elements = 1;
};

[[nodiscard]] bool is_special_register(std::string_view word);  // with the '%', and with ".x" where it is a vector

}  // namespace regduel::ir::ptx
