// The names of the buckets that a case may belong to, and which of those that are known it does belong to.
//
//   nature     of the failure. All judges of values speak of the same thing, a register that holds another value than it should,
//              and so do the rules of the structure judge on who may share a register. A broken rule of another kind says enough
//              by itself, and so does a broken invariant of the allocator's own, which its signature names
//   traits     what the case has that an allocator may get wrong: constraints, a branch, a lower limit
//   names      where values are wrong, those of the knobs and the constraints that are left in the core, the most telling first;
//              without any, that of a branch, and one that says nothing. "under pressure" says that the core needs a limit, or goes
//              through memory. Where the first bad decision of the allocator (bisect.h) is of a kind that only some programs ask
//              for, it is the name; of coalescing, also what was joined
//   bucket     of a case before that had the first of these names; or one of them but for the pressure, or but for the decision,
//              that came with the same constraint. A core may keep a constraint that the failure does not need, and this way it
//              does not make a second bucket of one bug. Otherwise the bucket with the same first bad decision, unless most
//              programs begin with that decision; or the bucket whose first bad decision is of a kind that this core also needs
//              to fail, because the bug may be in that decision and show only after the first one. Otherwise the bucket of any
//              other constraint that remains in the core, or of another failure of the same core
//   title      of a bucket that the case makes, where there is none of these: the most telling name, and a second constraint, so
//              that bugs of the same name can be told from one another
//
// Source: the "tags" of Chen et al., "Taming compiler fuzzers" (2013), and of Donaldson et al., "Test-case reduction and
// deduplication almost for free" (2021), who take what is left after reduction for what the bug is about. How well it does:
// `regduel zoo --buckets`, `regduel zoo --together`. Tested by bucket_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "duel/case.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

// The kind of mistake that a signature speaks of, whichever judge saw it, and wherever: "wrong-value", "callee-saved",
// "structure/tied-operand", "quality/claims-registers".
[[nodiscard]] std::string nature_of(std::string_view signature);

// A set; the lowest bit is the most telling.
using Traits = std::uint32_t;
inline constexpr Traits kUnderPressure = 1u << 15;  // a limit below what the target has, or a way through memory
// Of a limit, not of memory.
[[nodiscard]] Traits traits_of(const duel::Case& input);

struct Naming {
  std::string nature;
  std::vector<std::string> names;  // of buckets that it may belong to, the most telling first; no register numbers
  std::vector<std::string> rest;   // by what else is left in the core, or wrong with it: it joins such a bucket, and makes none
  std::string title;               // what a bucket that it makes is called
  std::vector<std::string> needed = {};  // the kinds of decisions without any of which it does not fail alike (bisect.h)
};

// The names of the buckets that a core may belong to, at least one: "fatpoint: wrong-value by coalesce-copy with fixed" and
// "fatpoint: wrong-value by coalesce-copy", or "fatpoint: wrong-value with guard under pressure".
//   decision   the kind of its first bad one
//   knobs      that are left in the core: mostly of a part of the allocator that is off by default
[[nodiscard]] std::vector<std::string> bucket_names(const Failure& failure, std::string_view decision, Traits traits,
                                                    const duel::Knobs& knobs = {});
// Of a wrong value: by each knob and constraint of its core that the names above do not speak of, and by a branch.
[[nodiscard]] std::vector<std::string> names_of_the_rest(const Failure& failure, Traits traits, const duel::Knobs& knobs,
                                                         const std::vector<std::string>& names);
// The title of a bucket that a case of that name makes: "fatpoint: wrong-value with guard and fixed under pressure".
[[nodiscard]] std::string title_of(const std::string& name, Traits traits, const duel::Knobs& knobs = {});

// By title: the first bad decision of a case of it.
using KnownBuckets = std::map<std::string, std::string>;
// The one of these that it belongs to, else its title.
//   decision   the first bad one of the case
[[nodiscard]] std::string choose_bucket(const Naming& naming, std::string_view decision, const KnownBuckets& known);

}  // namespace regduel::fuzz
