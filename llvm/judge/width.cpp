#include "llvm/judge/width.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "llvm/mapping/cut.h"

namespace regduel::llvm {
namespace {

// An atom, or piece `piece` of what is spilled to a slot.
struct Place {
  bool is_slot = false;
  int index = 0;
  int piece = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
// The highest bit that is read of what stands there; a place that is not named is read by nobody.
using Demand = std::map<Place, int>;

class WidthJudge {
 public:
  WidthJudge(const Tables& tables, const Dump& before, const Dump& after) : tables_(tables), before_(before), after_(after) {
    for (const Block& b : before_.blocks)
      for (const Inst& i : b.insts)
        if (i.num != 0) originals_.emplace(i.num, &i);
    for (int b = 0; b < std::ssize(after_.blocks); ++b) at_.emplace(after_.blocks[b].number, b);
  }

  std::vector<MirFinding> run() {
    std::vector<Demand> live_in(after_.blocks.size());
    for (bool changes = true; changes;) {
      changes = false;
      for (int b = static_cast<int>(live_in.size()) - 1; b >= 0; --b) {
        Demand now = walk(b, live_in);
        changes = changes || now != live_in[b];
        live_in[b] = std::move(now);
      }
    }
    is_saying_ = true;
    for (int b = 0; b < std::ssize(live_in); ++b) walk(b, live_in);
    return std::move(findings_);
  }

 private:
  Demand walk(int b, const std::vector<Demand>& live_in) {
    demand_.clear();
    block_ = b;
    for (const int s : after_.blocks[b].successors)
      if (const auto it = at_.find(s); it != at_.end())
        for (const auto& [place, bits] : live_in[it->second]) read(place, bits);
    const std::vector<Inst>& insts = after_.blocks[b].insts;
    for (auto i = insts.rbegin(); i != insts.rend(); ++i) step(*i);
    return demand_;
  }

  void step(const Inst& i) {
    const Inst* source = original(i);
    if (i.op == "KILL" || i.op == "COPY") return move_register(i, source);
    if (const std::optional<int> slot = spill_slot(i); slot && (i.stores_to || i.loads_from)) return move_memory(i, source, *slot);
    if (source != nullptr) execute(i, *source);
    else write_explicit(i);  // a rematerialisation, or the like
  }

  const Inst* original(const Inst& i) const {
    if (const auto it = originals_.find(i.num); it != originals_.end()) return it->second;
    const auto as = after_.substitutions.find(i.num);
    const auto it = as == after_.substitutions.end() ? originals_.end() : originals_.find(as->second);
    return it == originals_.end() ? nullptr : it->second;
  }
  std::optional<int> spill_slot(const Inst& i) const {
    for (const Operand& o : i.ops)
      if (o.kind == OperandKind::Frame && !before_.slots.contains(static_cast<int>(o.value))) return static_cast<int>(o.value);
    return std::nullopt;
  }
  const std::vector<Piece>& pieces(const Operand& o) const {
    static const std::vector<Piece> none;
    return o.preg >= 0 && !after_.reserved.contains(o.preg) ? tables_.registers[o.preg].pieces : none;
  }
  static int bits_in_memory(const Inst& i) {
    return i.memory_bytes.empty() || i.memory_bytes[0] <= 0 ? 0 : static_cast<int>(8 * i.memory_bytes[0]);
  }
  // Of a vreg of the program before; 0 = not known.
  int class_bits(int vreg) const {
    const int cls = vreg >= 0 && vreg < std::ssize(before_.vregs) ? before_.vregs[vreg] : -1;
    return cls < 0 ? 0 : tables_.classes[cls].bits;
  }

  void read(Place p, int bits) {
    if (bits > 0) demand_[p] = std::max(demand_[p], bits);
  }
  void write(Place p) { demand_.erase(p); }
  int demand(Place p) const {
    const auto it = demand_.find(p);
    return it == demand_.end() ? 0 : it->second;
  }

  // The vreg that is moved: what the allocator says of what it inserted, what an original copy writes; -1 = not known, or a part of one.
  static int moved_vreg(const Inst& i, const Inst* source) {
    if (source == nullptr) return i.of;
    return source->op == "COPY" && !source->ops.empty() && source->ops[0].sub.empty() ? source->ops[0].vreg : -1;
  }

  // The lowest `bits` of what was at `from` are at `to` from here on. A refill reads no more bits of a slot than its vreg has, so that
  // a spill needs no name of its own.
  void move(const Inst& i, const Inst* source, Place to, Place from, int bits) {
    const int needed = demand(to), whole = class_bits(moved_vreg(i, source));
    if (needed <= bits) write(to);
    else if (to.is_slot) say(i, fmt::format("{} bits are stored, of which {} are read later", bits, needed));
    else if (whole > bits)
      say(i, fmt::format("{} bits of %{} are moved, of which {} are read later", bits, moved_vreg(i, source), needed));
    read(from, std::min({needed, bits, from.is_slot ? whole : bits}));
  }

