// A program before allocation and its target, prepared for judging: shared by all allocators, limits and judges.
//
//   const Before prepared(program, target);
//   for each allocator, for each limit:  judge(Case(prepared, allocation, limits))
//
// The control flow graph, the index of ids and the preserved units are built at once. A *part* is the data that one judge keeps of
// the program before: a type of the judge, constructed from (const Before&) at the first question and kept as long as the Before.
// The registry is open, because named members would make this header include every judge. A part may keep tables between cases to
// save their allocation; the result of a case must not depend on earlier cases. Parts have no locks: a Before belongs to one
// thread. Tested by before_test.cpp.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"
#include "ir/target.h"
#include "oracles/pair/id_index.h"

namespace regduel::oracles {

class Before {
 public:
  // Requires: `program` well-formed, in phase Virtual; both outlive this. Cost: O(size of the program).
  Before(const ir::Function& program, const ir::Target& target);
  Before(const Before&) = delete;
  Before& operator=(const Before&) = delete;

  [[nodiscard]] const ir::Function& program() const { return program_; }
  [[nodiscard]] const ir::Target& target() const { return target_; }
  [[nodiscard]] const ir::Cfg& cfg() const { return cfg_; }
  // Positions of the instructions by id.
  [[nodiscard]] const IdIndex& ids() const { return ids_; }
  // preserved_units() of the program and the target.
  [[nodiscard]] std::span<const ir::PReg> preserved() const { return preserved_; }

  // The one object of type Part; the first call constructs Part(*this).
  template <class Part>
  [[nodiscard]] Part& part() const {
    static char key;  // its address stands for the type
    for (const Slot& slot : parts_)
      if (slot.key == &key) return *static_cast<Part*>(slot.part.get());
    auto made = std::make_shared<Part>(*this);
    Part& part = *made;
    parts_.push_back({&key, std::move(made)});
    return part;
  }

 private:
  struct Slot {
    const char* key;
    std::shared_ptr<void> part;
  };

  const ir::Function& program_;
  const ir::Target& target_;
  ir::Cfg cfg_;
  IdIndex ids_;
  std::vector<ir::PReg> preserved_;
  mutable std::vector<Slot> parts_;
};

}  // namespace regduel::oracles
