// See write_moves.h.

#include "allocator/walk/write_moves.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "allocator/program/names.h"

namespace regduel::allocator {
namespace {

class Writer {
 public:
  Writer(const SpillCode& code, const ir::Cfg& cfg, std::span<const Walk> walks, std::vector<int> homes,
         std::span<const std::int16_t> unit_of)
      : code_(code), f_(code.f), cfg_(cfg), homes_(std::move(homes)), unit_of_(unit_of) {
    out_.f = f_.clone_header();
    out_.f.reserve(f_.insts.size() + f_.insts.size() / 8, f_.operands.size() + f_.operands.size() / 8);
    out_.slot_root = code.slot_root;
    out_.pack_of = code.pack_of;
    out_.shared_bytes = code.shared_bytes;
    for (const Walk& w : walks) {
      moves_.insert(moves_.end(), w.moves.begin(), w.moves.end());
      edge_moves_.insert(edge_moves_.end(), w.edge_moves.begin(), w.edge_moves.end());
    }
    std::stable_sort(moves_.begin(), moves_.end(), [](const HomeMove& a, const HomeMove& b) { return a.inst < b.inst; });
    std::stable_sort(edge_moves_.begin(), edge_moves_.end(), [](const EdgeMove& a, const EdgeMove& b) {
      return std::pair(a.from_block, a.to_block) < std::pair(b.from_block, b.to_block);
    });
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (homes_[v] < 0 && f_.vregs[v].fixed.is_valid()) homes_[v] = f_.vregs[v].fixed.begin();
    place_edges();
  }

  void run() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    for (const auto& [edge, list] : edge_blocks_) {
      ir::Block attributes;
      attributes.edge_from = BlockId(edge.first);
      attributes.edge_to = BlockId(edge.second);
      out_.f.begin_block(attributes);
      source_ = code_.source[f_.blocks[edge.first].first_inst + f_.blocks[edge.first].num_insts - 1];
      edge_copy(list);
      Inst bra;
      bra.op = Op::Bra;
      bra.flags = ir::kInserted;
      const BlockId target[] = {BlockId(edge.second)};
      out_.f.append(bra, {}, target);
      out_.source.push_back(source_);
    }
  }

  MovedProgram take(std::span<const std::int64_t> frequency) {
    std::vector<std::int64_t> times(frequency.begin(), frequency.end());
    for (const auto& [edge, list] : edge_blocks_) times.push_back(std::min(times[edge.first], times[edge.second]));
    ir::Cfg all(out_.f);
    return {std::move(out_), std::move(all), std::move(times), std::move(homes_)};
  }

 private:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  using List = std::span<const EdgeMove>;

