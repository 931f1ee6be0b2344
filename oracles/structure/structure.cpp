// The structure judge. The rules that it checks, with the category of each:
//
//   the function       phase, function-header, vreg-declaration
//   the frame          slot-outside-frame, slot-overlap, local-variables, memory-through-r, slot-access, slot-alignment, shared-memory
//   blocks             block-missing, block-kind, block-added, edge-block-place, edge-block-content, edge-block-branch,
//                      edge-block-cycle, targets
//   instructions       original-missing, original-moved, original-order, original-unknown, inserted-id, inserted-kind,
//                      inserted-clobber, opcode, mnemonic, flags, deleted, copy-to-memory, phi-home
//   operands           operand-count, operand-role, operand-kind, operand-part, unallocated-operand, negation, immediate,
//                      symbol, clobber
//   registers          register-file, register-units, register-alignment, register-limit, reserved-register,
//                      architectural-register
//   constraints        fixed-register, tied-operand, early-clobber, def-overlap
//   inserted           remat-target, remat-shape, pack-bit
//   lowered spills     lowered-address, lowered-register, lowered-branch (found by pair/raise.h)
//
// The rules are those of FORMAT.md "Allocated programs"; the ones about constraints read the attributes in the program before,
// since the program after need not repeat them. All rules hold in unreachable blocks too. Whether two values may share a register
// is for the judges with dataflow (memcheck, symbolic, execution). Two rules about shared registers follow from the order of events
// in one instruction: an early-clobber def overlaps no use, and defs do not overlap each other. Both are decided on bytes, so that
// two defs of different parts of one pair may stand in its home. register_rules.cpp has the rules about registers. Tested by
// structure_test.cpp: one defect, one category; and identities.

#include "oracles/structure/structure.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "ir/memory_through_r.h"
#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/pair/id_index.h"
#include "oracles/pair/raise.h"
#include "oracles/structure/register_rules.h"

namespace regduel::oracles {
namespace {

using ir::Block;
using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::PReg;
using ir::Role;
using ir::Slot;
using ir::VReg;

constexpr std::string_view kName = "structure";

bool is_memory_move(Op op) { return op == Op::Spill || op == Op::Refill; }

class StructureCheck {
 public:
  explicit StructureCheck(const Case& c)
      : case_(c), before_(c.before), after_(c.after), out_(kName), num_original_(c.before.blocks.size()),
        seen_(c.before.insts.size(), false), index_of_(c.prepared.ids()),
        is_through_r_(ir::reaches_memory_through_r(c.before, c.target, c.limits)), registers_(c, out_) {}

  JudgeResult run() {
    header();
    if (case_.raised)
      for (const RaiseFault& f : case_.raised->faults) out_.add(f.category, f.inst, f.operand, f.message, f.other);
    frame();
    blocks();
    for (std::size_t b = 0; b < after_.blocks.size(); ++b) block(BlockId(b));
    for (std::size_t k = 0; k < before_.insts.size(); ++k)
      if (!seen_[k] && out_.wants("original-missing")) {
        const Inst& i = before_.insts[k];
        out_.add("original-missing", {}, -1, fmt::format("#{} ({}) is not there", i.id.value, before_.mnemonic(i)), i.id);
      }
    return out_.finish();
  }

 private:
  void whole(std::string_view category, std::string message) { out_.add(category, {}, -1, std::move(message)); }
  void fault(std::string_view category, const Inst& i, int operand, std::string message, InstId other = {}) {
    out_.add(category, i.id, operand, std::move(message), other);
  }

