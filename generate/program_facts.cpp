// See program_facts.h. Both functions solve the textbook bit-vector problems, iterated over the blocks in order until nothing
// changes; tested by program_facts_test.cpp.
#include "generate/program_facts.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "ir/text/text.h"

namespace regduel::generate {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Operand;

std::uint32_t bytes_mask(const ir::Storage& s) {
  const std::uint32_t ones = s.size >= 32 ? 0xFFFFFFFFu : (1u << s.size) - 1;
  return ones << s.offset;
}

// Defined bytes of each root, on every path and, behind those, under the guard that all its defs have. A vreg has at most 32 bytes.
using Defined = std::vector<std::uint32_t>;

class Definedness {
 public:
  explicit Definedness(const ir::Function& f) : f_(f), guard_of_(f.vregs.size(), kNoDef) {
    for (const Inst& i : f.insts) {
      const auto ops = f.operands_of(i);
      for (const Operand& o : ops) {
        if (!o.is_vreg() || !o.writes()) continue;
        std::uint32_t& guard = guard_of_[f.root(o.vreg()).index()];
        guard = guard == kNoDef || guard == key_of_guard(ops) ? key_of_guard(ops) : kNone;
      }
    }
  }

  [[nodiscard]] Defined at_entry() const {
    Defined state(2 * f_.vregs.size(), 0);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (f_.vregs[v].is_architectural()) state[v] = 0xFFFFFFFFu;
    return state;
  }
  [[nodiscard]] Defined everything() const { return Defined(2 * f_.vregs.size(), 0xFFFFFFFFu); }

  void step(const Inst& i, Defined& state) const {
    const auto ops = f_.operands_of(i);
    const std::uint32_t guard = key_of_guard(ops);
    for (const Operand& o : ops) {
      if (!o.is_vreg() || !o.writes()) continue;
      const ir::Storage s = f_.storage(o);
      const std::size_t v = s.root.index();
      if (guard == kNone) state[v] |= bytes_mask(s);
      else if (guard_of_[v] == guard) state[f_.vregs.size() + v] |= bytes_mask(s);
      if (ir::is_predicate(f_.vreg(s.root).file()))  // what was defined under it before is so no longer
        for (std::size_t w = 0; w < guard_of_.size(); ++w)
          if (guard_of_[w] < kNoDef && guard_of_[w] / 2 == v) state[f_.vregs.size() + w] = 0;
    }
  }
  [[nodiscard]] bool reads_undefined(const Inst& i, const Operand& o, const Defined& state) const {
    const ir::Storage s = f_.storage(o);
    const std::size_t v = s.root.index();
    const std::uint32_t guard = key_of_guard(f_.operands_of(i));
    const std::uint32_t known = state[v] | (guard != kNone && guard == guard_of_[v] ? state[f_.vregs.size() + v] : 0);
    return (known & bytes_mask(s)) != bytes_mask(s);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu, kNoDef = kNone - 1;  // not guarded, or by several; never written

  [[nodiscard]] std::uint32_t key_of_guard(std::span<const Operand> ops) const {
    const Operand* guard = ir::guard_of(ops);
    return guard == nullptr || !guard->is_vreg() ? kNone : 2 * f_.root(guard->vreg()).value + (guard->is_negated() ? 1 : 0);
  }

  const ir::Function& f_;
  std::vector<std::uint32_t> guard_of_;  // by root: the guard of all its defs, 2 x predicate + negated
};

}  // namespace

std::vector<std::string> undefined_reads(const ir::Function& f, std::size_t most) {
  const ir::Cfg cfg(f);
  const Definedness definedness(f);
  // The state at the end of each block; everything, where no path has come yet.
  std::vector<Defined> out(f.blocks.size());
  for (const BlockId b : cfg.reverse_postorder()) out[b.index()] = definedness.everything();
  const auto at_head = [&](BlockId b) {
    Defined state = b.value == 0 ? definedness.at_entry() : definedness.everything();
    for (const BlockId p : cfg.predecessors(b))
      if (cfg.is_reachable(p))
        for (std::size_t v = 0; v < state.size(); ++v) state[v] &= out[p.index()][v];
    return state;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : cfg.reverse_postorder()) {
      Defined state = at_head(b);
      for (const Inst& i : f.insts_of(b)) definedness.step(i, state);
      if (state == out[b.index()]) continue;
      out[b.index()] = std::move(state);
      changed = true;
    }
  }
  std::vector<std::string> result;
  const auto read = [&](const Inst& i, const Operand& o, const Defined& state) {
    if (result.size() < most && definedness.reads_undefined(i, o, state))
      result.push_back(fmt::format("{} in: {}", ir::print(f, o), ir::print(f, i)));
  };
  for (const BlockId b : cfg.reverse_postorder()) {
    Defined state = at_head(b);
    for (const Inst& i : f.insts_of(b)) {
      const auto ops = f.operands_of(i);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!ops[k].is_vreg() || !ops[k].reads()) continue;
        const BlockId p = i.is_phi() ? f.targets_of(i)[k - 1] : b;
        if (i.is_phi() && !cfg.is_reachable(p)) continue;
        read(i, ops[k], i.is_phi() ? out[p.index()] : state);
      }
      definedness.step(i, state);
    }
  }
  return result;
}

