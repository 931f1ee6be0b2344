// The transfer functions; see symbolic.h for the formulas. Each is tested by a test of its own in state_test.cpp.

#include "oracles/symbolic/state.h"

#include <algorithm>
#include <array>

namespace regduel::oracles::symbolic {

using ir::Role;

State::State(Plan& plan) : plan_(plan), values_(plan.values) {
  names.start(plan.num_names(), kTop);
  locations.start(plan.num_locations(), kBottom);
}

void State::enter_function() {
  for (const Initial& i : plan_.initial)
    for (std::uint32_t k = 0; k < i.name.cells(); ++k) {
      names.set(i.name.cell + k, i.first + k);
      if (k < i.loc.cells()) locations.set(i.loc.cell + k, i.first + k);
    }
  for (const SavedUnit& s : plan_.saved) locations.set(s.loc, s.value);
}

void State::clear() {
  names.clear();
  locations.clear();
  guarded_last_ = {};
}

void State::transfer(const Step& s, ViolationListener* listener) {
  listener_ = listener;
  switch (s.kind) {
    case StepKind::Operate: transfer_operate(s); break;
    case StepKind::Gather: transfer_gather(s); break;
    case StepKind::Rename: transfer_rename(s); break;
    case StepKind::Move: transfer_move(s); break;
    case StepKind::ToPack: transfer_to_pack(s); break;
    case StepKind::FromPack: transfer_from_pack(s); break;
    case StepKind::Snapshot: transfer_snapshot(s); break;
    case StepKind::Remember: transfer_remember(s); break;
    case StepKind::Remat: transfer_remat(s); break;
  }
}

void State::enter_edge(const FlowEdge& e) {
  is_on_edge_ = true;
  if (e.renames != kNoIndex) transfer_rename(plan_.steps[e.renames]);
  if (e.moves != kNoIndex) transfer_move(plan_.steps[e.moves]);
  is_on_edge_ = false;
}

void State::leave_edge() {
  for (std::size_t k = undo_.size(); k > 0; --k) store_of(undo_[k - 1].side).set(undo_[k - 1].at, undo_[k - 1].old);
  undo_.clear();
}

// ---------------------------------------------------------------------------------------------------------------
// Writing and reading

// Under a guard the place gets Gate(token, new, old): each value under its outcome.
void State::put_with_care(Side side, std::uint32_t at, Value v, const Guard& g) {
  Store& store = store_of(side);
  if (g.is_set) {
    const bool sense = side == Side::Names ? g.name_sense : g.location_sense;
    const Value token = side == Side::Names ? g.name_token : g.location_token;
    const Value old = store[at];
    v = sense ? values_.gate(token, v, old) : values_.gate(token, old, v);
  }
  if (is_on_edge_) undo_.push_back({side, at, store[at]});
  store.set(at, v);
}

Value State::byte_at(const Store& store, const Place& p, std::uint32_t i) {
  if (p.step == 1) return store[p.cell + i];
  return values_.byte(store[p.cell + (p.offset + i) / 4], (p.offset + i) % 4);
}

void State::put_bytes(Side side, const Place& p, std::span<const Value> bytes, const Guard& g) {
  if (p.step == 1) {
    for (std::uint32_t i = 0; i < p.size && i < bytes.size(); ++i) put(side, p.cell + i, bytes[i], g);
    return;
  }
  for (std::uint32_t k = 0; k < p.cells(); ++k) {
    // Bytes that a narrow name does not have must not make it look undefined.
    const unsigned counted = side == Side::Names ? plan_.bytes_of_name[p.cell + k] : 0xFu;
    bool is_any = side == Side::Names;
    std::array<Value, 4> word{};
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t at = 4 * k + i;
      if ((counted >> i & 1) == 0) continue;
      const bool is_new = at >= p.offset && at - p.offset < p.size && at - p.offset < bytes.size();
      word[i] = is_new ? bytes[at - p.offset] : values_.byte(store_of(side)[p.cell + k], i);
      is_any = is_any && word[i] == kTop;
    }
    put(side, p.cell + k, is_any ? kTop : values_.word(word), g);
  }
}

