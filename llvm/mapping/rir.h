// RIR on its way from MIR to text: what the two halves of the mapping (before.h, after.h) have in common.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/mapping/cells.h"
#include "llvm/mir/mir.h"

namespace regduel::llvm {

inline constexpr int kUndefined = -2;  // Lane::vreg of something that nothing ever defines
inline constexpr int kTemporary =
    -3;  // what stands between a physical register and an operand that reads another one after allocation
inline constexpr int kFirstExtra = 1 << 26;     // numbers of what the mapping adds to both programs
inline constexpr int kFirstInserted = 1 << 27;  // numbers of what is inserted

enum class RirKind : std::uint8_t { Named, Copy, Terminator };

struct RirOperand {
  Lane lane;
  Part part;
  int op = -1;     // number of the operand of MIR
  int pos = 0;     // which lane of it
  int beside = 0;  // the unit so many behind the home of that lane
  std::string attribute = {};
};

struct RirInst {
  int id = 0;
  RirKind kind = RirKind::Named;
  std::string op = {};
  std::vector<RirOperand> defs = {}, uses = {};
  std::string text = {};        // what the instruction says besides registers
  std::set<int> clobbers = {};  // units
  std::string flags = {};
  std::vector<int> successors = {};
  // A copy of something undefined: it says that what was there has no value any more. Destroys: it stays (registers that a
  // rematerialisable definition destroys); else it is deleted after allocation, which may use the place.
  bool kills = false, destroys = false;
  bool is_said = false;  // a copy to a temporary, of which the program after has said already that it is deleted

  [[nodiscard]] bool is_rematerialisable() const { return flags.find("!remat") != std::string::npos; }
};

// The instructions of RIR that one instruction of MIR becomes.
struct Group {
  const Inst* source = nullptr;  // null: of the mapping's own making
  int block = 0, index = 0;      // of the source
  std::string what = {};         // where there is no source
  std::vector<RirInst> insts = {};
};
using Groups = std::vector<std::vector<Group>>;  // by block

// The registers of an instruction that has none but fixed and undefined ones, or whose homes are known.
using NameOf = std::function<std::string(const RirOperand&)>;
// One line; attributes are printed where they are asked for.
[[nodiscard]] std::string print(const RirInst& i, const NameOf& name, bool with_attributes);
[[nodiscard]] std::string deleted(const RirInst& i);
// The words of an instruction besides the registers that are seen.
[[nodiscard]] std::string text_of(const Inst& i, const Dump& dump, const Cells& cells, const Tables& tables);
// Is there in no form of RIR: debug and frame information, labels, heads of bundles.
[[nodiscard]] bool is_no_code(const Inst& i);

}  // namespace regduel::llvm
