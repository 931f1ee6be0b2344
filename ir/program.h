// The program form: RIR, a machine IR over virtual registers, not SSA, phis allowed. FORMAT.md defines each notion and
// the text form; this header is the same thing in memory. No analysis lives here (no liveness, no interference, no
// reaching definitions), because duelists and judges each compute their own.
//
// Storage is flat: one array each of vregs, blocks, instructions, operands and targets. An instruction is 32 bytes and an
// operand 16, so that a function of a million instructions takes some 100 MB. A Function is built by appending,
// block after block; a pass makes a new Function rather than edit in the middle (clone_header, begin_block, append).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/abi.h"
#include "ir/ids.h"
#include "ir/opcode_table.h"
#include "ir/registers.h"

namespace regduel::ir {

// ---------------------------------------------------------------------------------------------------------------
// Virtual registers

// The meaning of the bits, for the coalescers' type classes and for mixed-size checks. Allocation never depends on it.
enum class TypeKind : std::uint8_t { B, S, U, F, Pred };

enum VRegFlags : std::uint8_t {
  kVRegUniform = 1,        // known to be the same in all threads of a warp
  kVRegArchitectural = 2,  // an architectural register (PT, RZ ...): never allocated nor constrained
};

struct VReg {
  RegClass cls = RegClass::R;
  TypeKind type = TypeKind::B;
  std::uint16_t width = 32;     // bits: 1 (P, UP only), 8, 16, 32, 64, 96, 128 or 256
  std::uint8_t align_log2 = 0;  // alignment in units, as a power of two
  std::uint8_t flags = 0;       // VRegFlags
  Part alias_part;              // with alias: which part of the parent's storage this vreg is
  PReg fixed = {};              // precoloured: each operand of this vreg is fixed to this register
  VRegId alias;                 // this vreg names (a part of) the parent's storage; chains allowed, no cycles
  VRegId hint;                  // coalescing hint: would like the same register as this one
  SymbolId name;                // for people

  [[nodiscard]] bool is_architectural() const { return (flags & kVRegArchitectural) != 0; }
  [[nodiscard]] RegFile file() const { return file_of(cls); }
  [[nodiscard]] int bytes() const { return width < 8 ? 1 : width / 8; }
  // The number of units that it owns. A narrow vreg (8, 16 bits) owns a whole one.
  [[nodiscard]] int units() const { return is_predicate(file()) ? 1 : (width + 31) / 32; }
  [[nodiscard]] int alignment() const { return 1 << align_log2; }
};

// log2 of the natural alignment in units: 0 for up to 32 bits, 1 for 64, 2 for 96 and 128, 3 for 256.
[[nodiscard]] int natural_align_log2(int width_bits);

// ---------------------------------------------------------------------------------------------------------------
// Operands

enum class OperandKind : std::uint8_t { VReg, PReg, Imm, Symbol, Slot };

// Def       written after all uses are read (early-clobber: before).
// DefUse    read and written: one register, one operand ("tied" to itself).
// Use       read.
// Guard     the predicate that decides whether the instruction happens; read.
// Clobber   a physical register that the instruction destroys, after its uses are read and before its defs are written.
enum class Role : std::uint8_t { Def, DefUse, Use, Guard, Clobber };

enum OperandFlags : std::uint8_t {
  kEarlyClobber = 1,  // Def only: written before the uses are read
  kNegated = 2,       // Guard, and predicate uses: the predicate's negation
};

inline constexpr std::uint16_t kNotTied = 0xFFFF;

struct Operand {
  OperandKind kind = OperandKind::Imm;
  Role role = Role::Use;
  Part part;                      // VReg, PReg: which part of the register
  std::uint8_t flags = 0;         // OperandFlags
  std::uint16_t tied = kNotTied;  // Def only: index of the use operand whose register this def must take

