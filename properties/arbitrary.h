// Programs for RapidCheck: fuzz inputs (program, target, limits, knobs) and programs alone, drawn from the generator and the
// mutator, shrunk by the reducer's steps (reduce.h), shown as .rir text.
//
//   RC_GTEST_PROP(MyAllocator, IsRight, (const regduel::duel::Case& input)) {
//     const auto duel = regduel::duel::duel(input, std::array<const regduel::ir::Allocator*, 1>{&mine});
//     RC_ASSERT(duel.verdict() != regduel::oracles::Verdict::Fail);
//   }
//
// Shrinking. The candidates of a case are those of one step of the reducer: settings first, then edges, then instructions in
// halves, quarters ... single ones, and so on. They are made when they are asked for. Each is well-formed, smaller in a fixed order
// (so that shrinking ends), and has no undefined reads where the case had none. A case that was itself the candidate of step n
// begins at step n and comes round to the others at the end: what has just failed to help is tried last.
//
// RC_PARAMS="seed=N" repeats a run, on any compiler; RC_PARAMS="reproduce=..." (RapidCheck prints it) repeats a shrunk case.
// Source: Claessen, Hughes, "QuickCheck" (2000), with the candidates of delta debugging (Zeller, Hildebrandt, 2002).
// Tested by arbitrary_test.cpp, and by the project in example, which uses it from outside.
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include <rapidcheck.h>

#include "duel/case.h"
#include "duel/duel.h"
#include "generate/generator.h"

namespace regduel::properties {

// What is drawn. The defaults are everything that there is.
struct ArbitraryOptions {
  std::vector<generate::Profile> profiles = {};  // all where empty
  const ir::Target* target =
      nullptr;            // null = any shipped one. Of its own: as generate() requires, and alive as long as the generator
  int max_size = 250;     // instructions, about, at RapidCheck's largest size (100); at least 1
  int max_mutations = 5;  // the mutator knows no profile: with 0 a program is of its profile
  std::span<const ir::Allocator* const> knobs_of =
      duel::all_duelists();  // those of whom knobs are drawn; alive as long as the generator
};

// Limits as draw_limits() (standard_mix.h) and knobs as draw_knobs() (duel/knobs.h). With a target of its own a case keeps it.
[[nodiscard]] rc::Gen<duel::Case> arbitrary_case(const ArbitraryOptions& options = {});
// A program alone, for `target`; it stays well-formed for it. options.target and options.knobs_of are not read.
[[nodiscard]] rc::Gen<ir::Function> arbitrary_program(const ir::Target& target, const ArbitraryOptions& options = {});
// A case with these shrinks, from wherever it comes: a file, a campaign.
[[nodiscard]] rc::Shrinkable<duel::Case> shrinkable(duel::Case input);

// A regression case (case_file.h).
void showValue(const duel::Case& input, std::ostream& out);

}  // namespace regduel::properties

// RapidCheck looks for it beside the type.
namespace regduel::ir {
void showValue(const Function& program, std::ostream& out);
}

namespace rc {

template <>
struct Arbitrary<regduel::duel::Case> {
  static Gen<regduel::duel::Case> arbitrary() { return regduel::properties::arbitrary_case(); }
};

// For the default target.
template <>
struct Arbitrary<regduel::ir::Function> {
  static Gen<regduel::ir::Function> arbitrary() { return regduel::properties::arbitrary_program(regduel::ir::default_target()); }
};

}  // namespace rc
