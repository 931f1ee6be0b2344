#include "oracles/rewrite/rewrite.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "ir/cfg.h"
#include "oracles/collector.h"
#include "oracles/pair/constraints.h"
#include "oracles/pair/id_index.h"
#include "oracles/rewrite/machine.h"
#include "oracles/rewrite/meaning.h"
#include "oracles/rewrite/uniform_values.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using rewrite::Event;
using rewrite::Machine;

class Judgement {
 public:
  Judgement(const Function& before, const Function& after, const ir::Target& target, const RewriteOptions& options)
      : before_(before), after_(after), target_(target), options_(options), cfg_(before) {}

  JudgeResult run() {
    if (!is_skeleton_kept()) return out_.finish();
    kept_instructions();
    JudgeResult result = judge_constraints(before_, after_, target_, true);
    for (const Finding& f : result.findings) out_.add(f.category, f.inst, f.operand, f.message, f.other);
    rewrite::judge_uniform_values(after_, before_.vregs.size(), out_);
    if (!out_.empty()) return out_.finish();
    const std::size_t left = execute();
    result = out_.finish();
    if (result.verdict == Verdict::Pass && left > 0) {
      result.verdict = Verdict::Inconclusive;
      result.reason = fmt::format("{} edges were not taken", left);
    }
    return result;
  }

 private:
  // --- what stays where it is
  static std::vector<const Inst*> effects_of(const Function& f, BlockId b) {
    std::vector<const Inst*> effects;
    for (const Inst& i : f.insts_of(b))
      if (rewrite::is_effect(f, i)) effects.push_back(&i);
    return effects;
  }
  bool is_skeleton_kept() {
    if (after_.blocks.size() != before_.blocks.size()) {
      out_.add("skeleton", {}, -1, fmt::format("{} blocks have become {}", before_.blocks.size(), after_.blocks.size()));
      return false;
    }
    for (std::uint32_t n = 0; n < before_.blocks.size(); ++n) {
      const BlockId b(n);
      const auto had = effects_of(before_, b), has = effects_of(after_, b);
      const Inst &was = before_.terminator(b), &is = after_.terminator(b);
      if (was.id != is.id || !std::ranges::equal(before_.targets_of(was), after_.targets_of(is)))
        out_.add("skeleton", is.id, -1, fmt::format("b{} ended with #{}, and went elsewhere", n, was.id.value), was.id);
      for (std::size_t k = 0; k < std::max(had.size(), has.size()); ++k) {
        if (k < had.size() && k < has.size() && had[k]->id == has[k]->id) continue;
        const std::string place = k < had.size() ? fmt::format("#{}", had[k]->id.value) : "the end";
        out_.add("effect-order", k < has.size() ? has[k]->id : ir::InstId{}, -1,
                 fmt::format("effect {} of b{} was {}, and is {}", k, n, place,
                             k < has.size() ? fmt::format("#{}", has[k]->id.value) : "missing"),
                 k < had.size() ? had[k]->id : ir::InstId{});
        break;
      }
    }
    return out_.empty();
  }
  // A number that an effect has not is free for another instruction, since one pass may leave out what had it and the next add some.
  void kept_instructions() {
    const IdIndex ids(before_);
    for (const Inst& a : after_.insts) {
      const std::uint32_t at = ids.find(a.id);
      if (at == IdIndex::kNone) continue;
      const Inst& b = before_.insts[at];
      if (!rewrite::is_effect(before_, b) && (a.is_copy() || a.op != b.op || after_.mnemonic(a) != before_.mnemonic(b))) continue;
      if (a.op != b.op || after_.mnemonic(a) != before_.mnemonic(b) || a.flags != b.flags ||
          ir::defs_of(after_.operands_of(a)).size() != ir::defs_of(before_.operands_of(b)).size())
        out_.add("changed-instruction", a.id, -1,
                 "has another opcode, other flags or other defs than before; give it another number");
    }
  }

