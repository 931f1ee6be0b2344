// See emit.h. Mnemonics are of the flavour of PTX and SASS; nothing depends on them.
#include "generate/emit.h"

#include <algorithm>
#include <span>
#include <utility>

namespace regduel::generate {
namespace {

using ir::Op;
using ir::PReg;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

constexpr std::array<const char*, 6> kUnary = {"neg.s32", "abs.f32", "not.b32", "popc.b32", "cvt.rn.f32.s32", "rcp.approx.f32"};
constexpr std::array<const char*, 9> kBinary = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32",
                                                "xor.b32", "shl.b32", "min.s32",    "max.f32"};
constexpr std::array<const char*, 5> kTernary = {"mad.lo.s32", "fma.rn.f32", "lop3.b32", "shf.l.wrap.b32", "sad.s32"};

template <class Array>
const char* any_of(Builder& b, const Array& names) {
  return names[b.random.below(static_cast<std::uint32_t>(names.size()))];
}
Key in(RegFile file, int width) { return {file, width}; }
int at(Builder& b, int n) { return static_cast<int>(b.random.below(static_cast<std::uint32_t>(n))); }

void alu(Builder& b, Key key) {
  const auto r = b.random.below(100);
  const int uses = r < 15 ? 1 : r < 70 ? 2 : 3;
  Draft d = b.named(uses == 1 ? any_of(b, kUnary) : uses == 2 ? any_of(b, kBinary) : any_of(b, kTernary));
  if (uses == 2 && b.random.chance(50)) d.inst.flags |= ir::kCommutative;
  b.maybe_guard(d);
  for (int i = 0; i < uses; ++i) b.use(d, b.random.chance(75) ? key : b.value_key());
  if (key.file == RegFile::R && b.has(RegFile::UR) && b.random.chance(3)) b.use(d, in(RegFile::UR, 32));
  b.maybe_imm(d);
  b.def(d, key);
  const bool whole_def = d.defs.size() == 1 && !d.is_guarded() && b.is_root(d.defs[0].vreg());
  if (whole_def && b.random.chance(4)) d.inst.flags |= ir::kRematerialisable;
  b.finish(std::move(d));
}

void address(Builder& b, Draft& d) {
  b.use(d, b.random.chance(70) ? kPair : b.has(RegFile::UR) && b.random.chance(20) ? in(RegFile::UR, 64) : kWord);
}

void load(Builder& b) {
  const Key key = b.value_key();
  const bool constant = b.random.chance(25);
  Draft d = b.named(constant ? "ld.const" : "ld.global", ir::kMemRead | (constant ? ir::kReadOnly : 0));
  b.maybe_guard(d);
  address(b, d);
  b.maybe_imm(d);
  b.def(d, key);
  const bool whole_def = d.defs.size() == 1 && !d.is_guarded() && b.is_root(d.defs[0].vreg());
  if (constant && whole_def && b.random.chance(50)) d.inst.flags |= ir::kRematerialisable;
  b.finish(std::move(d));
}

void store(Builder& b, int values) {
  Draft d = b.named("st.global", ir::kMemWrite);
  b.maybe_guard(d);
  address(b, d);
  for (int i = 0; i < values; ++i) {
    const Key key = b.random.chance(10) ? kPred : b.value_key();
    if (!b.use(d, key)) break;
  }
  b.maybe_imm(d);
  b.finish(std::move(d));
}

// Moves with constraints: an allocator that treats them apart from other operations must not forget those.
void constrained_constant(Builder& b, Key key) {
  Draft d = b.op(Op::Const);
  b.imm(d, at(b, 1000));
  if (b.random.chance(40)) d.inst.flags |= ir::kRematerialisable;
  const VRegId v = b.any_available(key) && b.random.chance(30) ? b.pick_root(key) : b.new_vreg(key);
  const PReg place = b.random_fixed(v);
  if (!b.def(d, v, {.fixed = place})) return;
  d.fresh.push_back(v);
  b.finish(std::move(d));
}

void constrained_copy(Builder& b, Key key) {
  Draft d = b.op(Op::Copy);
  const auto form = b.random.below(3);
  const VRegId from = b.pick_root(key);
  const PReg source = form == 1 && b.random.chance(60) ? b.random_fixed(from) : PReg{};
  const VRegId to = b.any_available(key) && b.random.chance(30) ? b.pick_root(key) : b.new_vreg(key);
  DefOptions options;
  if (form == 0) options.tied = 0;
  if (form == 1) options.fixed = b.random_fixed(to);
  if (form == 2) options.early = true;
  const bool guarded = form > 0 && b.is_available(to) && b.random.chance(20);
  if (guarded) b.guard(d);
  if (!b.use(d, from, {}, source) || !b.def(d, to, options)) return alu(b, key);
  d.fresh.push_back(to);
  b.finish(std::move(d));
}

void copy(Builder& b) {
  Key key = b.random.chance(8) ? kPred : b.value_key();
  if (b.random.chance(b.x.constrained_moves)) return constrained_copy(b, key);
  Draft d = b.op(Op::Copy);
  b.maybe_guard(d);
  if (b.use(d, key) && b.def(d, key).is_valid()) b.finish(std::move(d));
  else alu(b, key);
}

// A value that is made from a constant step by step, each of which may be repeated: an address and its offsets.
void chain(Builder& b, Key key, VRegId from) {
  for (int steps = b.random.between(1, 4); steps > 0; --steps) {
    Draft d = b.named(key.width == 64 && b.random.chance(50) ? "cvta.to.global.u64" : "add.u64");
    const VRegId to = b.new_vreg(key);
    if (!b.use(d, from)) return;
    b.maybe_imm(d);
    if (!b.def(d, to)) return;
    d.inst.flags |= ir::kRematerialisable;
    d.fresh.push_back(to);
    b.finish(std::move(d));
    from = to;
  }
}

void constant(Builder& b) {
  Key key = b.value_key();
  key.width = std::min(key.width, 64);
  if (b.random.chance(b.x.constrained_moves)) return constrained_constant(b, key);
  const VRegId start = b.materialise(key, true);
  if (b.random.chance(25)) chain(b, key, start);
}

void parallel_copy(Builder& b) {
  Draft d = b.op(Op::Copy);
  const int pairs = b.random.between(2, 4);
  const Key key = b.random.chance(70) ? kWord : b.value_key();
  if (b.random.chance(50)) {  // a rotation: each value moves to the place of the next
    std::vector<VRegId> ring;
    for (int i = 0; i < pairs; ++i) {
      const VRegId v = b.pick_root(key);
      if (std::find(ring.begin(), ring.end(), v) == ring.end()) ring.push_back(v);
    }
    for (std::size_t i = 0; i < ring.size(); ++i) {
      if (!b.use(d, ring[i])) break;
      if (!b.def(d, ring[(i + 1) % ring.size()])) {
        d.uses.pop_back();
        break;
      }
    }
  } else {
    for (int i = 0; i < pairs; ++i) {
      const Key k = b.random.chance(80) ? key : kPred;
      if (!b.use(d, k)) break;
      if (!b.def(d, k).is_valid()) {
        d.uses.pop_back();
        break;
      }
    }
  }
  if (d.defs.empty()) return alu(b, key);
  b.finish(std::move(d));
}

void cross_copy(Builder& b) {
  struct Route {
    RegFile from, to;
    int width;
  };
  constexpr std::array<Route, 11> kRoutes = {{{RegFile::R, RegFile::UR, 32},
                                              {RegFile::UR, RegFile::R, 32},
                                              {RegFile::R, RegFile::UR, 64},
                                              {RegFile::UR, RegFile::R, 64},
                                              {RegFile::P, RegFile::UP, 1},
                                              {RegFile::UP, RegFile::P, 1},
                                              {RegFile::R, RegFile::B, 32},
                                              {RegFile::B, RegFile::R, 32},
                                              {RegFile::R, RegFile::Acc, 128},
                                              {RegFile::Acc, RegFile::R, 64},
                                              {RegFile::UB, RegFile::UR, 32}}};
  const Route route = kRoutes[b.random.below(static_cast<std::uint32_t>(kRoutes.size()))];
  if (!b.has(route.from) || !b.has(route.to)) return copy(b);
  Draft d = b.op(Op::Copy);
  b.maybe_guard(d);
  if (b.use(d, in(route.from, route.width)) && b.def(d, in(route.to, route.width)).is_valid()) b.finish(std::move(d));
  else copy(b);
}

// Widths of the pieces of something so wide: equal ones, or halves of which one is split again.
std::vector<int> pieces_of(Builder& b, int width) {
  std::vector<int> result;
  const bool third = width == 96;
  const int unit = third ? 32 : width >> b.random.between(1, width == 256 ? 3 : width == 128 ? 2 : 1);
  const int piece = std::max(unit, 8);
  for (int done = 0; done < width; done += piece) {
    if (piece == 64 && b.random.chance(25)) result.insert(result.end(), {32, 32});
    else result.push_back(piece);
  }
  return result;
}

Key wide_key(Builder& b) {
  constexpr std::array<int, 6> kWide = {32, 64, 64, 96, 128, 256};
  return in(RegFile::R, kWide[b.random.below(6)]);
}

void pack(Builder& b) {
  const Key key = wide_key(b);
  const std::vector<int> pieces = pieces_of(b, key.width);
  Draft d = b.op(Op::Pack);
  bool fits = true;
  for (const int w : pieces) fits = fits && b.use(d, in(RegFile::R, w));
  if (fits && b.def(d, key).is_valid()) b.finish(std::move(d));
  else alu(b, key);
}

void unpack(Builder& b) {
  const Key key = wide_key(b);
  const std::vector<int> pieces = pieces_of(b, key.width);
  Draft d = b.op(Op::Unpack);
  bool fits = b.use(d, key);
  for (const int w : pieces) fits = fits && b.def(d, in(RegFile::R, w)).is_valid();
  if (fits) b.finish(std::move(d));
  else alu(b, key);
}

void part_build(Builder& b) {
  const Key key = b.random.chance(15) && b.has(RegFile::UR) ? in(RegFile::UR, 64) : wide_key(b);
  const int piece = key.width == 32 ? (b.random.chance(50) ? 16 : 8) : key.width == 64 && b.random.chance(30) ? 16 : 32;
  std::vector<int> order;
  for (int i = 0; i < key.width / piece; ++i) order.push_back(i);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[b.random.below(static_cast<std::uint32_t>(i + 1))]);
  const VRegId whole = b.new_vreg(key);
  const bool leaves_gap = b.x.undefined && b.random.chance(50);
  const std::size_t count = order.size() - (leaves_gap ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Part part = *ir::Part::from_bytes(order[i] * piece / 8, piece / 8);
    Draft d = b.named("insert");
    b.use(d, in(key.file, piece));
    if (i > 0 && b.random.chance(25)) b.use(d, whole, *ir::Part::from_bytes(order[i - 1] * piece / 8, piece / 8));
    b.maybe_imm(d);
    if (!b.def(d, whole, {.part = part})) {  // the uses took the room
      d = b.named("insert");
      b.def(d, whole, {.part = part});
    }
    if (i + 1 == count) d.fresh.push_back(whole);
    b.finish(std::move(d));
  }
}

