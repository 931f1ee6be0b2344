#include "reference/program/problem.h"

#include <algorithm>
#include <utility>

#include "base/grouped.h"
#include "base/planted.h"
#include "ir/loops.h"
#include "ir/memory_through_r.h"

namespace regduel::reference {
namespace {

Temp temp_of(const ir::VReg& v) {
  Temp t;
  t.file = v.file();
  t.units = static_cast<std::uint8_t>(v.units());
  t.align_log2 = v.align_log2;
  t.bytes = static_cast<std::uint16_t>(v.bytes());
  if (v.is_architectural()) t.fixed = v.fixed;
  return t;
}

}  // namespace

Problem::Problem(const ir::Function& f, const ir::Cfg& cfg, const ir::Target& target, const ir::Limits& limits,
                 std::int64_t loop_base, ir::Fuel* fuel)
    : f_(f), cfg_(cfg), target_(target), limits_(f, cfg, limits.of(ir::RegFile::R)),
      memory_through_r_(ir::reaches_memory_through_r(f, target, limits)),
      freq_(block_frequencies(f, cfg, loop_base, std::int64_t{1} << 40)) {
  find_units(target, limits);
  find_shapes();
  find_values();
  prove_possible();
  if (impossible_) return;
  find_remats();
  find_useful();
  find_edges(fuel);
}

UnitSet Problem::closed_at(std::size_t i) const {
  return limits_.vary() ? UnitSet::range(std::min(limits_.before(i), limits_.behind(i)), ir::kMaxUnits) : UnitSet();
}

std::vector<UnitSet> Problem::closed_in(const Code& code, std::uint32_t b) const {
  std::vector<UnitSet> closed;
  if (!limits_.vary()) return closed;
  const CodeBlock& block = code.blocks[b];
  int limit = block.is_edge_block() ? limits_.at_end(block.edge_from) : limits_.at_head(ir::BlockId(b));
  for (const CodeInst& inst : code.insts_of(block)) {
    const bool is_original = inst.kind == CodeKind::Original;
    if (is_original) limit = limits_.behind(inst.source);
    closed.push_back(is_original ? closed_at(inst.source) : UnitSet::range(limit, ir::kMaxUnits));
  }
  return closed;
}

void Problem::find_units(const ir::Target& target, ir::Limits limits) {
  limits.units[ir::index(ir::RegFile::R)] = limits_.most();
  for (const ir::RegFile file : ir::kAllFiles)
    for (int u = 0; u < std::min(limits.of(file), target.units[ir::index(file)]); ++u)
      if (ir::is_allocatable(target, f_.abi, limits, file, u)) allocatable_[ir::index(file)].set(u);
  for (const ir::VReg& v : f_.vregs)
    if (v.is_architectural() && v.fixed.is_valid()) allocatable_[ir::index(v.fixed.file)] -= units_of(v.fixed);
  if (f_.kind != ir::FunctionKind::Device) return;
  const bool returns = std::ranges::any_of(f_.insts, [](const ir::Inst& i) { return i.op == ir::Op::Ret; });
  const bool entry_is_head = !cfg_.predecessors(ir::BlockId(0)).empty();
  ir::PerFile<UnitSet> given_up;  // what the program clobbers itself need not be saved
  for (const ir::Operand& op : f_.operands)
    if (op.role == ir::Role::Clobber) given_up[ir::index(op.preg().file)] |= units_of(op.preg());
  for (const ir::PReg r : target.abi(f_.abi).callee_saved) {
    UnitSet units = units_of(r) & allocatable_[ir::index(r.file)];
    units -= given_up[ir::index(r.file)];
    // A save at the head of a block that is entered again would save the wrong thing, and one through R takes a register of R.
    // A register above the least limit is not restored everywhere.
    const bool is_saved_through_r = memory_through_r() && r.file != ir::RegFile::R;
    const int first_lost = entry_is_head || is_saved_through_r ? 0 : r.file == ir::RegFile::R ? limits_.least() : ir::kMaxUnits;
    const UnitSet lost = units & UnitSet::range(first_lost, ir::kMaxUnits);
    allocatable_[ir::index(r.file)] -= lost;
    if (returns) callee_saved_[ir::index(r.file)] |= units - lost;
  }
}

void Problem::find_shapes() {
  shapes_.resize(f_.insts.size());
  for (std::size_t i = 0; i < f_.insts.size(); ++i)
    if (!f_.insts[i].is_phi()) find_shape(f_, f_.insts[i], shapes_[i]);
}

void Problem::find_values() {
  values_.reserve(f_.vregs.size());
  for (const ir::VReg& v : f_.vregs) values_.push_back(temp_of(v));
  operand_roots_.assign(f_.operands.size(), kNoTemp);
  for (std::size_t o = 0; o < f_.operands.size(); ++o)
    if (f_.operands[o].is_vreg()) operand_roots_[o] = f_.root(f_.operands[o].vreg()).value;
  phi_value_.assign(f_.insts.size(), kNoTemp);
  for (std::size_t i = 0; i < f_.insts.size(); ++i) {
    if (!f_.insts[i].is_phi()) continue;
    const ir::Operand& def = f_.operands_of(f_.insts[i])[0];
    const ir::Storage s = f_.storage(def);
    phi_value_[i] = static_cast<TempId>(values_.size());
    // A phi of a whole root is shaped like the root, so that the two can share a register; one of a part like the part.
    Temp phi = temp_of(f_.is_whole(s) ? f_.vreg(s.root) : f_.vreg(def.vreg()));
    if (!f_.is_whole(s)) phi.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(8 * phi.bytes));
    phi.fixed = {};
    values_.push_back(phi);
  }
}

