#include "cli/show/explain_text.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regduel::cli {
namespace {

using allocator::Counted;
using allocator::Explanation;
using allocator::Order;
using allocator::SeenAttempt;
using allocator::SeenConstraint;
using allocator::SeenUnit;
using allocator::Spiller;
using allocator::Step;
using allocator::StepKind;
using allocator::UnitReason;

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLabel = 17;  // where the text of a step begins
constexpr std::size_t kMostPieces = 24;

std::string_view order_text(Order o) {
  switch (o) {
    case Order::ByStart: return "by start";
    case Order::WidestFirst: return "widest first";
    case Order::LongestFirst: return "longest first";
    case Order::BoundFirst: return "temporaries first";
    case Order::HeaviestFirst: return "temporaries, dearest";
  }
  return "";
}

std::string_view order_key(Order o) {
  switch (o) {
    case Order::ByStart: return "by_start";
    case Order::WidestFirst: return "widest_first";
    case Order::LongestFirst: return "longest_first";
    case Order::BoundFirst: return "bound_first";
    case Order::HeaviestFirst: return "dearest_first";
  }
  return "";
}

// Pieces one behind the other, broken between two of them where a line would be too long. `first` stands before the first line.
std::string wrapped(const std::string& first, std::size_t indent, const std::vector<std::string>& pieces,
                    std::string_view separator = ", ") {
  std::string out, line = fmt::format("{:<{}}", first, indent);
  bool is_empty = true;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const std::string piece = pieces[k] + std::string(k + 1 < pieces.size() ? separator : "");
    const std::size_t size = piece.find_last_not_of(' ') + 1;
    if (!is_empty && line.size() + size > kColumns) {
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
      line.assign(indent, ' ');
    }
    line += piece;
    is_empty = false;
  }
  return out + line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    list.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return list;
}
std::string paragraph(const std::string& first, std::size_t indent, std::string_view text) {
  return wrapped(first, indent, words(text), " ");
}
// At most so many; how many more there are comes last.
void cut(std::vector<std::string>& pieces, std::size_t most) {
  if (pieces.size() <= most) return;
  const std::size_t more = pieces.size() - most;
  pieces.resize(most);
  pieces.push_back(fmt::format("and {} more", more));
}

// Slots of one file by name.
class Names {
 public:
  Names(ir::RegFile file, const allocator::Geometry& g)
      : file_(file), is_half_(g.pair_mode == allocator::PairMode::Half), units_(g.units), step_(g.step()) {}
  // Where the footprint begins.
  [[nodiscard]] std::string unit(int s) const { return ir::to_string(ir::PReg{file_, 1, static_cast<std::uint16_t>(s)}, is_half_); }
  [[nodiscard]] std::string home(int s) const { return units_ == 1 ? unit(s) : unit(s) + ':' + unit(s + units_ - 1); }
  [[nodiscard]] std::string run(int first, int last) const { return first == last ? unit(first) : unit(first) + '-' + unit(last); }
  // What the footprints cover together; where they would overlap, the units where they begin.
  [[nodiscard]] std::string cover(int first, int last) const { return run(first, units_ <= step_ ? last + units_ - 1 : last); }

 private:
  ir::RegFile file_;
  bool is_half_;
  int units_, step_;
};

std::string home_text(const Explanation& e, int home) {
  if (home < 0) return "-";
  for (const SeenAttempt& a : e.attempts)
    for (const Step& s : a.steps) return Names(e.file, s.geometry).home(home);
  return fmt::format("{}{}", ir::name(e.file), home);
}

// Equal values of neighbouring units put together: "0 (R0-R3), 16 (R4)".
template <class Value>
std::string stretches(const Step& s, const Names& names, Value value) {
  std::vector<std::string> list;
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (std::size_t k = 0; k < s.units.size();) {
    const std::int64_t w = value(s.units[k]);
    std::size_t end = k + 1;
    while (end < s.units.size() && value(s.units[end]) == w) ++end;
    list.push_back(fmt::format("{} ({})", w, names.run(static_cast<int>(k), static_cast<int>(end) - 1)));
    least = std::min(least, w);
    most = std::max(most, w);
    k = end;
  }
  if (list.size() == 1) return fmt::format("{} everywhere", least);
  if (list.size() > kMostPieces) return fmt::format("{} to {}, in {} stretches (--json has each)", least, most, list.size());
  return fmt::format("{}", fmt::join(list, ", "));
}