  void place_edges() {
    for (std::size_t k = 0; k < edge_moves_.size();) {
      std::size_t end = k;
      const BlockId from = edge_moves_[k].from_block, to = edge_moves_[k].to_block;
      while (end < edge_moves_.size() && edge_moves_[end].from_block == from && edge_moves_[end].to_block == to) ++end;
      const List list = List(edge_moves_).subspan(k, end - k);
      k = end;
      const auto ops = f_.operands_of(f_.terminator(from));
      const bool touches = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.is_register(); });
      if (cfg_.predecessors(to).size() == 1 && to.value != 0) at_head_[to.value] = list;
      else if (cfg_.successors(from).size() == 1 && !touches) at_tail_[from.value] = list;
      else edge_blocks_[{from.value, to.value}] = list;
    }
    auto number = static_cast<std::uint32_t>(f_.blocks.size());
    for (const auto& [edge, list] : edge_blocks_) number_of_edge_[edge] = number++;
  }

  // The vreg that stands for `v` where it is in this unit.
  VRegId piece(VRegId v, int unit) {
    int& home = homes_[v.index()];
    if (home < 0) home = unit;
    if (home == unit) return v;
    const auto [it, is_new] = pieces_.try_emplace(std::uint64_t{v.value} << 16 | static_cast<std::uint64_t>(unit));
    if (is_new) {
      ir::VReg same = f_.vreg(v);
      same.fixed = {};
      same.hint = {};
      same.name = {};
      it->second = out_.f.add_vreg(same);
      homes_.push_back(unit);
      for (std::size_t k = 0; k < code_.pack_of.size(); ++k)
        if (code_.pack_of[k].first == v) out_.pack_of.emplace_back(it->second, code_.pack_of[k].second);
    }
    return it->second;
  }

  void append(const Inst& inst, std::span<const Operand> ops, std::span<const BlockId> targets) {
    out_.f.append(inst, ops, targets);
    out_.source.push_back(source_);
  }
  void copy() {
    if (defs_.empty()) return;
    defs_.insert(defs_.end(), uses_.begin(), uses_.end());
    Inst inst;
    inst.op = Op::Copy;
    inst.flags = ir::kInserted;
    append(inst, defs_, {});
    defs_.clear();
    uses_.clear();
  }
  void pair(VRegId v, int from, int to) {
    defs_.push_back(Operand::of_vreg(Role::Def, piece(v, to)));
    uses_.push_back(Operand::of_vreg(Role::Use, piece(v, from)));
  }
  void edge_copy(List list) {
    for (const EdgeMove& m : list) pair(m.vreg, m.from, m.to);
    copy();
  }

  void block(BlockId b) {
    out_.f.begin_block(f_.block(b));
    const auto head = at_head_.find(b.value), tail = at_tail_.find(b.value);
    const ir::Block& block = f_.block(b);
    bool at_head = true;
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const Inst& inst = f_.insts[i];
      source_ = code_.source[i];
      if (at_head && !inst.is_deleted()) {
        if (head != at_head_.end()) edge_copy(head->second);
        at_head = false;
      }
      auto m = std::lower_bound(moves_.begin(), moves_.end(), i, [](const HomeMove& x, std::uint32_t at) { return x.inst < at; });
      for (; m != moves_.end() && m->inst == i; ++m) pair(m->vreg, m->from, m->to);
      copy();
      if (inst.is_terminator() && tail != at_tail_.end()) edge_copy(tail->second);
      instruction(inst);
    }
  }
  void instruction(const Inst& inst) {
    const auto ops = f_.operands_of(inst);
    ops_.assign(ops.begin(), ops.end());
    for (std::size_t o = 0; o < ops_.size(); ++o)
      if (const std::int16_t unit = unit_of_[inst.first_operand + o]; unit >= 0 && ops_[o].is_vreg())
        ops_[o].set_vreg(piece(ops_[o].vreg(), unit));
    Inst& added = out_.f.append(inst, ops_, f_.targets_of(inst));
    out_.source.push_back(source_);
    if (number_of_edge_.empty()) return;
    for (BlockId& to : std::span(out_.f.targets).last(added.num_targets)) {
      const auto it = number_of_edge_.find({static_cast<std::uint32_t>(out_.f.blocks.size() - 1), to.value});
      if (it != number_of_edge_.end()) to = BlockId(it->second);
    }
  }

  const SpillCode& code_;
  const Function& f_;
  const ir::Cfg& cfg_;
  std::vector<int> homes_;
  std::span<const std::int16_t> unit_of_;
  std::vector<HomeMove> moves_;
  std::vector<EdgeMove> edge_moves_;
  std::map<std::uint32_t, List> at_head_, at_tail_;
  std::map<Edge, List> edge_blocks_;
  std::map<Edge, std::uint32_t> number_of_edge_;
  std::unordered_map<std::uint64_t, VRegId> pieces_;
  std::vector<Operand> defs_, uses_, ops_;
  std::uint32_t source_ = 0;  // of the instruction at hand
  SpillCode out_;
};

}  // namespace

MovedProgram write_moves(const SpillCode& code, const ir::Cfg& cfg, std::span<const std::int64_t> frequency,
                         std::span<const Walk> walks, std::vector<int> homes, std::span<const std::int16_t> unit_of) {
  Writer writer(code, cfg, walks, std::move(homes), unit_of);
  writer.run();
  return writer.take(frequency);
}

}  // namespace regduel::allocator
