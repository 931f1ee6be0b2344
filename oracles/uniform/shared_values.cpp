// Values of declared names are marked first. What other names hold at heads of blocks is assumed to be shared, then taken back where
// an edge or a branch speaks against it, until nothing changes: the greatest solution. See shared_values.h. Marks at blocks ask
// which branches vary, so that these are looked for with the marks everywhere.

#include "oracles/uniform/shared_values.h"

#include <algorithm>
#include <array>
#include <span>

#include "oracles/before.h"
#include "oracles/uniform/copied_out.h"
#include "oracles/uniform/divergence.h"

namespace regduel::oracles::uniform {

using symbolic::Plan;
using symbolic::State;
using symbolic::Step;
using symbolic::StepKind;
using symbolic::StepOperand;

// Marks what declared names hold: at heads, behind each instruction, and on edges.
class SharedValues::Marker final : public symbolic::Observer {
 public:
  explicit Marker(SharedValues& shared) : shared_(shared), plan_(shared.plan_) {}

  void at_head(std::uint32_t block, State& state) override {
    block_ = block;
    mark_live(block, state);
  }
  void before_step(std::uint32_t, State&) override {}
  void after_step(std::uint32_t step, State& state) override {
    const Step& s = plan_.steps[step];
    if (s.kind != StepKind::Operate && s.kind != StepKind::Gather && s.kind != StepKind::Rename) return;
    for (const StepOperand& op : plan_.operands_of(s)) {
      if ((op.role != ir::Role::Def && op.role != ir::Role::DefUse) || op.name.size == 0) continue;
      for (std::uint32_t k = 0; k < op.name.cells(); ++k) {
        const std::uint32_t n = op.name.cell + k;
        if (shared_.is_declared_[n] == 0) continue;
        if (op.leaf != kBottom) shared_.mark(op.leaf + k, plan_.bytes_of_name[n], kEverywhere);
        mark_name(n, state);
        if (s.guard != symbolic::kNoIndex) mark_sides(state.names[n], plan_.bytes_of_name[n]);
      }
    }
  }
  // A copy for the phi stands where the edge is the only one, at its end or at its beginning.
  void on_edge(std::uint32_t edge, State& state) override {
    const symbolic::FlowEdge& e = plan_.edges[edge];
    const symbolic::Range out = plan_.edges_of[e.from];
    block_ = out.end - out.begin > 1 && plan_.num_preds[e.to] == 1 ? e.to : e.from;
    mark_live(e.to, state);
  }

 private:
  void mark_live(std::uint32_t block, const State& state) {
    for (const std::uint32_t n : plan_.live_names[block]) mark_name(n, state);
  }
  void mark_name(std::uint32_t n, const State& state) {
    if (shared_.is_declared_[n] != 0) shared_.mark(state.names[n], plan_.bytes_of_name[n], block_);
  }
  // What threads find alike, they find alike under each outcome of a guard.
  void mark_sides(Value v, std::uint8_t counted) {
    Values& values = plan_.values;
    for (const Value b : shared_.bytes_of(v, counted))
      for (const Value token : shared_.tokens_in(b)) {
        shared_.mark_byte(values.gate(token, values.where(b, token, true), kBottom), block_);
        shared_.mark_byte(values.gate(token, kBottom, values.where(b, token, false)), block_);
      }
  }

  SharedValues& shared_;
  Plan& plan_;
  std::uint32_t block_ = 0;
};

// What each name holds on each edge, and which branches go by a condition that may vary.
class SharedValues::Edges final : public symbolic::Observer {
 public:
  struct Incoming {
    std::uint32_t block = 0, at = 0;  // position among the live names of the block
    std::uint32_t from = 0;
    Value value = kTop;
  };

  explicit Edges(SharedValues& shared) : shared_(shared), plan_(shared.plan_), varies_(plan_.blocks.size(), 0) {}

