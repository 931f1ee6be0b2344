// The table of opcodes: keyword, number in the binary form, counts of operands and targets, and traits. Parser, printer, binary
// form, checker and all other code read it, so no meaning depends on the order of `Op`. Rules beyond a count (widths, files, slots)
// are in check.cpp. Tested by opcode_table_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace regduel::ir {

// Everything but Named has a meaning that the judges know; a Named operation is an uninterpreted function.
enum class Op : std::uint8_t {
  Named,
  Copy,    // n defs = n uses, pairwise, in parallel
  Phi,     // 1 def; one use a distinct predecessor, which its targets name in the same order
  Pack,    // 1 def = concatenation of the uses, first use lowest
  Unpack,  // n defs = consecutive pieces of the 1 use, first def lowest
  Const,   // 1 def = an immediate or a symbol
  Call,    // symbol, argument uses, result defs, clobbers
  Ret,
  Exit,
  Bra,        // 1 target
  CBra,       // 1 predicate use, 2 targets: taken, not taken
  MBra,       // 1 use, n >= 1 targets
  Bar,        // barrier: ordered with memory, convergent
  Spill,      // slot = register
  Refill,     // register = slot
  P2R,        // pack (DefUse).bit i = Pi, for each predicate use i (its register number is the bit number)
  R2P,        // Pi = bit i of the pack, for each def i
  BitSpill,   // pack (DefUse).bit k = predicate; k is an immediate
  BitRefill,  // predicate = pack.bit k
  Remat,      // the same operation as instruction `ref`, on operands of its own
  // Lowered spill code (FORMAT.md, "Lowered spills"), which spills and refills become as a last step.
  GetLocalBase,  // register = where the frame begins, in strides of an immediate
  SetLocalBase,  // the other way
  AddressMov,    // address = what a symbol stands for
  AddressAdd,    // address = address + immediate
  AddressMad,    // address = address * immediate + immediate
  AddressShl,    // address = address << immediate
  AddressAnd,    // address = address & what a symbol stands for
  SkipBra,       // guarded: over so many instructions
  StoreLocal,    // [address + immediate] = register
  LoadLocal,     // register = [address + immediate]
  StoreShared,
  LoadShared,
};

enum OpTraits : std::uint16_t {
  kMovesValue = 1 << 0,     // each def holds the very value that it is given by a use, or by a slot
  kEndsBlock = 1 << 1,      // a terminator
  kAllocatorOnly = 1 << 2,  // never in a program before allocation
  kPacksBits = 1 << 3,      // predicates to and from the bits of a register
  kTouchesMemory = 1 << 4,  // may carry !read, !write, !barrier: spill slots are no memory in this sense
  kUnguarded = 1 << 5,      // never has a guard
  kUsesPlain = 1 << 6,      // never has a negated use
  kLowered = 1 << 7,        // a step of lowered spill code
};

// The counts that are allowed.
struct Count {
  std::uint8_t least = 0, most = 0;
  static constexpr std::uint8_t kUnbounded = 255;
  [[nodiscard]] constexpr bool allows(std::size_t n) const { return n >= least && (n <= most || most == kUnbounded); }
};

struct Opcode {
  Op op = Op::Named;
  std::uint8_t code = 0;     // in the binary form: never given to another opcode
  std::string_view keyword;  // "" for Named
  Count defs, def_uses;      // registers that are written; read and written
  Count registers, others;   // uses: of registers; of immediates, symbols and slots
  Count targets;
  unsigned traits = 0;     // OpTraits
  std::string_view shape;  // the error message for wrong counts
};

namespace opcode_counts {
inline constexpr Count kNone{0, 0}, kOne{1, 1}, kTwo{2, 2}, kSome{1, Count::kUnbounded}, kAny{0, Count::kUnbounded};
}

