#include "passes/nvptx/coalescer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "ir/loops.h"
#include "passes/nvptx/constrained_copies.h"

namespace regduel::passes::nvptx {

using ir::BlockId;
using ir::VRegId;

Coalescer::Coalescer(const ir::Function& f, const Options& options)
    : f_(f), options_(options), cfg_(f), slots_(f), origins_(f, options.candidates.guarded), participants_(participants(f)),
      candidates_(collect_candidates(f, participants_, origins_, options.candidates)), frequency_(block_weights(f, cfg_)),
      intervals_(f, cfg_, origins_, participants_), merged_(f, intervals_, frequency_), interference_(f, merged_),
      is_settled_(candidates_.size(), 0) {}

void Coalescer::run() {
  if (options_.block_level) block_level();
  if (options_.cross_block) cross_block();
}

void Coalescer::block_level() {
  Grouped<std::uint32_t> of_block(f_.blocks.size(), [&](auto add) {
    for (std::uint32_t c = 0; c < candidates_.size(); ++c)
      if (candidates_[c].kind != Kind::Phi) add(candidates_[c].block.index(), c);
  });
  std::vector<BlockId> order;
  for (std::size_t b = 0; b < f_.blocks.size(); ++b)
    if (!of_block[b].empty()) order.emplace_back(b);
  if (options_.block_frequency)
    std::stable_sort(order.begin(), order.end(),
                     [&](BlockId a, BlockId b) { return frequency_[a.index()] > frequency_[b.index()]; });
  live_through_.resize(f_.vregs.size());
  for (const BlockId b : order) {
    for (const VRegId root : intervals_.live_through(b)) live_through_.set(root.index());
    run_worklist(
        of_block[b.index()], [&](std::uint32_t c) { return priority(candidates_[c]); },
        [&](std::uint32_t c) {
          const bool is_of_block =
              is_local(merged_.find(candidates_[c].def), b) || is_local(merged_.find(candidates_[c].source), b);
          return is_of_block ? attempt(c) : Outcome::Later;
        });
    for (const VRegId root : intervals_.live_through(b)) live_through_.reset(root.index());
  }
  live_through_.clear();
}

void Coalescer::cross_block() {
  std::vector<std::uint32_t> left;
  for (std::uint32_t c = 0; c < candidates_.size(); ++c)
    if (is_settled_[c] == 0) left.push_back(c);
  run_worklist(left, [&](std::uint32_t c) { return priority(candidates_[c]); }, [&](std::uint32_t c) { return attempt(c); });
}

Priority Coalescer::priority(const Candidate& c) {
  const VRegId x = merged_.find(c.def), y = merged_.find(c.source);
  const std::int64_t weight = merged_.weight(x) + (x == y ? 0 : merged_.weight(y));
  return {options_.block_frequency ? frequency_[c.block.index()] : 0, merged_.lowest(y).value, weight};
}

bool Coalescer::is_local(VRegId root, BlockId b) const {
  for (int k = 0; k < merged_.pieces(root); ++k) {
    const Segments& segments = merged_.interval(root, k).segments;
    if (!segments.empty() && (segments.front().begin < slots_.begin(b) || segments.back().end >= slots_.end(b))) return false;
  }
  return true;
}

bool Coalescer::interfere(const Candidate& c, VRegId x, VRegId y) {
  if (!live_through_.empty() && live_through_.test(c.source.index()) && !interference_.only_copies(x, y)) return true;
  if (!live_through_.empty() && live_through_.test(c.def.index()) && !interference_.only_copies(y, x)) return true;
  return interference_.between(x, y) || (c.sub_operands.size() > 1 && interference_.clash_in_an_instruction(x, y));
}

Outcome Coalescer::attempt(std::uint32_t candidate) {
  const Candidate& c = candidates_[candidate];
  const VRegId x = merged_.find(c.def), y = merged_.find(c.source);
  if (x == y) {
    is_settled_[candidate] = 1;
    trace(c, "is gone already");
    return Outcome::Never;
  }
  if (is_constrained(f_, c)) {
    is_settled_[candidate] = 1;
    trace(c, "is constrained");
    return Outcome::Never;
  }
  if (interfere(c, x, y)) {
    trace(c, "interferes");
    return Outcome::Later;
  }
  if (options_.coalesce_limit >= 0 && merges_ >= options_.coalesce_limit) return Outcome::Stop;
  is_settled_[candidate] = 1;
  if (!ir::may(options_.fuel, "coalesce-copy")) return Outcome::Never;
  trace(c, "is coalesced");
  merge(c, x, y);
  return Outcome::Merged;
}

void Coalescer::merge(const Candidate& c, VRegId x, VRegId y) {
  ++merges_;
  // The sub-operands that inherit are merged with the first: all pieces of a root go together.
  REGDUEL_CHECK(static_cast<int>(c.sub_operands.size()) == merged_.pieces(x), "a candidate has all pieces of its roots");
  if (options_.verify) merge_and_verify(x, y);
  else merged_.merge(x, y);
}

void Coalescer::merge_and_verify(VRegId x, VRegId y) {
  std::vector<Segments> together;
  std::vector<std::size_t> definitions;
  for (int k = 0; k < merged_.pieces(x); ++k) {
    together.push_back(merged_.interval(x, k).segments);
    together.back().add(merged_.interval(y, k).segments);
    definitions.push_back(merged_.interval(x, k).definitions.size() + merged_.interval(y, k).definitions.size());
  }
  merged_.merge(x, y);
  const VRegId z = merged_.find(x);
  for (std::size_t k = 0; k < together.size(); ++k) {
    const LiveInterval& now = merged_.interval(z, static_cast<int>(k));
    REGDUEL_CHECK(now.segments == together[k] && now.definitions.size() == definitions[k],
                  fmt::format("the interval of %{} is not what its parts were", merged_.lowest(z).value));
    if (options_.trace != nullptr)
      options_.trace->line(fmt::format("verified %{}, piece {}: {} segments, {} definitions", merged_.lowest(z).value, k,
                                       now.segments.size(), now.definitions.size()));
  }
}

void Coalescer::trace(const Candidate& c, std::string_view what) const {
  if (options_.trace == nullptr) return;
  options_.trace->line(fmt::format("{} #{} {}: %{} and %{}, family {} {}", live_through_.empty() ? "cross-block" : "block-level",
                                   f_.insts[c.inst].id.value, name(c.kind), c.def.value, c.source.value, c.family, what));
}

}  // namespace regduel::passes::nvptx
