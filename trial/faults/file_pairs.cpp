// Files of two or three functions: an allocation that calls, and small callees that destroy what it keeps. See pairs.h.
#include <algorithm>

#include <fmt/format.h>

#include "generate/program_facts.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/calls/calls.h"
#include "oracles/pair/preserved.h"
#include "trial/faults/instructions.h"
#include "trial/faults/pairs.h"

namespace regduel::trial {
namespace {

using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

// True where the operand reads some byte of the unit of its register.
bool reads_unit(const Operand& op, PReg unit) {
  if (op.role != Role::Use) return false;
  if (op.part.is_whole()) return true;
  const int begin = (unit.begin() - op.preg().begin()) * ir::unit_bytes(unit.file);
  return op.part.offset_bytes() < begin + ir::unit_bytes(unit.file) && begin < op.part.offset_bytes() + op.part.size_bytes();
}

// The only call of the allocation to a function, which lists all that the ABI has a call destroy, and a unit that is kept across the
// call: the first instruction behind the call that mentions the unit is an operation of the call's block and reads it. The call lists
// the unit nowhere.
struct Kept {
  std::size_t block = 0, call = 0;
  std::string callee;
  PReg unit;
};

std::vector<PReg> units_of(PReg r) {
  std::vector<PReg> units;
  for (int u = r.begin(); u < r.end(); ++u) units.push_back({r.file, 1, static_cast<std::uint16_t>(u)});
  return units;
}

std::vector<Kept> kept_across_calls(const DrawnSubject& s, const EditProgram& after) {
  std::vector<Kept> all;
  const ir::Cfg cfg(s.after);
  const ir::Abi& abi = s.target.abi(s.c.program.abi);
  const auto is_architectural = [&](PReg r) {
    return std::ranges::any_of(s.c.program.vregs, [&](const ir::VReg& v) { return v.is_architectural() && v.fixed.overlaps(r); });
  };
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    if (!cfg.is_reachable(ir::BlockId(b))) continue;
    const auto& insts = after.blocks[b].insts;
    for (std::size_t c = 0; c < insts.size(); ++c) {
      if (insts[c].inst.op != ir::Op::Call || insts[c].inst.is_deleted()) continue;
      const ir::Inst* const before = s.c.program.find_inst(insts[c].inst.id);
      const std::string callee(before == nullptr ? "" : oracles::callee_name(s.c.program, *before));
      if (callee.empty() || callee == s.c.program.name || abi.is_runtime(callee)) continue;
      const auto is_listed = [&](PReg r) {
        return std::ranges::all_of(
            units_of(r), [&](PReg unit) { return unit.first >= s.target.units[ir::index(unit.file)] || writes(insts[c], unit); });
      };
      const auto calls_it = [&](const ir::Inst& i) {
        return i.op == ir::Op::Call && oracles::callee_name(s.c.program, i) == callee;
      };
      if (!std::ranges::all_of(abi.clobbered, is_listed) || std::ranges::count_if(s.c.program.insts, calls_it) > 1) continue;
      std::vector<PReg> met;
      for (std::size_t k = c + 1; k < insts.size(); ++k)
        for (const Operand& op : insts[k].ops)
          if (op.is_preg())
            for (const PReg unit : units_of(op.preg())) {
              if (std::ranges::find(met, unit) != met.end()) continue;
              met.push_back(unit);
              if (reads_unit(op, unit) && insts[k].inst.op == ir::Op::Named && !has_guard(insts[k]) && !writes(insts[k], unit) &&
                  !writes(insts[c], unit) && !is_architectural(unit))
                all.push_back({b, c, callee, unit});
            }
    }
  }
  return all;
}

// A function that puts a value into a register and reads it there, with a shared slot on its way where one is asked for.
struct Body {
  ir::Function before, after;
};
std::string_view class_of(RegFile file) { return ir::name(file); }

Body body_of(const std::string& name, const DrawnSubject& s, PReg home, std::optional<std::uint32_t> shared_offset = {}) {
  const std::string head = fmt::format("rir 1\nfunc @\"{}\" device target {} threads {} abi {}", name, s.c.program.target,
                                       s.c.program.threads, s.c.program.abi == ir::AbiName::Cuda ? "cuda" : "seed");
  const std::string vreg = fmt::format("  vreg %0 {} {}\n", class_of(home.file), ir::is_predicate(home.file) ? "pred" : "b32");
  const std::string reg = ir::to_string(s.after, home);
  const auto body = [](const std::string& r, const std::string& way) {
    return fmt::format("  block b0\n    #0 {} = a\n{}    #1 use {} !write\n    #2 ret\n", r, way, r);
  };
  const std::string frame = shared_offset ? fmt::format("  frame local 0 shared {}\n", *shared_offset + 4) : "";
  const std::string slot = shared_offset ? fmt::format("  slot 0 shared size 4 align 4 offset {}\n", *shared_offset) : "";
  const std::string way = shared_offset ? fmt::format("    +10 spill {}, slot 0\n    +11 {} = refill slot 0\n", reg, reg) : "";
  return {ir::parse(head + "\n" + vreg + body("%0", "")).value().functions.at(0),
          ir::parse(head + " allocated\n" + frame + vreg + slot + body(reg, way)).value().functions.at(0)};
}

// A function that calls `callee` under this list of clobbers, and writes one register of the list itself.
Body between(const std::string& name, const std::string& callee, const DrawnSubject& s, PReg home,
             const std::vector<Operand>& clobbers) {
  Body b = body_of(name, s, home);
  for (ir::Function* f : {&b.before, &b.after}) {
    EditProgram p(*f);
    EditInst call;
    call.inst.op = ir::Op::Call;
    call.inst.id = ir::InstId(5);
    call.ops.push_back(Operand::of_symbol(p.header.symbols.intern(callee)));
    call.ops.insert(call.ops.end(), clobbers.begin(), clobbers.end());
    p.blocks[0].insts.insert(p.blocks[0].insts.end() - 1, std::move(call));
    *f = p.build();
  }
  return b;
}

// The first function of a file is the subject as `before` and `after`; the others are `rest`.
oracles::JudgeResult judge_file(const DrawnSubject& s, const ir::Function& before, const ir::Function& after,
                                const std::vector<Body>& rest) {
  std::vector<oracles::FunctionOfFile> file = {{&before, &after, &s.target}};
  for (const Body& b : rest) file.push_back({&b.before, &b.after, &s.target});
  return std::move(oracles::judge_calls(file)[0]);
}

std::optional<PairVerdicts> judged(const DrawnSubject& s, ir::Function before, ir::Function after, const std::vector<Body>& right,
                                   const std::vector<Body>& damaged) {
  if (!ir::check(before, s.target, 1).empty() || !ir::check(after, s.target, 1).empty()) return std::nullopt;
  PairVerdicts v;
  v.right = judge_file(s, before, after, right);
  v.damaged = judge_file(s, before, after, damaged);
  for (const Body& b : damaged) v.rest += ir::print(b.after);
  v.before = std::move(before), v.after = std::move(after);
  return v;
}

// What the program leaves undefined on some path need not be kept, so every read of it has to be defined.
std::optional<Kept> pick_kept(const DrawnSubject& s, Random& random, const auto& suits) {
  if (!generate::undefined_reads(s.c.program, 1).empty()) return std::nullopt;
  std::vector<Kept> kept = kept_across_calls(s, EditProgram(s.after));
  std::erase_if(kept, [&](const Kept& k) { return !suits(k); });
  return pick(kept, random);
}

// A unit of the file that the call lists as a clobber and reads nowhere: a callee may write it.
std::optional<PReg> listed_unit(const EditInst& call, RegFile file, Random& random) {
  std::vector<PReg> units;
  for (const Operand& op : call.ops)
    if (op.is_preg() && op.role == Role::Clobber && op.preg().file == file)
      for (const PReg unit : units_of(op.preg()))
        if (std::ranges::none_of(
                call.ops, [&](const Operand& o) { return o.is_preg() && o.role != Role::Clobber && o.preg().overlaps(unit); }))
          units.push_back(unit);
  return pick(units, random);
}

bool preserves(const DrawnSubject& s, PReg unit) {
  return std::ranges::any_of(s.target.abi(s.c.program.abi).callee_saved, [&](PReg r) { return r.overlaps(unit); });
}

// The value goes to a register of another file that neither list has: not that of the call, not that of what a callee preserves.
std::optional<PairVerdicts> writes_kept(const DrawnSubject& s, Random& random) {
  const auto kept = pick_kept(s, random, [&](const Kept& k) { return k.unit.file == RegFile::R; });
  if (!kept) return std::nullopt;
  EditProgram after(s.after);
  const EditInst call = after.blocks[kept->block].insts[kept->call];
  const auto other = listed_unit(call, RegFile::R, random);
  std::vector<PReg> homes;
  for (const RegFile file : {RegFile::UR, RegFile::Acc, RegFile::B})
    for (int u = 0; u < s.target.units[ir::index(file)]; ++u) {
      const PReg r{file, 1, static_cast<std::uint16_t>(u)};
      if (!preserves(s, r) && !s.target.is_reserved(s.c.program.abi, file, u) &&
          std::ranges::none_of(after.blocks, [&](const EditBlock& b) {
            return std::ranges::any_of(b.insts, [&](const EditInst& i) { return mentions(i, r); });
          }))
        homes.push_back(r);
    }
  const auto home = pick(homes, random);
  if (!other || !home) return std::nullopt;
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call + 1, make_copy(kept->unit, *home));
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call, make_copy(*home, kept->unit));
  return judged(s, s.c.program, after.build(), {body_of(kept->callee, s, *other)}, {body_of(kept->callee, s, *home)});
}

