#include "passes/nvptx/interference.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"

namespace regduel::passes::nvptx {

using ir::Inst;
using ir::Operand;
using ir::VRegId;

bool Interference::is_gone(const Definition& d, VRegId mine) const {
  const Inst& i = f_.insts[d.inst];
  const bool is_alone = d.makes == Makes::Copy ? ir::copy_pairs(f_.operands_of(i)).size() == 1 : d.makes != Makes::Value;
  return is_alone && keeps_equal(d, mine, mine);
}

bool Interference::keeps_equal(const Definition& d, VRegId x, VRegId y) const {
  const auto is_theirs = [&](VRegId root) {
    const VRegId r = merged_.find(root);
    return r == x || r == y;
  };
  switch (d.makes) {
    case Makes::Value: return false;
    case Makes::Copy:
    case Makes::Tie: return is_theirs(d.other);
    case Makes::Phi: {
      const auto uses = ir::uses_of(f_.operands_of(f_.insts[d.inst]));
      const auto is_their_use = [&](const Operand& op) { return is_theirs(f_.root(op.vreg())); };
      if (REGDUEL_PLANTED("nvptx-phi-copies-each-use") && std::any_of(uses.begin(), uses.end(), is_their_use)) return true;
      return std::all_of(uses.begin(), uses.end(), is_their_use);
    }
  }
  return false;
}

bool Interference::is_blocked(VRegId mine, VRegId other, int piece, Point from, Point to) {
  Definitions& definitions = merged_.interval(mine, piece).definitions;
  const Definitions& others = merged_.interval(other, piece).definitions;
  for (auto d = definitions.lower_bound(from, ByPoint()); d != definitions.end() && d->at < to;) {
    if (is_gone(*d, mine)) {
      d = definitions.erase(d);
      continue;
    }
    // Two writes of one instruction, or of the phis of one block, make two values, except a def and its tied use.
    for (auto [o, end] = others.equal_range(d->at, ByPoint()); o != end; ++o) {
      const bool is_tied = o->inst == d->inst && o->operand == d->operand && (o->makes == Makes::Tie) != (d->makes == Makes::Tie);
      if (!is_tied && !is_gone(*o, other)) return true;
    }
    const bool is_tied_to_other = std::any_of(others.lower_bound(d->at, ByPoint()), others.upper_bound(d->at, ByPoint()),
                                              [&](const Definition& o) { return o.makes == Makes::Tie && o.inst == d->inst; });
    if (!is_tied_to_other && !keeps_equal(*d, mine, other)) return true;
    ++d;
  }
  return false;
}

bool Interference::ask(VRegId x, VRegId y) {
  const int pieces = REGDUEL_PLANTED("nvptx-high-half-unasked") ? 1 : merged_.pieces(x);
  for (int k = 0; k < pieces; ++k) {
    const auto differ = [&](const Segment& s, const Segment& t) {
      const Point from = std::max(s.begin, t.begin), to = std::min(s.end, t.end);
      return is_blocked(x, y, k, from, to) || is_blocked(y, x, k, from, to);
    };
    if (live::any_overlap(merged_.interval(x, k).segments, merged_.interval(y, k).segments, differ)) return true;
  }
  return false;
}

bool Interference::between(VRegId x, VRegId y) {
  if (y < x) std::swap(x, y);
  const std::uint64_t key = std::uint64_t{x.value} << 32 | y.value;
  const Answer now{merged_.version(x), merged_.version(y)};
  if (const auto known = interfere_.find(key);
      known != interfere_.end() && known->second.version_x == now.version_x && known->second.version_y == now.version_y)
    return true;
  const bool result = ask(x, y);
  if (result) interfere_[key] = now;
  return result;
}

bool Interference::only_copies(VRegId local, VRegId other) {
  for (int k = 0; k < merged_.pieces(local); ++k)
    for (const Definition& d : merged_.interval(local, k).definitions)
      if (!keeps_equal(d, local, other)) return false;
  return true;
}

bool Interference::clash_in_an_instruction(VRegId x, VRegId y) {
  for (const auto& [mine, other] : {std::pair(x, y), std::pair(y, x)})
    for (int k = 0; k < merged_.pieces(mine); ++k)
      for (const Definition& d : merged_.interval(mine, k).definitions) {
        const Inst& i = f_.insts[d.inst];
        if (i.is_phi() || d.makes == Makes::Tie) continue;
        const auto ops = f_.operands_of(i);
        const bool is_early = ops[d.operand].is_early_clobber();
        for (const Operand& op : ops)
          if (op.is_vreg() && (op.writes() || (is_early && op.reads())) && merged_.find(f_.root(op.vreg())) == other) return true;
      }
  return false;
}

}  // namespace regduel::passes::nvptx
