// See shape.h. Dominators after Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"), with a cap on
// the passes, since an adversarial graph could take many.
#include "generate/shape.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "generate/draw.h"

namespace regduel::generate {
namespace {

using ir::Op;

constexpr int kMaxDepth = 5;
constexpr int kMaxDominatorPasses = 8;

class Grower {
 public:
  Grower(Random& random, const ShapeOptions& options) : random_(random), options_(options) {}

  Shape run() {
    const int entry = add(0);
    const int last = grow(entry, options_.blocks - 1, 0, -1);
    close(last, Op::Exit, {});
    bend();
    if (random_.chance(options_.shuffle)) renumber();
    return std::move(shape_);
  }

 private:
  int add(int depth) {
    shape_.blocks.push_back({Op::Exit, {}, depth});
    return static_cast<int>(shape_.blocks.size()) - 1;
  }
  void close(int block, Op op, std::vector<int> targets) {
    shape_.blocks[static_cast<std::size_t>(block)].terminator = op;
    shape_.blocks[static_cast<std::size_t>(block)].targets = std::move(targets);
  }
  void branch(int from, int a, int b) {
    if (random_.chance(50)) std::swap(a, b);
    close(from, Op::CBra, {a, b});
  }

  // Adds about `budget` blocks after `current`, inside `depth` loops; `leave` is where a break goes, -1 = nowhere.
  // Returns the block that is still open.
  int grow(int current, int budget, int depth, int leave) {
    while (budget > 0) {
      const int loops = depth < kMaxDepth ? options_.loop_weight : 0;
      const int pick = below(random_, 6 + loops + options_.switch_weight);
      const int inner = depth < 2 * kMaxDepth ? below(random_, budget / 2 + 1) : 0;
      if (pick < 2 || budget < 2) {
        const int next = add(depth);
        if (pick == 0 && leave >= 0) branch(current, next, leave);
        else close(current, Op::Bra, {next});
        current = next;
        budget -= 1;
      } else if (pick < 3 || (pick == 5 && !random_.chance(25))) {  // if; early exits are rare, or little would be reached often
        const int then = add(depth), join = add(depth);
        branch(current, then, join);
        close(grow(then, inner, depth, leave), Op::Bra, {join});
        current = join;
        budget -= 2 + inner;
      } else if (pick < 5) {  // if-else
        const int a = add(depth), b = add(depth), join = add(depth);
        branch(current, a, b);
        close(grow(a, inner / 2, depth, leave), Op::Bra, {join});
        close(grow(b, inner - inner / 2, depth, leave), Op::Bra, {join});
        current = join;
        budget -= 3 + inner;
      } else if (pick < 6) {  // early exit
        const int out = add(depth), next = add(depth);
        branch(current, out, next);
        current = next;
        budget -= 2;
      } else if (pick < 6 + loops) {
        current = grow_loop(current, inner, depth);
        budget -= 3 + inner;
      } else {
        current = grow_switch(current, inner, depth, leave, budget);
      }
    }
    return current;
  }

  int grow_loop(int current, int inner, int depth) {
    if (random_.chance(50)) {  // the test at the end; without an inner block a self loop
      const int body = add(depth + 1), after = add(depth);
      close(current, Op::Bra, {body});
      branch(grow(body, inner, depth + 1, after), body, after);
      return after;
    }
    const int head = add(depth + 1), body = add(depth + 1), after = add(depth);
    close(current, Op::Bra, {head});
    branch(head, body, after);
    const int last = grow(body, inner, depth + 1, after);
    if (random_.chance(30)) branch(last, head, after);
    else close(last, Op::Bra, {head});
    return after;
  }

  int grow_switch(int current, int inner, int depth, int leave, int& budget) {
    const int arms = random_.between(1, 5);
    const int join = add(depth);
    std::vector<int> targets;
    for (int i = 0; i < arms; ++i) {
      const int arm = add(depth);
      targets.push_back(arm);
      close(grow(arm, inner / arms, depth, leave), Op::Bra, {join});
    }
    if (random_.chance(40)) targets.push_back(join);
    if (random_.chance(30)) targets.push_back(int{any_of(random_, targets)});
    close(current, Op::MBra, std::move(targets));
    budget -= 1 + arms + inner;
    return join;
  }

  int any_block(int first) { return random_.between(first, static_cast<int>(shape_.blocks.size()) - 1); }

  // Adds the edge from -> to to any kind of terminator.
  void add_edge(int from, int to) {
    ShapeBlock& b = shape_.blocks[static_cast<std::size_t>(from)];
    b.targets.push_back(to);
    if (random_.chance(50)) std::swap(b.targets.front(), b.targets.back());
    b.terminator = b.targets.size() == 1 ? Op::Bra : b.targets.size() == 2 ? Op::CBra : Op::MBra;
  }

