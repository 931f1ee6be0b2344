// See measure.h.
#include "results/measure.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"

namespace regduel::results {
namespace {

using Figure = std::optional<std::int64_t>;

template <ir::RegFile kFile>
Figure registers(const duel::Bout& b) {
  if (kFile == ir::RegFile::R) return b.registers();
  return b.measures.registers[ir::index(kFile)];
}
template <auto kField>
Figure field(const duel::Bout& b) {
  return b.measures.*kField;
}

using oracles::Measures;
constexpr double kRegister = 1, kBytes = 16, kOne = 1;

constexpr std::array kMeasures = {
    Measure{"registers", "units of R, the highest in use + 1", kRegister, true, registers<ir::RegFile::R>},
    Measure{"predicates", "units of P", kRegister, true, registers<ir::RegFile::P>},
    Measure{"uniform_registers", "units of UR", kRegister, true, registers<ir::RegFile::UR>},
    Measure{"uniform_predicates", "units of UP", kRegister, false, registers<ir::RegFile::UP>},
    Measure{"barriers", "units of B", kRegister, false, registers<ir::RegFile::B>},
    Measure{"uniform_barriers", "units of UB", kRegister, false, registers<ir::RegFile::UB>},
    Measure{"accumulators", "units of ACC", kRegister, false, registers<ir::RegFile::Acc>},
    Measure{"weighted_spill_bytes", "bytes of spills and refills, times the weight of their block", kBytes, true,
            field<&Measures::weighted_spill_bytes>},
    Measure{"spill_store_bytes", "bytes that spills move", kBytes, true, field<&Measures::spill_store_bytes>},
    Measure{"spill_load_bytes", "bytes that refills move", kBytes, true, field<&Measures::spill_load_bytes>},
    Measure{"shared_spill_bytes", "of both, to and from shared memory", kBytes, false, field<&Measures::shared_spill_bytes>},
    Measure{"local_frame_bytes", "local memory of a thread", kBytes, true, field<&Measures::local_frame_bytes>},
    Measure{"shared_frame_bytes", "shared memory of a thread", kBytes, false, field<&Measures::shared_frame_bytes>},
    Measure{"weighted_copies", "pairs of copies that are left or inserted, times the weight of their block", kOne, true,
            field<&Measures::weighted_copies>},
    Measure{"inserted_copies", "pairs of inserted copies", kOne, true, field<&Measures::inserted_copies>},
    Measure{"kept_copies", "pairs of original copies that still move something", kOne, true, field<&Measures::kept_copies>},
    Measure{"remats", "instructions that compute a value again", kOne, false, field<&Measures::remats>},
    Measure{"pack_operations", "p2r, r2p, bit_spill, bit_refill", kOne, false, field<&Measures::pack_operations>},
    Measure{"edge_blocks", "blocks on edges", kOne, false, field<&Measures::edge_blocks>},
    Measure{"bank_conflicts", "pairs of sources of one instruction in one bank of R", kOne, true, field<&Measures::bank_conflicts>},
    Measure{"estimated_latency", "cycles of all instructions, times the weight of their block", 0, true,
            field<&Measures::estimated_latency>},
    Measure{"instructions", "instructions after allocation", 0, true, field<&Measures::instructions_after>},
    Measure{"occupancy_percent", "resident warps, of the most that an SM has", kOne, false,
            [](const duel::Bout& b) { return Figure(b.measures.occupancy_percent); }},
    Measure{"max_live", "MaxLive of R: no allocation without spills or remats has fewer registers", kRegister, false,
            [](const duel::Bout& b) { return Figure(b.measures.max_live[ir::index(ir::RegFile::R)]); }},
    Measure{"fewest_refill_bytes", "Belady's bound of spill_load_bytes, of straight-line code", kBytes, false,
            [](const duel::Bout& b) { return b.fewest_refill_bytes; }},
    Measure{"microseconds", "time of the allocation", kOne, false,
            [](const duel::Bout& b) { return Figure(static_cast<std::int64_t>(b.seconds * 1e6)); }},
    Measure{"heap_bytes", "the most memory that the allocation held, of an allocator in this process", kBytes, false,
            [](const duel::Bout& b) { return duel::find_external(b.allocator) == nullptr ? b.heap_bytes : std::nullopt; }},
};

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

bool is_said_without_allocation(const Measure& measure) {
  constexpr std::string_view kSaid[] = {"registers",         "spill_store_bytes", "spill_load_bytes", "local_frame_bytes",
                                        "occupancy_percent", "max_live",          "microseconds"};
  return std::ranges::find(kSaid, measure.name) != std::end(kSaid);
}

const Measure* find_measure(std::string_view name) {
  const auto it = std::find_if(kMeasures.begin(), kMeasures.end(), [&](const Measure& m) { return m.name == name; });
  return it == kMeasures.end() ? nullptr : &*it;
}

std::string columns_of_measures(std::string_view before, std::string_view behind) {
  std::string list;
  for (const Measure& m : kMeasures) list += fmt::format(", {}{}{}", before, m.name, behind);
  return list;
}

}  // namespace regduel::results
