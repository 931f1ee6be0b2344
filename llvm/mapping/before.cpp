#include "llvm/mapping/before.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace regduel::llvm {
namespace {

using Lanes = std::set<Lane>;

bool leaves_undefined(const Inst& i) { return i.op == "IMPLICIT_DEF"; }

class BeforeMapper {
 public:
  BeforeMapper(const Tables& tables, const Dump& before, const Cells& cells) : tables_(tables), d_(before), cells_(cells) {
    for (std::size_t k = 0; k < d_.blocks.size(); ++k) at_[d_.blocks[k].number] = static_cast<int>(k);
  }

  Groups run() {
    const std::vector<Lanes> in = maybe_defined();
    for (std::size_t b = 0; b < d_.blocks.size(); ++b) map_block(static_cast<int>(b), in[b]);
    return std::move(groups_);
  }

 private:
  bool sees(const Operand& o) const { return cells_.sees(o, d_); }

  Lanes live_in(const Block& b) const {
    Lanes lanes;
    for (const int r : b.live_in)
      if (cells_.sees_register(r))
        for (const int u : cells_.units(r)) lanes.insert({-1, u});
    return lanes;
  }

  // Lanes that some path defines. A read of any other is a read of nothing, and left out.
  std::vector<Lanes> maybe_defined() const {
    std::vector<Lanes> in(d_.blocks.size()), gen(d_.blocks.size()), killed(d_.blocks.size());
    for (std::size_t b = 0; b < d_.blocks.size(); ++b) {
      if (b == 0 || d_.blocks[b].is_landing_pad) in[b] = live_in(d_.blocks[b]);
      for (const Inst& i : d_.blocks[b].insts) {
        if (leaves_undefined(i) || is_no_code(i)) continue;
        for (const Lane l : destroyed(i)) gen[b].erase(l), killed[b].insert(l);
        for (const Operand& o : i.ops)
          if (is_live_def(o))
            for (const LaneOperand& l : cells_.lanes(o, d_)) gen[b].insert(l.lane);
      }
    }
    std::vector<std::size_t> work;
    for (std::size_t b = d_.blocks.size(); b-- > 0;) work.push_back(b);
    while (!work.empty()) {
      const std::size_t b = work.back();
      work.pop_back();
      Lanes out = gen[b];
      std::ranges::set_difference(in[b], killed[b], std::inserter(out, out.end()));
      for (const int s : d_.blocks[b].successors) {
        Lanes& to = in[at_.at(s)];
        const std::size_t size = to.size();
        to.insert(out.begin(), out.end());
        if (to.size() != size) work.push_back(at_.at(s));
      }
    }
    return in;
  }

  bool is_live_def(const Operand& o) const { return o.is_def && sees(o) && !(o.vreg < 0 && o.is_dead); }

  // Physical registers that hold nothing behind i: a precoloured vreg of RIR would outlive a clobber.
  Lanes destroyed(const Inst& i) const {
    Lanes lanes;
    for (const Operand& o : i.ops) {
      if (o.kind == OperandKind::Mask)
        for (const int u : cells_.mask(static_cast<int>(o.value))) lanes.insert({-1, u});
      if (o.is_def && o.is_dead && o.vreg < 0 && sees(o))
        for (const int u : cells_.units(o.preg)) lanes.insert({-1, u});
    }
    return lanes;
  }

  int extra() { return kFirstExtra + extras_++; }

  void map_block(int b, const Lanes& in) {
    const Block& block = d_.blocks[b];
    groups_.emplace_back();
    have_ = in;
    if (b == 0 || block.is_landing_pad)
      if (const Lanes lanes = live_in(block); !lanes.empty()) {
        RirInst i{.id = extra(), .op = b == 0 ? "live-in" : "landing-pad", .text = fmt::format("bb{}", block.number)};
        for (const Lane l : lanes) i.defs.push_back({l, {}});
        add({.block = b, .what = b == 0 ? "the registers live into the function" : "the registers live into a landing pad"},
            {std::move(i)});
      }
    for (std::size_t k = 0; k < block.insts.size(); ++k) {
      const Inst& i = block.insts[k];
      if (is_no_code(i)) continue;
      Group g{.source = leaves_undefined(i) ? nullptr : &i, .block = b, .index = static_cast<int>(k)};
      if (g.source != nullptr && i.num == 0) throw Refusal{"number", fmt::format("{} has no number", i.op)};
      std::vector<RirInst> insts = leaves_undefined(i) ? map_implicit_def(i) : map(i);
      if (!insts.empty()) add(std::move(g), std::move(insts));
    }
    RirInst end{.id = extra(), .kind = RirKind::Terminator};
    for (const int s : block.successors)
      if (std::ranges::find(end.successors, at_.at(s)) == end.successors.end()) end.successors.push_back(at_.at(s));
    end.uses.push_back({{-1, -1}, {}});  // the register that branches read
    add({.block = b, .what = "the end of the block"}, {std::move(end)});
  }

