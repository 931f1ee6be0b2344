// The execution judge: runs the program before and the program after in lockstep and compares what each original
// instruction reads.
//
// Values are 64-bit hashes, one a byte; bit 1 says whether it is defined. An operation is an uninterpreted function: byte j of its
// def d is a hash of (run, opcode, mnemonic, operand values, d, j), and of the memory state, the hash of all writes, barriers and
// calls so far, where it reads memory. The bytes of an operand are summed with a weight each (multilinear hashing), operands and
// memory are joined by multiplication, and one bijective mix makes the result; the bytes of one def are equal steps apart.
// Pack and unpack move bytes, as copies do. A predicate's truth is bit 0 of its value, negation flips it; runs 0 and 1 set bit 0 of
// all values, and clear it.
//
// Both sides are executed instruction by instruction, in the order of the program after:
//   an original instruction   each byte that it reads must hold after what it holds before; a byte that is undefined before is a
//                             wildcard. Results are computed once, from the values before, and written to both sides, so that a
//                             fault shows where it is first read and raises no second finding behind it. So a result is a value
//                             like any, also where an operand is undefined; but what a remat may repeat has undefined results then,
//                             since the undefined operands of the remat may be others.
//   a copy, a phi             moves bytes, on each side by that side's own instruction (if it still has one)
//   an inserted instruction   is executed on the side after. A pack's bits are values of their own: a byte into which predicates
//                             were put is a value that stands for eight bit values, so packs can be copied and spilled like any
//                             register, and nested.
//   a guard                   if it is undefined before, the instruction may or may not happen: no operand is compared, and its defs
//                             are undefined. What one side alone executes after allocation, an inserted instruction or a copy, goes
//                             by the content of the guard's register, as the hardware does.
// An undefined byte is still one value in its place, and stays that value when a copy, a pack or an unpack moves it, so guards by
// it agree. It gets a number of its own at its first move, or when an instruction goes by it. Early-clobber defs destroy
// before uses are read, clobbers after; fixed and tied operands are read where the hardware reads them (plan.cpp). In a device
// function the callee-saved registers hold entry values that every ret compares.
//
// Predicates: bit 0 of a computed predicate follows a covering design over the runs (guards.h), so that guards meet in
// combinations.
//
// Paths: branches are decided outside both programs (paths.h). The first runs explore. An edge that makes three edges in a row that
// no run took yet comes first; of such edges, even runs take the least taken one; else a hash of (run, original block, number of
// its visit in the run) decides. An exploring run ends at an exit, without fuel, or after `stale` instructions without anything
// new. An early exit does not end the run: it is followed to its end, and then the run goes on from before it, with the values of
// then, as if another run of the same input took the other edge there. Further runs seek: along shortest paths to edges not yet
// taken, and back edges not yet taken in two laps, as long as there are some and there is fuel. Each search covers one edge, so the
// number of searches is bounded by the edges, and their length by the longest path without a repeated block. So a pass means that
// every reachable edge was taken and every loop gone around twice; without the fuel for that the verdict is inconclusive. A run
// that does not come to an exit is no fault of the allocation: an endless loop that was gone through without a difference is as
// good a witness as a path to the exit. In a program without guards values decide nothing: two runs along one path are one, and
// runs end with new paths.
//
// Origins of values are needed for reports alone, and nearly all allocations are right. So a first pass compares values only; if it
// meets a difference, all runs are repeated with the origin of every byte kept, and that pass reports. Tested by
// execution_test.cpp, what each instruction does by plan_test.cpp, paths by paths_test.cpp, guards by guards_test.cpp.

#include "oracles/execution/execution.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/execution/guards.h"
#include "oracles/execution/paths.h"
#include "oracles/execution/plan.h"
#include "oracles/execution/values.h"

namespace regduel::oracles {
namespace {

using namespace execution;
using ir::BlockId;
using ir::InstId;

constexpr std::string_view kName = "execution";

struct Origin {
  InstId computed_by;
  InstId put_by;  // the instruction that put the value here, or destroyed the old one
};

// kTracks: with origins and findings; else it stops at the first difference.
template <bool kTracks>
class Machine {
 public:
  Machine(const Case& c, const ExecutionOptions& options, const Plan& plan, ExecutionCost& cost)
      : case_(c), options_(options), plan_(plan), cost_(cost), paths_(plan, c.prepared.part<EdgeKinds>()), out_(kName) {
    values_.resize(plan_.num_cells);
    scratch_.resize(plan_.largest_operands);
    scratch_after_.resize(plan_.largest_operands);
    if constexpr (kTracks) scratch_origins_.resize(plan_.largest_operands);
  }