// An undefined predicate, or bit of a pack, is one value from the first read on, wherever it is moved, until its place is written.
void State::see(const StepOperand& op) {
  if (op.loc.size == 1 && (op.loc.step == 1 || op.name.step == 1)) {
    const Value held = byte_at(locations, op.loc, 0);
    if (!values_.is_vague(held)) return;
    bytes_.assign(1, values_.seen(held, chance_of(op)));
    put_bytes(Side::Locations, op.loc, bytes_, {});
  } else if (op.is_wordwise) {
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k)
      if (const Value v = locations[op.loc.cell + k]; values_.is_vague_pack(v))
        put(Side::Locations, op.loc.cell + k, values_.seen_pack(v, chance_of(op, k)), {});
  }
}

// The same for the bit of a pack from which a predicate is read.
Value State::see_bit(std::uint32_t pack, const StepOperand& op) {
  std::array<Value, 4> word = values_.bytes(locations[pack]);
  Value& byte = word[op.number / 8u];
  const std::uint32_t at = op.number % 8u;
  const Value held = values_.bit(byte, at);
  if (!values_.is_vague(held)) return held;
  std::array<Value, 8> bits{};
  for (std::uint32_t k = 0; k < 8; ++k) bits[k] = k == at ? values_.seen(held, chance_of(op)) : values_.bit(byte, k);
  byte = values_.packed(bits);
  put(Side::Locations, pack, values_.word(word), {});
  return bits[at];
}

// Appends the source of one pair of a copy to fetched_: words, or bytes.
void State::fetch(Side side, const StepOperand& op) {
  const Store& from = store_of(side);
  if (side == Side::Locations) see(op);
  if (op.is_wordwise) {
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) fetched_.push_back(from[op.loc.cell + k]);
    return;
  }
  for (std::uint32_t i = 0; i < op.name.size; ++i) fetched_.push_back(i < op.loc.size ? byte_at(from, op.loc, i) : kBottom);
}

void State::store(Side side, const StepOperand& op, const Guard& g) {
  if (op.is_wordwise) {
    for (std::uint32_t k = 0; k < op.name.cells(); ++k) put(side, op.name.cell + k, fetched_[next_++], g);
    return;
  }
  put_bytes(side, op.name, {fetched_.data() + next_, op.name.size}, g);
  next_ += op.name.size;
}

void State::report(Violation l) {
  has_violation_ = true;
  if (listener_ != nullptr) listener_->violation(l);
}

// ---------------------------------------------------------------------------------------------------------------
// Guards

State::Guard State::read_guard(const Step& s) {
  const StepOperand& op = plan_.operands[s.guard];
  Guard g = {.is_set = true,
             .name_sense = !op.is_negated_name,
             .location_sense = !op.is_negated_loc,
             .name_token = s.opaque_name(),
             .location_token = s.opaque};
  const Value want = op.name.size != 0 ? names[op.name.cell] : kTop;
  // The undefined content of a register is one value to all instructions that it guards, wherever it is moved, until it is written.
  const Value have = op.loc.size != 0 ? values_.seen(locations[op.loc.cell], s.opaque) : kBottom;
  if (op.loc.size != 0 && have != locations[op.loc.cell]) put(Side::Locations, op.loc.cell, have, {});
  g.is_unknown = op.name.size != 0 && want == kTop;
  // A copy is not observed: a wrong guard shows at the read of the value that it moved.
  const bool is_observed = s.kind != StepKind::Move;
  if (op.name.size != 0 && op.loc.size != 0 && !g.is_unknown && is_observed) transfer_use(s, op, {}, Violation::Kind::Value);
  // The value of a register is a token if all places with its number hold the same. A name that may be undefined takes the token of
  // the location that satisfies it: on paths where the name is undefined, nothing is asked for.
  if (op.loc.size != 0) g.location_token = have;
  if (op.name.size != 0 && !values_.may_be_undefined(want)) g.name_token = want;
  else if (op.name.size != 0 && op.loc.size != 0 && values_.satisfies(have, want)) g.name_token = g.location_token;
  else if (s.kind == StepKind::Rename && s.original == moved_.original) g.name_token = moved_.token;
  else if (s.kind == StepKind::Rename) g.name_token = token_for(want, s.opaque_name());
  if (op.name.size == 0) guarded_last_ = {InsertedGuard{have, g.location_token}, guarded_last_[0], guarded_last_[1]};
  if (s.kind == StepKind::Move) moved_ = {s.original, g.name_token};
  return g;
}

// The token of a deleted copy: inserted instructions do its work, under a register that holds its guard.
Value State::token_for(Value want, Value otherwise) {
  for (const InsertedGuard& g : guarded_last_)
    if (g.held != kBottom && values_.satisfies(g.held, want)) return g.token;
  return otherwise;
}

