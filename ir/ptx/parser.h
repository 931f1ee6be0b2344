// The parser of PTX: module.cpp reads what stands outside functions and their signatures, body.cpp statements, operands.cpp operands.
// A function that returns false has recorded an error.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ptx/name_scopes.h"
#include "ir/ptx/syntax.h"
#include "ir/ptx/token_reader.h"

namespace regduel::ir::ptx {

class Parser : TokenReader {
 public:
  Parser(std::string_view text, std::string_view file_name, OpcodeTable& opcodes, const TakeFunction& take)
      : TokenReader(text, file_name), opcodes_(opcodes), take_(take) {}

  Parsed<ModuleSyntax> run();

 private:
  static constexpr int kMaxNesting = 200;
  static constexpr std::size_t kMaxElements = 256;  // of a vector, a list, an instruction

  // --- module.cpp
  bool module_item();
  bool file();
  bool target();
  bool function(bool is_entry, bool is_weak, bool is_visible);
  bool signature(std::vector<int>& list);
  bool tuning(std::uint64_t& required);
  bool thread_count(std::uint64_t& product);
  bool cluster_size();
  bool attribute();
  struct Declaration {
    TypeInfo type;
    int elements = 1;
    std::uint32_t align = 1;
  };
  // .align N, .ptr, state spaces, .v4, and the type.
  bool declaration_head(Declaration& d);
  bool param_size(const Declaration& d, Param& p);
  // After the state space: types, alignment, names with dimensions and initialisers, up to and with the semicolon.
  enum class Where : std::uint8_t { Module, Body };
  bool variables(Where where, bool is_local);
  struct ModuleRegister {
    Token name;
    Declaration declaration;
    std::optional<std::uint64_t> count;  // of a family
  };
  bool declare_registers(std::vector<ModuleRegister>& list);
  bool declare(const ModuleRegister& r);

  // --- body.cpp
  void open_scope(int parent);
  bool body();
  bool body_directive();
  bool source_place();
  bool registers();
  bool vector_size(const Token& name, const Declaration& d);
  int declare_register(const Token& name, const Declaration& d);
  bool label();
  bool branch_targets(std::string_view name);
  bool instruction();
  bool guard(Statement& s);

  // --- operands.cpp
  bool operand(Value& v);
  bool group(Value& v, Value::Kind kind, char close);
  bool address(Value& v);
  bool element_of(Value& v);
  bool simple(Value& v);
  bool word(Value& v);
  bool component(Value& v, std::string_view text);
  bool scalar_constant(Value& v);
  void keep_elements(Value& v, std::size_t from);

  OpcodeTable& opcodes_;
  const TakeFunction& take_;
  ModuleSyntax module_;
  NameTable module_names_;                        // of variables: bytes of an element; of anything else 1
  NameTable bodies_;                              // names of functions with a body
  std::vector<ModuleRegister> module_registers_;  // of old PTX: each function has its own
  FunctionSyntax f_;
  const Opcode* opcode_ = nullptr;  // of the instruction at hand
  int line_ = -1;                   // of the statements to come, among those of f_
  NameScopes scopes_;
  std::vector<Value> scratch_;     // elements of groups that are open
  std::vector<Value> operands_;    // of the instruction at hand
  std::vector<Value> locals_;      // names in a body that no declaration before them explains; index = scope
  std::vector<Value> unresolved_;  // the same where no label explains them either
};

}  // namespace regduel::ir::ptx
