// The greatest solution, from above: the first path that reaches a block brings its contents, others take away. See contents.h.

#include "oracles/uniform/contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "oracles/before.h"
#include "oracles/pair/match.h"
#include "oracles/symbolic/plan.h"
#include "oracles/uniform/bit_flow.h"

namespace regduel::oracles::uniform {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

struct Content {
  std::array<std::uint32_t, 2> ids = {};  // 0 = none; 1 + the cell of a name; behind these, a word of a `const`
  std::uint32_t bytes = 0;                // of the cell, a bit each, that are in the same bytes of the word

  [[nodiscard]] bool is_none() const { return ids[0] == 0; }
  [[nodiscard]] bool has(std::uint32_t id) const { return id != 0 && (ids[0] == id || ids[1] == id); }
  void add(std::uint32_t id) {
    if (!has(id)) ids = {id, ids[0]};
  }
  void remove(std::uint32_t id) {
    if (ids[1] == id) ids[1] = 0;
    else if (ids[0] == id) ids = {ids[1], 0};
  }
  // What both have.
  void meet(const Content& other) {
    for (const std::uint32_t id : std::array(ids))
      if (id != 0 && !other.has(id)) remove(id);
    bytes &= other.bytes;
  }
  friend bool operator==(const Content&, const Content&) = default;
};
using Contents = std::vector<std::pair<std::uint32_t, Content>>;  // by cell

// At a point. Behind the cells of the program come the bits of packs, 32 for each unit of file R.
class State {
 public:
  explicit State(const Cells& cells)
      : first_of_r_(cells.of_unit(ir::RegFile::R, 0)), num_cells_(cells.size()), contents_(num_cells_ + 32 * ir::kMaxUnits),
        is_listed_(contents_.size(), 0), has_bits_(ir::kMaxUnits, 0) {}

  [[nodiscard]] const Content& of(std::uint32_t cell) const { return contents_[cell]; }
  [[nodiscard]] std::uint32_t bit_of(std::uint32_t pack, std::uint32_t bit) const {
    return num_cells_ + 32 * (pack - first_of_r_) + bit;
  }
  [[nodiscard]] bool is_unit_of_r(std::uint32_t cell) const { return cell - first_of_r_ < ir::kMaxUnits; }
  void set(std::uint32_t cell, Content content) {
    contents_[cell] = content;
    if (content.is_none()) return;
    if (cell >= num_cells_) has_bits_[(cell - num_cells_) / 32] |= 1U << (cell - num_cells_) % 32;
    if (std::exchange(is_listed_[cell], 1) == 0) listed_.push_back(cell);
  }
  void forget(std::uint32_t cell) {
    contents_[cell] = {};
    if (!is_unit_of_r(cell)) return;
    for (std::uint32_t bits = std::exchange(has_bits_[cell - first_of_r_], 0); bits != 0; bits &= bits - 1)
      contents_[bit_of(cell, static_cast<std::uint32_t>(std::countr_zero(bits)))] = {};
  }
  void replace(std::uint32_t listed, const Content& content) { contents_[listed] = content; }
  void assign(const Contents& contents) {
    for (const std::uint32_t cell : listed_) contents_[cell] = {}, is_listed_[cell] = 0;
    listed_.clear();
    for (const auto& [cell, content] : contents) set(cell, content);
  }
  [[nodiscard]] std::span<const std::uint32_t> listed() const { return listed_; }

 private:
  std::uint32_t first_of_r_, num_cells_;
  std::vector<Content> contents_;
  std::vector<std::uint32_t> listed_;  // cells that have, or had, a content since assign(); each once
  std::vector<char> is_listed_;
  std::vector<std::uint32_t> has_bits_;  // by unit of R: bits that have, or had, a content
};

void each_cell(const Place& p, const auto& action) {
  for (std::uint32_t k = 0; k < p.cells(); ++k) {
    const std::uint32_t begin = k == 0 ? p.offset : 0, end = std::min(p.offset + p.size - k * p.step, p.step);
    action(k, (1U << end) - (1U << begin));
  }
}

class Analysis {
 public:
  Analysis(const Case& c, const Cells& cells, const ir::Cfg& cfg, const std::vector<char>& declared,
           const std::vector<char>& is_undefined)
      : before_(c.before), after_(c.after), ids_(c.prepared.ids()), cells_(cells),
        names_(c.prepared.part<symbolic::NamesBefore>().cells), cfg_(cfg), declared_(declared), is_undefined_(is_undefined),
        state_(cells), heads_(cfg.num_blocks()), is_reached_(cfg.num_blocks(), 0), found_(after_.operands.size(), 0) {}

