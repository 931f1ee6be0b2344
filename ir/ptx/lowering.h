// The state of one translation of a PTX function (lower.h). lower.cpp translates statements, call.cpp the ABI (entry, call,
// return), and emit.cpp appends instructions and blocks.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"
#include "ir/ptx/abi.h"
#include "ir/ptx/lowered.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/syntax.h"
#include "ir/target.h"

namespace regduel::ir::ptx {

// A width that a vreg can have.
[[nodiscard]] bool is_width(int bits);
// The value of the special register changes while a program runs.
[[nodiscard]] bool is_volatile(std::string_view special);

class Lowering {
 public:
  Lowering(const FunctionSyntax& syntax, const Target& target, AbiName abi, ParamCopies param_copies, std::string_view file_name,
           const std::map<std::uint64_t, std::string_view>& files);
  Parsed<Lowered> run();

 private:
  // An instruction to be.
  using Operands = boost::container::small_vector<Operand, 6>;
  static std::span<const Operand> span_of(const Operands& ops) { return {ops.data(), ops.size()}; }
  struct Code {
    Op op = Op::Named;
    SymbolId mnemonic = {};  // required for Named
    int flags = 0;
    Operands defs = {}, uses = {};
    bool guarded = true;  // under the guard of the statement, where it has one
    int tied_use = -1;    // index among the uses to which defs[0] is tied
    const std::vector<PReg>* clobbers = nullptr;
    bool pure = false;  // a known function of its operands: rematerialisable
  };