bool is_free(UnitReason r) { return r >= UnitReason::Chosen; }

std::string reason_text(const SeenUnit& s, const Step& step) {
  switch (s.reason) {
    case UnitReason::OutsideFile: return "not in the file";
    case UnitReason::AboveLimit: return "above the limit";
    case UnitReason::Misaligned: return "misaligned";
    case UnitReason::Reserved: return "reserved";
    case UnitReason::Clobbered: return "clobbered at " + s.at;
    case UnitReason::Restored: return "restored for the caller at " + s.at;
    case UnitReason::Taken: return "taken by " + s.by;
    case UnitReason::KeptFree: return "kept free for temporaries to come";
    case UnitReason::Chosen: return step.kind == StepKind::MakesRoom ? "chosen, though not free" : "chosen";
    case UnitReason::CalleeSavedFirst: return "free, but would have to be saved for the caller";
    case UnitReason::HeavierPrimary: return "free, but heavier";
    case UnitReason::HeavierSecondary: return "free, but farther from what it is copied to or from";
    case UnitReason::HigherUnit: return "free, and as good, but higher";
    case UnitReason::BankConflict: return "free, but in the bank of another source";
    case UnitReason::NotLookedAt: return "free, not looked at";
  }
  return "";
}

std::string range_of(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

// One line for each run of units with the same reason; who takes what within it.
std::string units_text(const Step& s, const Names& names) {
  std::string out;
  const int step = s.geometry.step();
  std::size_t k = 0;
  const auto next = [&](std::size_t from) { return from + static_cast<std::size_t>(step); };
  std::string label = "     slots";
  while (k < s.units.size()) {
    const UnitReason reason = s.units[k].reason;
    std::size_t end = k;
    std::vector<std::string> parts;
    std::int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {INT64_MIN, INT64_MIN};
    while (end < s.units.size() && s.units[end].reason == reason) {
      const std::size_t begin = end;
      const std::string text = reason_text(s.units[begin], s);
      std::size_t last = begin;
      for (; end < s.units.size() && s.units[end].reason == reason && reason_text(s.units[end], s) == text; end = next(end)) {
        const std::int64_t w[2] = {s.units[end].primary, s.units[end].secondary};
        for (int a = 0; a < 2; ++a) {
          low[a] = std::min(low[a], w[a]);
          high[a] = std::max(high[a], w[a]);
        }
        last = end;
      }
      const std::string run = names.cover(static_cast<int>(begin), static_cast<int>(last));
      parts.push_back(parts.empty() && (end >= s.units.size() || s.units[end].reason != reason) ? text
                                                                                                : fmt::format("{}: {}", run, text));
    }
    std::size_t last = k;
    while (next(last) < end) last = next(last);
    if (is_free(reason))
      parts.back() += fmt::format(": primary {}, secondary {}", range_of(low[0], high[0]), range_of(low[1], high[1]));
    const std::string run = names.cover(static_cast<int>(k), static_cast<int>(last));
    std::string head = fmt::format("{:<{}}{:<10} ", label, kLabel, run);
    if (parts.size() > 1)
      for (std::string& p : parts)
        if (p.find(": taken by ") != std::string::npos) p.replace(p.find(": taken by "), 11, " by ");
    if (parts.size() > 1 && reason == UnitReason::Taken) parts[0] = "taken: " + parts[0];
    out += is_free(reason) ? paragraph(head, head.size(), parts[0]) : wrapped(head, head.size(), parts);
    label.clear();
    k = end;
  }
  if (step > 1) out += fmt::format("{:<{}}the others are misaligned\n", "", kLabel);
  return out;
}

std::string constraint_text(const SeenConstraint& c, const Step& s, const Names& names) {
  std::string what = fmt::format("{:>2} {:<15} weight {:>2}{}", static_cast<int>(c.type), allocator::name(c.type), c.weight,
                                 c.type == allocator::ConstraintType::Range ? ""
                                 : c.is_soft                                ? " soft"
                                                                            : " hard");
  if (!c.partner.empty()) what += ", " + c.partner;
  const bool is_custom = c.type == allocator::ConstraintType::Custom4 || c.type == allocator::ConstraintType::Custom9 ||
                         c.type == allocator::ConstraintType::Custom10;
  if (c.target && is_custom) what += fmt::format(", rule {} of the target", *c.target);
  else if (c.target)
    what += fmt::format(", {} {}", c.partner.empty() ? "about" : "at",
                        *c.target < 0 ? fmt::format("{}", *c.target) : names.unit(*c.target));
  if (s.members.size() > 1) what += fmt::format(" (of {})", c.of);
  switch (c.counted) {
    case Counted::Yes: break;
    case Counted::InClass: what += ": placed together"; break;
    case Counted::NoWeights: what += ": does not count, this attempt only packs"; break;
    case Counted::PartnerHasNoHome: what += ": does not count yet, no home"; break;
  }
  return what;
}

std::string headline(const Step& s, const Names& names) {
  const std::string who = s.members.size() > 1 ? fmt::format("chain of {}", s.members.size()) : s.members[0];
  const std::string home = s.unit >= 0 ? names.home(s.unit) : "";
  const auto costs = [&] {
    std::string text;
    if (s.own_cost >= 0) text += fmt::format("; to spill it costs {}", s.own_cost);
    if (s.room_cost >= 0) text += fmt::format("; that others leave costs {}", s.room_cost);
    return text;
  };
  switch (s.kind) {
    case StepKind::Precoloured:
      return fmt::format("{} is precoloured: {}", who, s.unit >= 0 ? "takes " + home : "its register is not free");
    case StepKind::JoinsPrecoloured:
      return fmt::format("{}, one of them precoloured: {}", who, s.unit >= 0 ? "all take " + home : "the others cannot join it");
    case StepKind::KeepsHome:
      return fmt::format(
          "{}: {}", who,
          s.unit >= 0 ? "stays in " + home + ", its home of the attempt before" : "cannot stay in its home of the attempt before");
    case StepKind::Class:
      return fmt::format("{}: {}", who, s.unit >= 0 ? "takes " + home : "no slot for all, so it is taken apart");
    case StepKind::Alone: return fmt::format("{} takes {}", who, home);
    case StepKind::AboveLimit:
      return fmt::format("{}: no slot below the limit{}", who,
                         s.unit >= 0 ? ", " + home + " would do: the attempt cannot fit" : " nor just above it");
    case StepKind::MakesRoom:
      return fmt::format("{}: no slot is free, {} go{} so that it takes {}{}", who, fmt::join(s.leave, ", "),
                         s.leave.size() == 1 ? "es" : "", home, costs());
    case StepKind::Displaced:
      return fmt::format("{} has to leave for {}: {}{}", who, s.by,
                         s.unit >= 0        ? "moves to " + home
                         : s.is_precoloured ? "it is precoloured, so it goes to memory"
                                            : "no other slot is free, it goes to memory",
                         costs());
    case StepKind::ToMemory: return fmt::format("{}: no slot is free, it goes to memory itself{}", who, costs());
    case StepKind::GivesUp: return fmt::format("{}: no slot is free, and nobody can leave{}", who, costs());
    case StepKind::MovesApart: return fmt::format("{} moves to {}, for the sake of banks", who, home);
  }
  return "";
}

std::string step_text(const Explanation& e, const Step& s, std::size_t number) {
  const Names names(e.file, s.geometry);
  std::string out = paragraph(fmt::format("  {}. ", number), 5, headline(s, names));
  const auto item = [&](std::string_view label, std::vector<std::string> pieces) {
    cut(pieces, kMostPieces);
    out += wrapped(fmt::format("     {}", label), kLabel, pieces);
  };
  if (s.members.size() > 1) item("chain", s.members);
  std::string shape = s.geometry.units == 1 ? "1 unit" : fmt::format("{} units", s.geometry.units);
  if (s.geometry.step() > 1) shape += fmt::format(", aligned to {}", s.geometry.align);
  item("shape", {fmt::format("{} (pair mode {})", shape, static_cast<int>(s.geometry.pair_mode))});
  std::vector<std::string> range;
  for (const allocator::SeenInterval& i : s.range)
    range.push_back(fmt::format("{} {} .. {} {}", i.first, i.first_moment, i.last, i.last_moment));
  item("live", range);
  std::vector<std::string> lines;
  for (const SeenConstraint& c : s.constraints) lines.push_back(constraint_text(c, s, names));
  if (lines.empty()) lines.emplace_back("none");
  cut(lines, kMostPieces);
  for (std::size_t k = 0; k < lines.size(); ++k) out += paragraph(k == 0 ? "     constraints" : "", kLabel, lines[k]);
  out += paragraph("     primary", kLabel, stretches(s, names, [](const SeenUnit& o) { return o.primary; }));
  out += paragraph("     secondary", kLabel, stretches(s, names, [](const SeenUnit& o) { return o.secondary; }));
  return out + units_text(s, names);
}

// The attempt from which the shown one kept the home, -1 = it found one itself.
int origin_of(const Explanation& e, int shown) {
  const auto keeps = [&](int k) {
    const std::vector<Step>& steps = e.attempts[static_cast<std::size_t>(k)].steps;
    return !steps.empty() && steps[0].kind == StepKind::KeepsHome && steps[0].unit >= 0;
  };
  if (shown < 0 || !keeps(shown)) return -1;
  for (int k = shown - 1; k >= 0; --k) {
    const SeenAttempt& a = e.attempts[static_cast<std::size_t>(k)];
    if ((a.order == Order::BoundFirst || a.order == Order::HeaviestFirst) &&
        a.home == e.attempts[static_cast<std::size_t>(shown)].home && !keeps(k))
      return k;
  }
  return -1;
}

std::string kind_text(const SeenAttempt& a) {
  std::string text(order_text(a.order));
  if (a.coalesces) text += ", chains";
  if (!a.weights) text += ", packing";
  if (a.run > 0) text += ", whole limit";
  return text;
}
std::string result_text(const SeenAttempt& a) {
  if (a.is_given_up) return "given up early";
  return a.fits        ? fmt::format("fits in {}", a.used)
         : a.may_spill ? "does not fit"
                       : fmt::format("needs {}, limit {}", a.used, a.limit);
}

// Whether it was sent to memory before.
bool is_absent(const Explanation& e, const SeenAttempt& a) {
  return (e.lives && a.is_in_memory) || (e.spill.by != Spiller::None && e.spill.round < a.round);
}

std::string plural(int n, std::string_view one, std::string_view many) { return fmt::format("{} {}", n, n == 1 ? one : many); }

std::string summary(const Explanation& e) {
  const auto& s = e.spill;
  if (!e.lives && !e.is_architectural && e.places.empty()) return "never lives: nothing reads it that a def reaches";
  std::string how;
  switch (s.by) {
    case Spiller::None: break;
    case Spiller::Guidance:
      how = fmt::format("spilled in round {} by guidance: costs {} and frees {} (units x moments over budget)", s.round, s.cost,
                        s.relief);
      if (!s.next.empty()) how += fmt::format(", next would be {} with {} and {}", s.next, s.next_cost, s.next_relief);
      if (s.place > 0) how += fmt::format("; {} went before it", s.place);
      break;
    case Spiller::Eviction: how = fmt::format("spilled in round {} by eviction: costs {}", s.round, s.cost); break;
    case Spiller::Walk:
      how = fmt::format("spilled in round {}: a walk found no register that it could have, costs {}", s.round, s.cost);
      break;
    case Spiller::Fallback: how = "in memory, as everything is in the last fallback"; break;
    case Spiller::Fuel: how = "in memory: there was no fuel to keep it in a register"; break;
    case Spiller::Unread: how = "in no register: what reads it is computed again from its start"; break;
    case Spiller::Split:
      how = fmt::format("split into {} pieces, one of them in memory", e.pieces);
      if (e.home >= 0) how += fmt::format(", the first in {}", home_text(e, e.home));
      break;
  }
  if (how.empty() && !e.moves.empty()) return fmt::format("first in {}, and moves", home_text(e, e.home));
  if (how.empty()) return e.home >= 0 ? "in " + home_text(e, e.home) : "architectural, in place at each operand";
  if (s.is_remat) how += fmt::format("; computed again, {}", plural(s.remats, "remat", "remats"));
  if (s.is_packed) return how + "; in a bit of a register of file R";
  return how + fmt::format("; {}, {}", plural(s.refills, "refill", "refills"), plural(s.stores, "spill store", "spill stores"));
}

// A figure that an attempt may not have: below 0 there is none.
Json number_or_null(std::int64_t n) { return n < 0 ? Json() : Json(n); }
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const allocator::SeenInterval& i) {
  return {{"begin", i.begin}, {"end", i.end},
          {"first", i.first}, {"first_moment", std::string(1, i.first_moment)},
          {"last", i.last},   {"last_moment", std::string(1, i.last_moment)}};
}