  [[nodiscard]] bool is_vreg() const { return kind == OperandKind::VReg; }
  [[nodiscard]] bool is_preg() const { return kind == OperandKind::PReg; }
  [[nodiscard]] bool is_register() const { return is_vreg() || is_preg(); }
  [[nodiscard]] bool is_slot() const { return kind == OperandKind::Slot; }
  [[nodiscard]] bool reads() const { return role == Role::Use || role == Role::DefUse || role == Role::Guard; }
  [[nodiscard]] bool writes() const { return role == Role::Def || role == Role::DefUse; }
  [[nodiscard]] bool is_early_clobber() const { return (flags & kEarlyClobber) != 0; }
  [[nodiscard]] bool is_negated() const { return (flags & kNegated) != 0; }
  [[nodiscard]] bool is_tied() const { return tied != kNotTied; }
  [[nodiscard]] VRegId vreg() const { return VRegId(value_); }
  [[nodiscard]] PReg preg() const { return unpack(value_); }
  [[nodiscard]] PReg fixed() const { return is_vreg() ? unpack(extra_) : PReg{}; }
  [[nodiscard]] SlotId slot() const { return SlotId(value_); }
  [[nodiscard]] SymbolId symbol() const { return SymbolId(value_); }
  [[nodiscard]] std::uint32_t slot_offset() const { return is_slot() ? extra_ : 0; }
  [[nodiscard]] std::int64_t imm() const { return static_cast<std::int64_t>(static_cast<std::uint64_t>(extra_) << 32 | value_); }
  // The same vreg or preg, and the same part of it; whatever role, flags and fixed register.
  [[nodiscard]] bool names_same(const Operand& o) const {
    return is_register() && kind == o.kind && value_ == o.value_ && part == o.part;
  }

  void set_fixed(PReg r) { extra_ = pack(r); }
  // Each names another vreg (preg, slot, symbol) and keeps all other fields, the offset within a slot too.
  void set_vreg(VRegId v) { value_ = v.value; }
  void set_preg(PReg r) { value_ = pack(r); }
  void set_slot(SlotId s) { value_ = s.value; }
  void set_slot(SlotId s, std::uint32_t byte_offset) { value_ = s.value, extra_ = byte_offset; }
  void set_symbol(SymbolId s) { value_ = s.value; }

  // The contents of the fields, whatever the kind, for codecs, hashes and tests that damage operands.
  struct Raw {
    std::uint32_t value = 0, extra = 0;
  };
  [[nodiscard]] Raw raw() const { return {value_, extra_}; }
  void set_raw(Raw r) { value_ = r.value, extra_ = r.extra; }

  static Operand of_vreg(Role role, VRegId v, Part part = {});
  static Operand of_preg(Role role, PReg r, Part part = {});
  static Operand of_imm(std::int64_t v);
  static Operand of_symbol(SymbolId s);
  // A slot operand is an address, so its role is Use in a spill as in a refill.
  static Operand of_slot(SlotId s, std::uint32_t byte_offset = 0);

  static std::uint32_t pack(PReg r) {
    return !r.is_valid() ? 0 : static_cast<std::uint32_t>(r.file) << 24 | static_cast<std::uint32_t>(r.count) << 16 | r.first;
  }
  static PReg unpack(std::uint32_t v) {
    return PReg{static_cast<RegFile>(v >> 24), static_cast<std::uint8_t>(v >> 16 & 0xFF), static_cast<std::uint16_t>(v & 0xFFFF)};
  }
  friend bool operator==(const Operand&, const Operand&) = default;

 private:
  std::uint32_t value_ = 0;  // VReg: id; PReg: packed tuple; Symbol: id; Slot: id; Imm: low 32 bits
  std::uint32_t extra_ = 0;  // VReg: packed fixed register (0 = none); Slot: byte offset; Imm: high 32 bits
};
static_assert(sizeof(Operand) == 16);

// ---------------------------------------------------------------------------------------------------------------
// Instructions

enum InstFlags : std::uint16_t {
  kMemRead = 1 << 0,
  kMemWrite = 1 << 1,
  kReadOnly = 1 << 2,          // the memory read is of memory that nobody writes
  kBarrier = 1 << 3,           // nothing in memory moves across it
  kRematerialisable = 1 << 4,  // may be executed again elsewhere: one unguarded def, no side effect
  kCommutative = 1 << 5,
  kConvergent = 1 << 6,
  kInserted = 1 << 7,  // not of the original program: an allocator put it there
  kDeleted = 1 << 8,   // of the original program, but no longer executed (see FORMAT.md for what may be deleted)
};

// The flags in text, in the order in which they are printed; kInserted is the + of an instruction's number.
inline constexpr std::pair<InstFlags, std::string_view> kFlagKeywords[] = {
    {kMemRead, "read"},           {kMemWrite, "write"},          {kReadOnly, "readonly"},     {kBarrier, "barrier"},
    {kRematerialisable, "remat"}, {kCommutative, "commutative"}, {kConvergent, "convergent"}, {kDeleted, "deleted"}};

struct Inst {
  InstId id;
  Op op = Op::Named;
  std::uint8_t padding = 0;
  std::uint16_t flags = 0;
  SymbolId mnemonic;  // Named: its name. Others: optional, the name in the source ISA
  InstId ref;         // Remat: the instruction that it repeats
  SourceLineId line;  // where it comes from, for people
  std::uint32_t first_operand = 0;
  std::uint32_t first_target = 0;
  std::uint16_t num_operands = 0;
  std::uint16_t num_targets = 0;

