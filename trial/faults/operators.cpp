// How an operator is injected. See operators.h; the table is in operator_table.cpp.
#include "trial/faults/operators.h"

#include <algorithm>

#include "ir/check.h"

namespace regduel::trial {
namespace {

bool same_inst(const EditInst& a, const EditInst& b) {
  return a.inst.id == b.inst.id && a.inst.op == b.inst.op && a.inst.flags == b.inst.flags && a.inst.mnemonic == b.inst.mnemonic &&
         a.inst.ref == b.inst.ref && a.ops == b.ops && a.targets == b.targets;
}
bool same_header(const ir::Function& a, const ir::Function& b) {
  return a.phase == b.phase && a.abi == b.abi && a.threads == b.threads && a.local_frame == b.local_frame &&
         a.shared_frame == b.shared_frame &&
         std::ranges::equal(a.slots, b.slots,
                            [](const ir::Slot& x, const ir::Slot& y) {
                              return x.space == y.space && x.size == y.size && x.align == y.align && x.offset == y.offset;
                            }) &&
         std::ranges::equal(a.vregs, b.vregs, {}, &ir::VReg::align_log2, &ir::VReg::align_log2);
}
// The blocks that the edit has changed; all of them, where it has changed the frame.
std::vector<std::uint32_t> changed_blocks(const EditProgram& was, const EditProgram& is) {
  std::vector<std::uint32_t> changed;
  const bool all = !same_header(was.header, is.header) || was.blocks.size() != is.blocks.size();
  for (std::uint32_t b = 0; b < is.blocks.size(); ++b)
    if (all || !std::ranges::equal(was.blocks[b].insts, is.blocks[b].insts, same_inst) ||
        was.blocks[b].attributes.edge_from != is.blocks[b].attributes.edge_from)
      changed.push_back(b);
  return changed;
}

}  // namespace

std::optional<Damaged> inject(const FaultOperator& op, const Site& site, Random& random) {
  constexpr int kTries = 16;
  std::uint32_t wanted = 0;
  for (const int code : op.memcheck) wanted |= 1u << code;
  std::vector<Place> places = op.where(site);
  std::optional<Damaged> second;
  int second_rank = -1;  // 2: another code follows; 1: it is unclear which one follows; 0: none follows
  for (int tries = 0; tries < kTries && !places.empty(); ++tries) {
    std::swap(places[random.below(static_cast<std::uint32_t>(places.size()))], places.back());
    Trial trial{site.program, site, random};
    const bool made = op.edit(trial, places.back());
    places.pop_back();
    const auto changed = made ? changed_blocks(site.program, trial.program) : std::vector<std::uint32_t>();
    if (changed.empty()) continue;
    ir::Function damaged = trial.program.build();
    if (!ir::check(damaged, 1).empty()) continue;
    const int code = wanted == 0 ? 0 : site.expected.code_in(damaged, changed, wanted);
    if (wanted == 0 || (code > 0 && (wanted >> code & 1) != 0)) return Damaged{std::move(damaged), code};
    const int rank = code > 0 ? 2 : code < 0 ? 1 : 0;
    if (rank <= second_rank) continue;
    second = Damaged{std::move(damaged), std::max(code, 0)};
    second_rank = rank;
  }
  return second;
}

}  // namespace regduel::trial
