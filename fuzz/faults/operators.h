// Fault operators: each damages a correct allocation in one way that real allocators are known to get wrong. The judges are judged
// by what they say of the result (faults.h).
//
// An operator looks for the places where it applies, takes one at random, and changes the program there. It picks places at which
// its fault *is* the fault that it is named after: what it is meant to raise follows from the construction, not from luck.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "fuzz/edit/edit.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

struct BeforeFacts;  // contents.h
class AfterFacts;    // facts.h

// A correct allocation, to be damaged.
struct Subject {
  const ir::Function& before;
  const ir::Function& after;
  const ir::Target& target;
  ir::Limits limits;
  const BeforeFacts* facts = nullptr;  // of `before`, where somebody has them already; null: an operator computes what it needs
  AfterFacts* after_facts = nullptr;   // the same of `after`, not thread-safe
};

struct FaultOperator {
  std::string_view name;      // "drop-refill"
  std::string_view what;      // one line: what is changed, and which mistake of an allocator it stands for
  std::vector<int> memcheck;  // codes of memcheck of which one must be raised where the trace changes; empty: not memcheck's matter
  std::vector<std::string_view>
      structure;  // categories of structure of which one must be raised, always; empty: not structure's matter
  // False, and nothing changed, where there is no place for it. Requires: `program` is the allocation of the subject, taken apart.
  // Ensures: the result is well-formed (ir::check), and differs from the subject.
  bool (*apply)(EditProgram& program, const Subject& subject, Random& random);
};

// All of them, in the order of the matrix. Names are unique.
[[nodiscard]] std::span<const FaultOperator> fault_operators();

// Their parts, each in a file of its own.
[[nodiscard]] std::vector<FaultOperator> general_faults();  // registers, refills, spills, slots, operands, order, edges
[[nodiscard]] std::vector<FaultOperator>
pattern_faults();  // predicate packs, bit-spills, remats, shared slots, callee-saved registers

}  // namespace regduel::fuzz
