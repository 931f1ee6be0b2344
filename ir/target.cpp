// The targets that are built in. See target.h; target_json.cpp reads others.

#include "ir/target.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace regduel::ir {
namespace {

struct SmRow {
  int sm;
  int max_warps, max_blocks, shared_kib;
  int tensor_align_log2;  // source 003: 8 / 4 / 8 / 8 for 70-75 / 80-89 / 90 / 100 and up
  int device_type;
  int acc_units;  // tensor memory columns: a file of its own from sm_100 on datacentre parts
};
// Occupancy limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr SmRow kRows[] = {
    {70, 64, 32, 96, 3, 4, 0},     {75, 32, 16, 64, 3, 4, 0},   {80, 64, 32, 164, 2, 4, 0},    {86, 48, 16, 100, 2, 4, 0},
    {89, 48, 24, 100, 2, 4, 0},    {90, 64, 32, 228, 3, 5, 0},  {100, 64, 32, 228, 3, 5, 512}, {103, 64, 32, 228, 3, 5, 512},
    {110, 48, 24, 228, 3, 5, 512}, {120, 48, 24, 100, 3, 5, 0}, {121, 48, 24, 100, 3, 5, 0},
};

PReg units(RegFile f, int first, int last) {
  return PReg{f, static_cast<std::uint8_t>(last - first + 1), static_cast<std::uint16_t>(first)};
}

Abi seed_abi(bool has_uniform) {
  Abi abi;
  abi.callee_saved = {units(RegFile::R, 24, 31)};
  abi.clobbered = {units(RegFile::R, 0, 23), units(RegFile::R, 32, 254), units(RegFile::P, 0, 6)};
  if (has_uniform) {
    abi.clobbered.push_back(units(RegFile::UR, 0, 62));
    abi.clobbered.push_back(units(RegFile::UP, 0, 6));
  }
  return abi;
}

// The convention of ptxas, measured by scripts/measure/abi-experiment. A function keeps R2, R16 to R31, from R36 on the upper
// four of each eight, and the upper part of UR; it keeps no predicate. R20:R21 is the return address, which the caller writes.
// From sm_80 on the functions of the runtime keep all registers from R16 on. Two things are not measured: sm_70 is taken to be
// like sm_75, and the units above the last that ptxas gives out (R253, R254, UR62 up to sm_90) are taken to be like their
// neighbours.
Abi cuda_abi(int sm) {
  Abi abi;
  abi.arguments = abi.results = units(RegFile::R, 4, 15);
  abi.fills_gaps = true;
  abi.reserved = {units(RegFile::R, 1, 1)};  // the stack pointer, in a function without a frame, too
  abi.memory_through_r = true;               // SASS stores no predicate and no uniform register
  abi.callee_saved = {units(RegFile::R, 2, 2), units(RegFile::R, 16, 31)};
  abi.clobbered = {units(RegFile::R, 0, 1), units(RegFile::R, 3, 15), units(RegFile::R, 20, 21)};
  abi.runtime_clobbered = abi.clobbered;
  for (int low = 32; low < 255; low += 8) {
    abi.clobbered.push_back(units(RegFile::R, low, low + 3));
    abi.callee_saved.push_back(units(RegFile::R, low + 4, std::min(low + 7, 254)));
  }
  std::vector<PReg> others = {units(RegFile::P, 0, 6)};
  if (sm >= 75) {
    abi.callee_saved.push_back(units(RegFile::UR, 36, 62));
    others.push_back(units(RegFile::UR, 0, 35));
    others.push_back(units(RegFile::UP, 0, 6));
  }
  abi.clobbered.insert(abi.clobbered.end(), others.begin(), others.end());
  abi.runtime_clobbered.insert(abi.runtime_clobbered.end(), others.begin(), others.end());
  if (sm >= 80) abi.runtime_functions = {"vprintf", "malloc", "free", "__assertfail"};
  return abi;
}

Target make_target(const SmRow& row) {
  Target t;
  t.name = fmt::format("sm_{}", row.sm);
  t.sm = row.sm;
  t.units[index(RegFile::R)] = 255;
  t.units[index(RegFile::P)] = 7;
  t.units[index(RegFile::B)] = 16;
  if (row.sm >= 75) {  // the uniform datapath came with Turing
    t.units[index(RegFile::UR)] = 63;
    t.units[index(RegFile::UP)] = 7;
    t.units[index(RegFile::UB)] = 16;
  }
  t.units[index(RegFile::Acc)] = row.acc_units;
  t.abi(AbiName::Seed) = seed_abi(row.sm >= 75);
  t.abi(AbiName::Cuda) = cuda_abi(row.sm);
  t.max_warps_per_sm = row.max_warps;
  t.max_blocks_per_sm = row.max_blocks;
  t.shared_bytes_per_sm = row.shared_kib * 1024;
  t.register_banks = row.sm == 70 ? 2 : 4;
  t.tensor_align_log2 = row.tensor_align_log2;
  t.device_type = row.device_type;
  t.occupancy_x_min = t.registers_of_all_warps();
  t.occupancy_x_max = t.max_registers_per_thread;
  return t;
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> list = [] {
    std::vector<Target> result;
    for (const SmRow& row : kRows) result.push_back(make_target(row));
    return result;
  }();
  return list;
}

}  // namespace

std::span<const Target> targets() { return all_targets(); }

const Target* find_target(std::string_view name) {
  if (name.starts_with("sm_")) name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  int sm = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sm);
  if (error != std::errc() || end != name.data() + name.size()) return nullptr;
  for (const Target& t : all_targets())
    if (t.sm == sm) return &t;
  return nullptr;
}

int Target::registers_of_all_warps() const {
  const int of_warp = registers_per_sm / max_warps_per_sm / register_granularity * register_granularity;
  return std::min(of_warp / 32, max_registers_per_thread);
}

const Target& default_target() { return *find_target("sm_90"); }

Limits Limits::of(const Target& t) {
  Limits l;
  l.units = t.units;
  return l;
}

Limits Limits::of(const Target& t, int registers) {
  Limits l = of(t);
  l.units[index(RegFile::R)] = std::min(registers, t.units[index(RegFile::R)]);
  return l;
}

}  // namespace regduel::ir
