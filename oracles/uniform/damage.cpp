// Finds what is not shared in uniform registers, and destroys it. See damage.h.

#include "oracles/uniform/damage.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "oracles/uniform/copied_out.h"

namespace regduel::oracles::uniform {

using symbolic::FixedPoint;
using symbolic::kNoIndex;
using symbolic::kOneByte;
using symbolic::Plan;
using symbolic::State;
using symbolic::Step;
using symbolic::StepKind;
using symbolic::StepOperand;

void Write::before(std::uint32_t at, const State& state) {
  if (is_second_half(at)) return;
  step_ = &plan_.steps[at];
  token_ = kBottom;
  if (step_->guard == kNoIndex) return;
  const StepOperand& guard = plan_.operands[step_->guard];
  if (guard.loc.size != 0) token_ = plan_.values.seen(state.locations[guard.loc.cell], step_->opaque);
}

bool Write::is_second_half(std::uint32_t at) const {
  return at > 0 && plan_.steps[at].kind == StepKind::Rename && is_first_half(at - 1) &&
         plan_.steps[at - 1].original == plan_.steps[at].original;
}
bool Write::is_first_half(std::uint32_t at) const {
  return plan_.steps[at].kind == StepKind::Move && plan_.steps[at].original != kNoIndex;
}

Value Write::where_done(Value v) const { return token_ == kBottom ? kBottom : plan_.values.where(v, token_, sense()); }
Value Write::only_where_done(Value v) const {
  const Value there = where_done(v);
  return sense() ? plan_.values.gate(token_, there, kBottom) : plan_.values.gate(token_, kBottom, there);
}

namespace {

// action(cell, bytes) for each location that the step writes, with a bit for each byte of it.
void each_written(const Plan& plan, const Step& s, const auto& action) {
  const auto all_of = [&](const Place& p) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) {
      const std::uint32_t begin = k == 0 ? p.offset : 0, end = std::min(p.offset + p.size - k * p.step, p.step);
      action(p.cell + k, (1U << end) - (1U << begin));
    }
  };
  const auto ops = plan.operands_of(s);
  switch (s.kind) {
    case StepKind::ToPack: return all_of(ops[0].loc);
    case StepKind::Move:
      for (const StepOperand& op : ops)
        if (op.role == ir::Role::Def) all_of(op.name);
      return;
    case StepKind::Operate:
    case StepKind::Gather:
    case StepKind::FromPack:
    case StepKind::Remat:
      for (const StepOperand& op : ops)
        if (op.role == ir::Role::Def || op.role == ir::Role::DefUse) all_of(op.loc);
      return;
    default: return;
  }
}

// `held` where the name asks for something, Bottom where not; the other way round where is_asked is false.
Value where_asked(Values& values, Value held, Value want, int depth, bool is_asked = true) {
  if (want == kTop || depth == 0) return is_asked ? kBottom : held;
  const Value token = values.token_of(want);
  if (token == kBottom) return is_asked ? held : kBottom;
  const auto side = [&](bool value) {
    return where_asked(values, values.where(held, token, value), values.where(want, token, value), depth - 1, is_asked);
  };
  const Value if_true = side(true), if_false = side(false);
  return values.gate(token, if_true, if_false);
}

// What the name asks for in this byte.
Value wanted_in(Plan& plan, const State& state, const NameByte& n) {
  const Value name = state.names[n.name];
  return plan.bytes_of_name[n.name] == kOneByte ? name : plan.values.byte(name, n.byte);
}

class Finder final : public symbolic::Observer {
 public:
  Finder(Plan& plan, SharedValues& shared)
      : plan_(plan), values_(plan.values), shared_(shared), copied_(plan, shared.meeting_points()), write_(plan), found(plan) {}

