// See knobs.h.

#include "allocator/knobs.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace regduel::allocator {
namespace {

constexpr const char* kPreAllocation = "source 000 \"Pre-Allocation Pass\"";
constexpr const char* kBudgetModel = "source 000 \"Occupancy-Aware Budget Model\"";
constexpr const char* kRelaxation = "source 000 \"Step 5\"";

// The types that save something on the standard mix (docs/measurements/ablation.md).
constexpr std::int64_t kDefaultTypes = 0xFE10;

enum class KnobType : std::uint8_t { Bool, Int, Dbl };

constexpr std::uint8_t kFatPoint = 1, kClassic = 2, kBoth = 3;  // Owner
constexpr std::int64_t kSame = std::numeric_limits<std::int64_t>::min();

struct Row {
  Knob knob;
  const char* name;
  int id;  // -1 = none: known by name only, or ours
  KnobType type;
  std::int64_t default_value, low, high;  // range: both included; Dbl: millionths
  const char *source, *help;
  std::uint8_t owners = kBoth;
  std::int64_t classic = kSame;  // the default of `classic`

  [[nodiscard]] constexpr bool is_of(Owner owner) const { return (owners & static_cast<std::uint8_t>(owner)) != 0; }
  [[nodiscard]] constexpr std::int64_t default_of(Owner owner) const {
    return owner == Owner::Classic && classic != kSame ? classic : default_value;
  }
};

constexpr Row kTable[kNumKnobs] = {
    {Knob::UniformPreAllocation, "RegAllocUniformPreAllocation", 618, KnobType::Bool, 0, 0, 1, kPreAllocation,
     "place operands of the uniform file before the scan (name ours)", kClassic, 1},
    {Knob::InstructionWalk, "RegAllocInstructionWalk", 622, KnobType::Bool, 0, 0, 1, "source 001 \"Spill Guidance Structure\"",
     "where the rounds of spilling come to no end, the alternate allocator walks the instructions (name ours)", kClassic, 1},
    {Knob::EstimatedLoopIterations, "RegAllocEstimatedLoopIterations", 623, KnobType::Int, 10, 1, 1000, "source 000 \"Post-Init\"",
     "iterations a loop level is taken to run: the base of block frequencies"},
    {Knob::PreAllocation, "RegAllocPreAllocation", 628, KnobType::Bool, 0, 0, 1, kPreAllocation,
     "place operands of high priority before the scan (name ours)", kClassic, 1},
    {Knob::CoalescingPreAllocation, "RegAllocCoalescingPreAllocation", 629, KnobType::Bool, 0, 0, 1, kPreAllocation,
     "pre-allocation places alias chains as one, and follows copies and hints (name ours)", kClassic, 1},
    {Knob::FastAllocation, "RegAllocFastAllocation", 638, KnobType::Bool, 0, 0, 1, "source 000 \"Fast Register Allocation\"",
     "one attempt without spilling (or as many as knob 639 says) instead of the retry table, and where registers spill, no lower "
     "limit besides (name ours)"},
    {Knob::NoSpillAttempts, "RegAllocNoSpillAttempts", 639, KnobType::Int, 1, 0, 8, "source 000 \"Retry Loop\"",
     "attempts without spilling where knob 638 is on (name ours)"},
    {Knob::BankAware, "RegAllocBankAware", 641, KnobType::Bool, 0, 0, 1, "source 000 \"Fatpoint Selection\"",
     "registers of one bank for sources of one instruction: weighed, filtered in the scan, and moved apart at the end (name ours)"},
    {Knob::RelaxationStep, "RegAllocRelaxationStep", 642, KnobType::Int, 2, 0, 1000, kRelaxation,
     "soft constraints of a vreg, the first of its list, that an attempt leaves out for each attempt before it "
     "(name ours)",
     kClassic},
    {Knob::RelaxationCeiling, "RegAllocRelaxationCeiling", 643, KnobType::Int, 4, 0, 1000, kRelaxation,
     "soft constraints at the end of the list that it leaves out besides (name ours). Inert unless knob 641 is on", kClassic},
    {Knob::PreAllocationPriority, "RegAllocPreAllocationPriority", 646, KnobType::Int, 3, 1, 3, kPreAllocation,
     "operands that pre-allocation places: 1 those that are read, 2 those that are written, 3 both (name ours)", kClassic},
    {Knob::SpillBitHighRegCountHeur, "RegAllocSpillBitHighRegCountHeur", 660, KnobType::Int, 160, 0, 1024, kBudgetModel,
     "register count up to which the second tier of the spill threshold reaches"},
    {Knob::SpillBitHighRegScale, "RegAllocSpillBitHighRegScale", 661, KnobType::Dbl, kKnobOne, 0, 1000 * kKnobOne, kBudgetModel,
     "spill threshold at high register counts, as a part of the budget: its upper bound, and the end of the slope"},
    {Knob::SpillBitLowRegCountHeur, "RegAllocSpillBitLowRegCountHeur", 663, KnobType::Int, 119, 1, 1024, kBudgetModel,
     "register count up to which the first tier of the spill threshold reaches; set to one at which the target still holds all of "
     "its warps, the slope begins one below it"},
    {Knob::SpillBitLowRegScale, "RegAllocSpillBitLowRegScale", 664, KnobType::Dbl, 200'000, 0, 1000 * kKnobOne, kBudgetModel,
     "spill threshold at low register counts, as a part of the budget: its lower bound in the tiers"},
    {Knob::SpillBitMediumRegScale, "RegAllocSpillBitMediumRegScale", 665, KnobType::Dbl, 300'000, 0, 1000 * kKnobOne, kBudgetModel,
     "spill threshold at medium register counts, as a part of the budget: where the slope begins"},
    {Knob::InterferenceThreshold, "RegAllocInterferenceThreshold", 684, KnobType::Int, 50, 0, 1000000,
     "source 000 \"Register Selection\"",
     "a slot whose interference weight is above this counts as congested (name ours). "
     "The long scan goes by it on the first pass",
     kClassic},
    {Knob::RegisterUsageLevel, "RegisterUsageLevel", -1, KnobType::Int, 0, 0, 10, "source 000 \"Budget Computation\"",
     "--register-usage-level: 0 as many registers as the limit allows ... 10 as few as can be; the real tool's help has it the "
     "other way round"},
    {Knob::FastCompile, "FastCompile", -1, KnobType::Int, 0, 0, 3, "source 000 \"Fast Register Allocation\"",
     "--fast-compile: 0 off; 1 min: knob 638 with two attempts; 2 mid: knob 638; 3 max: knob 638 without any attempt before "
     "spilling"},
    {Knob::DisableSmemReservation, "DisableSmemReservation", -1, KnobType::Bool, 0, 0, 1, "source 001 \"SMEM symbols\"",
     "spill to local memory only, never to shared memory (--disable-smem-reservation)"},
    {Knob::SpillRounds, "FatPointSpillRounds", -1, KnobType::Int, 64, 0, 1000, "ours",
     "rounds of spilling; what comes then: in fatpoint everything is kept in memory and each instruction is packed by itself, in "
     "classic "
     "the alternate allocator goes on",
     kBoth, 3},
    {Knob::Rematerialise, "FatPointRematerialise", -1, KnobType::Bool, 1, 0, 1, "ours",
     "compute values without register sources again instead of spilling them"},
    {Knob::RefillReuse, "FatPointRefillReuse", -1, KnobType::Int, 12, 0, 1000, "ours",
     "instructions over which a refilled value may stay in its register for the next use in the block"},
    {Knob::LargeProgram, "FatPointLargeProgram", -1, KnobType::Int, 4096, 0, 1000000000, "ours",
     "a program of more instructions than this is allocated in few rounds, at the price of some refills: no attempts before spill "
     "code if guidance names a vreg, none for fewer registers, and from the second round on a temporary serves one instruction",
     kFatPoint},
    {Knob::PoolLimit, "FatPointPoolLimit", -1, KnobType::Int, 0x100000, 0, 1000000000,
     "ours; default of source 001 \"Slot allocation\"",
     "bytes of spill slots beyond which guidance names nobody; who must go all the same, eviction finds"},
    {Knob::SplitLiveRanges, "FatPointSplitLiveRanges", -1, KnobType::Bool, 1, 0, 1, "ours",
     "a value that does not fit goes to memory for the stretches over which it is used last, not everywhere", kFatPoint},
    {Knob::PredicatePacks, "FatPointPredicatePacks", -1, KnobType::Bool, 1, 0, 1, "ours",
     "predicates that leave their registers go into bits of a register of file R where it has room for one, not into memory"},
    {Knob::WideAccesses, "FatPointWideAccesses", -1, KnobType::Bool, 1, 0, 1, "ours",
     "neighbouring registers whose spills or refills stand together go to memory by one access of 8 or 16 bytes"},
    {Knob::Chains, "FatPointChains", -1, KnobType::Bool, 1, 0, 1, "ours; source 000 \"Assignment\", case 4",
     "vregs that a copy, a tie or a hint joins, and that can share a register, are placed as one; without it each is placed by "
     "itself, and the secondary array has to bring them together"},
    {Knob::MergeCopies, "FatPointMergeCopies", -1, KnobType::Bool, 1, 0, 1, "ours",
     "vregs that a copy joins, and that live at one time with one value, are one vreg; without it pressure counts them twice",
     kFatPoint, 0},
    {Knob::Occupancy, "FatPointOccupancy", -1, KnobType::Int, 1, 0, 2, "ours; source 000 \"Occupancy-Aware Budget Model\"",
     "fewer registers where an SM then holds more warps and the budget model says that it pays: 0 off; 1 if all that it takes can "
     "be computed again; 2 also by spills",
     kFatPoint, 0},
    {Knob::ConstraintTypes, "FatPointConstraintTypes", -1, KnobType::Int, kDefaultTypes, 0, 0xFFFF,
     "ours; source 000 \"Constraint Types\"",
     "constraints that weigh, a bit a type: 1 << n for type n; 1 << 15 is the secondary array. fatpoint has the types 4 and 9 to "
     "15 alone",
     kBoth, 0xFFFF},
    {Knob::Orders, "FatPointOrders", -1, KnobType::Int, 7, 1, 7, "ours",
     "orders of vregs that attempts take in turn, a bit each: 1 by start, 2 widest first, 4 longest first", kFatPoint},
    {Knob::PackingAttempt, "FatPointPackingAttempt", -1, KnobType::Bool, 1, 0, 1, "ours",
     "an attempt beyond the retry table that drops all wishes and only packs: where none of the table fits, and while more "
     "registers are used than live at once; where registers spill, fewer of them for the same spill code. Homes that move fit "
     "without it, so it decides little there",
     kFatPoint},
    {Knob::Guidance, "FatPointGuidance", -1, KnobType::Bool, 1, 0, 1, "ours; source 001 \"Spill Guidance Engine\"",
     "the cheapest vregs at points over budget are spilled before an attempt; without it, who must go is whom eviction finds"},
    {Knob::Eviction, "FatPointEviction", -1, KnobType::Bool, 1, 0, 1, "ours",
     "a vreg that finds no place in a round of spilling may take that of cheaper ones; without it, it goes itself. Only where no "
     "home "
     "moves: in files that the threads of a warp share, or without FatPointMovingHomes",
     kFatPoint, 0},
    {Knob::MovingHomes, "FatPointMovingHomes", -1, KnobType::Bool, 1, 0, 1, "ours",
     "where registers spill and not every vreg finds one register for its whole live range, vregs move from register to register; "
     "without it, some of them spill; not in files that the threads of a warp share",
     kFatPoint},
    {Knob::LowerLimits, "FatPointLowerLimits", -1, KnobType::Int, 0, 0, 8, "ours",
     "where registers spill, so many lower limits are tried as well, and what moves the fewest weighted bytes stays: less spill "
     "code, and less often more of it with more registers; each takes as long as the first",
     kFatPoint},
};

// Digits, a point, one to six digits: in millionths.
std::optional<std::int64_t> decimal_number(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view whole = text.substr(0, point), rest = text.substr(point + 1);
  if (whole.empty() || whole.size() > 9 || rest.empty() || rest.size() > 6) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : fmt::format("{}{:0<6}", whole, rest)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

// A value as parse() reads it: "3", "0.35".
std::string text_of(KnobType type, std::int64_t value) {
  if (type != KnobType::Dbl) return fmt::format("{}", value);
  std::string text = fmt::format("{}.{:06}", value / kKnobOne, value % kKnobOne);
  text.resize(std::max(text.find_last_not_of('0') + 1, text.find('.') + 2));
  return text;
}

bool read(const Row& row, Knobs& knobs, std::string_view text) {
  if (row.type == KnobType::Bool) {
    bool is_on = false;
    if (!ir::read_knob(text, {}, is_on)) return false;
    knobs.set(row.knob, is_on ? 1 : 0, KnobState::Integer);
    return true;
  }
  const std::int64_t one = row.type == KnobType::Dbl ? kKnobOne : 1;
  if (std::int64_t whole = 0; ir::read_knob(text, {row.low / one, row.high / one}, whole)) {
    knobs.set(row.knob, whole * one, KnobState::Integer);
    return true;
  }
  const std::optional<std::int64_t> number = row.type == KnobType::Dbl ? decimal_number(text) : std::nullopt;
  if (!number || *number < row.low || *number > row.high) return false;
  knobs.set(row.knob, *number, KnobState::Double);
  return true;
}

ir::KnobInfo info(const Row& row, Owner owner) {
  const bool is_bool = row.type == KnobType::Bool;
  const std::int64_t one = row.type == KnobType::Dbl ? kKnobOne : 1;
  ir::KnobInfo told = {.name = row.name,
                       .id = row.id,
                       .type = is_bool                     ? "bool"
                               : row.type == KnobType::Int ? "int"
                                                           : "dbl",
                       .default_value = text_of(row.type, row.default_of(owner)),
                       .source = row.source,
                       .help = row.help,
                       .low = is_bool ? "" : text_of(row.type, row.low),
                       .high = is_bool ? "" : text_of(row.type, row.high)};
  for (const std::int64_t value : {row.low, row.low + one, row.default_of(owner) / 2, row.default_of(owner) * 2, row.high})
    if (const std::string text = text_of(row.type, value);
        value >= row.low && value <= row.high && std::ranges::find(told.samples, text) == told.samples.end())
      told.samples.push_back(text);
  // Each further limit is one more allocation of the same kind, so larger values are not worth trying.
  if (row.knob == Knob::LowerLimits) told.samples = {"0", "1"};
  return told;
}

ir::KnobTable<Knobs> table_of(Owner owner) {
  std::vector<ir::KnobTable<Knobs>::Row> rows;
  for (const Row& row : kTable) {
    if (!row.is_of(owner)) continue;
    ir::KnobInfo told = info(row, owner);
    const std::string words = told.low.empty() ? told.type : fmt::format("{} {} to {}", told.type, told.low, told.high);
    rows.emplace_back(std::move(told), words, [&row](Knobs& to, std::string_view text) { return read(row, to, text); });
  }
  return {owner == Owner::Classic ? "classic" : "fatpoint", std::move(rows), Knobs(owner)};
}

const ir::KnobTable<Knobs>& table(Owner owner) {
  static const ir::KnobTable<Knobs> fatpoint = table_of(Owner::FatPoint), classic = table_of(Owner::Classic);
  return owner == Owner::Classic ? classic : fatpoint;
}

}  // namespace

Knobs::Knobs(Owner owner) {
  for (const Row& row : kTable) values_[static_cast<std::size_t>(row.knob)] = row.default_of(owner);
}

std::expected<Knobs, std::string> Knobs::parse(ir::KnobSettings settings, Owner owner) {
  auto knobs = table(owner).parse(settings);
  if (!knobs) return knobs;
  const auto fast = static_cast<FastCompile>((*knobs)[Knob::FastCompile]);
  if (fast != FastCompile::Off && !knobs->is_set(Knob::FastAllocation)) knobs->set(Knob::FastAllocation, 1, KnobState::Integer);
  if (fast == FastCompile::Min && !knobs->is_set(Knob::NoSpillAttempts)) knobs->set(Knob::NoSpillAttempts, 2, KnobState::Integer);
  return knobs;
}

std::span<const ir::KnobInfo> knob_infos(Owner owner) { return table(owner).infos(); }

}  // namespace regduel::allocator
