// See writer.h.

#include "reference/by_point/writer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/check_macro.h"
#include "ir/loops.h"
#include "reference/by_point/tenants.h"
#include "reference/program/rewrite.h"
#include "reference/spill/worklist.h"
#include "reference/textbook/split_edges.h"

namespace regduel::reference {
namespace {

class Writer {
 public:
  Writer(const Problem& problem, const Plan& plan, const Code& code, const ByPointModel& model, const std::vector<bool>& is_taken,
         ir::Fuel* fuel)
      : p_(problem), f_(problem.program()), code_(code), m_(model), is_taken_(is_taken), fuel_(fuel),
        tenancy_(problem, code, model), pieces_(problem, plan, code_.temps), blocks_(code.blocks.size()),
        head_units_(code.blocks.size()), end_units_(code.blocks.size()) {}

  std::optional<WrittenByPoint> run() {
    find_slots();
    if (has_failed_) return {};
    const std::vector<std::uint32_t> order = reverse_postorder(code_);
    for (const std::uint32_t b : order) {
      block(b);
      if (has_failed_) return {};
    }
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (!code_.blocks[b].is_reachable) unreachable(b);
    join_blocks(code_, order, [&](std::uint32_t b, std::uint32_t s) { return on_edge(b, s); }, p_, blocks_);
    if (has_failed_) return {};
    const Code out = pieces_.code(code_, blocks_);
    if (!pieces_.out_of_reach(out).empty()) return {};
    WrittenByPoint result;
    for (const CodeBlock& b : out.blocks)
      for (const CodeInst& inst : out.insts_of(b))
        if (inst.kind == CodeKind::Refill || inst.kind == CodeKind::Store)
          result.cost += inst.bytes * std::min<std::int64_t>(ir::kMostWeight, static_cast<std::int64_t>(b.freq));
    result.allocation = rewrite(p_, pieces_.plan(), out, pieces_.homes(), std::vector<std::uint8_t>(out.insts.size(), 0), fuel_);
    return result;
  }

 private:
  using Insts = Pieces::Insts;
  // A content that is to be in a register, there as this temp.
  struct Want {
    std::uint32_t content;
    TempId temp;
    int unit;
    ByteMask part = 0;  // that is enough; 0 = all
  };

  [[nodiscard]] bool is_taken(Element e) const { return e != kNoElement && is_taken_[e]; }

  // --- slots ------------------------------------------------------------------------------------------------------
  [[nodiscard]] Element web(Element e) {
    while (leader_[e] != e) e = leader_[e] = leader_[leader_[e]];
    return e;
  }
  void unite(Element a, Element b) {
    if (is_taken(a) && is_taken(b)) leader_[std::max(web(a), web(b))] = std::min(web(a), web(b));
  }
  [[nodiscard]] const Content& at_end(const EdgeModel& e, const EdgeModel::Pair& pair) const {
    return m_.blocks[e.from].contents[m_.blocks[e.from].end[pair.end].content];
  }
  [[nodiscard]] bool is_stored_on(const EdgeModel& e, const EdgeModel::Pair& pair) const {
    return is_taken(m_.blocks[e.to].head[pair.head].head_memory) && !is_taken(at_end(e, pair).memory);
  }
  [[nodiscard]] bool is_refilled_on(const EdgeModel& e, const EdgeModel::Pair& pair) const {
    return is_taken(m_.blocks[e.from].end[pair.end].out) && !is_taken(m_.blocks[e.to].head[pair.head].head) &&
           is_taken(at_end(e, pair).memory);
  }
  void find_slots() {
    leader_.resize(is_taken_.size());
    std::iota(leader_.begin(), leader_.end(), Element{0});
    for (const BlockModel& b : m_.blocks) {
      for (const BlockModel::AtHead& h : b.head) unite(h.head_memory, b.contents[h.content].memory);
      for (const Content& c : b.contents)
        if (c.part_of != kNoIndex) unite(c.memory, b.contents[c.part_of].memory);
    }
    for (const EdgeModel& e : m_.edges)
      for (const EdgeModel::Pair& pair : e.pairs) unite(at_end(e, pair).memory, m_.blocks[e.to].head[pair.head].head_memory);
    for (const EdgeModel& e : m_.edges)
      for (const EdgeModel::Pair& stored : e.pairs)
        for (const EdgeModel::Pair& refilled : e.pairs)
          if (is_stored_on(e, stored) && is_refilled_on(e, refilled) &&
              web(m_.blocks[e.to].head[stored.head].head_memory) == web(at_end(e, refilled).memory))
            has_failed_ = true;
    for (const BlockModel& b : m_.blocks) {
      std::vector<std::uint8_t> at_head(b.contents.size(), 0);
      for (const BlockModel::AtHead& h : b.head) at_head[h.content] = 1;
      const auto overlap = [&](const Content* a, const Content* c) {
        const bool meet_at_head = at_head[static_cast<std::size_t>(a - b.contents.data())] != 0 &&
                                  at_head[static_cast<std::size_t>(c - b.contents.data())] != 0;
        return meet_at_head || (a->begin < c->end && c->begin < a->end);
      };
      std::map<Element, std::vector<const Content*>> by_web;
      for (const Content& c : b.contents)
        if (is_taken(c.memory)) by_web[web(c.memory)].push_back(&c);
      for (const auto& [root, contents] : by_web) {
        for (const Content* a : contents)
          for (const Content* c : contents)
            if (a < c && overlap(a, c)) has_failed_ = true;
        std::uint32_t& bytes = bytes_of_web_[root];
        for (const Content* c : contents) bytes = std::max<std::uint32_t>(bytes, code_.temps[c->temp].bytes);
      }
    }
  }
  std::uint32_t slot(Element memory) {
    const Element root = web(memory);
    const auto [at, is_new] = slots_.try_emplace(root, 0);
    if (is_new) at->second = pieces_.add_slot(bytes_of_web_[root]);
    return at->second;
  }

