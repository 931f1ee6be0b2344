// See attempts.h.

#include "allocator/phases/attempts.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "allocator/assign/assign.h"
#include "allocator/assign/retry.h"
#include "allocator/program/names.h"
#include "allocator/spill/cost.h"
#include "ir/text/text.h"

namespace regduel::allocator {

FileAttempts::FileAttempts(const Run& run, PlannedProgram& program, ir::RegFile file, const Options& options)
    : run_(run), program_(program), options_(options), allocator_(program.round(), file),
      best_(options.round > 0 ? ResultOrder::Spill : ResultOrder::NoSpill) {
  const Knobs& knobs = run.facts.knobs;
  // Barriers are allocated by a mechanism of their own (source 000 "Per-Class Iteration"): first fit by start, no weights.
  if (ir::is_barrier(file)) options_.most = std::min<std::int64_t>(options_.most, 1);
  if (is_special_mode(knobs)) options_.most = 0;
}

void FileAttempts::try_until_one_fits() {
  while (made_ < options_.most && !fits()) next_of_table(allocator_.limit());
  has_packed_ = options_.most > 1 && run_.facts.knobs[Knob::PackingAttempt] != 0 && !fits();
  if (has_packed_) try_once(AttemptId::packing(), allocator_.limit());
}

bool FileAttempts::may_improve() const {
  return best_.best().register_count > allocator_.max_live() && run_.instruments.may("another-attempt");
}

void FileAttempts::improve() {
  while (made_ < options_.most && may_improve()) next_of_table(may_spill() ? allocator_.limit() : best_.best().register_count);
  if (options_.most > 1 && run_.facts.knobs[Knob::PackingAttempt] != 0) {
    if (may_spill()) pack_into_fewer();
    else if (!has_packed_ && may_improve()) try_once(AttemptId::packing(), best_.best().register_count - 1);
  }
  if (made_ > 1 && run_.instruments.trace != nullptr)
    run_.instruments.line("file {}: {}", ir::name(file()), describe(best_.best()));
  const PlacedBy& by = best_.attempt().placed_by;
  run_.instruments.line("file {}: attempt {} placed {} by first fit, {} by the secondary array, {} by the primary",
                        ir::name(file()), best_.best().attempt, by.first_fit, by.secondary, by.primary);
  if (RunListener* const listener = run_.instruments.of(file())) listener->emitted(options_.round, best_.best().attempt);
}

void FileAttempts::next_of_table(int ceiling) { try_once(AttemptId::of_table(made_++), ceiling); }

// An attempt ends once it needs more than `ceiling` units, unless a trace is to show how many it needs.
void FileAttempts::try_once(AttemptId id, int ceiling) {
  const bool is_traced = !may_spill();
  AttemptOptions options = scan_options(id);
  if (run_.instruments.trace == nullptr || !is_traced) options.ceiling = ceiling;
  Attempt result = observed(allocator_, id, options, [&] { return assign(allocator_, options); });
  if (is_traced)
    run_.instruments.line("-CLASS NOSPILL REGALLOC: attemp {}, used {}, target {}", id.number(), result.used, allocator_.limit());
  best_.record(id.number(), allocator_, std::move(result));
}

// Registers of the programs of the standard mix that spill: 0.997 of those without this. More save a thousandth or two.
constexpr int kMostPacked = 8;

// The spill code stays as it is here, so registers come before copies, as without spilling. A callee-saved register that is not in
// use yet is not used here either, since it would have to be saved.
void FileAttempts::pack_into_fewer() {
  best_.set_order(ResultOrder::NoSpill);
  for (int n = 0; n < kMostPacked && !run_.facts.is_large() && may_improve(); ++n) {
    const int limit = best_.best().register_count - 1;
    const UnitSet above = UnitSet::range(limit, ir::kMaxUnits);
    const FileAllocator fewer = allocator_.without(above | (allocator_.callee_saved() - best_.attempt().units));
    std::vector<int> kept = best_.attempt().home;
    for (const VRegId v : fewer.vregs())
      if (kept[v.index()] + program_.code().f.vreg(v).units() > limit) kept[v.index()] = -1;
    AttemptOptions options = scan_options(AttemptId::evicting());
    options.kept = kept;
    options.listener = nullptr;
    Attempt packed = assign(fewer, options);
    if (!packed.fits) return;
    if (RunListener* const listener = run_.instruments.of(file())) {
      options.listener = listener;
      packed = observed(fewer, AttemptId::packing(), options, [&] { return assign(fewer, options); });
    }
    best_.record(AttemptId::packing().number(), fewer, std::move(packed));
  }
}

// The orders that the knob allows, in turn.
static Order order_of(int attempt, std::int64_t orders) {
  static constexpr Order kOrders[] = {Order::ByStart, Order::WidestFirst, Order::LongestFirst};
  std::size_t k = 0;
  for (int left = attempt % std::popcount(static_cast<std::uint64_t>(orders));; ++k)
    if ((orders >> k & 1) != 0 && left-- == 0) return kOrders[k];
}

AttemptOptions FileAttempts::scan_options(AttemptId id) const {
  const Knobs& knobs = run_.facts.knobs;
  AttemptOptions options{.counts_choices = run_.instruments.trace != nullptr,
                         .bank_aware = knobs[Knob::BankAware] != 0,
                         .listener = run_.instruments.of(file())};
  switch (id.kind()) {
    case AttemptId::Kind::OfTable:
      options.order = order_of(id.number(), knobs[Knob::Orders]);
      options.kind = ir::is_barrier(file()) ? AttemptKind::Barrier : AttemptKind::OfTable;
      break;
    case AttemptId::Kind::Packing:
      options.order = Order::WidestFirst;
      options.kind = AttemptKind::Packing;
      break;
    case AttemptId::Kind::Evicting:
      options.order = Order::BoundFirst;
      options.kind = AttemptKind::Evicting;
      break;
  }
  return options;
}

template <class Try>
Attempt FileAttempts::observed(const FileAllocator& allocator, AttemptId id, const AttemptOptions& options, Try try_it) const {
  RunListener* const listener = run_.instruments.of(file());
  if (listener != nullptr) listener->begin_attempt(allocator, options, options_.round, id.number());
  Attempt result = try_it();
  if (listener != nullptr) listener->end_attempt(result);
  return result;
}

// Attempts that begin with the homes of the one before. Weighted spill bytes of all profiles at 75% of MaxLive, against those
// with none: 0.931 with one, 0.928 with up to three, no less with more.
constexpr int kSettling = 3;

Attempt FileAttempts::evict(const Eviction& eviction) {
  const auto long_lived = [&](const Attempt& a) {
    return std::vector<int>(a.home.begin(), a.home.begin() + static_cast<std::ptrdiff_t>(eviction.num_long_lived));
  };
  AttemptOptions options = scan_options(AttemptId::evicting());
  options.kept = eviction.kept;
  options.absent = eviction.absent;
  Attempt result;
  if (run_.facts.is_large()) options.temporaries = &program_.guidance().temporaries();
  const auto attempt = [&] {
    return observed(allocator_, AttemptId::evicting(), options, [&] { return assign(allocator_, options); });
  };
  const auto may_go_on = [&] { return !run_.facts.is_large() && run_.instruments.may("another-attempt"); };
  const auto rank = [](const Attempt& a) { return std::pair(a.to_pin.size(), a.spill_cost); };
  // In two orders. If most vregs keep an earlier home, only in the order that is better more often.
  const bool goes_on = !eviction.kept.empty();
  if (goes_on) options.order = Order::HeaviestFirst;
  result = attempt();
  if (!goes_on && result.to_spill.size() > 2 && may_go_on()) {
    options.order = Order::HeaviestFirst;
    Attempt other = attempt();
    if (rank(other) < rank(result)) result = std::move(other);
  }
  // An attempt that begins with the homes of the one before: a vreg without a home may take that of vregs that cost less to
  // spill. A listener is shown only attempts that spill less than the one before.
  options.order = Order::BoundFirst;
  std::vector<int> kept;
  for (int n = 0; n < kSettling && !result.to_spill.empty() && may_go_on(); ++n) {
    kept = long_lived(result);
    options.kept = kept;
    AttemptOptions unseen = options;
    unseen.listener = nullptr;
    Attempt settled = assign(allocator_, unseen);
    if (rank(settled) >= rank(result)) break;
    result = run_.instruments.listener == nullptr ? std::move(settled) : attempt();
  }
  eviction.kept = long_lived(result);
  trace_eviction(result);
  result.fits = result.fits && eviction.absent.empty();
  if (result.fits) best_.record(AttemptId::evicting().number(), allocator_, result);
  return result;
}

HomesForWalk FileAttempts::homes_for_walk() {
  AttemptOptions options = scan_options(AttemptId::evicting());
  options.kind = AttemptKind::EvictingClasses;
  options.order = Order::WidestFirst;
  Attempt result = observed(allocator_, AttemptId::evicting(), options, [&] { return assign(allocator_, options); });
  HomesForWalk homes{result.home, result.used};
  if (result.fits) best_.record(AttemptId::evicting().number(), allocator_, std::move(result));
  return homes;
}

void FileAttempts::trace_eviction(const Attempt& result) const {
  const Instruments& instruments = run_.instruments;
  if (instruments.trace == nullptr) return;
  instruments.line("file {}: round {}, used {}, target {}, spills {}, cost {}, pins {}", ir::name(file()), options_.round,
                   result.used, allocator_.limit(), result.to_spill.size(), result.spill_cost, result.to_pin.size());
  for (const VRegId v : result.to_spill) instruments.line("  spills %{}", v.value);
  for (const std::uint32_t inst : result.to_pin)
    instruments.line("  no room at {}", ir::print(run_.facts.f, run_.facts.f.insts[inst]));
}

Homes improved_homes(const PlannedProgram& program, std::span<FileAttempts> files) {
  Homes homes(program.code().f.vregs.size(), -1);
  for (FileAttempts& f : files) {
    f.improve();
    for (const VRegId v : program.vregs(f.file())) homes[v.index()] = f.best().home[v.index()];
  }
  return homes;
}

}  // namespace regduel::allocator
