// See metamorphic.h.
#include "oracles/metamorphic/metamorphic.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check_macro.h"
#include "ir/allocator.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/collector.h"
#include "oracles/completeness.h"
#include "oracles/judges.h"
#include "oracles/metamorphic/variants.h"
#include "oracles/quality/quality.h"

namespace regduel::oracles {
namespace {

constexpr std::string_view kName = "metamorphic";
constexpr std::array<std::string_view, 9> kVariants = {
    "repeat",    "rename-vregs",       "rename-insts", "permute-blocks",   "names",
    "dead-defs", "unreachable-blocks", "unused-vregs", "one-register-more"};

using Made = std::expected<ir::Allocation, ir::AllocFailure>;

// The result of an allocator for one program, and the verdict of the judges.
struct Outcome {
  Verdict verdict = Verdict::Skipped;   // skipped: impossible, as the judge has proved
  std::vector<std::string> signatures;  // sorted, unique
  std::string reason;
  bool is_measured = false;
  Measures measures;

  [[nodiscard]] std::string text() const {
    if (!signatures.empty()) return fmt::format("{} ({})", name(verdict), fmt::join(signatures, ", "));
    return reason.empty() ? std::string(name(verdict)) : fmt::format("{} ({})", name(verdict), reason);
  }
};

// The whole result of an allocator as text: equal texts, equal results.
std::string transcript(const Made& made) {
  if (!made) return fmt::format("failure {}: {}\n", static_cast<int>(made.error().kind), made.error().message);
  const ir::Claims& c = made->claims;
  return fmt::format("claims {} store bytes {} load bytes {}\n{}", fmt::join(c.registers, " "), c.spill_store_bytes,
                     c.spill_load_bytes, ir::print(made->program));
}

// The first line in which two texts differ, of each.
std::pair<std::string, std::string> first_difference(std::string_view a, std::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const auto line = [at](std::string_view s) {
    const std::size_t newline = at == 0 ? std::string_view::npos : s.rfind('\n', at - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view found = s.substr(begin, s.find('\n', begin) - begin);
    while (!found.empty() && found.front() == ' ') found.remove_prefix(1);
    return std::string(found);
  };
  return {line(a), line(b)};
}

class Metamorphic {
 public:
  Metamorphic(const Before& before, const ir::Allocator& allocator, const ir::AllocOptions& options, std::uint64_t seed)
      : before_(before), program_(before.program()), target_(before.target()), allocator_(allocator), options_(options),
        seed_(seed), out_(kName) {
    options_.trace = nullptr;
  }

  MetamorphicResult run() {
    std::string first, again;
    base_ = outcome_of(before_, options_, &first);
    if (is_refused_) return {without_verdict(kName, Verdict::Skipped, base_.reason), {}};
    repeat(first);
    compare(kVariants[1], rename(Rename::VRegs), options_);
    compare(kVariants[2], rename(Rename::Insts), options_);
    compare(kVariants[3], rename(Rename::Blocks), options_);
    compare(kVariants[4], rename(Rename::Names), options_);
    compare(kVariants[5], with_dead_defs(program_, target_, options_.limits, seed_), options_);
    compare(kVariants[6], with_unreachable_blocks(program_, seed_), options_);
    compare(kVariants[7], with_unused_vregs(program_), options_);
    ir::AllocOptions more = options_;
    int& limit = more.limits.units[ir::index(ir::RegFile::R)];
    if (limit < target_.units[ir::index(ir::RegFile::R)]) {
      ++limit;
      compare(kVariants[8], before_, more);
    }
    MetamorphicResult result{out_.finish(), std::move(observations_)};
    if (result.result.verdict == Verdict::Pass && !inconclusive_.empty()) {
      result.result.verdict = Verdict::Inconclusive;
      result.result.reason = inconclusive_;
    }
    return result;
  }

 private:
  [[nodiscard]] ir::Function rename(Rename what) const { return renamed(program_, draw_renaming(what, program_, program_, seed_)); }

  void repeat(const std::string& first) {
    std::string again;
    try {
      again = transcript(allocator_.allocate(program_, target_, options_));
    } catch (const InternalError& e) {
      again = e.what();
    }
    if (first == again) return;
    const auto [a, b] = first_difference(first, again);
    out_.add("nondeterministic", {}, -1,
             fmt::format("the same input gave another result the second time: \"{}\", then \"{}\"", a, b));
  }

  Outcome outcome_of(const Before& before, const ir::AllocOptions& options, std::string* text = nullptr) {
    Outcome o;
    try {
      const Made made = allocator_.allocate(before.program(), target_, options);
      if (text != nullptr) *text = transcript(made);
      if (made) judge_success(o, *made, before, options);
      else judge_failed(o, made.error(), before, options);
    } catch (const InternalError& e) {
      if (text != nullptr) *text = e.what();
      o.verdict = Verdict::Fail;
      o.signatures = {"harness/internal-error"};
    }
    std::sort(o.signatures.begin(), o.signatures.end());
    o.signatures.erase(std::unique(o.signatures.begin(), o.signatures.end()), o.signatures.end());
    return o;
  }

  void judge_failed(Outcome& o, const ir::AllocFailure& failure, const Before& before, const ir::AllocOptions& options) {
    if (failure.kind == ir::AllocFailure::Kind::Unsupported) {
      is_refused_ = &before == &before_;
      o.verdict = Verdict::Inconclusive;
      o.reason = failure.message;
      return;
    }
    if (failure.kind != ir::AllocFailure::Kind::Impossible) {
      is_refused_ = failure.kind == ir::AllocFailure::Kind::BadKnob;
      o.verdict = Verdict::Fail;
      o.signatures = {is_refused_                ? "harness/bad-knob"
                      : failure.category.empty() ? "harness/broken"
                                                 : fmt::format("harness/broken-{}", failure.category)};
      o.reason = failure.message;
      return;
    }
    const JudgeResult r = judge_completeness(before, options.limits);
    o.verdict = r.verdict == Verdict::Pass ? Verdict::Skipped : r.verdict;
    o.reason = r.verdict == Verdict::Pass ? "impossible" : r.reason;
    for (const Finding& f : r.findings) o.signatures.push_back(signature(f, before.program()));
  }

  void judge_success(Outcome& o, const ir::Allocation& made, const Before& before, const ir::AllocOptions& options) {
    if (made.program.phase != ir::Phase::Allocated || !ir::check(made.program, 1).empty()) {
      o.verdict = Verdict::Fail;
      o.signatures = {"harness/ill-formed"};
      return;
    }
    o.measures = measure(before, made.program);
    const Report report =
        judge({before, made.program, options.limits, made.has_claims ? &made.claims : nullptr, true, &o.measures});
    o.verdict = report.verdict();
    for (const JudgeResult& r : report.results) {
      for (const Finding& f : r.findings) o.signatures.push_back(signature(f, made.program));
      if (r.verdict == o.verdict && o.reason.empty()) o.reason = r.reason;
    }
    o.is_measured = true;
  }

  void compare(std::string_view variant, const ir::Function& program, const ir::AllocOptions& options) {
    compare(variant, Before(program, target_), options);
  }
  void compare(std::string_view variant, const Before& before, const ir::AllocOptions& options) {
    const bool more_registers = variant == kVariants.back();
    const Outcome o = outcome_of(before, options);
    if (o.verdict == Verdict::Inconclusive || base_.verdict == Verdict::Inconclusive) {
      if (inconclusive_.empty())
        inconclusive_ = fmt::format("{}: {}", o.verdict == Verdict::Inconclusive ? variant : "the program",
                                    o.verdict == Verdict::Inconclusive ? o.reason : base_.reason);
    } else if (o.verdict != base_.verdict && !(more_registers && base_.verdict == Verdict::Skipped && o.verdict == Verdict::Pass)) {
      out_.add(fmt::format("verdict-changed-{}", variant), {}, -1,
               fmt::format("the judges say {}, and with {} they say {}", base_.text(), variant, o.text()));
    }
    if (!o.is_measured || !base_.is_measured) return;
    const std::size_t r = ir::index(ir::RegFile::R);
    observe(variant, "registers", base_.measures.registers[r], o.measures.registers[r], more_registers);
    observe(variant, "spill_store_bytes", base_.measures.spill_store_bytes, o.measures.spill_store_bytes, more_registers);
    observe(variant, "spill_load_bytes", base_.measures.spill_load_bytes, o.measures.spill_load_bytes, more_registers);
    observe(variant, "weighted_spill_bytes", base_.measures.weighted_spill_bytes, o.measures.weighted_spill_bytes, more_registers);
  }

  // An allocator may use the additional register, and spill less.
  void observe(std::string_view variant, std::string_view what, std::optional<std::int64_t> before,
               std::optional<std::int64_t> after, bool more_registers) {
    if (!before || !after) return;  // beyond what can be compared
    if (*before == *after || (more_registers && (what == "registers" || *after < *before))) return;
    observations_.push_back({std::string(variant), std::string(what), *before, *after});
  }

  const Before& before_;
  const ir::Function& program_;
  const ir::Target& target_;
  const ir::Allocator& allocator_;
  ir::AllocOptions options_;
  std::uint64_t seed_;
  Outcome base_;
  bool is_refused_ = false;
  std::string inconclusive_;
  Collector out_;
  std::vector<Observation> observations_;
};

}  // namespace

std::span<const std::string_view> metamorphic_variants() { return kVariants; }

MetamorphicResult judge_metamorphic(const Before& before, const ir::Allocator& allocator, const ir::AllocOptions& options,
                                    std::uint64_t seed) {
  return Metamorphic(before, allocator, options, seed).run();
}

}  // namespace regduel::oracles
