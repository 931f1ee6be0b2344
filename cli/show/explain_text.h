// What regduel explain shows: an explanation (allocator/explain/explain.h) as text of at most 100 columns, and as JSON.
#pragma once

#include <string>

#include "allocator/explain/explain.h"
#include "cli/show/json.h"

namespace regduel::cli {

struct ExplainText {
  bool all = false;  // every attempt in full, not only the one that decided
  bool colours = false;
};
[[nodiscard]] std::string explain_text(const allocator::Explanation& e, const ExplainText& options);

// Every attempt in full. Keys are stable.
[[nodiscard]] Json explain_json(const allocator::Explanation& e);

}  // namespace regduel::cli