void part_def(Builder& b) {
  Key key = wide_key(b);
  if (b.random.chance(10) && b.has(RegFile::UR)) key = in(RegFile::UR, 64);
  int bytes = 1 << b.random.between(0, 4);
  while (bytes * 8 > key.width || (key.width == 96 && bytes > 8)) bytes /= 2;
  if (bytes * 8 == key.width) bytes /= 2;
  const int element = key.width == 96 && bytes == 8 ? 0 : at(b, key.width / 8 / bytes);
  Draft d = b.named("bfi.b32");
  b.maybe_guard(d);
  b.use(d, b.value_key());
  b.maybe_imm(d);
  b.def(d, key, {.part = *ir::Part::from_bytes(element * bytes, bytes)});
  b.finish(std::move(d));
}

void setp(Builder& b) {
  Draft d = b.named("setp.lt.s32");
  b.maybe_guard(d);
  const Key key = b.value_key();
  b.use(d, key);
  if (b.random.chance(60)) b.use(d, key);
  if (b.random.chance(20)) b.use(d, kPred);
  b.maybe_imm(d);
  b.def(d, kPred);
  if (b.random.chance(30)) b.def(d, kPred);
  b.finish(std::move(d));
}

void pred_logic(Builder& b) {
  Draft d = b.named("plop3.lut");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3);
  for (int i = 0; i < uses; ++i) b.use(d, kPred);
  b.maybe_imm(d);
  b.def(d, kPred);
  b.finish(std::move(d));
}

