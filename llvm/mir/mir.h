// Machine functions before and after allocation, as the JSON of JSON.md brings them. This is LLVM's MIR without LLVM: names and numbers.
//
// A *register* is made of pieces of *atoms*: an atom is a widest register that is no tuple (RAX, ZMM3, VGPR7); AH is a piece of RAX, a tuple has a
// piece of each of its atoms. Read by read_dump_file; tested by mir_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"

namespace regduel::llvm {

// Bits [offset, offset + bits) of an atom.
struct Piece {
  int atom = 0;  // index into Tables::registers
  int offset = 0;
  int bits = 0;

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct Register {
  std::string name;
  std::vector<Piece> pieces;
  std::string file;  // of an atom that can be allocated: the largest register class that it is in; else ""
};

// Piece `piece` of a register of the class, bits [offset, offset + bits) of that piece's atom.
struct SubPiece {
  int piece = 0;
  int offset = 0;
  int bits = 0;
};

struct RegisterClass {
  std::string name;
  int bits = 0;
  int spill_bytes = 0;
  int member = -1;  // a register of the class, which shows its shape
  std::map<std::string, std::vector<SubPiece>, std::less<>> subs;
};

struct Tables {
  std::vector<Register> registers;
  std::vector<RegisterClass> classes;
  std::vector<std::set<int>> masks;  // registers that a register mask destroys
  std::map<std::string, int, std::less<>> register_index, class_index;
};

enum class OperandKind : std::uint8_t { Register, Immediate, Frame, Block, Mask, Text };

struct Operand {
  OperandKind kind = OperandKind::Text;
  int vreg = -1;    // Register: number of a virtual register, or
  int preg = -1;    //           index of a physical one; both -1: no register ($noreg)
  std::string sub;  // Register: sub-register index
  bool is_def = false, is_implicit = false, is_undef = false, is_dead = false, is_early_clobber = false;
  int tied = -1;                      // operand that must be in the same register
  std::vector<int> undefined_pieces;  // of a use of a vreg: pieces of it that have no value here
  int def = 0;                        // number of the one instruction whose value a use of a vreg reads; 0 = several, or not known
  std::int64_t value = 0;             // Immediate; Frame: index; Block: number; Mask: index into Tables::masks
  std::string text;

  [[nodiscard]] bool is_register() const { return kind == OperandKind::Register; }
};

struct Inst {
  std::string op;
  int num = 0;                               // the same before and after; 0 = none
  bool is_new = false;                       // inserted by the allocator
  int of = -1;                               // inserted: the vreg of the program before whose value it moves or computes
  int def = 0;                               // inserted: number of the instruction that defines that value
  int slot_of = -1;                          // the stack slot named here is the home of this vreg of the program before
  std::string flags;                         // JSON.md
  std::optional<int> stores_to, loads_from;  // stack slot
  std::vector<std::int64_t> memory_bytes;
  std::vector<Operand> ops;

  [[nodiscard]] bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

struct Block {
  int number = 0;
  bool is_landing_pad = false;
  std::vector<int> successors;
  std::vector<int> live_in;  // registers
  std::vector<Inst> insts;
};

struct Dump {
  bool is_before = false;
  std::string pass, allocator, function;
  int run = 0;
  bool subreg_liveness = false;
  std::set<int> reserved;
  std::vector<int> vregs;  // class of each, -1 = none
  std::set<int> slots;     // indices of stack objects
  std::vector<Block> blocks;
  std::map<int, int> substitutions;  // number after: number before
};

struct DumpFile {
  std::string llvm, triple, cpu;
  Tables tables;
  std::vector<Dump> dumps;
};

// Errors: not the form of JSON.md, with the line. Cost: O(bytes).
[[nodiscard]] Parsed<DumpFile> read_dump_file(std::string_view text, std::string_view file_name = "");

// As LLVM prints it, nearly: "renamable" and memory operands are left out.
[[nodiscard]] std::string print(const Inst& i, const Dump& dump, const Tables& tables);

}  // namespace regduel::llvm
