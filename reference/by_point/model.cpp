// See model.h.

#include "reference/by_point/model.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/planted.h"
#include "ir/loops.h"
#include "reference/by_point/room.h"
#include "reference/program/contents.h"
#include "reference/program/liveness.h"

namespace regduel::reference {
namespace {

constexpr auto kMostWeight = static_cast<std::uint64_t>(ir::kMostWeight);

// The index of the program's instruction, if it can be repeated anywhere; else kNoSource.
std::uint32_t repeatable(const Problem& problem, const CodeInst& inst) {
  if (inst.kind == CodeKind::Remat) return inst.remat_of;
  if (REGDUEL_PLANTED("exact-split-nothing-is-computed-again")) return kNoSource;
  if (inst.kind != CodeKind::Original) return kNoSource;
  const ir::Function& f = problem.program();
  const ir::Inst& from = f.insts[inst.source];
  if (!from.is_repeatable()) return kNoSource;
  const auto ops = f.operands_of(from);
  if (!f.is_whole(ops[0]) || f.fixed_of(ops[0]).is_valid() || ops[0].reads()) return kNoSource;
  const bool reads_register = std::any_of(ops.begin() + 1, ops.end(), [](const ir::Operand& op) { return op.is_register(); });
  return reads_register ? kNoSource : inst.source;
}

// By temp: the instruction that computes its content again wherever it is defined, at the head of each block.
class Repeated {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFEu;  // no def reaches
  Repeated(const Problem& problem, const Code& code) : problem_(problem), code_(code), in_(code.blocks.size()) {
    for (auto& in : in_) in.assign(code.temps.size(), kUnknown);
    for (bool changes = true; changes;) {
      changes = false;
      for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
        if (!code.blocks[b].is_reachable) continue;
        std::vector<std::uint32_t> now = in_[b];
        for (const CodeInst& inst : code.insts_of(code.blocks[b])) pass(inst, now);
        for (const std::uint32_t s : code.successors[b])
          for (TempId t = 0; t < now.size(); ++t) {
            std::uint32_t& there = in_[s][t];
            if (now[t] == kUnknown || there == now[t] || there == kNoSource) continue;
            there = there == kUnknown ? now[t] : kNoSource;
            changes = true;
          }
      }
    }
  }
  [[nodiscard]] std::uint32_t at_head(std::uint32_t block, TempId t) const {
    return in_[block][t] == kUnknown ? kNoSource : in_[block][t];
  }

 private:
  void pass(const CodeInst& inst, std::vector<std::uint32_t>& now) const {
    const auto refs = code_.refs_of(inst);
    std::vector<std::pair<TempId, std::uint32_t>> written;
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (!(refs[k].flags & kWrites)) continue;
      const TempId from = code_.source_of(inst, k);
      written.emplace_back(refs[k].temp, from == kNoTemp ? kNoSource : now[from]);
    }
    for (const auto& [t, by] : written) now[t] = by;
    if (!refs.empty() && repeatable(problem_, inst) != kNoSource) now[refs[0].temp] = repeatable(problem_, inst);
  }
  const Problem& problem_;
  const Code& code_;
  std::vector<std::vector<std::uint32_t>> in_;
};