Json json_of(const allocator::SeenMove& m) { return {{"where", m.where}, {"from", m.from}, {"to", m.to}}; }

Json json_of(const SeenConstraint& c) {
  return {{"type", static_cast<int>(c.type)},
          {"name", allocator::name(c.type)},
          {"of", c.of},
          {"partner", text_or_null(c.partner)},
          {"weight", c.weight},
          {"soft", c.is_soft},
          {"counted", allocator::name(c.counted)},
          {"target", c.target}};
}

Json json_of(const Step& s);
Json json_of(const SeenAttempt& a);

template <class Seen>
Json list_of(const std::vector<Seen>& seen) {
  Json list = Json::array();
  for (const Seen& s : seen) list.push_back(json_of(s));
  return list;
}

Json json_of(const Step& s) {
  Json primary = Json::array(), secondary = Json::array(), slots = Json::array();
  for (std::size_t k = 0; k < s.units.size(); ++k) {
    const SeenUnit& o = s.units[k];
    primary.push_back(o.primary);
    secondary.push_back(o.secondary);
    Json slot = {{"slot", k}, {"reason", allocator::name(o.reason)}};
    if (!o.by.empty()) slot["by"] = o.by;
    if (!o.at.empty()) slot["at"] = o.at;
    slots.push_back(std::move(slot));
  }
  return {{"kind", allocator::name(s.kind)},
          {"members", s.members},
          {"geometry",
           {{"units", s.geometry.units}, {"align", s.geometry.align}, {"pair_mode", static_cast<int>(s.geometry.pair_mode)}}},
          {"range", list_of(s.range)},
          {"constraints", list_of(s.constraints)},
          {"primary_sum", s.primary_weight},
          {"primary", primary},
          {"secondary", secondary},
          {"slots", slots},
          {"precoloured", s.is_precoloured},
          {"choice", number_or_null(s.unit)},
          {"leave", s.leave},
          {"leaves_for", text_or_null(s.by)},
          {"own_cost", number_or_null(s.own_cost)},
          {"room_cost", number_or_null(s.room_cost)}};
}