  // --- what the effects read
  void compare(const Machine& one, const Machine& other) {
    for (std::size_t k = 0; k < std::min(one.events().size(), other.events().size()); ++k) {
      const Event &b = one.events()[k], &a = other.events()[k];
      const ir::InstId id = after_.insts[a.inst].id;
      if (b.is_open) continue;
      if (a.is_open || a.happens != b.happens)
        return out_.add("wrong-guard", id, -1,
                        fmt::format("{} in a run where it {}",
                                    a.is_open   ? "happens or not"
                                    : a.happens ? "happens"
                                                : "does not happen",
                                    b.happens ? "happened" : "did not happen"));
      if (a.num_seen != b.num_seen) return out_.add("wrong-value", id, -1, "reads another number of operands");
      for (std::uint32_t s = 0; s < b.num_seen; ++s) {
        const rewrite::Seen &want = one.seen(b.first_seen + s), &have = other.seen(a.first_seen + s);
        if (want.datum.undefined != 0) continue;
        if (have.datum.undefined != 0)
          return out_.add("undefined-value", id, have.operand, "is undefined in a run where it was not");
        if (!rewrite::is_same(want.datum, have.datum))
          return out_.add("wrong-value", id, have.operand, "is another value than before");
      }
    }
  }
  // How many edges each block is away from an edge that was not taken yet, at most kFar.
  void seek() {
    far_.assign(before_.blocks.size(), kFar);
    std::vector<BlockId> work;
    const auto is_open = [&](BlockId b) {
      return std::ranges::any_of(cfg_.successors(b), [&](BlockId to) { return taken_[{b, to}] == 0; });
    };
    for (const BlockId b : cfg_.reverse_postorder())
      if (is_open(b)) far_[b.index()] = 0, work.push_back(b);
    for (std::size_t k = 0; k < work.size(); ++k)
      for (const BlockId p : cfg_.predecessors(work[k]))
        if (far_[p.index()] == kFar) far_[p.index()] = far_[work[k].index()] + 1, work.push_back(p);
  }
  // Where the path goes on from the end of a block: mostly over the edge that was taken least; in search of an edge, nearer to one.
  BlockId next(BlockId b, Random& random, bool seeks) {
    const auto targets = before_.targets_of(before_.terminator(b));
    if (targets.empty()) return {};
    const auto distance = [&](BlockId to) { return taken_[{b, to}] == 0 ? 0 : std::int64_t{far_[to.index()]} + 1; };
    const auto count = [&](BlockId to) { return seeks ? distance(to) : taken_[{b, to}]; };
    const BlockId to = seeks || random.chance(70) ? *std::ranges::min_element(targets, {}, count)
                                                  : targets[random.below(static_cast<std::uint32_t>(targets.size()))];
    if (++taken_[{b, to}] == 1 && seeks) seek();
    return to;
  }
  void run_once(Machine& one, Machine& other, std::uint64_t seed, bool seeks) {
    if (seeks) seek();
    Random path(hash_combine(seed, 0x9A7));
    one.start(seed);
    other.start(seed);
    const std::int64_t end =
        one.instructions() + options_.fuel_base + options_.fuel_per_instruction * static_cast<std::int64_t>(before_.insts.size());
    for (BlockId b(0), from; b.is_valid() && one.instructions() < end && out_.empty();) {
      one.run(b, from, nullptr);
      other.run(b, from, &one.events());
      compare(one, other);
      from = b;
      b = next(b, path, seeks);
    }
  }
  // The number of edges that no run took.
  std::size_t execute() {
    Machine one(before_, nullptr), other(after_, &before_);
    for (int run = 0; run < options_.runs && out_.empty(); ++run)
      run_once(one, other, hash_combine(options_.seed, static_cast<std::uint64_t>(run)), false);
    std::size_t left = edges_left();
    for (int run = options_.runs, end = run + options_.runs_to_cover; run < end && left > 0 && out_.empty(); ++run) {
      run_once(one, other, hash_combine(options_.seed, static_cast<std::uint64_t>(run)), true);
      left = edges_left();
    }
    return left;
  }
  [[nodiscard]] std::size_t edges_left() const {
    std::size_t left = 0;
    for (const BlockId b : cfg_.reverse_postorder())
      for (const BlockId to : cfg_.successors(b)) {
        const auto found = taken_.find({b, to});
        left += found == taken_.end() || found->second == 0 ? 1 : 0;
      }
    return left;
  }

  const Function& before_;
  const Function& after_;
  const ir::Target& target_;
  const RewriteOptions& options_;
  const ir::Cfg cfg_;
  static constexpr std::int32_t kFar = 1 << 30;
  std::map<std::pair<BlockId, BlockId>, std::int64_t> taken_;  // by edge
  std::vector<std::int32_t> far_;                              // by block
  Collector out_{"rewrite"};
};

}  // namespace

JudgeResult judge_rewrite(const Function& before, const Function& after, const ir::Target& target, const RewriteOptions& options) {
  return Judgement(before, after, target, options).run();
}

}  // namespace regduel::oracles
