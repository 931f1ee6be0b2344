#include "llvm/mapping/cut.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "llvm/mapping/cells.h"

namespace regduel::llvm {
namespace {

constexpr int kBehindBranch = 1 << 24, kBehindCall = 1 << 25;  // above all numbers of blocks

bool leaves(const Inst& i) {
  return (i.has('t') || i.op == "INLINEASM_BR") &&
         std::ranges::any_of(i.ops, [](const Operand& o) { return o.kind == OperandKind::Block; });
}

std::vector<int> targets(const Inst& i) {
  std::vector<int> list;
  for (const Operand& o : i.ops)
    if (o.kind == OperandKind::Block && std::ranges::find(list, o.value) == list.end()) list.push_back(static_cast<int>(o.value));
  return list;
}

// b becomes what is behind instruction k; what is before is returned.
Block cut(Block& b, std::size_t k, int number) {
  Block head{b.number, b.is_landing_pad, {}, std::move(b.live_in), {}};
  const auto middle = b.insts.begin() + static_cast<std::ptrdiff_t>(k) + 1;
  head.insts.assign(std::make_move_iterator(b.insts.begin()), std::make_move_iterator(middle));
  b.insts.erase(b.insts.begin(), middle);
  b.number = number, b.is_landing_pad = false, b.live_in.clear();
  return head;
}

}  // namespace

Dump cut_blocks(Dump dump) {
  std::set<int> pads;
  for (const Block& b : dump.blocks)
    if (b.is_landing_pad) pads.insert(b.number);
  std::vector<Block> blocks;
  for (Block& b : dump.blocks) {
    std::vector<int> exceptional;
    std::ranges::copy_if(b.successors, std::back_inserter(exceptional), [&](int s) { return pads.contains(s); });
    if (!exceptional.empty()) {
      std::size_t label = b.insts.size(), call = b.insts.size();
      for (std::size_t k = 0; k < b.insts.size(); ++k)
        if (b.insts[k].op == "EH_LABEL") label = k;
      for (std::size_t k = 0; k < label && label < b.insts.size(); ++k)
        if (b.insts[k].has('c')) call = k;
      if (call == b.insts.size()) throw Refusal{"exceptional-edge", "an edge to a landing pad without a call between labels"};
      if (b.insts[call].num == 0) throw Refusal{"number", "a call without a number"};
      const int number = kBehindCall + b.insts[call].num;
      Block head = cut(b, call, number);
      head.successors = exceptional;
      head.successors.push_back(number);
      std::erase_if(b.successors, [&](int s) { return pads.contains(s); });
      blocks.push_back(std::move(head));
    }
    std::vector<int> fall_through = b.successors;  // what no branch names
    for (const Inst& i : b.insts)
      if (leaves(i))
        for (const int t : targets(i)) std::erase(fall_through, t);
    for (;;) {
      const auto first = std::ranges::find_if(b.insts, leaves);
      if (first == b.insts.end()) break;
      const bool goes_on = !fall_through.empty() || first->op == "INLINEASM_BR" ||
                           std::any_of(first + 1, b.insts.end(), [](const Inst& i) { return leaves(i) || i.has('e'); });
      if (!goes_on) break;
      if (first->num == 0) throw Refusal{"number", "a branch without a number"};
      const int number = kBehindBranch + first->num;
      std::vector<int> successors = targets(*first);
      successors.push_back(number);
      Block head = cut(b, static_cast<std::size_t>(first - b.insts.begin()), number);
      head.successors = std::move(successors);
      blocks.push_back(std::move(head));
      std::vector<int> rest;
      for (const Inst& i : b.insts)
        if (leaves(i))
          for (const int t : targets(i))
            if (std::ranges::find(rest, t) == rest.end()) rest.push_back(t);
      for (const int s : fall_through)
        if (std::ranges::find(rest, s) == rest.end()) rest.push_back(s);
      b.successors = rest;
    }
    blocks.push_back(std::move(b));
  }
  dump.blocks = std::move(blocks);
  return dump;
}

int machine_block(const Dump& cut, int b) {
  while (b > 0 && cut.blocks[b].number >= kBehindBranch) --b;
  return cut.blocks[b].number;
}

}  // namespace regduel::llvm
