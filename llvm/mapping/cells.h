// Registers of LLVM as units of RIR.
//
// Each atom that a function names becomes one unit of file ACC, whatever its width: what is judged is which value stands where. An atom of which a
// call preserves the low bits alone (D8 of Z8, XMM6 of ZMM6 on Windows) becomes two, cut where the call cuts it. A piece of an atom is the whole
// unit where it has 32 bits or more, and a part of it where it has fewer: AL `.b0`, AH `.b1`, AX `.h0`, the upper half of VGPR3 `.h1`.
// Left out are reserved registers, and files whose vregs this allocation run leaves virtual (VGPRs while SGPRs are allocated).
//
// A choice of today's RIR, whose units have 4 bytes and vregs at most 32: a spill or a copy that moves too few bytes is not seen.
// Tested by map_pair_test.cpp.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/mir/mir.h"

namespace regduel::llvm {

// Thrown within the mapping: this function cannot be carried, and why. The kind is a stable slug that refusals are counted by.
struct Refusal {
  std::string kind;
  std::string message;
};

// A part of a unit: "" (all of it), ".b0" ... ".b3", ".h0", ".h1".
struct Part {
  int bits = 0;  // 0 = all of it
  int index = 0;

  [[nodiscard]] bool is_whole() const { return bits == 0; }
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Part&, const Part&) = default;
};

// A unit's worth of a register operand. Of a vreg: lane number `lane`; of a physical register: unit `lane`.
struct Lane {
  int vreg = -1;  // -1 = a physical register
  int lane = 0;
  friend auto operator<=>(const Lane&, const Lane&) = default;
};
struct LaneOperand {
  Lane lane;
  Part part;
  bool is_low = false;  // an operand of 32 bits or more that is less than its vreg: whole in RIR, not in LLVM
};

class Cells {
 public:
  // Throws Refusal where a function has too many registers, or two masks cut a file differently.
  Cells(const Tables& tables, const Dump& before, const Dump& after);

  [[nodiscard]] bool sees_register(int preg) const;
  [[nodiscard]] bool sees_class(int cls) const;
  [[nodiscard]] bool sees(const Operand& o, const Dump& dump) const;

  // Of a visible operand of the program before. Throws Refusal.
  [[nodiscard]] std::vector<LaneOperand> lanes(const Operand& o, const Dump& dump) const;
  // Those lanes of a use that have no value there.
  [[nodiscard]] std::set<int> undefined_lanes(const Operand& o, const Dump& dump) const;
  // Of a vreg as a whole.
  [[nodiscard]] int lane_count(int cls) const;
  // Which lanes of the class lie in the same atoms as this sub-register.
  [[nodiscard]] std::set<int> lanes_of_atoms(int cls, const std::string& sub) const;
  // The units in which the lanes of such an operand are, where it stands in this physical register. Throws Refusal where that
  // is no home for them: another number of units, or a narrow vreg in the upper part of an atom.
  //   o   as in the program before; a vreg
  [[nodiscard]] std::vector<int> homes(const Operand& o, const Dump& before, int preg) const;
  [[nodiscard]] std::vector<int> units(int preg) const;
  // Units that a register mask destroys.
  [[nodiscard]] std::set<int> mask(int mask) const;

  [[nodiscard]] int size() const { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::string& name(int unit) const { return names_[unit]; }
  [[nodiscard]] const std::string& file(int unit) const { return files_[unit]; }
  [[nodiscard]] int bytes(int unit) const { return bytes_[unit]; }

 private:
  struct Place {
    int unit;
    Part part;
    int offset;  // in the atom
    int bits;
  };
  [[nodiscard]] const std::string& file_of_class(int cls) const;
  [[nodiscard]] int cut_of(int atom) const;
  [[nodiscard]] std::vector<Place> places(const Piece& p) const;
  [[nodiscard]] std::vector<Place> places_of_register(int preg) const;
  // Cells of a piece: 0, 1 or both.
  [[nodiscard]] std::vector<int> cells(const Piece& p) const;
  [[nodiscard]] Part part_of(const Piece& p) const;
  [[nodiscard]] const std::vector<SubPiece>& sub_pieces(int cls, const std::string& sub) const;
  void name_units(const std::set<int>& atoms);
  void find_cuts(const Dump& before, const Dump& after, const std::set<int>& atoms);

  const Tables& tables_;
  std::set<int> reserved_;
  std::set<std::string> left_virtual_;     // files
  std::map<std::string, int> cuts_;        // by file: bits of the lower cell
  std::map<std::pair<int, int>, int> at_;  // (atom, cell): unit
  std::vector<std::string> names_, files_;
  std::vector<int> bytes_;
};

}  // namespace regduel::llvm