// The step may happen or not, so the places that it may have written hold Bottom, and the names ask for nothing any more.
void State::transfer_unknown(const Step& s) {
  for (const StepOperand& op : plan_.operands_of(s)) {
    if (op.role != Role::Def && op.role != Role::DefUse && op.role != Role::Clobber) continue;
    if (op.name.size != 0) {
      bytes_.assign(op.name.size, kTop);
      put_bytes(Side::Names, op.name, bytes_, {});
    }
    destroy(op.loc, {});
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Original instructions

void State::transfer_operate(const Step& s) {
  const Guard g = transfer_guard(s);
  if (g.is_unknown) return transfer_unknown(s);
  const auto ops = plan_.operands_of(s);
  if (s.has_clobbers) transfer_early_clobber(s, g);
  for (const StepOperand& op : ops)
    if (op.role == Role::Use || op.role == Role::DefUse) transfer_use(s, op, g, Violation::Kind::Value);
  if (s.has_clobbers)
    for (const StepOperand& op : ops)
      if (op.role == Role::Clobber) destroy(op.loc, g);
  for (const StepOperand& op : ops) {
    if (op.role != Role::Def && op.role != Role::DefUse) continue;
    if (!g.is_set && op.is_wordwise && !op.is_contested && is_of_cells(op.loc)) {
      transfer_whole_def(op);
      continue;
    }
    transfer_def_of_name(op, g);
    transfer_def_of_location(op, g);
  }
  if (s.is_ret) transfer_ret(s);
}

void State::transfer_early_clobber(const Step& s, const Guard& g) {
  for (const StepOperand& op : plan_.operands_of(s))
    if (op.is_early && op.role == Role::Def) destroy(op.loc, g);
}

void State::destroy(const Place& p, const Guard& g) {
  if (is_of_cells(p)) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) put(Side::Locations, p.cell + k, kBottom, g);
    return;
  }
  bytes_.assign(p.size, kBottom);
  put_bytes(Side::Locations, p, bytes_, g);
}

void State::transfer_use(const Step& s, const StepOperand& op, const Guard& g, Violation::Kind kind) {
  if (op.name.size == 0 || op.loc.size == 0) return;
  const auto holds = [&](Value have, Value want, unsigned bytes, std::uint32_t name, std::uint32_t location) {
    if (have == want || want == kTop) return true;
    if (g.is_set) {
      have = values_.where(have, g.location_token, g.location_sense);
      want = values_.where(want, g.name_token, g.name_sense);
    }
    if (values_.satisfies_bytes(have, want, bytes)) return true;
    report({kind, &s, op.number, have, want, name, location, values_.is_unsure()});
    return false;
  };
  if (op.name.step == 4 && op.loc.step == 4 && op.name.offset == 0 && op.loc.offset == 0) {
    for (std::uint32_t k = 0; k < op.name.cells(); ++k) {
      const std::uint32_t left = op.name.size - 4 * k;
      const unsigned bytes = left >= 4 ? 0xF : (1u << left) - 1;
      if (!holds(locations[op.loc.cell + k], names[op.name.cell + k], bytes, op.name.cell + k, op.loc.cell + k)) return;
    }
  } else {
    for (std::uint32_t i = 0; i < op.name.size; ++i)
      if (!holds(byte_at(locations, op.loc, i), byte_at(names, op.name, i), 0xF, op.name.cell_of(i), op.loc.cell_of(i))) return;
  }
  if (op.is_negated_name != op.is_negated_loc && names[op.name.cell] != kTop)
    report({Violation::Kind::Negation, &s, op.number, locations[op.loc.cell], names[op.name.cell], op.name.cell, op.loc.cell});
}

// The commonest case of the two functions below: whole words on both sides, and no guard.
void State::transfer_whole_def(const StepOperand& op) {
  const std::uint32_t words = (op.name.size + 3) / 4;
  for (std::uint32_t k = 0, n = op.name.cells(); k < n; ++k) names.set(op.name.cell + k, op.leaf + k);
  for (std::uint32_t k = 0, n = op.loc.cells(); k < n; ++k) locations.set(op.loc.cell + k, k < words ? op.leaf + k : kBottom);
}

// The name gets a new value, so that no location holds the name until one is written.
void State::transfer_def_of_name(const StepOperand& op, const Guard& g) {
  if (op.is_wordwise) {
    for (std::uint32_t k = 0; k < op.name.cells(); ++k) put(Side::Names, op.name.cell + k, op.leaf + k, g);
    return;
  }
  bytes_.clear();
  for (std::uint32_t i = 0; i < op.name.size; ++i) bytes_.push_back(values_.byte(op.leaf + i / 4, i % 4));
  put_bytes(Side::Names, op.name, bytes_, g);
}

