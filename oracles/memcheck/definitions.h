// The definitions of the program before, numbered. The graphs of both programs speak of these; the graph of the program after adds
// its own behind them. Tested by value_graph_test.cpp and memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "oracles/pair/id_index.h"

namespace regduel::oracles {

using LeafId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

enum class LeafKind : std::uint8_t {
  Def,            // four bytes of a def operand of the program before
  Foreign,        // a def of the program after that is none of the program before, and moves no value either
  Uninitialised,  // what a place holds at entry
  Destroyed,      // undefined by an instruction: a clobber, an early-clobber def, the upper bytes of a narrow def
  Saved,          // what a callee-saved or architectural register holds at entry
};

struct Leaf {
  LeafKind kind = LeafKind::Uninitialised;
  ir::InstId inst = {};
  int operand = -1;
  std::uint8_t valid = 4;  // Def: bytes of the word that the def defines; those above are destroyed
};
inline constexpr LeafId kUninitialised = 0;

// A set element: byte `byte` of a leaf. All uninitialised bytes are one element.
[[nodiscard]] constexpr std::uint32_t element_of(LeafId leaf, int byte) {
  return leaf == kUninitialised ? 0 : leaf * 4 + static_cast<std::uint32_t>(byte);
}
[[nodiscard]] constexpr LeafId leaf_of(std::uint32_t element) { return element / 4; }

class Definitions {
 public:
  explicit Definitions(const ir::Function& before);

  [[nodiscard]] const ir::Function& before() const { return before_; }
  // Index into before().insts, kNone where the program before has no such instruction.
  [[nodiscard]] std::uint32_t index_of(ir::InstId id) const { return ids_.find(id); }
  // What a def operand defines: leaf `first` and those behind it, a leaf for each four bytes. No bytes: the operand is no def.
  struct Defined {
    LeafId first = kNone;
    std::uint32_t bytes = 0;
  };
  [[nodiscard]] Defined defined_by(std::size_t operand) const { return defined_by_[operand]; }  // an index into before().operands
  // What the architectural vregs hold at entry, each in one register before and after.
  struct Entry {
    ir::VRegId vreg;
    Defined defined;
  };
  [[nodiscard]] const std::vector<Entry>& at_entry() const { return at_entry_; }
  [[nodiscard]] LeafId add(Leaf leaf);
  [[nodiscard]] const Leaf& operator[](LeafId id) const { return leaves_[id]; }
  [[nodiscard]] bool is_undefined(LeafId id) const {
    return leaves_[id].kind == LeafKind::Uninitialised || leaves_[id].kind == LeafKind::Destroyed;
  }
  [[nodiscard]] std::size_t size() const { return leaves_.size(); }
  // Forgets the leaves that were added since there were `size`.
  void shrink(std::size_t size) { leaves_.resize(size); }

 private:
  const ir::Function& before_;
  IdIndex ids_;
  [[nodiscard]] Defined define(LeafKind kind, ir::InstId inst, int operand, int bytes);

  std::vector<Defined> defined_by_;
  std::vector<Entry> at_entry_;
  std::vector<Leaf> leaves_;
};

}  // namespace regduel::oracles