  void add(Group g, std::vector<RirInst> insts) {
    g.insts = std::move(insts);
    groups_.back().push_back(std::move(g));
  }

  std::vector<RirInst> map_implicit_def(const Inst& i) {
    std::vector<RirInst> list;
    if (i.ops.empty() || !sees(i.ops[0])) return list;
    const Operand& o = i.ops[0];
    Lanes lanes;
    if (o.vreg >= 0 && o.is_undef)  // nor has the rest of the vreg a value
      for (int k = 0; k < cells_.lane_count(d_.vregs[o.vreg]); ++k) lanes.insert({o.vreg, k});
    for (const LaneOperand& l : cells_.lanes(o, d_))
      if ((o.vreg >= 0 && o.sub.empty()) || (l.part.is_whole() && !l.is_low)) lanes.insert(l.lane);
    return kill(lanes, false, o.vreg < 0);
  }

  // The old values of these lanes are gone.
  std::vector<RirInst> kill(const Lanes& lanes, bool destroys, bool even_if_undefined = false) {
    RirInst i{.id = extra(), .kind = RirKind::Copy, .op = "copy", .kills = true, .destroys = destroys};
    for (const Lane l : lanes) {
      if (have_.erase(l) == 0 && !destroys && !even_if_undefined) continue;
      i.defs.push_back({l, {}});
      i.uses.push_back({{kUndefined, static_cast<int>(i.uses.size())}, {}});
    }
    if (i.defs.empty()) return {};
    return {std::move(i)};
  }

  std::vector<RirInst> map(const Inst& i) {
    std::vector<RirInst> list;
    if (i.has('y') && i.ops.size() >= 2 && sees(i.ops[0]) && sees(i.ops[1]) && !is_low_def(i.ops[0]))
      if (std::optional<RirInst> copy = map_copy(i)) list.push_back(std::move(*copy));
    if (list.empty()) list = map_named(i);
    std::set<Lane> killed;
    // A precoloured vreg of RIR would outlive the clobber.
    Lanes gone = destroyed(i);
    for (const Operand& o : i.ops)
      if (is_live_def(o))
        for (const LaneOperand& l : cells_.lanes(o, d_)) gone.erase(l.lane);
    for (RirInst& k : kill(gone, false)) list.push_back(std::move(k));
    for (const Lane l : destroyed(i)) have_.erase(l);
    for (const Operand& o : i.ops)
      if (is_live_def(o))
        for (const LaneOperand& l : cells_.lanes(o, d_)) have_.insert(l.lane);
    for (const Operand& o : i.ops)
      if (o.is_def && o.is_undef && o.vreg >= 0 && !o.sub.empty() && sees(o)) {
        const std::set<int> mine = cells_.lanes_of_atoms(d_.vregs[o.vreg], o.sub);
        for (int k = 0; k < cells_.lane_count(d_.vregs[o.vreg]); ++k)
          if (!mine.contains(k)) killed.insert({o.vreg, k});
      }
    for (const RirInst& r : list)
      for (const RirOperand& d : r.defs) killed.erase(d.lane);
    for (RirInst& k : kill(killed, false)) list.push_back(std::move(k));
    return list;
  }

  // A def that LLVM says keeps the rest of the vreg, and that is all of it in RIR.
  bool is_low_def(const Operand& o) const {
    if (!o.is_def || o.vreg < 0 || o.sub.empty() || o.is_undef) return false;
    return std::ranges::any_of(cells_.lanes(o, d_), &LaneOperand::is_low);
  }