bool Problem::is_plain_copy(std::size_t i) const {
  const ir::Inst& inst = f_.insts[i];
  if (!inst.is_copy() || inst.num_operands != 2 || shapes_[i].is_guarded || shapes_[i].has_clobbers()) return false;
  const auto ops = f_.operands_of(inst);
  if (ops[0].is_tied() || ops[0].is_early_clobber()) return false;
  return std::ranges::all_of(ops, [&](const ir::Operand& op) { return !f_.fixed_of(op).is_valid() && f_.is_whole(op); });
}

Homes Problem::packed(std::size_t i) const {
  const bool is_ret = f_.insts[i].op == ir::Op::Ret;
  if (!is_ret && !limits_.vary()) return pack(shapes_[i], allocatable_, callee_saved_);
  ir::PerFile<UnitSet> there = allocatable_;
  for (std::size_t k = 0; is_ret && k < there.size(); ++k) there[k] -= callee_saved_[k];
  there[ir::index(ir::RegFile::R)] -= closed_at(i);
  return pack(shapes_[i], there, callee_saved_);
}

void Problem::prove_possible() {
  ir::PerFile<UnitRun> runs;  // of units that may be used anywhere
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t k = ir::index(file);
    const int end = file == ir::RegFile::R ? limits_.least() : ir::kMaxUnits;
    runs[k] = longest_run((allocatable_[k] - callee_saved_[k]) & UnitSet::range(0, end));
  }
  for (std::size_t i = 0; i < f_.insts.size() && !impossible_; ++i) {
    const bool is_phi = f_.insts[i].is_phi();
    if (!is_phi && !is_roomy(shapes_[i], runs)) impossible_ = packed(i).failed;
    // Each operand must fit alone, because between two slots it passes through a register. Architectural vregs are in one.
    for (const ir::Operand& op : is_phi ? f_.operands_of(f_.insts[i]) : std::span<const ir::Operand>()) {
      const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
      if (root.is_architectural()) continue;
      UnitSet there = allocatable_[ir::index(root.file())];
      if (root.file() == ir::RegFile::R) there -= closed_at(i);
      if (there.positions(root.units(), root.align_log2).none()) impossible_ = root.file();
    }
    if (impossible_) impossible_inst_ = f_.insts[i].id;
  }
}

