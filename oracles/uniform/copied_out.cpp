// Who wrote each byte last, until nothing changes. See copied_out.h.

#include "oracles/uniform/copied_out.h"

#include <algorithm>

namespace regduel::oracles::uniform {

using symbolic::kNoIndex;
using symbolic::Plan;
using symbolic::Step;
using symbolic::StepKind;
using symbolic::StepOperand;

bool is_uniform_location(const Plan& plan, std::uint32_t location) {
  return plan.locations.is_in_file(location, ir::RegFile::UR) || plan.locations.is_in_file(location, ir::RegFile::UP) ||
         plan.locations.is_in_file(location, ir::RegFile::UB);
}

namespace {

// Where byte k of a place is: four numbers a cell.
std::uint32_t at(const Place& p, std::uint32_t k) { return (p.cell + (p.offset + k) / p.step) * 4 + (p.offset + k) % p.step; }

}  // namespace

CopiedOut::CopiedOut(const Plan& plan, std::span<const char> meets)
    : plan_(plan), meets_(meets), writers_(plan.num_locations() * std::size_t{4}, kNone), heads_(plan.blocks.size()) {
  for (const std::uint32_t b : plan.order) heads_[b].assign(plan.live_locations[b].size() * 4, kAny);
  std::ranges::fill(heads_[plan.order.front()], kNone);
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : plan.order) {
      move_to(b);
      for (std::uint32_t s = plan.blocks[b].begin; s < plan.blocks[b].end; ++s) step(s);
      const symbolic::Range out = plan.edges_of[b];
      for (std::uint32_t e = out.begin; e < out.end; ++e) {
        const symbolic::FlowEdge& edge = plan.edges[e];
        const std::vector<Writer> behind = edge.moves == kNoIndex ? std::vector<Writer>() : writers_;
        if (edge.moves != kNoIndex) step(edge.moves);
        changed = meet(edge.to) || changed;
        if (edge.moves != kNoIndex) writers_ = behind;
      }
    }
  }
}

void CopiedOut::move_to(std::uint32_t block) {
  std::ranges::fill(writers_, kNone);
  const auto live = plan_.live_locations[block];
  for (std::size_t k = 0; k < live.size() * 4; ++k) writers_[live[k / 4] * 4U + k % 4] = heads_[block][k];
}

bool CopiedOut::meet(std::uint32_t to) {
  const auto live = plan_.live_locations[to];
  bool changed = false;
  for (std::size_t k = 0; k < live.size() * 4; ++k) {
    Writer& known = heads_[to][k];
    const Writer comes = writers_[live[k / 4] * 4U + k % 4];
    const auto several = static_cast<Writer>(plan_.steps.size()) + to;
    if (comes == known || comes == kAny || known == kNone || (known == several && comes != kNone)) continue;
    known = known == kAny ? comes : comes == kNone || meets_[to] != 0 ? kNone : several;
    changed = true;
  }
  return changed;
}

bool CopiedOut::copies_same(const Place& from, std::uint32_t byte) const {
  if (byte >= from.size) return false;
  const std::uint32_t source = at(from, byte);
  return is_uniform_location(plan_, source / 4) || writers_[source] != kNone;
}

void CopiedOut::write(const Place& to, Writer writer) {
  for (std::uint32_t k = 0; k < to.size; ++k) writers_[at(to, k)] = writer;
}

void CopiedOut::step(std::uint32_t number) {
  const Step& s = plan_.steps[number];
  const auto ops = plan_.operands_of(s);
  switch (s.kind) {
    case StepKind::Move:
      // All are read before one is written.
      written_.clear();
      for (const StepOperand& op : ops)
        for (std::uint32_t k = 0; op.role == ir::Role::Def && k < op.name.size; ++k)
          written_.push_back(s.guard == kNoIndex && copies_same(op.loc, k) ? number : kNone);
      for (const StepOperand& op : ops)
        if (op.role == ir::Role::Clobber) write(op.name, kNone);
      for (auto next = written_.begin(); const StepOperand& op : ops)
        for (std::uint32_t k = 0; op.role == ir::Role::Def && k < op.name.size; ++k) writers_[at(op.name, k)] = *next++;
      return;
    case StepKind::ToPack: return write(ops[0].loc, kNone);
    case StepKind::Operate:
    case StepKind::Gather:
    case StepKind::FromPack:
    case StepKind::Remat:
      for (const StepOperand& op : ops)
        if (op.role != ir::Role::Use) write(op.loc, kNone);
      return;
    case StepKind::Rename:
    case StepKind::Snapshot:
    case StepKind::Remember: return;
  }
}

}  // namespace regduel::oracles::uniform
