// See spilled_values.h.
#include "cli/show/spilled_values.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/show/live_map.h"
#include "cli/show/output.h"
#include "ir/cfg.h"
#include "ir/loops.h"

namespace regduel::cli {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;

class Attribution {
 public:
  Attribution(const Function& before, const Function& after)
      : before_(before), after_(after), cfg_(after), depths_(ir::loop_depths(after, cfg_)),
        weights_(ir::block_weights(after, cfg_)) {
    for (const Inst& i : before.insts) originals_[i.id.value] = &i;
  }

  std::vector<SpilledValue> values() {
    attribute_slots();
    for (std::size_t b = 0; b < after_.blocks.size(); ++b) {
      const std::span<const Inst> insts = after_.insts_of(ir::BlockId(b));
      for (std::size_t k = 0; k < insts.size(); ++k) count(b, insts, k);
    }
    keep_places();
    std::vector<SpilledValue> list;
    for (auto& [vreg, value] : values_) list.push_back(std::move(value));
    std::ranges::stable_sort(list, [](const SpilledValue& a, const SpilledValue& b) {
      return std::tuple(a.weighted_bytes, a.remats) > std::tuple(b.weighted_bytes, b.remats);
    });
    return list;
  }

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  // The root that this operand of an original instruction stands for; kUnknown where it touches none of the registers.
  [[nodiscard]] std::uint32_t root_in(const Inst& i, ir::PReg r, bool writes) const {
    const auto original = originals_.find(i.id.value);
    if (i.is_inserted() || original == originals_.end()) return kUnknown;
    const auto ops = before_.operands_of(*original->second), placed = after_.operands_of(i);
    for (std::size_t o = 0; o < std::min(ops.size(), placed.size()); ++o) {
      if (!ops[o].is_vreg() || !placed[o].is_preg() || (writes ? !ops[o].writes() : !ops[o].reads())) continue;
      const ir::PReg p = placed[o].preg();
      if (p.file == r.file && p.begin() < r.end() && r.begin() < p.end()) return before_.root(ops[o].vreg()).value;
    }
    return kUnknown;
  }
  // Inserted instructions that write the registers end the search.
  [[nodiscard]] bool overwrites(const Inst& i, ir::PReg r) const {
    return std::ranges::any_of(after_.operands_of(i), [&](const Operand& op) {
      return op.is_preg() && op.writes() && op.preg().file == r.file && op.preg().begin() < r.end() && r.begin() < op.preg().end();
    });
  }
  [[nodiscard]] std::uint32_t root_of(std::span<const Inst> insts, std::size_t k) const {
    const auto ops = after_.operands_of(insts[k]);
    if (ops.empty() || !ops[0].is_preg()) return kUnknown;
    const ir::PReg r = ops[0].preg();
    if (insts[k].op == Op::Spill) {
      for (std::size_t at = k; at-- > 0;) {
        if (const std::uint32_t root = root_in(insts[at], r, true); root != kUnknown) return root;
        if (overwrites(insts[at], r)) break;
      }
      return kUnknown;
    }
    for (std::size_t at = k + 1; at < insts.size(); ++at) {
      if (const std::uint32_t root = root_in(insts[at], r, false); root != kUnknown) return root;
      if (overwrites(insts[at], r)) break;
    }
    return kUnknown;
  }

  static bool is_move(const Inst& i) { return i.is_inserted() && !i.is_deleted() && (i.op == Op::Spill || i.op == Op::Refill); }
  [[nodiscard]] std::optional<std::uint32_t> slot_of(const Inst& i) const {
    for (const Operand& op : after_.operands_of(i))
      if (op.is_slot()) return op.slot().value;
    return std::nullopt;
  }

  // The value that most of the spill code of a slot is of.
  void attribute_slots() {
    std::map<std::uint32_t, std::map<std::uint32_t, int>> votes;
    for (std::size_t b = 0; b < after_.blocks.size(); ++b) {
      const std::span<const Inst> insts = after_.insts_of(ir::BlockId(b));
      for (std::size_t k = 0; k < insts.size(); ++k)
        if (const auto slot = slot_of(insts[k]); slot && is_move(insts[k]))
          if (const std::uint32_t root = root_of(insts, k); root != kUnknown) ++votes[*slot][root];
    }
    for (const auto& [slot, roots] : votes)
      slots_[slot] = std::ranges::max_element(roots, {}, [](const auto& vote) { return vote.second; })->first;
  }