  // nullopt = there is a difference, and this machine does not track origins.
  std::optional<JudgeResult> run() {
    const auto size = static_cast<std::int64_t>(case_.after.insts.size());
    const std::int64_t fuel = options_.fuel_base + options_.fuel_per_instruction * size;
    for (run_ = 0; run_ < options_.runs && !differs_; ++run_) {
      one_run(fuel);
      if (!plan_.has_guards && !paths_.is_novel()) break;
    }
    seeks_ = true;
    std::size_t left = SIZE_MAX;  // before the last run: behind an edge that leads elsewhere nothing can be reached
    for (std::int64_t budget = options_.fuel_to_cover; paths_.num_left() > 0 && paths_.num_left() < left && budget > 0 && !differs_;
         ++run_) {
      left = paths_.num_left();
      budget -= one_run(budget);
    }
    if (differs_) return std::nullopt;
    if (!out_.empty() || paths_.num_left() == 0) return out_.finish();
    return without_verdict(
        kName, Verdict::Inconclusive,
        fmt::format("fuel: {} of {} reachable edges were not taken, or not in two laps", paths_.num_left(), paths_.num_edges()));
  }

 private:
  // The value of a cell. An undefined cell gets a number of its own, which it keeps until it is written and wherever it is moved.
  Value named(std::uint32_t at) {
    Value& v = values_[at];
    if (v == 0) v = run_values_.next_undefined();
    return v;
  }

  // --- one run ----------------------------------------------------------------------------------------------------
  // Returns the fuel that the run took: at least 1.
  std::int64_t one_run(std::int64_t fuel) {
    fuel_ = fuel;
    begin_run();
    follow_a_path();
    ++cost_.runs;
    cost_.instructions += fuel - fuel_;
    return fuel - fuel_;
  }

  void begin_run() {
    run_values_ = RunValues(mix64(hash_combine(options_.seed, static_cast<std::uint64_t>(run_))), run_);
    memory_ = 0;
    outcomes_.begin_run(run_);
    paths_.begin_run(run_values_.salt(), run_ % 2 == 0);
    for (const ByteRange& r : plan_.in_use) std::fill_n(values_.begin() + r.begin, r.size, 0);
    if constexpr (kTracks) origins_.assign(plan_.num_cells, {});
    for (const ByteRange& p : plan_.callee_saved)
      for (std::uint32_t k = 0; k < p.size; ++k) values_[p.begin + k] = entry_value(p.begin + k);
    for (const auto& [before, after] : plan_.architectural)
      for (std::uint32_t k = 0; k < std::min(before.size, after.size); ++k)
        values_[before.begin + k] = values_[after.begin + k] = entry_value(after.begin + k);
  }

  void follow_a_path() {
    BlockId at(0);
    std::optional<BlockId> early;  // the block of the early exit that was taken
    run_steps(plan_.blocks[at.index()]);
    std::int64_t stale_at = fuel_ - options_.stale;  // the run ends at this fuel if nothing new comes until then
    while (!differs_ && fuel_ > 0) {
      const auto edges = plan_.edges_of[at.index()];
      if (edges.begin == edges.end) {
        if (!early) return;
        at = *std::exchange(early, std::nullopt);
        go_back();
        continue;
      }
      std::uint32_t chosen = seeks_ ? seek(at) : kNoEdge;
      if (chosen == kNoEdge) {
        if (fuel_ <= stale_at) return;
        chosen = paths_.explore(at);
      }
      if (paths_.is_early(chosen)) {
        early = at;
        save();
      }
      if (paths_.take(chosen)) stale_at = fuel_ - options_.stale;
      if (!follow(at, plan_.edges[chosen])) return;
      at = plan_.edges[chosen].to;
      run_steps(plan_.blocks[at.index()]);
    }
  }

  // False if the program after leads elsewhere.
  bool follow(BlockId from, const Edge& e) {
    if (e.before_move != kNoStep) run_move(plan_.steps[e.before_move]);
    for (std::uint32_t k = 0; k < e.num_path; ++k) run_steps(plan_.blocks[plan_.path[e.first_path + k].index()]);
    if (!e.is_followed) {
      const ir::Inst& branch = case_.after.terminator(from);
      if (differs() && first_time(branch.id, -1))
        out_.add("execution-wrong-path", branch.id, -1, fmt::format("the way to b{} leads elsewhere", e.to.value));
      return false;
    }
    if (e.after_move != kNoStep) run_move(plan_.steps[e.after_move]);
    return true;
  }