  // --- the function and its frame ---------------------------------------------------------------------------------
  void header() {
    if (after_.phase != ir::Phase::Allocated) whole("phase", "the program after is not marked allocated");
    if (before_.name != after_.name) whole("function-header", fmt::format("@{} has become @{}", before_.name, after_.name));
    if (before_.kind != after_.kind) whole("function-header", "kernel and device have been exchanged");
    if (before_.abi != after_.abi)
      whole("function-header", fmt::format("abi {} has become {}", ir::name(before_.abi), ir::name(after_.abi)));
    if (before_.predicate_halves != after_.predicate_halves)
      whole("function-header", "predicate_halves stands in one of the two alone");
    if (before_.target != after_.target)
      whole("function-header", fmt::format("target {} has become {}", before_.target, after_.target));
    if (before_.threads != after_.threads)
      whole("function-header", fmt::format("threads {} have become {}", before_.threads, after_.threads));
    if (before_.vregs.size() != after_.vregs.size())
      whole("vreg-declaration", fmt::format("{} vregs have become {}", before_.vregs.size(), after_.vregs.size()));
    for (std::size_t v = 0; v < std::min(before_.vregs.size(), after_.vregs.size()); ++v)
      if (!same_declaration(before_.vregs[v], after_.vregs[v]))
        whole("vreg-declaration", fmt::format("the declaration of %{} has changed", v));
  }

  [[nodiscard]] bool same_declaration(const VReg& a, const VReg& b) const {
    return a.cls == b.cls && a.type == b.type && a.width == b.width && a.align_log2 == b.align_log2 && a.flags == b.flags &&
           a.alias_part == b.alias_part && a.fixed == b.fixed && a.alias == b.alias && a.hint == b.hint &&
           before_.symbols[a.name] == after_.symbols[b.name];
  }

  static std::uint64_t end_of(const Slot& s) { return static_cast<std::uint64_t>(s.offset) + s.size; }

  void frame() {
    const std::uint64_t shared = std::uint64_t{after_.shared_frame} * after_.threads;
    if (shared > static_cast<std::uint64_t>(std::max(0, case_.target.shared_bytes_per_sm)))
      whole("shared-memory", fmt::format("{} bytes of shared memory a block, {} has {}", shared, case_.target.name,
                                         case_.target.shared_bytes_per_sm));
    if (after_.local_frame < before_.local_frame && out_.wants("local-variables"))
      whole("local-variables",
            fmt::format("a frame of {} bytes, where the program has {} of its own", after_.local_frame, before_.local_frame));
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < after_.slots.size(); ++s) {
      const Slot& slot = after_.slots[s];
      const std::uint32_t size = slot.space == ir::MemSpace::Local ? after_.local_frame : after_.shared_frame;
      if (slot.space == ir::MemSpace::Local && slot.offset < before_.local_frame && out_.wants("local-variables"))
        whole("local-variables", fmt::format("slot {} begins at byte {} of the frame, where the program has {} bytes of its own", s,
                                             slot.offset, before_.local_frame));
      if (end_of(slot) > size && out_.wants("slot-outside-frame"))
        whole("slot-outside-frame", fmt::format("slot {} ends at byte {} of a frame of {} bytes", s, end_of(slot), size));
      order.push_back(s);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Slot &x = after_.slots[a], &y = after_.slots[b];
      return std::tuple(x.space, x.offset, a) < std::tuple(y.space, y.offset, b);
    });
    // The slot that reaches farthest so far is the one that a later slot would run into.
    std::size_t farthest = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      const Slot &last = after_.slots[order[farthest]], &next = after_.slots[order[k]];
      if (last.space == next.space && next.offset < end_of(last) && out_.wants("slot-overlap"))
        whole("slot-overlap", fmt::format("slots {} and {} overlap", order[farthest], order[k]));
      if (last.space != next.space || end_of(next) > end_of(last)) farthest = k;
    }
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  [[nodiscard]] bool is_original(BlockId b) const { return b.index() < num_original_; }