void select(Builder& b) {
  const Key key = b.value_key();
  Draft d = b.named("selp.b32");
  b.maybe_guard(d);
  b.use(d, key);
  b.use(d, key);
  b.use(d, kPred);
  b.def(d, key);
  b.finish(std::move(d));
}

void uniform(Builder& b) {
  if (!b.has(RegFile::UR)) return alu(b, b.value_key());
  const auto r = b.random.below(100);
  const Key key = in(RegFile::UR, r < 60 ? 32 : r < 85 ? 64 : r < 92 ? 16 : 128);
  if (b.random.chance(30)) {  // a vector instruction with a uniform operand
    Draft d = b.named("iadd3.ur");
    b.maybe_guard(d);
    b.use(d, kWord);
    b.use(d, key);
    b.def(d, kWord);
    return b.finish(std::move(d));
  }
  if (b.random.chance(15)) {
    Draft d = b.named("ldc.ur", ir::kMemRead | ir::kReadOnly);
    b.maybe_imm(d);
    b.def(d, key);
    return b.finish(std::move(d));
  }
  alu(b, key);
}

void uniform_pred(Builder& b) {
  if (!b.has(RegFile::UP)) return pred_logic(b);
  const auto r = b.random.below(100);
  Draft d = b.named(r < 40 ? "usetp" : r < 70 ? "vote.any" : "uplop3");
  if (r < 40) {
    b.use(d, in(RegFile::UR, 32));
    b.use(d, in(RegFile::UR, 32));
  } else if (r < 70) {
    b.use(d, kPred);
    d.inst.flags |= ir::kConvergent;
  } else {
    b.use(d, in(RegFile::UP, 1));
    b.use(d, in(RegFile::UP, 1));
  }
  b.def(d, in(RegFile::UP, 1));
  b.finish(std::move(d));
}