  [[nodiscard]] bool has(InstFlags f) const { return (flags & f) != 0; }
  [[nodiscard]] bool is_inserted() const { return has(kInserted); }
  [[nodiscard]] bool is_deleted() const { return has(kDeleted); }
  [[nodiscard]] bool is_terminator() const { return ir::is_terminator(op); }
  [[nodiscard]] bool is_copy() const { return op == Op::Copy; }
  [[nodiscard]] bool is_phi() const { return op == Op::Phi; }
  // The instruction may be executed again elsewhere with the same result: it is marked so, and touches no memory that may change.
  [[nodiscard]] bool is_repeatable() const {
    return has(kRematerialisable) && !has(kMemWrite) && !has(kBarrier) && (!has(kMemRead) || has(kReadOnly));
  }
};
static_assert(sizeof(Inst) == 32);

// --- the operands of one instruction, in the order that check.h asks for: defs (and def-uses), uses, guard, clobbers

// Null where there is none.
[[nodiscard]] inline const Operand* guard_of(std::span<const Operand> ops) {
  std::size_t k = ops.size();
  while (k > 0 && ops[k - 1].role == Role::Clobber) --k;
  return k > 0 && ops[k - 1].role == Role::Guard ? &ops[k - 1] : nullptr;
}
[[nodiscard]] inline bool is_guarded(std::span<const Operand> ops) { return guard_of(ops) != nullptr; }

// The operands that are written: defs and def-uses.
[[nodiscard]] inline std::span<const Operand> defs_of(std::span<const Operand> ops) {
  std::size_t n = 0;
  while (n < ops.size() && ops[n].writes()) ++n;
  return ops.first(n);
}
// The operands that are only read, without the guard. Def-uses are among the defs.
[[nodiscard]] inline std::span<const Operand> uses_of(std::span<const Operand> ops) {
  const std::size_t begin = defs_of(ops).size();
  std::size_t end = begin;
  while (end < ops.size() && ops[end].role == Role::Use) ++end;
  return ops.subspan(begin, end - begin);
}

// The pairs of a copy, as a range: for (const auto [def, use] : copy_pairs(ops)). Requires the operands of a copy: n defs, then n
// uses.
class CopyPairs {
 public:
  struct Pair {
    const Operand& def;
    const Operand& use;
  };
  class Iterator {
   public:
    Iterator(const Operand* def, std::size_t size) : def_(def), size_(size) {}
    Pair operator*() const { return {*def_, def_[size_]}; }
    Iterator& operator++() {
      ++def_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Operand* def_;
    std::size_t size_;
  };

  explicit CopyPairs(std::span<const Operand> ops) : ops_(ops), size_(defs_of(ops).size()) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Pair operator[](std::size_t k) const { return {ops_[k], ops_[size_ + k]}; }
  [[nodiscard]] Iterator begin() const { return {ops_.data(), size_}; }
  [[nodiscard]] Iterator end() const { return {ops_.data() + size_, size_}; }