  std::uint32_t seek(BlockId at) {
    const std::int64_t searched = paths_.num_searched();
    const std::uint32_t edge = paths_.seek(at);
    fuel_ -= (paths_.num_searched() - searched) / 8;
    return edge;
  }

  // An early exit is followed to its end, and then the run goes on from before it.
  void save() {
    saved_.values = values_;
    saved_.origins = origins_;
    saved_.memory = memory_;
    saved_.last = paths_.last();
    saved_.last_but_one = paths_.last_but_one();
  }
  void go_back() {
    values_ = saved_.values;
    origins_ = saved_.origins;
    memory_ = saved_.memory;
    paths_.begin_stretch(saved_.last, saved_.last_but_one);
  }

  [[nodiscard]] std::uint64_t entry_value(std::uint32_t cell) const {
    return run_values_.value_of(hash_combine(run_values_.salt(), 0xE17 + (std::uint64_t{cell} << 16)));
  }

  void run_steps(Plan::Range range) {
    fuel_ -= range.end - range.begin;
    for (std::uint32_t k = range.begin; k < range.end && !differs_; ++k) {
      const Step& s = plan_.steps[k];
      switch (s.kind) {
        case StepKind::Both: run_both(s); break;
        case StepKind::Compute: compute<false>(s); break;
        case StepKind::Move: run_move(s); break;
        case StepKind::P2R:
        case StepKind::BitSpill: run_to_pack(s); break;
        case StepKind::R2P:
        case StepKind::BitRefill: run_from_pack(s); break;
      }
    }
  }

  [[nodiscard]] std::span<const StepOperand> uses_of(const Step& s) const {
    return {plan_.operands.data() + s.first_operand, s.num_uses};
  }
  [[nodiscard]] std::span<const StepOperand> clobbers_of(const Step& s) const {
    return {plan_.operands.data() + s.first_operand + s.num_uses, s.num_clobbers};
  }
  [[nodiscard]] std::span<const StepOperand> defs_of(const Step& s) const {
    return {plan_.operands.data() + s.first_operand + s.num_uses + s.num_clobbers, s.num_defs};
  }

  void wrote(std::uint32_t begin, std::uint32_t size, InstId by) {
    if constexpr (kTracks) std::fill_n(origins_.begin() + begin, size, Origin{by, by});
  }
  void destroy(std::uint32_t begin, std::uint32_t size, InstId by) {
    std::fill_n(values_.begin() + begin, size, 0);
    wrote(begin, size, by);
  }

  // --- original instructions --------------------------------------------------------------------------------------
  void run_both(const Step& s) {
    if (s.has_guard) {
      const Value before = values_[s.guard_before];
      if (!is_defined(before)) return run_perhaps(s);
      if (negated(before, s.is_guard_negated_before) != negated(values_[s.guard_after], s.is_guard_negated_after)) {
        StepOperand guard;
        guard.before = s.guard_before;
        guard.after = s.guard_after;
        guard.before_size = guard.after_size = 1;
        guard.number = s.guard_number;
        guard.is_negated_before = s.is_guard_negated_before;
        guard.is_negated_after = s.is_guard_negated_after;
        compare(s, guard);
      }
      if (!is_true(negated(before, s.is_guard_negated_before))) return;
    }
    if (s.has_early)
      for (const StepOperand& op : defs_of(s))
        if (op.is_early) destroy(op.after, op.after_size, s.inst);
    compute<true>(s);
    if (s.is_ret) compare_callee_saved(s);
  }

  // The guard is undefined, and so is all that the instruction writes.
  void run_perhaps(const Step& s) {
    for (const auto& ops : {clobbers_of(s), defs_of(s)})
      for (const StepOperand& op : ops) {
        destroy(op.before, op.before_size, s.inst);
        destroy(op.after, op.after_size, s.inst);
      }
    if (s.writes_memory) memory_ = mix64(hash_combine(memory_, s.hash));
  }

