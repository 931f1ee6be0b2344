// See residence.h.

#include "allocator/split/residence.h"

#include <algorithm>
#include <array>

#include "allocator/program/names.h"
#include "allocator/spill_code/location.h"

namespace regduel::allocator {

namespace {

// Units that values take, or that a file has: entry j counts those that begin at multiples of 2^j, in whole steps of 2^j. Pairs
// cannot use a single unit.
struct Units {
  static constexpr std::size_t kSteps = 3;
  std::array<int, kSteps> of = {};

  static Units of_vreg(const ir::VReg& v) {
    Units u;
    for (std::size_t j = 0; j < kSteps && j <= v.align_log2; ++j) u.of[j] = (v.units() + (1 << j) - 1) >> j << j;
    return u;
  }
  static Units of_set(const UnitSet& set) {
    Units u;
    u.of[0] = set.count();
    for (std::size_t j = 1; j < kSteps; ++j)
      for (int unit = 0, end = set.end(); unit < end; unit += 1 << j) u.of[j] += set.has_all(unit, unit + (1 << j)) ? 1 << j : 0;
    return u;
  }
  Units& operator+=(const Units& o) {
    for (std::size_t j = 0; j < kSteps; ++j) of[j] += o.of[j];
    return *this;
  }
  Units& operator-=(const Units& o) {
    for (std::size_t j = 0; j < kSteps; ++j) of[j] -= o.of[j];
    return *this;
  }
  friend Units operator+(Units x, const Units& y) { return x += y; }
  friend Units operator-(Units x, const Units& y) { return x -= y; }
  // The largest step by which they do not fit into `room`; kSteps if they fit.
  [[nodiscard]] std::size_t step_above(const Units& room) const {
    std::size_t j = kSteps;
    while (j > 0 && of[j - 1] <= room.of[j - 1]) --j;
    return j == 0 ? kSteps : j - 1;
  }
  [[nodiscard]] bool fits(const Units& room) const { return step_above(room) == kSteps; }
};

class Walk {
 public:
  Walk(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const Registers& registers,
       const SplitCandidates& candidates, const NextUse& next, const MoveWeights& weights, const Residence* before)
      : f_(f), cfg_(cfg), live_(live), registers_(registers), candidates_(candidates), next_(next), weights_(weights),
        before_(before), limits_(registers.budget.points_of(f)), is_in_(candidates.size(), 0), is_reached_(candidates.size(), 0),
        is_kept_(candidates.size(), 0), next_use_(candidates.size(), kNoUse), missing_(candidates.num_global, 0) {
    out_.at_head.resize(f.blocks.size());
    out_.at_end.resize(f.blocks.size());
    out_.in_memory.assign(f.operands.size(), 0);
    out_.is_split.assign(candidates.size(), 0);
    for (const RegFile file : ir::kAllFiles)
      registers_there_[ir::index(file)] = Units::of_set(registers.budget.allocatable[ir::index(file)]);
    measure_others();
    count_defs();
  }

  Residence run() {
    for (const BlockId b : cfg_.reverse_postorder()) {
      enter(b);
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k) {
        const Inst& inst = f_.insts[block.first_inst + k];
        if (inst.is_deleted()) continue;
        index_ = block.first_inst + k;
        number_ = live_.number_of(index_);
        if (inst.is_inserted() && inst.is_copy()) parallel_copy(inst);
        else instruction(inst);
      }
      auto& end = out_.at_end[b.index()];
      for (const RegFile file : ir::kAllFiles) end.insert(end.end(), in_[ir::index(file)].begin(), in_[ir::index(file)].end());
      std::sort(end.begin(), end.end());
    }
    note_edges();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const ir::VReg& vreg(std::uint32_t c) const { return f_.vreg(candidates_.vregs[c]); }
  [[nodiscard]] std::int32_t length(BlockId b) const {
    return static_cast<std::int32_t>(next_.last(b.index()) - next_.first(b.index())) + 1;
  }
  [[nodiscard]] std::vector<std::uint32_t>& in(std::uint32_t c) { return in_[ir::index(vreg(c).file())]; }