  // The lanes that a def writes, and how much of each.
  std::vector<RirOperand> written(const Operand& o, int k) const {
    std::vector<RirOperand> list;
    const std::vector<LaneOperand> lanes = cells_.lanes(o, d_);
    for (std::size_t pos = 0; pos < lanes.size(); ++pos) {
      const bool is_all = o.vreg >= 0 && (o.sub.empty() || o.is_undef);
      list.push_back({lanes[pos].lane, is_all ? Part{} : lanes[pos].part, k, static_cast<int>(pos)});
    }
    if (o.vreg >= 0 && o.is_undef && !o.sub.empty())  // the rest of the atom has no value of its own from here on
      for (const int lane : cells_.lanes_of_atoms(d_.vregs[o.vreg], o.sub)) {
        const Lane l{o.vreg, lane};
        if (std::ranges::any_of(list, [&](const RirOperand& d) { return d.lane == l; })) continue;
        list.push_back({l, {}, k, 0, lane - list.front().lane.lane});
      }
    return list;
  }

  std::optional<RirInst> map_copy(const Inst& i) {
    const Operand &d = i.ops[0], &u = i.ops[1];
    std::vector<RirOperand> defs = written(d, 0);
    const std::vector<LaneOperand> uses = cells_.lanes(u, d_);
    if (defs.size() != uses.size()) return std::nullopt;
    const std::set<int> undefined = cells_.undefined_lanes(u, d_);
    RirInst copy{.id = i.num, .kind = RirKind::Copy, .op = "copy"};
    for (std::size_t k = 0; k < defs.size(); ++k) {
      if (d.vreg >= 0 && d.sub.empty()) defs[k].part = cells_.lanes(d, d_)[k].part;
      RirOperand to = defs[k], from{uses[k].lane, uses[k].part, 1, static_cast<int>(k)};
      // The low part of a register stands for all of it where all of the other is written: nothing reads the rest.
      if (to.part.is_whole() && from.part.index == 0) from.part = {};
      else if (to.part.is_whole()) to.part = {from.part.bits, 0};
      else if (from.part.bits != to.part.bits)
        from.part = {to.part.bits, from.part.bits == 0 ? 0 : from.part.index * from.part.bits / to.part.bits};
      if (u.is_undef || !have_.contains(from.lane) || (u.vreg >= 0 && undefined.contains(from.lane.lane)))
        from.lane = {kUndefined, static_cast<int>(k)}, from.op = -1;
      copy.defs.push_back(to), copy.uses.push_back(from);
    }
    return copy;
  }

  std::vector<RirInst> map_named(const Inst& i) {
    RirInst r{.id = i.num, .op = i.op};
    add_defs(i, r);
    for (int k = 0; k < std::ssize(i.ops); ++k) {
      const Operand& o = i.ops[k];
      if (!sees(o) || o.is_def || o.is_undef) continue;
      const std::vector<LaneOperand> lanes = cells_.lanes(o, d_);
      const std::set<int> undefined = cells_.undefined_lanes(o, d_);
      for (std::size_t pos = 0; pos < lanes.size(); ++pos)
        if (have_.contains(lanes[pos].lane) && !undefined.contains(lanes[pos].lane.lane))
          r.uses.push_back({lanes[pos].lane, lanes[pos].part, k, static_cast<int>(pos)});
    }
    for (const RirOperand& def : std::vector(r.defs))  // what keeps the rest reads it
      if (is_low_def(i.ops[def.op]) && have_.contains(def.lane) &&
          std::ranges::none_of(r.uses, [&](const RirOperand& u) { return u.lane == def.lane && u.part.is_whole(); }))
        r.uses.push_back(def), r.uses.back().attribute.clear();
    tie(i, r);
    r.text = text_of(i, d_, cells_, tables_);
    r.flags = flags(i, r);
    if (r.is_rematerialisable()) return rematerialisable(std::move(r));
    return {std::move(r)};
  }

