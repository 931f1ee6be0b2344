#include "oracles/structure/held_bytes.h"

#include <algorithm>
#include <ranges>

namespace regduel::oracles {

using ir::BlockId;
using ir::Inst;

HeldBytes::HeldBytes(const ir::Function& allocated) : f_(allocated), live_(f_.blocks.size()), reached_(f_.blocks.size()) {
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t b = f_.blocks.size(); b-- > 0;) {
      BytesOfR live = live_at_end(BlockId(b));
      for (const Inst& i : f_.insts_of(BlockId(b)) | std::views::reverse) {
        const Effect e = effect(i);
        live = (live & ~e.kills) | e.reads;
      }
      changes = changes || live != live_[b];
      live_[b] = live;
    }
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      BytesOfR reached = reached_[b];
      for (const Inst& i : f_.insts_of(BlockId(b))) reached |= effect(i).writes;
      for (const BlockId to : f_.successors(BlockId(b))) {
        if (to.index() >= reached_.size() || (reached & ~reached_[to.index()]).none()) continue;
        reached_[to.index()] |= reached;
        changes = true;
      }
    }
  }
}

BytesOfR HeldBytes::live_at_end(BlockId b) const {
  BytesOfR live;
  for (const BlockId to : f_.successors(b))
    if (to.index() < live_.size()) live |= live_[to.index()];
  return live;
}

HeldBytes::Effect HeldBytes::effect(const Inst& i) const {
  Effect e;
  if (i.is_phi()) return e;
  const auto ops = f_.operands_of(i);
  const bool is_guarded = ir::is_guarded(ops);
  for (const ir::Operand& op : ops) {
    if (!op.is_preg() || op.preg().file != ir::RegFile::R) continue;
    const ir::FileBytes named = ir::Function::file_bytes(op);
    BytesOfR bytes;
    for (std::size_t b = named.begin; b < std::min<std::size_t>(named.end, bytes.size()); ++b) bytes.set(b);
    if (op.reads()) e.reads |= bytes;
    if (op.writes()) e.writes |= bytes;
    if ((op.writes() && !is_guarded) || op.role == ir::Role::Clobber) e.kills |= bytes;
  }
  return e;
}

std::vector<BytesOfR> HeldBytes::before(BlockId b) const {
  const auto insts = f_.insts_of(b);
  std::vector<BytesOfR> held(insts.size());
  BytesOfR live = live_at_end(b);
  for (std::size_t k = insts.size(); k-- > 0;) {
    const Effect e = effect(insts[k]);
    held[k] = live = (live & ~e.kills) | e.reads;
  }
  BytesOfR reached = reached_[b.index()];
  for (std::size_t k = 0; k < insts.size(); ++k) {
    held[k] = held[k] & reached;
    reached |= effect(insts[k]).writes;
  }
  return held;
}

}  // namespace regduel::oracles