void State::transfer_def_of_location(const StepOperand& op, const Guard& g) {
  if (op.is_contested) return destroy(op.loc, g);
  const std::uint32_t words = (op.name.size + 3) / 4;
  if (is_of_cells(op.loc)) {
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) put(Side::Locations, op.loc.cell + k, k < words ? op.leaf + k : kBottom, g);
  } else {
    bytes_.clear();
    for (std::uint32_t i = 0; i < op.loc.size; ++i)
      bytes_.push_back(i < op.name.size ? values_.byte(op.leaf + i / 4, i % 4) : kBottom);
    put_bytes(Side::Locations, op.loc, bytes_, g);
  }
  // Only so many links of a chain of guarded defs are looked into. The location is right, so the name may ask for its value from
  // here on.
  if (!g.is_set || !op.is_wordwise || op.loc.offset != 0) return;
  for (std::uint32_t k = 0; k < op.name.cells() && k < op.loc.cells(); ++k) {
    const Value want = names[op.name.cell + k], have = locations[op.loc.cell + k];
    if (values_.depth(want) > Values::kMaxDepth / 2 && values_.may_be_undefined(want) && values_.satisfies(have, want))
      names.set(op.name.cell + k, have);
  }
}

void State::transfer_gather(const Step& s) {
  const Guard g = transfer_guard(s);
  if (g.is_unknown) return transfer_unknown(s);
  const auto ops = plan_.operands_of(s);
  transfer_early_clobber(s, g);
  for (const StepOperand& op : ops)
    if (op.role == Role::Use) transfer_use(s, op, g, Violation::Kind::Value);
  const bool are_words = std::all_of(ops.begin(), ops.end(), [](const StepOperand& op) {
    const bool are_cells = op.name.step == 4 && op.loc.step == 4 && is_of_cells(op.name) && is_of_cells(op.loc);
    return (op.role != Role::Use && op.role != Role::Def) || (are_cells && op.name.size == op.loc.size);
  });
  for (const Side side : {Side::Names, Side::Locations}) {
    if (are_words) gather_words(side, ops);
    else gather_bytes(side, ops);
    if (side == Side::Locations)
      for (const StepOperand& op : ops)
        if (op.role == Role::Clobber) destroy(op.loc, g);
    next_ = 0;
    for (const StepOperand& op : ops) {
      if (op.role != Role::Def) continue;
      if (side == Side::Locations && op.is_contested) {
        destroy(op.loc, g);
        next_ += are_words ? op.name.cells() : op.name.size;
      } else if (are_words) {
        scatter_words(side, op, g);
      } else {
        scatter_bytes(side, op, g);
      }
    }
  }
}

void State::gather_words(Side side, std::span<const StepOperand> ops) {
  fetched_.clear();
  for (const StepOperand& op : ops) {
    const Place& p = side == Side::Names ? op.name : op.loc;
    for (std::uint32_t k = 0; op.role == Role::Use && k < p.cells(); ++k) fetched_.push_back(store_of(side)[p.cell + k]);
  }
}

void State::gather_bytes(Side side, std::span<const StepOperand> ops) {
  fetched_.clear();
  for (const StepOperand& op : ops) {
    const Place& p = side == Side::Names ? op.name : op.loc;
    for (std::uint32_t i = 0; op.role == Role::Use && i < op.name.size; ++i) fetched_.push_back(byte_at(store_of(side), p, i));
  }
}

void State::scatter_words(Side side, const StepOperand& op, const Guard& g) {
  const Place& p = side == Side::Names ? op.name : op.loc;
  for (std::uint32_t k = 0; k < p.cells(); ++k, ++next_)
    put(side, p.cell + k, next_ < fetched_.size() ? fetched_[next_] : kBottom, g);
}

void State::scatter_bytes(Side side, const StepOperand& op, const Guard& g) {
  const Place& p = side == Side::Names ? op.name : op.loc;
  bytes_.clear();
  for (std::uint32_t i = 0; i < p.size; ++i)
    bytes_.push_back(i < op.name.size && next_ + i < fetched_.size() ? fetched_[next_ + i] : kBottom);
  next_ += op.name.size;
  put_bytes(side, p, bytes_, g);
}