  void count(std::size_t b, std::span<const Inst> insts, std::size_t k) {
    const Inst& i = insts[k];
    if (!i.is_inserted() || i.is_deleted() || (i.op != Op::Spill && i.op != Op::Refill && i.op != Op::Remat)) return;
    std::uint32_t root = root_of(insts, k);
    if (const auto slot = slot_of(i); root == kUnknown && slot && slots_.contains(*slot)) root = slots_[*slot];
    if (i.op == Op::Remat)
      if (const auto original = originals_.find(i.ref.value); original != originals_.end())
        for (const Operand& op : before_.operands_of(*original->second))
          if (op.is_vreg() && op.writes() && root == kUnknown) root = before_.root(op.vreg()).value;
    SpilledValue& v = values_[root];
    v.vreg = root == kUnknown ? ir::VRegId() : ir::VRegId(root);
    v.depth = std::max(v.depth, depths_[b]);
    if (i.op == Op::Remat) {
      ++v.remats;
      return;
    }
    const auto ops = after_.operands_of(i);
    const std::int64_t bytes = !ops.empty() && ops[0].is_preg() ? after_.operand_bytes(ops[0]) : 0;
    (i.op == Op::Spill ? v.stores : v.refills) += 1;
    (i.op == Op::Spill ? v.store_bytes : v.load_bytes) += bytes;
    std::int64_t weighted = 0;
    if (__builtin_mul_overflow(bytes, weights_[b], &weighted) ||
        __builtin_add_overflow(v.weighted_bytes, weighted, &v.weighted_bytes))
      v.weighted_bytes = INT64_MAX;
  }

  // Names, lines and registers of the program before.
  void keep_places() {
    if (values_.empty()) return;
    const LiveMap live(before_);
    std::map<ir::RegFile, std::vector<int>> pressure;
    for (std::size_t h = 0; h < live.holders().size(); ++h) {
      const Holder& holder = live.holders()[h];
      const auto value = values_.find(holder.number);
      if (value == values_.end()) continue;
      const auto [at, is_new] = pressure.try_emplace(holder.file);
      if (is_new) at->second = live.pressure(holder.file);
      for (const LiveRange r : live.ranges(h))
        for (std::size_t k = r.begin / 2; k < std::min((r.end + 1) / 2, at->second.size()); ++k)
          value->second.registers = std::max(value->second.registers, at->second[k]);
    }
    for (const Inst& i : before_.insts)
      for (const Operand& op : before_.operands_of(i)) {
        if (!op.is_vreg() || !op.writes()) continue;
        const auto value = values_.find(before_.root(op.vreg()).value);
        if (value != values_.end() && value->second.source.empty()) value->second.source = before_.source_place(i);
      }
    for (auto& [root, value] : values_)
      if (root != kUnknown) value.name = std::string(before_.symbols[before_.vregs[root].name]);
  }

  const Function &before_, &after_;
  ir::Cfg cfg_;
  std::vector<int> depths_;
  std::vector<std::int64_t> weights_;
  std::map<std::uint32_t, const Inst*> originals_;  // by id
  std::map<std::uint32_t, std::uint32_t> slots_;    // to roots
  std::map<std::uint32_t, SpilledValue> values_;    // by root
};

}  // namespace

std::vector<SpilledValue> spilled_values(const Function& before, const Function& after) {
  return Attribution(before, after).values();
}

nlohmann::ordered_json json_of(const std::vector<SpilledValue>& values) {
  using Document = nlohmann::ordered_json;
  Document list = Document::array();
  for (const SpilledValue& v : values)
    list.push_back({{"vreg", v.vreg.is_valid() ? Document(v.vreg.value) : Document(nullptr)},
                    {"name", v.name},
                    {"source", v.source},
                    {"stores", v.stores},
                    {"refills", v.refills},
                    {"remats", v.remats},
                    {"store_bytes", v.store_bytes},
                    {"load_bytes", v.load_bytes},
                    {"weighted_bytes", v.weighted_bytes},
                    {"depth", v.depth},
                    {"registers", v.registers}});
  return list;
}

std::string text_of(const std::vector<SpilledValue>& values, int columns) {
  if (values.empty()) return "";
  Table table({"value", "line", "stores", "refills", "remats", "bytes", "weighted bytes", "depth", "kept with"}, 2);
  for (const SpilledValue& v : values)
    table.row({v.vreg.is_valid() ? fmt::format("%{}{}", v.vreg.value, v.name.empty() ? "" : " " + v.name) : "(unknown)", v.source,
               fmt::format("{}", v.stores), fmt::format("{}", v.refills), fmt::format("{}", v.remats),
               fmt::format("{}", v.store_bytes + v.load_bytes), fmt::format("{}", v.weighted_bytes), fmt::format("{}", v.depth),
               v.registers > 0 ? fmt::format("{}", v.registers) : "?"});
  return table.text_within(columns, {"remats", "depth", "line"});
}

}  // namespace regduel::cli
