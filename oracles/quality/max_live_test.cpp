// MaxLive of random programs, against the definition taken literally: sets of bytes at every point.

#include "oracles/quality/max_live.h"

#include <set>

#include "base/random.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Role;

using Bytes = std::set<std::pair<std::uint32_t, int>>;  // root, byte

class Literal {
 public:
  explicit Literal(const Function& f)
      : f_(f), cfg_(f), live_(f.insts.size()), reached_(f.insts.size()), live_end_(f.blocks.size()), reached_end_(f.blocks.size()) {
    while (std::exchange(changed_, false))
      for (const BlockId b : cfg_.reverse_postorder()) {
        backward(b);
        forward(b);
      }
  }

  [[nodiscard]] ir::PerFile<int> max_live() {
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      Bytes phis;
      std::size_t at = block.first_inst;
      const std::size_t end = at + block.num_insts;
      for (; f_.insts[at].is_phi(); ++at) add(phis, f_.operands_of(f_.insts[at])[0]);
      count(at, phis);
      for (; at < end; ++at) {
        Bytes defs, early;
        for (const Operand& op : f_.operands_of(f_.insts[at])) {
          if (op.writes()) add(defs, op);
          if (op.is_early_clobber()) add(early, op);
        }
        count(at, early);
        if (at + 1 < end) count(at + 1, defs);
        else count(live_end_[b.index()], reached_end_[b.index()], defs);
      }
    }
    return peak_;
  }

 private:
  void add(Bytes& set, const Operand& op) const {
    if (!op.is_vreg()) return;
    const ir::Storage s = f_.storage(op);
    for (int k = 0; k < s.size; ++k) set.emplace(s.root.value, s.offset + k);
  }
  void grow(Bytes& set, const Bytes& more) {
    const std::size_t size = set.size();
    set.insert(more.begin(), more.end());
    changed_ = changed_ || set.size() != size;
  }
  [[nodiscard]] static bool is_guarded(std::span<const Operand> ops) {
    return std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
  }

  // live_[k], reached_[k]: before instruction k; phis happen on the edges.
  void backward(BlockId b) {
    const ir::Block& block = f_.block(b);
    for (const BlockId to : cfg_.successors(b)) {
      std::size_t at = f_.block(to).first_inst;
      Bytes uses, defs;
      for (; f_.insts[at].is_phi(); ++at) {
        const auto ops = f_.operands_of(f_.insts[at]);
        add(defs, ops[0]);
        for (std::size_t k = 1; k < ops.size(); ++k)
          if (f_.targets_of(f_.insts[at])[k - 1] == b) add(uses, ops[k]);
      }
      Bytes live = live_[at];
      for (const auto& byte : defs) live.erase(byte);
      live.insert(uses.begin(), uses.end());
      grow(live_end_[b.index()], live);
    }
    Bytes live = live_end_[b.index()];
    for (std::size_t at = block.first_inst + block.num_insts; at-- > block.first_inst;) {
      if (f_.insts[at].is_phi()) break;
      const auto ops = f_.operands_of(f_.insts[at]);
      Bytes defs, uses;
      for (const Operand& op : ops) {
        if (op.writes()) add(defs, op);
        if (op.reads()) add(uses, op);
      }
      if (!is_guarded(ops))
        for (const auto& byte : defs) live.erase(byte);
      live.insert(uses.begin(), uses.end());
      grow(live_[at], live);
    }
  }
  void forward(BlockId b) {
    const ir::Block& block = f_.block(b);
    Bytes reached;
    for (const BlockId from : cfg_.predecessors(b))
      if (cfg_.is_reachable(from)) reached.insert(reached_end_[from.index()].begin(), reached_end_[from.index()].end());
    for (std::size_t at = block.first_inst; at < block.first_inst + block.num_insts; ++at) {
      if (!f_.insts[at].is_phi()) grow(reached_[at], reached);
      for (const Operand& op : f_.operands_of(f_.insts[at]))
        if (op.writes()) add(reached, op);
    }
    grow(reached_end_[b.index()], reached);
  }

  void count(std::size_t at, const Bytes& more) { count(live_[at], reached_[at], more); }
  void count(const Bytes& live, const Bytes& reached, const Bytes& more) {
    std::set<std::uint32_t> roots;
    for (const auto& byte : live)
      if (reached.contains(byte)) roots.insert(byte.first);
    for (const auto& byte : more) roots.insert(byte.first);
    ir::PerFile<int> units = {};
    for (const std::uint32_t root : roots) units[ir::index(f_.vregs[root].file())] += f_.vregs[root].units();
    for (std::size_t k = 0; k < units.size(); ++k) peak_[k] = std::max(peak_[k], units[k]);
  }

  const Function& f_;
  ir::Cfg cfg_;
  std::vector<Bytes> live_, reached_, live_end_, reached_end_;
  bool changed_ = true;
  ir::PerFile<int> peak_ = {};
};

