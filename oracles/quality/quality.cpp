// Figures of an allocation, counted anew from the two programs. MaxLive: max_live.h. Weights of blocks: ir/loops.h. Occupancy:
// whole blocks of threads that fit an SM by registers (granularity of a warp's registers), shared memory, blocks and warps. Tested
// by quality_test.cpp.

#include "oracles/quality/quality.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/allocator.h"
#include "ir/loops.h"
#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/quality/max_live.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;

constexpr std::string_view kName = "quality";
// Adds count x weight; nullopt stays, and is what a sum beyond INT64_MAX becomes.
void add_weighted(std::optional<std::int64_t>& sum, std::int64_t count, std::int64_t weight) {
  std::int64_t product = 0, result = 0;
  const bool is_known = sum && !__builtin_mul_overflow(count, weight, &product) && !__builtin_add_overflow(*sum, product, &result);
  sum = is_known ? std::optional(result) : std::nullopt;
}

// What the program before contributes on its own.
struct FiguresBefore {
  explicit FiguresBefore(const Before& before)
      : max_live(oracles::max_live(before.program(), before.cfg())), weights(ir::block_weights(before.program(), before.cfg())) {}

  ir::PerFile<int> max_live;
  std::vector<std::int64_t> weights;  // of each block
};

int registers_of(ir::PerFile<int>& registers, const Function& f, const Inst& i) {
  int pairs = 0;
  for (const ir::Operand& op : f.operands_of(i)) {
    pairs += op.writes() ? 1 : 0;
    if (op.is_preg() && op.role != ir::Role::Clobber && static_cast<int>(op.preg().file) < ir::kNumFiles)
      registers[index(op.preg().file)] = std::max(registers[index(op.preg().file)], op.preg().end());
  }
  return pairs;
}

// A copy whose every pair stands in one place moves nothing.
int moving_pairs(const Function& f, const Inst& i, int pairs) {
  const auto ops = f.operands_of(i);
  int moving = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(pairs) && k + pairs < ops.size(); ++k)
    moving += ops[k].is_preg() && ops[k].names_same(ops[k + pairs]) ? 0 : 1;
  return moving;
}

int bank_conflicts(const Function& f, const Inst& i, const ir::Target& target) {
  if (i.op != Op::Named) return 0;
  std::array<int, 8> units{};  // what an instruction has more of does not read them at once
  std::size_t n = 0;
  int pairs = 0;
  for (const ir::Operand& op : f.operands_of(i)) {
    if (!op.is_preg() || !op.reads() || op.preg().file != ir::RegFile::R || n == units.size()) continue;
    const int unit = op.preg().begin();
    if (std::find(units.begin(), units.begin() + n, unit) != units.begin() + n) continue;
    for (std::size_t k = 0; k < n; ++k) pairs += target.bank(units[k]) == target.bank(unit) ? 1 : 0;
    units[n++] = unit;
  }
  return pairs;
}

bool is_in_shared_memory(const Function& f, const Inst& i) {
  if (i.op == Op::StoreShared || i.op == Op::LoadShared) return true;
  const auto ops = f.operands_of(i);
  return ops.size() > 1 && ops[1].is_slot() && ops[1].slot().index() < f.slots.size() &&
         f.slots[ops[1].slot().index()].space == ir::MemSpace::Shared;
}

int latency_of(const Function& f, const Inst& i) {
  if (ir::is_slot_move(i.op) || ir::is_lowered_access(i.op)) return is_in_shared_memory(f, i) ? kLatency.shared : kLatency.local;
  return i.has(ir::kMemRead) || i.has(ir::kMemWrite) ? kLatency.local : kLatency.arithmetic;
}

}  // namespace

void set_occupancy(Measures& m, std::uint32_t threads, const ir::Target& target) {
  const auto up = [](std::int64_t a, std::int64_t b) { return b <= 0 ? a : (a + b - 1) / b * b; };
  const std::int64_t warps_per_block = std::max<std::int64_t>(1, (static_cast<std::int64_t>(threads) + 31) / 32);
  const std::int64_t registers = std::max(1, m.registers[index(ir::RegFile::R)]);
  const std::int64_t per_warp = up(registers * 32, target.register_granularity);
  std::int64_t blocks = std::min<std::int64_t>(target.max_blocks_per_sm, target.max_warps_per_sm / warps_per_block);
  blocks = std::min(blocks, target.registers_per_sm / per_warp / warps_per_block);
  const std::uint64_t shared = static_cast<std::uint64_t>(m.shared_frame_bytes) * threads;
  if (shared > 0)
    blocks = std::min(blocks, static_cast<std::int64_t>(static_cast<std::uint64_t>(target.shared_bytes_per_sm) / shared));
  m.warps_per_sm = static_cast<int>(blocks * warps_per_block);
  m.occupancy_percent = target.max_warps_per_sm > 0 ? m.warps_per_sm * 100 / target.max_warps_per_sm : 0;
}