  // --- inserted code ----------------------------------------------------------------------------------------------
  //   unit_of(content)   where it is now; -1 = in no register
  template <class UnitOf>
  void bring(Insts& to, const BlockModel& block, std::vector<Want> wants, UnitOf&& unit_of) {
    std::ranges::stable_sort(wants, {}, [](const Want& w) { return std::pair(w.content, w.unit); });
    const auto is_same = [](const Want& a, const Want& b) { return a.content == b.content && a.unit == b.unit; };
    wants.erase(std::ranges::unique(wants, is_same).begin(), wants.end());
    std::vector<Pieces::Transfer> moves, copies;
    std::vector<Want> fetched;
    for (std::size_t k = 0; k < wants.size(); ++k) {
      const Want& w = wants[k];
      const int from = unit_of(w.content);
      if (from >= 0 && from != w.unit) moves.push_back({w.temp, w.unit, from});
      if (from >= 0) continue;
      if (fetched.empty() || fetched.back().content != w.content) fetched.push_back(w);
      else if (fetched.back().unit != w.unit) copies.push_back({w.temp, w.unit, fetched.back().unit});
    }
    pieces_.moves(to, moves);
    for (const Want& w : fetched) {
      const Content& c = block.contents[w.content];
      if (!c.is_again) {
        REGDUEL_CHECK(is_taken(c.memory), "a refill of what is not in memory in @" + f_.name);
        if (w.part == 0) pieces_.refill(to, w.temp, w.unit, slot(c.memory));
        else
          for_pieces(w.part, [&](int begin, int bytes) { pieces_.refill_bytes(to, w.temp, w.unit, slot(c.memory), begin, bytes); });
      } else if (c.again != kNoSource) {
        if (w.unit % (1 << again_align_log2(p_, c.again)) != 0) has_failed_ = true;
        pieces_.again(to, w.temp, w.unit, c.again);
      }
    }
    pieces_.moves(to, copies);
  }
  // Where a content begins: all of it, or the part that is new in its slot.
  void store(Insts& to, const BlockModel& block, const Content& c, TempId t, int unit) {
    if (c.part_of == kNoIndex || !is_taken(block.contents[c.part_of].memory)) return pieces_.store(to, t, unit, slot(c.memory));
    for_pieces(c.part, [&](int begin, int bytes) { pieces_.store_bytes(to, t, unit, slot(c.memory), begin, bytes); });
  }
  // Aligned runs of 1, 2, 4 ... bytes.
  template <class See>
  static void for_pieces(ByteMask left, See&& see) {
    const auto mask = [](int begin, int bytes) {
      return byte_mask(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes));
    };
    while (left != 0) {
      const int begin = std::countr_zero(left);
      int bytes = 1;
      while (bytes < 16 && begin % (2 * bytes) == 0 && (left & mask(begin, 2 * bytes)) == mask(begin, 2 * bytes)) bytes *= 2;
      see(begin, bytes);
      left &= ~mask(begin, bytes);
    }
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  void block(std::uint32_t b) {
    BlockModel const& block = m_.blocks[b];
    Insts& out = blocks_[b];
    unit_.assign(block.contents.size(), -1);
    enter(b);
    Insts stores;
    for (const BlockModel::AtHead& h : block.head) {
      const Content& c = block.contents[h.content];
      if (is_taken(c.memory) && !is_taken(h.head_memory)) {
        REGDUEL_CHECK(unit_[h.content] >= 0, "a store of what is in no register in @" + f_.name);
        pieces_.store(stores, h.temps[0], unit_[h.content], slot(c.memory));
      }
    }
    std::size_t next = 0;
    const std::uint32_t end = code_.blocks[b].first_inst + code_.blocks[b].num_insts;
    for (std::uint32_t i = code_.blocks[b].first_inst; i < end && !has_failed_; ++i) {
      if (next < block.points.size() && m_.points[block.points[next]].inst == i) {
        point(b, m_.points[block.points[next++]]);
        continue;
      }
      CodeInst gone = code_.insts[i];
      gone.kind = CodeKind::Deleted;
      gone.num_refs = 0;
      gone.copy_pairs = 0;
      if (gone.source != kNoSource) out.push_back(gone);
    }
    const auto first = std::ranges::find_if(out, [](const CodeInst& i) { return i.kind != CodeKind::Deleted; });  // behind phis
    out.insert(first, stores.begin(), stores.end());
    for (const BlockModel::AtEnd& e : block.end) end_units_[b].push_back(unit_[e.content]);
  }

