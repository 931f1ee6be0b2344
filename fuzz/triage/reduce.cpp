// See reduce.h.
#include "fuzz/triage/reduce.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "fuzz/edit/cut.h"
#include "fuzz/edit/edit.h"
#include "generate/program_facts.h"
#include "ir/check.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::OperandKind;
using ir::RegFile;
using ir::Role;
using ir::VRegId;

constexpr std::string_view kPlainMnemonic = "op";

// Whether the second instruction reads nothing, and the first one reads what it defines.
bool is_late(std::span<const Operand> first, std::span<const Operand> second) {
  const auto reads = [](const Operand& o) { return o.is_vreg() && o.reads(); };
  return std::none_of(second.begin(), second.end(), reads) && std::any_of(second.begin(), second.end(), [&](const Operand& def) {
           return def.is_vreg() &&
                  std::any_of(first.begin(), first.end(), [&](const Operand& o) { return reads(o) && o.vreg() == def.vreg(); });
         });
}

std::size_t details_of(const duel::Case& input) {
  const ir::Function& f = input.program;
  std::size_t n = input.knobs.size() * 4 + (input.target->name != ir::default_target().name ? 2 : 0);
  for (const RegFile file : ir::kAllFiles) n += input.limits.of(file) != input.target->units[ir::index(file)] ? 2 : 0;
  n += (f.kind != ir::FunctionKind::Kernel ? 1 : 0) + (f.threads != 256 ? 1 : 0) + (f.abi != ir::AbiName::Seed ? 1 : 0) +
       (f.local_frame != 0 ? 1 : 0) + (f.name != "f" ? 1 : 0);
  for (const ir::VReg& v : f.vregs) {
    n += (v.cls != ir::RegClass::R ? 2 : 0) + (v.type != ir::TypeKind::B && v.type != ir::TypeKind::Pred ? 1 : 0);
    n += static_cast<std::size_t>(v.units() - 1) + (v.width > 1 && v.width < 32 ? 1 : 0) + (v.flags != 0 ? 1 : 0);
    n += (v.align_log2 != ir::natural_align_log2(v.width) ? 1 : 0) + (v.fixed.is_valid() ? 2 : 0) + (v.alias.is_valid() ? 3 : 0);
    n += (v.hint.is_valid() ? 1 : 0) + (v.name.is_valid() ? 1 : 0);
  }
  for (const ir::Block& b : f.blocks) n += (b.depth >= 0 ? 1 : 0) + (b.freq != 0 ? 1 : 0) + (b.name.is_valid() ? 1 : 0);
  for (const ir::Inst& i : f.insts) {
    for (std::uint16_t flags = i.flags; flags != 0; flags &= static_cast<std::uint16_t>(flags - 1)) ++n;
    n += i.op == Op::Named && f.mnemonic(i) != kPlainMnemonic ? 1 : 0;
    n += i.op != Op::Named && i.mnemonic.is_valid() ? 1 : 0;
    n += !i.is_terminator() && i.op != Op::Named ? 2 : 0;
    n += i.op == Op::Ret && f.kind == ir::FunctionKind::Kernel ? 1 : 0;
  }
  for (std::size_t k = 0; k + 1 < f.insts.size(); ++k)
    n += is_late(f.operands_of(f.insts[k]), f.operands_of(f.insts[k + 1])) ? 1 : 0;
  for (const Operand& o : f.operands) {
    n += (o.is_tied() ? 1 : 0) + (o.flags != 0 ? 1 : 0) + (!o.part.is_whole() ? 1 : 0) + (o.role == Role::DefUse ? 1 : 0);
    n += o.fixed().is_valid() ? 1 : 0;
    n += (o.kind == OperandKind::Imm && o.imm() != 0 ? 1 : 0) + (o.kind == OperandKind::Symbol ? 2 : 0);
  }
  return n;
}

class Reducer {
 public:
  Reducer(const duel::Case& input, const StillFails& still_fails, const ReduceOptions& options)
      : best_(input), still_fails_(still_fails), options_(options), size_(size_of(input)),
        is_defined_(generate::undefined_reads(input.program, 1).empty()) {}

