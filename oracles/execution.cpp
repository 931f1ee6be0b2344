// The execution judge: runs the program before and the program after in lockstep and compares what each original
// instruction reads.
//
// Values are 64-bit hashes, one a byte; 0 = undefined. An operation is an uninterpreted function: byte j of its def d is
// hash(run, opcode, mnemonic, operand values, d, j), and with it the memory state, the hash of all writes, barriers and calls
// so far, where it reads memory. Pack and unpack move bytes, as copies do. A predicate's truth is bit 0 of its value, negation
// flips it; runs 0 and 1 make all computed predicates true, and false.
//
// Both sides are executed instruction by instruction, in the order of the program after:
//   an original instruction   each byte that it reads must hold after what it holds before; a byte that is undefined before is a
//                             wildcard. Results are computed once, from the values before, and written to both sides, so that a
//                             fault shows where it is first read and raises no second finding behind it. An undefined operand
//                             makes undefined results, on both sides.
//   a copy, a phi             moves bytes, on each side by that side's own instruction (if it still has one)
//   an inserted instruction   is executed on the side after. A pack's bits are values of their own: a byte into which predicates
//                             were put is a value that stands for eight bit values, so packs can be copied and spilled like any
//                             register, and nested.
//   a guard                   where it is undefined before, the instruction may or may not happen: nothing is compared, and what it
//                             would write is undefined. Where an inserted instruction's guard is undefined, what it would write
//                             keeps only the bytes that would not change.
// Early-clobber defs destroy before uses are read; clobbers after; fixed and tied operands are read where the hardware reads
// them (execution_plan.cpp). In a device function the callee-saved registers hold entry values that every ret compares.
//
// Paths: the branch decision is made outside both programs, by (run, original block, number of its visit in the run), in even
// runs so that the edge taken least often comes first, in odd runs by a hash. Further runs aim at the blocks that were in no run yet,
// as long as there are some and there is fuel. A run that ends for want of fuel is no fault of the allocation: an endless loop
// that was gone through without a difference is as good a witness as a path to the exit. So a pass means that every reachable
// block was executed, and the verdict is inconclusive where there was not enough fuel for that.
// Tested by execution_test.cpp.

#include "oracles/execution.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "ir/random.h"
#include "oracles/collector.h"
#include "oracles/execution_plan.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::InstId;
using ir::Op;
using ir::Role;

constexpr std::string_view kName = "execution";

struct Cell {
  std::uint64_t value = 0;  // 0 = undefined
  InstId origin;            // the instruction that computed it
  InstId writer;            // the one that put it here, or destroyed what was here
};
using Bits = std::array<std::uint64_t, 8>;

class Machine {
 public:
  Machine(const Case& c, const ExecutionOptions& options) : case_(c), options_(options), out_(kName), cfg_(c.before) {}

  JudgeResult run() {
    auto plan = make_plan(case_);
    if (!plan) return without_verdict(kName, Verdict::Skipped, plan.error());
    plan_ = std::move(*plan);
    taken_.assign(plan_.edges.size(), 0);
    entered_.assign(case_.before.blocks.size(), false);
    const std::int64_t fuel =
        options_.fuel_base + options_.fuel_per_instruction * static_cast<std::int64_t>(case_.after.insts.size());
    for (run_ = 0; run_ < options_.runs; ++run_) one_run(fuel);
    const std::size_t reachable = cfg_.reverse_postorder().size();
    aimed_ = true;
    std::int64_t budget = fuel * options_.runs;
    for (bool gains = true; gains && num_entered_ < reachable && budget > 0; ++run_) {
      const std::size_t entered = num_entered_;
      const std::int64_t allowed = std::min(fuel, budget);
      one_run(allowed);
      budget -= allowed - fuel_;
      gains = num_entered_ > entered;
    }
    if (!out_.empty() || num_entered_ == reachable) return out_.finish();
    return without_verdict(kName, Verdict::Inconclusive,
                           fmt::format("fuel: {} of {} reachable blocks were never executed", reachable - num_entered_, reachable));
  }

