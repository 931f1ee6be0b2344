// Emitters of moves: constants, copies, packs, parts, aliases. See emitters.h.
#include "generate/emitters.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace regduel::generate {

using ir::Op;
using ir::PReg;
using ir::RegFile;
using ir::VRegId;

// --- constants and copies -------------------------------------------------------------------------------------------

namespace {

// The two emitters of moves with constraints are here because an allocator that treats moves apart from other operations must not
// forget their constraints.
void constrained_constant(Builder& b, Key key) {
  Draft d = b.op(Op::Const);
  b.imm(d, below(b.random, 1000));
  if (b.random.chance(40)) d.inst.flags |= ir::kRematerialisable;
  const VRegId v = old_or_new_root(b, key, 30);
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
  const VRegId to = old_or_new_root(b, key, 30);
  DefOptions options;
  if (form == 0) options.tied = 0;
  if (form == 1) options.fixed = b.random_fixed(to);
  if (form == 2) options.early = true;
  if (form > 0 && b.is_available(to) && b.random.chance(20)) b.guard(d);
  if (!b.use(d, from, {}, source) || !b.def(d, to, options)) return alu(b, key);
  d.fresh.push_back(to);
  b.finish(std::move(d));
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

}  // namespace

void emit_constant(Builder& b) {
  Key key = b.value_key();
  key.width = std::min(key.width, 64);
  if (b.random.chance(b.x.constrained_moves)) return constrained_constant(b, key);
  const VRegId start = b.materialise(key, true);
  if (b.random.chance(25)) chain(b, key, start);
}

void emit_copy(Builder& b) {
  const Key key = b.random.chance(8) ? kPred : b.value_key();
  if (b.random.chance(b.x.constrained_moves)) return constrained_copy(b, key);
  Draft d = b.op(Op::Copy);
  b.maybe_guard(d);
  if (b.use(d, key) && b.def(d, key).is_valid()) b.finish(std::move(d));
  else alu(b, key);
}

void emit_parallel_copy(Builder& b) {
  Draft d = b.op(Op::Copy);
  const int pairs = b.random.between(2, 4);
  const Key key = b.random.chance(70) ? kWord : b.value_key();
  if (b.random.chance(50)) {  // a rotation: each value moves to the place of the next
    std::vector<VRegId> ring;
    for (int i = 0; i < pairs; ++i)
      if (const VRegId v = b.pick_root(key); std::ranges::find(ring, v) == ring.end()) ring.push_back(v);
    for (std::size_t i = 0; i < ring.size() && b.use(d, ring[i]); ++i)
      if (!b.def(d, ring[(i + 1) % ring.size()])) break;
  } else {
    for (int i = 0; i < pairs; ++i) {
      const Key k = b.random.chance(80) ? key : kPred;
      if (!b.use(d, k) || !b.def(d, k).is_valid()) break;
    }
  }
  if (d.uses.size() > d.defs.size()) d.uses.pop_back();  // the use of a pair whose def did not fit
  if (d.defs.empty()) return alu(b, key);
  b.finish(std::move(d));
}

void emit_cross_copy(Builder& b) {
  using enum RegFile;
  struct Route {
    RegFile from, to;
    int width;
  };
  constexpr std::array<Route, 11> kRoutes = {{{R, UR, 32},
                                              {UR, R, 32},
                                              {R, UR, 64},
                                              {UR, R, 64},
                                              {P, UP, 1},
                                              {UP, P, 1},
                                              {R, B, 32},
                                              {B, R, 32},
                                              {R, Acc, 128},
                                              {Acc, R, 64},
                                              {UB, UR, 32}}};
  const Route route = any_of(b.random, kRoutes);
  if (!b.has(route.from) || !b.has(route.to)) return emit_copy(b);
  Draft d = b.op(Op::Copy);
  b.maybe_guard(d);
  if (b.use(d, Key{route.from, route.width}) && b.def(d, Key{route.to, route.width}).is_valid()) b.finish(std::move(d));
  else emit_copy(b);
}

// --- packs and parts ------------------------------------------------------------------------------------------------

namespace {

// Widths of the pieces of a tuple of this width: equal ones, or halves of which one is split again.
std::vector<int> pieces_of(Builder& b, int width) {
  std::vector<int> result;
  const int unit = width == 96 ? 32 : width >> b.random.between(1, width == 256 ? 3 : width == 128 ? 2 : 1);
  const int piece = std::max(unit, 8);
  for (int done = 0; done < width; done += piece) {
    if (piece == 64 && b.random.chance(25)) result.insert(result.end(), {32, 32});
    else result.push_back(piece);
  }
  return result;
}

Key wide_key(Builder& b) {
  constexpr std::array<int, 6> kWide = {32, 64, 64, 96, 128, 256};
  return {RegFile::R, any_of(b.random, kWide)};
}

ir::Part part_at(int offset_bytes, int bytes) { return *ir::Part::from_bytes(offset_bytes, bytes); }

}  // namespace

void emit_pack(Builder& b) {
  const Key key = wide_key(b);
  Draft d = b.op(Op::Pack);
  bool fits = true;
  for (const int w : pieces_of(b, key.width)) fits = fits && b.use(d, Key{RegFile::R, w});
  if (fits && b.def(d, key).is_valid()) b.finish(std::move(d));
  else alu(b, key);
}

void emit_unpack(Builder& b) {
  const Key key = wide_key(b);
  const std::vector<int> pieces = pieces_of(b, key.width);
  Draft d = b.op(Op::Unpack);
  bool fits = b.use(d, key);
  for (const int w : pieces) fits = fits && b.def(d, Key{RegFile::R, w}).is_valid();
  if (fits) b.finish(std::move(d));
  else alu(b, key);
}

void emit_part_build(Builder& b) {
  const Key key = b.random.chance(15) && b.has(RegFile::UR) ? Key{RegFile::UR, 64} : wide_key(b);
  const int piece = key.width == 32 ? (b.random.chance(50) ? 16 : 8) : key.width == 64 && b.random.chance(30) ? 16 : 32;
  std::vector<int> order(static_cast<std::size_t>(key.width / piece));
  std::iota(order.begin(), order.end(), 0);
  shuffle(b.random, order);
  const VRegId whole = b.new_vreg(key);
  if (b.x.undefined && b.random.chance(50)) order.pop_back();  // a piece stays undefined
  const auto part = [&](std::size_t i) { return part_at(order[i] * piece / 8, piece / 8); };
  for (std::size_t i = 0; i < order.size(); ++i) {
    Draft d = b.named("insert");
    b.use(d, Key{key.file, piece});
    if (i > 0 && b.random.chance(25)) b.use(d, whole, part(i - 1));
    b.maybe_imm(d);
    if (!b.def(d, whole, {.part = part(i)})) {  // the uses took the room
      d = b.named("insert");
      b.def(d, whole, {.part = part(i)});
    }
    if (i + 1 == order.size()) d.fresh.push_back(whole);
    b.finish(std::move(d));
  }
}

void emit_part_def(Builder& b) {
  Key key = wide_key(b);
  if (b.random.chance(10) && b.has(RegFile::UR)) key = {RegFile::UR, 64};
  int bytes = 1 << b.random.between(0, 4);
  while (bytes * 8 > key.width || (key.width == 96 && bytes > 8)) bytes /= 2;
  if (bytes * 8 == key.width) bytes /= 2;
  const int element = key.width == 96 && bytes == 8 ? 0 : below(b.random, key.width / 8 / bytes);
  Draft d = b.named("bfi.b32");
  b.maybe_guard(d);
  b.use(d, b.value_key());
  b.maybe_imm(d);
  b.def(d, key, {.part = part_at(element * bytes, bytes)});
  b.finish(std::move(d));
}

void emit_alias(Builder& b) {
  constexpr std::array<int, 6> kRoots = {16, 32, 32, 64, 128, 256};
  Key key = {RegFile::R, any_of(b.random, kRoots)};
  if (b.has(RegFile::UR) && b.random.chance(10)) key = {RegFile::UR, std::min(key.width, 64)};
  const VRegId parent = b.pick(key);
  const ir::VReg old = b.f.vreg(parent);
  if (old.fixed.is_valid() || b.f.vreg(b.f.root(parent)).fixed.is_valid()) return alu(b, kWord);
  ir::VReg v;
  v.cls = old.cls;
  v.type = old.type;
  v.alias = parent;
  int bytes = old.bytes();
  if (!b.random.chance(20) || bytes > 16) {
    bytes = std::max(std::min(bytes / 2, 16) >> below(b.random, 2), 1);
    v.alias_part = part_at(below(b.random, old.bytes() / bytes) * bytes, bytes);
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

// Values are packed and unpacked in turn; their halves change places or are read again behind the pack.
void emit_pack_chain(Builder& b) {
  constexpr std::array<int, 4> kHalves = {16, 32, 32, 64};
  const Key half = {RegFile::R, any_of(b.random, kHalves)}, whole = {RegFile::R, half.width * 2};
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

}  // namespace regduel::generate