 private:
  std::span<const Operand> ops_;
  std::size_t size_;
};
[[nodiscard]] inline CopyPairs copy_pairs(std::span<const Operand> ops) { return CopyPairs(ops); }

inline constexpr std::size_t kMaxOperands = 65535;  // of one instruction; targets too

// ---------------------------------------------------------------------------------------------------------------
// Blocks, slots, functions

struct Block {
  std::uint32_t first_inst = 0;
  std::uint32_t num_insts = 0;
  std::int32_t depth = -1;  // loop depth, -1 = not given
  std::uint64_t freq = 0;   // execution frequency, 0 = not given
  SymbolId name;
  // A block that an allocator put on the edge edge_from -> edge_to; both invalid for an original block.
  BlockId edge_from;
  BlockId edge_to;

  [[nodiscard]] bool is_edge_block() const { return edge_from.is_valid(); }
};

enum class MemSpace : std::uint8_t { Local, Shared };

// A spill slot: bytes [offset, offset + size) of the frame of its space. Slots of one space do not overlap.
struct Slot {
  MemSpace space = MemSpace::Local;
  std::uint32_t size = 4;
  std::uint32_t align = 4;
  std::uint32_t offset = 0;
};

// A line of the source that a program was made from. Nothing depends on it.
struct SourceLine {
  SymbolId file;
  std::uint32_t line = 0;    // from 1 on
  std::uint32_t column = 0;  // from 1 on, 0 = not given

  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

enum class FunctionKind : std::uint8_t { Kernel, Device };  // Device follows the ABI: callee-saved registers matter
enum class Phase : std::uint8_t { Virtual, Allocated };

// Interned strings, shared between a program and its allocations until one of them adds to it.
class Symbols {
 public:
  SymbolId intern(std::string_view s);
  [[nodiscard]] std::string_view operator[](SymbolId id) const;  // "" for an invalid id
  [[nodiscard]] std::size_t size() const;

 private:
  struct Table;
  std::shared_ptr<Table> table_;
};

// Bytes of the storage of a root vreg (one without alias): [offset, offset + size).
struct Storage {
  VRegId root;
  std::uint16_t offset = 0;
  std::uint16_t size = 0;

  [[nodiscard]] bool overlaps(const Storage& o) const {
    return root == o.root && offset < o.offset + o.size && o.offset < offset + size;
  }
};

// Bytes [begin, end) of a register file. File byte b belongs to unit b / unit_bytes(file).
struct FileBytes {
  RegFile file = RegFile::R;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

class Function {
 public:
  std::string name;
  FunctionKind kind = FunctionKind::Kernel;
  AbiName abi = AbiName::Seed;  // which registers a device function must preserve; calls list their own
  Phase phase = Phase::Virtual;
  bool predicate_halves = false;  // two predicates to a register: units of P and UP are halves (Target)
  std::string target = "sm_90";   // name of a target description
  std::uint32_t threads = 256;    // threads a block: what a shared-memory slot is multiplied by
  std::uint32_t local_frame = 0;
  std::uint32_t shared_frame = 0;
  Symbols symbols;
  std::vector<VReg> vregs;
  std::vector<Slot> slots;
  std::vector<SourceLine> source_lines;  // that instructions name
  std::vector<Block> blocks;             // blocks[0] is the entry; edge blocks stand after all original ones
  std::vector<Inst> insts;               // block after block
  std::vector<Operand> operands;
  std::vector<BlockId> targets;

  // --- reading
  [[nodiscard]] const VReg& vreg(VRegId v) const { return vregs[v.index()]; }
  [[nodiscard]] const Block& block(BlockId b) const { return blocks[b.index()]; }
  [[nodiscard]] std::span<const Inst> insts_of(const Block& b) const { return {insts.data() + b.first_inst, b.num_insts}; }
  [[nodiscard]] std::span<const Inst> insts_of(BlockId b) const { return insts_of(block(b)); }
  // The phis at the head of a block.
  [[nodiscard]] std::span<const Inst> phis_of(BlockId b) const;
  [[nodiscard]] const Inst& terminator(BlockId b) const { return insts[block(b).first_inst + block(b).num_insts - 1]; }
  [[nodiscard]] std::span<const Operand> operands_of(const Inst& i) const {
    return {operands.data() + i.first_operand, i.num_operands};
  }
  [[nodiscard]] std::span<Operand> operands_of(const Inst& i) { return {operands.data() + i.first_operand, i.num_operands}; }
  [[nodiscard]] std::span<const BlockId> targets_of(const Inst& i) const {
    return {targets.data() + i.first_target, i.num_targets};
  }
  // Index, among the operands of a phi, of its use on the edge from a predecessor. Requires that there is one.
  [[nodiscard]] std::size_t phi_use_from(const Inst& phi, BlockId from) const;
  // Successors in the order of the terminator's targets; the same block may stand there twice.
  [[nodiscard]] std::span<const BlockId> successors(BlockId b) const { return targets_of(terminator(b)); }
  [[nodiscard]] const Inst* find_inst(InstId id) const;          // the one with this number, null where there is none; O(n)
  [[nodiscard]] std::string_view mnemonic(const Inst& i) const;  // what to call it: mnemonic or keyword
  [[nodiscard]] std::string source_place(const Inst& i) const;   // "a.cu:12:3"; "" where it is not known