  // --- the set of those in registers
  void put(std::uint32_t c) {
    if (is_in_[c] != 0) return;
    look_ahead(c);
    put_again(c);
  }
  void put_again(std::uint32_t c) {
    is_in_[c] = 1;
    in(c).push_back(c);
    used_[ir::index(vreg(c).file())] += Units::of_vreg(vreg(c));
  }
  void take(std::uint32_t c) {
    if (is_in_[c] == 0) return;
    is_in_[c] = 0;
    std::vector<std::uint32_t>& list = in(c);
    *std::find(list.begin(), list.end(), c) = list.back();
    list.pop_back();
    used_[ir::index(vreg(c).file())] -= Units::of_vreg(vreg(c));
  }
  void leave(std::uint32_t c) {
    out_.events.push_back({index_, c, Residence::Event::Kind::Leave});
    out_.is_split[c] = 1;
    take(c);
  }
  // Notes the next use of a value behind this instruction. It stays the same until the instruction of that use, or the next block.
  void look_ahead(std::uint32_t c) {
    const std::int32_t distance = next_.behind(c, number_);
    next_use_[c] = distance == NextUse::kNever ? kNoUse : std::int64_t{number_} + distance;
  }
  // The distance to the next use behind this instruction. Requires look_ahead() of its operands.
  [[nodiscard]] std::int32_t behind(std::uint32_t c) const {
    return is_in_[c] != 0 ? static_cast<std::int32_t>(distance(c)) : next_.behind(c, number_);
  }
  // The same of a value in a register.
  [[nodiscard]] std::int64_t distance(std::uint32_t c) const {
    return std::min<std::int64_t>(NextUse::kNever, next_use_[c] - number_);
  }
  // The distance to the next use of a value for the cost of leaving its register here: twice the distance for a refill alone, once the
  // distance if a store as frequent as this block is needed too. Only if it may reach `least`; else less.
  [[nodiscard]] std::int64_t distance_by_cost(std::uint32_t c, std::int64_t here, std::int64_t least) const {
    const std::int64_t twice = 2 * distance(c);
    if (weights_.is_recomputed[candidates_.vregs[c].index()] != 0) return twice * slot_bytes(vreg(c));
    if (out_.is_split[c] != 0 || twice < least) return twice;
    return twice * here / (here + std::min(here, defs_[c]));
  }
  // Values farthest from their next use leave, until the others fit into `room`. Values of is_kept_ stay.
  void limit(RegFile file, const Units& room) {
    const std::size_t k = ir::index(file);
    if (used_[k].fits(room)) return;
    const std::int64_t here = weights_.frequency[live_.block_at(number_).index()];
    for (std::size_t step; (step = used_[k].step_above(room)) != Units::kSteps;) {
      std::uint32_t victim = SplitCandidates::kNone;
      std::int64_t farthest = -1;
      for (const std::uint32_t c : in_[k]) {
        if (is_kept_[c] != 0 || vreg(c).align_log2 < step) continue;
        const std::int64_t far = distance_by_cost(c, here, farthest);
        if (far > farthest || (far == farthest && c < victim)) farthest = far, victim = c;
      }
      if (victim == SplitCandidates::kNone) return;
      leave(victim);
    }
  }

