// The names that the scopes around a statement declare. The parser looks words up in them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "ir/ptx/names.h"

namespace regduel::ir::ptx {

// .reg .b32 %r<10> declares %r0 to %r9. Each exists from its first use on.
struct RegisterFamily {
  std::uint64_t count = 0;
  TypeInfo type;
  int elements = 1;
};

// What a name stands for.
struct Meaning {
  enum class Kind : std::uint8_t {
    None,
    Register,  // index, among those of the function
    Param,     // index, likewise
    Variable,  // of any other space; index = bytes of an element
  };
  Kind kind = Kind::None;
  int index = -1;
};

struct NameScope {
  int scope = 0;    // its number among FunctionSyntax::scopes
  NameTable names;  // kind << 28 | index
  NameTable stems;  // of families: "%r"
  std::vector<RegisterFamily> families;
};

class NameScopes {
 public:
  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] int depth() const { return static_cast<int>(open_.size()); }
  [[nodiscard]] int innermost() const { return open_.back().scope; }
  void clear() { open_.clear(); }
  void push(int scope) { open_.push_back({scope, {}, {}, {}}); }
  void pop() { open_.pop_back(); }

  // In the innermost scope. False where the name is declared there already.
  bool declare(std::string_view name, Meaning meaning);
  bool declare_family(std::string_view stem, RegisterFamily family);
  // Adds a member of a family to `registers` where the word is the first to name it.
  [[nodiscard]] Meaning find(std::vector<Register>& registers, std::string_view word);
  // The register that the word names, by its index in `registers`, -1 = none.
  [[nodiscard]] int find_register(std::vector<Register>& registers, std::string_view word) {
    const Meaning m = find(registers, word);
    return m.kind == Meaning::Kind::Register ? m.index : -1;
  }

 private:
  std::vector<NameScope> open_;  // the outermost first
};

}  // namespace regduel::ir::ptx