  void bend() {
    const int grown = static_cast<int>(shape_.blocks.size());
    if (options_.extra_edges > 0 && grown > 1) {
      const int edges = (grown * options_.extra_edges + 99) / 100;
      for (int i = 0; i < edges; ++i) {
        const int from = any_block(0);
        if (shape_.blocks[static_cast<std::size_t>(from)].terminator == Op::Exit) continue;  // exits stay reachable
        add_edge(from, any_block(1));
      }
    }
    if (random_.chance(options_.double_edges)) {
      const int from = any_block(0);
      const auto& targets = shape_.blocks[static_cast<std::size_t>(from)].targets;
      if (!targets.empty()) add_edge(from, any_of(random_, targets));
    }
    if (random_.chance(options_.entry_preds)) {
      const int from = any_block(0);
      if (shape_.blocks[static_cast<std::size_t>(from)].terminator != Op::Exit) add_edge(from, 0);
    }
    if (random_.chance(options_.endless)) {
      const int from = any_block(0);
      if (shape_.blocks[static_cast<std::size_t>(from)].terminator != Op::Exit) {
        const int trap = add(1);
        if (random_.chance(50)) {
          close(trap, Op::Bra, {trap});
        } else {
          const int second = add(1);
          close(trap, Op::Bra, {second});
          close(second, Op::Bra, {trap});
        }
        add_edge(from, trap);
      }
    }
    if (random_.chance(options_.unreachable)) {
      const int dead = random_.between(1, 3);
      const int first = static_cast<int>(shape_.blocks.size());
      for (int i = 0; i < dead; ++i) add(0);
      for (int i = 0; i < dead; ++i) {
        if (random_.chance(30)) continue;  // ends in an exit
        const int target = any_block(1);
        close(first + i, Op::Bra, {target});
        if (random_.chance(40)) add_edge(first + i, first + below(random_, dead));
      }
    }
  }

  void renumber() {
    const std::size_t n = shape_.blocks.size();
    std::vector<int> to(n);
    std::iota(to.begin(), to.end(), 0);
    shuffle(random_, std::span(to).subspan(1));
    std::vector<ShapeBlock> moved(n);
    for (std::size_t i = 0; i < n; ++i) {
      ShapeBlock& b = shape_.blocks[i];
      for (int& target : b.targets) target = to[static_cast<std::size_t>(target)];
      moved[static_cast<std::size_t>(to[i])] = std::move(b);
    }
    shape_.blocks = std::move(moved);
  }

  Random& random_;
  const ShapeOptions& options_;
  Shape shape_;
};

}  // namespace

std::vector<std::vector<int>> Shape::predecessors() const {
  std::vector<std::vector<int>> result(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const int target : blocks[b].targets) {
      auto& list = result[static_cast<std::size_t>(target)];
      if (list.empty() || list.back() != static_cast<int>(b)) list.push_back(static_cast<int>(b));
    }
  return result;
}

std::vector<int> Shape::dominators() const {
  const std::size_t n = blocks.size();
  std::vector<int> postorder, number(n, -1);
  {
    std::vector<std::pair<int, std::size_t>> stack = {{0, 0}};
    std::vector<char> seen(n, 0);
    seen[0] = 1;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& targets = blocks[static_cast<std::size_t>(block)].targets;
      if (next < targets.size()) {
        const int target = targets[next++];
        if (!seen[static_cast<std::size_t>(target)]) {
          seen[static_cast<std::size_t>(target)] = 1;
          stack.emplace_back(target, 0);
        }
      } else {
        number[static_cast<std::size_t>(block)] = static_cast<int>(postorder.size());
        postorder.push_back(block);
        stack.pop_back();
      }
    }
  }
  const auto preds = predecessors();
  std::vector<int> idom(n, -1);
  idom[0] = 0;
  bool changed = true;
  for (int pass = 0; changed && pass < kMaxDominatorPasses; ++pass) {
    changed = false;
    for (std::size_t i = postorder.size() - 1; i-- > 0;) {
      const int b = postorder[i];
      int meet = -1;
      for (const int p : preds[static_cast<std::size_t>(b)]) {
        if (idom[static_cast<std::size_t>(p)] < 0) continue;  // unreachable, or not yet visited
        if (meet < 0) {
          meet = p;
          continue;
        }
        int a = p;
        while (a != meet) {
          while (number[static_cast<std::size_t>(a)] < number[static_cast<std::size_t>(meet)])
            a = idom[static_cast<std::size_t>(a)];
          while (number[static_cast<std::size_t>(meet)] < number[static_cast<std::size_t>(a)])
            meet = idom[static_cast<std::size_t>(meet)];
        }
      }
      if (idom[static_cast<std::size_t>(b)] != meet) {
        idom[static_cast<std::size_t>(b)] = meet;
        changed = true;
      }
    }
  }
  for (std::size_t b = 0; b < n; ++b)
    if (changed || idom[b] < 0) idom[b] = 0;
  idom[0] = -1;
  return idom;
}

Shape make_shape(Random& random, const ShapeOptions& options) { return Grower(random, options).run(); }

}  // namespace regduel::generate
