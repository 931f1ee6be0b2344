// Helpers of the allocator's tests: programs from text, and a small machine that runs a program before and after allocation
// along the same paths and compares the values that each original instruction reads. The machine is no judge (judges are in oracles/,
// which tests here may not include): it ends after a number of steps and handles only the features that these tests need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/fatpoint.h"
#include "allocator/program/names.h"
#include "base/random.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::allocator::testing {

// A line "vreg %1..%3 R b32" becomes one for each of the three.
inline std::string with_each_vreg(std::string_view body) {
  std::string text;
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);) {
    int first = 0, last = 0, rest = 0;
    if (std::sscanf(line.c_str(), " vreg %%%d..%%%d%n", &first, &last, &rest) != 2) {
      text += line + "\n";
      continue;
    }
    for (int v = first; v <= last; ++v) text += "vreg %" + std::to_string(v) + line.substr(static_cast<std::size_t>(rest)) + "\n";
  }
  return text;
}

// The body of a function (vregs and blocks) as a kernel or device function for sm_90.
inline ir::Function program(std::string_view body, std::string_view kind = "kernel") {
  const std::string text = "rir 1\nfunc @t " + std::string(kind) + " target sm_90 threads 32\n" + with_each_vreg(body);
  auto module = ir::parse(text);
  if (!module) ADD_FAILURE() << to_string(module.error());
  return module ? std::move(module->functions[0]) : ir::Function();
}

inline ir::Limits limits(int registers, int predicates = 7) {
  ir::Limits l = ir::Limits::of(ir::default_target(), registers);
  l.units[ir::index(ir::RegFile::P)] = predicates;
  return l;
}

// Bytes of registers, slots or vregs; 0 = undefined. An undefined operand makes undefined results. A byte of a pack is its bits.
class Machine {
 public:
  //   before   of an allocated program: what it was made from, which says how wide its narrow operands are
  explicit Machine(const ir::Function& f, const ir::Function* before = nullptr) : f_(f) {
    if (before == nullptr) return;
    for (const ir::Inst& i : before->insts)
      for (const ir::Operand& op : before->operands_of(i))
        widths_[i.id.value].push_back(op.is_vreg() ? before->operand_bytes(op) : 0);
  }

  // The values that the original instructions read, in order: id and a hash of each use (0 = undefined).
  using Trace = std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>>;
  Trace run(std::uint64_t seed, int steps) {
    Trace trace;
    ir::BlockId b(0), from;
    std::map<std::uint32_t, int> visits;
    while (steps > 0) {
      const ir::BlockId home = f_.block(b).is_edge_block() ? f_.block(b).edge_from : b;
      const auto insts = f_.insts_of(b);
      std::vector<std::pair<const ir::Operand*, std::vector<Byte>>> phis;
      for (const ir::Inst& i : insts) {
        if (!i.is_phi() || i.is_deleted()) continue;
        const auto targets = f_.targets_of(i);
        for (std::size_t k = 0; k < targets.size(); ++k)
          if (targets[k] == from) phis.push_back({&f_.operands_of(i)[0], read(f_.operands_of(i)[k + 1])});
      }
      for (const auto& [def, bytes] : phis) write(*def, bytes);
      for (const ir::Inst& i : insts) {
        if (i.is_phi() || i.is_deleted()) continue;
        if (!i.is_inserted()) --steps;
        step(i, trace);
      }
      if (f_.successors(b).empty()) break;
      std::size_t way = 0;
      if (!f_.block(b).is_edge_block()) {
        way = hash_combine(seed, home.value * 1000003u + static_cast<std::uint32_t>(visits[b.value]++)) % f_.successors(b).size();
        from = b;
      }
      b = f_.successors(b)[way];
    }
    return trace;
  }

