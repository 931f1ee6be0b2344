// See relax.h.
#include "trial/faults/relax.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "fuzz/edit/edit.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "oracles/judges.h"
#include "oracles/pair/preserved.h"
#include "trial/faults/instructions.h"
#include "trial/faults/origins.h"

namespace regduel::trial {
namespace {

using ir::Operand;
using ir::Role;
using oracles::Verdict;

constexpr std::uint64_t kRelaxStream = 0x72656C6178;
constexpr std::size_t kMostMissesKept = 100;

using Originals = std::unordered_map<std::uint32_t, const ir::Inst*>;  // by id; never iterated
Originals originals_of(const ir::Function& before) {
  Originals originals;
  for (const ir::Inst& i : before.insts) originals.emplace(i.id.value, &i);
  return originals;
}

// Calls see(before instruction, after instruction) for each original instruction that stands, and for each remat of one.
template <class See>
void each_original(const ir::Function& before, const ir::Function& after, See see) {
  const Originals originals = originals_of(before);
  for (const ir::Inst& i : after.insts) {
    const bool is_remat = i.op == ir::Op::Remat;
    if (i.is_deleted() || (i.is_inserted() && !is_remat)) continue;
    if (const auto it = originals.find(is_remat ? i.ref.value : i.id.value); it != originals.end()) see(*it->second, i);
  }
}

// Whether broken(before operand, after operand) holds for a register operand of such an instruction.
template <class Broken>
bool any_operand(const ir::Function& before, const ir::Function& after, Broken broken) {
  bool any = false;
  each_original(before, after, [&](const ir::Inst& was, const ir::Inst& is) {
    const auto old = before.operands_of(was), now = after.operands_of(is);
    if (was.is_copy() && !is.is_copy()) {  // a copy that became a spill or a refill has one of its two registers left
      any = any || broken(old[is.op == ir::Op::Spill ? 1 : 0], now[0]);
      return;
    }
    for (std::size_t k = 0; k < std::min(old.size(), now.size()); ++k)
      if (old[k].is_vreg() && now[k].is_preg()) any = any || broken(old[k], now[k]);
  });
  return any;
}

bool breaks_tie(std::span<const Operand> old, std::span<const Operand> now) {
  for (std::size_t k = 0; k < old.size(); ++k)
    if (old[k].is_tied() && now[k].preg() != now[old[k].tied].preg()) return true;
  return false;
}

bool breaks_early_clobber(std::span<const Operand> old, std::span<const Operand> now) {
  const auto overlap = [](const Operand& a, const Operand& b) {
    const ir::FileBytes x = ir::Function::file_bytes(a), y = ir::Function::file_bytes(b);
    return x.file == y.file && x.begin < y.end && y.begin < x.end;
  };
  for (std::size_t k = 0; k < old.size(); ++k)
    if (old[k].is_early_clobber() &&
        std::ranges::any_of(now, [&](const Operand& read) { return read.is_preg() && read.reads() && overlap(now[k], read); }))
      return true;
  return false;
}

bool breaks_slot_size(const ir::Function& after) {
  return std::ranges::any_of(after.insts, [&](const ir::Inst& i) {
    if (i.is_deleted() || (i.op != ir::Op::Spill && i.op != ir::Op::Refill)) return false;
    const auto ops = after.operands_of(i);
    return ops[1].slot_offset() + bytes_of(ops[0]) > after.slots[ops[1].slot().index()].size;
  });
}

}  // namespace

std::string_view name(Relaxation r) {
  constexpr std::array<std::string_view, kNumRelaxations> kNames = {"tied",      "early-clobber", "fixed",    "class",
                                                                    "alignment", "clobbers",      "slot-size"};
  return kNames[static_cast<std::size_t>(r)];
}

std::optional<ir::Function> relax(const ir::Function& program, const ir::Target& target, Relaxation kind) {
  if (kind == Relaxation::SlotSize) return program;
  EditProgram p(program);
  bool changed = false;
  for (ir::VReg& v : p.header.vregs) {
    if (v.is_architectural()) continue;
    if (kind == Relaxation::Fixed && v.fixed.is_valid()) {
      v.fixed = {};
      changed = true;
    } else if (kind == Relaxation::Alignment && v.align_log2 > 0 && !v.alias.is_valid()) {
      v.align_log2 = 0;
      changed = true;
    } else if (kind == Relaxation::Class && v.file() == ir::RegFile::UR) {
      if (v.fixed.is_valid()) return std::nullopt;
      v.cls = ir::RegClass::R;
      changed = true;
    }
  }
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      for (Operand& op : i.ops) {
        if (kind == Relaxation::Tied && op.is_tied()) {
          op.tied = ir::kNotTied;
          changed = true;
        } else if (kind == Relaxation::EarlyClobber && op.is_early_clobber()) {
          op.flags &= static_cast<std::uint8_t>(~ir::kEarlyClobber);
          changed = true;
        } else if (kind == Relaxation::Fixed && op.fixed().is_valid()) {
          op.set_fixed({});
          changed = true;
        } else if (kind == Relaxation::Class && op.fixed().is_valid() && op.fixed().file == ir::RegFile::UR) {
          return std::nullopt;
        }
      }
      if (kind == Relaxation::Clobbers)
        changed = std::erase_if(i.ops, [](const Operand& op) { return op.role == Role::Clobber; }) > 0 || changed;
    }
  if (!changed) return std::nullopt;
  ir::Function f = p.build();
  if (!ir::check(f, 1).empty() || !ir::check(f, target, 1).empty()) return std::nullopt;
  return f;
}

