#include "fuzz/duel/allocators.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "allocator/fatpoint.h"
#include "base/check_macro.h"
#include "reference/briggs.h"

namespace regduel::fuzz {
namespace {

std::vector<const ir::Allocator*>& all() {
  static const std::unique_ptr<ir::Allocator> fatpoint = allocator::make_fatpoint(), briggs = reference::make_briggs();
  static std::vector<const ir::Allocator*> list = {fatpoint.get(), briggs.get()};
  return list;
}

}  // namespace

const ir::Allocator* find_allocator(std::string_view name) {
  for (const ir::Allocator* a : all())
    if (a->name() == name) return a;
  return nullptr;
}

std::vector<std::string> allocator_names() {
  std::vector<std::string> names;
  for (const ir::Allocator* a : all()) names.emplace_back(a->name());
  return names;
}

std::span<const ir::Allocator* const> all_duelists() { return all(); }

Entered::Entered(const ir::Allocator& allocator) : allocator_(allocator) {
  REGDUEL_CHECK(find_allocator(allocator.name()) == nullptr, fmt::format("there is an allocator \"{}\" already", allocator.name()));
  all().push_back(&allocator);
}

Entered::~Entered() { std::erase(all(), &allocator_); }

}  // namespace regduel::fuzz
