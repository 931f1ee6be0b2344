#include "reference/program/liveness.h"

#include <algorithm>
#include <functional>

#include "base/planted.h"

namespace regduel::reference {
namespace {

// What a block does with a value. Exposed: read before any kill.
struct Touch {
  TempId value;
  std::uint32_t block;
  bool is_exposed = false, is_written = false, is_killed = false;
};

// One of each value and reachable block that refers to it, by block.
std::vector<Touch> find_touches(const Code& code) {
  std::vector<Touch> touches;
  std::vector<std::uint32_t> last(code.num_values, 0);  // by value: its last touch, plus 1
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
        if ((r.flags & kReads) && r.temp < code.num_values)
          if (Touch& t = touch(r.temp); !t.is_killed) t.is_exposed = true;
      for (const Ref& r : code.refs_of(inst)) {
        if (!(r.flags & kWrites) || r.temp >= code.num_values) continue;
        Touch& t = touch(r.temp);
        t.is_written = true;
        if (r.flags & kKills) t.is_killed = true;
      }
    }
  }
  return touches;
}

// Where one value after the other is live.
class Walks {
 public:
  struct At {
    std::uint32_t block;
    TempId value;
  };
  explicit Walks(const Code& code) : code_(code), marks_(code.blocks.size()) {}

  // Requires that each value is walked once, and that it is exposed somewhere.
  void walk(TempId v, std::span<const Touch> touches) {
    ++stamp_;
    for (const Touch& t : touches)
      if (t.is_killed) marks_[t.block].killed = stamp_;
    for (const Touch& t : touches)
      if (t.is_exposed) want_in(t.block);
    while (!work_.empty()) {
      const std::uint32_t b = pop();
      for (const std::uint32_t p : code_.predecessors[b]) {
        Mark& m = marks_[p];
        if (!code_.blocks[p].is_reachable || m.wanted_out == stamp_) continue;
        if (REGDUEL_PLANTED("briggs-liveness-of-first-successor") && code_.successors[p][0] != b) continue;
        m.wanted_out = stamp_;
        if (m.killed != stamp_) want_in(p);
      }
    }
    // From the last def before a use a way leads to it on which the value is wanted and nothing kills it.
    for (const Touch& t : touches)
      if (t.is_written) reach_out(t.block, v);
    while (!work_.empty()) {
      const std::uint32_t b = pop();
      for (const std::uint32_t s : code_.successors[b]) {
        Mark& m = marks_[s];
        if (m.wanted_in != stamp_ || m.in == stamp_) continue;
        m.in = stamp_;
        in.push_back({s, v});
        reach_out(s, v);
      }
    }
  }

  std::vector<At> in, out;

 private:
  // The number of the last walk that found it so.
  struct Mark {
    std::uint32_t killed = 0, wanted_in = 0, wanted_out = 0, in = 0, out = 0;
  };

  std::uint32_t pop() {
    const std::uint32_t b = work_.back();
    work_.pop_back();
    return b;
  }
  void want_in(std::uint32_t b) {
    if (marks_[b].wanted_in == stamp_) return;
    marks_[b].wanted_in = stamp_;
    work_.push_back(b);
  }
  // A def reaches the end of the block.
  void reach_out(std::uint32_t b, TempId v) {
    Mark& m = marks_[b];
    if (m.wanted_out != stamp_ || m.out == stamp_) return;
    m.out = stamp_;
    out.push_back({b, v});
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
  const std::vector<Touch> touches = find_touches(code);
  const auto value = [](const Touch& t) { return t.value; };
  Grouped<Touch> touches_of;
  touches_of.build_from(code.num_values, touches, value, std::identity());
  Walks walks(code);
  for (TempId v = 0; v < code.num_values; ++v)
    if (std::ranges::any_of(touches_of[v], &Touch::is_exposed)) walks.walk(v, touches_of[v]);
  const auto by_block = [&](Grouped<TempId>& lists, const std::vector<Walks::At>& list) {
    lists.build_from(
        code.blocks.size(), list, [](const Walks::At& at) { return at.block; }, [](const Walks::At& at) { return at.value; });
  };
  by_block(in_, walks.in);
  by_block(out_, walks.out);
}

}  // namespace regduel::reference
