// The names that the scopes around a statement declare. syntax.cpp looks words up in them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ptx/names.h"

namespace regduel::ir::ptx {

// .reg .b32 %r<10> declares %r0 to %r9.
struct RegisterFamily {
  std::uint64_t count = 0;
  TypeInfo type;
  int elements = 1;
  std::map<std::uint64_t, int> used;  // a register exists from its first use on
};

struct NameScope {
  int scope = 0;  // its number among FunctionSyntax::scopes
  std::map<std::string, int, std::less<>> registers, params;
  std::map<std::string, RegisterFamily, std::less<>> families;
  std::set<std::string, std::less<>> others;
};

class NameScopes {
 public:
  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] int depth() const { return static_cast<int>(open_.size()); }
  [[nodiscard]] NameScope& innermost() { return open_.back(); }
  void clear() { open_.clear(); }
  void push(int scope) { open_.push_back({.scope = scope, .registers = {}, .params = {}, .families = {}, .others = {}}); }
  void pop() { open_.pop_back(); }

  // The register that the word names, by its index in `registers`, -1 = none. Adds a member of a family to them where the word is
  // the first to name it.
  [[nodiscard]] int find_register(std::vector<Register>& registers, std::string_view word);
  [[nodiscard]] int find_param(std::string_view word) const;  // -1 = none
  [[nodiscard]] bool is_local_name(std::string_view word) const;

 private:
  std::vector<NameScope> open_;  // the outermost first
};

}  // namespace regduel::ir::ptx