  void at_head(std::uint32_t block, State& state) override {
    shared_.move_to(block);
    copied_.move_to(block);
    for (const std::uint32_t l : plan_.live_locations[block])
      if (is_uniform_location(plan_, l)) look_at(l, kAllBytes, state, nullptr, found.at_heads[block]);
  }
  void before_step(std::uint32_t step, State& state) override {
    write_.before(step, state);
    if (!write_.is_second_half(step)) list_brought(write_.step(), state);
  }
  void after_step(std::uint32_t step, State& state) override {
    copied_.step(step);
    if (write_.is_first_half(step)) return;
    names_by_ = &plan_.steps[step];
    each_written(plan_, write_.step(), [&](std::uint32_t l, unsigned bytes) {
      if (is_uniform_location(plan_, l)) look_at(l, bytes, state, &write_, found.behind_steps[step]);
    });
  }
  void on_edge(std::uint32_t, State&) override {}

 private:
  static constexpr unsigned kAllBytes = 0xF;

  void look_at(std::uint32_t l, unsigned written, const State& state, const Write* write, std::vector<Damage>& damages) {
    const Value held = state.locations[l];
    if (held == kBottom) return;
    if (plan_.is_byte_location[l] != 0) return look_at_byte(l, 0, held, state, write, damages);
    const std::array<Value, 4> bytes = values_.bytes(held);
    for (std::uint8_t i = 0; i < 4; ++i)
      if ((written >> i & 1) != 0) look_at_byte(l, i, bytes[i], state, write, damages);
  }
  void add(const Damage& d, std::vector<Damage>& damages) {
    damages.push_back(d);
    ++found.count;
  }
  void look_at_byte(std::uint32_t l, std::uint8_t i, Value held, const State& state, const Write* write,
                    std::vector<Damage>& damages) {
    if (shared_.is_shared(held)) return;
    Damage d = {.byte = i, .location = l};
    if (write != nullptr && is_brought(held, state, d, damages)) return;
    // The last write holds for all threads: the names that it defines come before others that the old content satisfies.
    Names names = write == nullptr ? Names::None : find_names(held, state, names_by_, d);
    const bool is_its_own = names != Names::None;
    if (names == Names::None && write != nullptr && write->has_guard() && writes_shared(*write, held)) {
      if (write->only_where_done(held) == held) return;
      d.kind = Damage::Kind::OtherSide;
    } else {
      if (names == Names::None) names = find_names(held, state, nullptr, d);
      if (names == Names::Whole) return;
      // The step writes in threads in which the name is undefined, too. What a step of the program writes there to a name that it
      // defines is not asked.
      if (names == Names::Some && !is_its_own && write != nullptr && !copied_.is_same(l, i)) {
        if (write->has_guard()) d.kind = Damage::Kind::Bits;
        else keep_names(d, [&](const NameByte& n) { return is_rest_unknown(held, wanted_in(plan_, state, n), Values::kMaxDepth); });
      }
      if (d.kind == Damage::Kind::Bits && values_.has_packs(held)) d.bits = bits_to_destroy(held);
    }
    if (d.bits == 0) return;
    add(d, damages);
  }
  // A guarded copy brings to a byte of a uniform register what is the same in all threads. Then all threads find it there.
  struct Brought {
    std::uint32_t location = 0, byte = 0;
    Value value = kBottom;
  };
  void list_brought(const Step& s, const State& state) {
    brought_.clear();
    if (s.guard == kNoIndex || (s.kind != StepKind::Move && s.kind != StepKind::FromPack)) return;
    const auto ops = plan_.operands_of(s);
    for (const StepOperand& op : ops) {
      if (op.role != ir::Role::Def) continue;
      if (s.kind == StepKind::FromPack) {
        if (is_uniform_location(plan_, op.loc.cell) && copied_.gives_same(ops[0].loc.cell, op.number))
          brought_.push_back(
              {op.loc.cell, 0, values_.bit(values_.byte(state.locations[ops[0].loc.cell], op.number / 8U), op.number % 8U)});
        continue;
      }
      for (std::uint32_t k = 0; k < std::min(op.name.size, op.loc.size); ++k) {
        const std::uint32_t to = op.name.cell_of(k), from = op.loc.cell_of(k), byte = op.loc.byte_of(k);
        if (!is_uniform_location(plan_, to) || !copied_.gives_same_byte(from, byte)) continue;
        const Value held = state.locations[from];
        brought_.push_back({to, op.name.byte_of(k), plan_.is_byte_location[from] != 0 ? held : values_.byte(held, byte)});
      }
    }
  }
  // True if the byte is one of these, and either nothing is destroyed in it or what stays was added to `damages`.
  [[nodiscard]] bool is_brought(Value held, const State& state, Damage& d, std::vector<Damage>& damages) {
    const auto at = std::ranges::find_if(brought_, [&](const Brought& b) { return b.location == d.location && b.byte == d.byte; });
    if (at == brought_.end()) return false;
    const Names names = find_names(held, state, nullptr, d);
    if (names == Names::Whole) return true;
    if (names == Names::Some)
      keep_names(d, [&](const NameByte& n) { return values_.satisfies(at->value, wanted_in(plan_, state, n)); });
    if (d.kind != Damage::Kind::Undefined) return false;
    add(d, damages);
    return true;
  }
  // True if what the step writes under its guard is the same in all threads, or is so under this guard.
  [[nodiscard]] bool writes_shared(const Write& write, Value held) {
    return shared_.is_shared(write.where_done(held)) || shared_.is_shared(write.only_where_done(held));
  }
  [[nodiscard]] bool defines(const Step& step, std::uint32_t name) const {
    if (step.kind != StepKind::Operate && step.kind != StepKind::Gather && step.kind != StepKind::Rename) return false;
    return std::ranges::any_of(plan_.operands_of(step), [&](const StepOperand& op) {
      return op.role != ir::Role::Use && op.name.size != 0 && name >= op.name.cell && name < op.name.cell + op.name.cells();
    });
  }
  enum class Names : std::uint8_t { None, Some, Whole };
  // The shared names that may be undefined and are satisfied. Whole: one of them asks for all of `held`, so that nothing is destroyed.
  //   step   names that it defines alone; null = all
  Names find_names(Value held, const State& state, const Step* step, Damage& d) {
    const std::size_t first = found.names.size();
    for (const std::uint32_t n : state.names.touched()) {
      if (step != nullptr && !defines(*step, n)) continue;
      const Value name = state.names[n];
      if (name == kTop || !values_.may_be_undefined(name)) continue;
      const bool is_byte = plan_.bytes_of_name[n] == kOneByte;
      for (std::uint8_t j = 0; j < (is_byte ? 1 : 4); ++j) {
        if ((plan_.bytes_of_name[n] >> j & 1) == 0) continue;
        const Value want = wanted_in(plan_, state, {n, j});
        if (want == kTop || !shared_.is_shared(want) || !values_.satisfies(held, want)) continue;
        if (where_asked(values_, held, want, Values::kMaxDepth) == held) return Names::Whole;
        found.names.push_back({n, j});
      }
    }
    if (found.names.size() == first) return Names::None;
    d.kind = Damage::Kind::Undefined;
    d.first_name = static_cast<std::uint32_t>(first);
    d.num_names = static_cast<std::uint32_t>(found.names.size() - first);
    return Names::Some;
  }
  // Undefined in the program before, so that it may be taken for one in all threads.
  [[nodiscard]] bool is_unknown(Value v) {
    if (v == kBottom || v == kTop) return true;
    const Values::Node n = values_[v];  // a copy: the values grow meanwhile
    if (n.kind == ValueKind::Opaque) return !values_.is_unsatisfiable(v);
    if (n.kind == ValueKind::Byte || n.kind == ValueKind::Bit || n.kind == ValueKind::Seen) return is_unknown(n.a);
    if (n.kind == ValueKind::Gate) return is_unknown(n.b) && is_unknown(n.c);
    const auto kids = values_.children(n);
    const std::vector<Value> parts(kids.begin(), kids.end());
    return !parts.empty() && std::ranges::all_of(parts, [&](Value part) { return is_unknown(part); });
  }
  // True if threads in which `want` is undefined have nothing known to write, or all threads of the warp are such.
  [[nodiscard]] bool is_rest_unknown(Value held, Value want, int depth) {
    if (values_.asks_for_nothing(want)) return true;
    const Values::Node n = values_[want];  // a copy: the values grow meanwhile
    if (n.kind != ValueKind::Gate || depth == 0 || !shared_.is_shared(n.a))
      return is_unknown(where_asked(values_, held, want, Values::kMaxDepth, false));
    return is_rest_unknown(values_.where(held, n.a, true), n.b, depth - 1) &&
           is_rest_unknown(values_.where(held, n.a, false), n.c, depth - 1);
  }
  // Of the names that may be chosen, those for which `stays` holds.
  void keep_names(Damage& d, const auto& stays) {
    const auto first = found.names.begin() + d.first_name;
    found.names.erase(std::remove_if(first, found.names.end(), [&](const NameByte& n) { return !stays(n); }), found.names.end());
    d.num_names = static_cast<std::uint32_t>(found.names.size()) - d.first_name;
    if (d.num_names == 0) d.kind = Damage::Kind::Bits;
  }
  [[nodiscard]] std::uint8_t bits_to_destroy(Value held) {
    unsigned bits = 0;
    for (std::uint32_t k = 0; k < 8; ++k) bits |= shared_.is_shared(values_.bit(held, k)) ? 0U : 1U << k;
    return static_cast<std::uint8_t>(bits);
  }

