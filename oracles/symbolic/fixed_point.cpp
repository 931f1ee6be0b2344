// Sweeps over the blocks whose state has changed. A change along a back edge waits for the next sweep, so that an inner loop does
// not settle anew for each change in the loops around it. Tested by symbolic_test.cpp.

#include "oracles/symbolic/fixed_point.h"

namespace regduel::oracles::symbolic {

bool FixedPoint::settle() {
  std::vector<std::uint32_t> position(plan_.blocks.size(), kNoIndex);
  for (std::size_t k = 0; k < plan_.order.size(); ++k) position[plan_.order[k]] = static_cast<std::uint32_t>(k);
  std::vector<std::uint8_t> is_due(plan_.order.size(), 0);
  std::size_t num_due = 0;
  const auto flow = [&](std::uint32_t to) {
    if (!joiner_.flow_into(entries_[to], to, state_) || is_due[position[to]] != 0) return;
    is_due[position[to]] = 1;
    ++num_due;
  };
  state_.enter_function();
  flow(plan_.order.front());
  state_.clear();
  for (std::size_t sweep = 0; num_due > 0; ++sweep) {
    if (sweep == kMaxSweeps) return false;
    for (std::size_t at = 0; at < plan_.order.size(); ++at) {
      if (is_due[at] == 0) continue;
      is_due[at] = 0;
      --num_due;
      const std::uint32_t b = plan_.order[at];
      steps(b, nullptr, nullptr);
      for (std::uint32_t e = plan_.edges_of[b].begin; e < plan_.edges_of[b].end; ++e) {
        state_.enter_edge(plan_.edges[e]);
        flow(plan_.edges[e].to);
        state_.leave_edge();
      }
      state_.clear();
    }
  }
  return true;
}

void FixedPoint::steps(std::uint32_t block, ViolationListener* listener, Observer* observer) {
  joiner_.load(entries_[block], block, state_);
  if (changes_ == nullptr && observer == nullptr) {
    for (std::uint32_t k = plan_.blocks[block].begin; k < plan_.blocks[block].end; ++k) state_.transfer(plan_.steps[k], listener);
    return;
  }
  const auto both = [&](auto call) {
    if (changes_ != nullptr) call(*changes_);
    if (observer != nullptr) call(*observer);
  };
  both([&](Observer& o) { o.at_head(block, state_); });
  for (std::uint32_t k = plan_.blocks[block].begin; k < plan_.blocks[block].end; ++k) {
    both([&](Observer& o) { o.before_step(k, state_); });
    state_.transfer(plan_.steps[k], listener);
    both([&](Observer& o) { o.after_step(k, state_); });
  }
}

void FixedPoint::walk(std::uint32_t block, ViolationListener* listener, Observer* observer) {
  steps(block, listener, observer);
  if (observer != nullptr) {
    for (std::uint32_t e = plan_.edges_of[block].begin; e < plan_.edges_of[block].end; ++e) {
      state_.enter_edge(plan_.edges[e]);
      observer->on_edge(e, state_);
      state_.leave_edge();
    }
  }
  state_.clear();
}

}  // namespace regduel::oracles::symbolic