  void at_head(std::uint32_t block, State&) override {
    block_ = block;
    shared_.move_to(block);
  }
  void before_step(std::uint32_t step, State& state) override {
    if (step + 1 != plan_.blocks[block_].end) return;
    for (const StepOperand& op : plan_.operands_of(plan_.steps[step])) {
      if (op.role != ir::Role::Use || op.name.size == 0) continue;
      for (std::uint32_t k = 0; k < op.name.cells(); ++k) {
        const std::uint32_t n = op.name.cell + k;
        if (shared_.is_declared_[n] != 0) continue;
        for (const Value b : shared_.bytes_of(state.names[n], plan_.bytes_of_name[n]))
          if (!shared_.is_shared(b)) varies_[block_] = 1;
      }
    }
  }
  void after_step(std::uint32_t, State&) override {}
  void on_edge(std::uint32_t edge, State& state) override {
    const std::uint32_t to = plan_.edges[edge].to;
    const auto names = plan_.live_names[to];
    for (std::uint32_t k = 0; k < names.size(); ++k) incoming.push_back({to, k, plan_.edges[edge].from, state.names[names[k]]});
  }
  // By block: two ways from a branch that varies meet there.
  [[nodiscard]] std::vector<char> meeting_points() const {
    std::vector<char> meets(plan_.blocks.size(), 0);
    Blocks successors(plan_.blocks.size()), predecessors(plan_.blocks.size());
    for (const symbolic::FlowEdge& e : plan_.edges) successors[e.from].push_back(e.to), predecessors[e.to].push_back(e.from);
    for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b)
      if (varies_[b] != 0 && !successors[b].empty()) mark_meeting_points(successors, predecessors, plan_.order, b, meets);
    return meets;
  }

  [[nodiscard]] std::span<const char> varies() const { return varies_; }

  std::vector<Incoming> incoming;

 private:
  SharedValues& shared_;
  Plan& plan_;
  std::uint32_t block_ = 0;
  std::vector<char> varies_;
};

SharedValues::SharedValues(const Case& c, Plan& plan, symbolic::FixedPoint& analysis, const std::vector<char>& declared)
    : case_(c), plan_(plan), analysis_(analysis), values_(plan.values), is_declared_(plan.num_names(), 0),
      meets_(plan.blocks.size(), 1), marks_(plan) {
  for (std::size_t v = 0; v < declared.size(); ++v) {
    if (declared[v] == 0 || c.before.vregs[v].alias.is_valid()) continue;
    const Place p = plan.names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v)));
    std::fill_n(is_declared_.begin() + p.cell, p.cells(), char{1});
  }
  block_of_.assign(c.before.insts.size(), symbolic::kNoIndex);
  for (const std::uint32_t b : plan.order)
    for (const Step& s : plan.steps_of(b))
      if (s.original != symbolic::kNoIndex && s.kind != StepKind::Remat) block_of_[s.original] = b;
  Marker marker(*this);
  for (const std::uint32_t b : plan.order) analysis.walk(b, nullptr, &marker);
  marks_.drop_local([&](Value v) { return is_shared(v); });
  // As long as that is enough, each branch may go by a condition that varies, and is not looked at.
  const std::vector<char> all_vary(plan.blocks.size(), 1);
  marks_.settle(all_vary, [&](Value v) { return blocks_that_make(v); });
  ++round_;
}

bool SharedValues::add_marks_before_branches() {
  if (!marks_.has_local()) return false;
  marks_.show_local();
  add_heads();
  Edges edges(*this);
  for (const std::uint32_t b : plan_.order) analysis_.walk(b, nullptr, &edges);
  marks_.settle(edges.varies(), [&](Value v) { return blocks_that_make(v); });
  assumed_.clear();
  ++round_;
  return true;
}

std::array<Value, 4> SharedValues::bytes_of(Value v, std::uint8_t counted) {
  if (counted == symbolic::kOneByte) return {v, kTop, kTop, kTop};
  std::array<Value, 4> bytes = values_.bytes(v);
  for (std::size_t k = 0; k < 4; ++k)
    if ((counted >> k & 1) == 0) bytes[k] = kTop;
  return bytes;
}

