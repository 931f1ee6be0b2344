// Emitters of operations without constraints: arithmetic, memory, predicates, the uniform files, tensors. See emitters.h.
#include "generate/emitters.h"

#include <algorithm>
#include <utility>

namespace regduel::generate {

using ir::Op;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

namespace {

constexpr std::array<const char*, 6> kUnary = {"neg.s32", "abs.f32", "not.b32", "popc.b32", "cvt.rn.f32.s32", "rcp.approx.f32"};
constexpr std::array<const char*, 5> kTernary = {"mad.lo.s32", "fma.rn.f32", "lop3.b32", "shf.l.wrap.b32", "sad.s32"};

// Only an instruction with one whole, unguarded def of a root may be rematerialised.
bool is_whole_def(const Builder& b, const Draft& d) { return d.defs.size() == 1 && !d.is_guarded() && b.is_root(d.defs[0].vreg()); }

}  // namespace

void alu(Builder& b, Key key) {
  const auto r = b.random.below(100);
  const int uses = r < 15 ? 1 : r < 70 ? 2 : 3;
  Draft d = b.named(uses == 1 ? any_of(b.random, kUnary) : uses == 2 ? any_of(b.random, kBinary) : any_of(b.random, kTernary));
  if (uses == 2 && b.random.chance(50)) d.inst.flags |= ir::kCommutative;
  b.maybe_guard(d);
  for (int i = 0; i < uses; ++i) b.use(d, b.random.chance(75) ? key : b.value_key());
  if (key.file == RegFile::R && b.has(RegFile::UR) && b.random.chance(3)) b.use(d, kUniform);
  b.maybe_imm(d);
  b.def(d, key);
  if (is_whole_def(b, d) && b.random.chance(4)) d.inst.flags |= ir::kRematerialisable;
  b.finish(std::move(d));
}
void emit_alu(Builder& b) { alu(b, b.value_key()); }

void address(Builder& b, Draft& d) {
  b.use(d, b.x.plain                                   ? kWord
           : b.random.chance(70)                       ? kPair
           : b.has(RegFile::UR) && b.random.chance(20) ? Key{RegFile::UR, 64}
                                                       : kWord);
}

void use_values(Builder& b, Draft& d, int count) {
  for (int i = 0; i < count; ++i) b.use(d, b.value_key());
}

// --- memory ---------------------------------------------------------------------------------------------------------

void emit_load(Builder& b) {
  const Key key = b.value_key();
  const bool constant = b.random.chance(25);
  Draft d = b.named(constant ? "ld.const" : "ld.global", ir::kMemRead | (constant ? ir::kReadOnly : 0));
  b.maybe_guard(d);
  address(b, d);
  b.maybe_imm(d);
  b.def(d, key);
  if (constant && is_whole_def(b, d) && b.random.chance(50)) d.inst.flags |= ir::kRematerialisable;
  b.finish(std::move(d));
}

void store(Builder& b, int values) {
  Draft d = b.named("st.global", ir::kMemWrite);
  b.maybe_guard(d);
  address(b, d);
  for (int i = 0; i < values; ++i)
    if (!b.use(d, b.random.chance(10) ? kPred : b.value_key())) break;
  b.maybe_imm(d);
  b.finish(std::move(d));
}
void emit_store(Builder& b) { store(b, b.random.between(1, 2)); }

void emit_atomic(Builder& b) {
  Draft d = b.named("atom.global.add", ir::kMemRead | ir::kMemWrite);
  b.maybe_guard(d);
  address(b, d);
  b.use(d, kWord);
  if (b.random.chance(30)) b.use(d, kWord);
  b.def(d, kWord);
  b.finish(std::move(d));
}

// --- predicates -----------------------------------------------------------------------------------------------------

void emit_setp(Builder& b) {
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

void emit_pred_logic(Builder& b) {
  Draft d = b.named("plop3.lut");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3);
  for (int i = 0; i < uses; ++i) b.use(d, kPred);
  b.maybe_imm(d);
  b.def(d, kPred);
  b.finish(std::move(d));
}

void emit_select(Builder& b) {
  const Key key = b.value_key();
  Draft d = b.named("selp.b32");
  b.maybe_guard(d);
  b.use(d, key);
  b.use(d, key);
  b.use(d, kPred);
  b.def(d, key);
  b.finish(std::move(d));
}

// --- other files ----------------------------------------------------------------------------------------------------

void emit_uniform(Builder& b) {
  if (!b.has(RegFile::UR)) return emit_alu(b);
  const auto r = b.random.below(100);
  const Key key = {RegFile::UR, r < 60 ? 32 : r < 85 ? 64 : r < 92 ? 16 : 128};
  if (b.random.chance(30)) {  // a vector instruction with a uniform operand
    Draft d = b.named("iadd3.ur");
    b.maybe_guard(d);
    b.use(d, kWord);
    b.use(d, key);
    b.def(d, kWord);
    return b.finish(std::move(d));
  }
  if (!b.random.chance(15)) return alu(b, key);
  Draft d = b.named("ldc.ur", ir::kMemRead | ir::kReadOnly);
  b.maybe_imm(d);
  b.def(d, key);
  b.finish(std::move(d));
}

void emit_uniform_pred(Builder& b) {
  if (!b.has(RegFile::UP)) return emit_pred_logic(b);
  const auto r = b.random.below(100);
  const bool votes = r >= 40 && r < 70;
  Draft d = b.named(r < 40 ? "usetp" : votes ? "vote.any" : "uplop3", votes ? ir::kConvergent : 0);
  const Key key = r < 40 ? kUniform : votes ? kPred : kUniformPred;
  b.use(d, key);
  if (!votes) b.use(d, key);
  b.def(d, kUniformPred);
  b.finish(std::move(d));
}

void emit_barrier_register(Builder& b) {
  const RegFile file = b.has(RegFile::UB) && b.random.chance(30) ? RegFile::UB : RegFile::B;
  if (!b.has(file)) return alu(b, kWord);
  if (b.random.chance(50)) {
    b.materialise({file, 32});
    return;
  }
  Draft d = b.named("bsync", ir::kConvergent);
  b.use(d, Key{file, 32});
  if (b.random.chance(20)) b.use(d, Key{file, 32});
  b.finish(std::move(d));
}

// --- tensors --------------------------------------------------------------------------------------------------------

void emit_tensor(Builder& b) {
  const Key sum = {RegFile::R, b.random.chance(65) ? 128 : 256};
  const Key left = {RegFile::R, b.random.chance(60) ? 128 : 64};
  const Key right = {RegFile::R, b.random.chance(60) ? 64 : 32};
  VRegId zero;
  if (!b.any_available(sum) || b.random.chance(15)) {
    Draft d = b.named("mma.zero");
    zero = b.new_vreg(sum, std::min(b.target.tensor_align_log2, 3));
    if (b.def(d, zero)) {
      d.fresh.push_back(zero);
      b.finish(std::move(d));
    }
  }
  const auto form = b.random.below(100);
  // From sm_100 on, FP4 and FP8 have the scales of both matrices in a register each.
  const bool has_scales = b.target.sm >= 100 && b.random.chance(50);
  Draft d = b.named(has_scales ? "mma.sync.aligned.m16n8k64.block_scale" : "mma.sync.aligned.m16n8k16", ir::kConvergent);
  const auto matrices = [&] {
    b.use(d, left);
    b.use(d, right);
    if (!has_scales) return;
    b.use(d, kWord);
    b.use(d, kWord);
  };
  if (form < 45) {  // the accumulator is read and written in place
    if (b.def(d, zero.is_valid() ? zero : b.pick(sum), {.role = Role::DefUse})) matrices();
  } else {
    const bool taken = b.use(d, b.pick_root(sum));
    matrices();
    b.def(d, sum, {.tied = form < 75 && taken ? std::uint16_t{0} : ir::kNotTied});
  }
  b.finish(std::move(d));
}

void emit_acc(Builder& b) {
  if (!b.has(RegFile::Acc)) return emit_tensor(b);
  constexpr std::array<int, 4> kAccWidths = {32, 64, 128, 256};
  const Key key = {RegFile::Acc, any_of(b.random, kAccWidths)}, value = {RegFile::R, key.width};
  const auto r = b.random.below(100);
  Draft d = b.named(r < 50 ? "tcgen.mma" : r < 75 ? "tcgen.ld" : "tcgen.st");
  if (r < 50) {
    b.maybe_guard(d);
    b.use(d, kPair);
    b.use(d, kPair);
    b.def(d, key, {.role = Role::DefUse});
  } else {
    b.use(d, r < 75 ? key : value);
    b.def(d, r < 75 ? value : key);
  }
  b.finish(std::move(d));
}

// --- few operands, or many ------------------------------------------------------------------------------------------

void emit_barrier(Builder& b) {
  if (!b.random.chance(60)) return b.finish(b.named("membar.gl", ir::kBarrier));
  Draft d = b.named("bar.sync", ir::kConvergent | (b.random.chance(50) ? ir::kBarrier : 0));
  d.inst.op = Op::Bar;
  b.imm(d, below(b.random, 16));
  if (b.random.chance(15)) b.use(d, kWord);
  b.finish(std::move(d));
}

void emit_no_operands(Builder& b) {
  Draft d = b.named(b.random.chance(50) ? "nop" : "nanosleep");
  b.maybe_imm(d);
  b.finish(std::move(d));
}

void emit_many_uses(Builder& b) {
  Draft d = b.named("tex.grad", ir::kMemWrite);
  const int most = b.random.between(6, 24);
  for (int i = 0; i < most; ++i)
    if (!b.use(d, b.random.chance(80) ? kWord : b.value_key())) break;
  b.maybe_imm(d);
  if (b.random.chance(50)) b.def(d, kQuad);
  b.finish(std::move(d));
}

void emit_multi_def(Builder& b) {
  Draft d = b.named("shfl.sync.multi");
  b.maybe_guard(d);
  const int uses = b.random.between(1, 3), defs = b.random.between(2, 4);
  use_values(b, d, uses);
  for (int i = 0; i < defs; ++i) b.def(d, b.random.chance(75) ? b.value_key() : kPred);
  b.finish(std::move(d));
}

}  // namespace regduel::generate
