// See names.h.

#include "ir/ptx/names.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace regduel::ir::ptx {

static constexpr std::array<std::string_view, 37> kSpecialRegisters = {"tid",
                                                                       "ntid",
                                                                       "laneid",
                                                                       "warpid",
                                                                       "nwarpid",
                                                                       "ctaid",
                                                                       "nctaid",
                                                                       "smid",
                                                                       "nsmid",
                                                                       "gridid",
                                                                       "is_explicit_cluster",
                                                                       "clusterid",
                                                                       "nclusterid",
                                                                       "cluster_ctaid",
                                                                       "cluster_nctaid",
                                                                       "cluster_ctarank",
                                                                       "cluster_nctarank",
                                                                       "lanemask_eq",
                                                                       "lanemask_le",
                                                                       "lanemask_lt",
                                                                       "lanemask_ge",
                                                                       "lanemask_gt",
                                                                       "clock",
                                                                       "clock_hi",
                                                                       "clock64",
                                                                       "globaltimer",
                                                                       "globaltimer_lo",
                                                                       "globaltimer_hi",
                                                                       "total_smem_size",
                                                                       "aggr_smem_size",
                                                                       "dynamic_smem_size",
                                                                       "current_graph_exec",
                                                                       "reserved_smem_offset_begin",
                                                                       "reserved_smem_offset_end",
                                                                       "reserved_smem_offset_cap",
                                                                       "reserved_smem_offset_0",
                                                                       "reserved_smem_offset_1"};

bool is_special_register(std::string_view word) {
  word.remove_prefix(1);
  const std::size_t dot = word.find('.');
  if (dot != std::string_view::npos && word.size() != dot + 2) return false;
  word = word.substr(0, dot);
  if (std::find(kSpecialRegisters.begin(), kSpecialRegisters.end(), word) != kSpecialRegisters.end()) return true;
  if (word.starts_with("pm") && word.ends_with("_64")) word.remove_suffix(3);
  for (const std::string_view family : {"envreg", "pm"})
    if (word.starts_with(family) && word.size() > family.size() && word.size() <= family.size() + 2 &&
        word.find_first_not_of("0123456789", family.size()) == std::string_view::npos)
      return true;
  return false;
}

TypeInfo type_from_name(std::string_view name) {
  if (name == "pred") return {TypeKind::Pred, 1};
  if (name == "f16x2" || name == "bf16x2" || name == "tf32") return {TypeKind::F, 32};
  if (name == "bf16") return {TypeKind::F, 16};
  if (name == "e4m3" || name == "e5m2" || name == "ue8m0") return {TypeKind::F, 8};
  if (name == "e4m3x2" || name == "e5m2x2" || name == "ue8m0x2") return {TypeKind::F, 16};
  if (name == "u16x2" || name == "s16x2") return {name[0] == 'u' ? TypeKind::U : TypeKind::S, 32};
  if (name.size() < 2) return {};
  const TypeKind kind = name[0] == 's' ? TypeKind::S : name[0] == 'u' ? TypeKind::U : name[0] == 'f' ? TypeKind::F : TypeKind::B;
  if (kind == TypeKind::B && name[0] != 'b') return {};
  const std::string_view bits = name.substr(1);
  for (const auto& [text, value] :
       std::initializer_list<std::pair<std::string_view, int>>{{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}})
    if (bits == text) return {kind, value};
  return {};
}

}  // namespace regduel::ir::ptx
