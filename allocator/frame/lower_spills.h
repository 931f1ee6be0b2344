// Lowers spills and refills to sequences of instructions with an address in a register.
//
//   local    A = spill_iadd B, word       shared    A = spill_mov "__nv_reservedSMEM_allocation_phase"
//            A = spill_imad A, 4, 0                 A = spill_iadd A, word
//            spill_stl R, A, byte                   A = spill_shl A, 2
//                                                   A = spill_lop3 A, "__nv_reservedSMEM_allocation_mask"
//                                                   spill_sts R, A, byte
//
// B holds the begin of the frame, in words: getlmembase sets it at the entry, and again behind each clobber of B. A branch skips a
// guarded spill whose guard is false. Around a call the base is set behind the frame. FORMAT.md, "Lowered spills", specifies the
// instructions; the judges undo the lowering by themselves (oracles/pair/raise.h).
//
// A and B are registers that the program does not name. If an allocation leaves none, it is made again with two registers less; so a
// program without spills, or with registers to spare, loses nothing. Any allocator's result can be lowered.
//
// Source: source 001 "SASS instruction sequences", "SMEM symbols"; DECISIONS on the address. Deviates: the base is counted in
// strides, so that (base + offset) * stride is base + slot * stride in bytes; ISETP is not needed, since guards are predicates
// already. Tested by lower_spills_test.cpp, and with the judges by properties/lowering_test.cpp.
#pragma once

#include <expected>
#include <optional>

#include "ir/allocator.h"

namespace regduel::allocator {

// Units of file R.
struct AddressRegisters {
  int base = 0, address = 0;
};

// The lowest two that can hold addresses: below the limit, not reserved, in no operand of `allocated`, not owed to a caller, not
// clobbered by a terminator (behind which nothing could be computed again). Base is the one that fewer instructions clobber.
// nullopt if there are not two.
[[nodiscard]] std::optional<AddressRegisters> find_address_registers(const ir::Function& allocated, const ir::Target& target,
                                                                     const ir::Limits& limits);

// Requires: the registers are as above.
[[nodiscard]] ir::Function lower_spills(const ir::Function& allocated, AddressRegisters registers);

// The result of `allocator`, lowered. Fails if the program is impossible without the two registers.
[[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate_lowered(const ir::Allocator& allocator,
                                                                               const ir::Function& program,
                                                                               const ir::Target& target,
                                                                               const ir::AllocOptions& options);

}  // namespace regduel::allocator