  // Computes from the `before` cells and writes to them. kBoth: compares the `after` cells with them, clobbers, and writes to both.
  template <bool kBoth>
  void compute(const Step& s) {
    std::uint64_t hash = run_values_.salt() ^ s.hash;
    bool is_undefined = false;
    const Value* const values = values_.data();
    for (const StepOperand& op : uses_of(s)) {
      const Value* const before = values + op.before;
      const Value* const after = kBoth ? values + op.after : before;
      Reading r;
      if (op.is_negated_before || op.is_negated_after) {
        for (std::uint32_t k = 0; k < op.before_size; ++k) {
          const Value v = negated(before[k], op.is_negated_before);
          r.sum += v * kWeights[k % kWeights.size()];
          r.is_undefined = r.is_undefined || !is_defined(v);
          if (kBoth && v != negated(after[k], op.is_negated_after)) r.difference = 1;
        }
      } else {
        switch (op.before_size) {
          case 1: r = read_cells(before, after, Width<1>()); break;
          case 4: r = read_cells(before, after, Width<4>()); break;
          case 8: r = read_cells(before, after, Width<8>()); break;
          default: r = read_cells(before, after, op.before_size);
        }
      }
      if (kBoth && r.difference != 0) compare(s, op);
      is_undefined = is_undefined || r.is_undefined;
      hash = hash * kJoin + r.sum;
    }
    if (s.reads_memory) hash = hash * kJoin + memory_;
    if (s.writes_memory) memory_ = mix64(memory_ * kJoin + hash);
    if (s.moves_bytes) return move_bytes<kBoth>(s);
    if (kBoth)
      for (const StepOperand& op : clobbers_of(s)) destroy(op.after, op.after_size, s.inst);
    for (const StepOperand& op : defs_of(s)) {
      hash += kPerDef;
      std::uint64_t first = mix64(hash);
      if (is_undefined && s.may_be_repeated) {
        destroy(op.before, op.before_size, s.inst);
        if (kBoth) destroy(op.after, op.after_size, s.inst);
        continue;
      }
      if (op.is_predicate) first = (first & ~1ull) | (outcomes_.outcome(first, op.bit) ? 1 : 0);
      Value* const before = values_.data() + op.before;
      Value* const after = values_.data() + op.after;
      const auto fill = [&](auto size) {
        for (std::uint32_t k = 0; k < size; ++k) {
          const Value v = run_values_.shaped(first + k * kPerByte);
          before[k] = v;
          if (kBoth) after[k] = v;
        }
      };
      if (op.before_size == 4) fill(Width<4>());
      else fill(static_cast<std::uint32_t>(op.before_size));
      wrote(op.before, op.before_size, s.inst);
      if (kBoth) {
        for (std::uint32_t k = op.before_size; k < op.after_size; ++k) after[k] = 0;
        wrote(op.after, op.after_size, s.inst);
      }
    }
  }

  // Pack and unpack: the bytes of the uses become those of the defs. If a byte is undefined before, the byte of the register is
  // moved nevertheless on the side after: it may be part of another value that is still read.
  template <bool kBoth>
  void move_bytes(const Step& s) {
    std::size_t read = 0, next = 0;
    for (const StepOperand& op : uses_of(s))
      for (std::uint32_t k = 0; k < op.before_size; ++k, ++read) {
        scratch_[read] = negated(values_[op.before + k], op.is_negated_before);
        if (kBoth) scratch_after_[read] = is_defined(scratch_[read]) || k >= op.after_size ? scratch_[read] : values_[op.after + k];
      }
    if (kBoth)
      for (const StepOperand& op : clobbers_of(s)) destroy(op.after, op.after_size, s.inst);
    for (const StepOperand& op : defs_of(s)) {
      if (kBoth) destroy(op.after, op.after_size, s.inst);
      for (std::uint32_t k = 0; k < op.before_size; ++k) {
        values_[op.before + k] = next < read ? scratch_[next] : 0;
        if (kBoth) values_[op.after + k] = next < read ? scratch_after_[next] : 0;
        ++next;
      }
      wrote(op.before, op.before_size, s.inst);
    }
  }