  Reduced run() {
    settings();
    for (bool progress = true; progress && !is_over();) {
      lower_limits();
      const CaseSize before = size_;
      callees();
      edges();
      instructions();
      empty_blocks();
      sources();
      bypasses();
      vregs();
      vregs_under_lower_limits();
      operands();
      settings();
      details();
      progress = size_ < before || (options_.leaps && (leap() || joins()));
    }
    full_limits();
    number_anew();
    return {std::move(best_), tries_, !is_over()};
  }
  // Instead of run(): see each_candidate.
  void offer(std::size_t first) {
    first_ = first;
    run();
  }
  [[nodiscard]] std::size_t step() const { return steps_ - 1; }
  void stop() { is_stopped_ = true; }

 private:
  [[nodiscard]] bool is_over() const { return is_stopped_ || spent_ >= options_.budget; }

  // --- trying --------------------------------------------------------------------------------------------------------
  // Takes the candidate if it is well-formed and still fails; `smaller` says whether it must be so too.
  bool accept(duel::Case candidate, bool smaller = true) {
    if (is_over() || steps_++ < first_) return false;
    const CaseSize size = size_of(candidate);
    if (smaller && size >= size_) return false;
    const auto is_fine = [&](const ir::Function& f) { return ir::check(f, *candidate.target, 1).empty(); };
    if (!is_fine(candidate.program) || !std::ranges::all_of(candidate.callees, is_fine)) return false;
    if (is_defined_ && !generate::undefined_reads(candidate.program, 1).empty()) return false;
    ++tries_;
    spent_ += size[0] + 1;
    if (!still_fails_(candidate)) return false;
    best_ = std::move(candidate);
    size_ = size;
    if (options_.progress && !options_.progress(size_, tries_)) is_stopped_ = true;
    return true;
  }
  // Callees go; those that stay are reduced as programs.
  void callees() {
    for (std::size_t k = best_.callees.size(); k-- > 0 && !is_over();) {
      duel::Case without = best_;
      without.callees.erase(without.callees.begin() + static_cast<std::ptrdiff_t>(k));
      if (accept(std::move(without))) continue;
      const StillFails with_it = [&](const duel::Case& c) {
        if (c.target != best_.target || c.program.kind != ir::FunctionKind::Device || c.program.name != best_.callees[k].name)
          return false;
        duel::Case with = best_;
        with.callees[k] = c.program;
        return accept(std::move(with));
      };
      ReduceOptions options;
      options.budget = options_.budget - spent_;
      options.leaps = false;
      static_cast<void>(Reducer({best_.target, best_.limits, {}, best_.callees[k]}, with_it, options).run());
    }
  }
  // The same after an edit of the program. The edit may say that there is nothing to do.
  template <class Edit>
  bool try_edit(Edit edit) {
    EditProgram p(best_.program);
    if (!edit(p)) return false;
    duel::Case candidate = best_;
    candidate.program = p.build();
    return accept(std::move(candidate));
  }
  [[nodiscard]] EditProgram apart() const { return EditProgram(best_.program); }

  // Delta debugging over `count()` things: takes out [begin, end) of them by `cut`, ever shorter stretches, from the end on.
  template <class Count, class Cut>
  void in_stretches(Count count, Cut cut) {
    for (std::size_t length = count(); length > 0 && !is_over(); length /= 2) {
      for (std::size_t end = count(); end > 0 && !is_over();) {
        const std::size_t begin = end > length ? end - length : 0;
        cut(begin, end);
        end = std::min(begin, count());
      }
    }
  }

  // --- settings ------------------------------------------------------------------------------------------------------
  void settings() {
    if (!best_.knobs.empty()) {
      duel::Case c = best_;
      c.knobs.clear();
      if (!accept(std::move(c)))
        for (std::size_t k = best_.knobs.size(); k-- > 0;) {
          duel::Case fewer = best_;
          fewer.knobs.erase(fewer.knobs.begin() + static_cast<std::ptrdiff_t>(k));
          accept(std::move(fewer));
        }
    }
    if (best_.target->name != ir::default_target().name) {
      duel::Case c = best_;
      c.target = &ir::default_target();
      c.program.target = c.target->name;
      for (const RegFile file : ir::kAllFiles) {
        int& limit = c.limits.units[ir::index(file)];
        const int all = c.target->units[ir::index(file)];
        limit = limit == best_.target->units[ir::index(file)] ? all : std::clamp(limit, all > 0 ? 1 : 0, all);
      }
      accept(std::move(c));
    }
    duel::Case c = best_;
    c.program.abi = ir::AbiName::Seed;
    accept(std::move(c));
    c = best_;
    c.program.local_frame = 0;
    accept(std::move(c));
    c = best_;
    c.program.threads = 256;
    c.program.name = "f";
    accept(std::move(c));
  }
  bool with_limit(RegFile file, int limit) {
    duel::Case c = best_;
    c.limits.units[ir::index(file)] = limit;
    return accept(std::move(c), false);
  }
  void full_limits() {
    for (const RegFile file : ir::kAllFiles)
      if (best_.limits.of(file) != best_.target->units[ir::index(file)]) with_limit(file, best_.target->units[ir::index(file)]);
  }
  // Failing need not be monotone in the limit; this is a way down, not the bottom.
  void lower_limits() {
    for (const RegFile file : ir::kAllFiles) {
      if (best_.limits.of(file) <= 1) continue;
      const bool is_used =
          std::any_of(best_.program.vregs.begin(), best_.program.vregs.end(), [&](const ir::VReg& v) { return v.file() == file; });
      if (!is_used) {
        with_limit(file, best_.target->units[ir::index(file)]);
        continue;
      }
      for (int step = best_.limits.of(file) / 2; step > 0 && !is_over();) {
        if (best_.limits.of(file) - step < 1 || !with_limit(file, best_.limits.of(file) - step)) step /= 2;
      }
    }
  }

