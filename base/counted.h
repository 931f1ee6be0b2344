// A count with its noun: "1 finding", "2 findings", "0 cases". Tested by the messages that have one, as in screen_test.cpp.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace regduel {

//   many   of a noun whose plural is more than an s
[[nodiscard]] inline std::string counted(std::integral auto n, std::string_view one, std::string_view many = "") {
  std::string text = std::to_string(n) + " ";
  if (n == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace regduel
