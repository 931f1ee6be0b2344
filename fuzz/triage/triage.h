// From a failing input to one understood finding: reduced, bisected, and named so that one bug has one name.
//
// A signature (judge, category, opcode, role) says where a mistake showed, and one mistake shows in many places. The bucket is made
// from what is left when everything that the failure does not need has gone:
//
//   core       the reduced case, reduced again to any case that fails alike. Neither reduction takes up anything that was not in
//              the case: else, where there are several bugs, a reducer sooner or later comes upon another one. Then each trait
//              that is left is put to the test: where a plainer form of the core without it (plainer.h) fails alike, that form,
//              reduced, is the core
//   culprit    behind a pass, the pass, where what it makes of the core is wrong in the same way with everything in memory
//   bucket     the one that the names of the core belong to (bucket.h)
//
// How well it does: `regduel zoo --buckets`, `regduel zoo --together`. Tested by trial/planted/understand_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "duel/case.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

struct Understood {
  duel::Case reduced;
  Failure failure;       // which the reduced case shows
  std::string decision;  // the kind of the first bad decision; "" where it comes before any
  Naming naming;
  std::string bucket;   // the title, where no other bucket is known
  std::string culprit;  // the allocator, or the pass in front of it
  std::uint64_t tries = 0;
  bool is_minimal = false;  // no single cut makes the reduced case smaller
  duel::Case core;          // the reduced case, reduced again to any case that fails alike
};
// Whether each case that is tried on the way is tried in a process of its own (isolate.h), so that one that crashes or hangs is
// only one that does not show the failure. Cost of that: a fork a case; and there is no core then, nor is what fails alike looked
// for.
enum class Trials { Here, Apart };
//   Requires  reproduces(input, failure).
//   budget    of each of the two reductions (reduce.h). Of a hang, each case of which takes seconds, only some cases are tried
[[nodiscard]] Understood understand(const duel::Case& input, const Failure& failure, std::uint64_t budget,
                                    Trials trials = Trials::Here);
// The case as it is, in the bucket of its failure: where nothing can be reduced.
[[nodiscard]] Understood not_reduced(const duel::Case& input, const Failure& failure);

// Whether the case shows a failure of that allocator and of that nature. Cost: as reproduces().
[[nodiscard]] bool shows_alike(const duel::Case& input, const Failure& failure, ir::Fuel* fuel = nullptr);

// The name of the pass in front of the allocator where the pass alone fails alike, else that of the allocator. Cost: as
// shows_alike().
[[nodiscard]] std::string culprit_of(const duel::Case& input, const Failure& failure);

}  // namespace regduel::fuzz