  // --- vregs that are no candidates
  // Units of vregs that are no candidates, by row: two an instruction, R and W.
  void measure_others() {
    for (const RegFile file : ir::kAllFiles) {
      const std::size_t k = ir::index(file);
      if (!registers_.is_scarce[k]) continue;
      others_[k].assign(2 * static_cast<std::size_t>(live_.num_numbered()) + 2, {});
      all_[k].assign(2 * static_cast<std::size_t>(live_.num_numbered()) + 2, 0);
    }
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const std::size_t k = ir::index(f_.vregs[v].file());
      if (!registers_.is_scarce[k]) continue;
      const bool is_other = candidates_[VRegId(v)] == SplitCandidates::kNone && !f_.vregs[v].is_architectural();
      for (const Interval& i : live_.range(v)) {
        const int units = f_.vregs[v].units();
        all_[k][first_row(i)] += units;
        all_[k][end_row(i)] -= units;
        if (!is_other) continue;
        others_[k][first_row(i)] += Units::of_vreg(f_.vregs[v]);
        others_[k][end_row(i)] -= Units::of_vreg(f_.vregs[v]);
      }
    }
    for (std::size_t k = 0; k < ir::kNumFiles; ++k) {
      for (std::size_t r = 1; r < others_[k].size(); ++r) others_[k][r] += others_[k][r - 1], all_[k][r] += all_[k][r - 1];
    }
  }
  void count_defs() {
    defs_.assign(candidates_.size(), 0);
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Inst& inst : f_.insts_of(b))
        for (const Operand& op : f_.operands_of(inst))
          if (op.is_vreg() && op.writes() && candidates_[op.vreg()] != SplitCandidates::kNone)
            defs_[candidates_[op.vreg()]] += weights_.frequency[b.index()];
  }
  [[nodiscard]] Units others_at(RegFile file, std::uint32_t number, bool at_writes) const {
    const std::size_t k = ir::index(file);
    return others_[k][2 * static_cast<std::size_t>(number) + (at_writes ? 1 : 0)];
  }
  [[nodiscard]] Units room_at(RegFile file, std::uint32_t number, bool at_writes) const {
    const std::uint32_t inst = file == RegFile::R && limits_.vary() ? live_.inst_at(number) : 0;
    if (!limits_.is_lower(inst)) return registers_there_[ir::index(file)] - others_at(file, number, at_writes);
    return Units::of_set(registers_.budget.allocatable[ir::index(file)] - limits_.closed(file, inst)) -
           others_at(file, number, at_writes);
  }

