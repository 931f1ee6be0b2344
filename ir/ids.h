// Typed ids. An id is an index into one of the flat arrays of a Function (VRegId, BlockId, SymbolId, SlotId, SourceLineId), or
// the stable name of an instruction (InstId), which is *not* an index: an allocator keeps it when it moves code.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace regduel::ir {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr explicit Id(int v) : value(static_cast<std::uint32_t>(v)) {}

  [[nodiscard]] constexpr bool is_valid() const { return value != kNone; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using VRegId = Id<struct VRegTag>;
using BlockId = Id<struct BlockTag>;
using InstId = Id<struct InstTag>;
using SymbolId = Id<struct SymbolTag>;
using SlotId = Id<struct SlotTag>;
using SourceLineId = Id<struct SourceLineTag>;

}  // namespace regduel::ir

template <class Tag>
struct std::hash<regduel::ir::Id<Tag>> {
  std::size_t operator()(regduel::ir::Id<Tag> id) const noexcept { return id.value; }
};
