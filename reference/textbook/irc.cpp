#include "reference/textbook/irc.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace regduel::reference {
namespace {

class Iterated {
 public:
  Iterated(FileGraph& graph, const Registers& registers)
      : g_(graph), r_(registers), free_positions_(graph.free_positions(registers.available)), state_(graph.size(), State::Low),
        squeeze_(graph.size(), 0), seen_(graph.size(), 0), moves_of_(graph.size()), moves_(graph.copies().size(), Move::Ready) {}

  Colouring run() {
    for (NodeId n = 0; n < g_.size(); ++n) {
      if (g_.is_fixed(n)) state_[n] = State::Fixed;
      else squeeze_[n] = g_.squeeze(n);
    }
    for (std::uint32_t m = 0; m < moves_.size(); ++m) {
      if (!r_.coalesce) moves_[m] = Move::Gone;
      else ready_.push_back(m);
      for (const NodeId n : {g_.copies()[m].a, g_.copies()[m].b}) moves_of_[n].push_back(m);
    }
    std::ranges::reverse(ready_);  // frequent ones first
    for (NodeId n = 0; n < g_.size(); ++n) {
      if (state_[n] == State::Fixed) continue;
      if (!is_low(n)) {
        state_[n] = State::High;
        push_candidate(n);
      } else {
        file_low(n);
      }
    }
    while (step()) {
    }
    g_.flatten();
    return select(g_, order_, {.available = r_.available, .last_resort = r_.last_resort, .biased = false, .fuel = r_.fuel});
  }

 private:
  enum class State : std::uint8_t { Low, High, TakenOff, Coalesced, Fixed };
  enum class Move : std::uint8_t { Ready, Waiting, Gone };  // Waiting: for a lower degree
  struct Candidate {
    std::uint64_t cost, squeeze;
    NodeId node;
    friend bool operator>(const Candidate& a, const Candidate& b) {
      const std::uint64_t left = a.cost * b.squeeze, right = b.cost * a.squeeze;  // below 2^43 x 2^20
      return left != right ? left > right : a.node > b.node;
    }
  };

  bool step() {
    if (const NodeId n = pop(simplify_, false); n != kNoNode) return take_off(n);
    if (!ready_.empty()) {
      const std::uint32_t m = ready_.back();
      ready_.pop_back();
      if (moves_[m] == Move::Ready) coalesce(m);
      return true;
    }
    if (const NodeId n = pop(freeze_, true); n != kNoNode) return freeze(n);
    while (!candidates_.empty()) {
      const Candidate c = candidates_.top();
      candidates_.pop();
      if (state_[c.node] != State::High) continue;
      if (c.squeeze == candidate(c.node).squeeze && c.cost == g_.cost(c.node)) return freeze(c.node) && take_off(c.node);
      push_candidate(c.node);
    }
    return false;
  }

  // --- degrees ----------------------------------------------------------------------------------------------------
  int positions(NodeId n) const { return g_.count_positions(n, r_.available, free_positions_); }
  [[nodiscard]] bool is_low(NodeId n) const { return squeeze_[n] < positions(n); }
  [[nodiscard]] bool is_there(NodeId n) const { return state_[n] == State::Low || state_[n] == State::High; }
  template <class F>
  void for_neighbours(NodeId n, F&& f) const {
    g_.for_neighbours(n, [&](NodeId m) {
      if (is_there(m)) f(m);
    });
  }
  [[nodiscard]] Candidate candidate(NodeId n) const {
    return {g_.cost(n), static_cast<std::uint64_t>(std::clamp(squeeze_[n], 1, 1 << 20)), n};
  }
  void push_candidate(NodeId n) { candidates_.push(candidate(n)); }
  // A neighbour less. A node that becomes low may be coalesced, and so may its neighbours.
  void relieve(NodeId n, int by) {
    squeeze_[n] -= by;
    if (state_[n] != State::High || !is_low(n)) return;
    state_[n] = State::Low;
    wake(n);
    for_neighbours(n, [&](NodeId m) { wake(m); });
    file_low(n);
  }

  // --- work lists. An entry that no longer holds is passed over.
  [[nodiscard]] bool has_moves(NodeId n) {
    std::vector<std::uint32_t>& moves = moves_of_[n];
    while (!moves.empty() && moves_[moves.back()] == Move::Gone) moves.pop_back();
    return !moves.empty();
  }
  void file_low(NodeId n) { (has_moves(n) ? freeze_ : simplify_).push_back(n); }
  NodeId pop(std::vector<NodeId>& list, bool with_moves) {
    while (!list.empty()) {
      const NodeId n = list.back();
      list.pop_back();
      if (state_[n] == State::Low && has_moves(n) == with_moves) return n;
    }
    return kNoNode;
  }
  void wake(NodeId n) {
    for (const std::uint32_t m : moves_of_[n])
      if (moves_[m] == Move::Waiting) {
        moves_[m] = Move::Ready;
        ready_.push_back(m);
      }
  }

