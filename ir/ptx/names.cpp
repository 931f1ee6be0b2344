// See names.h.

#include "ir/ptx/names.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace regduel::ir::ptx {

// clang-format off
static constexpr std::string_view kSpecialRegisters[] = {
    "tid", "ntid", "laneid", "warpid", "nwarpid", "ctaid", "nctaid", "smid", "nsmid", "gridid",
    "is_explicit_cluster", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi",
    "total_smem_size", "aggr_smem_size", "dynamic_smem_size", "current_graph_exec",
    "reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap",
    "reserved_smem_offset_0", "reserved_smem_offset_1"};
// clang-format on

bool is_special_register(std::string_view word) {
  word.remove_prefix(1);
  const std::size_t dot = word.find('.');
  if (dot != std::string_view::npos && word.size() != dot + 2) return false;
  word = word.substr(0, dot);
  if (std::ranges::find(kSpecialRegisters, word) != std::end(kSpecialRegisters)) return true;
  if (word.starts_with("pm") && word.ends_with("_64")) word.remove_suffix(3);
  for (const std::string_view family : {"envreg", "pm"})
    if (word.starts_with(family) && word.size() > family.size() && word.size() <= family.size() + 2 &&
        word.find_first_not_of("0123456789", family.size()) == std::string_view::npos)
      return true;
  return false;
}

TypeInfo type_from_name(std::string_view name) {
  struct Row {
    std::string_view name;
    TypeInfo type;
  };
  static constexpr Row kRows[] = {
      {"pred", {TypeKind::Pred, 1}}, {"f16x2", {TypeKind::F, 32}},  {"bf16x2", {TypeKind::F, 32}},  {"tf32", {TypeKind::F, 32}},
      {"bf16", {TypeKind::F, 16}},   {"e4m3", {TypeKind::F, 8}},    {"e5m2", {TypeKind::F, 8}},     {"ue8m0", {TypeKind::F, 8}},
      {"e4m3x2", {TypeKind::F, 16}}, {"e5m2x2", {TypeKind::F, 16}}, {"ue8m0x2", {TypeKind::F, 16}}, {"u16x2", {TypeKind::U, 32}},
      {"s16x2", {TypeKind::S, 32}},  {"f32x2", {TypeKind::F, 64}},
  };
  if (const Row* const row = std::ranges::find(kRows, name, &Row::name); row != std::end(kRows)) return row->type;
  // A letter and a width.
  const std::size_t kind = name.empty() ? std::string_view::npos : std::string_view("bsuf").find(name[0]);
  if (kind == std::string_view::npos) return {};
  for (const auto& [text, bits] :
       std::initializer_list<std::pair<std::string_view, int>>{{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}})
    if (name.substr(1) == text) return {static_cast<TypeKind>(kind), bits};
  return {};
}

}  // namespace regduel::ir::ptx