  Plan& plan_;
  Values& values_;
  SharedValues& shared_;
  CopiedOut copied_;
  Write write_;
  std::vector<Brought> brought_;    // by the step at hand
  const Step* names_by_ = nullptr;  // what defines names with the write: the step itself, or the second half of a copy

 public:
  Damages found;
};

}  // namespace

bool Damages::choose_others(std::span<const std::uint32_t> wanted) {
  bool changed = false;
  const auto choose = [&](Damage& d) {
    if (d.kind != Damage::Kind::Undefined || d.chosen + 1 >= d.num_names) return;
    const std::span<NameByte> rest = std::span(names).subspan(d.first_name, d.num_names).subspan(++d.chosen);
    const auto better =
        std::ranges::find_if(rest, [&](const NameByte& n) { return std::ranges::find(wanted, n.name) != wanted.end(); });
    if (better != rest.end()) std::ranges::iter_swap(rest.begin(), better);
    changed = true;
  };
  for (auto* places : {&at_heads, &behind_steps})
    for (std::vector<Damage>& damages : *places) std::ranges::for_each(damages, choose);
  return changed;
}

Damages find_damages(Plan& plan, FixedPoint& analysis, SharedValues& shared) {
  Finder finder(plan, shared);
  for (const std::uint32_t b : plan.order) analysis.walk(b, nullptr, &finder);
  return std::move(finder.found);
}