Function random_program(Random& random) {
  Function f;
  f.name = "t";
  const auto vreg = [&](ir::RegClass cls, ir::TypeKind type, int width) {
    ir::VReg reg;
    reg.cls = cls;
    reg.type = type;
    reg.width = static_cast<std::uint16_t>(width);
    if (cls == ir::RegClass::R) reg.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(reg.width));
    f.add_vreg(reg);
  };
  for (const int width : {32, 32, 32, 64, 64, 128}) vreg(ir::RegClass::R, ir::TypeKind::B, width);
  for (int k = 0; k < 3; ++k) vreg(ir::RegClass::P, ir::TypeKind::Pred, 1);
  const int num_blocks = random.between(1, 6);
  std::vector<std::vector<BlockId>> successors(static_cast<std::size_t>(num_blocks));
  std::vector<std::set<std::uint32_t>> predecessors(successors.size());
  for (std::size_t b = 0; b < successors.size(); ++b)
    for (int n = random.between(0, 2); n > 0; --n) {
      successors[b].emplace_back(random.between(0, num_blocks - 1));
      predecessors[successors[b].back().index()].insert(static_cast<std::uint32_t>(b));
    }
  std::uint32_t next = 0;
  const auto append = [&](ir::Op op, const std::vector<Operand>& ops, const std::vector<BlockId>& targets = {}) {
    Inst i;
    i.id = ir::InstId(next++);
    i.op = op;
    if (op == ir::Op::Named) i.mnemonic = f.symbols.intern("op");
    f.append(i, ops, targets);
  };
  const auto any = [&](Role role) {
    Operand op = Operand::of_vreg(role, ir::VRegId(random.between(0, 8)));
    const ir::VReg& reg = f.vreg(op.vreg());
    if (reg.width >= 64 && random.chance(40)) op.part = ir::Part::of(2, random.between(0, reg.units() - 1));
    return op;
  };
  for (std::size_t b = 0; b < successors.size(); ++b) {
    f.begin_block();
    if (b != 0 && !predecessors[b].empty())
      for (int n = random.between(0, 2); n > 0; --n) {
        std::vector<Operand> ops = {Operand::of_vreg(Role::Def, ir::VRegId(random.between(0, 2)))};
        std::vector<BlockId> from;
        for (const std::uint32_t p : predecessors[b]) {
          ops.push_back(Operand::of_vreg(Role::Use, ir::VRegId(random.between(0, 2))));
          from.emplace_back(p);
        }
        append(ir::Op::Phi, ops, from);
      }
    for (int n = random.between(0, 4); n > 0; --n) {
      std::vector<Operand> ops;
      for (int k = random.between(0, 2); k > 0; --k) {
        ops.push_back(any(random.chance(20) ? Role::DefUse : Role::Def));
        if (ops.back().role == Role::Def && random.chance(20)) ops.back().flags = ir::kEarlyClobber;
      }
      for (int k = random.between(0, 2); k > 0; --k) ops.push_back(any(Role::Use));
      if (random.chance(25)) ops.push_back(Operand::of_vreg(Role::Guard, ir::VRegId(random.between(6, 8))));
      append(ir::Op::Named, ops);
    }
    const std::size_t ways = successors[b].size();
    if (ways == 0) append(ir::Op::Exit, {});
    else if (ways == 1) append(ir::Op::Bra, {}, successors[b]);
    else append(ir::Op::CBra, {Operand::of_vreg(Role::Use, ir::VRegId(random.between(6, 8)))}, successors[b]);
  }
  return f;
}

TEST(MaxLive, AgreesWithItsDefinition) {
  Random random(3);
  int judged = 0;
  for (int k = 0; k < 6000; ++k) {
    const Function f = random_program(random);
    if (!ir::check(f).empty()) continue;
    ASSERT_EQ(max_live(f, ir::Cfg(f)), Literal(f).max_live()) << ir::print(f);
    ++judged;
  }
  EXPECT_GT(judged, 2000);
}

}  // namespace
}  // namespace regduel::oracles
