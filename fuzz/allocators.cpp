#include "fuzz/allocators.h"

#include <array>
#include <memory>

#include "allocator/fatpoint.h"
#include "reference/briggs.h"

namespace regduel::fuzz {
namespace {

const std::array<std::unique_ptr<ir::Allocator>, 2>& all() {
  static const std::array<std::unique_ptr<ir::Allocator>, 2> list = {allocator::make_fatpoint(), reference::make_briggs()};
  return list;
}

}  // namespace

const ir::Allocator* find_allocator(std::string_view name) {
  for (const auto& a : all())
    if (a->name() == name) return a.get();
  return nullptr;
}

std::vector<std::string> allocator_names() {
  std::vector<std::string> names;
  for (const auto& a : all()) names.emplace_back(a->name());
  return names;
}

}  // namespace regduel::fuzz
