// The program before and what an allocator made of it, as RIR, and the way back: which instruction of MIR a number of RIR is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "llvm/mapping/cells.h"
#include "llvm/mir/mir.h"

namespace regduel::llvm {

// The work of the allocator, read off the two dumps.
struct Counts {
  int originals = 0, spills = 0, refills = 0, folds = 0, copies = 0, remats = 0, copies_deleted = 0;
  int dead = 0;  // originals that nothing read, and that are gone
  std::int64_t spill_bytes = 0, refill_bytes = 0;
  std::map<std::string, int> registers;  // by file: how many different ones the function names

  void add(const Counts& c) {
    originals += c.originals, spills += c.spills, refills += c.refills, folds += c.folds;
    copies += c.copies, remats += c.remats, copies_deleted += c.copies_deleted, dead += c.dead;
    spill_bytes += c.spill_bytes, refill_bytes += c.refill_bytes;
    for (const auto& [file, n] : c.registers) registers[file] += n;
  }
};

// Where an instruction of RIR comes from. Indices into the dumps; -1 = it is in that program not, or of the mapping's own making.
struct Site {
  int block = -1, inst_before = -1, inst_after = -1;
  std::string what;  // where both are -1: "the function's live-in registers"
};

struct RirPair {
  std::string before, after;  // text of RIR, a file of one function each
  std::string target;         // JSON of the target that both are for
  std::map<int, Site> sites;  // by number of the instruction
  std::map<int, std::string> vreg_names;
  std::vector<std::string> unit_names;  // of file ACC
  Counts counts;
  Dump cut_before, cut_after;  // what the sites point into
};

}  // namespace regduel::llvm