 private:
  struct Byte {
    std::uint64_t value = 0;
    std::array<std::uint64_t, 8> bits = {};
  };
  // Cells: (space, index) of one byte. Spaces: 0 and up for register files, 100 for slots, 200 for vregs.
  using Cell = std::pair<int, std::uint32_t>;
  std::vector<Cell> cells(const ir::Operand& op) const {
    std::vector<Cell> list;
    if (op.is_vreg()) {
      const ir::Storage s = f_.storage(op);
      for (std::uint32_t k = 0; k < s.size; ++k) list.push_back({200, s.root.value * 64 + s.offset + k});
    } else {
      const ir::FileBytes r = ir::Function::file_bytes(op);
      for (std::uint32_t k = r.begin; k < r.end; ++k) list.push_back({static_cast<int>(r.file), k});
    }
    return list;
  }
  std::vector<Byte> read(const ir::Operand& op) {
    std::vector<Byte> bytes;
    for (const Cell& c : cells(op)) bytes.push_back(memory_[c]);
    return bytes;
  }
  void write(const ir::Operand& op, const std::vector<Byte>& bytes) {
    const auto list = cells(op);
    for (std::size_t k = 0; k < list.size(); ++k) memory_[list[k]] = k < bytes.size() ? bytes[k] : Byte();
  }
  std::vector<Cell> slot_cells(const ir::Operand& op, std::size_t bytes) const {
    std::vector<Cell> list;
    const int space = f_.slots[op.slot().index()].space == ir::MemSpace::Local ? 100 : 101;
    for (std::size_t k = 0; k < bytes; ++k)
      list.push_back({space, f_.slots[op.slot().index()].offset + op.slot_offset() + static_cast<std::uint32_t>(k)});
    return list;
  }
  // Bytes of operand k that the program defines.
  std::size_t width(const ir::Inst& inst, std::size_t k) const {
    const std::size_t all = cells(f_.operands_of(inst)[k]).size();
    const auto it = widths_.find(inst.op == ir::Op::Remat ? inst.ref.value : inst.id.value);
    return it == widths_.end() || it->second.size() != inst.num_operands ? all
                                                                         : std::min(all, static_cast<std::size_t>(it->second[k]));
  }
  // 0 if one of the first `n` bytes is undefined.
  std::uint64_t value(const ir::Operand& op, std::size_t n) {
    std::uint64_t h = 1;
    const auto bytes = read(op);
    for (std::size_t k = 0; k < n; ++k) {
      if (bytes[k].value == 0) return 0;
      h = hash_combine(h, bytes[k].value);
    }
    return h;
  }

