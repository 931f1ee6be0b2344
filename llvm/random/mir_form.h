// A random machine function in memory: inline assembly, copies, and branches that the successors of a block say.
#pragma once

#include <string>
#include <vector>

namespace regduel::llvm {

struct MirItem {
  enum class Kind : unsigned char { Def, EarlyDef, Use, TiedUse, Clobber };
  Kind kind = Kind::Use;
  int vreg = -1;
  std::string sub = {};   // ".sub0_sub1"
  std::string preg = {};  // "$vgpr3", in place of a vreg
  int tied = -1;          // TiedUse: which item it is tied to

  [[nodiscard]] bool is_def() const { return kind == Kind::Def || kind == Kind::EarlyDef; }
  [[nodiscard]] bool names_same(const MirItem& o) const { return vreg == o.vreg && sub == o.sub && preg == o.preg; }
};
struct MirOperation {
  bool is_copy = false;  // else inline assembly
  std::vector<MirItem> items = {};
};
struct MirBlock {
  int number = 0;
  std::vector<int> successors = {};  // each once; none: the function ends
  std::vector<MirOperation> operations = {};
};
struct MirFunction {
  std::vector<std::string> classes;  // of each vreg
  std::vector<MirBlock> blocks;
};

}  // namespace regduel::llvm
