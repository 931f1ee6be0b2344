// An allocator that shows what its allocation comes to and not the allocation, so that no judge can look at it: ptxas.
#pragma once

#include <cstdint>
#include <expected>

#include "ir/allocator.h"

namespace regduel::duel {

struct OwnFigures {
  int registers = -1;  // general ones; -1 = it does not say
  std::int64_t store_bytes = 0, load_bytes = 0, frame_bytes = 0;
};

class FiguresOnly : public ir::Allocator {
 public:
  [[nodiscard]] virtual std::expected<OwnFigures, ir::AllocFailure> figures(const ir::Function& program, const ir::Target& target,
                                                                            const ir::AllocOptions& options) const = 0;
  // The failure of figures(), or Unsupported.
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const final {
    auto known = figures(program, target, options);
    if (!known) return std::unexpected(std::move(known.error()));
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "it shows figures and no allocation"});
  }
};

}  // namespace regduel::duel