Json json_of(const SeenAttempt& a) {
  return {{"run", a.run},
          {"round", a.round},
          {"number", a.number},
          {"order", order_key(a.order)},
          {"may_spill", a.may_spill},
          {"chains", a.coalesces},
          {"weights", a.weights},
          {"limit", a.limit},
          {"home", number_or_null(a.home)},
          {"spilled", a.is_spilled},
          {"fits", a.fits},
          {"given_up_early", a.is_given_up},
          {"used", a.is_given_up ? Json() : Json(a.used)},
          {"emitted", a.is_emitted},
          {"steps", list_of(a.steps)}};
}

Json spill_json(const Explanation& e) {
  const allocator::SeenSpill& s = e.spill;
  if (s.by == Spiller::None) return nullptr;
  return {{"by", allocator::name(s.by)},    {"pieces", e.pieces},       {"round", s.round},
          {"cost", number_or_null(s.cost)}, {"relief", s.relief},       {"place", number_or_null(s.place)},
          {"next", text_or_null(s.next)},   {"next_cost", s.next_cost}, {"next_relief", s.next_relief},
          {"rematerialised", s.is_remat},   {"packed", s.is_packed},    {"refills", s.refills},
          {"spill_stores", s.stores},       {"remats", s.remats}};
}

}  // namespace