void tensor(Builder& b) {
  const Key c = in(RegFile::R, b.random.chance(65) ? 128 : 256);
  const Key a = in(RegFile::R, b.random.chance(60) ? 128 : 64);
  const Key bb = in(RegFile::R, b.random.chance(60) ? 64 : 32);
  VRegId acc;
  if (!b.any_available(c) || b.random.chance(15)) {
    Draft zero = b.named("mma.zero");
    acc = b.new_vreg(c, std::min(b.target.tensor_align_log2, 3));
    if (b.def(zero, acc)) {
      zero.fresh.push_back(acc);
      b.finish(std::move(zero));
    }
  }
  const auto form = b.random.below(100);
  // From sm_100 on: FP4 and FP8 with the scales of both matrices in a register each.
  const bool has_scales = b.target.sm >= 100 && b.random.chance(50);
  Draft d = b.named(has_scales ? "mma.sync.aligned.m16n8k64.block_scale" : "mma.sync.aligned.m16n8k16", ir::kConvergent);
  const auto matrices = [&] {
    b.use(d, a);
    b.use(d, bb);
    if (!has_scales) return;
    b.use(d, kWord);
    b.use(d, kWord);
  };
  if (form < 45) {  // in and out
    if (b.def(d, acc.is_valid() ? acc : b.pick(c), {.role = Role::DefUse})) matrices();
  } else {
    const VRegId old = b.pick_root(c);
    const bool taken = b.use(d, old);
    matrices();
    if (form < 75 && taken) b.def(d, c, {.tied = 0});
    else b.def(d, c);
  }
  b.finish(std::move(d));
}

void acc(Builder& b) {
  if (!b.has(RegFile::Acc)) return tensor(b);
  constexpr std::array<int, 4> kAccWidths = {32, 64, 128, 256};
  const Key key = in(RegFile::Acc, kAccWidths[b.random.below(4)]);
  const auto r = b.random.below(100);
  if (r < 50) {
    Draft d = b.named("tcgen.mma");
    b.maybe_guard(d);
    b.use(d, kPair);
    b.use(d, kPair);
    b.def(d, key, {.role = Role::DefUse});
    return b.finish(std::move(d));
  }
  const Key value = in(RegFile::R, key.width);
  Draft d = b.named(r < 75 ? "tcgen.ld" : "tcgen.st");
  b.use(d, r < 75 ? key : value);
  b.def(d, r < 75 ? value : key);
  b.finish(std::move(d));
}

void barrier_register(Builder& b) {
  const RegFile file = b.has(RegFile::UB) && b.random.chance(30) ? RegFile::UB : RegFile::B;
  if (!b.has(file)) return alu(b, kWord);
  if (b.random.chance(50)) {
    b.materialise(in(file, 32));
    return;
  }
  Draft d = b.named("bsync", ir::kConvergent);
  b.use(d, in(file, 32));
  if (b.random.chance(20)) b.use(d, in(file, 32));
  b.finish(std::move(d));
}

// The next tuple of an ABI range for a value of these units and this alignment; advances `next`.
PReg next_in(PReg range, int& next, int units, int alignment) {
  const int first = (next + alignment - 1) / alignment * alignment;
  if (first + units > range.end()) return {};
  next = first + units;
  return {range.file, static_cast<std::uint8_t>(units), static_cast<std::uint16_t>(first)};
}

Key abi_key(Builder& b, bool quads) {
  const auto r = b.random.below(100);
  return r < 60 || b.abi().arguments.file != RegFile::R ? kWord : r < 90 || !quads ? kPair : kQuad;
}

