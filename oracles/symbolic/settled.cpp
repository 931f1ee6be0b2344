// See settled.h.
#include "oracles/symbolic/settled.h"

#include <memory>

namespace regduel::oracles {

// What a case keeps of it; the case knows this type by its name alone.
struct SymbolicStates {
  std::unique_ptr<symbolic::Settled> states;
  std::expected<symbolic::Settled*, std::string> answer;
};

namespace symbolic {

const std::expected<Settled*, std::string>& settled(const Case& c) {
  if (c.symbolic_states == nullptr) {
    c.symbolic_states = std::make_shared<SymbolicStates>();
    SymbolicStates& kept = *c.symbolic_states;
    if (auto plan = make_plan(c)) {
      kept.states = std::make_unique<Settled>(*std::move(plan));
      kept.answer = kept.states.get();
    } else {
      kept.answer = std::unexpected(plan.error());
    }
  }
  return c.symbolic_states->answer;
}

}  // namespace symbolic
}  // namespace regduel::oracles
