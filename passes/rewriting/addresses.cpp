#include "passes/rewriting/addresses.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace regduel::passes {
namespace {

using ir::Inst;
using ir::Operand;

bool is_one_of(std::string_view s, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, s) != list.end();
}

}  // namespace

bool is_conversion_to_global(const ir::Function& f, const Inst& i) {
  const auto ops = f.operands_of(i);
  return i.op == ir::Op::Named && ops.size() == 2 && ops[0].role == ir::Role::Def && ops[1].role == ir::Role::Use &&
         ops[1].is_vreg() && f.operand_bytes(ops[0]) == f.operand_bytes(ops[1]) &&
         is_one_of(f.mnemonic(i), {"cvta.to.global.u64", "cvta.global.u64"});
}

std::optional<SumWithNumber> sum_with_number(const ir::Function& f, const Inst& i) {
  const auto ops = f.operands_of(i);
  if (i.op != ir::Op::Named || ops.size() != 3 || ops[0].role != ir::Role::Def || ops[2].role != ir::Role::Use) return std::nullopt;
  const std::string_view m = f.mnemonic(i);
  const bool is_difference = is_one_of(m, {"sub.s32", "sub.u32", "sub.s64", "sub.u64"});
  if (!is_difference && !is_one_of(m, {"add.s32", "add.u32", "add.s64", "add.u64"})) return std::nullopt;
  const std::size_t base = ops[1].is_vreg() ? 1 : 2, number = 3 - base;
  if (!ops[base].is_vreg() || ops[number].kind != ir::OperandKind::Imm || (is_difference && base != 1)) return std::nullopt;
  if (f.operand_bytes(ops[0]) != (m.ends_with("64") ? 8 : 4) || f.operand_bytes(ops[base]) != f.operand_bytes(ops[0]))
    return std::nullopt;
  const std::int64_t n = ops[number].imm();
  if (!is_offset(n)) return std::nullopt;
  return SumWithNumber{base, number, is_difference ? -n : n, is_difference};
}

std::optional<Address> address_of(const ir::Function& f, const Inst& i) {
  if (i.op != ir::Op::Named) return std::nullopt;
  const std::string_view m = f.mnemonic(i);
  const auto ops = f.operands_of(i);
  const std::size_t first = ir::defs_of(ops).size();
  const auto uses = ir::uses_of(ops);
  if (uses.empty() || !uses[0].is_vreg() || m.find("::cache_hint") != std::string_view::npos ||
      m.find(".unified") != std::string_view::npos)
    return std::nullopt;
  // A vector is one register; where it is several operands, a number among them cannot be told from an offset.
  const auto is_vector = [&] {
    return std::ranges::any_of(std::array<std::string_view, 3>{".v2", ".v4", ".v8"},
                               [&](std::string_view v) { return m.find(v) != std::string_view::npos; });
  };
  const std::size_t values = m.starts_with("ld.") && i.has(ir::kMemRead) ? 0 : 1;
  if (values == 1 && !(m.starts_with("st.") && i.has(ir::kMemWrite))) return std::nullopt;
  if (values == 1 && is_vector() && !uses.back().is_vreg()) return std::nullopt;
  if (uses.size() == 1 + values) return Address{first, 0, false};
  if (uses.size() == 2 + values && uses[1].kind == ir::OperandKind::Imm) return Address{first, uses[1].imm(), true};
  return std::nullopt;
}

}  // namespace regduel::passes
