// The interface that every allocator implements, and what it returns. Data and one abstract class, nothing more.
//
// The contract (FORMAT.md, "Allocated programs"): the result is the same program over physical registers. Every original
// instruction is there with its id, in its block and order, with the same operands in the same positions, each placed in a
// register of its class's file below the limit; copies, phis and fully rematerialised defs may be marked deleted; a copy
// may have become a spill or a refill. Inserted instructions are marked, and so are new blocks, which may stand on edges.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/knobs.h"
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

// The number of optional decisions that an allocator may still take: to coalesce a copy, to save a refill, to repeat a def instead
// of refilling, to keep a vreg in a register rather than in a slot. Without fuel it takes the default instead, and the result is
// still correct. Bisection over the limit finds the first decision that causes a failure, as -opt-bisect-limit does for LLVM's
// passes.
struct Fuel {
  std::int64_t limit = INT64_MAX;
  std::int64_t spent = 0;
  std::string_view refused = {};  // the kind of the first decision that was refused: a name in kebab case with static storage
  std::string_view without = {};  // decisions of this kind are refused, too
  std::set<std::string_view>* taken = nullptr;  // collects the kinds of the decisions that were taken; null = no record

  // Whether the decision may be taken. Counts it if so.
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
// Without fuel there is no limit.
[[nodiscard]] inline bool may(Fuel* fuel, std::string_view kind) { return fuel == nullptr || fuel->spend(kind); }

struct AllocOptions {
  Limits limits;
  std::vector<std::pair<std::string, std::string>> knobs;  // name, value; later ones win
  Trace* trace = nullptr;
  Fuel* fuel = nullptr;       // null = as much as it takes
  PassLog* passes = nullptr;  // null = no record of passes
};

// The allocator's own figures for its result. Judges recompute all of them from the program and compare.
struct Claims {
  PerFile<int> registers = {};         // highest unit used + 1
  std::int64_t spill_store_bytes = 0;  // bytes moved by the spill instructions, each counted once
  std::int64_t spill_load_bytes = 0;   // the same for refills
};

// Says in the words of another compiler what a judge says of its allocation as RIR.
class OwnWords {
 public:
  virtual ~OwnWords() = default;
  //   message       of a judge, one line
  //   inst, other   the instructions of which it is; invalid = none
  [[nodiscard]] virtual std::string of(const std::string& message, InstId inst, InstId other) const = 0;
};

// One run of the allocator of another compiler, which allocates a form of its own of the program: that form before and after the run, as
// RIR for a target that has the compiler's registers.
struct OwnRun {
  Target target;
  Function before, after;
  int registers = 0;  // how many different ones `after` names, as the compiler counts them
  std::shared_ptr<const OwnWords> words = {};
};

struct Allocation {
  Function program;  // empty where there are runs
  Claims claims;
  bool has_claims = true;               // false: an external allocator, which claims nothing
  std::vector<std::string> notes = {};  // a sentence each for the user about the result; mostly none
  std::vector<OwnRun> runs = {};        // in their order; judged in place of `program`, each by itself
};

struct AllocFailure {
  enum class Kind {
    Impossible,   // some instruction needs more than the limit, so that no allocation exists
    BadKnob,      // unknown name, or a value that it cannot have
    Unsupported,  // the allocator declines such programs, which is no fault
    Broken,       // an external allocator crashed, hung or sent nonsense
  };
  Kind kind = Kind::Impossible;
  std::string message;
  std::string category = {};  // of Broken: the kind of failure in kebab case, such as "crash-SIGSEGV" or "hang"; may be empty
  InstId inst = {};           // of Impossible: the instruction, by its number; invalid where the allocator names none
};
// The message of source 001 "Allocation Failure", on one line, with the limit that was asked for.
[[nodiscard]] std::string failure_message(int limit);
// The message behind the function and, where these are known, the instruction and its line in the source: the two paths of the
// source, with source location and without.
//   @f: #4 at a.cu:12:3: MESSAGE        @f: #4: MESSAGE        @f: MESSAGE
// Requires that the failure is one of `program`.
[[nodiscard]] std::string failure_report(const Function& program, const AllocFailure& failure);

// A file that shows a case in the form of another compiler, for those whose allocator it is.
struct OwnFile {
  std::string suffix;  // ".mir"
  std::string text;
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // They live as long as the allocator.
  [[nodiscard]] virtual std::span<const KnobInfo> knobs() const { return {}; }
  // Requires: `program` is well-formed for `target`, in phase Virtual. Throws InternalError only for a bug of its own.
  [[nodiscard]] virtual std::expected<Allocation, AllocFailure> allocate(const Function& program, const Target& target,
                                                                         const AllocOptions& options) const = 0;
  // None where it reads RIR.
  //   path    of the files, without suffix
  //   words   what was found, one line
  [[nodiscard]] virtual std::vector<OwnFile> own_files(const Function& /*program*/, const Target& /*target*/,
                                                       const AllocOptions& /*options*/, const std::string& /*path*/,
                                                       const std::string& /*words*/) const {
    return {};
  }
};

}  // namespace regduel::ir
