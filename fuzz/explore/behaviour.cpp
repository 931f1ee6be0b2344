// See behaviour.h.
#include "fuzz/explore/behaviour.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/edges.h"
#include "base/random.h"

namespace regduel::fuzz {
namespace {

using ir::Operand;
using ir::Role;

// The subject of a feature, so that like numbers of different kinds do not meet.
enum Kind : std::uint64_t { kOperandKind = 1, kShape, kBout, kInserted, kSpilledOperand, kFlags };

class Collector {
 public:
  template <class... Parts>
  void add(Kind kind, Parts... parts) {
    std::uint64_t h = kind;
    ((h = hash_combine(h, static_cast<std::uint64_t>(parts))), ...);
    const auto feature = static_cast<std::size_t>(h % kNumFeatures);
    seen_[feature / 64] |= std::uint64_t{1} << feature % 64;
  }
  [[nodiscard]] std::vector<std::uint32_t> ascending() const {
    std::vector<std::uint32_t> features;
    for (std::size_t word = 0; word < seen_.size(); ++word)
      for (std::uint64_t rest = seen_[word]; rest != 0; rest &= rest - 1)
        features.push_back(static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(rest))));
    return features;
  }

 private:
  std::array<std::uint64_t, kNumFeatures / 64> seen_ = {};
};

// A number as its power of two: 0, 1, 2-3, 4-7, ...
template <class Number>
int bucket(Number n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
}

// Which kinds of operands there are, on which kind of instruction.
void operands(const ir::Function& f, Collector& out) {
  for (const ir::Inst& i : f.insts) {
    const bool guarded = ir::is_guarded(f.operands_of(i));
    out.add(kFlags, i.op, i.flags);
    for (const Operand& o : f.operands_of(i)) {
      if (!o.is_vreg()) continue;
      const ir::VReg& v = f.vreg(o.vreg());
      const int constraint = (o.fixed().is_valid() ? 1 : 0) + (o.is_tied() ? 2 : 0) + (o.is_early_clobber() ? 4 : 0) +
                             (o.part.is_whole() ? 0 : 8) + (v.alias.is_valid() ? 16 : 0) + (guarded ? 32 : 0) +
                             (v.align_log2 != ir::natural_align_log2(v.width) ? 64 : 0);
      out.add(kOperandKind, i.op, v.cls, v.width, o.role, constraint);
    }
  }
}

void inserted(const ir::Function& f, std::uint64_t allocator, Collector& out) {
  for (const ir::Block& b : f.blocks) {
    const auto insts = f.insts_of(b);
    std::size_t before = 0, after = 0;  // the instructions of the program beside which insts[k] stands, or the ends of the block
    for (std::size_t k = 0; k < insts.size(); ++k) {
      const ir::Inst& i = insts[k];
      if (!i.is_inserted()) before = k;
      if (after < k || k == 0)
        for (after = k; after + 1 < insts.size() && insts[after].is_inserted();) ++after;
      if (!i.is_inserted() && i.op != ir::Op::Spill && i.op != ir::Op::Refill && !i.is_deleted()) continue;
      const auto ops = f.operands_of(i);
      const auto reg = std::find_if(ops.begin(), ops.end(), [](const Operand& o) { return o.is_preg(); });
      const int file = reg == ops.end() ? -1 : static_cast<int>(reg->preg().file), units = reg == ops.end() ? 0 : reg->preg().count;
      const int whole = reg == ops.end() || reg->part.is_whole() ? 1 : 0;
      out.add(kInserted, allocator, i.op, i.is_deleted(), file, units, whole, ops.size() > 2, b.is_edge_block(), insts[after].op,
              ir::is_guarded(f.operands_of(insts[after])));
      out.add(kSpilledOperand, allocator, i.op, file, insts[before].op, ir::is_guarded(f.operands_of(insts[before])));
    }
  }
}

}  // namespace

std::vector<std::uint32_t> behaviour_of(const duel::Case& input, const duel::Duel& duel) {
  Collector out;
  const ir::Function& f = input.program;
  // Where no allocator succeeded, only the outcome counts: such an input is not bred from.
  if (std::any_of(duel.bouts.begin(), duel.bouts.end(), [](const duel::Bout& bout) { return bout.program.has_value(); })) {
    operands(f, out);
    out.add(kShape, 0, bucket(f.insts.size()), bucket(f.blocks.size()));
  }
  for (std::size_t k = 0; k < duel.bouts.size(); ++k) {
    const duel::Bout& b = duel.bouts[k];
    out.add(kBout, k, 0, b.verdict(), b.program.has_value());
    if (!b.program) continue;
    const oracles::Measures& m = b.measures;
    out.add(kBout, k, 1, bucket(m.spill_stores), bucket(m.spill_loads));
    out.add(kBout, k, 2, bucket(m.inserted_copies), bucket(m.kept_copies));
    out.add(kBout, k, 3, bucket(m.remats), bucket(m.edge_blocks));
    for (const ir::RegFile file : ir::kAllFiles)
      out.add(kBout, k, 4, file, bucket(m.registers[ir::index(file)]), m.registers[ir::index(file)] == input.limits.of(file),
              m.max_live[ir::index(file)] > input.limits.of(file));
    inserted(*b.program, k, out);
  }
  return out.ascending();
}

std::vector<std::uint32_t> features_of(const duel::Case& input, const duel::Duel& duel) {
  std::vector<std::uint32_t> features = behaviour_of(input, duel);
  for (const std::uint32_t edge : edges_hit()) features.push_back(kNumFeatures + edge);
  return features;
}

void add_ratios(std::span<const std::optional<std::int64_t>> percents, std::vector<std::uint32_t>& features) {
  constexpr std::uint64_t kRatio = 0x676170;  // of hashes that no other feature has
  for (std::size_t k = 0; k < percents.size(); ++k) {
    if (!percents[k] || *percents[k] <= 100) continue;
    const auto percent = static_cast<std::uint64_t>(*percents[k]);
    const auto bits = static_cast<int>(std::bit_width(percent));
    const std::uint64_t step = static_cast<std::uint64_t>(4 * bits) + (percent >> (bits - 3) & 3);
    features.push_back(static_cast<std::uint32_t>(hash_combine(hash_combine(kRatio, k), step) % kNumFeatures));
  }
  std::ranges::sort(features);
  features.erase(std::ranges::unique(features).begin(), features.end());
}

std::size_t FeatureSet::num_edges() const {
  std::size_t edges = 0;
  for (std::size_t f = kNumFeatures; f < seen_.size(); f += 8)
    edges += std::count(seen_.begin() + static_cast<std::ptrdiff_t>(f),
                        seen_.begin() + static_cast<std::ptrdiff_t>(std::min(f + 8, seen_.size())), true) > 0
                 ? 1
                 : 0;
  return edges;
}

std::size_t FeatureSet::add(const std::vector<std::uint32_t>& features) {
  std::size_t fresh = 0;
  if (!features.empty() && features.back() >= seen_.size()) seen_.resize(features.back() + 1, false);
  for (const std::uint32_t feature : features)
    if (!seen_[feature]) {
      seen_[feature] = true;
      ++fresh;
    }
  size_ += fresh;
  return fresh;
}

}  // namespace regduel::fuzz