  // The block of an instruction of the program before: mostly `likely`.
  [[nodiscard]] BlockId block_of(std::size_t at, BlockId likely) const {
    if (is_original(likely) && at >= before_.block(likely).first_inst &&
        at - before_.block(likely).first_inst < before_.block(likely).num_insts)
      return likely;
    const auto behind = std::upper_bound(before_.blocks.begin(), before_.blocks.end(), at,
                                         [](std::size_t inst, const Block& b) { return inst < b.first_inst; });
    return BlockId(static_cast<std::size_t>(behind - before_.blocks.begin()) - 1);
  }

  void blocks() {
    if (after_.blocks.size() < num_original_)
      whole("block-missing", fmt::format("{} blocks have become {}", num_original_, after_.blocks.size()));
    for (std::size_t b = 0; b < after_.blocks.size(); ++b) {
      const Block& block = after_.blocks[b];
      const bool is_edge = block.edge_from.is_valid() || block.edge_to.is_valid();
      if (is_original(BlockId(b))) {
        if (is_edge) whole("block-kind", fmt::format("the original block b{} is marked as an edge block", b));
      } else if (!is_edge) {
        whole("block-added", fmt::format("b{} is neither an original block nor an edge block", b));
      } else if (!is_edge_of_before(block.edge_from, block.edge_to) && out_.wants("edge-block-place")) {
        whole("edge-block-place",
              fmt::format("b{} stands on an edge b{} -> b{} that is not there", b, block.edge_from.value, block.edge_to.value));
      }
    }
    edge_cycles();
  }

  [[nodiscard]] bool is_edge_of_before(BlockId from, BlockId to) const {
    if (!is_original(from) || !is_original(to)) return false;
    const auto succ = before_.successors(from);
    return std::find(succ.begin(), succ.end(), to) != succ.end();
  }

  // True if `next` may stand for the edge from -> to: `to` itself, or an edge block of that edge.
  [[nodiscard]] bool leads_along(BlockId next, BlockId from, BlockId to) const {
    if (next == to) return true;
    if (is_original(next) || next.index() >= after_.blocks.size()) return false;
    const Block& block = after_.block(next);
    return block.edge_from == from && block.edge_to == to;
  }

  // An edge block has one successor, so a walk that comes back to itself never arrives.
  void edge_cycles() {
    std::vector<std::uint32_t> walk_of(after_.blocks.size(), 0);
    for (std::size_t start = num_original_; start < after_.blocks.size(); ++start) {
      const auto walk = static_cast<std::uint32_t>(start);
      BlockId b(start);
      while (!is_original(b) && walk_of[b.index()] == 0) {
        walk_of[b.index()] = walk;
        const auto succ = after_.successors(b);
        if (succ.size() != 1) break;
        b = succ[0];
        if (!is_original(b) && walk_of[b.index()] == walk) {
          whole("edge-block-cycle", fmt::format("the edge block b{} leads back to itself", b.value));
          break;
        }
      }
    }
  }

  void block(BlockId b) {
    const auto insts = after_.insts_of(b);
    std::size_t last = 0;  // 1 + index in before of the original instruction seen last in this block
    for (const Inst& i : insts) {
      if (i.is_inserted()) {
        if (index_of_.find(i.id) != IdIndex::kNone)
          fault("inserted-id", i, -1, "marked inserted, but the number is an original instruction's");
        inserted(i, b);
        continue;
      }
      const std::size_t at = index_of_.find(i.id);
      if (at == IdIndex::kNone) {
        fault("original-unknown", i, -1, "marked original, but the program before has no such instruction");
        continue;
      }
      seen_[at] = true;
      const BlockId home = block_of(at, b);
      if (!is_original(b)) {
        fault("edge-block-content", i, -1, fmt::format("an original instruction in the edge block b{}", b.value));
      } else if (home != b) {
        fault("original-moved", i, -1, fmt::format("belongs into b{}, stands in b{}", home.value, b.value));
      } else {
        if (at + 1 <= last)
          fault("original-order", i, -1, "stands behind an instruction that it preceded", before_.insts[last - 1].id);
        last = std::max(last, at + 1);
      }
      original(before_.insts[at], i, home);
    }
    if (is_original(b) || insts.empty()) return;
    const Inst& end = insts.back();
    const Block& block = after_.block(b);
    if (end.op != Op::Bra || end.num_targets != 1 || !end.is_inserted())
      fault("edge-block-content", end, -1, fmt::format("the edge block b{} does not end in an inserted bra", b.value));
    else if (!leads_along(after_.targets_of(end)[0], block.edge_from, block.edge_to))
      fault("edge-block-branch", end, -1, fmt::format("leaves the edge b{} -> b{}", block.edge_from.value, block.edge_to.value));
  }

