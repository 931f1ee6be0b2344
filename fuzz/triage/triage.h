// From a failing input to one understood finding: reduced, bisected, and named so that one bug has one name.
//
// A signature (judge, category, opcode, role) says where a mistake showed, and one mistake shows in many places. The bucket is made
// from what is left when everything that the failure does not need has gone:
//
//   core       the reduced case, reduced again to any case that fails alike. Neither reduction takes up anything that was not in
//              the case: else, where there are several bugs, a reducer sooner or later comes upon another one. Then each trait
//              that is left is put to the test: where a plainer form of the core without it (plainer.h) fails alike, that form,
//              reduced, is the core
//   nature     of the failure. All judges of values speak of the same thing, a register that holds another value than it should,
//              and so do the rules of the structure judge on who may share a register. A broken rule of another kind says enough
//              by itself, and so does a broken invariant of the allocator's own, which its signature names
//   names      of the buckets that the core may belong to, where values are wrong. Those of the knobs and the constraints that are
//              left in the core, the most telling first; without any, that of a branch. "under pressure" says that the core needs a
//              limit, or goes through memory. Where the first bad decision of the allocator (bisect.h) is of a kind that only some
//              programs ask for, it is the name; of coalescing, also what was joined
//   bucket     the first of these names that a case before has had, or that one has had but for the pressure, or but for the
//              decision, that came with the same constraint. A core may keep a constraint that the failure does not need, and
//              this way it does not make a second bucket of one bug. Else the decision by itself where it has been seen with
//              other things, which then are not what it is about; with one other thing, and now alone: as it was then. Else one of
//              a constraint or a branch that is left in the core beside what its names say, where there is such a bucket: no
//              plainer form did without it. Else the most telling name
//
// Source: the "tags" of Chen et al., "Taming compiler fuzzers" (2013), and of Donaldson et al., "Test-case reduction and
// deduplication almost for free" (2021), who take what is left after reduction for what the bug is about. How well it does:
// `regduel zoo --buckets`, `regduel zoo --together`. Tested by triage_test.cpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/duel/fuzz_input.h"
#include "fuzz/triage/failure.h"
#include "ir/allocator.h"

namespace regduel::fuzz {

struct Understood {
  FuzzInput reduced;
  Failure failure;                 // which the reduced case shows
  std::string decision;            // the kind of the first bad decision; "" where it comes before any
  std::vector<std::string> names;  // of buckets that it may belong to, the most telling first; no register numbers
  std::vector<std::string> rest;   // by what else is left in the core: it joins such a bucket, and never makes one
  std::string bucket;              // the first of the names, where no other bucket is known
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

// What kind of mistake a signature speaks of, whichever judge saw it, and wherever: "wrong-value", "callee-saved",
// "structure/tied-operand", "quality/claims-registers".
[[nodiscard]] std::string nature_of(std::string_view signature);
// Whether the case shows a failure of that allocator and of that nature. Cost: as reproduces().
[[nodiscard]] bool shows_alike(const FuzzInput& input, const Failure& failure, ir::Fuel* fuel = nullptr);

// What a case has that an allocator may get wrong, as a set; the lowest bit is the most telling.
using Traits = std::uint32_t;
[[nodiscard]] Traits traits_of(const FuzzInput& input);

// The names of the buckets that a core may belong to, at least one: "fatpoint: wrong-value by coalesce-copy with fixed" and
// "fatpoint: wrong-value by coalesce-copy", or "fatpoint: wrong-value with guard under pressure".
//   decision   the kind of its first bad one
//   knobs      that are left in the core: mostly of a part of the allocator that is off by default
[[nodiscard]] std::vector<std::string> bucket_names(const Failure& failure, std::string_view decision, Traits traits,
                                                    const Knobs& knobs = {});
// Of a wrong value: by each knob and constraint of its core that the names above do not speak of, and by a branch.
[[nodiscard]] std::vector<std::string> names_of_the_rest(const Failure& failure, Traits traits, const Knobs& knobs,
                                                         const std::vector<std::string>& names);
// The one that it does belong to.   Requires  names as of bucket_names, rest as of names_of_the_rest.
[[nodiscard]] std::string choose_bucket(const std::vector<std::string>& names, const std::vector<std::string>& rest,
                                        const std::set<std::string>& known);

}  // namespace regduel::fuzz
