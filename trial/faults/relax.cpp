// See relax.h.
#include "trial/faults/relax.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "duel/allocators.h"
#include "duel/duel.h"
#include "fuzz/edit/edit.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "oracles/judges.h"
#include "oracles/pair/preserved.h"
#include "trial/faults/origins.h"

namespace regduel::trial {
namespace {

using ir::Operand;
using ir::Role;
using oracles::Verdict;

constexpr std::uint64_t kRelaxStream = 0x72656C6178;
constexpr std::size_t kMostMissesKept = 100;

// Calls see(before instruction, before operand number, after operand) for each register operand of an original instruction and of a
// remat that still stands where one of the program before stood.
template <class See>
void each_placed(const ir::Function& before, const ir::Function& after, See see) {
  std::unordered_map<std::uint32_t, const ir::Inst*> originals;
  for (const ir::Inst& i : before.insts) originals.emplace(i.id.value, &i);
  for (const ir::Inst& i : after.insts) {
    if (i.is_deleted() || (i.is_inserted() && i.op != ir::Op::Remat)) continue;
    const auto it = originals.find(i.is_inserted() ? i.ref.value : i.id.value);
    if (it == originals.end()) continue;
    const auto old = before.operands_of(*it->second), now = after.operands_of(i);
    const bool to_memory = it->second->is_copy() && !i.is_copy();
    if (to_memory) {
      see(i, i.op == ir::Op::Spill ? old[1] : old[0], now[0]);
      continue;
    }
    for (std::size_t k = 0; k < std::min(old.size(), now.size()); ++k)
      if (old[k].is_vreg() && now[k].is_preg()) see(i, old[k], now[k]);
  }
}

Truth broken_if(bool broken) { return broken ? Truth::Broken : Truth::Kept; }

}  // namespace

std::string_view name(Relaxation r) {
  switch (r) {
    case Relaxation::Tied: return "tied";
    case Relaxation::EarlyClobber: return "early-clobber";
    case Relaxation::Fixed: return "fixed";
    case Relaxation::Class: return "class";
    case Relaxation::Alignment: return "alignment";
    case Relaxation::Clobbers: return "clobbers";
    case Relaxation::SlotSize: return "slot-size";
  }
  return "";
}

std::optional<ir::Function> relax(const ir::Function& program, const ir::Target& target, Relaxation kind) {
  if (kind == Relaxation::SlotSize) return program;
  fuzz::EditProgram p(program);
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
  for (fuzz::EditBlock& b : p.blocks)
    for (fuzz::EditInst& i : b.insts) {
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
  fuzz::EditProgram p(relaxed_after);
  p.header.vregs = before.vregs;
  if (kind == Relaxation::SlotSize) {
    std::uint32_t local = 0, shared = 0;
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
    std::unordered_map<std::uint32_t, const ir::Inst*> originals;
    for (const ir::Inst& i : before.insts) originals.emplace(i.id.value, &i);
    for (fuzz::EditBlock& b : p.blocks)
      for (fuzz::EditInst& i : b.insts) {
        const auto it = originals.find(i.inst.id.value);
        if (i.inst.is_inserted() || i.inst.is_deleted() || it == originals.end()) continue;
        for (const Operand& op : before.operands_of(*it->second))
          if (op.role == Role::Clobber) i.ops.push_back(op);
      }
  }
  return p.build();
}

Truth truth(const oracles::Case& c, Relaxation kind) {
  bool broken = false;
  const auto root = [&](const Operand& op) -> const ir::VReg& { return c.before.vreg(c.before.root(op.vreg())); };
  switch (kind) {
    case Relaxation::Fixed:
      each_placed(c.before, c.after, [&](const ir::Inst&, const Operand& old, const Operand& now) {
        const ir::PReg fixed = c.before.fixed_of(old);
        broken = broken || (fixed.is_valid() && fixed != now.preg());
      });
      return broken_if(broken);
    case Relaxation::Class:
      each_placed(c.before, c.after, [&](const ir::Inst&, const Operand& old, const Operand& now) {
        broken = broken || root(old).file() != now.preg().file;
      });
      return broken_if(broken);
    case Relaxation::Alignment:
      each_placed(c.before, c.after, [&](const ir::Inst&, const Operand& old, const Operand& now) {
        broken = broken || (!root(old).is_architectural() && now.preg().first % root(old).alignment() != 0);
      });
      return broken_if(broken);
    case Relaxation::Tied:
    case Relaxation::EarlyClobber: {
      std::unordered_map<std::uint32_t, const ir::Inst*> originals;
      for (const ir::Inst& i : c.before.insts) originals.emplace(i.id.value, &i);
      for (const ir::Inst& i : c.after.insts) {
        const ir::InstId id = i.op == ir::Op::Remat ? i.ref : i.id;
        const auto it = originals.find(id.value);
        if (i.is_deleted() || (i.is_inserted() && i.op != ir::Op::Remat) || it == originals.end()) continue;
        const auto old = c.before.operands_of(*it->second), now = c.after.operands_of(i);
        if (old.size() != now.size() || it->second->op != (i.op == ir::Op::Remat ? it->second->op : i.op))
          continue;  // a copy to memory ties nothing
        for (std::size_t k = 0; k < old.size(); ++k) {
          if (kind == Relaxation::Tied && old[k].is_tied()) broken = broken || now[k].preg() != now[old[k].tied].preg();
          if (kind != Relaxation::EarlyClobber || !old[k].is_early_clobber()) continue;
          const ir::FileBytes def = ir::Function::file_bytes(now[k]);
          for (const Operand& read : now) {
            if (!read.is_preg() || !read.reads()) continue;
            const ir::FileBytes use = ir::Function::file_bytes(read);
            broken = broken || (def.file == use.file && def.begin < use.end && use.begin < def.end);
          }
        }
      }
      return broken_if(broken);
    }
    case Relaxation::SlotSize:
      for (const ir::Inst& i : c.after.insts) {
        if (i.is_deleted() || (i.op != ir::Op::Spill && i.op != ir::Op::Refill)) continue;
        const auto ops = c.after.operands_of(i);
        const ir::FileBytes bytes = ir::Function::file_bytes(ops[0]);
        broken = broken || ops[1].slot_offset() + (bytes.end - bytes.begin) > c.after.slots[ops[1].slot().index()].size;
      }
      return broken_if(broken);
    case Relaxation::Clobbers: {
      if (oracles::find_judge("execution")->judge(c).verdict == Verdict::Fail) return Truth::Broken;
      constexpr std::size_t kMostReads = 20'000;
      std::vector<std::uint32_t> blocks(c.after.blocks.size());
      std::iota(blocks.begin(), blocks.end(), 0u);
      Expected expected(c.before, oracles::preserved_units(c.before, c.target));
      const int code = expected.code_in(c.after, blocks, ~0u, kMostReads);
      return code > 0 ? Truth::Broken : code == 0 && !expected.has_met_half_defined() ? Truth::Kept : Truth::Undecided;
    }
  }
  return Truth::Undecided;
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
  RelaxRow& row = rows_[static_cast<std::size_t>(run.kind)];
  ++row.tried;
  switch (run.truth) {
    case Truth::Broken:
      ++row.broken;
      row.rejected += run.rejected ? 1 : 0;
      break;
    case Truth::Kept:
      ++row.kept;
      row.accepted += run.accepted ? 1 : 0;
      break;
    case Truth::Undecided: ++row.undecided; break;
  }
}

}  // namespace regduel::trial
