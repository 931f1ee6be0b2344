#include "duel/case.h"

#include <algorithm>

#include "base/random.h"
#include "duel/allocators.h"
#include "duel/knobs.h"
#include "generate/generator.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/binary.h"

namespace regduel::duel {
namespace {

constexpr std::uint8_t kMagic[] = {'R', 'D', 'F'};
constexpr int kOneFunction = 1, kWithCallees = 2;  // versions
constexpr std::size_t kMaxCallees = 255;
constexpr std::size_t kMaxKnobs = 255;  // more than are drawn for all duelists with passes before them

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  int byte() {
    if (rest_.empty()) {
      failed_ = true;
      return 0;
    }
    const int b = rest_.front();
    rest_ = rest_.subspan(1);
    return b;
  }
  int word() {
    const int low = byte();
    return low | byte() << 8;
  }
  // As many bytes as there are, at most.
  std::span<const std::uint8_t> bytes(std::size_t count) {
    failed_ = failed_ || count > rest_.size();
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::string text() {
    std::string s;
    for (int n = byte(); n > 0 && !failed_; --n) s += static_cast<char>(byte());
    return s;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

 private:
  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

void put_text(std::vector<std::uint8_t>& out, const std::string& s) {
  const std::size_t n = std::min<std::size_t>(s.size(), 255);
  out.push_back(static_cast<std::uint8_t>(n));
  out.insert(out.end(), s.begin(), s.begin() + static_cast<std::ptrdiff_t>(n));
}

bool is_before_allocation(const ir::Function& f, const ir::Target& target) {
  return f.phase == ir::Phase::Virtual && ir::check(f, target, 1).empty();
}

bool read_input(std::span<const std::uint8_t> bytes, Case& input) {
  Reader in(bytes);
  for (const int expected : kMagic)
    if (in.byte() != expected) return false;
  const int version = in.byte();
  if (version != kOneFunction && version != kWithCallees) return false;
  const auto targets = ir::targets();
  input.target = &targets[static_cast<std::size_t>(in.byte()) % targets.size()];
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t k = ir::index(file);
    const int units = input.target->units[k];
    const int limit = in.word();
    input.limits.units[k] = units == 0 ? 0 : std::clamp(limit, 1, units);
  }
  const auto knobs = std::min(static_cast<std::size_t>(in.byte()), kMaxKnobs);
  for (std::size_t i = 0; i < knobs && !in.failed(); ++i) {
    std::string name = in.text();
    input.knobs.emplace_back(std::move(name), in.text());
  }
  for (int left = version == kWithCallees ? in.byte() : 0; left > 0 && !in.failed(); --left) {
    const int low = in.word();
    auto callee = ir::decode(in.bytes(static_cast<std::size_t>(low) | static_cast<std::size_t>(in.word()) << 16));
    if (!callee || !is_before_allocation(*callee, *input.target) || !may_be_callee(*callee, input)) return false;
    input.callees.push_back(std::move(*callee));
  }
  if (in.failed()) return false;
  auto program = ir::decode(in.rest());
  if (!program || !is_before_allocation(*program, *input.target)) return false;
  input.program = std::move(*program);
  return std::ranges::none_of(input.callees, [&](const ir::Function& f) { return f.name == input.program.name; });
}

void put_word(std::vector<std::uint8_t>& out, std::size_t word) {
  out.push_back(static_cast<std::uint8_t>(word & 0xFF));
  out.push_back(static_cast<std::uint8_t>(word >> 8 & 0xFF));
}

}  // namespace

bool may_be_callee(const ir::Function& f, const Case& c) {
  return f.kind == ir::FunctionKind::Device && c.callees.size() < kMaxCallees &&
         std::ranges::none_of(c.callees, [&](const ir::Function& other) { return other.name == f.name; });
}

std::vector<std::uint8_t> encode_case(const Case& input) {
  std::vector<std::uint8_t> out(std::begin(kMagic), std::end(kMagic));
  out.push_back(static_cast<std::uint8_t>(input.callees.empty() ? kOneFunction : kWithCallees));
  const auto targets = ir::targets();
  const auto at = std::find_if(targets.begin(), targets.end(), [&](const ir::Target& t) { return t.name == input.target->name; });
  out.push_back(static_cast<std::uint8_t>(at - targets.begin()));
  for (const int limit : input.limits.units) put_word(out, static_cast<std::size_t>(limit));
  const std::size_t knobs = std::min(input.knobs.size(), kMaxKnobs);
  out.push_back(static_cast<std::uint8_t>(knobs));
  for (std::size_t i = 0; i < knobs; ++i) {
    put_text(out, input.knobs[i].first);
    put_text(out, input.knobs[i].second);
  }
  if (!input.callees.empty()) out.push_back(static_cast<std::uint8_t>(input.callees.size()));
  for (const ir::Function& callee : input.callees) {
    const std::vector<std::uint8_t> bytes = ir::encode(callee);
    put_word(out, bytes.size() & 0xFFFF);
    put_word(out, bytes.size() >> 16);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  const std::vector<std::uint8_t> program = ir::encode(input.program);
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

Case derive_case(std::uint64_t seed, int size) {
  Random random(hash_combine(seed, 0xF0));
  const auto targets = ir::targets();
  Case input;
  input.target = &targets[random.below(static_cast<std::uint32_t>(targets.size()))];
  const generate::Profile profile = generate::profiles()[random.below(generate::kNumProfiles)];
  const int drawn = random.chance(80) ? random.between(1, 80) : random.between(80, 300);
  const std::uint64_t program_seed = random.next();
  input.program = generate::generate(
      {.profile = profile, .seed = program_seed, .size = size > 0 ? size : drawn, .target = input.target->name}, *input.target);
  input.limits = generate::draw_limits(input.program, *input.target, program_seed);
  // What stands behind a knob that is off is found sooner if some inputs, an eighth, begin with it on.
  if (random.chance(25)) input.knobs = draw_knobs(knob_owners(), program_seed);
  return input;
}

Case standard_case(std::uint64_t seed, std::uint64_t index, std::span<const ir::Allocator* const> duelists) {
  generate::StandardCase s = generate::standard_mix(seed, index);
  return {ir::find_target(s.target), s.limits, draw_knobs(duelists, s.knob_seed), std::move(s.program)};
}

Case decode_case(std::span<const std::uint8_t> bytes) {
  Case input;
  if (read_input(bytes, input)) return input;
  std::uint64_t seed = bytes.size();
  for (const std::uint8_t b : bytes) seed = hash_combine(seed, b);
  return derive_case(seed);
}

}  // namespace regduel::duel
