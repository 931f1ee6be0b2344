// Values of declared names are marked first. What other names hold at heads of blocks is assumed to be shared, then taken back where
// an edge or a branch speaks against it, until nothing changes: the greatest solution. See shared_values.h.

#include "oracles/uniform/shared_values.h"

#include <algorithm>
#include <array>
#include <span>

#include "oracles/before.h"
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

  void at_head(std::uint32_t block, State& state) override { mark_live(block, state); }
  void before_step(std::uint32_t, State&) override {}
  void after_step(std::uint32_t step, State& state) override {
    const Step& s = plan_.steps[step];
    if (s.kind != StepKind::Operate && s.kind != StepKind::Gather && s.kind != StepKind::Rename) return;
    for (const StepOperand& op : plan_.operands_of(s)) {
      if ((op.role != ir::Role::Def && op.role != ir::Role::DefUse) || op.name.size == 0) continue;
      for (std::uint32_t k = 0; k < op.name.cells(); ++k) {
        mark_name(op.name.cell + k, state);
        if (op.leaf != kBottom && shared_.is_declared_[op.name.cell + k] != 0)
          shared_.mark(op.leaf + k, plan_.bytes_of_name[op.name.cell + k]);
      }
    }
  }
  void on_edge(std::uint32_t edge, State& state) override { mark_live(plan_.edges[edge].to, state); }

 private:
  void mark_live(std::uint32_t block, const State& state) {
    for (const std::uint32_t n : plan_.live_names[block]) mark_name(n, state);
  }
  void mark_name(std::uint32_t n, const State& state) {
    if (shared_.is_declared_[n] != 0) shared_.mark(state.names[n], plan_.bytes_of_name[n]);
  }

  SharedValues& shared_;
  Plan& plan_;
};

// What each name holds on each edge, and which branches go by a condition that may vary.
class SharedValues::Edges final : public symbolic::Observer {
 public:
  struct Incoming {
    std::uint32_t block = 0, at = 0;  // position among the live names of the block
    Value value = kTop;
  };

  explicit Edges(SharedValues& shared) : shared_(shared), plan_(shared.plan_), varies_(plan_.blocks.size(), 0) {}

  void at_head(std::uint32_t block, State&) override { block_ = block; }
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
    for (std::uint32_t k = 0; k < names.size(); ++k) incoming.push_back({to, k, state.names[names[k]]});
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

  std::vector<Incoming> incoming;

 private:
  SharedValues& shared_;
  Plan& plan_;
  std::uint32_t block_ = 0;
  std::vector<char> varies_;
};

SharedValues::SharedValues(const Case& c, Plan& plan, symbolic::FixedPoint& analysis, const std::vector<char>& declared)
    : case_(c), plan_(plan), analysis_(analysis), values_(plan.values), is_declared_(plan.num_names(), 0) {
  for (std::size_t v = 0; v < declared.size(); ++v) {
    if (declared[v] == 0 || c.before.vregs[v].alias.is_valid()) continue;
    const Place p = plan.names.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(v)));
    std::fill_n(is_declared_.begin() + p.cell, p.cells(), char{1});
  }
  Marker marker(*this);
  for (const std::uint32_t b : plan.order) analysis.walk(b, nullptr, &marker);
}

std::array<Value, 4> SharedValues::bytes_of(Value v, std::uint8_t counted) {
  if (counted == symbolic::kOneByte) return {v, kTop, kTop, kTop};
  std::array<Value, 4> bytes = values_.bytes(v);
  for (std::size_t k = 0; k < 4; ++k)
    if ((counted >> k & 1) == 0) bytes[k] = kTop;
  return bytes;
}

void SharedValues::mark(Value v, std::uint8_t counted) {
  for (const Value b : bytes_of(v, counted)) {
    if (b == kTop || b == kBottom) continue;
    if (is_marked_.size() <= b) is_marked_.resize(values_.size(), 0);
    is_marked_[b] = 1;
  }
}

bool SharedValues::is_shared(Value v) {
  if (v < answers_.size() && answers_[v] != kUnknown) return answers_[v] == kYes;
  const bool answer = decide(v);
  if (answers_.size() <= v) answers_.resize(values_.size(), kUnknown);
  answers_[v] = answer ? kYes : kNo;
  return answer;
}

bool SharedValues::is_shared_leaf(Value v) const {
  if (v < is_marked_.size() && is_marked_[v] != 0) return true;
  if (v < assumed_.size() && assumed_[v] > 0) return true;
  const Values::Node& n = values_[v];
  switch (n.kind) {
    case ValueKind::Bottom:
    case ValueKind::Top: return true;
    case ValueKind::Opaque: return !values_.is_unsatisfiable(v);  // undefined content of a register
    case ValueKind::Def:
    case ValueKind::Constant: return case_.before.insts[n.a].op == ir::Op::Const;
    case ValueKind::Saved:
      return std::ranges::any_of(std::array{ir::RegFile::UR, ir::RegFile::UP, ir::RegFile::UB},
                                 [&](ir::RegFile file) { return plan_.locations.is_in_file(n.a, file); });
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

bool SharedValues::has_number_of_block(Value v, std::uint32_t block) const {
  std::vector<Value> parts = {v};
  const auto add = [&](Value part) {
    if (std::ranges::find(parts, part) == parts.end() && parts.size() < kMostParts) parts.push_back(part);
  };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Values::Node& n = values_[parts[k]];
    if (n.kind == ValueKind::Merged && n.a == block) return true;
    if (n.kind == ValueKind::Byte || n.kind == ValueKind::Bit || n.kind == ValueKind::Seen) add(n.a);
    if (n.kind == ValueKind::Gate) add(n.a), add(n.b), add(n.c);
    for (const Value part : values_.children(n)) add(part);
  }
  return false;
}

std::vector<SharedValues::Head> SharedValues::heads_of(const Edges& edges) {
  const std::vector<char> meets = edges.meeting_points();
  std::vector<Head> heads;
  const auto& in = edges.incoming;
  for (std::size_t k = 0; k < in.size();) {
    const auto [block, at, value] = in[k];
    Head head;
    head.begin = k;
    while (k < in.size() && in[k].block == block && in[k].at == at) ++k;
    head.end = k;
    // There is one more way into the function.
    if (block == plan_.order.front()) continue;
    const std::uint32_t name = plan_.live_names[block][at];
    head.value = analysis_.entry(block).names[at];
    head.meets = meets[block] != 0;
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
    answers_.clear();
    std::erase_if(heads, [&](const Head& head) {
      bool holds = !head.meets || sole[head.value] != head.value;
      for (std::size_t k = head.begin; holds && k < head.end; ++k) {
        const Value v = edges.incoming[k].value;
        if (v == head.value || values_.asks_for_nothing(v)) continue;
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
