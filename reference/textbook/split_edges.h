// What a walk makes (split.h): temps for values in registers, inserted instructions, and what joins one block to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::reference {

// Of a value at one point.
struct Where {
  int unit = -1;           // -1 = in no register
  bool in_memory = false;  // the slot holds the value
};

// Where the values are that are live at one end of a block, ascending.
struct Places {
  std::vector<std::pair<TempId, Where>> temps;
  [[nodiscard]] Where of(TempId t) const;  // nowhere if it is not live there
};

// A temp of the new code for each temp of the old one and each register that it is in.
class Pieces {
 public:
  using Insts = std::vector<CodeInst>;
  // The temps are those of the old code.
  Pieces(const Problem& problem, const Plan& plan, const std::vector<Temp>& temps);

  [[nodiscard]] std::uint32_t slot(TempId t);  // its own
  // To and from the temp's own slot, or another one.
  void store(Insts& to, TempId t, int unit) { store(to, t, unit, slot(t)); }
  void refill(Insts& to, TempId t, int unit) { refill(to, t, unit, slot(t)); }
  void store(Insts& to, TempId t, int unit, std::uint32_t slot);
  void refill(Insts& to, TempId t, int unit, std::uint32_t slot);
  void move(Insts& to, TempId t, int unit, int from);
  // Some of its bytes, from `begin` on.
  void store_bytes(Insts& to, TempId t, int unit, std::uint32_t slot, int begin, int bytes);
  void refill_bytes(Insts& to, TempId t, int unit, std::uint32_t slot, int begin, int bytes);
  // All at once: each move by itself where an order exists, and rings as one parallel copy a file.
  struct Transfer {
    TempId temp;
    int to, from;
  };
  void moves(Insts& to, std::vector<Transfer> moves);
  // What the instruction computes.
  void again(Insts& to, TempId t, int unit, std::uint32_t inst);
  // What a move from s to d becomes whose source, or target, is in memory.
  void refill_part(Insts& to, CodeInst move, TempId d, int unit, std::uint32_t slot);
  void store_part(Insts& to, CodeInst move, std::uint32_t slot, TempId s, int unit);
  [[nodiscard]] std::uint32_t add_slot(std::uint32_t bytes) { return plan_.add_slot(bytes); }
  // home(temp) is its unit.
  template <class Home>
  void original(Insts& to, CodeInst inst, std::span<const Ref> refs, Home&& home) {
    inst.first_ref = static_cast<std::uint32_t>(refs_.size());
    for (Ref r : refs) {
      r.temp = piece(r.temp, home(r.temp));
      refs_.push_back(r);
    }
    to.push_back(inst);
  }
  void operand(std::uint32_t operand, TempId t, int unit) { operand_temp_[operand] = piece(t, unit); }

  // With the blocks of `old`, and in them `blocks`.
  [[nodiscard]] Code code(const Code& old, const std::vector<Insts>& blocks) const;
  [[nodiscard]] const Plan& plan() const { return plan_; }
  // Temps of the old code that the new code stores or refills where only registers of R may be: ascending, each once.
  [[nodiscard]] std::vector<TempId> out_of_reach(const Code& code) const;
  [[nodiscard]] const std::vector<ir::PReg>& homes() const { return homes_; }

 private:
  [[nodiscard]] TempId piece(TempId t, int unit);
  CodeInst with_refs(CodeInst inst, std::initializer_list<Ref> refs) {
    return with_refs(inst, std::span(refs.begin(), refs.end()));
  }
  CodeInst with_refs(CodeInst inst, std::span<const Ref> refs);
  // Whether the one writes what the other reads.
  [[nodiscard]] bool overlap(const Transfer& a, const Transfer& b) const;

  const Problem& problem_;
  Plan plan_;
  const std::vector<Temp>& temps_;
  std::vector<std::uint32_t> slot_of_;  // by temp
  std::vector<Temp> new_temps_;
  std::vector<TempId> old_of_;  // by new temp
  std::vector<ir::PReg> homes_;
  std::vector<Ref> refs_;
  std::vector<TempId> operand_temp_;
  std::unordered_map<std::uint64_t, TempId> pieces_;  // by temp and unit
};

// Adds to the blocks, and blocks on edges to the code, what on_edge(from, to) says.
using OnEdge = std::function<Pieces::Insts(std::uint32_t, std::uint32_t)>;
void join_blocks(Code& code, const std::vector<std::uint32_t>& order, const OnEdge& on_edge, const Problem& problem,
                 std::vector<Pieces::Insts>& blocks);
// The same, with what makes true at the head of each block what is said of it.
void join_blocks(Code& code, const std::vector<std::uint32_t>& order, const std::vector<Places>& heads,
                 const std::vector<Places>& ends, const Problem& problem, Pieces& pieces, std::vector<Pieces::Insts>& blocks);

}  // namespace regduel::reference