  void move_register(const Inst& i, const Inst* source) {
    if (i.ops.size() < 2) return;
    const auto &to = pieces(i.ops[0]), &from = pieces(i.ops[1]);
    for (std::size_t k = 0; k < to.size() && k < from.size(); ++k)
      move(i, source, {false, to[k].atom, 0}, {false, from[k].atom, 0}, to[k].offset + std::min(to[k].bits, from[k].bits));
  }

  void move_memory(const Inst& i, const Inst* source, int slot) {
    const bool is_load = i.loads_from.has_value();
    for (const Operand& o : i.ops) {
      if (!o.is_register() || o.is_implicit || o.is_def != is_load || pieces(o).empty()) continue;
      const std::vector<Piece>& ps = pieces(o);
      const int in_memory = bits_in_memory(i);
      int sum = 0;
      for (const Piece& p : ps) sum += p.bits;
      const int vreg = moved_vreg(i, source);
      if (ps.size() > 1 && in_memory > 0 && in_memory < sum && class_bits(vreg) > in_memory)
        say(i, fmt::format("{} of {} bits of %{} are moved", in_memory, class_bits(vreg), vreg));
      for (int k = 0; k < std::ssize(ps); ++k) {
        const int bits = ps.size() == 1 && in_memory > 0 ? in_memory : ps[k].offset + ps[k].bits;
        const Place reg{false, ps[k].atom, 0}, memory{true, slot, k};
        is_load ? move(i, source, reg, memory, bits) : move(i, source, memory, reg, bits);
      }
      return;
    }
  }

  void execute(const Inst& i, const Inst& source) {
    const bool is_same = i.op == source.op;
    const auto is_of_source = [&](int k) { return is_same ? k < std::ssize(source.ops) : !i.ops[k].is_implicit; };
    for (int k = 0; k < std::ssize(i.ops); ++k) {
      const Operand& o = i.ops[k];
      if (!o.is_register() || !o.is_def) continue;
      const bool keeps_rest = is_same && k < std::ssize(source.ops) && !source.ops[k].sub.empty() && !source.ops[k].is_undef;
      for (const Piece& p : pieces(o))
        if (!keeps_rest && p.offset == 0 && p.bits >= 32) write({false, p.atom, 0});
    }
    if (const std::optional<int> slot = spill_slot(i)) use_memory(i, *slot);
    for (int k = 0; k < std::ssize(i.ops); ++k)
      if (const Operand& o = i.ops[k]; o.is_register() && !o.is_def && !o.is_undef && is_of_source(k))
        for (const Piece& p : pieces(o)) read({false, p.atom, 0}, p.offset + p.bits);
  }

  // An original with an operand in its spill slot: it may write it, read it, or both.
  void use_memory(const Inst& i, int slot) {
    const int bits = bits_in_memory(i), whole = class_bits(i.slot_of);
    const int stored = whole == 0 ? 0 : 8 * tables_.classes[before_.vregs[i.slot_of]].spill_bytes;
    if (stored > 0 && bits > stored)
      say(i, fmt::format("{} bits are accessed in the slot of %{}, which has {}", bits, i.slot_of, stored));
    const bool reads = i.has('l');
    if (!reads && bits >= demand({true, slot, 0})) write({true, slot, 0});
    if (reads) read({true, slot, 0}, std::min(bits, stored));
  }

  void write_explicit(const Inst& i) {
    for (const Operand& o : i.ops)
      if (o.is_register() && o.is_def)
        for (const Piece& p : pieces(o))
          if (p.offset == 0 && p.bits >= 32) write({false, p.atom, 0});
  }

  void say(const Inst& i, std::string message) {
    if (!is_saying_) return;
    const Inst* source = original(i);
    findings_.push_back({.judge = "width",
                         .category = "width-too-narrow",
                         .block = machine_block(after_, block_),
                         .before = source == nullptr ? "" : print(*source, before_, tables_),
                         .after = print(i, after_, tables_),
                         .message = std::move(message)});
  }

  const Tables& tables_;
  const Dump &before_, &after_;
  std::map<int, const Inst*> originals_;
  std::map<int, int> at_;  // number of a block: its index
  Demand demand_;
  int block_ = 0;
  bool is_saying_ = false;
  std::vector<MirFinding> findings_;
};

}  // namespace

std::vector<MirFinding> judge_width(const Tables& tables, const Dump& before, const Dump& after) {
  return WidthJudge(tables, before, after).run();
}

}  // namespace regduel::llvm