  // --- one side alone ---------------------------------------------------------------------------------------------
  // The outcome of a guard: the step happens, it does not, or the guard is undefined.
  enum class Happens { Yes, No, Perhaps };
  [[nodiscard]] Happens guard_of(const Step& s) {
    if (!s.has_guard) return Happens::Yes;
    const Value v = s.is_after ? named(s.guard_before) : values_[s.guard_before];
    if (!is_defined(v) && !s.is_after) return Happens::Perhaps;
    return is_true(negated(v, s.is_guard_negated_before)) ? Happens::Yes : Happens::No;
  }
  void write(std::uint32_t at, Value value, InstId computed_by, Happens happens, InstId by) {
    const Value written = happens == Happens::Perhaps ? run_values_.common(values_[at], value) : value;
    values_[at] = written;
    if constexpr (kTracks) origins_[at] = {written == value ? computed_by : by, by};
  }
  [[nodiscard]] InstId origin_at(std::uint32_t at) const {
    if constexpr (kTracks) return origins_[at].computed_by;
    return {};
  }

  void run_move(const Step& s) {
    const StepOperand& first = plan_.operands[s.first_operand];
    if (s.num_defs == 1 && s.num_clobbers == 0 && !s.has_guard && first.before_size == first.after_size)
      return run_move_one(s, first);
    const Happens happens = guard_of(s);
    if (happens == Happens::No) return;
    std::size_t read = 0, next = 0;
    // If the guard is undefined: the old values of the early-clobber defs, and of all defs.
    std::vector<Value> held, old;
    for (const StepOperand& op : clobbers_of(s)) {
      if (!op.is_early) continue;
      if (happens == Happens::Perhaps) held.insert(held.end(), &values_[op.after], &values_[op.after] + op.after_size);
      destroy(op.after, op.after_size, s.inst);
    }
    for (const StepOperand& op : defs_of(s))
      for (std::uint32_t k = 0; k < op.before_size; ++k, ++read) {
        const bool is_there = k < op.after_size;
        scratch_[read] = is_there ? named(op.after + k) : 0;
        if constexpr (kTracks) scratch_origins_[read] = is_there ? origins_[op.after + k].computed_by : s.inst;
      }
    auto next_held = held.begin();
    for (const StepOperand& op : clobbers_of(s)) {
      if (!op.is_early || held.empty()) continue;
      std::copy_n(next_held, op.after_size, values_.begin() + op.after);
      next_held += op.after_size;
    }
    if (happens == Happens::Perhaps)
      for (const StepOperand& op : defs_of(s)) old.insert(old.end(), &values_[op.before], &values_[op.before] + op.before_size);
    for (const StepOperand& op : clobbers_of(s))
      if (!op.is_early) destroy(op.after, op.after_size, s.inst);
    auto next_old = old.begin();
    for (const StepOperand& op : defs_of(s))
      for (std::uint32_t k = 0; k < op.before_size; ++k, ++next) {
        InstId computed_by;
        if constexpr (kTracks) computed_by = scratch_origins_[next];
        if (next_old != old.end()) values_[op.before + k] = *next_old++;
        write(op.before + k, scratch_[next], computed_by, happens, s.inst);
      }
  }
  // Most moves: one pair of places of one size, without a guard.
  void run_move_one(const Step& s, const StepOperand& op) {
    Value* const to = values_.data() + op.before;
    const Value* const from = values_.data() + op.after;
    for (std::uint32_t k = 0; k < op.before_size; ++k) named(op.after + k);
    if (op.before_size == 4) std::memmove(to, from, 4 * sizeof(Value));
    else std::memmove(to, from, op.before_size * sizeof(Value));
    if constexpr (kTracks) {
      std::memmove(origins_.data() + op.before, origins_.data() + op.after, op.before_size * sizeof(Origin));
      for (std::uint32_t k = 0; k < op.before_size; ++k) origins_[op.before + k].put_by = s.inst;
    }
  }

  void run_to_pack(const Step& s) {
    const Happens happens = guard_of(s);
    const auto ops = defs_of(s);
    if (happens == Happens::No || ops.empty()) return;
    for (const StepOperand& op : ops.subspan(1)) {
      const std::uint32_t at = ops[0].before + op.bit / 8u;
      Bits bits = run_values_.bits_of(named(at));
      bits[op.bit % 8u] = negated(named(op.before), op.is_negated_before);
      write(at, run_values_.byte_of(bits, values_[at]), s.inst, happens, s.inst);
    }
  }

  void run_from_pack(const Step& s) {
    const Happens happens = guard_of(s);
    const auto ops = defs_of(s);
    if (happens == Happens::No || ops.empty()) return;
    for (const StepOperand& op : ops.subspan(1)) {
      const std::uint32_t from = ops[0].before + op.bit / 8u;
      write(op.before, run_values_.bits_of(named(from))[op.bit % 8u], origin_at(from), happens, s.inst);
    }
  }

