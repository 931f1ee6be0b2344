#include "oracles/rewrite/meaning.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace regduel::oracles::rewrite {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;

bool has_part(std::string_view mnemonic, std::string_view part) {
  for (std::size_t at = mnemonic.find(part); at != std::string_view::npos; at = mnemonic.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (at > 0 && mnemonic[at - 1] == '.' && (end == mnemonic.size() || mnemonic[end] == '.')) return true;
  }
  return false;
}

bool is_one_of(std::string_view s, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, s) != list.end();
}

bool is_load(std::string_view mnemonic) { return mnemonic.starts_with("ld."); }
bool is_store(std::string_view mnemonic) { return mnemonic.starts_with("st."); }

bool must_happen(std::string_view mnemonic) {
  return std::ranges::any_of(std::array<std::string_view, 4>{"volatile", "acquire", "relaxed", "mmio"},
                             [&](std::string_view part) { return has_part(mnemonic, part); });
}

}  // namespace

bool is_effect(const Function& f, const Inst& i) {
  const auto ops = f.operands_of(i);
  if (std::ranges::any_of(ops, [](const Operand& op) { return op.role == ir::Role::Clobber; })) return true;
  if (i.is_copy() || i.is_phi()) return false;
  if (i.is_terminator() || i.op == Op::Call || i.op == Op::Bar || i.has(ir::kMemWrite) || i.has(ir::kBarrier) ||
      i.has(ir::kConvergent))
    return true;
  if (ir::defs_of(ops).empty()) return true;
  if (std::ranges::any_of(ops, [&](const Operand& op) { return op.is_vreg() && f.fixed_of(op).is_valid(); })) return true;
  return i.op == Op::Named && i.has(ir::kMemRead) && must_happen(f.mnemonic(i));
}

Meaning meaning_of(const Function& f, const Inst& i) {
  if (i.is_copy() || i.is_phi() || i.op == Op::Pack || i.op == Op::Unpack || i.op == Op::Const) return Meaning::Move;
  if (i.op != Op::Named) return Meaning::Function;
  const auto ops = f.operands_of(i), defs = ir::defs_of(ops), uses = ir::uses_of(ops);
  const std::string_view m = f.mnemonic(i);
  if (i.has(ir::kMemRead)) {
    const bool is_named =
        !uses.empty() && uses[0].kind == ir::OperandKind::Symbol && (uses.size() == 1 || uses[1].kind == ir::OperandKind::Imm);
    if (is_load(m) && has_part(m, "param") && i.has(ir::kReadOnly) && defs.size() == 1 && uses.size() <= 2 && is_named)
      return Meaning::Parameter;
    return Meaning::Read;
  }
  if (defs.size() != 1 || defs[0].role != ir::Role::Def || !defs[0].is_vreg()) return Meaning::Function;
  const int bytes = f.operand_bytes(defs[0]);
  const auto is_wide = [&](std::string_view list32, std::string_view list64) {
    return bytes == 4 ? list32.find(m) != std::string_view::npos : bytes == 8 && list64.find(m) != std::string_view::npos;
  };
  const auto fits = [&](const Operand& op) {
    return op.is_vreg() ? f.operand_bytes(op) == bytes && !op.is_negated() : op.kind != ir::OperandKind::Slot;
  };
  if (!std::ranges::all_of(uses, fits)) return Meaning::Function;
  if (uses.size() == 2 && m.size() == 7 && m.starts_with("add.") && is_wide("add.s32 add.u32 add.b32", "add.s64 add.u64 add.b64"))
    return Meaning::Add;
  if (uses.size() == 2 && m.size() == 7 && m.starts_with("sub.") && is_wide("sub.s32 sub.u32 sub.b32", "sub.s64 sub.u64 sub.b64"))
    return Meaning::Subtract;
  if (uses.size() == 1 && is_one_of(m, {"cvta.to.global.u64", "cvta.to.global.u32", "cvta.global.u64", "cvta.global.u32"}))
    return Meaning::Same;
  return Meaning::Function;
}

int operands_of_address(const Function& f, const Inst& i) {
  if (i.op != Op::Named) return 0;
  const std::string_view m = f.mnemonic(i);
  const auto uses = ir::uses_of(f.operands_of(i));
  if (uses.empty() || m.find("::cache_hint") != std::string_view::npos || has_part(m, "unified")) return 0;
  const auto is_base = [](const Operand& op) { return op.is_vreg() || op.kind == ir::OperandKind::Symbol; };
  if (!is_base(uses[0])) return 0;
  const auto is_offset = [&](std::size_t k) { return uses[k].kind == ir::OperandKind::Imm; };
  if (is_load(m) && i.has(ir::kMemRead)) return uses.size() == 1 ? 1 : uses.size() == 2 && is_offset(1) ? 2 : 0;
  if (!is_store(m) || !i.has(ir::kMemWrite)) return 0;
  // The value of a vector is one register here; where it is several operands, they cannot be told from an offset.
  const auto is_value = [&](const Operand& op) {
    return !has_part(m, "v2") && !has_part(m, "v4") && !has_part(m, "v8") ? true : op.is_vreg();
  };
  if (uses.size() == 2 && is_value(uses[1])) return 1;
  return uses.size() == 3 && is_offset(1) && is_value(uses[2]) ? 2 : 0;
}

bool is_parameter_operand(std::string_view symbol, ParameterOperand& out) {
  if (!symbol.starts_with("c[") || !symbol.ends_with(']')) return false;
  std::string_view inside = symbol.substr(2, symbol.size() - 3);
  out.offset = 0;
  if (const std::size_t plus = inside.rfind('+'); plus != std::string_view::npos) {
    const char* const end = inside.data() + inside.size();
    const auto [at, error] = std::from_chars(inside.data() + plus + 1, end, out.offset);
    if (error != std::errc() || at != end) return false;
    inside = inside.substr(0, plus);
  }
  out.name = inside;
  return !inside.empty();
}

}  // namespace regduel::oracles::rewrite
