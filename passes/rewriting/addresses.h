// The instructions of PTX that compute addresses, by mnemonic. Tested by clean_test.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace regduel::passes {

// cvta.to.global and cvta.global of one register, without a guard.
[[nodiscard]] bool is_conversion_to_global(const ir::Function& f, const ir::Inst& i);

// A register plus or minus a number, of 32 or 64 bits, without a guard.
struct SumWithNumber {
  std::size_t base_operand = 0, number_operand = 0;
  std::int64_t number = 0;  // that is added
  bool is_difference = false;
};
[[nodiscard]] std::optional<SumWithNumber> sum_with_number(const ir::Function& f, const ir::Inst& i);

// A load or a store through a register and a number of bytes.
struct Address {
  std::size_t base_operand = 0;
  std::int64_t offset = 0;
  bool has_offset_operand = false;  // behind the base
};
[[nodiscard]] std::optional<Address> address_of(const ir::Function& f, const ir::Inst& i);
// Whether an instruction can have such an offset: 24 bits with sign.
[[nodiscard]] constexpr bool is_offset(std::int64_t n) { return n >= -(1 << 23) && n < (1 << 23); }

}  // namespace regduel::passes