  // --- original instructions --------------------------------------------------------------------------------------
  void original(const Inst& b, const Inst& a, BlockId home) {
    if (b.is_copy() && is_memory_move(a.op) && !a.is_deleted()) {
      copy_to_memory(b, a);
      return;
    }
    if (a.op != b.op) {
      fault("opcode", a, -1, fmt::format("was {}", before_.mnemonic(b)));
      return;
    }
    if (before_.symbols[b.mnemonic] != after_.symbols[a.mnemonic])
      fault("mnemonic", a, -1, fmt::format("was {}", before_.mnemonic(b)));
    if (((a.flags ^ b.flags) & ~ir::kDeleted) != 0) fault("flags", a, -1, "its flags have changed");
    if (a.is_deleted()) {
      if (!b.is_copy() && !b.is_phi() && !b.has(ir::kRematerialisable))
        fault("deleted", a, -1, "only a copy, a phi or a rematerialisable def may be deleted");
      return;
    }
    if (b.is_phi()) {
      phi(b, a, home);
      return;
    }
    targets(b, a, home);
    same_operands(b, a, "operand-count");
  }

  void targets(const Inst& b, const Inst& a, BlockId home) {
    const auto want = before_.targets_of(b), have = after_.targets_of(a);
    bool same = want.size() == have.size();
    for (std::size_t k = 0; same && k < want.size(); ++k) same = leads_along(have[k], home, want[k]);
    if (!same) fault("targets", a, -1, "it branches elsewhere than before");
  }

  void same_operands(const Inst& b, const Inst& a, std::string_view count_category) {
    if (a.num_operands != b.num_operands) {
      fault(count_category, a, -1, fmt::format("has {} operands, had {}", a.num_operands, b.num_operands));
      return;
    }
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    bool readable = true;
    for (std::size_t k = 0; k < want.size(); ++k) readable = operand(a, k, want[k], have[k]) && readable;
    if (readable) registers_.check_constraints(a, want, have);
  }

  // Checks one operand. False if a vreg has no register, so that its constraints cannot be checked.
  bool operand(const Inst& a, std::size_t k, const Operand& want, const Operand& have) {
    const int at = static_cast<int>(k);
    if (want.role != have.role) fault("operand-role", a, at, "read and written have changed");
    if (want.is_negated() != have.is_negated())
      fault("negation", a, at, want.is_negated() ? "lost its negation" : "has become negated");
    if (want.is_vreg()) {
      if (!have.is_preg()) {
        fault(have.is_vreg() ? "unallocated-operand" : "operand-kind", a, at,
              fmt::format("%{} has no register", want.vreg().value));
        return false;
      }
      registers_.check_placement(a, at, want, have);
      return true;
    }
    if (want.kind != have.kind) {
      fault("operand-kind", a, at, "another kind of operand than before");
      return false;
    }
    switch (want.kind) {
      case OperandKind::Imm:
        if (want.imm() != have.imm()) fault("immediate", a, at, fmt::format("was {}, is {}", want.imm(), have.imm()));
        break;
      case OperandKind::Symbol:
        if (before_.symbols[want.symbol()] != after_.symbols[have.symbol()])
          fault("symbol", a, at, fmt::format("was \"{}\"", before_.symbols[want.symbol()]));
        break;
      case OperandKind::PReg:
        if (want.preg() != have.preg())
          fault("clobber", a, at, fmt::format("was {}, is {}", to_string(after_, want.preg()), to_string(after_, have.preg())));
        break;
      case OperandKind::VReg:
      case OperandKind::Slot: break;
    }
    return true;
  }

