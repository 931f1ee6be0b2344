// The syntax of a PTX text: functions, their registers, parameters, labels and statements, with every name resolved to the
// declaration that its scope gives it. lower.h translates it.
//
// Source: PTX ISA 9.0, sections 4 "Syntax", 5 "State Spaces, Types, and Variables", 11 "Directives". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "base/source_error.h"
#include "ir/launch.h"
#include "ir/program.h"
#include "ir/ptx/arena.h"
#include "ir/ptx/declared.h"
#include "ir/ptx/names.h"
#include "ir/ptx/opcodes.h"

namespace regduel::ir::ptx {

// A variable of the .param space: of a signature, or local to a call sequence.
struct Param {
  std::string_view name;
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  int reg = -1;  // declared .reg in a signature: index of the register
};

struct Value {
  enum class Kind : std::uint8_t {
    Register,   // index, component or selector; + bits
    Immediate,  // bits
    Name,       // text, + bits as an offset; index = parameter or -1; a special register where kSpecial
    Sink,       // _
    Vector,     // elements of the four kinds above
    Address,    // elements: the base (Register, Immediate or Name), then coordinates (any of the five); bits = byte offset
    Pair,       // a|b: two elements
    List,       // (a, b) of a call
  };
  enum Flags : std::uint8_t {
    kNegated = 1,  // !%p
    kMinus = 2,    // -%r
    kSpecial = 4,
  };
  Kind kind = Kind::Immediate;
  std::uint8_t flags = 0;
  std::int8_t component = -1;  // .x .y .z .w of a vector register
  std::uint8_t selector = 0;   // length of the ".b0", ".h10" at the end of the text: bytes of a video instruction
  std::int32_t index = -1;     // of a kind that has elements: their number
  std::uint64_t bits = 0;
  std::uint32_t at = 0;      // where it stands in the file
  std::uint32_t length = 0;  // of its text
  const Value* first = nullptr;

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  [[nodiscard]] bool negated() const { return (flags & kNegated) != 0; }
  [[nodiscard]] bool special() const { return (flags & kSpecial) != 0; }
  [[nodiscard]] std::span<const Value> elements() const {
    return first == nullptr ? std::span<const Value>() : std::span(first, static_cast<std::size_t>(index));
  }
  void set_elements(std::span<const Value> list) {
    first = list.data();
    index = static_cast<std::int32_t>(list.size());
  }
};

struct Statement {
  enum class Kind : std::uint8_t { Instruction, Label };
  Kind kind = Kind::Instruction;
  bool guard_negated = false;
  std::uint16_t num_operands = 0;
  int guard = -1;  // register, -1 = none
  int label = -1;  // Label: its number
  int scope = 0;
  int line = -1;         // of the source: index among the function's, -1 = not known
  std::uint32_t at = 0;  // where it stands in the file
  const Opcode* opcode = nullptr;
  const Value* first_operand = nullptr;

  [[nodiscard]] std::span<const Value> operands() const { return {first_operand, num_operands}; }
};

// .branchtargets: the labels of an indexed branch.
struct BranchTable {
  std::vector<Value> labels;  // Names
  int scope = 0;
};

// { ... } inside a function; number 0 is the body itself.
struct Scope {
  int parent = -1;
  NameTable labels;
  NameTable tables;
};

// .loc: the source of the statements behind it (PTX ISA 9.0, section 11.5 "Debugging Directives").
struct SourcePlace {
  std::uint64_t file = 0;  // the number that .file gives it
  std::uint32_t line = 0, column = 0;
};

struct FunctionSyntax {
  std::string_view text;  // of the file
  std::string_view name;
  std::uint32_t at = 0;
  bool is_entry = false;
  std::uint32_t threads = 0;  // 0 = not given
  LaunchBounds bounds;
  std::uint64_t local_bytes = 0;        // of its variables in local memory
  std::vector<int> returns, arguments;  // parameters, in order of declaration
  std::vector<Register> registers;
  std::vector<Param> params;
  std::vector<std::string_view> labels;  // names, by number
  std::vector<BranchTable> tables;
  std::vector<Scope> scopes;
  std::vector<SourcePlace> lines;
  std::vector<Statement> statements;
  Arena<Value> values;

  [[nodiscard]] std::string_view text_of(const Value& v) const { return text.substr(v.at, v.length); }
  // As seen from `scope`; -1 where there is none.
  [[nodiscard]] int find_label(int scope, std::string_view label) const;
  [[nodiscard]] int find_table(int scope, std::string_view table) const;
};

struct ModuleSyntax {
  std::string_view target;  // "sm_90a"; "" = not given
  std::uint32_t target_at = 0;
  std::map<std::uint64_t, std::string_view> files;  // names by the number that .file gives them, escapes left as they are
  std::set<std::string, std::less<>> weak;          // functions that a linker may replace
  std::set<std::string, std::less<>> visible;       // functions declared with `.visible`, `.weak` and the like
  std::vector<std::string_view> initialisers;       // the values that variables begin with
  PtxVariables variables;                           // of it and of its functions
};

// Calls `take` for each function with a body, in order, with what of the module stands before it; an error that it returns ends the reading.
// So only one function is held at a time. The string_views point into `text`, which has less than 4 GiB. Cost: O(bytes): scopes nest at most
// 200 deep.
using TakeFunction = std::function<std::optional<SourceError>(const FunctionSyntax&, const ModuleSyntax&)>;
[[nodiscard]] Parsed<ModuleSyntax> parse_syntax(std::string_view text, std::string_view file_name, OpcodeTable& opcodes,
                                                const TakeFunction& take);

}  // namespace regduel::ir::ptx
