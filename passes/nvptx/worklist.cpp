#include "passes/nvptx/worklist.h"

#include <tuple>

#include <boost/heap/d_ary_heap.hpp>

namespace regduel::passes::nvptx {
namespace {

struct Entry {
  Priority priority;
  std::uint32_t candidate = 0;
};
// The heap gives its greatest entry, so the entry that comes last is the least.
struct ComesAfter {
  bool operator()(const Entry& a, const Entry& b) const {
    return std::tuple(~a.priority.frequency, a.priority.number, ~a.priority.weight, a.candidate) >
           std::tuple(~b.priority.frequency, b.priority.number, ~b.priority.weight, b.candidate);
  }
};
using Heap = boost::heap::d_ary_heap<Entry, boost::heap::arity<4>, boost::heap::compare<ComesAfter>>;

}  // namespace

int run_worklist(std::span<const std::uint32_t> candidates, const std::function<Priority(std::uint32_t)>& priority,
                 const std::function<Outcome(std::uint32_t)>& attempt) {
  Heap now, later;
  for (const std::uint32_t c : candidates) now.push({priority(c), c});
  int swaps = 0;
  for (bool merged = true; merged && !now.empty(); ++swaps) {
    merged = false;
    while (!now.empty()) {
      const std::uint32_t c = now.top().candidate;
      now.pop();
      switch (attempt(c)) {
        case Outcome::Merged: merged = true; break;
        case Outcome::Later: later.push({priority(c), c}); break;
        case Outcome::Never: break;
        case Outcome::Stop: return swaps;
      }
    }
    now.swap(later);
  }
  return swaps;
}

}  // namespace regduel::passes::nvptx