  // A copy of one pair that has become a spill of its use or a refill of its def.
  void copy_to_memory(const Inst& b, const Inst& a) {
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    const bool is_spill = a.op == Op::Spill;
    constexpr std::size_t shared = 2;  // the register and the slot
    const bool guarded = want.size() > 2 && want[2].role == Role::Guard;
    if (want.size() < 2 || !want[0].writes() || want[1].role != Role::Use || have.size() < shared || !have[0].is_preg() ||
        !have[1].is_slot()) {
      fault("copy-to-memory", a, -1, "only a copy of one pair can become a spill or a refill");
      return;
    }
    operand(a, 0, want[is_spill ? 1 : 0], have[0]);
    // The guard and the clobbers stay.
    if (have.size() != want.size()) {
      fault("copy-to-memory", a, -1, guarded ? "it lost its guard" : "it has more operands than before");
    } else {
      for (std::size_t k = shared; k < have.size(); ++k) operand(a, k, want[k], have[k]);
    }
    slot_access(a, have[0], have[1], 1);
  }

  // A kept phi: one home for def and uses; its targets name the same predecessors, or edge blocks that stand for them.
  void phi(const Inst& b, const Inst& a, BlockId home) {
    const auto want_from = before_.targets_of(b), have_from = after_.targets_of(a);
    const auto want = before_.operands_of(b), have = after_.operands_of(a);
    std::vector<std::pair<BlockId, std::size_t>> incoming;
    for (std::size_t k = 0; k < want_from.size(); ++k) incoming.emplace_back(want_from[k], k);
    std::sort(incoming.begin(), incoming.end());
    std::vector<bool> covered(want_from.size(), false);
    operand(a, 0, want[0], have[0]);
    for (std::size_t k = 0; k < have_from.size(); ++k) {
      BlockId from = have_from[k];
      if (is_last_edge_block(from, home)) from = after_.block(from).edge_from;
      const auto it = std::lower_bound(incoming.begin(), incoming.end(), std::pair(from, std::size_t{0}));
      if (it == incoming.end() || it->first != from) {
        fault("targets", a, static_cast<int>(k) + 1, fmt::format("b{} is no predecessor of the phi before", from.value));
        continue;
      }
      covered[it->second] = true;
      operand(a, k + 1, want[it->second + 1], have[k + 1]);
    }
    if (std::find(covered.begin(), covered.end(), false) != covered.end()) fault("targets", a, -1, "the phi lost a predecessor");
    for (std::size_t k = 1; k < have.size(); ++k)
      if (have[k].is_preg() && have[0].is_preg() && have[k].preg() != have[0].preg()) {
        fault("phi-home", a, static_cast<int>(k),
              fmt::format("a phi that is kept has one home, not {} and {}", to_string(after_, have[0].preg()),
                          to_string(after_, have[k].preg())));
        break;
      }
  }

  // The last edge block of an edge to `home`. A kept phi names the edge by that block, or by the original block before all edge
  // blocks.
  [[nodiscard]] bool is_last_edge_block(BlockId b, BlockId home) const {
    if (is_original(b) || b.index() >= after_.blocks.size() || after_.block(b).edge_to != home) return false;
    const auto successors = after_.successors(b);
    return std::find(successors.begin(), successors.end(), home) != successors.end();
  }

