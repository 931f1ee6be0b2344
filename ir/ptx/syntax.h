// The syntax of a PTX text: functions, their registers, parameters, labels and statements, with every name resolved to the
// declaration that its scope gives it. lower.h translates it.
//
// Source: PTX ISA 9.0, sections 4 "Syntax", 5 "State Spaces, Types, and Variables", 11 "Directives". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_error.h"
#include "ir/program.h"
#include "ir/ptx/lexer.h"
#include "ir/ptx/names.h"

namespace regduel::ir::ptx {

// A variable of the .param space: of a signature, or local to a call sequence.
struct Param {
  std::string name;
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  int reg = -1;  // declared .reg in a signature: index of the register
};

struct Value {
  enum class Kind : std::uint8_t {
    Register,   // index, negated, component
    Immediate,  // bits
    Name,       // name (+ bits as an offset); index = parameter or -1; a special register where `special`
    Sink,       // _
    Vector,     // elements of the four kinds above
    Address,    // elements: the base (Register, Immediate or Name), then coordinates (any of the five); bits = byte offset
    Pair,       // a|b: two elements
    List,       // (a, b) of a call
  };
  Kind kind = Kind::Immediate;
  bool negated = false;
  bool special = false;
  std::int8_t component = -1;  // .x .y .z .w of a vector register
  int index = -1;
  std::uint64_t bits = 0;
  std::string_view name;
  Place place;
  std::vector<Value> elements;

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
};

struct Statement {
  enum class Kind : std::uint8_t { Instruction, Label };
  Kind kind = Kind::Instruction;
  bool guard_negated = false;
  int guard = -1;  // register, -1 = none
  int label = -1;  // Label: its number
  int scope = 0;
  int line = -1;  // of the source: index among the function's, -1 = not known
  std::string_view opcode;
  Place place;
  std::vector<Value> operands;
};

// .branchtargets: the labels of an indexed branch.
struct BranchTable {
  std::vector<Value> labels;  // Names
  int scope = 0;
};

// { ... } inside a function; number 0 is the body itself.
struct Scope {
  int parent = -1;
  std::map<std::string, int, std::less<>> labels;
  std::map<std::string, int, std::less<>> tables;
};

// .loc: the source of the statements behind it (PTX ISA 9.0, section 11.5 "Debugging Directives").
struct SourcePlace {
  std::uint64_t file = 0;  // the number that .file gives it
  std::string_view name;   // of the file, escapes left as they are; "" where no .file gives the number
  std::uint32_t line = 0, column = 0;
};

struct FunctionSyntax {
  std::string name;
  Place place;
  bool is_entry = false;
  std::uint32_t threads = 0;            // 0 = not given
  std::vector<int> returns, arguments;  // parameters, in order of declaration
  std::vector<Register> registers;
  std::vector<Param> params;
  std::vector<std::string> labels;  // names, by number
  std::vector<BranchTable> tables;
  std::vector<Scope> scopes;
  std::vector<SourcePlace> lines;
  std::vector<Statement> statements;

  // As seen from `scope`; -1 where there is none.
  [[nodiscard]] int find_label(int scope, std::string_view label) const;
  [[nodiscard]] int find_table(int scope, std::string_view table) const;
};

struct ModuleSyntax {
  std::string target;  // "sm_90a"; "" = not given
  Place target_place;
  std::vector<FunctionSyntax> functions;  // those with a body, in order
};

// The string_views of the result point into `text`. Cost: O(bytes): scopes nest at most 200 deep.
[[nodiscard]] Parsed<ModuleSyntax> parse_syntax(std::string_view text, std::string_view file_name);

}  // namespace regduel::ir::ptx
