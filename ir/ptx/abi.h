// The .param variables of a function that travel in registers, and their registers. A variable does if its object fits the argument
// (result) registers that are left, and every access takes whole, aligned, disjoint registers of it. Otherwise all accesses to it
// stay memory operations.
//
// Source: source 002 and 003 (argument and result registers of `abi seed`); scripts/measure/abi-experiment (`abi cuda`); PTX ISA 9.0,
// section 7.1 "Function Declarations and Definitions". Tested by ptx_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/abi.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/syntax.h"

namespace regduel::ir::ptx {

// ld.param and st.param with a variable as address.
struct ParamAccess {
  bool is_load = false;
  int param = -1;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;        // of one element
  std::span<const Value> values;  // the elements: loaded into, or stored from
};
[[nodiscard]] std::optional<ParamAccess> param_access(const Statement& s);

// call (returns), callee, (arguments), prototype. Null where a part is not there.
struct CallShape {
  const Value* returns = nullptr;
  const Value* callee = nullptr;
  const Value* arguments = nullptr;
  const Value* prototype = nullptr;
};
[[nodiscard]] std::optional<CallShape> call_shape(const Statement& s);

// A register's worth of a variable, as its accesses see it.
struct Piece {
  PReg reg;
  std::uint32_t bytes = 0;
  int loads = 0, stores = 0;
  // For the reader: the vreg that holds the piece if no register of the program does; and the value stored into it that has not
  // left its register yet.
  VRegId vreg, pending;
  SymbolId pending_mnemonic;
};

// Hands out the registers of a range from the lowest on, in order, or the lowest that are left if the ABI fills gaps.
class RegisterDealer {
 public:
  RegisterDealer(PReg range, const Abi& abi) : range_(range), next_(range.first), fills_gaps_(abi.fills_gaps) {}
  // 64-bit values take an even pair, 128-bit ones an aligned quad. Invalid where they do not fit.
  PReg take(std::uint32_t bytes, std::uint32_t align);

 private:
  PReg range_;
  int next_;  // the first behind all that have been taken
  bool fills_gaps_;
  std::vector<PReg> taken_;
};

class ParamPlan {
 public:
  ParamPlan(const FunctionSyntax& f, const Abi& abi);

  [[nodiscard]] bool in_registers(int param) const { return homes_[static_cast<std::size_t>(param)].is_valid(); }
  // Requires in_registers(param) and an access to just these bytes somewhere in the function.
  [[nodiscard]] Piece& piece(int param, std::uint64_t offset) { return pieces_[static_cast<std::size_t>(param)].at(offset); }
  // By offset, ascending. Empty where the variable is not in registers.
  [[nodiscard]] std::map<std::uint64_t, Piece>& pieces(int param) { return pieces_[static_cast<std::size_t>(param)]; }

 private:
  void scan(const FunctionSyntax& f);
  void place_pieces();

  std::vector<PReg> homes_;      // where the whole object lies
  std::vector<bool> in_memory_;  // some access rules registers out
  std::vector<std::map<std::uint64_t, Piece>> pieces_;
};

}  // namespace regduel::ir::ptx