  // --- control flow --------------------------------------------------------------------------------------------------
  void edges() {
    for (std::uint32_t b = 0; b < best_.program.blocks.size() && !is_over(); ++b) {
      if (num_targets(b) == 0 || try_edit([&](EditProgram& p) { return end_block_with(p, b, {}), true; })) continue;
      const auto targets = best_.program.successors(BlockId(b));
      const std::set<BlockId> distinct(targets.begin(), targets.end());
      if (targets.size() > 1)
        for (const BlockId t : distinct)
          if (try_edit([&](EditProgram& p) { return end_block_with(p, b, t), true; })) break;
      for (std::size_t k = num_targets(b); k-- > 0 && !is_over();)
        if (num_targets(b) > std::max<std::size_t>(1, k) && best_.program.terminator(BlockId(b)).op == Op::MBra)
          try_edit([&](EditProgram& p) { return drop_target(p, b, k), true; });
    }
    empty_blocks();
  }
  [[nodiscard]] std::size_t num_targets(std::uint32_t b) const {
    return b < best_.program.blocks.size() ? best_.program.terminator(BlockId(b)).num_targets : 0;
  }
  void empty_blocks() {
    if (try_edit([](EditProgram& p) { return join_blocks(p) > 0; })) return;
    for (std::size_t b = best_.program.blocks.size(); b-- > 0 && !is_over();)
      if (b < best_.program.blocks.size()) try_edit([&](EditProgram& p) { return lead_past(p, b); });
    try_edit([](EditProgram& p) { return join_blocks(p) > 0; });
  }

  // --- instructions --------------------------------------------------------------------------------------------------
  void instructions() {
    in_stretches([&] { return body_places(apart()).size(); },
                 [&](std::size_t begin, std::size_t end) {
                   return try_edit([&](EditProgram& p) {
                     const std::vector<InstPlace> all = body_places(p);
                     if (begin >= all.size()) return false;
                     const std::size_t last = std::min(end, all.size());
                     drop_insts(
                         p, {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(last)});
                     return true;
                   });
                 });
  }
  // Calls `edit(p, place)` for each instruction that there is, last to first.
  template <class Edit>
  void at_each_inst(Edit edit) {
    for (std::size_t n = body_places(apart()).size(); n-- > 0 && !is_over();)
      try_edit([&](EditProgram& p) {
        const std::vector<InstPlace> all = body_places(p);
        return n < all.size() && edit(p, all[n]);
      });
  }
  void bypasses() {
    at_each_inst([](EditProgram& p, InstPlace at) { return bypass(p, at); });
  }
  // Neighbours become one operation where the case is too long to be surveyed. True where that made it shorter.
  bool joins() {
    constexpr std::size_t kLong = 8;
    const CaseSize before = size_;
    for (std::size_t n = body_places(apart()).size(); n-- > 0 && !is_over() && best_.program.insts.size() > kLong;)
      try_edit([&](EditProgram& p) {
        const std::vector<InstPlace> all = body_places(p);
        return n < all.size() && join_with_next(p, all[n]);
      });
    return size_ < before;
  }
  // The defs of one vreg lose their other operands: what they read is no longer needed.
  void sources() {
    for (const bool keeps_flags : {false, true})
      at_each_inst([keeps_flags](EditProgram& p, InstPlace at) {
        EditInst& i = p.blocks[at.block].insts[at.inst];
        if (i.inst.is_phi() || i.ops.empty() || !i.ops[0].writes() || (i.ops.size() > 1 && i.ops[1].writes())) return false;
        Operand def = i.ops[0];
        def.role = Role::Def;
        def.tied = ir::kNotTied;
        if (!keeps_flags) def.flags = 0;
        i.inst.op = Op::Named;
        i.inst.mnemonic = p.header.symbols.intern(kPlainMnemonic);
        i.inst.flags = 0;
        i.ops = {def};
        return true;
      });
  }