void Destroyer::at_head(std::uint32_t block, State& state) { destroy(damages_.at_heads[block], state); }

void Destroyer::before_step(std::uint32_t step, State& state) { write_.before(step, state); }

void Destroyer::after_step(std::uint32_t step, State& state) { destroy(damages_.behind_steps[step], state); }

void Destroyer::destroy(const std::vector<Damage>& damages, State& state) {
  for (const Damage& d : damages) {
    const Value held = state.locations[d.location];
    if (held == kBottom) continue;
    if (plan_.is_byte_location[d.location] != 0) {
      state.locations.set(d.location, left_of(d, held, state));
      continue;
    }
    std::array<Value, 4> bytes = values_.bytes(held);
    bytes[d.byte] = left_of(d, bytes[d.byte], state);
    state.locations.set(d.location, values_.word(bytes));
  }
}

Value Destroyer::left_of(const Damage& d, Value held, const State& state) {
  switch (d.kind) {
    case Damage::Kind::Bits: {
      if (d.bits == 0xFF) return kBottom;
      std::array<Value, 8> bits{};
      for (std::uint32_t k = 0; k < 8; ++k) bits[k] = (d.bits >> k & 1) != 0 ? kBottom : values_.bit(held, k);
      return values_.packed(bits);
    }
    case Damage::Kind::Undefined: {
      const Value want = wanted_in(plan_, state, damages_.name_of(d));
      return values_.satisfies(held, want) ? where_asked(values_, held, want, Values::kMaxDepth) : kBottom;
    }
    case Damage::Kind::OtherSide: return write_.has_guard() ? write_.only_where_done(held) : kBottom;
  }
  return kBottom;
}

}  // namespace regduel::oracles::uniform
