// Emitters of operands that are tied, early-clobber or fixed to registers, and of calls by the ABI. See emitters.h.
#include <algorithm>
#include <utility>
#include <vector>

#include "generate/emit.h"
#include "generate/emitters.h"

namespace regduel::generate {

using ir::Op;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

VRegId old_or_new_root(Builder& b, Key key, int percent) {
  return b.any_available(key) && b.random.chance(percent) ? b.pick_root(key) : b.new_vreg(key);
}

// --- tied, early-clobber --------------------------------------------------------------------------------------------

void emit_in_out(Builder& b) {
  const Key key = b.random.chance(85) || !b.has(RegFile::UR) ? b.value_key() : kUniform;
  Draft d = b.named("fma.acc");
  b.maybe_guard(d);
  b.def(d, key, {.role = Role::DefUse});
  use_values(b, d, b.random.between(1, 3));
  b.finish(std::move(d));
}

void emit_tied(Builder& b) {
  const Key key = b.random.chance(88) ? b.value_key() : kPred;
  Draft d = b.named("mad.tied");
  const int before = below(b.random, 2), after = below(b.random, 3);
  use_values(b, d, before);
  const auto index = static_cast<std::uint16_t>(d.uses.size());
  const VRegId v = b.pick_root(key);
  const PReg fixed = b.random.chance(10) ? b.random_fixed(v) : PReg{};
  const bool taken = b.use(d, v, {}, fixed);
  for (int i = 0; i < after; ++i) b.use(d, b.random.chance(20) ? key : b.value_key());
  if (taken) {
    // The def of a fixed use takes the use's register, whose alignment may not suit an old vreg: it gets a new one of natural alignment.
    const VRegId fresh = b.new_vreg(key, ir::natural_align_log2(key.width));
    const bool old = !fixed.is_valid() && b.random.chance(30);
    const bool suits = !fixed.is_valid() || fixed.first % b.f.vreg(fresh).alignment() == 0;
    if (old) b.def(d, key, {.tied = index});
    else if (suits && b.def(d, fresh, {.tied = index})) d.fresh.push_back(fresh);
    else b.def(d, key);
    if (b.random.chance(20)) b.def(d, kWord);
  } else {
    b.def(d, key);
  }
  b.finish(std::move(d));
}

void emit_early(Builder& b) {
  Draft d = b.named("atom.loop");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3), defs = b.random.between(1, 2);
  for (int i = 0; i < uses; ++i) b.use(d, b.random.chance(90) ? b.value_key() : kPred);
  for (int i = 0; i < defs; ++i) b.def(d, b.random.chance(90) ? b.value_key() : kPred, {.early = true});
  if (b.random.chance(30)) b.def(d, b.value_key());
  b.finish(std::move(d));
}

// --- fixed registers ------------------------------------------------------------------------------------------------

void emit_fixed(Builder& b) {
  Draft d = b.named("asm.fixed");
  const bool with_guard = b.random.chance(10) && b.guard(d);
  const auto any_key = [&] {
    const auto r = b.random.below(100);
    return r < 55 ? kWord : r < 75 ? kPair : r < 82 ? kQuad : r < 92 || !b.has(RegFile::UR) ? kPred : kUniform;
  };
  const int uses = below(b.random, 4), defs = below(b.random, 3);
  for (int i = 0; i < uses; ++i) {
    const VRegId v = b.pick_root(any_key());
    const PReg place = b.random_fixed(v);
    const ir::Part part = b.f.vreg(v).width >= 64 && b.random.chance(15) ? *ir::Part::from_bytes(0, 4) : ir::Part();
    b.use(d, v, part, place);
    if (b.random.chance(25)) b.use(d, v, {}, b.random_fixed(v));  // the same one in two places
  }
  if (b.random.chance(30)) b.use(d, b.value_key());
  for (int i = 0; i < defs; ++i) {
    const Key key = any_key();
    const VRegId v = with_guard ? b.pick_root(key) : old_or_new_root(b, key, 30);
    const PReg place = b.random_fixed(v);
    const bool is_early = b.random.chance(10);
    if (b.def(d, v, {.fixed = place, .early = is_early}) && !with_guard) d.fresh.push_back(v);
  }
  b.finish(std::move(d));
}