namespace {

JudgeResult judge_claims(const Case& c) {
  if (c.claims == nullptr) return without_verdict(kName, Verdict::Skipped, "nothing was claimed");
  const Measures m = c.measures != nullptr ? *c.measures : measure(c.prepared, c.given);
  Collector out(kName);
  for (const ir::RegFile f : ir::kAllFiles)
    if (c.claims->registers[index(f)] != m.registers[index(f)])
      out.add("claims-registers", {}, -1,
              fmt::format("claimed {} registers of file {}, counted {}", c.claims->registers[index(f)], ir::name(f),
                          m.registers[index(f)]));
  if (c.claims->spill_store_bytes != m.spill_store_bytes)
    out.add("claims-spill-store-bytes", {}, -1,
            fmt::format("claimed {} bytes of spill stores, counted {}", c.claims->spill_store_bytes, m.spill_store_bytes));
  if (c.claims->spill_load_bytes != m.spill_load_bytes)
    out.add("claims-spill-load-bytes", {}, -1,
            fmt::format("claimed {} bytes of refills, counted {}", c.claims->spill_load_bytes, m.spill_load_bytes));
  return out.finish();
}

}  // namespace

Measures measure(const Before& before, const Function& after) {
  const auto& figures = before.part<FiguresBefore>();
  Measures m;
  const std::vector<std::int64_t>& weights = figures.weights;
  const auto weight_of = [&](std::size_t b) -> std::int64_t {
    if (b < weights.size()) return weights[b];
    const ir::Block& block = after.blocks[b];
    std::int64_t least = INT64_MAX;
    for (const ir::BlockId end : {block.edge_from, block.edge_to})
      if (end.index() < weights.size()) least = std::min(least, weights[end.index()]);
    return least == INT64_MAX ? 1 : least;
  };
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    m.edge_blocks += after.blocks[b].is_edge_block() ? 1 : 0;
    for (const Inst& i : after.insts_of(ir::BlockId(b))) {
      if (i.is_deleted()) continue;
      ++m.instructions_after;
      m.bank_conflicts += bank_conflicts(after, i, before.target());
      add_weighted(m.estimated_latency, latency_of(after, i), weight_of(b));
      const int pairs = registers_of(m.registers, after, i);
      const auto ops = after.operands_of(i);
      switch (i.op) {
        case Op::Spill:
        case Op::Refill:
        case Op::StoreLocal:
        case Op::LoadLocal:
        case Op::StoreShared:
        case Op::LoadShared: {
          const std::int64_t bytes = !ops.empty() && ops[0].is_preg() ? after.operand_bytes(ops[0]) : 0;
          const bool is_store = i.op == Op::Spill || ir::is_lowered_store(i.op);
          (is_store ? m.spill_stores : m.spill_loads) += 1;
          (is_store ? m.spill_store_bytes : m.spill_load_bytes) += bytes;
          if (is_in_shared_memory(after, i)) m.shared_spill_bytes += bytes;
          add_weighted(m.weighted_spill_bytes, bytes, weight_of(b));
          break;
        }
        case Op::Copy: {
          const int moving = moving_pairs(after, i, pairs);
          (i.is_inserted() ? m.inserted_copies : m.kept_copies) += moving;
          add_weighted(m.weighted_copies, moving, weight_of(b));
          break;
        }
        case Op::Remat: ++m.remats; break;
        case Op::P2R:
        case Op::R2P:
        case Op::BitSpill:
        case Op::BitRefill: ++m.pack_operations; break;
        default: break;
      }
    }
  }
  m.instructions_before = static_cast<std::int64_t>(before.program().insts.size());
  m.local_frame_bytes = after.local_frame;
  m.shared_frame_bytes = after.shared_frame;
  set_occupancy(m, after.threads, before.target());
  m.max_live = figures.max_live;
  return m;
}

const Judge& quality_judge() {
  static constexpr Judge judge(kName, "the figures that the allocator claimed are those of its result", judge_claims);
  return judge;
}

}  // namespace regduel::oracles