inline constexpr auto kOpcodes = [] {
  using namespace opcode_counts;
  constexpr unsigned only = kAllocatorOnly, step = only | kLowered | kUnguarded, access = only | kLowered;
  return std::to_array<Opcode>({
      // clang-format off
      // op           code keyword       defs   def_uses regs  others targets traits
      {Op::Named,      0, "",            kAny,  kAny,  kAny,  kAny,  kNone, kTouchesMemory, ""},
      {Op::Copy,       1, "copy",        kSome, kNone, kSome, kNone, kNone, kMovesValue | kUsesPlain,
       "a copy has as many register uses as defs"},
      {Op::Phi,        2, "phi",         kOne,  kNone, kSome, kNone, kSome, kMovesValue | kUnguarded | kUsesPlain,
       "a phi has one def, and a register use for each predecessor"},
      {Op::Pack,       3, "pack",        kOne,  kNone, kSome, kNone, kNone, kUsesPlain, "a pack has one def and register uses"},
      {Op::Unpack,     4, "unpack",      kSome, kNone, kOne,  kNone, kNone, kUsesPlain, "an unpack has defs and one register use"},
      {Op::Const,      5, "const",       kOne,  kNone, kNone, kOne,  kNone, 0, "const has one def and a number or string"},
      {Op::Call,       6, "call",        kAny,  kAny,  kAny,  kAny,  kNone, kTouchesMemory, ""},
      {Op::Ret,        7, "ret",         kNone, kNone, kAny,  kAny,  kNone, kEndsBlock | kTouchesMemory | kUnguarded, ""},
      {Op::Exit,       8, "exit",        kNone, kNone, kNone, kNone, kNone, kEndsBlock | kTouchesMemory | kUnguarded,
       "exit has no operands"},
      {Op::Bra,        9, "bra",         kNone, kNone, kNone, kNone, kOne,  kEndsBlock | kTouchesMemory | kUnguarded,
       "bra has no operands"},
      {Op::CBra,      10, "cbra",        kNone, kNone, kOne,  kNone, kTwo,  kEndsBlock | kTouchesMemory | kUnguarded,
       "cbra has one operand, a predicate"},
      {Op::MBra,      11, "mbra",        kNone, kNone, kOne,  kNone, kSome, kEndsBlock | kTouchesMemory | kUnguarded,
       "mbra has one operand, a register"},
      {Op::Bar,       12, "bar",         kAny,  kAny,  kAny,  kAny,  kNone, kTouchesMemory, ""},
      {Op::Spill,     13, "spill",       kNone, kNone, kOne,  kOne,  kNone, only | kMovesValue,
       "a spill reads: spill REGISTER, slot N"},
      {Op::Refill,    14, "refill",      kOne,  kNone, kNone, kOne,  kNone, only | kMovesValue,
       "a refill reads: REGISTER = refill slot N"},
      {Op::P2R,       15, "p2r",         kNone, kOne,  kSome, kNone, kNone, only | kPacksBits, "p2r reads: R{inout} = p2r P, P, ..."},
      {Op::R2P,       16, "r2p",         kSome, kNone, kOne,  kNone, kNone, only | kPacksBits, "r2p reads: P, P, ... = r2p R"},
      {Op::BitSpill,  17, "bit_spill",   kNone, kOne,  kOne,  kOne,  kNone, only | kPacksBits,
       "bit_spill reads: R{inout} = bit_spill P, 0 to 31"},
      {Op::BitRefill, 18, "bit_refill",  kOne,  kNone, kOne,  kOne,  kNone, only | kPacksBits,
       "bit_refill reads: P = bit_refill R, 0 to 31"},
      {Op::Remat,     19, "remat",       kOne,  kNone, kAny,  kAny,  kNone, only | kUnguarded,
       "remat has one def, no guard, and says what it repeats"},
      {Op::GetLocalBase, 32, "getlmembase", kOne,  kNone, kNone, kOne,  kNone, step,   "getlmembase reads: R = getlmembase STRIDE"},
      {Op::SetLocalBase, 33, "setlmembase", kNone, kNone, kOne,  kOne,  kNone, step,   "setlmembase reads: setlmembase R, STRIDE"},
      {Op::AddressMov,   34, "spill_mov",   kOne,  kNone, kNone, kOne,  kNone, step,   "spill_mov reads: R = spill_mov \"SYMBOL\""},
      {Op::AddressAdd,   35, "spill_iadd",  kOne,  kNone, kOne,  kOne,  kNone, step,   "spill_iadd reads: R = spill_iadd R, N"},
      {Op::AddressMad,   36, "spill_imad",  kOne,  kNone, kOne,  kTwo,  kNone, step,   "spill_imad reads: R = spill_imad R, N, N"},
      {Op::AddressShl,   37, "spill_shl",   kOne,  kNone, kOne,  kOne,  kNone, step,   "spill_shl reads: R = spill_shl R, N"},
      {Op::AddressAnd,   38, "spill_lop3",  kOne,  kNone, kOne,  kOne,  kNone, step,   "spill_lop3 reads: R = spill_lop3 R, \"SYMBOL\""},
      {Op::SkipBra,      39, "spill_bra",   kNone, kNone, kNone, kOne,  kNone, access, "spill_bra reads: @P spill_bra INSTRUCTIONS"},
      {Op::StoreLocal,   40, "spill_stl",   kNone, kNone, kTwo,  kOne,  kNone, access, "spill_stl reads: spill_stl REGISTER, R, BYTES"},
      {Op::LoadLocal,    41, "spill_ldl",   kOne,  kNone, kOne,  kOne,  kNone, access, "spill_ldl reads: REGISTER = spill_ldl R, BYTES"},
      {Op::StoreShared,  42, "spill_sts",   kNone, kNone, kTwo,  kOne,  kNone, access, "spill_sts reads: spill_sts REGISTER, R, BYTES"},
      {Op::LoadShared,   43, "spill_lds",   kOne,  kNone, kOne,  kOne,  kNone, access, "spill_lds reads: REGISTER = spill_lds R, BYTES"},
      // clang-format on
  });
}();

