// The plan of one round: where each value lives, and which instructions are packed by themselves.
//
// All indices are of the program that out_of_ssa made. The plan may add long-lived vregs of its own (packs of predicates). They are
// numbered directly behind those of the program, and the temporaries of insert_spill_code behind both.
// Tested by plan_test.cpp and insert_spill_code_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/program/liveness.h"
#include "allocator/spill_code/location.h"
#include "ir/allocator.h"
#include "ir/cfg.h"

namespace regduel::allocator {

// A register full of predicates.
struct PredicatePack {
  ir::VRegId vreg;  // among Plan::added
  // By bit: the predicates that live there, one after the other. Some may have gone to memory since; Plan::location decides.
  std::vector<std::vector<ir::VRegId>> members;
};

// Where refilled values may wait for their next use (refill_reuse.h).
struct RefillReuseRules {
  int distance = 0;                // instructions over which a refilled value may wait for its next use
  std::vector<char> barred_insts;  // by instruction: 1 = no refilled value waits across it or begins to wait there
  std::vector<char> barred_vregs;  // by vreg: 1 = its refilled values do not wait
};

struct Plan {
  std::vector<Location> location;    // by vreg of the program
  std::vector<Location> if_spilled;  // by vreg of the program: where it goes when it has to leave its register
  std::vector<ir::VReg> added;       // vregs of the plan's own, in registers
  std::vector<PredicatePack> packs;
  std::vector<ir::VRegId> first_of;  // by vreg of the program: the one whose pieces share its slot; empty = each its own
  static constexpr std::uint32_t kNoDef = 0xFFFFFFFFu;
  std::vector<std::uint32_t> only_def;        // by vreg of the program: the instruction that computes it again; kNoDef = none
  std::vector<std::vector<ir::PReg>> pinned;  // by instruction: homes of its items; empty = not pinned
  RefillReuseRules reuse;
  std::int64_t shared_bytes = 0;  // share of a thread in shared memory
  ir::Fuel* fuel = nullptr;       // spent on each saved copy or refill

  [[nodiscard]] std::size_t num_long_lived() const { return location.size() + added.size(); }
  [[nodiscard]] bool is_spilled(ir::VRegId v) const { return v.index() < location.size() && !location[v.index()].is_in_register(); }
  // The vreg that owns its slot: pieces of one vreg (split_program.h) share a slot.
  [[nodiscard]] ir::VRegId slot_owner(ir::VRegId v) const { return first_of.empty() ? v : first_of[v.index()]; }
  [[nodiscard]] bool is_packed(ir::VRegId v) const { return v.index() < location.size() && location[v.index()].is_packed(); }
  // False if it is spilled already.
  bool spill(ir::VRegId v) {
    if (is_spilled(v)) return false;
    location[v.index()] = if_spilled[v.index()];
    return true;
  }
  // Back to a register, unless it is in a pack.
  void back_to_register(ir::VRegId v) {
    if (is_spilled(v) && !is_packed(v)) location[v.index()] = Location();
  }
  // From its pack into its slot. False if it is in no pack.
  bool unpack(ir::VRegId v) {
    if (!is_packed(v)) return false;
    location[v.index()] = if_spilled[v.index()];
    return true;
  }
};

// Every vreg in a register, nothing pinned, no refill reused.
//   keeps_own     by vreg: 1 if it stays in its own register (find_precoloured)
//   slots         by file: where its slots are (set_up_spilling)
[[nodiscard]] Plan plan_without_spills(const ir::Function& f, const std::vector<char>& keeps_own,
                                       const ir::PerFile<Location>& slots);

// Rematerialises a vreg instead of spilling it if it has one def in all reachable code, which is whole, marked as repeatable, and
// reads no register, or only one that can be rematerialised itself, as wide or half as wide. At most kMostRepeated instructions are
// repeated, of which only the first may read memory. Cost: O(operands).
inline constexpr int kMostRepeated = 3;
//   first_of   by vreg: the one whose pieces it belongs to (split_program.h); empty = each its own
void rematerialise(Plan& plan, const ir::Function& f, const ir::Cfg& cfg, std::span<const ir::VRegId> first_of);

// Where all readers of a vreg are defs that remats have taken the place of, the vreg is rematerialised, too: its def has no reader any
// more. Cost: O(operands), if anything is rematerialised.
void rematerialise_unread(Plan& plan, const ir::Function& f);

}  // namespace regduel::allocator