int max_live(const ir::Function& f, ir::RegFile file) {
  const ir::Cfg cfg(f);
  std::vector<std::vector<char>> in(f.blocks.size(), std::vector<char>(f.vregs.size(), 0));
  const auto counts = [&](const Operand& o) { return o.is_vreg() && f.vreg(o.vreg()).file() == file; };
  int most = 0;
  // Backwards through one block; `measure` sees the state before each instruction.
  const auto walk = [&](BlockId b, auto&& measure) {
    std::vector<char> live(f.vregs.size(), 0);
    for (const BlockId s : cfg.successors(b)) {
      for (std::size_t v = 0; v < live.size(); ++v) live[v] = static_cast<char>(live[v] | in[s.index()][v]);
      for (const Inst& i : f.insts_of(s)) {
        if (!i.is_phi()) break;
        const auto ops = f.operands_of(i);
        for (std::size_t k = 1; k < ops.size(); ++k)
          if (f.targets_of(i)[k - 1] == b && counts(ops[k])) live[f.root(ops[k].vreg()).index()] = 1;
      }
    }
    const auto insts = f.insts_of(b);
    for (std::size_t at = insts.size(); at-- > 0;) {
      const Inst& i = insts[at];
      const bool guarded = ir::is_guarded(f.operands_of(i));
      for (const Operand& o : f.operands_of(i))
        if (counts(o) && o.role == ir::Role::Def && !guarded) {
          const ir::Storage s = f.storage(o);
          if (s.size == f.vreg(s.root).bytes()) live[s.root.index()] = 0;
        }
      if (!i.is_phi())
        for (const Operand& o : f.operands_of(i))
          if (counts(o) && o.reads()) live[f.root(o.vreg()).index()] = 1;
      measure(live);
    }
    return live;
  };
  const auto nothing = [](const std::vector<char>&) {};
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = cfg.reverse_postorder().rbegin(); at != cfg.reverse_postorder().rend(); ++at) {
      std::vector<char> live = walk(*at, nothing);
      if (live == in[at->index()]) continue;
      in[at->index()] = std::move(live);
      changed = true;
    }
  }
  for (const BlockId b : cfg.reverse_postorder())
    walk(b, [&](const std::vector<char>& live) {
      int units = 0;
      for (std::size_t v = 0; v < live.size(); ++v)
        if (live[v]) units += f.vregs[v].units();
      most = std::max(most, units);
    });
  return most;
}

}  // namespace regduel::generate
