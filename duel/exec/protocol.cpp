// See protocol.h.
#include "duel/exec/protocol.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "duel/knobs.h"
#include "ir/memory_through_r.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

constexpr std::size_t kLongestWord = 24, kMostDigits = 18;
constexpr std::size_t kLongestName = 64;  // of a name, a version, a knob, a decision

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Takes the first line off.
std::string_view next_line(std::string_view& text) {
  const std::size_t n = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, n);
  text.remove_prefix(std::min(n + 1, text.size()));
  return line;
}

// Takes the first word off; "" where there is none.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t n = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, n);
  line.remove_prefix(n);
  return word;
}

bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= kLongestName &&
         std::all_of(s.begin(), s.end(), [](char c) { return c > ' ' && c < '\x7F' && c != '='; });
}

std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

std::vector<std::string> samples_in(std::string_view word) {
  std::vector<std::string> samples;
  if (word == "-") return samples;
  while (!word.empty()) {
    const std::size_t n = std::min(word.find(','), word.size());
    samples.emplace_back(word.substr(0, n));
    word.remove_prefix(std::min(n + 1, word.size()));
  }
  return samples;
}

std::optional<ir::KnobInfo> parse_knob(std::string_view line) {
  ir::KnobInfo k;
  k.name = next_word(line);
  k.type = next_word(line);
  k.default_value = next_word(line);
  k.samples = samples_in(next_word(line));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  k.help = one_line(line, 1000);
  const bool is_fine = is_name(k.name) && is_name(k.type) && is_name(k.default_value) && !k.help.empty() &&
                       std::all_of(k.samples.begin(), k.samples.end(), is_name);
  return is_fine ? std::optional(std::move(k)) : std::nullopt;
}

// " R0:R23 P0:P6": the units of each file for which `is_listed` holds, as stretches.
template <class F>
std::string stretches(const ir::Target& target, const F& is_listed) {
  std::string out;
  for (const ir::RegFile file : ir::kAllFiles)
    for (int unit = 0, units = target.units[ir::index(file)]; unit < units; ++unit) {
      if (!is_listed(file, unit)) continue;
      const int first = unit;
      while (unit + 1 < units && is_listed(file, unit + 1)) ++unit;
      out +=
          first == unit ? fmt::format(" {}{}", ir::name(file), unit) : fmt::format(" {0}{1}:{0}{2}", ir::name(file), first, unit);
    }
  return out;
}

}  // namespace

std::string frame_text(std::string_view word, std::uint64_t number, std::string_view payload) {
  return fmt::format("{} {} {}\n{}", word, number, payload.size(), payload);
}

FrameState look_at_frame(std::string_view bytes, Frame& frame) {
  std::size_t at = 0;
  // One or more characters of a kind, and the one that follows; false = what is there is no such thing, or not all is there.
  const auto take = [&](auto is_kind, std::size_t most, char end) {
    const std::size_t first = at;
    while (at < bytes.size() && at - first <= most && is_kind(bytes[at])) ++at;
    if (at == first || at - first > most || at == bytes.size() || bytes[at] != end) return false;
    ++at;
    return true;
  };
  const auto number = [&](std::size_t first) {
    std::uint64_t value = 0;
    std::from_chars(bytes.data() + first, bytes.data() + bytes.size(), value);
    return value;
  };
  const auto stopped = [&] {
    return at == bytes.size() && at < kLongestWord + 2 * kMostDigits ? FrameState::Begun : FrameState::Garbage;
  };
  if (!take(is_letter, kLongestWord, ' ')) return stopped();
  const std::size_t second = at;
  if (!take(is_digit, kMostDigits, ' ')) return stopped();
  const std::size_t third = at;
  if (!take(is_digit, kMostDigits, '\n')) return stopped();
  const std::uint64_t length = number(third);
  if (length > kLargestFrame) return FrameState::TooLarge;
  if (bytes.size() - at < length) return FrameState::Begun;
  frame = {bytes.substr(0, second - 1), number(second), bytes.substr(at, length), at + length};
  return FrameState::Complete;
}

std::expected<Hello, std::string> parse_hello(std::string_view payload) {
  Hello hello;
  while (!payload.empty()) {
    const std::string_view line = next_line(payload);
    if (line.empty()) continue;
    bool is_fine = false;
    if (const auto name = after(line, "name:")) {
      is_fine = is_name(*name);
      hello.name = *name;
    } else if (const auto version = after(line, "version:")) {
      is_fine = is_name(*version);
      hello.version = *version;
    } else if (const auto fuel = after(line, "fuel:")) {
      is_fine = *fuel == "yes" || *fuel == "no";
      hello.has_fuel = *fuel == "yes";
    } else if (const auto text = after(line, "knob:")) {
      if (auto knob = parse_knob(*text)) {
        is_fine = true;
        hello.knobs.push_back(std::move(*knob));
      }
    }
    if (!is_fine)
      return std::unexpected(fmt::format(
          "\"{}\" in its hello: expected name: WORD, version: WORD, fuel: yes, or knob: NAME TYPE DEFAULT SAMPLES WHAT IT DOES",
          one_line(line, 200)));
  }
  if (hello.name.empty()) return std::unexpected("no name: in its hello");
  return hello;
}

std::string request_text(const ir::Function& program, const ir::Target& target, const ir::AllocOptions& options) {
  std::string out = case_head(target, options.limits, options.knobs);
  if (options.fuel != nullptr)
    out += fmt::format("// fuel: {}\n", std::max<std::int64_t>(0, options.fuel->limit - options.fuel->spent));
  out += fmt::format("// registers:{}\n", stretches(target, [&](ir::RegFile file, int unit) {
                       return ir::is_allocatable(target, program.abi, options.limits, file, unit);
                     }));
  if (ir::reaches_memory_through_r(program, target, options.limits)) out += "// memory-through-r: yes\n";
  const std::vector<ir::PReg>& saved = target.abi(program.abi).callee_saved;
  if (program.kind == ir::FunctionKind::Device)
    out += fmt::format("// callee-saved:{}\n", stretches(target, [&](ir::RegFile file, int unit) {
                         return std::any_of(saved.begin(), saved.end(),
                                            [&](ir::PReg r) { return r.overlaps({file, 1, static_cast<std::uint16_t>(unit)}); });
                       }));
  return out + ir::print_file(program);
}

AnswerHead answer_head(std::string_view text) {
  AnswerHead head;
  while (text.starts_with("//")) {
    std::string_view line = next_line(text).substr(2);
    const std::string_view key = next_word(line), value = next_word(line);
    if (key == "spent:") {
      std::int64_t spent = -1;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), spent);
      head.spent = error == std::errc() && end == value.data() + value.size() ? spent : -1;
    }
    if (key == "refused:") head.refused = is_name(value) ? value : std::string_view("?");
  }
  return head;
}

std::string one_line(std::string_view text, std::size_t most) {
  if (text.size() > most) text.remove_prefix(text.size() - most);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += " | ";
    else if (c >= ' ' && c < '\x7F') out += c;
    else if (c != '\r') out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace regduel::duel