  // The vreg at the end of the alias chain.
  [[nodiscard]] VRegId root(VRegId v) const {
    while (vreg(v).alias.is_valid()) v = vreg(v).alias;
    return v;
  }
  // The bytes of its root's storage that a vreg operand reads or writes. Requires op.is_vreg().
  [[nodiscard]] Storage storage(const Operand& op) const {
    const VReg& v = vreg(op.vreg());
    if (v.alias.is_valid() || !op.part.is_whole()) return storage_of_part(op);
    return {op.vreg(), 0, static_cast<std::uint16_t>(v.bytes())};
  }
  // Whether the bytes are all of their root.
  [[nodiscard]] bool is_whole(const Storage& s) const { return s.size == vreg(s.root).bytes(); }
  [[nodiscard]] bool is_whole(const Operand& op) const { return is_whole(storage(op)); }
  // Where a preg operand lies. Requires op.is_preg(). A part of a predicate is the whole of it.
  [[nodiscard]] static FileBytes file_bytes(const Operand& op);
  // Width in bytes of what a register operand reads or writes (predicates: 1).
  [[nodiscard]] int operand_bytes(const Operand& op) const;
  // The operand's fixed register: its own, or its vreg's. For an operand with a part, or an aliased vreg, this is the
  // register of the *root's* storage as a whole. Invalid where there is none.
  [[nodiscard]] PReg fixed_of(const Operand& op) const {
    if (!op.is_vreg()) return {};
    const PReg own = op.fixed();
    return own.is_valid() ? own : vreg(root(op.vreg())).fixed;
  }
  // The same operand with its root vreg placed at `home` (role, part and flags kept; ties and fixed registers dropped).
  [[nodiscard]] Operand placed_at(const Operand& op, PReg home) const;

  // The same operand with the same bytes of another root, which has as many.
  [[nodiscard]] Operand moved_to(Operand op, VRegId root) const;

  [[nodiscard]] InstId next_inst_id() const;  // one above the largest id in use

  // --- building
  // Everything but blocks, instructions, operands and targets.
  [[nodiscard]] Function clone_header() const;
  // Room for as many instructions and operands, where their number is known beforehand.
  void reserve(std::size_t num_insts, std::size_t num_operands);
  VRegId add_vreg(VReg v);
  SlotId add_slot(Slot s);
  // Gives each instruction that is not inserted the line of the one with its number in `from`, and no other any. Cost: O(n).
  void take_source_lines(const Function& from);
  void drop_source_lines();
  SourceLineId add_source_line(SourceLine l) {
    source_lines.push_back(l);
    return SourceLineId(source_lines.size() - 1);
  }
  BlockId begin_block(Block attributes = {});
  // Appends to the block begun last. `inst` gives id, op, flags, mnemonic, ref. The spans may point into this function.
  Inst& append(Inst inst, std::span<const Operand> ops, std::span<const BlockId> targets = {});

 private:
  [[nodiscard]] Part part_of_root(const Operand& op) const;
  [[nodiscard]] Storage storage_of_part(const Operand& op) const;  // of an operand with a part, or of an aliased vreg
};

// As the function's text has it.
[[nodiscard]] inline std::string to_string(const Function& f, PReg r) { return to_string(r, f.predicate_halves); }

// The contents of one .rir file.
struct Module {
  std::vector<Function> functions;
};

}  // namespace regduel::ir
