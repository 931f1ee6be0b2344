// From a failing input to one understood finding: reduced, bisected, and named so that one bug has one name.
//
// A signature (judge, category, opcode, role) says where a mistake showed, and one mistake shows in many places. The bucket is made
// from what is left when everything that the failure does not need has gone:
//
//   nature      of the failure. All judges of values speak of the same thing: a value was not what it should be
//   decision    the kind of the first bad decision of the allocator (bisect.h): where that is of a kind that only some programs ask
//   for, it says
//               more than anything else. Beside a wrong value every decision counts
//   trait       the most telling thing that the core has, where values are wrong and the decision does not say it all. The core is
//   the reduced
//               case, reduced again to any case that fails alike
//
// Neither reduction takes up anything that was not in the case, and the core keeps its decision: else, where there are several
// bugs, a reducer sooner or later comes upon another one. Source: the "tags" of Chen et al., "Taming compiler fuzzers" (2013), and
// of Donaldson et al., "Test-case reduction and deduplication almost for free" (2021), who take what is left after reduction for
// what the bug is about. How well it does: `regduel zoo --together`. Tested by triage_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/duel/fuzz_input.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

struct Understood {
  FuzzInput reduced;
  Failure failure;       // which the reduced case shows
  std::string decision;  // the kind of the first bad decision; "" where it comes before any
  std::string bucket;    // one bug, one bucket: made from the core and the decision; no register numbers
  std::uint64_t tries = 0;
  bool is_minimal = false;  // no single cut makes the reduced case smaller
  FuzzInput core;           // the reduced case, reduced again to any case that fails alike
};
// Whether each case that is tried on the way is tried in a process of its own (isolate.h), so that one that crashes or hangs is
// only one that does not show the failure. Cost of that: a fork a case; and there is no core then, nor is what fails alike looked
// for.
enum class Trials { Here, Apart };
//   Requires  reproduces(input, failure).
//   budget    of each of the two reductions (reduce.h). Of a hang, each case of which takes seconds, only some cases are tried
[[nodiscard]] Understood understand(const FuzzInput& input, const Failure& failure, std::uint64_t budget,
                                    Trials trials = Trials::Here);
// The case as it is, in the bucket of its failure: where nothing can be reduced.
[[nodiscard]] Understood not_reduced(const FuzzInput& input, const Failure& failure);

// What kind of mistake a signature speaks of, whichever judge saw it, and wherever: "wrong-value", "structure/tied-operand",
// "quality/claims-registers".
[[nodiscard]] std::string nature_of(std::string_view signature);
// Whether the case shows a failure of that allocator and of that nature. Cost: as reproduces().
[[nodiscard]] bool shows_alike(const FuzzInput& input, const Failure& failure, ir::Fuel* fuel = nullptr);

// What a program has that an allocator may get wrong, as a set; the lowest bit is the most telling.
using Traits = std::uint32_t;
[[nodiscard]] Traits traits_of(const ir::Function& program);
// The name of the most telling one: "phi", "guard", "tied"; "" of the empty set.
[[nodiscard]] std::string_view most_telling(Traits traits);

[[nodiscard]] std::string bucket_of(const Failure& failure, std::string_view decision, Traits traits);

}  // namespace regduel::fuzz