// The value goes to a register that the caller's list has lost. `deep`: not the callee writes it but a function that it calls.
std::optional<PairVerdicts> narrowed(const DrawnSubject& s, Random& random, bool deep) {
  const auto kept = pick_kept(s, random, [&](const Kept&) { return !s.c.program.predicate_halves; });
  if (!kept) return std::nullopt;
  EditProgram before(s.c.program), after(s.after);
  const EditInst call = after.blocks[kept->block].insts[kept->call];
  const auto lost = listed_unit(call, kept->unit.file, random), other = listed_unit(call, kept->unit.file, random);
  if (!lost || !other || *lost == *other || preserves(s, *lost)) return std::nullopt;
  const auto drop = [&](EditInst& i) {
    std::vector<Operand> ops;
    for (const Operand& op : i.ops) {
      if (op.role != Role::Clobber || !op.preg().overlaps(*lost)) {
        ops.push_back(op);
        continue;
      }
      for (const PReg unit : units_of(op.preg()))
        if (unit != *lost) ops.push_back(Operand::of_preg(Role::Clobber, unit));
    }
    i.ops = std::move(ops);
  };
  for (EditBlock& b : before.blocks)
    for (EditInst& i : b.insts)
      if (i.inst.id == call.inst.id) drop(i);
  EditInst& narrow = after.blocks[kept->block].insts[kept->call];
  drop(narrow);
  const std::string inner = kept->callee + ".inner";
  std::vector<Operand> list;
  for (const Operand& op : narrow.ops)
    if (op.role == Role::Clobber) list.push_back(op);
  const auto file = [&](PReg home) {
    return deep ? std::vector<Body>{between(kept->callee, inner, s, *other, list), body_of(inner, s, home)}
                : std::vector<Body>{body_of(kept->callee, s, home)};
  };
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call + 1, make_copy(kept->unit, *lost));
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call, make_copy(*lost, kept->unit));
  return judged(s, before.build(), after.build(), file(*other), file(*lost));
}
std::optional<PairVerdicts> narrowed_list(const DrawnSubject& s, Random& random) { return narrowed(s, random, false); }
std::optional<PairVerdicts> narrowed_list_deep(const DrawnSubject& s, Random& random) { return narrowed(s, random, true); }

