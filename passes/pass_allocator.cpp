#include "passes/pass_allocator.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/check.h"
#include "passes/take_back.h"

namespace regduel::passes {

PassAllocator::PassAllocator(const Pass& pass, const ir::Allocator& allocator)
    : pass_(pass), allocator_(allocator), name_(fmt::format("{}+{}", pass.name(), allocator.name())),
      knobs_(pass.knobs().begin(), pass.knobs().end()) {
  knobs_.insert(knobs_.end(), allocator.knobs().begin(), allocator.knobs().end());
}

std::expected<ir::Allocation, ir::AllocFailure> PassAllocator::allocate(const ir::Function& program, const ir::Target& target,
                                                                        const ir::AllocOptions& options) const {
  ir::AllocOptions rest = options;
  std::vector<std::pair<std::string, std::string>> own;
  const auto is_own = [&](const auto& setting) {
    return std::ranges::find(pass_.knobs(), setting.first, &ir::KnobInfo::name) != pass_.knobs().end();
  };
  std::ranges::copy_if(options.knobs, std::back_inserter(own), is_own);
  std::erase_if(rest.knobs, is_own);
  const auto after =
      run_recorded(pass_, program, target, {.fuel = options.fuel, .knobs = own, .trace = options.trace, .passes = options.passes});
  if (!after) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, after.error()});
  auto allocation = allocator_.allocate(*after, target, rest);
  // Where a rewriting needs more of some file than there is, the program stays as it came.
  if (!allocation && pass_.rewrites() && allocation.error().kind == ir::AllocFailure::Kind::Impossible)
    return allocator_.allocate(program, target, rest);
  // An allocation of a rewriting is one of its own, and so is what other passes before it are part of.
  if (allocation && !allocation->runs.empty()) return allocation;
  if (allocation && pass_.rewrites()) {
    allocation->runs.push_back({target, *after, std::move(allocation->program)});
    allocation->program = {};
    return allocation;
  }
  if (allocation && allocation->program.phase == ir::Phase::Allocated && ir::check(allocation->program, 1).empty())
    allocation->program = take_back(program, allocation->program);
  return allocation;
}

}  // namespace regduel::passes
