// What a warp destroys in its uniform registers: found in one walk over the settled states, and done in the next analysis.
// The rules are in uniform.h, "destroyed". Tested by damage_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/symbolic/fixed_point.h"
#include "oracles/uniform/shared_values.h"

namespace regduel::oracles::uniform {

// A byte of a name.
struct NameByte {
  std::uint32_t name = 0;
  std::uint8_t byte = 0;
};

// Of one byte of a location.
struct Damage {
  enum class Kind : std::uint8_t {
    Bits,       // `bits` of the byte are destroyed; all eight: the byte
    Undefined,  // outside the outcomes under which the chosen name is defined
    OtherSide,  // under the outcome under which the step does not happen
  };
  Kind kind = Kind::Bits;
  std::uint8_t byte = 0, bits = 0xFF;
  std::uint32_t location = 0;
  std::uint32_t first_name = 0, num_names = 0, chosen = 0;  // Undefined: the names that may be chosen, and the one that is
};

// By place: the head of a block, or a step.
struct Damages {
  explicit Damages(const symbolic::Plan& plan) : at_heads(plan.blocks.size()), behind_steps(plan.steps.size()) {}
  [[nodiscard]] bool empty() const { return count == 0; }
  [[nodiscard]] const NameByte& name_of(const Damage& d) const { return names[d.first_name + d.chosen]; }
  // Chooses, where there is one that was not chosen yet, one of `wanted`, else the next. False where all have been chosen.
  bool choose_others(std::span<const std::uint32_t> wanted);

  std::vector<std::vector<Damage>> at_heads, behind_steps;
  std::vector<NameByte> names;
  std::size_t count = 0;
};

// Requires: settled.
[[nodiscard]] Damages find_damages(symbolic::Plan& plan, symbolic::FixedPoint& analysis, SharedValues& shared);

// The write of a step, with the guard under which it is done. An original copy that was kept is two steps, first on the locations
// and then on the names: its write counts behind the second.
class Write {
 public:
  explicit Write(symbolic::Plan& plan) : plan_(plan) {}

  void before(std::uint32_t step, const symbolic::State& state);
  [[nodiscard]] bool is_first_half(std::uint32_t step) const;
  [[nodiscard]] bool is_second_half(std::uint32_t step) const;
  [[nodiscard]] const symbolic::Step& step() const { return *step_; }
  [[nodiscard]] bool has_guard() const { return token_ != kBottom; }
  // A value under the outcome under which the write is done. Bottom without a guard.
  [[nodiscard]] Value where_done(Value v) const;
  // The value there, and Bottom elsewhere. Requires: has_guard().
  [[nodiscard]] Value only_where_done(Value v) const;

 private:
  [[nodiscard]] bool sense() const { return !plan_.operands[step_->guard].is_negated_loc; }

  symbolic::Plan& plan_;
  const symbolic::Step* step_ = nullptr;
  Value token_ = kBottom;  // of the register of the guard, as the step reads it
};

// Takes part in an analysis, and does the damage there.
class Destroyer final : public symbolic::Observer {
 public:
  Destroyer(symbolic::Plan& plan, const Damages& damages) : plan_(plan), values_(plan.values), damages_(damages), write_(plan) {}

  void at_head(std::uint32_t block, symbolic::State& state) override;
  void before_step(std::uint32_t step, symbolic::State& state) override;
  void after_step(std::uint32_t step, symbolic::State& state) override;
  void on_edge(std::uint32_t, symbolic::State&) override {}

 private:
  void destroy(const std::vector<Damage>& damages, symbolic::State& state);
  [[nodiscard]] Value left_of(const Damage& d, Value held, const symbolic::State& state);

  symbolic::Plan& plan_;
  Values& values_;
  const Damages& damages_;
  Write write_;
};

}  // namespace regduel::oracles::uniform
