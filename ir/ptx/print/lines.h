// The body of a PTX function that is being written: its lines, and the registers that they name.
//
// A root vreg is one register, or, where it is a tuple, one register for each element. A piece of a register is read and written through
// temporaries, with moves that ptxas folds away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace regduel::ir::ptx {

class Lines {
 public:
  // element_bytes: of each root, by vreg; 0 = a predicate, or no root
  Lines(const Function& f, std::vector<std::uint8_t> element_bytes);

  // A line under the guard of the instruction; a label or a brace as it is.
  void add(std::string_view instruction);
  void add_bare(std::string_view line);
  void set_guard(std::string guard) { guard_ = std::move(guard); }
  [[nodiscard]] const std::string& guard() const { return guard_; }

  [[nodiscard]] std::string temp(int bytes);  // a new register; 0 bytes = a predicate
  [[nodiscard]] std::string name(VRegId root, int element) const;
  [[nodiscard]] std::string predicate(const Operand& op) const;  // with "!" where it is negated
  [[nodiscard]] int element_bytes(VRegId root) const { return element_bytes_[root.index()]; }

  // Of the largest equal pieces of which these bytes and the elements of their vreg are made; 0 = a predicate.
  [[nodiscard]] int piece_bytes(const Storage& s) const;

  // The registers that hold these bytes, as many bytes each.
  [[nodiscard]] std::vector<std::string> read(const Storage& s, int bytes);
  void write(const Storage& s, const std::vector<std::string>& names, int bytes);
  // Registers to write these bytes to. `settle` afterwards puts them in their place.
  [[nodiscard]] std::vector<std::string> destination(const Storage& s, int bytes);
  void settle();

  // Copies bytes from the uses to the defs, both concatenated, all uses before any def.
  void move(std::span<const Operand> defs, std::span<const Operand> uses);

  [[nodiscard]] std::string declarations() const;
  [[nodiscard]] std::string take_text() { return std::move(text_); }

 private:
  struct Unsettled {
    Storage storage;
    std::vector<std::string> names;
    int bytes = 0;
  };
  [[nodiscard]] std::vector<std::string> split(const std::string& whole, int whole_bytes, int bytes);
  [[nodiscard]] std::string joined(std::span<const std::string> pieces, int bytes, int whole_bytes);

  const Function& f_;
  std::vector<std::uint8_t> element_bytes_;
  std::vector<Unsettled> unsettled_;
  std::string text_, guard_;
  std::vector<std::string> temps_[17];  // by bytes
};

// "{a, b}"
[[nodiscard]] std::string braced(std::span<const std::string> names);

}  // namespace regduel::ir::ptx
