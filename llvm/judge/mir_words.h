// A pair of RIR programs in the words of the MIR that it was mapped from. Tested by judge_pair_test.cpp.
#pragma once

#include <memory>
#include <string>

#include "ir/allocator.h"
#include "llvm/mapping/rir_pair.h"
#include "oracles/judge.h"

namespace regduel::llvm {

// An objection of one judge to an allocation.
struct MirFinding {
  std::string judge = {}, category = {};
  int block = -1;                       // number of the machine basic block; -1 = the function as a whole
  std::string before = {}, after = {};  // the instruction, as LLVM prints it; "" where it is not in that program
  std::string message = {};             // registers by LLVM's names
  std::string other = {};               // the second place, "" = none
};
// A finding as a person reads it, several lines.
[[nodiscard]] std::string print(const MirFinding& f);

class MirWords final : public ir::OwnWords {
 public:
  MirWords(std::shared_ptr<const RirPair> pair, std::shared_ptr<const Tables> tables)
      : pair_(std::move(pair)), tables_(std::move(tables)) {}

  [[nodiscard]] MirFinding translate(const oracles::Finding& f) const;
  // The message, the block and the instruction, in one line.
  [[nodiscard]] std::string of(const std::string& message, ir::InstId inst, ir::InstId other) const override;

 private:
  [[nodiscard]] const Site* site(ir::InstId id) const;
  [[nodiscard]] std::string before(const Site& s) const;
  [[nodiscard]] std::string after(const Site& s) const;
  [[nodiscard]] std::string place(const Site& s) const;
  // Units and vregs by LLVM's names, instructions as LLVM prints them.
  [[nodiscard]] std::string in_mir(const std::string& message) const;

  std::shared_ptr<const RirPair> pair_;
  std::shared_ptr<const Tables> tables_;
};

}  // namespace regduel::llvm