  // --- vregs and operands --------------------------------------------------------------------------------------------
  void vregs() {
    number_anew();
    constexpr std::size_t kPartners = 4;  // the first few of its kind: more find little and cost quadratically
    for (std::size_t v = best_.program.vregs.size(); v-- > 1 && !is_over();) {
      std::size_t tried = 0;
      for (std::size_t w = 0; w < v && v < best_.program.vregs.size() && tried < kPartners; ++w) {
        const ir::VReg &a = best_.program.vregs[v], &b = best_.program.vregs[w];
        if (a.cls != b.cls || a.width != b.width) continue;
        ++tried;
        if (try_edit([&](EditProgram& p) {
              if (!merge_vregs(p, VRegId(static_cast<std::uint32_t>(v)), VRegId(static_cast<std::uint32_t>(w)))) return false;
              renumber(p);
              return true;
            }))
          break;
      }
    }
  }
  // A vreg less under a limit that is lower by its units, or a narrower one: what is over the limit stays as much over it.
  void vregs_under_lower_limits() {
    for (std::size_t v = best_.program.vregs.size(); v-- > 0 && !is_over();) {
      if (v >= best_.program.vregs.size() || best_.program.vregs[v].alias.is_valid()) continue;
      const std::size_t file = ir::index(best_.program.vregs[v].file());
      const auto lower = [&](int units, auto edit) {
        EditProgram p(best_.program);
        edit(p);
        duel::Case c = best_;
        c.program = p.build();
        c.limits.units[file] -= units;
        return c.limits.units[file] >= 1 && accept(std::move(c));
      };
      const int units = best_.program.vregs[v].units(), width = best_.program.vregs[v].width;
      bool gone = false;
      for (int less = units; less >= 0 && !gone && !is_over(); less = less > 1 ? less / 2 : less - 1)
        gone = lower(less, [&](EditProgram& p) {
          drop_vreg(p, VRegId(static_cast<std::uint32_t>(v)));
          renumber(p);
        });
      if (gone || width <= 32) continue;
      for (const int narrow : {32, 64, 96, 128})
        if (narrow < width && lower(
                                  units - narrow / 32,
                                  [&](EditProgram& p) {
                                    ir::VReg& r = p.header.vregs[v];
                                    r.width = static_cast<std::uint16_t>(narrow);
                                    r.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(narrow));
                                  }))
          break;
    }
  }
  // Something that takes up registers is put in, and what took them up before is taken out. True where the case is smaller in the
  // end.
  bool leap() {
    constexpr std::size_t kLargest = 64;  // instructions: it is a search of its own at each of them
    if (best_.program.insts.size() > kLargest || is_over()) return false;
    const duel::Case start = best_;
    const CaseSize smallest = size_;
    const auto smaller_after = [&](auto edit) {
      EditProgram p(start.program);
      if (!edit(p)) return false;
      duel::Case c = start;
      c.program = p.build();
      if (!accept(std::move(c), false)) return false;
      instructions();
      vregs_under_lower_limits();
      if (size_ < smallest) return true;
      best_ = start;
      size_ = smallest;
      return false;
    };
    const std::size_t places = body_places(apart()).size();
    for (const int units : {24, 8, 4, 16})
      for (std::size_t n = 0; n < places && !is_over(); ++n)
        if (smaller_after([&](EditProgram& p) {
              const InstPlace at = body_places(p)[n];
              EditInst& i = p.blocks[at.block].insts[at.inst];
              if (i.inst.is_phi() || (!i.ops.empty() && i.ops.back().role == Role::Clobber)) return false;
              if (units > best_.target->units[ir::index(RegFile::R)]) return false;
              i.ops.push_back(Operand::of_preg(Role::Clobber, {RegFile::R, static_cast<std::uint8_t>(units), 0}));
              return true;
            }))
          return true;
    for (const std::uint16_t width : {std::uint16_t{256}, std::uint16_t{128}})
      for (std::size_t v = 0; v < start.program.vregs.size() && !is_over(); ++v)
        if (smaller_after([&](EditProgram& p) {
              ir::VReg& r = p.header.vregs[v];
              if (r.cls != ir::RegClass::R || r.width >= width || r.alias.is_valid()) return false;
              r.width = width;
              r.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(width));
              return true;
            }))
          return true;
    return false;
  }
  void operands() {
    for (std::size_t n = apart().blocks.size(); n-- > 0 && !is_over();)
      for (std::size_t m = n < best_.program.blocks.size() ? best_.program.blocks[n].num_insts : 0; m-- > 0 && !is_over();)
        for (std::size_t k = operands_at(n, m); k-- > 0 && !is_over();)
          if (k < operands_at(n, m)) try_edit([&](EditProgram& p) { return drop_operand_at(p, {n, m}, k), true; });
  }
  [[nodiscard]] std::size_t operands_at(std::size_t block, std::size_t inst) const {
    const ir::Function& f = best_.program;
    if (block >= f.blocks.size() || inst >= f.blocks[block].num_insts) return 0;
    return f.insts[f.blocks[block].first_inst + inst].num_operands;
  }

  // --- details -------------------------------------------------------------------------------------------------------
  // One simplification for the whole program at once; where that loses the failure, instruction by instruction.
  template <class Plain>
  void plain_vregs(Plain plain) {
    const auto edit = [&](auto wanted) {
      return try_edit([&](EditProgram& p) {
        for (std::size_t v = 0; v < p.header.vregs.size(); ++v)
          if (wanted(v)) plain(p.header.vregs[v]);
        return true;
      });
    };
    if (edit([](std::size_t) { return true; })) return;
    for (std::size_t v = 0; v < best_.program.vregs.size() && !is_over(); ++v) edit([&](std::size_t w) { return v == w; });
  }
  template <class Plain>
  void plain_insts(Plain plain) {
    const auto edit = [&](std::size_t from, std::size_t to) {
      return try_edit([&](EditProgram& p) {
        std::size_t n = 0;
        for (EditBlock& b : p.blocks)
          for (EditInst& i : b.insts) {
            if (n >= from && n < to) plain(p, i);
            ++n;
          }
        return true;
      });
    };
    if (edit(0, best_.program.insts.size())) return;
    for (std::size_t n = 0; n < best_.program.insts.size() && !is_over(); ++n) edit(n, n + 1);
  }
  template <class Plain>
  void plain_operands(Plain plain) {
    plain_insts([&](EditProgram& p, EditInst& i) {
      for (Operand& o : i.ops) plain(p, o);
    });
  }
  void details() {
    number_anew();
    try_edit([](EditProgram& p) {
      bool any = p.header.kind != ir::FunctionKind::Kernel;
      p.header.kind = ir::FunctionKind::Kernel;
      for (EditBlock& b : p.blocks) {
        if (b.insts.back().inst.op != Op::Ret) continue;
        b.insts.back().inst.op = Op::Exit;
        b.insts.back().ops.clear();
        any = true;
      }
      return any;
    });
    for (std::size_t b = 0; b < best_.program.blocks.size() && !is_over(); ++b)
      try_edit([&](EditProgram& p) {
        auto& insts = p.blocks[b].insts;
        const auto late = std::adjacent_find(insts.begin(), insts.end() - 1, [](const EditInst& x, const EditInst& y) {
          return !x.inst.is_phi() && !y.inst.is_terminator() && is_late(x.ops, y.ops);
        });
        if (late == insts.end() - 1) return false;
        std::swap(*late, *(late + 1));
        return true;
      });
    const auto plain_blocks = [&](std::size_t from, std::size_t to) {
      return try_edit([&](EditProgram& p) {
        for (std::size_t b = from; b < std::min(to, p.blocks.size()); ++b)
          p.blocks[b].attributes.depth = -1, p.blocks[b].attributes.freq = 0;
        return true;
      });
    };
    if (!plain_blocks(0, best_.program.blocks.size()))
      for (std::size_t b = 0; b < best_.program.blocks.size() && !is_over(); ++b) plain_blocks(b, b + 1);
    plain_vregs([](ir::VReg& v) { v.hint = {}; });
    plain_vregs([](ir::VReg& v) { v.flags = 0; });
    plain_vregs([](ir::VReg& v) { v.fixed = {}; });
    plain_vregs([](ir::VReg& v) { v.alias = {}, v.alias_part = {}; });
    plain_vregs([](ir::VReg& v) { v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(v.width)); });
    plain_vregs([](ir::VReg& v) { v.type = v.width == 1 ? ir::TypeKind::Pred : ir::TypeKind::B; });
    plain_vregs([](ir::VReg& v) { v.cls = v.width == 1 ? ir::RegClass::P : ir::RegClass::R; });
    plain_vregs([](ir::VReg& v) {
      if (v.width == 1) v = ir::VReg{};
    });
    for (const std::uint16_t width : std::to_array<std::uint16_t>({32, 64, 96, 128}))
      plain_vregs([width](ir::VReg& v) {
        if (v.width > width || (v.width > 1 && v.width < 32))
          v.width = width, v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(width));
      });
    plain_operands([](EditProgram&, Operand& o) { o.tied = ir::kNotTied; });
    plain_operands([](EditProgram&, Operand& o) { o.flags &= static_cast<std::uint8_t>(~ir::kEarlyClobber); });
    plain_operands([](EditProgram&, Operand& o) { o.flags &= static_cast<std::uint8_t>(~ir::kNegated); });
    plain_operands([](EditProgram&, Operand& o) {
      if (o.is_vreg()) o.set_fixed({});
    });
    plain_operands([](EditProgram&, Operand& o) { o.part = {}; });
    plain_operands([](EditProgram&, Operand& o) {
      if (o.role == Role::DefUse) o.role = Role::Def;
    });
    plain_operands([](EditProgram&, Operand& o) {
      if (o.kind == OperandKind::Imm) o = Operand::of_imm(0);
    });
    for (std::uint16_t flag = 1; flag < ir::kInserted; flag = static_cast<std::uint16_t>(flag << 1))
      plain_insts([flag](EditProgram&, EditInst& i) { i.inst.flags &= static_cast<std::uint16_t>(~flag); });
    plain_insts([](EditProgram& p, EditInst& i) {
      if (i.inst.op == Op::Named) i.inst.mnemonic = p.header.symbols.intern(kPlainMnemonic);
      else i.inst.mnemonic = {};
    });
    // An opcode with a meaning of its own becomes a plain operation.
    plain_insts([](EditProgram& p, EditInst& i) {
      if (i.inst.op != Op::Call && i.inst.op != Op::Bar && !ir::moves_pieces(i.inst.op) && i.inst.op != Op::Copy) return;
      i.inst.op = Op::Named;
      i.inst.mnemonic = p.header.symbols.intern(kPlainMnemonic);
    });
  }
  void number_anew() {
    for (const Blocks blocks : {Blocks::Ordered, Blocks::Kept}) {
      EditProgram p(best_.program);
      renumber(p, blocks);
      duel::Case c = best_;
      c.program = p.build();
      if (accept(std::move(c), false)) return;
    }
  }

  duel::Case best_;
  const StillFails& still_fails_;
  const ReduceOptions& options_;
  CaseSize size_;
  bool is_defined_;
  bool is_stopped_ = false;
  std::uint64_t tries_ = 0, spent_ = 0;
  std::size_t steps_ = 0, first_ = 0;
};

}  // namespace

CaseSize size_of(const duel::Case& input) {
  CaseSize size = {0, 0, 0, 0, details_of(input)};
  const auto add = [&](const ir::Function& f) {
    size[0] += f.insts.size(), size[1] += f.operands.size() + f.targets.size(), size[2] += f.blocks.size(),
        size[3] += f.vregs.size();
  };
  add(input.program);
  std::ranges::for_each(input.callees, add);
  return size;
}

Reduced reduce(const duel::Case& input, const StillFails& still_fails, const ReduceOptions& options) {
  return Reducer(input, still_fails, options).run();
}

void each_candidate(const duel::Case& input, std::size_t first, const std::function<bool(duel::Case, std::size_t step)>& take) {
  Reducer* reducer = nullptr;
  const StillFails none = [&](const duel::Case& candidate) {
    if (!take(candidate, reducer->step())) reducer->stop();
    return false;
  };
  ReduceOptions options;
  options.budget = std::numeric_limits<std::uint64_t>::max();
  Reducer r(input, none, options);
  reducer = &r;
  r.offer(first);
}

}  // namespace regduel::fuzz
