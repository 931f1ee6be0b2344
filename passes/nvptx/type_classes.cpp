#include "passes/nvptx/type_classes.h"

#include <algorithm>

namespace regduel::passes::nvptx {

TypeClass type_class(const ir::VReg& v) {
  if (v.type == ir::TypeKind::Pred) return TypeClass::Pred;
  if (v.width > 64) return TypeClass::Wide;
  const bool is_float = v.type == ir::TypeKind::F;
  if (v.width == 64) return is_float ? TypeClass::F64 : TypeClass::I64;
  if (v.width == 32) return is_float ? TypeClass::F32 : TypeClass::I32;
  return is_float ? TypeClass::F16 : TypeClass::I16;
}

OperandType operand_type(const ir::VReg& v) {
  const TypeClass c = type_class(v);
  const bool participates = c != TypeClass::Wide && !v.is_architectural();
  return {type_code(c), static_cast<std::uint8_t>(v.units()), static_cast<std::uint8_t>(v.cls),
          participates ? kParticipates : std::uint8_t{0}};
}

ir::VReg piece(const ir::VReg& v, int k) {
  ir::VReg p = v;
  if (num_pieces(v) > 1) p.width = static_cast<std::uint16_t>(std::min(64, v.width - 64 * k));
  return p;
}

bool may_become_one(const ir::VReg& a, const ir::VReg& b) {
  return type_class(a) == type_class(b) && (a.type == ir::TypeKind::F) == (b.type == ir::TypeKind::F) && a.cls == b.cls &&
         a.width == b.width && a.align_log2 == b.align_log2 && a.fixed == b.fixed && a.flags == b.flags && !a.is_architectural();
}

}  // namespace regduel::passes::nvptx
