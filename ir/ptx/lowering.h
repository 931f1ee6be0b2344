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

#include "base/source_error.h"
#include "ir/abi.h"
#include "ir/program.h"
#include "ir/ptx/abi.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/syntax.h"
#include "ir/target.h"

namespace regduel::ir::ptx {

class Lowering {
 public:
  Lowering(const FunctionSyntax& syntax, const Target& target, AbiName abi, ParamCopies param_copies, std::string_view file_name);
  Parsed<Function> run();

 private:
  // An instruction to be.
  struct Code {
    Op op = Op::Named;
    std::string_view mnemonic = {};  // required for Named
    int flags = 0;
    std::vector<Operand> defs = {}, uses = {};
    bool guarded = true;  // under the guard of the statement, where it has one
    int tied_use = -1;    // index among the uses to which defs[0] is tied
    const std::vector<PReg>* clobbers = nullptr;
    bool pure = false;  // a known function of its operands: rematerialisable
  };

  // --- emit.cpp
  bool fail(Place p, std::string message);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  SymbolId symbol(std::string_view s) { return f_.symbols.intern(s); }
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
  void terminate(Op op, std::string_view mnemonic, std::span<const Operand> uses, std::span<const int> targets);
  void begin_label(const Statement& s);
  // Threads for which the guard holds go on in the block that is begun next, the others in the one after that.
  void branch_around(const Statement& s, std::string_view mnemonic);
  void keep_chains_of_remats();
  Parsed<Function> finish();

  // --- lower.cpp
  bool statement(std::size_t index);
  bool instruction(const Statement& s, const Opcode& o);
  bool mov(const Statement& s, const Opcode& o, const OpcodeInfo& info);
  bool vector_load(const Statement& s, const Opcode& o, const OpcodeInfo& info);
  bool branch(const Statement& s, const Opcode& o);
  bool indexed_branch(const Statement& s, const Opcode& o);
  bool leave(const Statement& s, const Opcode& o);
  bool append_use(std::vector<Operand>& uses, const Value& v, int hint_bits);
  bool append_vector_use(std::vector<Operand>& uses, const Value& v, int hint_bits);
  bool append_narrowed(std::vector<Operand>& uses, const Value& v, int hint_bits);
  bool append_def(Code& code, const Value& v, std::vector<Code>& after, bool guarded, int hint_bits);
  // The tuple of `bits` bits that a pack makes of the pieces.
  Operand packed(std::vector<Operand> pieces, int bits);
  // A register that holds the immediate or the name; the value's own if it is a register.
  Operand in_register(const Value& v, int bits);
  // Width of the tuple that a vector makes, 0 where it makes none; `element_bits` is that of its registers.
  [[nodiscard]] int tuple_bits(const Value& v, int& element_bits, int hint_bits) const;
  void append_name(std::vector<Operand>& uses, std::string_view name, std::uint64_t offset);

  // --- call.cpp
  void entry();
  bool call(std::size_t index, const Statement& s, const Opcode& o);
  bool param_load(const Statement& s, const ParamAccess& access, std::string_view mnemonic);
  bool param_store(const Statement& s, const ParamAccess& access, std::string_view mnemonic);
  void move_into(Operand to, Operand from, std::string_view mnemonic, bool guarded);
  VRegId piece_vreg(Piece& piece, int param);
  void flush_pending();
  // The pending value of the piece, which is then no longer pending; invalid where there is none.
  static VRegId take_pending(Piece& piece);
  // Fixes a whole register to one of the ABI, where it fits there.
  void fix(Operand& op, PReg home) const;
  // The pieces of a parameter that are read: `direct` has those that define a register of the program.
  void define_pieces(int param, const std::map<const Piece*, Operand>& direct, std::vector<Operand>& defs);
  // The pieces of a parameter that have been stored.
  void use_pieces(int param, std::vector<Operand>& uses);
  void return_values(std::vector<Operand>& uses);
  void take_results(std::size_t index, int param, Code& code);

  const FunctionSyntax& s_;
  const Target& target_;
  const Abi& abi_;
  const bool keeps_param_copies_;
  std::string file_;
  ParamPlan plan_;
  Function f_;
  std::optional<SourceError> error_;
  std::vector<VRegId> vregs_;  // by register
  VRegId carry_;
  std::vector<BlockId> label_blocks_;                 // by label
  std::vector<std::pair<std::size_t, int>> patches_;  // target, label
  std::vector<bool> consumed_;                        // statements that an earlier one has taken in
  std::vector<std::pair<Piece*, int>> pending_;       // pieces that may have something pending, and their parameters
  std::optional<Operand> guard_;                      // of the statement at hand
  std::map<SourceLine, SourceLineId> lines_;
  SourceLineId line_;  // of the statement at hand
  std::uint32_t next_id_ = 0;
  bool open_ = false;        // the last block has no terminator yet
  bool owes_block_ = false;  // a terminator leads to the block that is begun next
  bool at_label_ = false;    // the last block begins with a label and is empty
  Place place_;
};

}  // namespace regduel::ir::ptx