 private:
  // --- values -----------------------------------------------------------------------------------------------------
  // Never 0; bit 0 is the truth of a predicate, bit 1 is always set.
  [[nodiscard]] std::uint64_t value_of(std::uint64_t hash) const {
    const std::uint64_t v = mix64(hash) | 2;
    return run_ == 0 ? v | 1 : run_ == 1 ? v & ~1ull : v;
  }
  static std::uint64_t negated(std::uint64_t v, bool negate) { return v != 0 && negate ? v ^ 1 : v; }
  static bool is_true(std::uint64_t v) { return (v & 1) != 0; }

  [[nodiscard]] Bits bits_of(std::uint64_t v) const {
    Bits bits = {};
    if (v == 0) return bits;
    if (const auto it = packs_.find(v); it != packs_.end()) return it->second;
    for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = value_of(hash_combine(v, 0xB17 + k));
    return bits;
  }
  // The byte whose bits are `bits`: `base` itself if those are its own.
  [[nodiscard]] std::uint64_t byte_of(const Bits& bits, std::uint64_t base) {
    if (base != 0 && bits_of(base) == bits) return base;
    std::uint64_t hash = 0xB17E;
    for (const std::uint64_t b : bits) hash = hash_combine(hash, b);
    const std::uint64_t v = value_of(hash);
    packs_.emplace(v, bits);
    return v;
  }

  // --- one run ----------------------------------------------------------------------------------------------------
  void one_run(std::int64_t fuel) {
    salt_ = mix64(hash_combine(options_.seed, static_cast<std::uint64_t>(run_)));
    memory_ = salt_;
    fuel_ = fuel;
    packs_.clear();
    cells_.assign(plan_.num_cells, {});
    visits_.assign(case_.before.blocks.size(), 0);
    for (const Place& p : plan_.callee_saved)
      for (std::uint32_t k = 0; k < p.size; ++k) cells_[p.begin + k].value = entry_value(p.begin + k);
    for (const auto& [before, after] : plan_.architectural)
      for (std::uint32_t k = 0; k < std::min(before.size, after.size); ++k)
        cells_[before.begin + k].value = cells_[after.begin + k].value = entry_value(after.begin + k);

    distance_.clear();
    is_stale_ = true;
    BlockId at(0);
    while (fuel_ > 0) {
      if (!entered_[at.index()]) {
        entered_[at.index()] = true;
        ++num_entered_;
        is_stale_ = true;
      }
      run_steps(plan_.blocks[at.index()]);
      const auto edges = plan_.edges_of[at.index()];
      if (edges.begin == edges.end) return;
      const std::uint32_t chosen = aimed_ ? aim(edges) : choose(at, edges);
      if (chosen == edges.end) return;
      const Edge& e = plan_.edges[chosen];
      ++taken_[chosen];
      run_move(plan_.steps[e.before_move]);
      for (std::uint32_t k = 0; k < e.num_path; ++k) run_steps(plan_.blocks[plan_.path[e.first_path + k].index()]);
      if (!e.is_followed) {
        const ir::Inst& branch = case_.after.terminator(at);
        if (first_time(branch.id, -1))
          out_.add("execution-wrong-path", branch.id, -1, fmt::format("the way to b{} leads elsewhere", e.to.value));
        return;
      }
      run_move(plan_.steps[e.after_move]);
      at = e.to;
    }
  }

  [[nodiscard]] std::uint64_t entry_value(std::uint32_t cell) const { return value_of(hash_combine(salt_, 0xE17 + (std::uint64_t{cell} << 16))); }

  std::uint32_t choose(BlockId at, Plan::Range edges) {
    const std::uint32_t n = edges.end - edges.begin;
    const std::uint64_t hash = mix64(hash_combine(hash_combine(salt_, at.value), visits_[at.index()]++));
    auto pick = static_cast<std::uint32_t>(hash % n);
    if (run_ % 2 == 0 && n > 1) {
      const std::uint32_t start = pick;
      for (std::uint32_t k = 1; k < n; ++k) {
        const std::uint32_t other = (start + k) % n;
        if (taken_[edges.begin + other] < taken_[edges.begin + pick]) pick = other;
      }
    }
    return edges.begin + pick;
  }

