#include "reference/program/liveness.h"

#include <algorithm>
#include <functional>

#include "base/planted.h"

namespace regduel::reference {
namespace {

// The bytes of a value that a block exposes (reads before it kills them), writes and kills.
struct Touch {
  TempId value;
  std::uint32_t block;
  ByteMask exposed = 0, written = 0, killed = 0;
};

// One touch for each value and each reachable block that refers to it, by block. A value without defs of parts counts as one byte.
//   has_parts   by temp; empty = none has
std::vector<Touch> find_touches(const Code& code, const std::vector<std::uint8_t>& has_parts) {
  std::vector<Touch> touches;
  std::vector<std::uint32_t> last(code.num_values, 0);  // by value: its last touch, plus 1
  const auto bytes_of = [&](const Ref& r) {
    return has_parts.empty() || has_parts[r.temp] == 0 ? RefBytes{1, 1} : code.bytes_of(r);
  };
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    if (!code.blocks[b].is_reachable) continue;
    const std::size_t first = touches.size();
    const auto touch = [&](TempId v) -> Touch& {
      if (last[v] <= first) {
        touches.push_back({.value = v, .block = b});
        last[v] = static_cast<std::uint32_t>(touches.size());
      }
      return touches[last[v] - 1];
    };
    for (const CodeInst& inst : code.insts_of(code.blocks[b])) {
      for (const Ref& r : code.refs_of(inst))
        if ((r.flags & kReads) && r.temp < code.num_values) {
          Touch& t = touch(r.temp);
          t.exposed |= bytes_of(r).reads & ~t.killed;
        }
      for (const Ref& r : code.refs_of(inst)) {
        if (!(r.flags & (kWrites | kKillsBytes)) || r.temp >= code.num_values) continue;
        Touch& t = touch(r.temp);
        const ByteMask bytes = bytes_of(r).writes;
        if (r.flags & kWrites) t.written |= bytes;
        if (r.flags & kKillsBytes) t.killed |= bytes;
      }
    }
  }
  return touches;
}

// Where one value after the other is live, and which of its bytes.
class Walks {
 public:
  struct At {
    std::uint32_t block;
    TempId value;
    ByteMask bytes;
  };
  explicit Walks(const Code& code) : code_(code), marks_(code.blocks.size()) {}

  // Requires that each value is walked once, and that some of it is exposed somewhere.
  void walk(TempId v, std::span<const Touch> touches) {
    ++stamp_;
    const std::size_t first_in = in.size(), first_out = out.size();
    for (const Touch& t : touches) mark(t.block).killed = t.killed;
    for (const Touch& t : touches) want_in(t.block, t.exposed);
    while (!work_.empty()) {
      const std::uint32_t b = pop();
      const ByteMask wanted = marks_[b].wanted_in;
      for (const std::uint32_t p : code_.predecessors[b]) {
        if (!code_.blocks[p].is_reachable) continue;
        Mark& m = mark(p);
        const ByteMask more = wanted & ~m.wanted_out;
        if (more == 0) continue;
        if (REGDUEL_PLANTED("briggs-liveness-of-first-successor") && code_.successors[p][0] != b) continue;
        m.wanted_out |= more;
        want_in(p, more & ~m.killed);
      }
    }
    // From the last def before a use, a path leads to the use on which the value is wanted and not killed.
    for (const Touch& t : touches) reach_out(t.block, v, t.written);
    while (!work_.empty()) {
      const std::uint32_t b = pop();
      const ByteMask reached = marks_[b].out;
      for (const std::uint32_t s : code_.successors[b]) {
        Mark& m = mark(s);
        const ByteMask more = reached & m.wanted_in & ~m.in;
        if (more == 0) continue;
        if (m.in == 0) in.push_back({s, v, 0});
        m.in |= more;
        reach_out(s, v, more);
      }
    }
    for (At& at : std::span(in).subspan(first_in)) at.bytes = marks_[at.block].in;
    for (At& at : std::span(out).subspan(first_out)) at.bytes = marks_[at.block].out;
  }

  std::vector<At> in, out;

 private:
  // Of the walk with this number.
  struct Mark {
    std::uint32_t stamp = 0;
    ByteMask killed = 0, wanted_in = 0, wanted_out = 0, in = 0, out = 0;
  };