class Builder {
 public:
  Builder(const Problem& problem, const Code& code)
      : p_(problem), f_(problem.program()), code_(code), liveness_(code), contents_(problem, code), repeated_(problem, code),
        live_after_(code.insts.size()), room_(problem, code, m_.free, m_.saved) {
    m_.blocks.resize(code.blocks.size());
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      liveness_.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        live.for_each([&](TempId t) { live_after_[i].push_back(t); });
        std::ranges::sort(live_after_[i]);
        return true;
      });
  }

  ByPointModel run() {
    // Where equal contents are not known, the model counts them several times.
    m_.is_bounded = contents_.is_known();
    find_saved();
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (code_.blocks[b].is_reachable) block(b);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (!code_.blocks[b].is_reachable) continue;
      std::vector<std::uint32_t> successors(code_.successors[b].begin(), code_.successors[b].end());
      std::ranges::sort(successors);
      successors.erase(std::ranges::unique(successors).begin(), successors.end());
      for (const std::uint32_t s : successors) edge(b, s);
    }
    std::vector<std::uint8_t> is_value(code_.num_values, 0);
    for (const auto& live : live_after_)
      for (const TempId t : live)
        if (t < code_.num_values && !is_outside(t)) is_value[t] = 1;
    m_.values = static_cast<std::size_t>(std::ranges::count(is_value, 1));
    return std::move(m_);
  }

 private:
  // What the temps of the block at hand hold at the point at hand.
  struct Now {
    std::uint32_t content;
    std::vector<TempId> temps;
    Element out;
  };

  // --- elements ---------------------------------------------------------------------------------------------------
  SetQuestion& q() { return m_.question; }
  Element element(std::int64_t cost = 0) {
    q().costs.push_back(cost);
    return static_cast<Element>(q().costs.size() - 1);
  }
  void extra(Element taken, Element unless, std::int64_t cost) {
    if (cost > 0 && taken != unless) q().extras.push_back({taken, unless, cost});
  }
  void imply(Element taken, Element also) { q().extras.push_back({taken, also, SetQuestion::kForbidden}); }
  [[nodiscard]] static std::int64_t weight(std::uint64_t freq) { return static_cast<std::int64_t>(std::min(kMostWeight, freq)); }
  [[nodiscard]] std::int64_t cost(TempId t, std::uint32_t b) const { return code_.temps[t].bytes * weight(code_.blocks[b].freq); }

  [[nodiscard]] bool is_outside(TempId t) const { return t < code_.num_values && code_.temps[t].fixed.is_valid(); }
  [[nodiscard]] bool is_live_after(std::uint32_t i, TempId t) const { return std::ranges::binary_search(live_after_[i], t); }

  // Callee-saved registers: those that are saved in any case cost nothing more, nor do any where nothing returns.
  void find_saved() {
    auto moves = weight(p_.freq(ir::BlockId(0)));
    bool returns = false;
    ir::PerFile<UnitSet> touched;
    for (const ir::BlockId b : p_.cfg().reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
        if (f_.insts[i].op == ir::Op::Ret) {
          returns = true;
          moves += weight(p_.freq(b));
        }
        if (const Shape& shape = p_.shape(i); shape.has_clobbers())
          for (const ir::RegFile file : ir::kAllFiles) touched[ir::index(file)] |= (*shape.clobbers)[ir::index(file)];
      }
    }
    for (const Temp& t : code_.temps)
      if (t.fixed.is_valid()) touched[ir::index(t.file)] |= units_of(t.fixed);
    for (const ir::RegFile file : ir::kAllFiles) {
      const UnitSet& saved = p_.callee_saved()[ir::index(file)];
      UnitSet& free = m_.free[ir::index(file)] = p_.allocatable()[ir::index(file)];
      for (int u = saved.first(); u >= 0 && returns; u = saved.next(u + 1)) {
        const std::int64_t cost = moves * ir::unit_bytes(file);
        if (touched[ir::index(file)].has(u)) {
          m_.constant += cost;
          continue;
        }
        if (!free.has(u)) continue;
        free.clear(u);
        m_.saved.push_back({file, u, element(cost)});
      }
    }
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  [[nodiscard]] bool is_join(std::uint32_t b) const {
    return std::ranges::count_if(code_.predecessors[b], [&](std::uint32_t p) { return code_.blocks[p].is_reachable; }) > 1;
  }
  Content& content(std::uint32_t c) { return block_->contents[c]; }
  std::uint32_t add_content(TempId t, std::uint32_t begin) {
    Content c;
    c.temp = t;
    c.begin = c.end = begin;
    block_->contents.push_back(c);
    return static_cast<std::uint32_t>(block_->contents.size() - 1);
  }

  void block(std::uint32_t b) {
    block_ = &m_.blocks[b];
    b_ = b;
    now_.clear();
    contents_.begin(b);
    head(b);
    contents_.walk(b, [&](std::uint32_t i) { instruction(i); });
    for (const Now& n : now_) {
      BlockModel::AtEnd end{n.content, n.out, {}};
      for (const TempId t : n.temps)
        if (std::ranges::binary_search(liveness_.live_out(b), t)) end.temps.push_back(t);
      content(n.content).end = kNoIndex;
      block_->end.push_back(std::move(end));
    }
  }
  [[nodiscard]] TempId least_aligned(const std::vector<TempId>& temps) const {
    return *std::ranges::min_element(temps, {}, [&](TempId t) { return code_.temps[t].align_log2; });
  }
  void head(std::uint32_t b) {
    const std::uint32_t first = code_.blocks[b].first_inst;
    for (const TempId t : liveness_.live_in(b)) {
      if (is_outside(t)) continue;
      auto at = std::ranges::find_if(
          now_, [&](const Now& n) { return std::ranges::any_of(n.temps, [&](TempId o) { return contents_.is_same(t, o); }); });
      if (at == now_.end()) at = now_.insert(at, {add_content(t, first), {}, kNoElement});
      at->temps.push_back(t);
    }
    for (Now& n : now_) {
      std::swap(n.temps[0], *std::ranges::find(n.temps, least_aligned(n.temps)));
      Content& c = content(n.content);
      c.again = repeated_.at_head(b, n.temps[0]);
      for (const TempId t : n.temps)
        if (repeated_.at_head(b, t) != c.again) {
          m_.is_loose = true;
          c.again = c.again == kNoSource ? repeated_.at_head(b, t) : c.again;
        }
      c.is_again = c.again != kNoSource;
      BlockModel::AtHead h{n.content, kNoElement, kNoElement, kNoElement, n.temps};
      if (!c.is_again) {
        c.memory = element();
        n.out = element();
        imply(n.out, c.memory);
        h.head = h.out = n.out;
        h.head_memory = c.memory;
        if (is_join(b)) {
          h.head = element();
          h.head_memory = element();
          imply(h.head, h.head_memory);
          imply(h.head, n.out);
          extra(c.memory, h.head_memory, cost(c.temp, b));
        }
      }
      block_->head.push_back(std::move(h));
    }
    room_.demand(*block_, q());
  }

  // --- instructions -----------------------------------------------------------------------------------------------
  [[nodiscard]] std::uint32_t held_by(TempId t) const {
    for (std::uint32_t k = 0; k < now_.size(); ++k)
      if (std::ranges::find(now_[k].temps, t) != now_[k].temps.end()) return k;
    return kNoIndex;
  }
  void forget(TempId t) {
    for (Now& n : now_) std::erase(n.temps, t);
  }
  void drop_dead(std::uint32_t i) {
    for (Now& n : now_) {
      std::erase_if(n.temps, [&](TempId t) { return !is_live_after(i, t); });
      if (n.temps.empty()) content(n.content).end = std::max(content(n.content).end, i);
    }
    std::erase_if(now_, [](const Now& n) { return n.temps.empty(); });
  }

  [[nodiscard]] bool is_relabelling(const CodeInst& inst) const {
    if (inst.kind == CodeKind::Original) {
      const Shape& shape = p_.shape(inst.source);
      // The list of refs does not have what it writes to an architectural register.
      if (shape.has_clobbers() ||
          std::ranges::any_of(shape.items, [](const Item& item) { return item.architectural && item.at_writes; }))
        return false;
    }
    const auto refs = code_.refs_of(inst);
    bool writes = false;
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (is_outside(refs[k].temp)) return false;
      if (!(refs[k].flags & kWrites)) continue;
      writes = true;
      if (code_.source_of(inst, k) == kNoTemp) return false;
    }
    return writes;
  }

  // A copy of the program in which one value stands twice, and no parts: allocations of the class do not delete copies of parts.
  [[nodiscard]] bool names_twice(const CodeInst& inst) const {
    if (inst.kind != CodeKind::Original || !f_.insts[inst.source].is_copy()) return false;
    const auto ops = f_.operands_of(f_.insts[inst.source]);
    if (std::ranges::any_of(ops, [&](const ir::Operand& op) { return op.is_vreg() && !f_.is_whole(op); })) return false;
    for (std::size_t k = 0; k < ops.size(); ++k)
      for (std::size_t m = k + 1; m < ops.size(); ++m)
        if (ops[k].is_vreg() && ops[m].is_vreg() && f_.root(ops[k].vreg()) == f_.root(ops[m].vreg())) return true;
    return false;
  }

  // A copy that cannot vanish, for its clobbers, and makes a twin of what lives on.
  [[nodiscard]] bool carries(std::uint32_t i) const {
    const CodeInst& inst = code_.insts[i];
    const auto refs = code_.refs_of(inst);
    for (std::size_t k = 0; k < refs.size(); ++k) {
      const TempId from = (refs[k].flags & kWrites) != 0 ? code_.source_of(inst, k) : kNoTemp;
      const std::uint32_t held = from == kNoTemp ? kNoIndex : held_by(from);
      if (held != kNoIndex && std::ranges::any_of(now_[held].temps, [&](TempId t) { return is_live_after(i, t); })) return true;
    }
    return false;
  }

  // Whether such an instruction happens is undefined, and so is what it leaves, which the model takes for a content.
  [[nodiscard]] bool writes_under_undefined_guard(const CodeInst& inst) const {
    const auto refs = code_.refs_of(inst);
    if (inst.kind != CodeKind::Original || std::ranges::none_of(refs, [](const Ref& r) { return (r.flags & kWrites) != 0; }))
      return false;
    const ir::Operand* const guard = ir::guard_of(f_.operands_of(f_.insts[inst.source]));
    if (guard == nullptr || !guard->is_vreg()) return false;
    const TempId t = code_.operand_temp[static_cast<std::size_t>(guard - f_.operands.data())];
    return std::ranges::none_of(refs, [&](const Ref& r) { return r.temp == t && (r.flags & kReads) != 0; });
  }

  void instruction(std::uint32_t i) {
    const CodeInst& inst = code_.insts[i];
    if (inst.kind == CodeKind::Deleted || inst.num_refs == 0) {
      if (inst.kind == CodeKind::Original) point(i, false);
      return;
    }
    if (const std::uint32_t again = repeatable(p_, inst); again != kNoSource) return repeat(i, again);
    if (is_relabelling(inst)) return relabel(i);
    // Such a copy may vanish, or carry what it reads past its clobbers, which the model does not have.
    if (names_twice(inst) || carries(i) || writes_under_undefined_guard(inst)) m_.is_bounded = false;
    point(i, inst.kind == CodeKind::Move);
  }

  // What is computed again wherever it is needed is not computed here.
  void repeat(std::uint32_t i, std::uint32_t again) {
    const TempId t = code_.refs_of(code_.insts[i])[0].temp;
    forget(t);
    if (is_live_after(i, t)) {
      auto at = std::ranges::find_if(now_, [&](const Now& n) {
        return content(n.content).again == again || std::ranges::any_of(n.temps, [&](TempId o) { return contents_.is_same(t, o); });
      });
      if (at == now_.end()) {
        at = now_.insert(at, {add_content(t, i), {}, kNoElement});
        content(at->content).is_again = true;
        content(at->content).again = again;
      }
      if (content(at->content).again != again) m_.is_loose = true;
      at->temps.push_back(t);
    }
    drop_dead(i);
  }

  void relabel(std::uint32_t i) {
    const auto refs = code_.refs_of(code_.insts[i]);
    std::vector<std::pair<TempId, std::uint32_t>> written;
    for (std::size_t k = 0; k < refs.size(); ++k)
      if (refs[k].flags & kWrites) written.emplace_back(refs[k].temp, held_by(code_.source_of(code_.insts[i], k)));
    for (const auto& [t, from] : written) forget(t);
    for (const auto& [t, from] : written) {
      if (!is_live_after(i, t)) continue;
      if (from != kNoIndex) {
        now_[from].temps.push_back(t);
        continue;
      }
      now_.push_back({add_content(t, i), {t}, kNoElement});  // undefined
      content(now_.back().content).is_again = true;
    }
    drop_dead(i);
  }

  void find_operands(std::uint32_t i, Point& point) {
    for (const Ref& r : code_.refs_of(code_.insts[i])) {
      auto at = std::ranges::find(point.operands, r.temp, &PointOperand::temp);
      if (at == point.operands.end()) at = point.operands.insert(at, PointOperand{.temp = r.temp});
      const std::uint32_t held = held_by(r.temp);
      const bool keeps = (r.flags & kWrites) != 0 && (r.flags & kKills) == 0 && held != kNoIndex;
      const bool reads = (r.flags & kReads) != 0;
      at->at_reads |= keeps || (r.flags & kAtReads) != 0;
      at->at_writes |= (r.flags & kWrites) != 0;
      at->partial |= (r.flags & kPartial) != 0;
      at->keeps |= keeps || reads;
      if (keeps || reads) at->held = held;
      // The bytes of the content that another instruction keeps.
      const bool stores_part = keeps && !reads && (r.flags & kPartial) != 0 && (r.flags & kKillsBytes) != 0;
      if (stores_part && parts_.find(r.temp) == parts_.end()) parts_[r.temp] = code_.bytes_of(r).writes;
      else if (stores_part) parts_[r.temp] |= code_.bytes_of(r).writes;
      else parts_[r.temp] = 0;
    }
  }

  void point(std::uint32_t i, bool is_move) {
    Point point;
    point.block = b_;
    point.inst = i;
    point.is_move = is_move;
    parts_.clear();
    find_operands(i, point);
    for (const PointOperand& o : point.operands)
      if (is_outside(o.temp)) m_.is_bounded = false;
    const std::int64_t times = weight(code_.blocks[b_].freq);
    // What is held before it.
    const bool is_end = i + 1 == code_.blocks[b_].first_inst + code_.blocks[b_].num_insts;
    for (std::size_t k = 0; k < now_.size(); ++k) {
      Held h;
      h.content = now_[k].content;
      h.temp = least_aligned(now_[k].temps);
      h.align_log2 = code_.temps[h.temp].align_log2;
      h.again = content(h.content).again;
      h.before = h.after = now_[k].out;
      bool is_named = false;
      for (const PointOperand& o : point.operands) {
        if (o.held != k) continue;
        is_named = true;
        if (!o.at_writes) h.align_log2 = std::max<int>(h.align_log2, code_.temps[o.temp].align_log2);
        const bool is_part = o.at_writes && parts_[o.temp] != 0;
        if (!is_part && !is_move) h.is_read = true;
      }
      if (!is_named && is_end && h.before != kNoElement) refill_at_end(now_[k], h);
      if (h.is_read && h.before != kNoElement) {
        h.part = part_read(i, now_[k]);
        q().costs[h.before] += std::popcount(h.part) * times;
      }
      point.held.push_back(h);
    }
    for (PointOperand& o : point.operands)
      if (o.at_writes) forget(o.temp);
    std::erase_if(point.operands, [&](const PointOperand& o) { return is_move && is_outside(o.temp) && o.at_writes; });
    if (is_move) move_from(i, point);
    // What lives on.
    for (std::size_t k = 0; k < now_.size(); ++k) {
      Held& h = point.held[k];
      h.lives_on = std::ranges::any_of(now_[k].temps, [&](TempId t) { return is_live_after(i, t); });
      const bool is_written_over =
          std::ranges::any_of(point.operands, [&](const PointOperand& o) { return o.at_writes && o.held == k; });
      if (!h.lives_on) {
        h.after = kNoElement;
      } else if ((h.is_read || is_written_over) && h.before != kNoElement) {
        now_[k].out = h.after = element();
        imply(h.after, content(h.content).memory);
        if (h.is_read) extra(h.before, h.after, cost(h.temp, b_) - std::popcount(h.part) * times);
      }
    }
    for (PointOperand& o : point.operands)
      if (o.at_writes) write(i, point, o);
    for (std::uint32_t k = 0; k < point.held.size(); ++k) refill_written_over(point, k);
    drop_dead(i);
    if (!is_move) room_.demand(point, m_.is_loose, q());
    block_->points.push_back(static_cast<std::uint32_t>(m_.points.size()));
    m_.points.push_back(std::move(point));
  }

  // The bytes that the instruction reads of a content, where it writes none of its temps.
  [[nodiscard]] ByteMask part_read(std::uint32_t i, const Now& now) const {
    const ByteMask all = byte_mask(0, code_.temps[now.temps[0]].bytes);
    ByteMask part = 0;
    for (const Ref& r : code_.refs_of(code_.insts[i])) {
      if (std::ranges::find(now.temps, r.temp) == now.temps.end()) continue;
      part |= (r.flags & kWrites) != 0 ? all : code_.bytes_of(r).reads;
    }
    return part == 0 ? all : part;
  }

  // Before a terminator with several successors a refill may serve them all.
  void refill_at_end(Now& now, Held& h) {
    int successors = 0;
    for (const std::uint32_t s : code_.successors[b_])
      successors += std::ranges::any_of(now.temps, [&](TempId t) { return std::ranges::binary_search(liveness_.live_in(s), t); });
    if (successors < 2) return;
    const Element out = element();
    extra(now.out, out, cost(h.temp, b_));
    imply(out, content(h.content).memory);
    now.out = h.before = h.after = out;
  }

  // A move of a part, or from one file to another: it may read its source from memory, as many bytes as it moves.
  void move_from(std::uint32_t i, Point& point) {
    const CodeInst& inst = code_.insts[i];
    const std::int64_t part = inst.bytes * weight(code_.blocks[b_].freq);
    for (PointOperand& o : point.operands) {
      if (o.at_writes || o.held == kNoIndex) continue;
      Held& h = point.held[o.held];
      if (h.before == kNoElement) continue;
      q().costs[h.before] += part;
      if (std::ranges::none_of(now_[o.held].temps, [&](TempId t) { return is_live_after(i, t); })) continue;
      now_[o.held].out = h.after = element();
      extra(h.before, h.after, cost(h.temp, b_) - part);
      imply(h.after, content(h.content).memory);
    }
  }

  void write(std::uint32_t i, Point& point, PointOperand& o) {
    if (!is_live_after(i, o.temp) || is_outside(o.temp)) return;
    const auto shares = std::ranges::find_if(
        now_, [&](const Now& n) { return std::ranges::any_of(n.temps, [&](TempId t) { return contents_.is_same(o.temp, t); }); });
    if (shares != now_.end()) m_.is_loose = true;
    const std::int64_t whole = cost(o.temp, b_);
    o.content = add_content(o.temp, i);
    o.after = element();
    const Element memory = content(o.content).memory = element();
    imply(o.after, memory);
    const ByteMask part = parts_[o.temp];
    const bool writes_part = part != 0 && o.held != kNoIndex && point.held[o.held].before != kNoElement;
    if (!writes_part) {
      q().costs[memory] += whole;
    } else {
      Content& c = content(o.content);
      Held& h = point.held[o.held];
      c.part_of = h.content;
      c.part = part;
      const std::int64_t stored = std::popcount(part) * weight(code_.blocks[b_].freq);
      q().costs[memory] += stored;
      extra(memory, content(c.part_of).memory, whole - stored);
      if (!h.is_read) {
        o.no_whole = element();
        imply(o.no_whole, h.before);
        imply(o.no_whole, o.after);
      }
    }
    now_.push_back({o.content, {o.temp}, o.after});
  }

  // What the instruction writes over and does not read: one refill serves the registers that it writes, and the one in which the content
  // lives on.
  void refill_written_over(const Point& point, std::uint32_t k) {
    const Held& h = point.held[k];
    if (h.is_read || h.before == kNoElement) return;
    std::vector<Element> without;
    for (const PointOperand& o : point.operands)
      if (o.held == k && o.no_whole != kNoElement) without.push_back(o.no_whole);
    if (h.after != kNoElement && h.after != h.before) without.push_back(h.after);
    if (!without.empty()) extra(h.before, all_of(without), cost(h.temp, b_));
  }
  // Taken only where all of these are. Requires some.
  Element all_of(const std::vector<Element>& elements) {
    if (elements.size() == 1) return elements[0];
    const Element all = element();
    for (const Element e : elements) imply(all, e);
    return all;
  }

  // --- edges ------------------------------------------------------------------------------------------------------
  void edge(std::uint32_t b, std::uint32_t s) {
    EdgeModel edge{b, s, {}};
    const BlockModel &from = m_.blocks[b], &to = m_.blocks[s];
    const std::int64_t times = weight(std::min(code_.blocks[b].freq, code_.blocks[s].freq));
    std::map<std::uint32_t, std::vector<std::uint32_t>> heads;  // by end
    for (std::uint32_t h = 0; h < to.head.size(); ++h) {
      std::uint32_t end = kNoIndex;
      bool is_one = true;
      for (std::uint32_t e = 0; e < from.end.size(); ++e)
        for (const TempId t : from.end[e].temps) {
          if (std::ranges::find(to.head[h].temps, t) == to.head[h].temps.end()) continue;
          is_one = is_one && (end == kNoIndex || end == e);
          end = e;
        }
      if (!is_one) m_.is_loose = true;
      if (end == kNoIndex || !is_one) continue;
      edge.pairs.push_back({end, h});
      heads[end].push_back(h);
    }
    for (const auto& [e, those] : heads) {
      const Content& c = from.contents[from.end[e].content];
      const std::int64_t bytes = code_.temps[c.temp].bytes * times;
      std::vector<Element> outs;
      for (const std::uint32_t h : those) {
        if (to.head[h].head == kNoElement) continue;
        outs.push_back(to.head[h].head);
        if (c.is_again) q().costs[to.head[h].head_memory] += c.again == kNoSource ? 0 : bytes;
        else extra(to.head[h].head_memory, c.memory, bytes);
      }
      if (c.is_again || outs.empty()) continue;
      extra(from.end[e].out, all_of(outs), bytes);  // one refill serves them all
    }
    m_.edges.push_back(std::move(edge));
  }

  const Problem& p_;
  const ir::Function& f_;
  const Code& code_;
  Liveness liveness_;
  Contents contents_;
  Repeated repeated_;
  std::vector<std::vector<TempId>> live_after_;  // by instruction, ascending
  ByPointModel m_;
  RoomDemands room_;
  // Of the block at hand.
  BlockModel* block_ = nullptr;
  std::uint32_t b_ = 0;
  std::vector<Now> now_;
  std::map<TempId, ByteMask> parts_;  // that the instruction at hand writes of what it keeps; 0 where it needs all of it
};

}  // namespace

ByPointModel model_by_point(const Problem& problem, const Code& code) { return Builder(problem, code).run(); }

}  // namespace regduel::reference