  void add_defs(const Inst& i, RirInst& r) {
    for (int k = 0; k < std::ssize(i.ops); ++k) {
      const Operand& o = i.ops[k];
      if (o.kind == OperandKind::Mask)
        for (const int u : cells_.mask(static_cast<int>(o.value))) r.clobbers.insert(u);
      if (!sees(o) || !o.is_def) continue;
      if (o.vreg < 0 && o.is_dead && !is_defined_besides(i, k)) {
        for (const int u : cells_.units(o.preg)) r.clobbers.insert(u);
        continue;
      }
      for (RirOperand& d : written(o, k)) {
        d.attribute = o.is_early_clobber ? "early" : "";
        // AL and AH are two defs; AL and AX are one.
        const auto size = [](const RirOperand& x) { return x.part.is_whole() ? 64 : x.part.bits; };
        const auto begin = [](const RirOperand& x) { return x.part.bits * x.part.index; };
        const auto is_same = [&](const RirOperand& x) {
          return x.lane == d.lane && begin(x) < begin(d) + size(d) && begin(d) < begin(x) + size(x);
        };
        const bool is_inside = std::ranges::any_of(r.defs, [&](const RirOperand& x) { return is_same(x) && size(x) >= size(d); });
        if (is_inside) continue;
        std::erase_if(r.defs, is_same);
        r.defs.push_back(d);
      }
    }
    widen_over_clobbers(r);
  }

  // A register that is destroyed holds nothing beside the part that is defined: the part is all of it.
  static void widen_over_clobbers(RirInst& r) {
    std::set<int> units;
    std::erase_if(r.defs, [&](RirOperand& d) {
      if (d.lane.vreg != -1 || !r.clobbers.contains(d.lane.lane)) return false;
      d.part = {};
      return !units.insert(d.lane.lane).second;
    });
  }

  // Another operand defines some of these units for good.
  bool is_defined_besides(const Inst& i, int k) const {
    const std::vector<int> mine = cells_.units(i.ops[k].preg);
    for (int n = 0; n < std::ssize(i.ops); ++n) {
      const Operand& o = i.ops[n];
      if (n == k || !o.is_def || o.is_dead || o.vreg >= 0 || !sees(o)) continue;
      for (const int u : cells_.units(o.preg))
        if (std::ranges::find(mine, u) != mine.end()) return true;
    }
    return false;
  }

  void tie(const Inst& i, RirInst& r) {
    for (RirOperand& d : r.defs) {
      const Operand& o = i.ops[d.op];
      if (o.tied < 0 || !d.part.is_whole() || d.beside != 0) continue;
      for (std::size_t u = 0; u < r.uses.size(); ++u)
        if (r.uses[u].op == o.tied && r.uses[u].part.is_whole() && r.uses[u].pos == d.pos)
          d.attribute = fmt::format("tied {}", r.defs.size() + u);
    }
  }

  static std::string flags(const Inst& i, const RirInst& r) {
    const bool reads = i.has('l') || i.has('c') || i.has('u'),
               writes = i.has('s') || i.has('u') || i.has('c') || i.has('t') || i.has('o');
    std::string s;
    if (reads) s += " !read";
    if (writes) s += " !write";
    if (i.has('i') && !writes) s += " !readonly";
    bool may_repeat = i.has('r') && !writes && (!reads || i.has('i')) && !r.defs.empty();
    for (const RirOperand& d : r.defs) may_repeat = may_repeat && d.part.is_whole() && d.attribute.empty();
    if (r.defs.size() > 1 && !r.uses.empty()) may_repeat = false;
    return may_repeat ? s + " !remat" : s;
  }

  // RIR repeats one def, and nothing that destroys: an operation a unit, and what it destroys apart.
  std::vector<RirInst> rematerialisable(RirInst r) {
    std::vector<RirInst> list;
    Lanes destroyed;
    for (const int u : r.clobbers) destroyed.insert({-1, u});
    r.clobbers.clear();
    if (r.defs.size() == 1) list.push_back(std::move(r));
    else
      for (std::size_t k = 0; k < r.defs.size(); ++k) {
        RirInst one = r;
        one.id = k == 0 ? r.id : extra();
        one.op = fmt::format("{}/{}", r.op, k);
        one.defs = {r.defs[k]};
        list.push_back(std::move(one));
      }
    for (RirInst& k : kill(destroyed, true)) list.push_back(std::move(k));
    return list;
  }

  const Tables& tables_;
  const Dump& d_;
  const Cells& cells_;
  std::map<int, int> at_;  // number of a block: its index
  Lanes have_;             // maybe defined here
  int extras_ = 0;
  Groups groups_;
};

}  // namespace

Groups map_before(const Tables& tables, const Dump& before, const Cells& cells) {
  return BeforeMapper(tables, before, cells).run();
}

}  // namespace regduel::llvm
