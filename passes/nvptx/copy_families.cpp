#include "passes/nvptx/copy_families.h"

namespace regduel::passes::nvptx {

int family(TypeClass from, TypeClass to) {
  if (from != to) {
    const int row = static_cast<int>(from), column = static_cast<int>(to);
    return kFirstCrossClass + row * (kNumTypeClasses - 1) + (column < row ? column : column - 1);
  }
  switch (from) {
    case TypeClass::I32: return 440;
    case TypeClass::I64: return 441;
    case TypeClass::F32: return 442;
    case TypeClass::Pred:
    case TypeClass::I16:
    case TypeClass::F16:
    case TypeClass::F64: return 443;
    case TypeClass::Wide: return kFirstPiece;
  }
  return kFirstPiece;
}

}  // namespace regduel::passes::nvptx
