// See arbitrary.h.
#include "properties/arbitrary.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <ostream>
#include <utility>

#include "base/random.h"
#include "fuzz/edit/mutator.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/reduce.h"
#include "generate/standard_mix.h"
#include "ir/text/text.h"

namespace regduel::properties {
namespace {

// The parts of a case that stay as they are while it shrinks.
enum class Keeps { Nothing, Target, TargetAndLimits };

// The size of a case, of which a candidate must have less; the first count weighs most: instructions, operands, blocks, vregs,
// another target than the usual one, details, limits, numbers. Each step down is one towards a case that is easier to read, and
// there is no way round in a circle. (To the reducer a limit below the whole file is a detail; here a lower one is always better,
// since what then has to be deleted is less.)
using Rank = std::array<std::size_t, 8>;
Rank rank_of(const duel::Case& input) {
  std::size_t limits = 0;
  for (const ir::RegFile file : ir::kAllFiles) {
    const bool is_used =
        std::any_of(input.program.vregs.begin(), input.program.vregs.end(), [&](const ir::VReg& v) { return v.file() == file; });
    if (is_used) limits += static_cast<std::size_t>(input.limits.of(file));
    else if (input.limits.of(file) != input.target->units[ir::index(file)]) ++limits;
  }
  duel::Case roomy = input;
  roomy.limits = ir::Limits::of(*input.target);
  const fuzz::CaseSize size = fuzz::size_of(roomy);
  return {size[0],
          size[1],
          size[2],
          size[3],
          input.target->name != ir::default_target().name ? 1u : 0u,
          size[4],
          limits,
          input.program.next_inst_id().value};
}

// The shrinks of a case. Made in batches, since each_candidate passes over those that were made before.
class Shrinks {
 public:
  Shrinks(std::shared_ptr<const duel::Case> input, std::size_t first, Keeps keeps)
      : input_(std::move(input)), rank_(rank_of(*input_)), first_(first), next_(first), keeps_(keeps) {}

  rc::Maybe<rc::Shrinkable<duel::Case>> operator()();

 private:
  struct Candidate {
    std::shared_ptr<const duel::Case> input;
    std::size_t step;
  };
  void make_more();

  std::shared_ptr<const duel::Case> input_;
  Rank rank_;
  std::size_t first_, next_;  // the step to begin with, and the one to go on with
  Keeps keeps_;
  bool is_round_ = false, is_at_end_ = false;
  std::size_t batch_ = 4;
  std::deque<Candidate> made_;
};

class Shrinking {
 public:
  Shrinking(std::shared_ptr<const duel::Case> input, std::size_t first, Keeps keeps)
      : input_(std::move(input)), first_(first), keeps_(keeps) {}
  [[nodiscard]] duel::Case value() const { return *input_; }
  [[nodiscard]] rc::Seq<rc::Shrinkable<duel::Case>> shrinks() const { return rc::makeSeq<Shrinks>(input_, first_, keeps_); }

 private:
  std::shared_ptr<const duel::Case> input_;
  std::size_t first_;
  Keeps keeps_;
};

rc::Maybe<rc::Shrinkable<duel::Case>> Shrinks::operator()() {
  while (made_.empty() && !is_at_end_) make_more();
  if (made_.empty()) return rc::Nothing;
  Candidate c = std::move(made_.front());
  made_.pop_front();
  return rc::makeShrinkable<Shrinking>(std::move(c.input), c.step, keeps_);
}

void Shrinks::make_more() {
  constexpr std::size_t kLargestBatch = 128;
  const std::size_t end = is_round_ ? first_ : std::numeric_limits<std::size_t>::max();
  bool is_more = false;
  fuzz::each_candidate(*input_, next_, [&](duel::Case c, std::size_t step) {
    if (step >= end) return false;
    if (made_.size() == batch_) {
      is_more = true;
      next_ = step;
      return false;
    }
    if (keeps_ != Keeps::Nothing && c.target != input_->target) return true;
    if (keeps_ == Keeps::TargetAndLimits) c.limits = input_->limits;
    if (rank_of(c) < rank_) made_.push_back({std::make_shared<const duel::Case>(std::move(c)), step});
    return true;
  });
  batch_ = std::min(batch_ * 2, kLargestBatch);
  if (is_more) return;
  if (is_round_) is_at_end_ = true;
  is_round_ = true;
  next_ = 0;
}

duel::Case draw(const ArbitraryOptions& options, std::uint64_t seed, int size) {
  Random random(seed);
  duel::Case input;
  const auto any = [&](const auto& list) { return list[random.below(static_cast<std::uint32_t>(list.size()))]; };
  input.target =
      options.target != nullptr ? options.target : &ir::targets()[random.below(static_cast<std::uint32_t>(ir::targets().size()))];
  const generate::Profile profile = options.profiles.empty() ? any(generate::profiles()) : any(options.profiles);
  const int largest = std::max(1, options.max_size * std::min(size + 1, rc::kNominalSize) / rc::kNominalSize);
  const std::uint64_t program_seed = random.next();
  input.program = generate::generate(
      {.profile = profile, .seed = program_seed, .size = random.between(1, largest), .target = input.target->name}, *input.target);
  input.limits = generate::draw_limits(input.program, *input.target, random.next());
  input.knobs = duel::draw_knobs(options.knobs_of, random.next());
  for (int left = random.between(0, options.max_mutations); left > 0; --left) {
    duel::Case mutant = input;
    fuzz::mutate(mutant, random.next());
    if (options.target == nullptr || mutant.target == options.target) input = std::move(mutant);
  }
  return input;
}

rc::Shrinkable<duel::Case> shrinkable(duel::Case input, Keeps keeps) {
  return rc::makeShrinkable<Shrinking>(std::make_shared<const duel::Case>(std::move(input)), std::size_t{0}, keeps);
}

}  // namespace

rc::Gen<duel::Case> arbitrary_case(const ArbitraryOptions& options) {
  return rc::Gen<duel::Case>([options](const rc::Random& random, int size) {
    return shrinkable(draw(options, rc::Random(random).next(), size), options.target != nullptr ? Keeps::Target : Keeps::Nothing);
  });
}

rc::Gen<ir::Function> arbitrary_program(const ir::Target& target, const ArbitraryOptions& options) {
  ArbitraryOptions own = options;
  own.target = &target;
  own.knobs_of = {};
  const rc::Gen<duel::Case> inputs([own](const rc::Random& random, int size) {
    duel::Case input = draw(own, rc::Random(random).next(), size);
    input.limits = ir::Limits::of(*own.target);
    input.knobs.clear();
    return shrinkable(std::move(input), Keeps::TargetAndLimits);
  });
  return rc::gen::map(inputs, [](duel::Case&& input) { return std::move(input.program); });
}

rc::Shrinkable<duel::Case> shrinkable(duel::Case input) { return shrinkable(std::move(input), Keeps::Nothing); }

void showValue(const duel::Case& input, std::ostream& out) { out << fuzz::describe(input, duel::Duel{}); }

}  // namespace regduel::properties

namespace regduel::ir {

void showValue(const Function& program, std::ostream& out) { out << print_file(program); }

}  // namespace regduel::ir