  void enter(std::uint32_t b) {
    const BlockModel& block = m_.blocks[b];
    std::vector<int> preferred(block.contents.size(), -1);
    for (const EdgeModel& e : m_.edges)
      if (e.to == b && !end_units_[e.from].empty())
        for (const EdgeModel::Pair& pair : e.pairs) {
          int& prefers = preferred[block.head[pair.head].content];
          if (prefers < 0) prefers = end_units_[e.from][pair.end];
        }
    head_units_[b].assign(block.head.size(), -1);
    for (const ir::RegFile file : ir::kAllFiles) {
      const PointTenants tenants =
          tenancy_.at_head(block, file, is_taken_, [&](std::uint32_t content) { return preferred[content]; });
      std::vector<int> units;
      if (pack_point(tenants.tenants, units) != Packing::Fits) has_failed_ = true;
      for (std::size_t h = 0; h < block.head.size(); ++h)
        if (tenants.of_held[h] >= 0 && !has_failed_)
          unit_[block.head[h].content] = head_units_[b][h] = units[static_cast<std::size_t>(tenants.of_held[h])];
    }
  }

  void point(std::uint32_t b, const Point& point) {
    const BlockModel& block = m_.blocks[b];
    Insts& out = blocks_[b];
    std::vector<int> of_operand(point.operands.size(), -1), of_held(point.held.size(), -1);
    for (const ir::RegFile file : ir::kAllFiles) {
      const PointTenants tenants = tenancy_.at(point, file, is_taken_, [&](std::uint32_t content) { return unit_[content]; });
      std::vector<int> units;
      if (pack_point(tenants.tenants, units) != Packing::Fits) {
        has_failed_ = true;
        return;
      }
      const auto take = [&](const std::vector<int>& from, std::vector<int>& to) {
        for (std::size_t k = 0; k < from.size(); ++k)
          if (from[k] >= 0) to[k] = units[static_cast<std::size_t>(from[k])];
      };
      take(tenants.of_operand, of_operand);
      take(tenants.of_held, of_held);
      place_undefined(point, file, of_operand);
    }
    std::vector<Want> wants;
    for (std::size_t k = 0; k < point.held.size(); ++k)
      if (of_held[k] >= 0) wants.push_back({point.held[k].content, point.held[k].temp, of_held[k], part_of(point.held[k])});
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      if (operand.held == kNoIndex || of_operand[o] < 0 || is_taken(operand.no_whole)) continue;
      const Held& h = point.held[operand.held];
      wants.push_back({h.content, operand.temp, of_operand[o], operand.at_writes ? 0 : part_of(h)});
    }
    bring(out, block, std::move(wants), [&](std::uint32_t content) { return unit_[content]; });
    if (point.is_move) move(point, of_operand, block, out);
    else original(point, of_operand, out);
    for (std::size_t k = 0; k < point.held.size(); ++k) {
      const Held& h = point.held[k];
      unit_[h.content] = h.lives_on && h.after != kNoElement && !is_taken(h.after) ? of_held[k] : -1;
    }
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      if (operand.content == kNoIndex) continue;
      const Content& c = block.contents[operand.content];
      if (is_taken(c.memory) && of_operand[o] >= 0) store(out, block, c, operand.temp, of_operand[o]);
      unit_[operand.content] = is_taken(operand.after) ? -1 : of_operand[o];
    }
  }
  // What is read and undefined may stand where anything else does, but for what is written before it.
  void place_undefined(const Point& point, ir::RegFile file, std::vector<int>& of_operand) {
    UnitSet all = tenancy_.available(file, is_taken_);
    const CodeInst& inst = code_.insts[point.inst];
    if (inst.kind == CodeKind::Original && f_.insts[inst.source].op == ir::Op::Ret) all -= p_.callee_saved()[ir::index(file)];
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      const bool is_early = operand.at_writes && operand.at_reads && tenancy_.writes_early(point);
      if (const Temp& t = code_.temps[operand.temp]; is_early && t.file == file && of_operand[o] >= 0)
        all.clear_range(of_operand[o], of_operand[o] + t.units);
    }
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      const Temp& t = code_.temps[operand.temp];
      if (t.file != file || operand.at_writes || !is_undefined(point, operand) || is_architectural(operand.temp)) continue;
      of_operand[o] = t.fixed.is_valid() ? t.fixed.first : all.positions(t.units, t.align_log2).first();
      has_failed_ = has_failed_ || of_operand[o] < 0;
    }
  }
  [[nodiscard]] bool is_architectural(TempId t) const { return t < code_.num_values && code_.temps[t].fixed.is_valid(); }
  // Where the content does not stay, what the instruction reads of it is enough.
  [[nodiscard]] ByteMask part_of(const Held& h) const {
    const bool stays = h.lives_on && h.after != kNoElement && !is_taken(h.after);
    return !h.is_read || stays || h.part == byte_mask(0, code_.temps[h.temp].bytes) ? 0 : h.part;
  }
  [[nodiscard]] int home(const Point& point, const std::vector<int>& of_operand, TempId t) const {
    if (code_.temps[t].fixed.is_valid()) return code_.temps[t].fixed.first;
    const auto at = std::ranges::find(point.operands, t, &PointOperand::temp);
    REGDUEL_CHECK(at != point.operands.end(), "an operand that is not there in @" + f_.name);
    return of_operand[static_cast<std::size_t>(at - point.operands.begin())];
  }
  void original(const Point& point, const std::vector<int>& of_operand, Insts& out) {
    const CodeInst& inst = code_.insts[point.inst];
    const auto home_of = [&](TempId t) { return home(point, of_operand, t); };
    pieces_.original(out, inst, code_.refs_of(inst), home_of);
    const ir::Inst& from = f_.insts[inst.source];
    for (std::uint32_t o = from.first_operand; o < from.first_operand + from.num_operands; ++o)
      if (const TempId t = code_.operand_temp[o]; t != kNoTemp) pieces_.operand(o, t, home_of(t));
  }
  void move(const Point& point, const std::vector<int>& of_operand, const BlockModel& block, Insts& out) {
    const CodeInst& inst = code_.insts[point.inst];
    const auto refs = code_.refs_of(inst);
    const auto to = std::ranges::find(point.operands, refs[0].temp, &PointOperand::temp);
    const auto from = std::ranges::find(point.operands, refs[1].temp, &PointOperand::temp);
    const bool is_outside = to == point.operands.end();
    const int target =
        is_outside ? code_.temps[refs[0].temp].fixed.first : of_operand[static_cast<std::size_t>(to - point.operands.begin())];
    const int source = home(point, of_operand, refs[1].temp);
    if (refs[0].temp == refs[1].temp || (from != point.operands.end() && from->held == kNoIndex && source < 0)) {
      has_failed_ = true;
      return;
    }
    if (source >= 0 && target >= 0) {
      pieces_.original(out, inst, refs, [&](TempId t) { return t == refs[0].temp ? target : source; });
      return;
    }
    const Content* const read = from->held == kNoIndex ? nullptr : &block.contents[point.held[from->held].content];
    const Content* const written = is_outside || to->content == kNoIndex ? nullptr : &block.contents[to->content];
    if (target >= 0 && read != nullptr && is_taken(read->memory)) {
      pieces_.refill_part(out, inst, refs[0].temp, target, slot(read->memory));
    } else if (source >= 0 && written != nullptr && is_taken(written->memory)) {
      pieces_.store_part(out, inst, slot(written->memory), refs[1].temp, source);
    } else {
      has_failed_ = true;
    }
  }
  void unreachable(std::uint32_t b) {
    for (const CodeInst& inst : code_.insts_of(code_.blocks[b])) {
      const auto home_of = [&](TempId t) { return static_cast<int>(code_.temps[t].fixed.first); };
      pieces_.original(blocks_[b], inst, code_.refs_of(inst), home_of);
      if (inst.kind != CodeKind::Original) continue;
      const ir::Inst& from = f_.insts[inst.source];
      for (std::uint32_t o = from.first_operand; o < from.first_operand + from.num_operands; ++o)
        if (const TempId t = code_.operand_temp[o]; t != kNoTemp) pieces_.operand(o, t, home_of(t));
    }
  }

  // --- edges ------------------------------------------------------------------------------------------------------
  Insts on_edge(std::uint32_t b, std::uint32_t s) {
    Insts insts;
    const auto edge = std::ranges::find_if(m_.edges, [&](const EdgeModel& e) { return e.from == b && e.to == s; });
    if (edge == m_.edges.end()) return insts;
    const BlockModel &from = m_.blocks[b], &to = m_.blocks[s];
    std::map<std::uint32_t, int> unit_of;  // by content at the end
    for (std::size_t e = 0; e < from.end.size(); ++e) unit_of[from.end[e].content] = end_units_[b][e];
    std::vector<Want> wants;
    Insts later;
    for (const EdgeModel::Pair& pair : edge->pairs) {
      const std::uint32_t content = from.end[pair.end].content;
      const Content& c = from.contents[content];
      const BlockModel::AtHead& h = to.head[pair.head];
      int unit = head_units_[s][pair.head];
      if (unit >= 0) wants.push_back({content, h.temps[0], unit});
      if (!is_taken(h.head_memory) || is_taken(c.memory) || (c.is_again && c.again == kNoSource)) continue;
      if (unit_of[content] >= 0) {
        pieces_.store(insts, h.temps[0], unit_of[content], slot(h.head_memory));
        continue;
      }
      REGDUEL_CHECK(c.is_again, "a store of what is in no register in @" + f_.name);
      if (unit < 0) {
        unit = idle_unit(s, h.temps[0], again_align_log2(p_, c.again));
        if (unit < 0) return insts;
        pieces_.again(later, h.temps[0], unit, c.again);
      }
      pieces_.store(later, h.temps[0], unit, slot(h.head_memory));
    }
    bring(insts, from, std::move(wants), [&](std::uint32_t content) { return unit_of[content]; });
    insts.insert(insts.end(), later.begin(), later.end());
    return insts;
  }
  // A place that holds nothing at the head of `s`, after all moves.
  int idle_unit(std::uint32_t s, TempId t, int align_log2) {
    const Temp& temp = code_.temps[t];
    UnitSet free = m_.free[ir::index(temp.file)];
    for (std::size_t h = 0; h < m_.blocks[s].head.size(); ++h)
      if (const Temp& o = code_.temps[m_.blocks[s].head[h].temps[0]]; o.file == temp.file && head_units_[s][h] >= 0)
        free.clear_range(head_units_[s][h], head_units_[s][h] + o.units);
    const int unit = free.positions(temp.units, align_log2).first();
    if (unit < 0) has_failed_ = true;
    return unit;
  }

  const Problem& p_;
  const ir::Function& f_;
  Code code_;
  const ByPointModel& m_;
  const std::vector<bool>& is_taken_;
  ir::Fuel* const fuel_;
  Tenancy tenancy_;
  Pieces pieces_;
  std::vector<Insts> blocks_;
  std::vector<std::vector<int>> head_units_, end_units_;  // by block, then by head or end
  std::vector<Element> leader_;
  std::map<Element, std::uint32_t> slots_, bytes_of_web_;  // by web
  std::vector<int> unit_;                                  // by content of the block at hand
  bool has_failed_ = false;
};

}  // namespace

std::optional<WrittenByPoint> write_by_point(const Problem& problem, const Plan& plan, const Code& code, const ByPointModel& model,
                                             const std::vector<bool>& is_taken, ir::Fuel* fuel) {
  return Writer(problem, plan, code, model, is_taken, fuel).run();
}

}  // namespace regduel::reference
