#include "passes/pass_allocator.h"

#include <fmt/format.h>

#include "ir/check.h"
#include "passes/take_back.h"

namespace regduel::passes {

PassAllocator::PassAllocator(const Pass& pass, const ir::Allocator& allocator)
    : pass_(pass), allocator_(allocator), name_(fmt::format("{}+{}", pass.name(), allocator.name())) {}

std::expected<ir::Allocation, ir::AllocFailure> PassAllocator::allocate(const ir::Function& program, const ir::Target& target,
                                                                        const ir::AllocOptions& options) const {
  auto allocation = allocator_.allocate(pass_.run(program, target, {.fuel = options.fuel}), target, options);
  if (allocation && allocation->program.phase == ir::Phase::Allocated && ir::check(allocation->program, 1).empty())
    allocation->program = take_back(program, allocation->program);
  return allocation;
}

}  // namespace regduel::passes