void call(Builder& b) {
  if (b.abi().arguments.file != RegFile::R || b.abi().results.file != RegFile::R) return store(b, 2);
  Draft d = b.op(Op::Call);
  constexpr std::array<const char*, 4> kCallees = {"f", "g", "__internal_fdiv", "vprintf"};
  const bool guarded = b.random.chance(8) && b.guard(d);
  const char* callee = b.random.chance(80) ? any_of(b, kCallees) : nullptr;
  if (callee != nullptr) d.uses.push_back(ir::Operand::of_symbol(b.f.symbols.intern(callee)));
  else b.use(d, kPair);
  const int arguments = at(b, 5);
  int next = b.abi().arguments.begin();
  for (int i = 0; i < arguments; ++i) {
    const VRegId v = b.pick_root(abi_key(b, true));
    const ir::VReg& reg = b.f.vreg(v);
    const PReg place = next_in(b.abi().arguments, next, reg.units(), reg.alignment());
    if (!b.is_offered(place) || !b.use(d, v, {}, place)) break;
  }
  const int results = guarded ? 0 : at(b, 3);
  next = b.abi().results.begin();
  for (int i = 0; i < results; ++i) {
    const Key key = abi_key(b, false);
    const VRegId old = b.any_available(key) && b.random.chance(25) ? b.pick_root(key) : VRegId{};
    const VRegId v = old.is_valid() ? old : b.new_vreg(key);
    const PReg place = next_in(b.abi().results, next, b.f.vreg(v).units(), b.f.vreg(v).alignment());
    if (!b.is_offered(place) || !b.def(d, v, {.fixed = place})) break;
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

void barrier(Builder& b) {
  Draft d;
  if (b.random.chance(60)) {
    d = b.op(Op::Bar);
    d.inst.mnemonic = b.f.symbols.intern("bar.sync");
    d.inst.flags = static_cast<std::uint16_t>(ir::kConvergent | (b.random.chance(50) ? ir::kBarrier : 0));
    b.imm(d, at(b, 16));
    if (b.random.chance(15)) b.use(d, kWord);
  } else {
    d = b.named("membar.gl", ir::kBarrier);
  }
  b.finish(std::move(d));
}

void in_out(Builder& b) {
  const Key key = b.random.chance(85) || !b.has(RegFile::UR) ? b.value_key() : in(RegFile::UR, 32);
  Draft d = b.named("fma.acc");
  b.maybe_guard(d);
  b.def(d, key, {.role = Role::DefUse});
  const int uses = b.random.between(1, 3);
  for (int i = 0; i < uses; ++i) b.use(d, b.value_key());
  b.finish(std::move(d));
}

void tied(Builder& b) {
  const Key key = b.random.chance(88) ? b.value_key() : kPred;
  Draft d = b.named("mad.tied");
  const int before = at(b, 2), after = at(b, 3);
  for (int i = 0; i < before; ++i) b.use(d, b.value_key());
  const auto index = static_cast<std::uint16_t>(d.uses.size());
  const VRegId v = b.pick_root(key);
  const PReg fixed = b.random.chance(10) ? b.random_fixed(v) : PReg{};
  const bool taken = b.use(d, v, {}, fixed);
  for (int i = 0; i < after; ++i) b.use(d, b.random.chance(20) ? key : b.value_key());
  if (taken) {
    // A fixed use brings its register along, which has to suit the def: give it a new vreg of natural alignment.
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

void early(Builder& b) {
  Draft d = b.named("atom.loop");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3), defs = b.random.between(1, 2);
  for (int i = 0; i < uses; ++i) b.use(d, b.random.chance(90) ? b.value_key() : kPred);
  for (int i = 0; i < defs; ++i) b.def(d, b.random.chance(90) ? b.value_key() : kPred, {.early = true});
  if (b.random.chance(30)) b.def(d, b.value_key());
  b.finish(std::move(d));
}

void fixed(Builder& b) {
  Draft d = b.named("asm.fixed");
  const bool with_guard = b.random.chance(10) && b.guard(d);
  const auto any_key = [&] {
    const auto r = b.random.below(100);
    return r < 55 ? kWord : r < 75 ? kPair : r < 82 ? kQuad : r < 92 || !b.has(RegFile::UR) ? kPred : in(RegFile::UR, 32);
  };
  const int uses = at(b, 4), defs = at(b, 3);
  for (int i = 0; i < uses; ++i) {
    const VRegId v = b.pick_root(any_key());
    const PReg place = b.random_fixed(v);
    const ir::VReg reg = b.f.vreg(v);
    const ir::Part part = reg.width >= 64 && b.random.chance(15) ? *ir::Part::from_bytes(0, 4) : ir::Part();
    b.use(d, v, part, place);
    if (b.random.chance(25)) b.use(d, v, {}, b.random_fixed(v));  // the same one in two places
  }
  if (b.random.chance(30)) b.use(d, b.value_key());
  for (int i = 0; i < defs; ++i) {
    const Key key = any_key();
    const bool again = with_guard || (b.any_available(key) && b.random.chance(30));
    const VRegId v = again ? b.pick_root(key) : b.new_vreg(key);
    const PReg place = b.random_fixed(v);
    const bool is_early = b.random.chance(10);
    if (b.def(d, v, {.fixed = place, .early = is_early}) && !with_guard) d.fresh.push_back(v);
  }
  b.finish(std::move(d));
}

void precoloured(Builder& b) {
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
  const int between = at(b, 3);
  for (int i = 0; i < between; ++i) alu(b, b.value_key());
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

void multi_def(Builder& b) {
  Draft d = b.named("shfl.sync.multi");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3), defs = b.random.between(2, 4);
  for (int i = 0; i < uses; ++i) b.use(d, b.value_key());
  for (int i = 0; i < defs; ++i) b.def(d, b.random.chance(75) ? b.value_key() : kPred);
  b.finish(std::move(d));
}

void atomic(Builder& b) {
  Draft d = b.named("atom.global.add", ir::kMemRead | ir::kMemWrite);
  b.maybe_guard(d);
  address(b, d);
  b.use(d, kWord);
  if (b.random.chance(30)) b.use(d, kWord);
  b.def(d, kWord);
  b.finish(std::move(d));
}

void many_uses(Builder& b) {
  Draft d = b.named("tex.grad", ir::kMemWrite);
  const int most = b.random.between(6, 24);
  for (int i = 0; i < most; ++i)
    if (!b.use(d, b.random.chance(80) ? kWord : b.value_key())) break;
  b.maybe_imm(d);
  if (b.random.chance(50)) b.def(d, kQuad);
  b.finish(std::move(d));
}

void no_operands(Builder& b) {
  Draft d = b.named(b.random.chance(50) ? "nop" : "nanosleep");
  b.maybe_imm(d);
  b.finish(std::move(d));
}

// Values pile up to about a usual limit, and are then consumed one by one.
void ramp(Builder& b, int room) {
  constexpr std::array<int, 8> kPeaks = {8, 16, 24, 24, 32, 40, 64, 96};
  int peak = kPeaks[b.random.below(8)];
  peak += b.random.between(0, 5) - 2;
  peak = std::min(peak, room * 2 / 3);
  if (peak < 3) return alu(b, kWord);
  std::vector<VRegId> values;
  for (int units = 0; units < peak;) {
    Draft d = b.named("ld.global", ir::kMemRead);
    const VRegId v = b.new_vreg(b.random.chance(75) ? kWord : kPair);
    units += b.f.vreg(v).units();
    b.imm(d, units * 4);
    b.def(d, v);
    d.fresh.push_back(v);
    b.finish(std::move(d));
    values.push_back(v);
  }
  const auto order = b.random.below(3);
  if (order == 1) std::reverse(values.begin(), values.end());
  if (order == 2)
    for (std::size_t i = values.size() - 1; i > 0; --i)
      std::swap(values[i], values[b.random.below(static_cast<std::uint32_t>(i + 1))]);
  const VRegId sum = b.pick_root(kWord);
  for (const VRegId v : values) {
    Draft d = b.named("add.f32");
    b.use(d, sum);
    b.use(d, v);
    b.def(d, sum);
    b.finish(std::move(d));
  }
}

void may_def_first(Builder& b) {
  const Key key = b.random.chance(85) ? b.value_key() : kPred;
  const VRegId v = b.new_vreg(key);
  Draft may = b.named("mov.pred");
  b.guard(may);
  b.use(may, key);
  b.def(may, v);
  if (b.x.undefined && !b.is_root(v)) return;
  if (b.x.undefined && b.random.chance(70)) {
    may.fresh.push_back(v);
    return b.finish(std::move(may));
  }
  b.finish(std::move(may));
  const int between = at(b, 3);
  for (int i = 0; i < between; ++i) alu(b, b.value_key());
  emit_def_of(b, v);
  b.make_available(v);
}

void alias(Builder& b) {
  constexpr std::array<int, 6> kRoots = {16, 32, 32, 64, 128, 256};
  Key key = in(RegFile::R, kRoots[b.random.below(6)]);
  if (b.has(RegFile::UR) && b.random.chance(10)) key = in(RegFile::UR, std::min(key.width, 64));
  const VRegId parent = b.pick(key);
  const ir::VReg old = b.f.vreg(parent);
  if (old.fixed.is_valid() || b.f.vreg(b.f.root(parent)).fixed.is_valid()) return alu(b, kWord);
  ir::VReg v;
  v.cls = old.cls;
  v.type = old.type;
  v.alias = parent;
  int bytes = old.bytes();
  if (!b.random.chance(20) || bytes > 16) {
    bytes = std::min(bytes / 2, 16) >> at(b, 2);
    bytes = std::max(bytes, 1);
    v.alias_part = *ir::Part::from_bytes(at(b, old.bytes() / bytes) * bytes, bytes);
  }
  v.width = static_cast<std::uint16_t>(bytes * 8);
  v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(v.width));
  const VRegId id = b.f.add_vreg(v);
  Draft d = b.named("extract");
  b.use(d, id);
  b.def(d, kWord);
  d.fresh.push_back(id);
  b.finish(std::move(d));
}

// Values packed and unpacked in turn, whose halves change places or are read again behind the pack.
void pack_chain(Builder& b) {
  constexpr std::array<int, 4> kHalves = {16, 32, 32, 64};
  const Key half = in(RegFile::R, kHalves[b.random.below(4)]), whole = in(RegFile::R, half.width * 2);
  VRegId low = b.pick_root(half), high = b.pick_root(half);
  for (int rounds = b.random.between(2, 5); rounds > 0; --rounds) {
    Draft pack = b.op(Op::Pack);
    const bool packed = b.use(pack, low) && b.use(pack, high);
    const VRegId both = packed ? b.def(pack, whole) : VRegId();
    if (!both.is_valid()) return alu(b, half);
    b.finish(std::move(pack));
    if (b.random.chance(40)) {  // a half is read behind the pack
      Draft d = b.named("add.s32");
      b.use(d, b.random.chance(50) ? low : high);
      b.def(d, half);
      b.finish(std::move(d));
    }
    Draft unpack = b.op(Op::Unpack);
    if (!b.use(unpack, both)) return;
    const VRegId first = b.def(unpack, half), second = first.is_valid() ? b.def(unpack, half) : VRegId();
    if (!second.is_valid()) return;
    b.finish(std::move(unpack));
    const auto next = b.random.below(3);
    low = next == 0 ? second : first;
    high = next == 0 ? first : next == 1 ? second : high;
  }
}

// --- runs of guarded instructions

Key key_of(Builder& b, VRegId v) { return in(b.f.vreg(v).file(), b.f.vreg(v).width); }

// A comparison whose predicate nobody else sees. Where reads may be undefined, it is sometimes made under a guard itself.
GuardedRegion new_region(Builder& b) {
  const VRegId p = b.new_vreg(kPred);
  Draft d = b.named("setp.ne.s32");
  if (b.x.undefined && b.random.chance(40)) b.guard(d);
  b.use(d, kWord);
  b.maybe_imm(d);
  b.def(d, p);
  b.finish(std::move(d));
  return {p, {}};
}

// One instruction under the guard: it reads what was defined under the same guard, or what is available.
void guarded_step(Builder& b, GuardedRegion& region, bool holds) {
  std::vector<VRegId>& known = region.values[holds ? 1 : 0];
  const auto is_known = [&] { return !known.empty() && b.random.chance(70); };
  const auto any_known = [&] {
    return known[known.size() - 1 - b.random.below(static_cast<std::uint32_t>(std::min<std::size_t>(known.size(), 6)))];
  };
  const auto r = b.random.below(100);
  Draft d = r < 30   ? b.named("ld.global", ir::kMemRead)
            : r < 60 ? b.named(any_of(b, kBinary))
            : r < 85 ? b.named("st.global", ir::kMemWrite)
                     : b.op(Op::Copy);
  if (!b.guard(d, region.predicate, !holds)) return;
  const VRegId source = is_known() ? any_known() : b.pick(b.value_key());
  if (r < 30) address(b, d);
  else if (!b.use(d, source)) return;
  if (r >= 30 && r < 85 && is_known()) b.use(d, any_known());
  if (r >= 60 && r < 85) return b.finish(std::move(d));
  const Key key = r < 30 ? b.value_key() : key_of(b, source);
  if (b.random.chance(15)) {  // an available value changes under the guard
    if (b.def(d, key).is_valid()) b.finish(std::move(d));
    return;
  }
  const bool again = is_known();
  VRegId to = again ? any_known() : VRegId();
  if (!again || (r >= 85 && key_of(b, to).index() != key.index())) to = b.new_vreg(key);
  if (!b.def(d, to)) return;
  b.finish(std::move(d));
  known.push_back(to);
}

// As if-conversion leaves it. A region that a dominating block left may go on; what is added to it here ends with this scope.
void guarded_run(Builder& b, int room) {
  constexpr std::array<int, 3> kRenewals = {0, 4, 35};  // percent of instructions at which another region begins
  const int renewal = kRenewals[b.random.below(3)];
  const std::size_t until = b.body->size() + static_cast<std::size_t>(std::max(2, std::min(room, b.random.between(40, 200))));
  GuardedRegion region = !b.regions.empty() && b.random.chance(60)
                             ? b.regions[b.random.below(static_cast<std::uint32_t>(b.regions.size()))]
                             : new_region(b);
  while (b.body->size() < until) {
    if (b.random.chance(renewal)) {
      b.regions.push_back(std::move(region));
      region = new_region(b);
    }
    const std::size_t before = b.body->size();
    guarded_step(b, region, b.random.chance(75));
    if (b.body->size() == before) alu(b, b.value_key());
  }
  b.regions.push_back(std::move(region));
}

}  // namespace

void emit(Builder& b, Emit kind, int room) {
  switch (kind) {
    case Emit::Alu: return alu(b, b.value_key());
    case Emit::Load: return load(b);
    case Emit::Store: return store(b, b.random.between(1, 2));
    case Emit::Const: return constant(b);
    case Emit::Copy: return copy(b);
    case Emit::ParallelCopy: return parallel_copy(b);
    case Emit::CrossCopy: return cross_copy(b);
    case Emit::Pack: return pack(b);
    case Emit::Unpack: return unpack(b);
    case Emit::PartBuild: return part_build(b);
    case Emit::PartDef: return part_def(b);
    case Emit::SetP: return setp(b);
    case Emit::PredLogic: return pred_logic(b);
    case Emit::Select: return select(b);
    case Emit::Uniform: return uniform(b);
    case Emit::UniformPred: return uniform_pred(b);
    case Emit::Tensor: return tensor(b);
    case Emit::Acc: return acc(b);
    case Emit::BarrierReg: return barrier_register(b);
    case Emit::Call: return call(b);
    case Emit::Bar: return barrier(b);
    case Emit::InOut: return in_out(b);
    case Emit::Tied: return tied(b);
    case Emit::Early: return early(b);
    case Emit::Fixed: return fixed(b);
    case Emit::Precoloured: return precoloured(b);
    case Emit::MultiDef: return multi_def(b);
    case Emit::Atomic: return atomic(b);
    case Emit::ManyUses: return many_uses(b);
    case Emit::NoOperands: return no_operands(b);
    case Emit::Ramp: return ramp(b, room);
    case Emit::MayDefFirst: return may_def_first(b);
    case Emit::Alias: return alias(b);
    case Emit::PackChain: return pack_chain(b);
    case Emit::GuardedRun: return guarded_run(b, room);
  }
}

Emit draw_kind(Builder& b) {
  int sum = 0;
  for (const int w : b.x.weights) sum += w;
  int rest = at(b, sum);
  std::size_t k = 0;
  while (rest >= b.x.weights[k]) rest -= b.x.weights[k++];
  return static_cast<Emit>(k);
}

void emit_def_of(Builder& b, VRegId v) {
  const ir::VReg reg = b.f.vreg(v);
  const Key key = {reg.file(), reg.width};
  const auto r = b.random.below(100);
  Draft d = r < 40 ? b.op(Op::Copy) : b.named(r < 70 ? "add.s32" : "mov.imm");
  if (r < 70) b.use(d, key);
  if (r < 40 && d.uses.empty()) d = b.named("mov.imm");
  if (r >= 40 && r < 70) b.maybe_imm(d);
  b.def(d, v);
  b.finish(std::move(d));
}

void emit_sink(Builder& b, std::span<const VRegId> values) {
  for (std::size_t i = 0; i < values.size();) {
    Draft d = b.named("st.sink", ir::kMemWrite);
    const int most = b.random.between(1, 3);
    int taken = 0;
    while (taken < most && i < values.size() && b.use(d, values[i])) {
      ++taken;
      ++i;
    }
    if (taken == 0) ++i;  // wider than the cap: cannot be, but the loop ends
    b.finish(std::move(d));
  }
}

void emit_abi_entry(Builder& b) {
  Draft d = b.named("abi.entry");
  int next = b.abi().arguments.begin();
  const int arguments = at(b, 7);
  for (int i = 0; i < arguments; ++i) {
    const VRegId v = b.new_vreg(abi_key(b, true));
    const PReg place = next_in(b.abi().arguments, next, b.f.vreg(v).units(), b.f.vreg(v).alignment());
    if (!b.is_offered(place) || place.file != b.f.vreg(v).file() || !b.def(d, v, {.fixed = place})) break;
    d.fresh.push_back(v);
  }
  b.finish(std::move(d));
}

Draft make_ret(Builder& b) {
  const int results = at(b, 3);
  std::vector<std::pair<VRegId, PReg>> chosen;
  int next = b.abi().results.begin();
  for (int i = 0; i < results && b.abi().results.file == RegFile::R; ++i) {
    const VRegId v = b.pick_root(abi_key(b, false));
    const PReg place = next_in(b.abi().results, next, b.f.vreg(v).units(), b.f.vreg(v).alignment());
    if (!b.is_offered(place)) break;
    chosen.emplace_back(v, place);
  }
  Draft d = b.op(Op::Ret);
  for (const auto& [v, place] : chosen) b.use(d, v, {}, place);
  return d;
}

}  // namespace regduel::generate