  // --- heads of blocks
  void enter(BlockId b) {
    for (auto& list : in_) {
      for (const std::uint32_t c : list) is_in_[c] = 0;
      list.clear();
    }
    used_ = {};
    std::fill_n(is_reached_.begin(), candidates_.num_global, char{0});
    for (const NextUse::AtHead& head : next_.live_at_head(b)) is_reached_[head.candidate] = 1;
    number_ = next_.first(b.index());
    const bool is_header = find_missing(b);
    std::vector<std::pair<std::int32_t, std::uint32_t>>& wanted = wanted_;
    wanted.clear();
    for (const NextUse::AtHead& head : next_.live_at_head(b))
      if (missing_[head.candidate] == 0 || pays_on_edges(head, b, is_header)) wanted.emplace_back(head.distance, head.candidate);
    std::sort(wanted.begin(), wanted.end());
    ir::PerFile<Units> room = {};
    ir::PerFile<int> through = {};
    for (const RegFile file : ir::kAllFiles)
      if (registers_.is_scarce[ir::index(file)]) room[ir::index(file)] = room_at(file, number_, false);
    if (is_header) through = room_through(b);
    for (const auto& [far, c] : wanted) {
      const std::size_t k = ir::index(vreg(c).file());
      const int units = vreg(c).units();
      if (!(used_[k] + Units::of_vreg(vreg(c))).fits(room[k])) continue;
      if (is_header && far >= NextUse::kLeavesLoop) {
        if (units > through[k]) continue;
        through[k] -= units;
      }
      next_use_[c] = std::int64_t{number_} + far - 1;
      put_again(c);
    }
    auto& head = out_.at_head[b.index()];
    for (const auto& list : in_) head.insert(head.end(), list.begin(), list.end());
    std::sort(head.begin(), head.end());
  }
  // Finds, for each candidate that is live at the head of a block, how often edges run to it on which the candidate is in memory. True
  // if the block is the head of a loop. Ends of blocks not walked yet are those of the walk before.
  bool find_missing(BlockId b) {
    for (const NextUse::AtHead& head : next_.live_at_head(b)) missing_[head.candidate] = 0;
    bool is_header = false;
    for (const BlockId p : cfg_.predecessors(b)) {
      if (!cfg_.is_reachable(p)) continue;
      const bool goes_back = cfg_.rpo_index(p) >= cfg_.rpo_index(b);
      is_header = is_header || goes_back;
      if (goes_back && before_ == nullptr) continue;
      const std::vector<std::uint32_t>& end = (goes_back ? *before_ : out_).at_end[p.index()];
      const std::int64_t times = std::min(weights_.frequency[p.index()], weights_.frequency[b.index()]);
      auto there = end.begin();
      next_.for_each_on_edge(p, b, [&](std::uint32_t c) {
        while (there != end.end() && *there < c) ++there;
        if (there == end.end() || *there != c) missing_[c] += times;
      });
    }
    return is_header;
  }
  // True if refills on the edges on which a value is in memory cost less than refills behind the head. If they cost the same: true if
  // the value left in the blocks before these edges, and is read here; then the need of one arm of a branch costs the others nothing.
  [[nodiscard]] bool pays_on_edges(const NextUse::AtHead& head, BlockId b, bool is_header) const {
    const std::uint32_t c = head.candidate;
    if (missing_[c] != head.fewest_refills || is_header || head.distance > length(b)) return missing_[c] < head.fewest_refills;
    const auto preds = cfg_.predecessors(b);
    return std::all_of(preds.begin(), preds.end(),
                       [&](BlockId p) { return !cfg_.is_reachable(p) || out_.is_at_end(p, c) || out_.is_at_head(p, c); });
  }
  // Units for values that only live through a loop: the units that the loop's own values leave at its fullest point.
  [[nodiscard]] ir::PerFile<int> room_through(BlockId header) {
    ir::PerFile<int> most = {}, through = {};
    int last = cfg_.rpo_index(header);
    for (const BlockId p : cfg_.predecessors(header))
      if (cfg_.is_reachable(p)) last = std::max(last, cfg_.rpo_index(p));
    for (int r = cfg_.rpo_index(header); r <= last; ++r) {
      const BlockId b = cfg_.reverse_postorder()[static_cast<std::size_t>(r)];
      for (std::size_t k = 0; k < ir::kNumFiles; ++k)
        for (std::size_t row = 2 * std::size_t{next_.first(b.index())};
             row < 2 * std::size_t{next_.last(b.index())} + 2 && !all_[k].empty(); ++row)
          most[k] = std::max(most[k], all_[k][row]);
    }
    for (const NextUse::AtHead& head : next_.live_at_head(header))
      if (head.distance >= NextUse::kLeavesLoop) through[ir::index(vreg(head.candidate).file())] += vreg(head.candidate).units();
    ir::PerFile<int> room = {};
    for (std::size_t k = 0; k < ir::kNumFiles; ++k) room[k] = std::max(0, registers_there_[k].of[0] - (most[k] - through[k]));
    return room;
  }