  Mark& mark(std::uint32_t b) {
    Mark& m = marks_[b];
    if (m.stamp != stamp_) m = {.stamp = stamp_};
    return m;
  }
  std::uint32_t pop() {
    const std::uint32_t b = work_.back();
    work_.pop_back();
    return b;
  }
  void want_in(std::uint32_t b, ByteMask bytes) {
    Mark& m = mark(b);
    if ((bytes & ~m.wanted_in) == 0) return;
    m.wanted_in |= bytes;
    work_.push_back(b);
  }
  // Defs of these bytes reach the end of the block.
  void reach_out(std::uint32_t b, TempId v, ByteMask bytes) {
    Mark& m = mark(b);
    const ByteMask more = bytes & m.wanted_out & ~m.out;
    if (more == 0) return;
    if (m.out == 0) out.push_back({b, v, 0});
    m.out |= more;
    work_.push_back(b);
  }

  const Code& code_;
  std::vector<Mark> marks_;  // by block
  std::vector<std::uint32_t> work_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

Liveness::Liveness(const Code& code)
    : code_(code), live_(code.temps), first_write_(code.temps.size(), kNever), is_live_in_(code.temps.size(), 0) {
  const auto is_part = [&](const Ref& r) { return (r.flags & kPartial) != 0 && r.temp < code.num_values; };
  if (std::ranges::any_of(code.refs, is_part)) has_parts_.resize(code.temps.size(), 0);
  for (const Ref& r : code.refs)
    if (is_part(r)) has_parts_[r.temp] = 1;
  const std::vector<Touch> touches = find_touches(code, has_parts_);
  const auto value = [](const Touch& t) { return t.value; };
  Grouped<Touch> touches_of;
  touches_of.build_from(code.num_values, touches, value, std::identity());
  Walks walks(code);
  for (TempId v = 0; v < code.num_values; ++v)
    if (std::ranges::any_of(touches_of[v], [](const Touch& t) { return t.exposed != 0; })) walks.walk(v, touches_of[v]);
  const auto by_block = [&](Grouped<TempId>& lists, const std::vector<Walks::At>& list) {
    lists.build_from(
        code.blocks.size(), list, [](const Walks::At& at) { return at.block; }, [](const Walks::At& at) { return at.value; });
  };
  by_block(in_, walks.in);
  by_block(out_, walks.out);
  if (has_parts_.empty()) return;
  bytes_.resize(code.temps.size());
  const auto parts_by_block = [&](Grouped<Part>& lists, std::vector<Walks::At>& list) {
    std::erase_if(list, [&](const Walks::At& at) { return has_parts_[at.value] == 0; });
    lists.build_from(
        code.blocks.size(), list, [](const Walks::At& at) { return at.block; },
        [](const Walks::At& at) { return Part{at.value, at.bytes}; });
  };
  parts_by_block(parts_in_, walks.in);
  parts_by_block(parts_out_, walks.out);
}

void Liveness::begin_parts(std::uint32_t block) {
  for (const Part& p : parts_in_[block]) bytes_[p.value].reached = p.bytes;
  reached_.clear();
  parts_here_.clear();
  for (const CodeInst& inst : code_.insts_of(code_.blocks[block])) {
    const std::size_t first = parts_here_.size();
    for (const Ref& r : code_.refs_of(inst)) {
      if (has_parts_[r.temp] == 0) continue;
      reached_.push_back(bytes_[r.temp].reached);
      parts_here_.push_back(&r);
    }
    for (std::size_t k = first; k < parts_here_.size(); ++k)
      bytes_[parts_here_[k]->temp].reached |= code_.bytes_of(*parts_here_[k]).writes;
  }
  for (const Part& p : parts_in_[block]) bytes_[p.value] = {};
  for (const Ref* r : parts_here_) bytes_[r->temp] = {};
  for (const Part& p : parts_out_[block]) bytes_[p.value].live = p.bytes;
}

void Liveness::pass_parts(std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    ByteMask& live = bytes_[parts_here_[k]->temp].live;
    if ((parts_here_[k]->flags & kKillsBytes) != 0) live &= ~code_.bytes_of(*parts_here_[k]).writes;
    // Bytes that no def reaches are not live.
    live &= reached_[k];
  }
  for (std::size_t k = first; k < last; ++k)
    bytes_[parts_here_[k]->temp].live |= code_.bytes_of(*parts_here_[k]).reads & reached_[k];
  for (std::size_t k = first; k < last; ++k) {
    const TempId t = parts_here_[k]->temp;
    if (bytes_[t].live != 0) live_.insert(t);
    else live_.erase(t);
  }
}

void Liveness::end_parts(std::uint32_t block) {
  for (const Part& p : parts_out_[block]) bytes_[p.value] = {};
  for (const Ref* r : parts_here_) bytes_[r->temp] = {};
}

}  // namespace regduel::reference