  [[nodiscard]] std::vector<char> run() {
    std::vector<char> is_due(cfg_.num_blocks(), 1);
    is_reached_[cfg_.reverse_postorder().front().index()] = 1;
    for (bool again = true; again;) {
      again = false;
      for (const ir::BlockId b : cfg_.reverse_postorder()) {
        if (std::exchange(is_due[b.index()], 0) == 0) continue;
        state_.assign(heads_[b.index()]);
        const ir::Block& block = after_.block(b);
        for (std::uint32_t k = block.first_inst; k < block.first_inst + block.num_insts; ++k) step(after_.insts[k]);
        for (const ir::BlockId s : cfg_.successors(b))
          if (flow_into(b, s)) is_due[s.index()] = 1, again = again || cfg_.rpo_index(s) <= cfg_.rpo_index(b);
      }
    }
    return std::move(found_);
  }

 private:
  // Whether something was taken away, or the block is reached for the first time.
  bool flow_into(ir::BlockId from, ir::BlockId to) {
    list_renamed_on_edge(from, to);
    Contents& head = heads_[to.index()];
    if (std::exchange(is_reached_[to.index()], 1) == 0) {
      for (const std::uint32_t cell : state_.listed())
        if (const Content c = renamed(state_.of(cell)); !c.is_none()) head.emplace_back(cell, c);
      return true;
    }
    bool shrank = false;
    for (auto& [cell, c] : head) {
      const Content old = c;
      c.meet(renamed(state_.of(cell)));
      shrank = shrank || c != old;
    }
    return shrank;
  }
  // What the phis of `to` read of declared vregs on the edge, and what they define; both as ids.
  void list_renamed_on_edge(ir::BlockId from, ir::BlockId to) {
    renamed_.clear();
    if (to.index() >= before_.blocks.size()) return;
    while (from.index() >= before_.blocks.size() && cfg_.predecessors(from).size() == 1) from = cfg_.predecessors(from).front();
    const ir::Block& block = before_.block(to);
    for (std::uint32_t k = block.first_inst; k < block.first_inst + block.num_insts && before_.insts[k].is_phi(); ++k) {
      const Inst& i = before_.insts[k];
      const auto ops = before_.operands_of(i);
      const auto targets = before_.targets_of(i);
      if (ops.empty()) continue;
      const auto use = static_cast<std::size_t>(std::ranges::find(targets, from) - targets.begin()) + 1;
      rename_by(ops[0], use < ops.size() ? &ops[use] : nullptr);
    }
  }

  [[nodiscard]] bool is_declared(const Operand& op) const { return op.is_vreg() && declared_[op.vreg().index()] != 0; }
  [[nodiscard]] bool has_content(const Place& p) const {
    bool all = p.size != 0;
    each_cell(p, [&](std::uint32_t k, std::uint32_t bytes) {
      const Content& c = state_.of(p.cell + k);
      all = all && !c.is_none() && (bytes & ~c.bytes) == 0;
    });
    return all;
  }