  // The edge towards the nearest block that was in no run yet; edges.end where none can be reached from here.
  std::uint32_t aim(Plan::Range edges) {
    for (;;) {
      std::uint32_t best = edges.end, least = UINT32_MAX;
      for (std::uint32_t e = edges.begin; e < edges.end && !distance_.empty(); ++e) {
        const std::size_t to = plan_.edges[e].to.index();
        // A block that was new when the distances were measured, and no longer is, says nothing.
        if (distance_[to] >= least || (distance_[to] == 0 && entered_[to])) continue;
        best = e;
        least = distance_[to];
      }
      if (best != edges.end || !is_stale_) return best;
      measure_distances();
    }
  }

  // Of each block, to the nearest that was never entered.
  void measure_distances() {
    is_stale_ = false;
    fuel_ -= static_cast<std::int64_t>(plan_.edges.size() / 8);
    distance_.assign(entered_.size(), UINT32_MAX);
    std::vector<BlockId> queue;
    for (const BlockId b : cfg_.reverse_postorder())
      if (!entered_[b.index()]) {
        distance_[b.index()] = 0;
        queue.push_back(b);
      }
    for (std::size_t k = 0; k < queue.size(); ++k)
      for (const BlockId b : cfg_.predecessors(queue[k])) {
        if (distance_[b.index()] != UINT32_MAX) continue;
        distance_[b.index()] = distance_[queue[k].index()] + 1;
        queue.push_back(b);
      }
  }

  void run_steps(Plan::Range range) {
    for (std::uint32_t k = range.begin; k < range.end; ++k) {
      const Step& s = plan_.steps[k];
      --fuel_;
      switch (s.kind) {
        case StepKind::Both: run_both(s); break;
        case StepKind::Compute: compute(s, false); break;
        case StepKind::Move: run_move(s); break;
        case StepKind::P2R:
        case StepKind::BitSpill: run_to_pack(s); break;
        case StepKind::R2P:
        case StepKind::BitRefill: run_from_pack(s); break;
      }
    }
  }

  [[nodiscard]] std::span<const StepOperand> operands_of(const Step& s) const {
    return {plan_.operands.data() + s.first_operand, s.num_operands};
  }

  // --- original instructions --------------------------------------------------------------------------------------
  void run_both(const Step& s) {
    const auto ops = operands_of(s);
    for (const StepOperand& op : ops) {
      if (op.role != Role::Guard) continue;
      const Cell& before = cells_[op.before.begin];
      if (before.value == 0) return run_perhaps(s);
      compare(s, op);
      if (!is_true(negated(before.value, op.is_negated_before))) return;
    }
    for (const StepOperand& op : ops)
      if (op.is_early && op.role == Role::Def) destroy(op.after, s.inst);
    for (const StepOperand& op : ops)
      if (op.is_register && (op.role == Role::Use || op.role == Role::DefUse)) compare(s, op);
    compute(s, true);
    if (s.op == Op::Ret) compare_callee_saved(s);
  }

  // Whether it happens is undefined, and so is all that it writes.
  void run_perhaps(const Step& s) {
    for (const StepOperand& op : operands_of(s)) {
      if (op.role == Role::Clobber || op.role == Role::Def || op.role == Role::DefUse) {
        destroy(op.before, s.inst);
        destroy(op.after, s.inst);
      }
    }
    if (writes_memory(s)) memory_ = mix64(hash_combine(memory_, s.op_hash));
  }

  void destroy(const Place& p, InstId by) {
    for (std::uint32_t k = 0; k < p.size; ++k) cells_[p.begin + k] = {0, by, by};
  }

  static bool writes_memory(const Step& s) {
    return (s.flags & (ir::kMemWrite | ir::kBarrier)) != 0 || s.op == Op::Call || s.op == Op::Bar;
  }
  static bool reads_memory(const Step& s) {
    return ((s.flags & ir::kMemRead) != 0 && (s.flags & ir::kReadOnly) == 0) || s.op == Op::Call;
  }

