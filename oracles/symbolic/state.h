// The abstract state of the symbolic judge inside a block, and its transfer functions: one for each kind of step, under the
// formulas of symbolic.h. Tested by state_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {

// Values by place, with one initial value. The touched places are listed, so that clearing costs only what was used.
class Store {
 public:
  void start(std::size_t size, Value initial) {
    initial_ = initial;
    values_.assign(size, initial);
    is_touched_.assign(size, 0);
    touched_ = std::make_unique_for_overwrite<std::uint32_t[]>(size);
    num_touched_ = 0;
  }
  void clear() {
    for (const std::uint32_t k : touched()) {
      values_[k] = initial_;
      is_touched_[k] = 0;
    }
    num_touched_ = 0;
  }
  [[nodiscard]] Value operator[](std::size_t k) const { return values_[k]; }
  void set(std::uint32_t k, Value v) {
    if (is_touched_[k] == 0) {
      is_touched_[k] = 1;
      touched_[num_touched_++] = k;
    }
    values_[k] = v;
  }
  // set(place(k), value(k)) for k in [0, count). Requires: is clear, and the places are different.
  template <class PlaceAt, class ValueAt>
  void load(std::size_t count, const PlaceAt& place, const ValueAt& value) {
    Value* const values = values_.data();
    std::uint8_t* const is_touched = is_touched_.data();
    std::uint32_t* touched = touched_.get();
    for (std::size_t k = 0; k < count; ++k) {
      const Value v = value(k);
      if (v == initial_) continue;
      const std::uint32_t at = place(k);
      values[at] = v;
      is_touched[at] = 1;
      *touched++ = at;
    }
    num_touched_ = static_cast<std::size_t>(touched - touched_.get());
  }
  // In the order of the first touch since clear.
  [[nodiscard]] std::span<const std::uint32_t> touched() const { return {touched_.get(), num_touched_}; }

 private:
  Value initial_ = kBottom;
  std::vector<Value> values_;
  std::vector<std::uint8_t> is_touched_;
  std::unique_ptr<std::uint32_t[]> touched_;  // the first num_touched_; there is room for all places
  std::size_t num_touched_ = 0;
};

// A read that finds another value in its location than the name asks for.
struct Violation {
  enum class Kind : std::uint8_t { Value, Negation, RematIllegal, RematOperand, CalleeSaved };
  Kind kind = Kind::Value;
  const Step* step = nullptr;
  int operand = -1;  // operand number
  Value have = kBottom, want = kTop;
  std::uint32_t name = kNoIndex, location = kNoIndex;  // the first word that differs
  bool is_unsure = false;                              // the location may be right, but the guards are too entangled
};

class ViolationListener {
 public:
  virtual ~ViolationListener() = default;
  virtual void violation(const Violation& l) = 0;  // the state is still as it was when the operand was read
};

class State {
 public:
  explicit State(Plan& plan);

  Store names;      // initially Top
  Store locations;  // initially Bottom

  void enter_function();  // architectural vregs and callee-saved registers
  // Executes one step. Each violation goes to `listener`; null = nowhere.
  void transfer(const Step& s, ViolationListener* listener);
  [[nodiscard]] bool has_violation() const { return has_violation_; }  // anywhere so far
  void clear();

  // Executes the phis of an edge, and takes them back.
  void enter_edge(const FlowEdge& e);
  void leave_edge();

 private:
  // The guard of a step. A step without a guard always happens.
  struct Guard {
    bool is_set = false;
    bool is_unknown = false;  // undefined in the program before: no operand is checked, and the written places are undefined
    bool name_sense = true, location_sense = true;  // the step happens if the token has this value
    Value name_token = kBottom, location_token = kBottom;
  };
  enum class Side : std::uint8_t { Names, Locations };

  // --- transfer functions
  void transfer_operate(const Step& s);
  void transfer_gather(const Step& s);
  void transfer_rename(const Step& s);
  void transfer_move(const Step& s);
  void transfer_to_pack(const Step& s);
  void transfer_from_pack(const Step& s);
  void transfer_snapshot(const Step& s);
  void transfer_remember(const Step& s);
  void transfer_remat(const Step& s);
  // --- their parts
  Guard transfer_guard(const Step& s) { return s.guard == kNoIndex ? Guard{} : read_guard(s); }
  Guard read_guard(const Step& s);
  [[nodiscard]] Value token_for(Value want, Value otherwise);
  void transfer_early_clobber(const Step& s, const Guard& g);
  void transfer_use(const Step& s, const StepOperand& op, const Guard& g, Violation::Kind kind);
  void destroy(const Place& p, const Guard& g);
  void transfer_whole_def(const StepOperand& op);
  void transfer_def_of_name(const StepOperand& op, const Guard& g);
  void transfer_def_of_location(const StepOperand& op, const Guard& g);
  void transfer_ret(const Step& s);
  void transfer_unknown(const Step& s);

  void put(Side side, std::uint32_t at, Value v, const Guard& g) {
    if (g.is_set || is_on_edge_) put_with_care(side, at, v, g);
    else store_of(side).set(at, v);
  }
  void put_with_care(Side side, std::uint32_t at, Value v, const Guard& g);
  [[nodiscard]] Value byte_at(const Store& store, const Place& p, std::uint32_t i);
  void see(const StepOperand& op);
  Value see_bit(std::uint32_t pack, const StepOperand& op);
  [[nodiscard]] Value chance_of(const StepOperand& op, std::uint32_t cell = 0) {
    return values_.opaque(static_cast<std::uint32_t>(&op - plan_.operands.data()), cell);
  }
  void fetch(Side side, const StepOperand& op);
  void store(Side side, const StepOperand& op, const Guard& g);
  // The bytes of the uses of a pack go to fetched_, and from there to each def in turn.
  void gather_words(Side side, std::span<const StepOperand> ops);
  void gather_bytes(Side side, std::span<const StepOperand> ops);
  void scatter_words(Side side, const StepOperand& op, const Guard& g);
  void scatter_bytes(Side side, const StepOperand& op, const Guard& g);
  void put_bytes(Side side, const Place& p, std::span<const Value> bytes, const Guard& g);
  void report(Violation l);
  [[nodiscard]] Store& store_of(Side side) { return side == Side::Names ? names : locations; }

  Plan& plan_;
  Values& values_;
  ViolationListener* listener_ = nullptr;
  bool has_violation_ = false;
  std::vector<Value> fetched_, bytes_;
  std::size_t next_ = 0;  // in fetched_
  struct Undo {
    Side side;
    std::uint32_t at;
    Value old;
  };
  bool is_on_edge_ = false;
  std::vector<Undo> undo_;
  // The guards of the last inserted instructions that had one, the latest first.
  struct InsertedGuard {
    Value held = kBottom, token = kBottom;
  };
  std::array<InsertedGuard, 3> guarded_last_ = {};
  // Of the last guarded move: the names of an original copy follow its locations, under the same token.
  struct {
    std::uint32_t original = kNoIndex;
    Value token = kBottom;
  } moved_;
};

}  // namespace regduel::oracles::symbolic