  // --- comparing --------------------------------------------------------------------------------------------------
  // Notes a difference. True if it is to be reported.
  [[nodiscard]] bool differs() {
    if constexpr (!kTracks) differs_ = true;
    return kTracks;
  }
  [[nodiscard]] bool first_time(InstId inst, int operand) {
    return reported_.insert(static_cast<std::uint64_t>(inst.value) << 20 | static_cast<std::uint64_t>(operand + 1)).second;
  }

  void compare(const Step& s, const StepOperand& op) {
    for (std::uint32_t k = 0; k < op.before_size; ++k) {
      const Value want = values_[op.before + k], have = values_[op.after + k];
      if (!is_defined(want) || negated(want, op.is_negated_before) == negated(have, op.is_negated_after)) continue;
      if (!differs() || !first_time(s.inst, op.number)) return;
      const bool lost = !is_defined(have);
      const std::string_view category = lost ? "execution-undefined" : "execution-wrong-value";
      if (!out_.wants(category)) return;
      const InstId wanted = origins_[op.before + k].computed_by;
      const Origin found_one = origins_[op.after + k];
      std::string found;
      if (lost)
        found = found_one.put_by.is_valid() ? fmt::format("nothing defined, {} destroyed it", place_of(found_one.put_by))
                                            : "what nobody wrote";
      else
        found = fmt::format("that of {}{}", place_of(found_one.computed_by),
                            found_one.put_by == found_one.computed_by ? "" : ", put there by " + place_of(found_one.put_by));
      if (!lost && found_one.computed_by == wanted) found += " (an older one, or another part of it)";
      out_.add(category, s.inst, op.number, fmt::format("expected the value of {}, found {}", place_of(wanted), found),
               found_one.put_by);
      return;
    }
  }

  void compare_callee_saved(const Step& s) {
    for (const ByteRange& p : plan_.callee_saved)
      for (std::uint32_t k = 0; k < p.size; ++k) {
        if (values_[p.begin + k] == entry_value(p.begin + k)) continue;
        if (!differs()) return;
        if (!first_time(s.inst, static_cast<int>(0x10000 + (p.begin + k) / 4 % 0x8000))) continue;
        const InstId put_by = origins_[p.begin + k].put_by;
        out_.add("execution-callee-saved", s.inst, -1,
                 fmt::format("a callee-saved register does not hold what it held at entry; last written by {}", place_of(put_by)),
                 put_by);
      }
  }

  [[nodiscard]] static std::string place_of(InstId i) {
    return i.is_valid() ? fmt::format("#{}", i.value) : std::string("the entry");
  }

  const Case& case_;
  const ExecutionOptions& options_;
  const Plan& plan_;
  ExecutionCost& cost_;
  Paths paths_;
  PredicateOutcomes outcomes_;
  Collector out_;
  int run_ = 0;
  bool seeks_ = false;    // the first runs are over
  bool differs_ = false;  // stop: only without tracking
  RunValues run_values_;
  std::uint64_t memory_ = 0;  // of the run at hand: the hash of what was written so far
  std::int64_t fuel_ = 0;
  std::vector<Value> values_;    // by cell
  std::vector<Origin> origins_;  // by cell, where tracked
  std::vector<Value> scratch_, scratch_after_;
  std::vector<InstId> scratch_origins_;
  struct {
    std::vector<Value> values;
    std::vector<Origin> origins;
    std::uint64_t memory = 0;
    std::uint32_t last = 0, last_but_one = 0;
  } saved_;
  std::unordered_set<std::uint64_t> reported_;
};

}  // namespace

JudgeResult judge_execution(const Case& c, const ExecutionOptions& options, ExecutionCost* cost) {
  const auto plan = make_plan(c);
  if (!plan) return without_verdict(kName, Verdict::Skipped, plan.error());
  ExecutionCost ignored;
  ExecutionCost& counted = cost == nullptr ? ignored : *cost;
  if (auto result = Machine<false>(c, options, *plan, counted).run()) return *std::move(result);
  return *Machine<true>(c, options, *plan, counted).run();
}

const Judge& execution_judge() {
  static constexpr Judge judge(kName, "on several inputs and paths each original instruction reads the values that it read before",
                               [](const Case& c) { return judge_execution(c, {}); });
  return judge;
}

}  // namespace regduel::oracles