  // Computes from the `before` places and writes to them; with `both`, clobbers and writes the `after` places too.
  void compute(const Step& s, bool both) {
    const auto ops = operands_of(s);
    std::uint64_t hash = hash_combine(salt_, s.op_hash);
    bool is_defined = true;
    const bool moves_bytes = s.op == Op::Pack || s.op == Op::Unpack;
    moved_.clear();
    for (const StepOperand& op : ops) {
      if (op.role == Role::Def || op.role == Role::Clobber || op.role == Role::Guard) continue;
      if (!op.is_register) {
        hash = hash_combine(hash, op.constant);
        continue;
      }
      for (std::uint32_t k = 0; k < op.before.size; ++k) {
        const std::uint64_t v = negated(cells_[op.before.begin + k].value, op.is_negated_before);
        is_defined = is_defined && v != 0;
        hash = hash_combine(hash, v);
        if (moves_bytes) moved_.push_back(v);
      }
      hash = hash_combine(hash, op.before.size);
    }
    if (reads_memory(s)) hash = hash_combine(hash, memory_);
    if (writes_memory(s)) memory_ = mix64(hash_combine(memory_, hash));
    if (both)
      for (const StepOperand& op : ops)
        if (op.role == Role::Clobber) destroy(op.after, s.inst);
    std::uint64_t def = 0;
    std::size_t next = 0;
    for (const StepOperand& op : ops) {
      if (op.role != Role::Def && op.role != Role::DefUse) continue;
      ++def;
      if (both) destroy(op.after, s.inst);
      for (std::uint32_t k = 0; k < op.before.size; ++k) {
        Cell cell{0, s.inst, s.inst};
        if (moves_bytes) cell.value = next < moved_.size() ? moved_[next++] : 0;
        else if (is_defined) cell.value = value_of(hash_combine(hash, def << 32 | k));
        cells_[op.before.begin + k] = cell;
        if (both) cells_[op.after.begin + k] = cell;
      }
    }
  }

  // --- one side alone ---------------------------------------------------------------------------------------------
  // What a guard says: it happens, it does not, or nobody knows.
  enum class Happens { Yes, No, Perhaps };
  [[nodiscard]] Happens guard_of(const Step& s) const {
    if (!s.has_guard) return Happens::Yes;
    const std::uint64_t v = cells_[s.guard.begin].value;
    if (v == 0) return Happens::Perhaps;
    return is_true(negated(v, s.is_guard_negated)) ? Happens::Yes : Happens::No;
  }
  void write(std::uint32_t at, Cell cell, Happens happens, InstId by) {
    if (happens == Happens::Perhaps && cells_[at].value != cell.value) cell = {0, by, by};
    cell.writer = by;
    cells_[at] = cell;
  }

  void run_move(const Step& s) {
    const Happens happens = guard_of(s);
    if (happens == Happens::No) return;
    const auto ops = operands_of(s);
    fetched_.clear();
    for (const StepOperand& op : ops)
      for (std::uint32_t k = 0; k < op.before.size; ++k)
        fetched_.push_back(k < op.after.size ? cells_[op.after.begin + k] : Cell{0, s.inst, s.inst});
    std::size_t next = 0;
    for (const StepOperand& op : ops)
      for (std::uint32_t k = 0; k < op.before.size; ++k) write(op.before.begin + k, fetched_[next++], happens, s.inst);
  }

  void run_to_pack(const Step& s) {
    const Happens happens = guard_of(s);
    const auto ops = operands_of(s);
    if (happens == Happens::No || ops.empty()) return;
    const Place pack = ops[0].before;
    for (const StepOperand& op : ops.subspan(1)) {
      const std::uint32_t at = pack.begin + op.bit / 8u;
      Bits bits = bits_of(cells_[at].value);
      bits[op.bit % 8u] = negated(cells_[op.before.begin].value, op.is_negated_before);
      write(at, {byte_of(bits, cells_[at].value), s.inst, s.inst}, happens, s.inst);
    }
  }

