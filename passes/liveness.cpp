#include "passes/liveness.h"

#include <algorithm>

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

// Calls read(root) and write(root, whether it kills) for the vreg operands of an instruction that is no phi: reads before writes.
template <class Read, class Write>
void each_access(const Function& f, const Inst& i, Read&& read, Write&& write) {
  const auto ops = f.operands_of(i);
  const bool is_guarded = ir::is_guarded(ops);
  const auto is_free = [&](const Operand& op) { return op.is_vreg() && !f.vreg(f.root(op.vreg())).is_architectural(); };
  for (const Operand& op : ops)
    if (is_free(op) && needs_old_value(f, op, is_guarded)) read(f.root(op.vreg()));
  for (const Operand& op : ir::defs_of(ops))
    if (is_free(op)) write(f.root(op.vreg()), kills(f, op, is_guarded));
}

}  // namespace

// A def that does not kill asks for the old value here only where something is there to be asked for: `reached` says where.
void Liveness::number_roots(const Function& f) {
  std::vector<std::uint32_t> killed_in(f.vregs.size(), kNoBit);  // the last block that killed it so far
  std::vector<char> is_crossing(f.vregs.size(), 0);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (const Inst& i : f.insts_of(BlockId(b))) {
      const auto write = [&](VRegId root, bool is_killed) {
        if (is_killed) killed_in[root.index()] = b;
      };
      if (!i.is_phi()) {
        each_access(
            f, i,
            [&](VRegId root) {
              if (killed_in[root.index()] != b) is_crossing[root.index()] = 1;
            },
            write);
        continue;
      }
      const auto ops = f.operands_of(i);
      const VRegId def = f.root(ops[0].vreg());
      if (kills(f, ops[0], false)) write(def, true);
      else is_crossing[def.index()] = 1;
      for (const Operand& use : ops.subspan(1)) is_crossing[f.root(use.vreg()).index()] = 1;
    }
  bit_of_.assign(f.vregs.size(), kNoBit);
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    if (is_crossing[v] == 0 || f.vregs[v].is_architectural()) continue;
    bit_of_[v] = static_cast<std::uint32_t>(roots_.size());
    roots_.emplace_back(v);
  }
  words_ = (roots_.size() + 63) / 64;
}

Liveness::Liveness(const Function& f, const ir::Cfg& cfg) {
  number_roots(f);
  const std::size_t blocks = f.blocks.size(), size = blocks * words_;
  // What phis read on the edges stays in `edge_reads` of the predecessor, apart from out_.
  Words exposed(size), killed(size), written(size), edge_reads(size), reached_in(size), reached_out(size);
  in_.assign(size, 0);
  out_.assign(size, 0);
  if (words_ == 0) return;
  const auto row = [&](auto& rows, BlockId b) { return rows.data() + b.index() * words_; };
  const auto set = [&](Words& rows, BlockId b, VRegId root) {
    const std::uint32_t bit = bit_of_[root.index()];
    if (bit != kNoBit) rows[b.index() * words_ + bit / 64] |= std::uint64_t{1} << bit % 64;
  };
  for (std::size_t n = 0; n < blocks; ++n) {
    const BlockId b(n);
    for (const Inst& i : f.insts_of(b)) {
      const auto read = [&](VRegId root) {
        if (!contains(killed, b, root)) set(exposed, b, root);
      };
      const auto write = [&](VRegId root, bool is_killed) {
        set(written, b, root);
        if (is_killed) set(killed, b, root);
      };
      if (!i.is_phi()) {
        each_access(f, i, read, write);
        continue;
      }
      // All phis write before anything else reads, and none of them reads here, but for what a def of a part keeps.
      const auto ops = f.operands_of(i);
      const bool is_killed = kills(f, ops[0], false);
      if (!is_killed) read(f.root(ops[0].vreg()));
      write(f.root(ops[0].vreg()), is_killed);
      const auto from = f.targets_of(i);
      for (std::size_t k = 0; k < from.size(); ++k) set(edge_reads, from[k], f.root(ops[k + 1].vreg()));
    }
  }

  std::vector<BlockId> order(cfg.reverse_postorder().begin(), cfg.reverse_postorder().end());
  for (std::size_t n = 0; n < blocks; ++n)
    if (!cfg.is_reachable(BlockId(n))) order.emplace_back(n);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : order) {
      std::uint64_t *const in = row(reached_in, b), *const out = row(reached_out, b);
      for (const BlockId p : cfg.predecessors(b))
        for (std::size_t w = 0; w < words_; ++w) in[w] |= row(reached_out, p)[w];
      for (std::size_t w = 0; w < words_; ++w) {
        const std::uint64_t now = in[w] | row(written, b)[w];
        changed = changed || now != out[w];
        out[w] = now;
      }
    }
  }
  std::reverse(order.begin(), order.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : order) {
      std::uint64_t *const in = row(in_, b), *const out = row(out_, b);
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t at_end = row(edge_reads, b)[w];
        for (const BlockId s : cfg.successors(b)) at_end |= row(in_, s)[w];
        out[w] = at_end & row(reached_out, b)[w];
        const std::uint64_t now = (row(exposed, b)[w] | (out[w] & ~row(killed, b)[w])) & row(reached_in, b)[w];
        changed = changed || now != in[w];
        in[w] = now;
      }
    }
  }
}

}  // namespace regduel::passes
