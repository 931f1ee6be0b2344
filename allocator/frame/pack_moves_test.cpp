#include "allocator/frame/pack_moves.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

// Code with one pack, %0, and predicates %1 to %3: what a plan makes, in the order of the calls.
class Code {
 public:
  Code() {
    code_.f = testing::program("vreg %0 R b32\nvreg %1 P pred\nvreg %2 P pred\nvreg %3 P pred\nblock b0\n#0 exit\n");
    const ir::Function old = code_.f;
    code_.f = old.clone_header();
    code_.f.begin_block(old.blocks[0]);
    code_.pack_of = {{VRegId(0), VRegId(0)}};
  }
  Code& store(std::uint32_t v, int bit, Role role = Role::DefUse) {
    return add(Op::BitSpill, {Operand::of_vreg(role, VRegId(0)), Operand::of_vreg(Role::Use, VRegId(v)), Operand::of_imm(bit)});
  }
  Code& load(std::uint32_t v, int bit) {
    return add(Op::BitRefill,
               {Operand::of_vreg(Role::Def, VRegId(v)), Operand::of_vreg(Role::Use, VRegId(0)), Operand::of_imm(bit)});
  }
  // The moves that stand for all: opcode, operands.
  std::vector<std::string> moves(const std::vector<int>& homes, ir::Fuel* fuel = nullptr) const {
    const PackMoves moves(code_, homes, fuel);
    std::vector<std::string> result;
    for (std::size_t k = 0; k < code_.f.insts.size();) {
      const PackMoves::Move m = moves.at(k, code_.f.insts.size());
      std::string text(ir::name(m.op));
      for (const Operand& op : m.ops) {
        if (op.kind == ir::OperandKind::Imm) text += " " + std::to_string(op.imm());
        else text += " %" + std::to_string(op.vreg().value) + (op.role == Role::DefUse ? "{inout}" : "");
      }
      result.push_back(text);
      k += m.count;
    }
    return result;
  }

 private:
  Code& add(Op op, const std::vector<Operand>& ops) {
    ir::Inst inst;
    inst.op = op;
    inst.flags = ir::kInserted;
    code_.f.append(inst, ops, {});
    return *this;
  }
  SpillCode code_;
};

using Moves = std::vector<std::string>;

TEST(PackMoves, BitsAreNumberedAfterRegisters) {
  EXPECT_EQ(Code().store(1, 0, Role::Def).load(2, 0).load(2, 0).moves({9, 4, 6, 0}),
            (Moves{"bit_spill %0{inout} %1 6", "bit_refill %2 %0 6", "bit_refill %2 %0 6"}));
  // Two would have the number 4: the other takes the least.
  EXPECT_EQ(Code().store(1, 0).store(2, 1).moves({9, 4, 4, 0}), (Moves{"bit_spill %0{inout} %1 4", "bit_spill %0{inout} %2 0"}));
}

TEST(PackMoves, NeighboursGoAsOne) {
  EXPECT_EQ(Code().store(1, 0, Role::Def).store(2, 1).store(3, 2).load(1, 0).load(2, 1).moves({9, 4, 5, 2}),
            (Moves{"p2r %0{inout} %1 %2 %3", "r2p %1 %2 %0"}));
  // A store that begins anew takes nothing with it that is before.
  EXPECT_EQ(Code().store(1, 0).store(2, 1, Role::Def).moves({9, 4, 5, 2}),
            (Moves{"bit_spill %0{inout} %1 4", "bit_spill %0{inout} %2 5"}));
  ir::Fuel none{0};
  EXPECT_EQ(Code().load(1, 0).load(2, 1).moves({9, 4, 5, 2}, &none), (Moves{"bit_refill %1 %0 4", "bit_refill %2 %0 5"}));
}

}  // namespace
}  // namespace regduel::allocator
