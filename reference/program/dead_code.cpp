// See dead_code.h.

#include "reference/program/dead_code.h"

#include <algorithm>
#include <utility>

#include "reference/program/liveness.h"

namespace regduel::reference {
namespace {

// The lists of refs do not have such items.
bool writes_architectural(const Shape& shape) {
  return std::ranges::any_of(shape.items, [](const Item& item) { return item.architectural && item.at_writes; });
}

// By temp: whether what is no copy reads it, or a copy of it. Others pass round a loop at most.
std::vector<std::uint8_t> read_in_the_end(const Problem& problem, const Code& code) {
  std::vector<std::uint8_t> is_read(code.temps.size(), 0);
  std::vector<std::pair<TempId, TempId>> copies;  // into, from
  // Else it is the guard.
  const auto is_source = [&](const CodeInst& inst, TempId t) {
    for (std::size_t k = 0; k < inst.num_refs; ++k)
      if ((code.refs_of(inst)[k].flags & kWrites) != 0 && code.source_of(inst, k) == t) return true;
    return false;
  };
  for (const CodeInst& inst : code.insts) {
    const auto refs = code.refs_of(inst);
    bool is_copy =
        inst.kind == CodeKind::Move || (inst.kind == CodeKind::Original && !writes_architectural(problem.shape(inst.source)));
    for (std::size_t k = 0; k < refs.size(); ++k)
      is_copy = is_copy && ((refs[k].flags & kWrites) == 0 || code.source_of(inst, k) != kNoTemp);
    is_copy = is_copy && std::ranges::any_of(refs, [](const Ref& r) { return (r.flags & kWrites) != 0; });
    for (std::size_t k = 0; k < refs.size(); ++k) {
      if (is_copy && (refs[k].flags & kWrites) != 0) copies.emplace_back(refs[k].temp, code.source_of(inst, k));
      if (!is_copy && (refs[k].flags & kReads) != 0) is_read[refs[k].temp] = 1;
      if (is_copy && k >= 2u * inst.copy_pairs && (refs[k].flags & (kReads | kWrites)) == kReads && !is_source(inst, refs[k].temp))
        is_read[refs[k].temp] = 1;
    }
  }
  Grouped<TempId> sources;
  sources.build_from(code.temps.size(), copies, [](const auto& c) { return c.first; }, [](const auto& c) { return c.second; });
  std::vector<TempId> work;
  for (TempId t = 0; t < is_read.size(); ++t)
    if (is_read[t]) work.push_back(t);
  while (!work.empty()) {
    const TempId t = work.back();
    work.pop_back();
    for (const TempId s : sources[t])
      if (!std::exchange(is_read[s], std::uint8_t{1})) work.push_back(s);
  }
  return is_read;
}

bool is_dead(const Problem& problem, const Code& code, const CodeInst& inst, const LiveSet& live,
             const std::vector<std::uint8_t>& is_read) {
  const auto refs = code.refs_of(inst);
  if (refs.empty() || inst.kind == CodeKind::Store) return false;
  if (inst.kind == CodeKind::Original) {
    const ir::Inst& source = problem.program().insts[inst.source];
    if (!source.is_copy() && !source.is_repeatable()) return false;
    const Shape& shape = problem.shape(inst.source);
    if (shape.has_clobbers()) return false;
    if (writes_architectural(shape)) return false;
  }
  return std::ranges::none_of(refs, [&](const Ref& r) { return (r.flags & kWrites) && live.contains(r.temp) && is_read[r.temp]; });
}

// Whether the instruction writes the value under a guard and has no other use for what was there before: then the value is live
// before it where it is live after it.
bool only_keeps(const Problem& problem, const Code& code, const CodeInst& inst, const Ref& r) {
  if (inst.kind != CodeKind::Original || r.temp >= code.num_values) return false;
  if ((r.flags & (kReads | kWrites | kKillsBytes)) != (kReads | kWrites)) return false;
  const ir::Function& f = problem.program();
  return std::ranges::none_of(f.operands_of(f.insts[inst.source]), [&](const ir::Operand& op) {
    return op.is_vreg() && op.reads() && f.root(op.vreg()).value == r.temp;
  });
}

}  // namespace

std::vector<std::uint8_t> drop_dead_code(const Problem& problem, Code& code) {
  std::vector<std::uint8_t> dead(code.insts.size(), 0);
  for (const CodeInst& inst : code.insts)
    for (std::uint32_t r = inst.first_ref; r < inst.first_ref + inst.num_refs; ++r)
      if (only_keeps(problem, code, inst, code.refs[r])) code.refs[r].flags &= static_cast<std::uint8_t>(~kReads);
  for (bool found = true; found;) {
    found = false;
    const std::vector<std::uint8_t> is_read = read_in_the_end(problem, code);
    Liveness liveness(code);
    std::vector<std::uint32_t> now;
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      liveness.walk(b, [&](std::uint32_t i, const LiveSet& live) {
        if (!is_dead(problem, code, code.insts[i], live, is_read)) return true;
        now.push_back(i);
        return false;
      });
    for (const std::uint32_t i : now) {
      dead[i] = 1;
      code.insts[i].num_refs = code.insts[i].copy_pairs = 0;
      found = true;
    }
  }
  return dead;
}

}  // namespace regduel::reference