  void step(const ir::Inst& inst, Trace& trace) {
    const auto ops = f_.operands_of(inst);
    bool happens = true;
    std::vector<std::uint64_t> seen;
    for (const ir::Operand& op : ops) {
      if (op.role != ir::Role::Guard) continue;
      const std::uint64_t g = value(op, 1);
      seen.push_back(g);
      happens = (g % 2 == 0) != op.is_negated();
    }
    if (happens)
      for (const ir::Operand& op : ops)
        if (op.is_early_clobber()) write(op, {});
    std::uint64_t h = inst.op == ir::Op::Remat ? inst.ref.value : inst.id.value;
    bool undefined = false;
    std::vector<std::vector<Byte>> moved;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const ir::Operand& op = ops[k];
      if (!op.reads() || op.role == ir::Role::Guard) continue;
      if (op.is_slot()) {
        const std::size_t n = cells(ops[0]).size();
        std::vector<Byte> bytes;
        for (const Cell& c : slot_cells(op, n)) bytes.push_back(memory_[c]);
        moved.push_back(bytes);
      } else if (op.is_register()) {
        moved.push_back(read(op));
        const std::uint64_t v = value(op, width(inst, k));
        undefined = undefined || v == 0;
        h = hash_combine(h, v);
        seen.push_back(v);
      } else {
        h = hash_combine(h, op.raw().value);
      }
    }
    if (!inst.is_inserted() && inst.op != ir::Op::Copy && inst.op != ir::Op::Spill && inst.op != ir::Op::Refill)
      trace.push_back({inst.id.value, seen});
    if (!happens) return;
    for (const ir::Operand& op : ops)
      if (op.role == ir::Role::Clobber) write(op, {});
    if (inst.op == ir::Op::Spill) {
      const auto list = slot_cells(ops[1], moved[0].size());
      for (std::size_t k = 0; k < list.size(); ++k) memory_[list[k]] = moved[0][k];
      return;
    }
    if (ir::packs_bits(inst.op)) return move_bits(inst);
    const bool moves = inst.op == ir::Op::Copy || inst.op == ir::Op::Refill;
    std::size_t d = 0;
    for (std::size_t o = 0; o < ops.size(); ++o) {
      const ir::Operand& op = ops[o];
      if (!op.writes()) continue;
      if (moves) {
        write(op, moved[d++]);
        continue;
      }
      std::vector<Byte> bytes;
      for (std::size_t k = 0; k < width(inst, o); ++k) bytes.push_back({undefined ? 0 : hash_combine(h, d * 100 + k) | 1, {}});
      write(op, bytes);
      ++d;
    }
  }

  void move_bits(const ir::Inst& inst) {
    const auto ops = f_.operands_of(inst);
    const bool into = ir::writes_pack(inst.op), by_number = ir::packs_by_number(inst.op);
    std::size_t pack = 0;
    while (!into && ops[pack].role != ir::Role::Use) ++pack;
    const auto list = cells(ops[pack]);
    if (ops[pack].role == ir::Role::Def) write(ops[pack], {});
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (k == pack || !ops[k].is_register() || ops[k].role == ir::Role::Guard) continue;
      const auto bit = static_cast<std::size_t>(by_number ? ops[k].preg().first : ops[2].imm());
      std::uint64_t& held = memory_[list[bit / 8]].bits[bit % 8];
      std::uint64_t& predicate = memory_[cells(ops[k])[0]].value;
      (into ? held : predicate) = into ? predicate : held;
    }
  }

  const ir::Function& f_;
  std::map<std::uint32_t, std::vector<int>> widths_;  // by instruction before: bytes of its operands
  std::map<Cell, Byte> memory_;
};

// Both programs read the same values along the same paths. A value that was undefined before may be any after.
inline void expect_same_behaviour(const ir::Function& before, const ir::Function& after) {
  // Rematerialisable defs may be missing after.
  std::vector<std::uint32_t> may_miss;
  for (const ir::Inst& i : after.insts)
    if (i.is_deleted() && i.has(ir::kRematerialisable)) may_miss.push_back(i.id.value);
  std::sort(may_miss.begin(), may_miss.end());
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto a = Machine(before).run(seed, 300), b = Machine(after, &before).run(seed, 300);
    std::size_t k = 0;
    for (const auto& [id, values] : a) {
      if (k >= b.size() || b[k].first != id) {
        ASSERT_TRUE(values.empty() || std::binary_search(may_miss.begin(), may_miss.end(), id)) << "#" << id << " is missing\n"
                                                                                                << ir::print(after);
        continue;
      }
      for (std::size_t v = 0; v < values.size(); ++v)
        ASSERT_TRUE(values[v] == 0 || values[v] == b[k].second[v]) << "#" << id << " reads something else\n" << ir::print(after);
      ++k;
    }
  }
}

// Allocates, and checks the result with ir::check and the machine.
inline ir::Allocation allocate_with(const ir::Allocator& allocator, const ir::Function& f, const ir::Limits& l,
                                    std::vector<std::pair<std::string, std::string>> knobs = {}, ir::Trace* trace = nullptr) {
  auto result = allocator.allocate(f, ir::default_target(), {.limits = l, .knobs = std::move(knobs), .trace = trace});
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  const auto faults = ir::check(result->program, ir::default_target());
  if (!faults.empty()) ADD_FAILURE() << ir::to_string(result->program, faults[0]) << "\n" << ir::print(result->program);
  for (const ir::Inst& i : result->program.insts)
    for (const ir::Operand& op : result->program.operands_of(i)) {
      const bool below = !op.is_preg() || op.role == ir::Role::Clobber || op.preg().end() <= l.of(op.preg().file);
      EXPECT_TRUE(below) << ir::print(result->program, i);
    }
  expect_same_behaviour(f, result->program);
  return std::move(*result);
}