void emit_precoloured(Builder& b) {
  const Key key = b.random.chance(70) ? kWord : b.random.chance(70) ? kPair : kPred;
  const VRegId v = b.new_vreg(key);
  b.f.vregs[v.index()].fixed = b.random_fixed(v);
  Draft d = b.op(Op::Copy);
  if (!b.use(d, key) || !b.def(d, v)) {
    d = b.named("mov.special");
    b.def(d, v);
  }
  d.fresh.push_back(v);
  b.finish(std::move(d));
  for (int between = below(b.random, 3); between > 0; --between) emit_alu(b);
  Draft user = b.named("asm.special");
  b.use(user, v);
  if (b.random.chance(50)) b.use(user, b.value_key());
  if (b.random.chance(60)) b.def(user, v);
  else b.def(user, key);
  b.finish(std::move(user));
  if (b.random.chance(50)) {
    Draft out = b.op(Op::Copy);
    if (b.use(out, v) && b.def(out, key).is_valid()) b.finish(std::move(out));
  }
}

// --- calls ----------------------------------------------------------------------------------------------------------

namespace {

// The places of arguments or results, one after the other.
class Places {
 public:
  Places(const Builder& b, PReg range) : b_(b), range_(range), next_(range.begin()) {}

  // The next tuple of the range that suits the vreg; invalid where the range ends or the target does not offer the tuple.
  PReg next(VRegId v) {
    const ir::VReg& reg = b_.f.vreg(v);
    const int first = (next_ + reg.alignment() - 1) / reg.alignment() * reg.alignment();
    if (first + reg.units() > range_.end()) return {};
    next_ = first + reg.units();
    const PReg place = {range_.file, static_cast<std::uint8_t>(reg.units()), static_cast<std::uint16_t>(first)};
    return b_.is_offered(place) ? place : PReg();
  }

 private:
  const Builder& b_;
  PReg range_;
  int next_;
};

Key abi_key(Builder& b, bool quads) {
  const auto r = b.random.below(100);
  return r < 60 || b.abi().arguments.file != RegFile::R ? kWord : r < 90 || !quads ? kPair : kQuad;
}

}  // namespace

void emit_call(Builder& b) {
  if (b.abi().arguments.file != RegFile::R || b.abi().results.file != RegFile::R) return store(b, 2);
  Draft d = b.op(Op::Call);
  constexpr std::array<const char*, 4> kCallees = {"f", "g", "__internal_fdiv", "vprintf"};
  const bool guarded = b.random.chance(8) && b.guard(d);
  const char* callee = b.random.chance(80) ? any_of(b.random, kCallees) : nullptr;
  if (callee != nullptr) d.uses.push_back(ir::Operand::of_symbol(b.f.symbols.intern(callee)));
  else b.use(d, kPair);
  Places arguments(b, b.abi().arguments), results(b, b.abi().results);
  for (int count = below(b.random, 5); count > 0; --count) {
    const VRegId v = b.pick_root(abi_key(b, true));
    const PReg place = arguments.next(v);
    if (!place.is_valid() || !b.use(d, v, {}, place)) break;
  }
  for (int count = guarded ? 0 : below(b.random, 3); count > 0; --count) {
    const VRegId v = old_or_new_root(b, abi_key(b, false), 25);
    const PReg place = results.next(v);
    if (!place.is_valid() || !b.def(d, v, {.fixed = place})) break;
    d.fresh.push_back(v);
  }
  const bool all = b.random.chance(80);
  for (PReg r : callee != nullptr ? b.abi().clobbers_of(callee) : b.abi().clobbered) {
    const int units = b.target.units[ir::index(r.file)];
    if (r.begin() >= units || (!all && b.random.chance(50))) continue;
    r.count = static_cast<std::uint8_t>(std::min(r.end(), units) - r.begin());
    b.clobber(d, r);
  }
  b.finish(std::move(d));
}

void emit_abi_entry(Builder& b) {
  Draft d = b.named("abi.entry");
  Places arguments(b, b.abi().arguments);
  for (int count = below(b.random, 7); count > 0; --count) {
    const VRegId v = b.new_vreg(abi_key(b, true));
    const PReg place = arguments.next(v);
    if (!place.is_valid() || place.file != b.f.vreg(v).file() || !b.def(d, v, {.fixed = place})) break;
    d.fresh.push_back(v);
  }
  b.finish(std::move(d));
}

Draft make_ret(Builder& b) {
  std::vector<std::pair<VRegId, PReg>> chosen;
  Places results(b, b.abi().results);
  for (int count = below(b.random, 3); count > 0 && b.abi().results.file == RegFile::R; --count) {
    const VRegId v = b.pick_root(abi_key(b, false));
    const PReg place = results.next(v);
    if (!place.is_valid()) break;
    chosen.emplace_back(v, place);
  }
  Draft d = b.op(Op::Ret);
  for (const auto& [v, place] : chosen) b.use(d, v, {}, place);
  return d;
}

}  // namespace regduel::generate