void SharedValues::mark(Value v, std::uint8_t counted, std::uint32_t block) {
  for (const Value b : bytes_of(v, counted)) mark_byte(b, block);
}

// What is made in the block is found nowhere without it, so that its mark may hold everywhere. That spares most programs the look
// at what branches go by.
void SharedValues::mark_byte(Value b, std::uint32_t block) {
  if (b == kTop || b == kBottom || marks_.is_everywhere(b)) return;
  if (block == kEverywhere || is_made_in(b, block)) marks_.add(b);
  else marks_.add_at(b, block);
}

void SharedValues::move_to(std::uint32_t block) {
  if (marks_.move_to(block)) ++round_;
}

bool SharedValues::is_shared(Value v) {
  if (v < answers_.size() && answers_[v].round == round_) return answers_[v].is_yes;
  const bool answer = decide(v);
  if (answers_.size() <= v) answers_.resize(values_.size());
  answers_[v] = {round_, answer};
  return answer;
}

bool SharedValues::is_shared_leaf(Value v) const {
  if (marks_.has(v)) return true;
  if (v < assumed_.size() && assumed_[v] > 0) return true;
  const Values::Node& n = values_[v];
  switch (n.kind) {
    case ValueKind::Bottom:
    case ValueKind::Top: return true;
    case ValueKind::Opaque: return !values_.is_unsatisfiable(v);  // undefined content of a register
    case ValueKind::Def:
    case ValueKind::Constant: return case_.before.insts[n.a].op == ir::Op::Const;
    case ValueKind::Saved: return is_uniform_location(plan_, n.a);
    default: break;
  }
  return false;
}

bool SharedValues::decide(Value v) {
  if (is_shared_leaf(v)) return true;
  const Values::Node n = values_[v];  // a copy: the values grow meanwhile
  if (n.kind == ValueKind::Byte) return is_shared_leaf(n.a);
  if (n.kind == ValueKind::Bit || n.kind == ValueKind::Seen) return is_shared(n.a);
  if (n.kind == ValueKind::Gate) {
    const auto is_open = [](Value x) { return x == kTop || x == kBottom; };
    return (is_open(n.b) || is_open(n.c) || is_shared(n.a)) && is_shared(n.b) && is_shared(n.c);
  }
  const auto kids = values_.children(n);
  const std::vector<Value> parts(kids.begin(), kids.end());
  return !parts.empty() && std::ranges::all_of(parts, [&](Value part) { return is_shared(part); });
}

std::vector<Value> SharedValues::parts_of(Value v) const {
  std::vector<Value> parts = {v};
  const auto add = [&](Value part) {
    if (std::ranges::find(parts, part) == parts.end() && parts.size() < kMostParts) parts.push_back(part);
  };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Values::Node& n = values_[parts[k]];
    if (n.kind == ValueKind::Byte || n.kind == ValueKind::Bit || n.kind == ValueKind::Seen) add(n.a);
    if (n.kind == ValueKind::Gate) add(n.a), add(n.b), add(n.c);
    for (const Value part : values_.children(n)) add(part);
  }
  return parts;
}

bool SharedValues::has_number_of_block(Value v, std::uint32_t block) const {
  const auto is_of_block = [&](Value part) { return values_[part].kind == ValueKind::Merged && values_[part].a == block; };
  return std::ranges::any_of(parts_of(v), is_of_block);
}

std::vector<std::uint32_t> SharedValues::blocks_that_make(Value v) const {
  std::vector<std::uint32_t> blocks;
  for (const Value part : parts_of(v)) {
    const Values::Node& n = values_[part];
    if (n.kind == ValueKind::Merged) blocks.push_back(n.a);
    if (n.kind == ValueKind::Def && block_of_[n.a] != symbolic::kNoIndex) blocks.push_back(block_of_[n.a]);
  }
  return blocks;
}