inline ir::Allocation allocate(const ir::Function& f, const ir::Limits& l,
                               std::vector<std::pair<std::string, std::string>> knobs = {}, ir::Trace* trace = nullptr) {
  return allocate_with(*make_fatpoint(), f, l, std::move(knobs), trace);
}

// The lines of a trace.
class Lines final : public ir::Trace {
 public:
  void line(std::string text) override { lines.push_back(std::move(text)); }
  // The place of the first line with this part; -1 = none.
  [[nodiscard]] std::ptrdiff_t first(std::string_view part) const {
    const auto at = std::ranges::find_if(lines, [&](const std::string& l) { return l.find(part) != std::string::npos; });
    return at == lines.end() ? -1 : at - lines.begin();
  }
  std::vector<std::string> lines;
};

// The failure of an allocation that has to fail.
inline ir::AllocFailure failure(const ir::Function& f, const ir::Limits& l,
                                std::vector<std::pair<std::string, std::string>> knobs = {}) {
  const auto result = make_fatpoint()->allocate(f, ir::default_target(), {.limits = l, .knobs = knobs});
  EXPECT_FALSE(result.has_value());
  return result ? ir::AllocFailure() : result.error();
}

// One instruction of an allocated program by its original id.
inline std::string inst(const ir::Function& f, std::uint32_t id) {
  for (const ir::Inst& i : f.insts)
    if (i.id.value == id) return ir::print(f, i);
  return "";
}
inline int count(const ir::Function& f, ir::Op op) {
  return static_cast<int>(std::ranges::count_if(f.insts, [&](const ir::Inst& i) { return i.op == op && !i.is_deleted(); }));
}

// --- programs that several tests use

// Two phis swap their values in each turn of a loop in which nothing else fits.
inline constexpr std::string_view kSwapInALoop = R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    vreg %3 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %0 = phi b0: %0, b1: %1
      #4 %1 = phi b0: %1, b1: %0
      #5 %3 = ld 3
      #6 st %3 !write
      #7 %2 = isetp 0
      #8 cbra %2 -> b1, b2
    block b2
      #9 st %0 !write
      #10 st %1 !write
      #11 exit
)";
// %0 is read in a loop that has room for a pair, but not for %0 beside it.
inline constexpr std::string_view kReadInALoop = R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 st %0 !write
      #3 %1 = ld 1
      #4 st %1 !write
      #5 %2 = isetp 0
      #6 cbra %2 -> b1, b2
    block b2
      #7 exit
)";
// %0 is read twice behind a pair.
inline constexpr std::string_view kReadTwice = R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 st %0 !write
      #4 st %0 !write
      #5 exit
)";
// The guarded def of %0 keeps the old value if its guard is false.
inline constexpr std::string_view kGuardedDef = R"(
    vreg %0 R b32
    vreg %1 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = isetp 0
      #2 @%1 %0 = ld 1
      #3 st %0 !write
      #4 exit
)";
// Five values in five registers; the banks of %0 and %4 conflict where they stand in a row.
inline constexpr std::string_view kFiveAtOnce = R"(
    vreg %0..%4 R b32
    block b0
      #0 %0, %1, %2, %3, %4 = ld 0
      #1 mad %0, %4
      #2 st %0 !write
      #3 st %1 !write
      #4 st %2 !write
      #5 st %3 !write
      #6 st %4 !write
      #7 exit
)";
// %0 alone would fit in R1, the class of %0 and %2 does not. The last three need three registers in any case.
inline constexpr std::string_view kClass = R"(
    vreg %0..%6 R b32
    block b0
      #0 %0 = const 1
      #1 %1 = const 2
      #2 st %1 !write
      #3 %2 = copy %0
      #4 %3{=R1} = const 3
      #5 st %2, %3{=R1} !write
      #6 %4 = const 4
      #7 %5 = const 5
      #8 %6 = const 6
      #9 use %4, %5, %6
      #10 exit
)";

}  // namespace regduel::allocator::testing