void Problem::find_remats() {
  remat_def_.assign(values_.size(), kNoSource);
  std::vector<std::uint32_t> writers(f_.vregs.size(), 0);
  for (const ir::BlockId b : cfg_.reverse_postorder()) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = f_.insts[i];
      const auto ops = f_.operands_of(inst);
      for (const ir::Operand& op : ops)
        if (op.is_vreg() && op.writes()) ++writers[f_.root(op.vreg()).index()];
      bool is_repeatable = inst.has(ir::kRematerialisable) && (!inst.has(ir::kMemRead) || inst.has(ir::kReadOnly));
      if (REGDUEL_PLANTED("briggs-remat-of-a-memory-read")) is_repeatable = inst.has(ir::kRematerialisable);
      if (!is_repeatable || std::any_of(ops.begin() + 1, ops.end(), [](const ir::Operand& op) { return op.is_register(); }))
        continue;
      // A def that is fixed to a register would be fixed to it wherever it is repeated.
      if (!f_.fixed_of(ops[0]).is_valid()) remat_def_[f_.root(ops[0].vreg()).index()] = i;
    }
  }
  for (std::size_t v = 0; v < f_.vregs.size(); ++v)
    if (writers[v] != 1) remat_def_[v] = kNoSource;
}

void Problem::find_useful() {
  is_useful_.assign(values_.size(), 0);
  std::vector<TempId> work;
  const auto mark = [&](TempId v) {
    if (is_useful_[v]) return;
    is_useful_[v] = 1;
    work.push_back(v);
  };
  std::vector<std::pair<TempId, TempId>> copies;  // into, from
  for (const ir::BlockId b : cfg_.reverse_postorder()) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const auto ops = f_.operands_of(f_.insts[i]);
      if (f_.insts[i].is_phi()) {
        copies.emplace_back(f_.root(ops[0].vreg()).value, phi_value_[i]);
        for (const ir::Operand& op : ops.subspan(1)) copies.emplace_back(phi_value_[i], f_.root(op.vreg()).value);
      } else if (is_plain_copy(i)) {
        copies.emplace_back(f_.root(ops[0].vreg()).value, f_.root(ops[1].vreg()).value);
      } else {
        for (const ir::Operand& op : ops)
          if (op.is_vreg() && op.reads()) mark(f_.root(op.vreg()).value);
      }
    }
  }
  Grouped<TempId> sources;
  sources.build_from(values_.size(), copies, [](const auto& c) { return c.first; }, [](const auto& c) { return c.second; });
  while (!work.empty()) {
    const TempId v = work.back();
    work.pop_back();
    for (const TempId s : sources[v]) mark(s);
  }
}

void Problem::find_edges(ir::Fuel* fuel) {
  for (const ir::BlockId to : cfg_.reverse_postorder()) {
    if (!f_.insts_of(to).front().is_phi()) continue;
    const auto reachable = std::ranges::count_if(cfg_.predecessors(to), [&](ir::BlockId p) { return cfg_.is_reachable(p); });
    for (const ir::BlockId from : cfg_.predecessors(to)) {
      if (!cfg_.is_reachable(from)) continue;
      if (cfg_.successors(from).size() == 1 && ir::may(fuel, "copies-at-tail")) tail_edges_.push_back({from, to});
      else if (reachable == 1 && ir::may(fuel, "copies-at-head")) head_edges_.push_back({from, to});
      else split_edges_.push_back({from, to});
    }
  }
  std::ranges::sort(tail_edges_);
  std::ranges::sort(split_edges_);
  std::ranges::sort(head_edges_, {}, &Edge::to);
}

Plan Problem::all_in_registers(ir::Fuel* fuel) const {
  Plan plan;
  plan.locations.resize(values_.size());
  plan.is_pinned.assign(f_.insts.size(), 0);
  if (fuel == nullptr) return plan;
  for (std::size_t v = 0; v < values_.size(); ++v)
    if (!values_[v].fixed.is_valid() && !fuel->spend("keep-in-register"))
      plan.locations[v] = Location::in_slot(plan.add_slot(slot_bytes(values_[v])));
  return plan;
}

Plan Problem::all_in_memory() const {
  Plan plan;
  for (const Temp& value : values_)
    plan.locations.push_back(value.fixed.is_valid() ? Location() : Location::in_slot(plan.add_slot(slot_bytes(value))));
  plan.is_pinned.assign(f_.insts.size(), 1);
  return plan;
}

}  // namespace regduel::reference