  // --- emit.cpp
  bool fail(std::uint32_t at, std::string message);  // where in the file
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  SymbolId symbol(std::string_view s) { return f_.symbols.intern(s); }
  SymbolId mnemonic_of(const Opcode& o);
  void begin_line(int line);  // of the source, -1 = not known: of what is appended from now on
  VRegId vreg_of(int reg);
  VRegId fresh(int bits, std::string_view name = {}, TypeKind type = TypeKind::B);
  VRegId carry();
  [[nodiscard]] Operand def(VRegId v, Part part = {}) const { return Operand::of_vreg(Role::Def, v, part); }
  [[nodiscard]] Operand use(VRegId v, Part part = {}) const { return Operand::of_vreg(Role::Use, v, part); }
  [[nodiscard]] const Param& param(int index) const { return s_.params[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Register& reg(const Value& v) const { return s_.registers[static_cast<std::size_t>(v.index)]; }
  [[nodiscard]] Operand register_operand(Role role, const Value& v);
  // The guard of a statement that has one, negated or not.
  [[nodiscard]] Operand guard_of(const Statement& s, Role role);
  // Bits of a register value (of its component); 0 for anything else.
  [[nodiscard]] int bits_of(const Value& v) const;
  [[nodiscard]] bool is_predicate_value(const Value& v) const;
  void emit(Code code);
  void ensure_block();
  // Targets: a label (>= 0), or the block that is begun next (kNext), or the one after that (kAfterNext).
  static constexpr int kNext = -1, kAfterNext = -2;
  void terminate(Op op, SymbolId mnemonic, std::span<const Operand> uses, std::span<const int> targets);
  void begin_label(const Statement& s);
  // Threads for which the guard holds go on in the block that is begun next, the others in the one after that.
  void branch_around(const Statement& s);
  void keep_chains_of_remats();
  Parsed<Lowered> finish();

  // --- lower.cpp
  bool statement(std::size_t index);
  bool instruction(const Statement& s, const Opcode& o);
  bool mov(const Statement& s, const Opcode& o, const OpcodeInfo& info);
  bool mov_of_vectors(const Statement& s, const Opcode& o);
  bool mov_to_vector(const Statement& s, const Opcode& o);
  bool mov_from_vector(const Statement& s, const Opcode& o);
  [[nodiscard]] bool is_width_of_pieces(const Value& v, int& sum, int& others) const;
  bool vector_load(const Statement& s, const Opcode& o, const OpcodeInfo& info);
  bool scalar_loads(const Statement& s, const Opcode& o, const OpcodeInfo& info);
  void find_addresses_of_params();
  // The same load with the parameter that its register points to as address, if that is known.
  const Statement& with_param_as_address(const Statement& s);
  bool branch(const Statement& s, const Opcode& o);
  bool indexed_branch(const Statement& s, const Opcode& o);
  bool leave(const Statement& s, const Opcode& o);
  void append_register(Operands& uses, const Value& v);
  bool append_use(Operands& uses, const Value& v, int hint_bits);
  bool append_vector_use(Operands& uses, const Value& v, int hint_bits);
  bool append_narrowed(Operands& uses, const Value& v, int hint_bits);
  bool append_def(Code& code, const Value& v, std::vector<Code>& after, bool guarded, int hint_bits);
  // The tuple of `bits` bits that a pack makes of the pieces.
  Operand packed(Operands pieces, int bits);
  // A register that holds the immediate or the name; the value's own if it is a register.
  Operand in_register(const Value& v, int bits);
  // Width of the tuple that a vector makes, 0 where it makes none; `element_bits` is that of its registers.
  [[nodiscard]] int tuple_bits(const Value& v, int& element_bits, int hint_bits) const;
  void append_name(Operands& uses, std::string_view name, std::uint64_t offset);

  // --- call.cpp
  void entry();
  bool call(std::size_t index, const Statement& s, const Opcode& o);
  bool param_load(const Statement& s, const ParamAccess& access);
  bool param_store(const Statement& s, const ParamAccess& access);
  void move_into(Operand to, Operand from, SymbolId mnemonic, bool guarded);
  VRegId piece_vreg(Piece& piece, int param);
  void flush_pending();
  // The pending value of the piece, which is then no longer pending; invalid where there is none.
  static VRegId take_pending(Piece& piece);
  // Fixes a whole register to one of the ABI, where it fits there.
  void fix(Operand& op, PReg home) const;
  // The pieces of a parameter that are read: `direct` has those that define a register of the program.
  void define_pieces(int param, const std::map<const Piece*, Operand>& direct, Operands& defs);
  // The pieces of a parameter that have been stored.
  void use_pieces(int param, Operands& uses);
  void return_values(Operands& uses);
  void take_results(std::size_t index, int param, Code& code);

  [[nodiscard]] std::string_view text_of(const Value& v) const { return s_.text_of(v); }

  const FunctionSyntax& s_;
  const Target& target_;
  const Abi& abi_;
  const bool keeps_param_copies_;
  std::string_view file_;
  const std::map<std::uint64_t, std::string_view>& files_;  // names of source files
  ParamPlan plan_;
  Function f_;
  std::optional<SourceError> error_;
  std::vector<VRegId> vregs_;        // by register
  std::vector<SymbolId> mnemonics_;  // by index of the opcode
  struct ParamAddress {
    int param = -1;  // none
    std::uint64_t offset = 0;
    std::uint32_t at = 0, length = 0;  // of its name in the file
  };
  std::vector<ParamAddress> addresses_;  // by register; empty where none holds one
  Statement changed_;                    // what with_param_as_address returned last, and its operands
  Value changed_operands_[2], changed_base_;
  VRegId carry_;
  std::vector<BlockId> label_blocks_;                 // by label
  std::vector<std::pair<std::size_t, int>> patches_;  // target, label
  std::vector<bool> consumed_;                        // statements that an earlier one has taken in
  std::vector<std::pair<Piece*, int>> pending_;       // pieces that may have something pending, and their parameters
  std::optional<Operand> guard_;                      // of the statement at hand
  std::vector<SourceLineId> line_ids_;                // by line of the syntax
  std::map<SourceLine, SourceLineId> lines_;
  SourceLineId line_;                  // of the statement at hand
  std::vector<std::uint32_t> places_;  // by number of the instruction
  bool open_ = false;                  // the last block has no terminator yet
  bool owes_block_ = false;            // a terminator leads to the block that is begun next
  bool at_label_ = false;              // the last block begins with a label and is empty
  std::uint32_t place_ = 0;            // of the statement at hand, in the file
};

}  // namespace regduel::ir::ptx
