// The second step of scheduling: the order of the instructions of one block. See schedule.h. Tested by schedule_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.h"

namespace regduel::passes {

// What a block needs of R and P: less is first the most units, then the sum of squares over its points.
struct Pressure {
  int most = 0;
  std::int64_t squares = 0;
  int most_predicates = 0;
};

class BlockOrder {
 public:
  //   units   by root, as units_of_roots()
  BlockOrder(const ir::Function& f, std::span<const int> units);

  // The best order of `source`, instructions of one block as positions in Function::insts, phis first and the terminator last.
  //   live_out   the roots that live at its end
  //   latency    as the knob
  // Cost: O(n x instructions that are ready), by windows of kWindow.
  [[nodiscard]] std::vector<std::uint32_t> best(std::span<const std::uint32_t> source, std::span<const ir::VRegId> live_out,
                                                int latency);

 private:
  static constexpr std::size_t kWindow = 1000;

  // How the next instruction, from the end on, is chosen.
  struct Rule {
    int threshold = 0;     // below so many live units the last in the source goes first
    bool by_need = false;  // among equals the one that was needed last
  };
  struct Node {
    std::uint32_t inst = 0;
    std::vector<std::uint32_t> before;  // nodes that stay in front
    std::uint32_t behind = 0;           // how many have to be placed first, from the end on
    std::uint32_t needed = 0;           // when a reader of it was placed last
  };

  [[nodiscard]] std::vector<std::uint32_t> list(std::span<const std::uint32_t> source, std::span<const ir::VRegId> live_out,
                                                Rule rule);
  void make_nodes(std::span<const std::uint32_t> window);
  void place_window(std::span<const std::uint32_t> window, Rule rule, std::vector<std::uint32_t>& from_the_end);
  [[nodiscard]] Pressure measure(std::span<const std::uint32_t> order, std::span<const ir::VRegId> live_out);
  void set_live(std::span<const ir::VRegId> live_out);
  // The units that live before the instruction, less those behind it.
  [[nodiscard]] int change(std::uint32_t inst) const;
  void pass(std::uint32_t inst);
  void spread_reads(std::vector<std::uint32_t>& order, std::span<const ir::VRegId> live_out, int latency, int most);
  [[nodiscard]] bool depends(std::uint32_t later, std::uint32_t earlier) const;

  const ir::Function& f_;
  std::span<const int> units_;
  std::vector<Node> nodes_;
  std::vector<char> is_live_;  // by root
  int live_ = 0, live_predicates_ = 0;
  // By root, for the window at hand: the node that wrote it last, and those that have read it since.
  std::vector<std::uint32_t> writer_;
  std::vector<std::vector<std::uint32_t>> readers_;
};

}  // namespace regduel::passes