ir::Function restore(const ir::Function& before, const ir::Function& relaxed_after, Relaxation kind) {
  EditProgram p(relaxed_after);
  p.header.vregs = before.vregs;
  if (kind == Relaxation::SlotSize) {
    std::uint32_t local = (before.local_frame + 3) / 4 * 4, shared = 0;
    for (ir::Slot& s : p.header.slots) {
      std::uint32_t& frame = s.space == ir::MemSpace::Local ? local : shared;
      s.size = std::min(s.size, 4u);
      s.align = 4;
      s.offset = frame;
      frame += 4;
    }
    p.header.local_frame = local;
    p.header.shared_frame = shared;
  }
  if (kind == Relaxation::Clobbers) {
    const Originals originals = originals_of(before);
    for (EditBlock& b : p.blocks)
      for (EditInst& i : b.insts) {
        const auto it = originals.find(i.inst.id.value);
        if (i.inst.is_inserted() || i.inst.is_deleted() || it == originals.end()) continue;
        for (const Operand& op : before.operands_of(*it->second))
          if (op.role == Role::Clobber) i.ops.push_back(op);
      }
  }
  return p.build();
}

Truth truth(const oracles::Case& c, Relaxation kind) {
  const auto root = [&](const Operand& op) -> const ir::VReg& { return c.before.vreg(c.before.root(op.vreg())); };
  const auto broken_if = [](bool broken) { return broken ? Truth::Broken : Truth::Kept; };
  const auto any = [&](auto broken) { return broken_if(any_operand(c.before, c.after, broken)); };
  switch (kind) {
    case Relaxation::Fixed:
      return any([&](const Operand& old, const Operand& now) {
        const ir::PReg fixed = c.before.fixed_of(old);
        return fixed.is_valid() && fixed != now.preg();
      });
    case Relaxation::Class: return any([&](const Operand& old, const Operand& now) { return root(old).file() != now.preg().file; });
    case Relaxation::Alignment:
      return any([&](const Operand& old, const Operand& now) {
        return !root(old).is_architectural() && now.preg().first % root(old).alignment() != 0;
      });
    case Relaxation::Tied:
    case Relaxation::EarlyClobber: {
      bool broken = false;
      each_original(c.before, c.after, [&](const ir::Inst& was, const ir::Inst& is) {
        const auto old = c.before.operands_of(was), now = c.after.operands_of(is);
        if (old.size() != now.size() || (is.op != ir::Op::Remat && is.op != was.op)) return;  // a copy to memory ties nothing
        broken = broken || (kind == Relaxation::Tied ? breaks_tie(old, now) : breaks_early_clobber(old, now));
      });
      return broken_if(broken);
    }
    case Relaxation::SlotSize: return broken_if(breaks_slot_size(c.after));
    case Relaxation::Clobbers: break;
  }
  if (oracles::find_judge("execution")->judge(c).verdict == Verdict::Fail) return Truth::Broken;
  constexpr std::size_t kMostReads = 20'000;
  std::vector<std::uint32_t> blocks(c.after.blocks.size());
  std::iota(blocks.begin(), blocks.end(), 0u);
  Expected expected(c.before, oracles::preserved_units(c.before, c.target));
  const int code = expected.code_in(c.after, blocks, ~0u, kMostReads);
  return code > 0 ? Truth::Broken : code == 0 && !expected.has_met_half_defined() ? Truth::Kept : Truth::Undecided;
}