  void run_from_pack(const Step& s) {
    const Happens happens = guard_of(s);
    const auto ops = operands_of(s);
    if (happens == Happens::No || ops.empty()) return;
    const Place pack = ops[0].before;
    for (const StepOperand& op : ops.subspan(1)) {
      const Cell& from = cells_[pack.begin + op.bit / 8u];
      write(op.before.begin, {bits_of(from.value)[op.bit % 8u], from.origin, s.inst}, happens, s.inst);
    }
  }

  // --- comparing --------------------------------------------------------------------------------------------------
  [[nodiscard]] bool first_time(InstId inst, int operand) {
    return reported_.insert(static_cast<std::uint64_t>(inst.value) << 20 | static_cast<std::uint64_t>(operand + 1)).second;
  }

  void compare(const Step& s, const StepOperand& op) {
    for (std::uint32_t k = 0; k < op.before.size; ++k) {
      const Cell &want = cells_[op.before.begin + k], &have = cells_[op.after.begin + k];
      if (want.value == 0 || negated(want.value, op.is_negated_before) == negated(have.value, op.is_negated_after)) continue;
      if (!first_time(s.inst, op.number)) return;
      const bool lost = have.value == 0;
      const std::string_view category = lost ? "execution-undefined" : "execution-wrong-value";
      if (!out_.wants(category)) return;
      std::string found;
      if (lost) found = have.writer.is_valid() ? fmt::format("nothing defined, {} destroyed it", place_of(have.writer)) : "what nobody wrote";
      else found = fmt::format("that of {}{}", place_of(have.origin), have.writer == have.origin ? "" : ", put there by " + place_of(have.writer));
      if (!lost && have.origin == want.origin) found += " (an older one, or another part of it)";
      out_.add(category, s.inst, op.number, fmt::format("expected the value of {}, found {}", place_of(want.origin), found), have.writer);
      return;
    }
  }

  void compare_callee_saved(const Step& s) {
    for (const Place& p : plan_.callee_saved)
      for (std::uint32_t k = 0; k < p.size; ++k) {
        const Cell& have = cells_[p.begin + k];
        if (have.value == entry_value(p.begin + k) || !first_time(s.inst, static_cast<int>(0x10000 + (p.begin + k) / 4 % 0x8000))) continue;
        if (out_.wants("execution-callee-saved"))
          out_.add("execution-callee-saved", s.inst, -1,
                   fmt::format("a callee-saved register does not hold what it held at entry; last written by {}", place_of(have.writer)),
                   have.writer);
        k |= 3;
      }
  }

  [[nodiscard]] static std::string place_of(InstId i) { return i.is_valid() ? fmt::format("#{}", i.value) : std::string("the entry"); }

  const Case& case_;
  ExecutionOptions options_;
  Collector out_;
  ir::Cfg cfg_;
  Plan plan_;
  int run_ = 0;
  bool aimed_ = false;
  std::uint64_t salt_ = 0, memory_ = 0;
  std::int64_t fuel_ = 0;
  std::vector<Cell> cells_;
  std::vector<Cell> fetched_;
  std::vector<std::uint64_t> moved_;
  std::vector<std::uint32_t> taken_;   // of each edge, over all runs
  std::vector<std::uint32_t> visits_;  // of each original block, in this run
  std::vector<bool> entered_;          // of each original block, over all runs
  std::size_t num_entered_ = 0;
  std::vector<std::uint32_t> distance_;  // of each original block, to the nearest that was never entered
  bool is_stale_ = true;
  std::unordered_map<std::uint64_t, Bits> packs_;
  std::unordered_set<std::uint64_t> reported_;
};

class ExecutionJudge final : public Judge {
 public:
  std::string_view name() const override { return kName; }
  std::string_view what_it_proves() const override {
    return "on several inputs and paths each original instruction reads the values that it read before";
  }
  JudgeResult judge(const Case& c) const override { return judge_execution(c, {}); }
};

}  // namespace

JudgeResult judge_execution(const Case& c, const ExecutionOptions& options) { return Machine(c, options).run(); }

const Judge& execution_judge() {
  static const ExecutionJudge judge;
  return judge;
}

}  // namespace regduel::oracles