namespace detail {

inline constexpr std::uint8_t kNoRow = 255;

// Rows by a key below 64, in any order of the table and of the enum.
constexpr auto rows_by(auto key) {
  std::array<std::uint8_t, 64> rows{};
  rows.fill(kNoRow);
  for (std::size_t r = 0; r < kOpcodes.size(); ++r) rows[key(kOpcodes[r])] = static_cast<std::uint8_t>(r);
  return rows;
}
inline constexpr auto kRowOf = rows_by([](const Opcode& o) { return static_cast<std::size_t>(o.op); });

// The opcodes with one of `traits`, as a bit each.
constexpr std::uint64_t ops_with(unsigned traits) {
  std::uint64_t ops = 0;
  for (const Opcode& o : kOpcodes) ops |= std::uint64_t{(o.traits & traits) != 0} << static_cast<unsigned>(o.op);
  return ops;
}

}  // namespace detail

// False for a value that is no enumerator.
[[nodiscard]] constexpr bool is_known(Op op) {
  return static_cast<std::size_t>(op) < detail::kRowOf.size() && detail::kRowOf[static_cast<std::size_t>(op)] != detail::kNoRow;
}
// Requires is_known(op).
[[nodiscard]] constexpr const Opcode& opcode(Op op) { return kOpcodes[detail::kRowOf[static_cast<std::size_t>(op)]]; }
template <unsigned Traits>
[[nodiscard]] constexpr bool has_trait(Op op) {
  constexpr std::uint64_t ops = detail::ops_with(Traits);
  return (ops >> (static_cast<unsigned>(op) & 63) & 1) != 0;
}

[[nodiscard]] constexpr std::string_view name(Op op) { return opcode(op).keyword; }  // "" for Named
[[nodiscard]] std::optional<Op> op_of_keyword(std::string_view keyword);
[[nodiscard]] std::optional<Op> op_of_code(std::size_t code);

// copy, phi, spill, refill
[[nodiscard]] constexpr bool moves_value(Op op) { return has_trait<kMovesValue>(op); }
// pack, unpack: each byte of a def is one of the uses'
[[nodiscard]] constexpr bool moves_pieces(Op op) { return op == Op::Pack || op == Op::Unpack; }
// spill, refill
[[nodiscard]] constexpr bool is_slot_move(Op op) { return op == Op::Spill || op == Op::Refill; }
// ret, exit, bra, cbra, mbra
[[nodiscard]] constexpr bool is_terminator(Op op) { return has_trait<kEndsBlock>(op); }
// spill, refill, p2r, r2p, bit_spill, bit_refill, remat, and lowered spill code
[[nodiscard]] constexpr bool is_allocator_only(Op op) { return has_trait<kAllocatorOnly>(op); }
// p2r, r2p, bit_spill, bit_refill
[[nodiscard]] constexpr bool packs_bits(Op op) { return has_trait<kPacksBits>(op); }
// p2r, bit_spill: the pack is its def-use. The others read it.
[[nodiscard]] constexpr bool writes_pack(Op op) { return packs_bits(op) && opcode(op).def_uses.least == 1; }
// p2r, r2p: the number of a predicate's register is the number of its bit. The others name the bit.
[[nodiscard]] constexpr bool packs_by_number(Op op) { return packs_bits(op) && opcode(op).others.most == 0; }
// getlmembase, setlmembase and all that begins with "spill_"
[[nodiscard]] constexpr bool is_lowered(Op op) { return has_trait<kLowered>(op); }
// spill_stl, spill_ldl, spill_sts, spill_lds: what a spill or a refill becomes; the others serve its address
[[nodiscard]] constexpr bool is_lowered_store(Op op) { return op == Op::StoreLocal || op == Op::StoreShared; }
[[nodiscard]] constexpr bool is_lowered_load(Op op) { return op == Op::LoadLocal || op == Op::LoadShared; }
[[nodiscard]] constexpr bool is_lowered_access(Op op) { return is_lowered_store(op) || is_lowered_load(op); }
// All others, remat among them: each def is a new value, a function of the operands.
[[nodiscard]] constexpr bool computes(Op op) { return !has_trait < kMovesValue | kPacksBits | kLowered > (op); }

// Lowered spill code names two symbols (source 001 "SMEM symbols"): where the part of a thread begins in the shared memory that is
// reserved, in words of four bytes, and the bits that the addresses there have.
inline constexpr std::string_view kSmemPhaseSymbol = "__nv_reservedSMEM_allocation_phase";
inline constexpr std::string_view kSmemMaskSymbol = "__nv_reservedSMEM_allocation_mask";
inline constexpr int kSmemWordBytes = 4;

}  // namespace regduel::ir