void State::transfer_rename(const Step& s) {
  const Guard g = transfer_guard(s);
  fetched_.clear();
  next_ = 0;
  const auto ops = plan_.operands_of(s);
  for (const StepOperand& op : ops)
    if (op.role == Role::Def) fetch(Side::Names, op);
  if (g.is_unknown) {
    // Undefined, unless the write changes nothing.
    std::size_t next = 0;
    for (const StepOperand& op : ops) {
      if (op.role != Role::Def) continue;
      for (std::uint32_t k = 0; k < (op.is_wordwise ? op.name.cells() : op.name.size); ++k, ++next) {
        const Value old = op.is_wordwise ? names[op.name.cell + k] : byte_at(names, op.name, k);
        if (fetched_[next] != old) fetched_[next] = kTop;
      }
    }
  }
  for (const StepOperand& op : ops)
    if (op.role == Role::Def) store(Side::Names, op, g.is_unknown ? Guard{} : g);
}

// ---------------------------------------------------------------------------------------------------------------
// What moves values after allocation

void State::transfer_move(const Step& s) {
  const Guard g = transfer_guard(s);
  fetched_.clear();
  next_ = 0;
  const auto ops = plan_.operands_of(s);
  const auto clobber = [&](bool early) {
    for (const StepOperand& op : ops)
      if (op.role == Role::Clobber && op.is_early == early) destroy(op.name, g);
  };
  if (s.has_clobbers) clobber(true);
  for (const StepOperand& op : ops)
    if (op.role == Role::Def) fetch(Side::Locations, op);
  if (s.has_clobbers) clobber(false);
  for (const StepOperand& op : ops)
    if (op.role == Role::Def) store(Side::Locations, op, g);
}

void State::transfer_to_pack(const Step& s) {
  const Guard g = transfer_guard(s);
  const auto ops = plan_.operands_of(s);
  const Value old = locations[ops[0].loc.cell];
  std::array<Value, 4> word{};
  for (std::uint32_t i = 0; i < 4; ++i) word[i] = values_.byte(old, i);
  for (const StepOperand& op : ops.subspan(1)) {
    if (op.role != Role::Use) continue;
    see(op);
    std::array<Value, 8> bits{};
    Value& byte = word[op.number / 8u];
    for (std::uint32_t k = 0; k < 8; ++k) bits[k] = values_.bit(byte, k);
    bits[op.number % 8u] = op.is_negated_loc ? kBottom : locations[op.loc.cell];
    byte = values_.packed(bits);
  }
  put(Side::Locations, ops[0].loc.cell, values_.word(word), g);
}

void State::transfer_from_pack(const Step& s) {
  const Guard g = transfer_guard(s);
  const auto ops = plan_.operands_of(s);
  for (const StepOperand& op : ops.subspan(1))
    if (op.role == Role::Def) put(Side::Locations, op.loc.cell, see_bit(ops[0].loc.cell, op), g);
}

void State::transfer_snapshot(const Step& s) {
  for (const StepOperand& op : plan_.operands_of(s))
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) put(Side::Names, op.name.cell + k, names[op.loc.cell + k], {});
}

void State::transfer_remember(const Step& s) {
  for (const StepOperand& op : plan_.operands_of(s))
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) put(Side::Locations, op.loc.cell + k, op.leaf + k, {});
}

void State::transfer_remat(const Step& s) {
  if (s.is_illegal) report({Violation::Kind::RematIllegal, &s, -1, kBottom, kTop, kNoIndex, kNoIndex});
  const auto ops = plan_.operands_of(s);
  for (const StepOperand& op : ops)
    if (op.role == Role::Use) transfer_use(s, op, {}, Violation::Kind::RematOperand);
  for (const StepOperand& op : ops) {
    if (op.role != Role::Def) continue;
    const std::uint32_t words = op.name.size / 4;
    fetched_.clear();
    for (std::uint32_t k = 0; k < words; ++k) fetched_.push_back(op.leaf != kBottom ? op.leaf + k : locations[op.name.cell + k]);
    for (std::uint32_t k = 0; k < op.loc.cells(); ++k) put(Side::Locations, op.loc.cell + k, k < words ? fetched_[k] : kBottom, {});
  }
}

void State::transfer_ret(const Step& s) {
  for (const SavedUnit& unit : plan_.saved) {
    const Value have = locations[unit.loc];
    if (have != unit.value)
      report({Violation::Kind::CalleeSaved, &s, -1, have, unit.value, kNoIndex, unit.loc, values_.is_cut(have)});
  }
}

}  // namespace regduel::oracles::symbolic
