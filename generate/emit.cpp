// See emit.h. Mnemonics are of the flavour of PTX and SASS; nothing depends on them.
#include "generate/emit.h"

#include <span>
#include <utility>

#include "generate/emitters.h"

namespace regduel::generate {
namespace {

using ir::Op;
using ir::VRegId;

// In the order of Emit.
constexpr std::array<Emitter*, kNumEmits> kEmitters = {emit_alu,
                                                       emit_load,
                                                       emit_store,
                                                       emit_constant,
                                                       emit_copy,
                                                       emit_parallel_copy,
                                                       emit_cross_copy,
                                                       emit_pack,
                                                       emit_unpack,
                                                       emit_part_build,
                                                       emit_part_def,
                                                       emit_setp,
                                                       emit_pred_logic,
                                                       emit_select,
                                                       emit_uniform,
                                                       emit_uniform_pred,
                                                       emit_tensor,
                                                       emit_acc,
                                                       emit_barrier_register,
                                                       emit_call,
                                                       emit_barrier,
                                                       emit_in_out,
                                                       emit_tied,
                                                       emit_early,
                                                       emit_fixed,
                                                       emit_precoloured,
                                                       emit_multi_def,
                                                       emit_atomic,
                                                       emit_many_uses,
                                                       emit_no_operands,
                                                       emit_ramp,
                                                       emit_may_def_first,
                                                       emit_alias,
                                                       emit_pack_chain,
                                                       emit_guarded_run};

}  // namespace

void emit(Builder& b) { kEmitters[any_weighted(b.random, b.x.weights)](b); }

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
    const std::size_t first = i;
    for (int most = b.random.between(1, 3); most > 0 && i < values.size() && b.use(d, values[i]); --most) ++i;
    if (i == first) ++i;  // wider than the cap: cannot be, but the loop ends
    b.finish(std::move(d));
  }
}

}  // namespace regduel::generate