  // --- instructions
  void look_ahead(std::span<const Operand> ops) {
    for (const Operand& op : ops)
      if (op.is_vreg())
        if (const std::uint32_t c = candidates_[op.vreg()]; c != SplitCandidates::kNone && is_in_[c] != 0) look_ahead(c);
  }
  void instruction(const Inst& inst) {
    const auto ops = f_.operands_of(inst);
    look_ahead(ops);
    kept_.clear();
    const auto keep = [&](std::uint32_t c) {
      if (is_kept_[c] == 0) kept_.push_back(c);
      is_kept_[c] = 1;
    };
    ir::PerFile<Units> twice = {};  // units of copies that the instruction needs beside what lives on
    for (std::size_t o = 0; o < ops.size(); ++o) {
      const Operand& op = ops[o];
      if (!op.is_vreg()) continue;
      const std::size_t k = ir::index(f_.vreg(op.vreg()).file());
      if (!registers_.is_scarce[k]) continue;
      const Units units = Units::of_vreg(f_.vreg(op.vreg()));
      if (op.is_early_clobber()) twice[k] += units;
      const std::uint32_t c = candidates_[op.vreg()];
      if (c == SplitCandidates::kNone) continue;
      const bool is_bound = op.fixed().is_valid() || std::any_of(ops.begin(), ops.end(), [&](const Operand& d) {
                              return d.is_tied() && d.tied == o && d.vreg() != op.vreg();
                            });
      if (is_bound && op.role == ir::Role::Use && behind(c) < NextUse::kNever) twice[k] += units;
      if (!needs_old_value(f_, live_, inst, inst.first_operand + o) || is_reached_[c] == 0) continue;
      if (is_in_[c] == 0) {
        out_.events.push_back({index_, c, Residence::Event::Kind::Load});
        put(c);
      }
      keep(c);
    }
    for (const RegFile file : ir::kAllFiles)
      if (registers_.is_scarce[ir::index(file)]) limit(file, room_at(file, number_, false) - twice[ir::index(file)]);
    for (const std::uint32_t c : kept_)
      if (behind(c) == NextUse::kNever) take(c);
    for (const std::uint32_t c : kept_) is_kept_[c] = 0;
    for (const Operand& op : ops)  // a value that keeps old bytes cannot leave before the instruction
      if (op.is_vreg() && op.writes() && candidates_[op.vreg()] != SplitCandidates::kNone) is_kept_[candidates_[op.vreg()]] = 1;
    if (!ops.empty() && ops.back().role == Role::Clobber) clobbers(inst);
    write(inst);
  }
  void clobbers(const Inst& inst) {
    for (const RegFile file : ir::kAllFiles) {
      if (!registers_.is_scarce[ir::index(file)]) continue;
      const UnitSet clobbered = clobbered_units(f_, inst, file) | limits_.closed(file, index_);
      if (clobbered.none()) continue;
      limit(file, Units::of_set(registers_.budget.allocatable[ir::index(file)] - clobbered) - others_at(file, number_, true));
    }
  }
  void write(const Inst& inst) {
    const auto ops = f_.operands_of(inst);
    ir::PerFile<Units> made = {};
    kept_.clear();
    for (const Operand& op : ops) {
      if (!op.is_vreg() || !op.writes()) continue;
      const std::uint32_t c = candidates_[op.vreg()];
      if (c == SplitCandidates::kNone || std::find(kept_.begin(), kept_.end(), c) != kept_.end()) continue;
      kept_.push_back(c);
      is_reached_[c] = 1;
      if (is_in_[c] == 0) made[ir::index(vreg(c).file())] += Units::of_vreg(vreg(c));
    }
    for (const RegFile file : ir::kAllFiles)
      if (made[ir::index(file)].of[0] > 0) limit(file, room_at(file, number_, true) - made[ir::index(file)]);
    for (const std::uint32_t c : kept_) {
      is_kept_[c] = 0;
      if (is_in_[c] == 0) {
        look_ahead(c);
        if (next_use_[c] != kNoUse) put_again(c);
      } else if (next_use_[c] == kNoUse) {
        take(c);
      }
    }
  }