  // --- steps ------------------------------------------------------------------------------------------------------
  bool take_off(NodeId n) {
    state_[n] = State::TakenOff;
    order_.push_back(n);
    for_neighbours(n, [&](NodeId m) { relieve(m, g_.worst(m, n)); });
    return true;
  }
  bool freeze(NodeId n) {
    for (const std::uint32_t m : moves_of_[n]) give_up(m);
    if (state_[n] == State::Low) simplify_.push_back(n);
    return true;
  }
  void give_up(std::uint32_t m) {
    if (moves_[m] == Move::Gone) return;
    moves_[m] = Move::Gone;
    for (const NodeId end : {g_.find(g_.copies()[m].a), g_.find(g_.copies()[m].b)})
      if (state_[end] == State::Low && !has_moves(end)) simplify_.push_back(end);
  }
  void coalesce(std::uint32_t m) {
    NodeId a = g_.find(g_.copies()[m].a), b = g_.find(g_.copies()[m].b);
    if (a == b || g_.units(a) != g_.units(b) || g_.interferes(a, b)) return give_up(m);
    if (!(g_.is_fixed(a) ? george(b, a) : g_.is_fixed(b) ? george(a, b) : briggs(a, b))) {
      moves_[m] = Move::Waiting;
      return;
    }
    give_up(m);
    if (!ir::may(r_.fuel, "coalesce-copy")) return;
    if (g_.is_fixed(a) || (!g_.is_fixed(b) && g_.align_log2(a) < g_.align_log2(b))) std::swap(a, b);
    merge(a, b);
  }
  // Every neighbour of the node is low, or kept out of the register anyway.
  bool george(NodeId n, NodeId fixed) const {
    const ir::PReg reg = g_.fixed(fixed);
    if (reg.first % (1 << g_.align_log2(n)) != 0) return false;
    return !g_.any_neighbour(n, [&](NodeId m) { return is_there(m) && !is_low(m) && (units_of(reg) - g_.forbidden(m)).any(); });
  }
  // The neighbours of high degree leave a position to the node that the two become.
  bool briggs(NodeId a, NodeId b) {
    const NodeId strict = g_.align_log2(a) >= g_.align_log2(b) ? a : b;
    const UnitSet both = r_.available - (g_.forbidden(a) | g_.forbidden(b));
    const int most = both.positions(g_.units(strict), g_.align_log2(strict)).count();
    stamp_ += 2;
    for_neighbours(b, [&](NodeId m) { seen_[m] = stamp_; });
    int squeeze = 0;
    const auto is_too_much = [&](NodeId m, int now) {
      if (now >= positions(m)) squeeze += g_.worst(strict, m);
      return squeeze >= most;
    };
    if (most == 0 || g_.any_neighbour(a, [&](NodeId m) {
          if (!is_there(m)) return false;
          if (seen_[m] != stamp_) return is_too_much(m, squeeze_[m]);
          seen_[m] = stamp_ + 1;
          return is_too_much(m, squeeze_[m] - g_.worst(m, b));
        }))
      return false;
    return !g_.any_neighbour(b, [&](NodeId m) { return is_there(m) && seen_[m] == stamp_ && is_too_much(m, squeeze_[m]); });
  }
  void merge(NodeId kept, NodeId gone) {
    std::vector<NodeId> around;
    for (const NodeId n : {kept, gone})
      if (!g_.is_fixed(n))
        for_neighbours(n, [&](NodeId m) {
          squeeze_[m] -= g_.worst(m, n);
          around.push_back(m);
        });
    g_.merge(kept, gone);
    state_[gone] = State::Coalesced;
    for (const NodeId n : {kept, gone}) std::erase_if(moves_of_[n], [&](std::uint32_t m) { return moves_[m] == Move::Gone; });
    moves_of_[kept].insert(moves_of_[kept].end(), moves_of_[gone].begin(), moves_of_[gone].end());
    wake(kept);
    if (g_.is_fixed(kept)) {
      // The register is forbidden to the neighbours instead.
      state_[kept] = State::Fixed;
    } else {
      squeeze_[kept] = 0;
      for_neighbours(kept, [&](NodeId m) {
        squeeze_[kept] += g_.worst(kept, m);
        squeeze_[m] += g_.worst(m, kept);
      });
      state_[kept] = State::High;
      relieve(kept, 0);
      if (state_[kept] == State::High) push_candidate(kept);
    }
    for (const NodeId m : around) {
      if (!is_there(m)) continue;
      relieve(m, 0);
      // The register that is forbidden now can be worth more than the neighbour that is gone.
      if (state_[m] != State::Low || is_low(m)) continue;
      state_[m] = State::High;
      push_candidate(m);
    }
  }

  FileGraph& g_;
  const Registers& r_;
  std::vector<int> free_positions_;
  std::vector<State> state_;
  std::vector<int> squeeze_;  // by the neighbours that are there
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<std::vector<std::uint32_t>> moves_of_;
  std::vector<Move> moves_;
  std::vector<std::uint32_t> ready_;
  std::vector<NodeId> simplify_, freeze_, order_;
  // A squeeze that fell makes an entry come up too early, never too late.
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace

Colouring colour_by_iterated_coalescing(FileGraph& graph, const Registers& registers) { return Iterated(graph, registers).run(); }

}  // namespace regduel::reference