bool SharedValues::is_made_in(Value v, std::uint32_t block) const {
  const Values::Node& n = values_[v];
  if (n.kind == ValueKind::Merged) return n.a == block;
  if (n.kind == ValueKind::Def) return block_of_[n.a] == block;
  if (n.kind == ValueKind::Byte || n.kind == ValueKind::Bit) return is_made_in(n.a, block);
  const std::vector<std::uint32_t> blocks = blocks_that_make(v);
  return std::ranges::find(blocks, block) != blocks.end();
}

std::vector<Value> SharedValues::tokens_in(Value v) const {
  std::vector<Value> tokens;
  for (const Value part : parts_of(v))
    if (const Value token = values_.token_of(part); token != kBottom && std::ranges::find(tokens, token) == tokens.end())
      tokens.push_back(token);
  return tokens;
}

std::vector<SharedValues::Head> SharedValues::heads_of(const Edges& edges) {
  meets_ = edges.meeting_points();
  std::vector<Head> heads;
  const auto& in = edges.incoming;
  for (std::size_t k = 0; k < in.size();) {
    const std::uint32_t block = in[k].block, at = in[k].at;
    Head head;
    head.begin = k;
    while (k < in.size() && in[k].block == block && in[k].at == at) ++k;
    head.end = k;
    // There is one more way into the function.
    if (block == plan_.order.front()) continue;
    const std::uint32_t name = plan_.live_names[block][at];
    head.value = analysis_.entry(block).names[at];
    head.meets = meets_[block] != 0;
    head.counted = plan_.bytes_of_name[name];
    if (is_declared_[name] != 0) continue;
    for (const Value b : bytes_of(head.value, head.counted))
      if (has_number_of_block(b, block)) head.pieces.push_back(b);
    if (!head.pieces.empty()) heads.push_back(std::move(head));
  }
  return heads;
}

// By value at a head: the one value that comes in, or itself where there are several.
std::vector<Value> SharedValues::sole_values(const std::vector<Head>& heads, const Edges& edges) {
  std::vector<Value> sole(values_.size(), kTop);
  std::vector<char> is_at_head(values_.size(), 0);
  for (const Head& head : heads) is_at_head[head.value] = 1;
  for (bool grew = true; grew;) {
    grew = false;
    for (const Head& head : heads) {
      Value found = kTop;
      for (std::size_t k = head.begin; k < head.end; ++k) {
        const Value v = edges.incoming[k].value;
        const bool is_of_head = v < is_at_head.size() && is_at_head[v] != 0;
        if (v == head.value || (is_of_head && sole[v] == kTop) || values_.asks_for_nothing(v)) continue;
        const Value s = is_of_head ? sole[v] : v;
        found = found == kTop || found == s ? s : head.value;
      }
      Value& known = sole[head.value];
      if (found == kTop || found == known || known == head.value) continue;
      known = known == kTop ? found : head.value;
      grew = true;
    }
  }
  return sole;
}

void SharedValues::add_heads() {
  Edges edges(*this);
  for (const std::uint32_t b : plan_.order) analysis_.walk(b, nullptr, &edges);
  std::ranges::stable_sort(edges.incoming, {}, [](const Edges::Incoming& i) { return std::pair(i.block, i.at); });
  std::vector<Head> heads = heads_of(edges);
  const std::vector<Value> sole = sole_values(heads, edges);
  const auto count = [&](const Head& head, int change) {
    for (const Value v : head.pieces) assumed_[v] += static_cast<std::uint32_t>(change);
  };
  assumed_.assign(values_.size(), 0);
  for (const Head& head : heads) count(head, 1);
  for (bool shrank = true; shrank;) {
    shrank = false;
    ++round_;
    std::erase_if(heads, [&](const Head& head) {
      bool holds = !head.meets || sole[head.value] != head.value;
      for (std::size_t k = head.begin; holds && k < head.end; ++k) {
        const Value v = edges.incoming[k].value;
        if (v == head.value || values_.asks_for_nothing(v)) continue;
        move_to(edges.incoming[k].from);
        for (const Value b : bytes_of(v, head.counted)) holds = holds && is_shared(b);
      }
      if (holds) return false;
      count(head, -1);
      shrank = true;
      return true;
    });
  }
}

}  // namespace regduel::oracles::uniform
