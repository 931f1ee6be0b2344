// The list of judges, and one case before several of them. Code that only handles results of judges includes judge.h instead.
// Tested by judge_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "oracles/judge.h"

namespace regduel::oracles {

// All judges of an allocation, in the order in which they are run: structure, memcheck, symbolic, execution, quality.
[[nodiscard]] std::span<const Judge* const> judges();
// Null if there is no judge of that name.
[[nodiscard]] const Judge* find_judge(std::string_view name);
// Runs the named judges in order; no names = all judges. If structure fails, the later judges still judge what they can read, and
// say skipped if they can read nothing. If all judges were asked and two contradict each other, the last result is that of
// "disagreement" (agreement/disagreement.h).
[[nodiscard]] Report judge(const Case& c, std::span<const std::string> names = {});

}  // namespace regduel::oracles
