#include "ir/launch.h"

#include <algorithm>

#include <fmt/format.h>

namespace regduel::ir {
namespace {

constexpr std::uint32_t kWarp = 32;
constexpr int kLeast = 24;  // ptxas gives a thread no fewer

std::uint64_t warps_of(std::uint32_t threads) { return (std::uint64_t{threads} + kWarp - 1) / kWarp; }

}  // namespace

int registers_of_blocks(const Target& target, std::uint32_t threads, std::uint32_t blocks) {
  const auto granularity = static_cast<std::uint64_t>(std::max(target.register_granularity, 1));
  const std::uint64_t warps = std::max<std::uint64_t>(warps_of(threads) * blocks, 1);
  const std::uint64_t of_warp = static_cast<std::uint64_t>(target.registers_per_sm) / warps / granularity * granularity;
  return static_cast<int>(std::min<std::uint64_t>(of_warp / kWarp, static_cast<std::uint64_t>(target.max_registers_per_thread)));
}

LaunchLimit launch_limit(const LaunchBounds& b, const Target& target) {
  LaunchLimit limit;
  std::uint32_t blocks = b.blocks;
  if (blocks != 0 && b.threads == 0) {
    limit.notes.push_back(".minnctapersm is ignored where there is neither .maxntid nor .reqntid");
    blocks = 0;
  } else if (blocks != 0 && (blocks > static_cast<std::uint32_t>(target.max_blocks_per_sm) ||
                             std::uint64_t{blocks} * b.threads > static_cast<std::uint64_t>(target.max_warps_per_sm) * kWarp)) {
    limit.notes.push_back(fmt::format(".minnctapersm {} is ignored: an SM holds at most {} blocks and {} threads", blocks,
                                      target.max_blocks_per_sm, target.max_warps_per_sm * static_cast<int>(kWarp)));
    blocks = 0;
  }
  std::uint32_t most = b.registers;
  if (most > static_cast<std::uint32_t>(target.max_registers_per_thread)) {
    limit.notes.push_back(fmt::format(".maxnreg {} is ignored: a thread has at most {}", most, target.max_registers_per_thread));
    most = 0;
  }
  // .maxntid alone gives way to .maxnreg, together with .minnctapersm the lesser one holds.
  if (b.threads != 0 && (blocks != 0 || most == 0)) {
    limit.registers = registers_of_blocks(target, b.threads, std::max(blocks, 1u));
    limit.reason = fmt::format(".maxntid {}", b.threads) + (blocks != 0 ? fmt::format(" .minnctapersm {}", blocks) : "");
  }
  if (most != 0 && (limit.registers == 0 || static_cast<int>(most) < limit.registers)) {
    limit.registers = static_cast<int>(most);
    limit.reason = fmt::format(".maxnreg {}", most);
  }
  if (!limit.reason.empty() && limit.registers < kLeast) {
    limit.notes.push_back(
        fmt::format("{} would leave {} registers: a thread gets {} at least", limit.reason, limit.registers, kLeast));
    limit.registers = kLeast;
  }
  return limit;
}

std::string cost_of_bounds(const LaunchLimit& limit, int max_live, std::int64_t spill_bytes) {
  return fmt::format("{} leaves {} registers, below MaxLive {}, which costs {} bytes of spills", limit.reason, limit.registers,
                     max_live, spill_bytes);
}

std::string why_not_launched(const LaunchBounds& b, const Target& target, int registers) {
  if (b.threads == 0) return "";
  const int most = registers_of_blocks(target, b.threads, 1);
  if (registers <= most) return "";
  return fmt::format("{} threads at {} registers cannot be launched: an SM has {}, so that a thread may have at most {}", b.threads,
                     registers, target.registers_per_sm, most);
}

}  // namespace regduel::ir