  void step(const Inst& i) {
    const auto ops = after_.operands_of(i);
    const std::uint32_t at = i.is_inserted() ? IdIndex::kNone : ids_.find(i.id);
    const auto want = at == IdIndex::kNone ? std::span<const Operand>() : before_.operands_of(before_.insts[at]);
    const bool is_guarded = ir::is_guarded(ops);
    for (const Operand& op : ops)
      if (op.is_preg() && op.reads() && ir::is_uniform(op.preg().file))
        found_[static_cast<std::size_t>(&op - after_.operands.data())] = has_content(cells_.of_operand(op)) ? 1 : 0;
    if (i.is_phi()) return;  // done on the edges
    list_renamed(at, want, is_guarded);
    if (i.is_deleted()) return rename();
    if (ir::packs_bits(i.op)) return move_bits_of(i, is_guarded);
    moved_.clear();
    defined_.clear();
    if (!is_guarded && (i.is_copy() || ir::is_slot_move(i.op))) list_moved(i, ops);
    if (i.op == Op::Remat) list_remat(i, ops);
    if (at != IdIndex::kNone && !ir::is_slot_move(i.op)) list_defined(before_.insts[at], ops, want, is_guarded);
    for (const Operand& op : ops)
      if (op.writes() || op.role == Role::Clobber) forget(cells_.of_operand(op));
    if (i.op == Op::Spill)
      for (const Operand& op : ops)
        if (op.is_slot()) forget(cells_.of_slot(op, cells_.moved_by(ops)));
    for (const auto& [cell, content] : moved_) state_.set(cell, content);
    rename();
    for (const auto& [cell, content] : defined_) state_.set(cell, joined(state_.of(cell), content));
  }
  void forget(const Place& p) {
    for (std::uint32_t k = 0; k < p.cells(); ++k) state_.forget(p.cell + k);
  }
  // What a copy brought, and the def that is there now.
  static Content joined(Content moved, const Content& defined) {
    if (moved.is_none() || moved.bytes != defined.bytes) return defined;
    moved.add(defined.ids[0]);
    return moved;
  }
  // Of the instruction of the program: the declared vregs that change, each with what a copy gives it.
  void list_renamed(std::uint32_t at, std::span<const Operand> want, bool is_guarded) {
    renamed_.clear();
    if (at == IdIndex::kNone) return;
    const bool is_copy = before_.insts[at].is_copy() && !is_guarded;
    const auto num_defs = static_cast<std::size_t>(std::ranges::count(want, Role::Def, &Operand::role));
    for (std::size_t k = 0; k < want.size(); ++k)
      if (want[k].writes()) rename_by(want[k], is_copy && k + num_defs < want.size() ? &want[k + num_defs] : nullptr);
  }
  void rename_by(const Operand& def, const Operand* use) {
    if (!is_declared(def)) return;
    const Place to = names_.of_operand(def), from = use != nullptr && is_declared(*use) ? names_.of_operand(*use) : Place{};
    const bool is_wordwise = from.size == to.size && from.step == to.step && from.offset == 0 && to.offset == 0;
    for (std::uint32_t w = 0; w < to.cells(); ++w) renamed_.emplace_back(is_wordwise ? 1 + from.cell + w : 0, 1 + to.cell + w);
  }
  [[nodiscard]] Content renamed(const Content& have) const {
    Content c = have;
    for (const auto& [use, def] : renamed_) c.remove(def);
    for (const auto& [use, def] : renamed_)
      if (have.has(use)) c.add(def);
    return c;
  }
  void rename() {
    if (renamed_.empty()) return;
    for (const std::uint32_t cell : state_.listed()) state_.replace(cell, renamed(state_.of(cell)));
  }
  void list_defined(const Inst& before, std::span<const Operand> ops, std::span<const Operand> want, bool is_guarded) {
    const bool is_const = before.op == Op::Const;
    const auto is_undefined = [&](const Operand& op) {
      return is_undefined_[static_cast<std::size_t>(&op - before_.operands.data())] != 0;
    };
    const auto num_defs = static_cast<std::size_t>(std::ranges::count(want, Role::Def, &Operand::role));
    // What a pack or unpack makes of something undefined is undefined, as a copy is; other results are values.
    if ((before.op == Op::Pack || before.op == Op::Unpack) && std::ranges::any_of(want, is_undefined)) return;
    for (std::size_t k = 0; k < std::min(ops.size(), want.size()); ++k) {
      if (!ops[k].is_preg() || !ops[k].writes() || !(is_declared(want[k]) || (is_const && !is_guarded))) continue;
      if (before.is_copy() && (k + num_defs >= want.size() || is_undefined(want[k + num_defs]))) continue;
      const Place place = cells_.of_operand(ops[k]), name = names_.of_operand(want[k]);
      if (is_declared(want[k]) && (name.step != place.step || name.offset != place.offset || name.size != place.size)) continue;
      const std::uint32_t first = is_declared(want[k]) ? 1 + name.cell : id_of_const(want[k]);
      each_cell(place, [&](std::uint32_t w, std::uint32_t bytes) {
        const Content& old = state_.of(place.cell + w);
        const std::uint32_t kept = old.has(first + w) ? old.bytes : 0;
        if (is_guarded ? kept != 0 : true) defined_.push_back({place.cell + w, {{first + w, 0}, is_guarded ? kept : bytes | kept}});
      });
    }
  }
  // Of the first word of its def.
  [[nodiscard]] std::uint32_t id_of_const(const Operand& def) const {
    return 1 + names_.size() + kMostWords * static_cast<std::uint32_t>(&def - before_.operands.data());
  }
  void list_remat(const Inst& i, std::span<const Operand> ops) {
    const std::uint32_t at = ids_.find(i.ref);
    if (at == IdIndex::kNone || before_.insts[at].op != Op::Const) return;
    const auto want = before_.operands_of(before_.insts[at]);
    if (ops.empty() || want.empty() || !ops[0].is_preg() || ops[0].role != Role::Def) return;
    const Place place = cells_.of_operand(ops[0]);
    each_cell(place, [&](std::uint32_t w, std::uint32_t bytes) {
      moved_.push_back({place.cell + w, {{id_of_const(want[0]) + w, 0}, bytes}});
    });
  }
  void list_moved(const Inst& i, std::span<const Operand> ops) {
    const auto move = [&](const Place& to, const Place& from) {
      if (to.step != from.step || to.offset != from.offset || to.size != from.size) return;
      each_cell(to, [&](std::uint32_t k, std::uint32_t bytes) {
        const Content& c = state_.of(from.cell + k);
        if (!c.is_none() && (c.bytes & bytes) != 0) moved_.push_back({to.cell + k, {c.ids, c.bytes & bytes}});
      });
    };
    if (i.is_copy()) {
      moves_.list.clear();
      moves_.add(
          i.op, ops, [&](std::size_t k) { return cells_.of_operand(ops[k]); }, [](std::size_t) { return BitMove::Source::Cells; });
      for (const BitMove& m : moves_.list) move(m.to, m.from);
      return;
    }
    const auto slot = std::ranges::find_if(ops, [](const Operand& op) { return op.is_slot(); });
    const auto reg = std::ranges::find_if(
        ops, [](const Operand& op) { return op.is_register() && op.role != Role::Guard && op.role != Role::Clobber; });
    const std::uint32_t size = cells_.moved_by(ops);
    if (size == 0 || slot == ops.end() || reg == ops.end()) return;
    const Place memory = cells_.of_slot(*slot, size), place = cells_.of_operand(*reg);
    if (i.op == Op::Spill) move(memory, place);
    else move(place, memory);
  }
  void move_bits_of(const Inst& i, bool is_guarded) {
    const PackForm form = pack_form(after_, i);
    if (form.pack == nullptr || !form.pack->is_preg()) return;
    const std::uint32_t pack = cells_.of_operand(*form.pack).cell;
    if (form.is_into_pack) state_.set(pack, {});
    for (const PackedPredicate& p : form.predicates) {
      if (p.bit > 31 || !p.predicate->is_preg()) continue;
      const std::uint32_t predicate = cells_.of_operand(*p.predicate).cell;
      const std::uint32_t bit = state_.bit_of(pack, static_cast<std::uint32_t>(p.bit));
      const auto [to, from] = form.is_into_pack ? std::pair(bit, predicate) : std::pair(predicate, bit);
      state_.set(to, is_guarded ? Content{} : state_.of(from));
    }
  }

  static constexpr std::uint32_t kMostWords = 64;  // of a def
  const Function& before_;
  const Function& after_;
  const IdIndex& ids_;
  const Cells& cells_;
  const Cells& names_;
  const ir::Cfg& cfg_;
  const std::vector<char>& declared_;
  const std::vector<char>& is_undefined_;
  State state_;
  std::vector<Contents> heads_;   // by block
  std::vector<char> is_reached_;  // by block
  std::vector<char> found_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> renamed_;
  Contents moved_, defined_;  // of the step at hand: by copies, in the names before it; and by its defs
  BitMoves moves_;
};

}  // namespace

std::vector<char> reads_of_contents(const Case& c, const Cells& cells, const ir::Cfg& cfg, const std::vector<char>& declared,
                                    const std::vector<char>& is_undefined) {
  return Analysis(c, cells, cfg, declared, is_undefined).run();
}

}  // namespace regduel::oracles::uniform