  // Parallel copies: sources in memory are read there; a result goes to memory if other values are needed sooner.
  void parallel_copy(const Inst& inst) {
    const auto ops = f_.operands_of(inst);
    const std::size_t pairs = ops.size() / 2;
    look_ahead(ops);
    for (std::size_t o = pairs; o < ops.size(); ++o) {
      const std::uint32_t c = candidates_[ops[o].vreg()];
      if (c != SplitCandidates::kNone && is_in_[c] == 0 && is_reached_[c] != 0)
        out_.in_memory[inst.first_operand + o] = 1, out_.is_split[c] = 1;
    }
    for (std::size_t o = pairs; o < ops.size(); ++o) {
      const std::uint32_t c = candidates_[ops[o].vreg()];
      if (c != SplitCandidates::kNone && behind(c) == NextUse::kNever) take(c);
    }
    // The results that are used soonest choose first, and keep their choice. One that is a source in a register, too, stays there: if it
    // left, its old value would.
    results_.clear();
    kept_.clear();
    for (std::size_t o = 0; o < pairs; ++o)
      if (const std::uint32_t c = candidates_[ops[o].vreg()]; c != SplitCandidates::kNone) {
        is_reached_[c] = 1;
        results_.emplace_back(behind(c), inst.first_operand + static_cast<std::uint32_t>(o));
        if (is_in_[c] == 0 || results_.back().first == NextUse::kNever) continue;
        is_kept_[c] = 1;
        kept_.push_back(c);
      }
    std::sort(results_.begin(), results_.end());
    for (const auto& [far, operand] : results_) {
      const std::uint32_t c = candidates_[f_.operands[operand].vreg()];
      if (far == NextUse::kNever) take(c);
      if (far == NextUse::kNever || is_in_[c] != 0) continue;
      const RegFile file = vreg(c).file();
      if (is_new_value(f_, live_, inst, operand) && make_room(file, room_at(file, number_, true) - Units::of_vreg(vreg(c)), far)) {
        put(c);
        is_kept_[c] = 1;
        kept_.push_back(c);
      } else {
        out_.in_memory[operand] = 1;
        out_.is_split[c] = 1;
      }
    }
    for (const std::uint32_t c : kept_) is_kept_[c] = 0;
  }
  // Values that are used later than `far` leave. False if that does not suffice; then none leaves.
  bool make_room(RegFile file, const Units& room, std::int32_t far) {
    const std::size_t k = ir::index(file);
    if (used_[k].fits(room)) return true;
    Units later;
    for (const std::uint32_t c : in_[k])
      if (is_kept_[c] == 0 && distance(c) > far) later += Units::of_vreg(vreg(c));
    if (!(used_[k] - later).fits(room)) return false;
    limit(file, room);
    return true;
  }

  // A value that is in a register at only one end of an edge is split.
  void note_edges() {
    for (const BlockId b : cfg_.reverse_postorder())
      for (const BlockId s : cfg_.successors(b)) {
        const std::vector<std::uint32_t>&end = out_.at_end[b.index()], &head = out_.at_head[s.index()];
        auto before = end.begin(), after = head.begin();
        const auto has = [](const std::vector<std::uint32_t>& list, auto& it, std::uint32_t c) {
          while (it != list.end() && *it < c) ++it;
          return it != list.end() && *it == c;
        };
        next_.for_each_on_edge(b, s, [&](std::uint32_t c) {
          const bool is_before = has(end, before, c), is_after = has(head, after, c);
          if (is_before == is_after) return;
          out_.edge_changes.push_back({b, s, c, is_after});
          out_.is_split[c] = 1;
        });
      }
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const Liveness& live_;
  const Registers& registers_;
  const SplitCandidates& candidates_;
  const NextUse& next_;
  const MoveWeights& weights_;
  const Residence* before_;
  const PointLimits limits_;
  Residence out_;
  ir::PerFile<std::vector<std::uint32_t>> in_;      // candidates in registers
  ir::PerFile<Units> used_ = {}, registers_there_;  // their units; the units of the file
  std::vector<char> is_in_, is_reached_, is_kept_;  // by candidate
  std::vector<std::uint32_t> kept_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> wanted_;  // distance, candidate
  std::vector<std::int64_t> defs_;                              // by candidate: how often it is written
  static constexpr std::int64_t kNoUse = std::int64_t{1} << 40;
  std::vector<std::int64_t> next_use_;                           // by candidate in a register: the instruction that uses it next
  std::vector<std::int64_t> missing_;                            // by candidate that is live at the head of the block at hand
  std::vector<std::pair<std::int32_t, std::uint32_t>> results_;  // of a parallel copy: distance to the next use, operand
  ir::PerFile<std::vector<Units>> others_;                       // by row: units of vregs that are no candidates
  ir::PerFile<std::vector<int>> all_;                            // the same of all
  std::uint32_t index_ = 0, number_ = 0;
};

}  // namespace

Residence find_residence(const ir::Function& f, const ir::Cfg& cfg, const Liveness& live, const Registers& registers,
                         const SplitCandidates& candidates, const NextUse& next_use, const MoveWeights& weights,
                         const Residence* before) {
  return Walk(f, cfg, live, registers, candidates, next_use, weights, before).run();
}

}  // namespace regduel::allocator