std::string explain_text(const Explanation& e, const ExplainText& options) {
  const auto bold = [&](const std::string& text) { return options.colours ? "\x1b[1m" + text + "\x1b[0m" : text; };
  std::string out;
  if (e.asked != e.root) out += paragraph("", 0, fmt::format("%{} is an alias: its storage is %{}'s", e.asked.value, e.root.value));
  if (e.one_with.is_valid())
    out += paragraph(
        "", 0,
        fmt::format("%{} is one with %{}, which a copy joins to it: one value wherever both live", e.root.value, e.one_with.value));
  out += bold(paragraph("", 2, fmt::format("{}: {}", e.root_text, summary(e))).substr(2));
  std::vector<std::string> elsewhere;
  const std::string home = home_text(e, e.home);
  for (const allocator::Place& p : e.places)
    if (p.where != home) elsewhere.push_back(fmt::format("#{} in {}", p.inst, p.where));
  if (!elsewhere.empty()) {
    cut(elsewhere, kMostPieces);
    out += wrapped("  operands: ", 12, elsewhere);
  }
  if (!e.moves.empty()) {
    std::vector<std::string> moves;
    for (const allocator::SeenMove& m : e.moves) moves.push_back(fmt::format("{} to {}", m.where, home_text(e, m.to)));
    cut(moves, kMostPieces);
    out += wrapped("  moves: ", 9, moves);
  }
  if (!e.pinned.empty()) {
    std::vector<std::string> at;
    for (const std::uint32_t id : e.pinned) at.push_back(fmt::format("#{}", id));
    cut(at, kMostPieces);
    out += wrapped("  pinned at: ", 13, at);
  }
  if (!e.attempts.empty()) out += bold("attempts") + "\n";
  for (const SeenAttempt& a : e.attempts) {
    std::string home_then = a.is_spilled ? "to memory" : a.home >= 0 ? home_text(e, a.home) : is_absent(e, a) ? "in memory" : "-";
    std::string line = fmt::format("{} round {:<2} attempt {:<2}  {:<38} {:<14} {}", a.is_emitted ? '*' : ' ', a.round, a.number,
                                   kind_text(a), home_then, result_text(a));
    out += "  " + line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  const int origin = origin_of(e, e.shown);
  for (std::size_t k = 0; k < e.attempts.size(); ++k) {
    const SeenAttempt& a = e.attempts[k];
    const bool is_shown = static_cast<int>(k) == e.shown, is_origin = static_cast<int>(k) == origin;
    if (a.steps.empty() || !(options.all || is_shown || is_origin)) continue;
    const std::string_view why = a.is_emitted ? ", which is emitted"
                                 : is_shown   ? ", in which it lost its place"
                                 : is_origin  ? ", from which it keeps its home"
                                              : "";
    out += bold(fmt::format("round {}, attempt {}{}", a.round, a.number, why)) + "\n";
    for (std::size_t s = 0; s < a.steps.size(); ++s) out += step_text(e, a.steps[s], s + 1);
  }
  return out;
}

Json explain_json(const Explanation& e) {
  Json places = Json::array();
  for (const allocator::Place& p : e.places) places.push_back({{"instruction", p.inst}, {"register", p.where}});
  return {{"asked", e.asked.value},
          {"vreg", e.root.value},
          {"declaration", e.root_text},
          {"one_with", e.one_with.is_valid() ? Json(e.one_with.value) : Json()},
          {"register_file", ir::name(e.file)},
          {"lives", e.lives},
          {"architectural", e.is_architectural},
          {"home", number_or_null(e.home)},
          {"spill", spill_json(e)},
          {"moves", list_of(e.moves)},
          {"pinned_at", e.pinned},
          {"operands", places},
          {"shown", number_or_null(e.shown)},
          {"attempts", list_of(e.attempts)}};
}

}  // namespace regduel::cli