RelaxRun run_relaxed_on(std::uint64_t seed, std::uint64_t index) {
  RelaxRun run;
  run.kind = kAllRelaxations[index % kNumRelaxations];
  const generate::StandardCase c = generate::standard_mix(hash_combine(seed, kRelaxStream), index);
  const ir::Target& target = *ir::find_target(c.target);
  const auto duelists = duel::all_duelists();
  const ir::Allocator& allocator = *duelists[static_cast<std::size_t>(index / kNumRelaxations % duelists.size())];
  const auto relaxed = relax(c.program, target, run.kind);
  if (!relaxed) return run;
  ir::AllocOptions options;
  options.limits = c.limits;
  options.knobs = duel::known_to(allocator, duel::draw_knobs(duelists, c.knob_seed));
  std::vector<FaultMiss> errors;
  const auto allocation =
      allocate_or_miss(allocator, *relaxed, {*relaxed, *relaxed, target, c.limits}, options, seed, index, errors);
  if (!errors.empty()) {
    run.miss = std::move(errors[0]);
    run.miss->operator_name = fmt::format("relax-{}", name(run.kind));
  }
  if (!allocation) return run;
  const ir::Function after = restore(c.program, allocation->program, run.kind);
  if (run.kind == Relaxation::SlotSize && after.slots.empty()) return run;
  if (!ir::check(after, 1).empty()) return run;
  run.is_subject = true;
  const oracles::Case judged{c.program, after, target, c.limits};
  run.truth = truth(judged, run.kind);
  oracles::Report report;
  run.accepted = true;
  for (const oracles::Judge* judge : fault_judges()) {
    report.results.push_back(judge->judge(judged));
    const bool objects = report.results.back().verdict == Verdict::Fail;
    run.rejected = run.rejected || (objects && is_static(*judge));
    run.accepted = run.accepted && !objects;
  }
  const bool missed = run.truth == Truth::Broken && !run.rejected, alarmed = run.truth == Truth::Kept && !run.accepted;
  if (missed || alarmed) {
    run.miss = make_miss(missed ? "relaxed-accepted" : "relaxed-rejected", judged, seed, index);
    run.miss->operator_name = fmt::format("relax-{}", name(run.kind));
    run.miss->detail = fmt::format("{}\n{}", allocator.name(), summary(report));
  }
  return run;
}

void RelaxTable::add(RelaxRun run) {
  if (run.miss) {
    ++num_misses_;
    if (misses_.size() < kMostMissesKept) misses_.push_back(std::move(*run.miss));
  }
  if (!run.is_subject) return;
  const bool broken = run.truth == Truth::Broken, kept = run.truth == Truth::Kept;
  RelaxRow& row = rows_[static_cast<std::size_t>(run.kind)];
  ++row.tried;
  row.broken += broken ? 1 : 0;
  row.rejected += broken && run.rejected ? 1 : 0;
  row.kept += kept ? 1 : 0;
  row.accepted += kept && run.accepted ? 1 : 0;
  row.undecided += run.truth == Truth::Undecided ? 1 : 0;
}

}  // namespace regduel::trial
