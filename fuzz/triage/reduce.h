// The reducer: makes a case smaller for as long as what is wrong with it stays wrong.
//
// The reducer edits programs (cut.h), not bytes. After each step the case is well-formed, still fails, and is smaller in a fixed order, so
// that the same case and the same question always give the same result. In turn, until none of them helps:
//
//   knobs and target   left out, or put to what is usual
//   limit              as low as it still fails: what then has to be deleted is less
//   callees            left out, or reduced as programs are
//   edges              a branch becomes a jump, or the end of the function; empty blocks are led past; blocks are joined
//   instructions       halves, quarters, ... single ones of all there are (delta debugging), what read them mended
//   bypass             an instruction out of the way, its def and a use becoming one vreg
//   vregs              one instead of two; one less, or a narrower one, under a limit that is as much lower
//   operands           left out
//   details            attributes, flags, classes, widths, numbers: the plainest that will do
//   leaps              where none of that helps, something that takes up registers is put in (a clobber, a wide vreg), so that
//                      the instructions that took them up before may go; kept where the whole is smaller in the end
//
// A program all of whose reads are defined stays one: a reduced case does not trade its bug for an undefined value.
// Source: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002); the order is that of C-Reduce (Regehr et
// al., 2012).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "duel/case.h"

namespace regduel::fuzz {

// Whether the case still shows what it is reduced for. Must be a function of the case alone.
using StillFails = std::function<bool(const duel::Case&)>;

// How large a case is, first what counts most: instructions, operands, blocks, vregs, details.
using CaseSize = std::array<std::size_t, 5>;
[[nodiscard]] CaseSize size_of(const duel::Case& input);

struct ReduceOptions {
  // Instructions in all candidates that are tried, which is what the time is spent on.
  std::uint64_t budget = 20'000'000;
  bool leaps = true;  // without them, nothing is in the result that was not in the case
  // Told of each step forward; false = stop here.
  std::function<bool(const CaseSize&, std::uint64_t tries)> progress;
};

struct Reduced {
  duel::Case input;
  std::uint64_t tries = 0;
  bool is_minimal = false;  // no single step more helps (else the budget was spent, or it was told to stop)
};

//   Requires  still_fails(input).   Ensures  still_fails(result.input), and size_of(result.input) <= size_of(input).
[[nodiscard]] Reduced reduce(const duel::Case& input, const StillFails& still_fails, const ReduceOptions& options = {});

// The candidates that the reducer would try on `input` if none of them failed: each step that it has, in its order, as a well-formed case.
// Some are larger than `input` (leaps). For other searches among smaller cases; properties/arbitrary.h shrinks with it.
//   first   steps with a lower number are passed over
//   take    told a case and the number of its step, ascending; false = no more
//   Cost    O(size) a step, also for those passed over.
void each_candidate(const duel::Case& input, std::size_t first, const std::function<bool(duel::Case, std::size_t step)>& take);

}  // namespace regduel::fuzz