// A value is kept in a shared slot across the call, and a callee stores to the slot's address.
std::optional<PairVerdicts> stores_to_kept_slot(const DrawnSubject& s, Random& random) {
  const auto kept = pick_kept(s, random, [](const Kept& k) { return k.unit.file == RegFile::R; });
  if (!kept) return std::nullopt;
  EditProgram after(s.after);
  const auto home = listed_unit(after.blocks[kept->block].insts[kept->call], RegFile::R, random);
  if (!home) return std::nullopt;
  const ir::SlotId slot = add_slot(after, ir::MemSpace::Shared, 4);
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call + 1,
            make_refill(Operand::of_preg(Role::Def, kept->unit), slot));
  insert_at(after, static_cast<std::uint32_t>(kept->block), kept->call, make_spill(Operand::of_preg(Role::Use, kept->unit), slot));
  const std::uint32_t offset = after.header.slots[slot.index()].offset;
  const auto file = [&](std::uint32_t at) { return std::vector<Body>{body_of(kept->callee, s, *home, at)}; };
  return judged(s, s.c.program, after.build(), file((after.header.shared_frame + 15) / 4 * 4), file(offset));
}

}  // namespace

std::span<const PairFault> file_faults() {
  static constexpr PairFault kFaults[] = {
      {"callee-writes-kept", "a callee writes a register that the caller keeps and no list has", "callee-clobber", writes_kept},
      {"callee-list-narrowed", "a callee writes a register that the caller's list has lost", "callee-clobber", narrowed_list},
      {"callee-of-callee-writes", "a function that the callee calls writes such a register", "callee-clobber", narrowed_list_deep},
      {"callee-shares-slot", "a callee stores to the shared memory in which the caller keeps a value", "shared-slot",
       stores_to_kept_slot},
  };
  return kFaults;
}

}  // namespace regduel::trial
