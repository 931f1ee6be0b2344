// See pack_moves.h.

#include "allocator/frame/pack_moves.h"

#include <algorithm>
#include <tuple>

#include "allocator/program/names.h"

namespace regduel::allocator {

namespace {

bool moves_a_bit(const Inst& inst) { return inst.op == Op::BitSpill || inst.op == Op::BitRefill; }
bool is_unguarded(const ir::Function& f, const Inst& inst) {
  return inst.num_operands == 3 && !ir::is_guarded(f.operands_of(inst));
}

}  // namespace

PackMoves::PackMoves(const SpillCode& code, const std::vector<int>& homes, ir::Fuel* fuel)
    : f_(code.f), homes_(homes), fuel_(fuel) {
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  if (code.pack_of.empty()) return;
  which_.assign(f_.vregs.size(), kNone);
  for (const auto& [vreg, pack] : code.pack_of) {
    std::uint32_t& place = which_[pack.index()];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(numbers_.size());
      numbers_.emplace_back().fill(-1);
    }
    which_[vreg.index()] = place;
  }
  number_bits();
}

VRegId PackMoves::pack(const Inst& inst) const { return f_.operands_of(inst)[inst.op == Op::BitSpill ? 0 : 1].vreg(); }
VRegId PackMoves::predicate(const Inst& inst) const { return f_.operands_of(inst)[inst.op == Op::BitSpill ? 1 : 0].vreg(); }
std::size_t PackMoves::bit(const Inst& inst) const { return static_cast<std::size_t>(f_.operands_of(inst)[2].imm()); }
int PackMoves::number(const Inst& inst) const { return numbers_[which_[pack(inst).index()]][bit(inst)]; }

void PackMoves::number_bits() {
  constexpr std::size_t kBits = Location::kPackBits;
  // By pack, bit and register: moves.
  std::vector<std::array<std::array<std::uint32_t, kBits>, kBits>> counts(numbers_.size());
  std::vector<std::array<char, kBits>> is_used(numbers_.size());
  for (const Inst& inst : f_.insts) {
    if (!moves_a_bit(inst)) continue;
    const std::uint32_t which = which_[pack(inst).index()];
    is_used[which][bit(inst)] = 1;
    const int home = homes_[predicate(inst).index()];
    if (home >= 0 && home < static_cast<int>(kBits)) ++counts[which][bit(inst)][static_cast<std::size_t>(home)];
  }
  for (std::size_t which = 0; which < numbers_.size(); ++which) {
    Numbers& numbers = numbers_[which];
    std::vector<std::tuple<std::uint32_t, std::size_t, std::size_t>> by_moves;  // moves, bit, number
    for (std::size_t b = 0; b < kBits; ++b)
      for (std::size_t n = 0; n < kBits; ++n)
        if (counts[which][b][n] > 0) by_moves.emplace_back(counts[which][b][n], b, n);
    std::stable_sort(by_moves.begin(), by_moves.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    std::array<char, kBits> is_taken = {};
    for (const auto& [moves, b, n] : by_moves) {
      if (numbers[b] >= 0 || is_taken[n] != 0) continue;
      numbers[b] = static_cast<int>(n);
      is_taken[n] = 1;
    }
    for (std::size_t b = 0; b < kBits; ++b) {
      if (is_used[which][b] == 0 || numbers[b] >= 0) continue;
      const auto free = static_cast<std::size_t>(std::find(is_taken.begin(), is_taken.end(), 0) - is_taken.begin());
      numbers[b] = static_cast<int>(free);
      is_taken[free] = 1;
    }
  }
}

PackMoves::Move PackMoves::at(std::size_t index, std::size_t end) const {
  const Inst& first = f_.insts[index];
  Move move{first.op, {f_.operands_of(first).begin(), f_.operands_of(first).end()}, 1};
  move.ops[2] = Operand::of_imm(number(first));
  const auto goes_by_number = [&](const Inst& inst) {
    return inst.op == first.op && is_unguarded(f_, inst) && pack(inst) == pack(first) &&
           number(inst) == homes_[predicate(inst).index()];
  };
  if (goes_by_number(first)) {
    // A store without the old bits begins anew: bits stored before it are dead.
    std::uint32_t taken = 1u << number(first);
    while (index + move.count < end) {
      const Inst& next = f_.insts[index + move.count];
      if (!goes_by_number(next) || f_.operands_of(next)[0].role != (first.op == Op::BitSpill ? Role::DefUse : Role::Def)) break;
      if ((taken >> number(next) & 1) != 0) break;
      taken |= 1u << number(next);
      ++move.count;
    }
  }
  if (move.count > 1 && ir::may(fuel_, "one-move-of-several-bits")) {
    const bool is_store = first.op == Op::BitSpill;
    move.op = is_store ? Op::P2R : Op::R2P;
    const Operand old = move.ops[is_store ? 0 : 1];
    move.ops.clear();
    if (is_store) move.ops.push_back(old);
    for (std::size_t k = 0; k < move.count; ++k) move.ops.push_back(f_.operands_of(f_.insts[index + k])[is_store ? 1 : 0]);
    if (!is_store) move.ops.push_back(old);
  } else {
    move.count = 1;
  }
  // In the emitted program each store reads the old bits, even if they are dead.
  if (move.ops[0].role == Role::Def && ir::writes_pack(move.op)) move.ops[0].role = Role::DefUse;
  return move;
}

}  // namespace regduel::allocator
