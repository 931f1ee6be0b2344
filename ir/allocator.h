// The interface that every allocator implements, and what it returns. Data and one abstract class, nothing more.
//
// The contract (FORMAT.md, "Allocated programs"): the result is the same program over physical registers. Every original
// instruction is there with its id, in its block and order, with the same operands in the same positions, each placed in a
// register of its class's file below the limit; copies, phis and fully rematerialised defs may be marked deleted; a copy
// may have become a spill or a refill. What was inserted is marked so. New blocks may stand on edges, marked so.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/pass_scope.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::ir {

// One event a line, in the words of the text form; a null pointer is no trace.
class Trace {
 public:
  virtual ~Trace() = default;
  virtual void line(std::string text) = 0;
};

// How many of its optional decisions an allocator may still take (a copy coalesced, a refill saved, a def repeated instead of a
// refill, a vreg kept in a register rather than in a slot ...): without fuel it does what is plain instead, and the result is still
// right. So bisection over the limit finds the first decision that makes a failure: what -opt-bisect-limit is to LLVM's passes.
struct Fuel {
  std::int64_t limit = INT64_MAX;
  std::int64_t spent = 0;
  std::string_view refused = {};  // the kind of the first decision that was not: a name in kebab case with static storage
  std::string_view without = {};  // decisions of this kind are refused, too
  std::set<std::string_view>* taken = nullptr;  // where the kinds of those that were taken go; null = nowhere

  // Whether the decision may be taken; it is counted then.
  [[nodiscard]] bool spend(std::string_view kind) {
    if (spent < limit && kind != without) {
      ++spent;
      if (taken != nullptr) taken->insert(kind);
      return true;
    }
    if (refused.empty()) refused = kind;
    return false;
  }
};
// The question as allocators put it: without a limit the answer is yes.
[[nodiscard]] inline bool may(Fuel* fuel, std::string_view kind) { return fuel == nullptr || fuel->spend(kind); }

struct AllocOptions {
  Limits limits;
  std::vector<std::pair<std::string, std::string>> knobs;  // name, value; later ones win
  Trace* trace = nullptr;
  Fuel* fuel = nullptr;       // null = as much as it takes
  PassLog* passes = nullptr;  // null = no record of passes
  // A path: where an allocator that proves something writes what it proves and the proof, each with an ending of its own. Empty =
  // nowhere.
  std::string proof = {};
};

// What the allocator says of its own result. Judges recompute all of it from the program and compare.
struct Claims {
  PerFile<int> registers = {};         // highest unit used + 1
  std::int64_t spill_store_bytes = 0;  // bytes moved by the spill instructions, each counted once
  std::int64_t spill_load_bytes = 0;   // the same for refills
};

struct Allocation {
  Function program;
  Claims claims;
  bool has_claims = true;               // false: an external allocator, which claims nothing
  std::vector<std::string> notes = {};  // what whoever asked should know of the result, a sentence each; mostly none
};

struct AllocFailure {
  enum class Kind {
    Impossible,   // some instruction needs more than the limit, so that no allocation exists
    BadKnob,      // unknown name, or a value that it cannot have
    Unsupported,  // it does not do such programs, and says so: no answer, and no fault
    Broken,       // an external allocator crashed, hung or sent nonsense
  };
  Kind kind = Kind::Impossible;
  std::string message;
  std::string category = {};  // of Broken: what it did, in kebab case: "crash-SIGSEGV", "hang"; may be empty
  InstId inst = {};           // of Impossible: the instruction, by its number; invalid where the allocator names none
};
// The message of source 001 "Allocation Failure", on one line, with the limit that was asked for.
[[nodiscard]] std::string failure_message(int limit);
// The message behind the function and, where these are known, the instruction and its line in the source: the two paths of the
// seed, with source location and without.
//   @f: #4 at a.cu:12:3: MESSAGE        @f: #4: MESSAGE        @f: MESSAGE
// Requires that the failure is one of `program`.
[[nodiscard]] std::string failure_report(const Function& program, const AllocFailure& failure);

struct KnobInfo {
  std::string name;
  int id = -1;  // number in the source, -1 = known by name only, or our own
  std::string type, default_value, source, help;
  // Legal values worth trying: the ends of the range and a few between. Random knobs come from here; a knob without samples is
  // set on purpose only.
  std::vector<std::string> samples;
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::vector<KnobInfo> knobs() const { return {}; }
  // Requires: `program` is well-formed for `target`, in phase Virtual. Throws InternalError only for a bug of its own.
  [[nodiscard]] virtual std::expected<Allocation, AllocFailure> allocate(const Function& program, const Target& target,
                                                                         const AllocOptions& options) const = 0;
};

}  // namespace regduel::ir