  // --- inserted instructions --------------------------------------------------------------------------------------
  void inserted(const Inst& i, BlockId b) {
    const auto ops = after_.operands_of(i);
    switch (i.op) {
      case Op::Copy:
      case Op::Spill:
      case Op::Refill:
      case Op::P2R:
      case Op::R2P:
      case Op::BitSpill:
      case Op::BitRefill: break;
      case Op::Remat: remat(i); return;
      case Op::Bra:
        if (is_original(b)) fault("inserted-kind", i, -1, "an inserted bra ends an edge block, and nothing else");
        return;
      default:
        if (i.is_terminator() && !is_original(b)) return;  // edge-block-content
        fault("inserted-kind", i, -1, "an allocator inserts no such instruction");
        return;
    }
    std::size_t defs = 0;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const int at = static_cast<int>(k);
      defs += ops[k].writes() ? 1 : 0;
      if (ops[k].role == Role::Clobber) fault("inserted-clobber", i, at, "an inserted instruction clobbers nothing");
      else if (ops[k].is_preg()) registers_.check_inserted(i, at, ops[k]);
    }
    if (defs > 1) registers_.check_defs_apart(i, ops);
    if (is_memory_move(i.op) && ops.size() >= 2) {
      slot_access(i, ops[0], ops[1], 1);
      if (ops[0].is_preg()) registers_.check_tuple(i, 0, ops[0].preg());
    }
    if (i.op == Op::P2R || i.op == Op::R2P) {
      for (std::size_t k = 0; k < ops.size(); ++k)
        if (ops[k].role != Role::Guard && ops[k].is_preg() && is_predicate(ops[k].preg().file) && ops[k].preg().end() > 32)
          fault("pack-bit", i, static_cast<int>(k),
                fmt::format("a pack has 32 bits, none for {}", to_string(after_, ops[k].preg())));
    }
  }

  void slot_access(const Inst& i, const Operand& reg, const Operand& slot, int at) {
    if (!reg.is_preg() || !slot.is_slot() || slot.slot().index() >= after_.slots.size()) return;
    if (is_through_r_ && reg.preg().file != ir::RegFile::R)
      fault("memory-through-r", i, 1 - at,
            fmt::format("{} goes to memory, and comes from there, through a register of R", to_string(after_, reg.preg())));
    const Slot& s = after_.slots[slot.slot().index()];
    const ir::FileBytes bytes = Function::file_bytes(reg);
    const std::uint64_t end = static_cast<std::uint64_t>(slot.slot_offset()) + (bytes.end - bytes.begin);
    if (end > s.size)
      return fault("slot-access", i, at, fmt::format("reaches byte {} of slot {}, which has {}", end, slot.slot().value, s.size));
    const std::uint32_t size = bytes.end - bytes.begin, natural = std::min(16u, size & (~size + 1));
    if (const std::uint64_t address = std::uint64_t{s.offset} + slot.slot_offset(); natural != 0 && address % natural != 0)
      fault("slot-alignment", i, at, fmt::format("{} bytes at address {}, which is no multiple of {}", size, address, natural));
  }

  // A remat has the operands of the instruction that it repeats, each under the same constraints.
  void remat(const Inst& i) {
    const std::size_t at = index_of_.find(i.ref);
    if (at == IdIndex::kNone || !before_.insts[at].has(ir::kRematerialisable)) {
      fault("remat-target", i, -1, fmt::format("#{} is no rematerialisable instruction of the program before", i.ref.value), i.ref);
      return;
    }
    same_operands(before_.insts[at], i, "remat-shape");
  }

  const Case& case_;
  const Function& before_;
  const Function& after_;
  Collector out_;
  std::size_t num_original_;
  std::vector<bool> seen_;   // of the instructions before: found in the program after
  const IdIndex& index_of_;  // of the program before
  const bool is_through_r_;  // only registers of R are stored and refilled
  RegisterRules registers_;
};

}  // namespace

const Judge& structure_judge() {
  static constexpr Judge judge(kName,
                               "same program, right registers, constraints kept, slots apart: all that shows without dataflow",
                               [](const Case& c) { return StructureCheck(c).run(); });
  return judge;
}

}  // namespace regduel::oracles
