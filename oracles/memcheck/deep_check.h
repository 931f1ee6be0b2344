// The deep check of memcheck.h: which operands differ, by instruction, and why. Internal to the judge; asked where the fast check
// (fast_check.h) does not answer for the function as a whole.
// Tested by memcheck_test.cpp and deep_check_test.cpp.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/guarded_walk.h"
#include "oracles/memcheck/mismatch.h"
#include "oracles/memcheck/reaching_sets.h"

namespace regduel::oracles {

// Byte `byte` of a read: of an operand of the program after (an index into operands), or behind those of what a `ret` reads.
struct ReadByte {
  std::size_t read = 0;
  int byte = 0;

  friend auto operator<=>(const ReadByte&, const ReadByte&) = default;
};

// A definition that was added to, or removed from, the set of a read.
struct Objection {
  ReadByte at;
  bool is_addition = false;
  LeafKind kind = LeafKind::Uninitialised;
  std::uint32_t inst = 0;
  int operand = -1;
  std::uint32_t leaf_byte = 0;

  friend auto operator<=>(const Objection&, const Objection&) = default;
};
using Objections = std::set<Objection>;

class DeepCheck {
 public:
  // Requires: defs made from c.before; `known` is what the fast check says of this case in this scope. If `upheld` is
  // given, only its objections count as differences.
  DeepCheck(const Case& c, Definitions& defs, FastAnswer known, MemcheckScope scope = MemcheckScope::Everything,
            const Objections* upheld = nullptr);
  [[nodiscard]] MemcheckDetails run();
  // All objections of run().
  [[nodiscard]] const Objections& objections() const { return objections_; }

 private:
  // One byte of an operand whose sets differ, without an excuse.
  struct Difference {
    ByteRef after;
    SetId expected = kEmptySet;
    Assumption assumed;
    std::vector<std::uint32_t> additions, removals;  // elements
  };
  enum class Outcome { Same, OnOld, Differs };

  [[nodiscard]] const std::vector<ir::InstId>* asked() const { return known_.suspects ? &*known_.suspects : nullptr; }
  [[nodiscard]] bool is_suspect(ir::InstId id) const;
  void validate_remats();
  void check_instruction(std::uint32_t before_index, std::uint32_t after_index);
  [[nodiscard]] Outcome check_operand(std::size_t before_operand, std::size_t after_operand, Assumption before_assumed,
                                      Assumption after_assumed);
  void check_saved(const RetRead& r, std::size_t read);
  [[nodiscard]] Outcome compare_byte(ReadByte at, SetId expected, std::optional<ByteRef> before, ByteRef after,
                                     Assumption before_assumed, Assumption after_assumed);
  [[nodiscard]] bool is_excused(SetId expected, SetId found, std::optional<ByteRef> before, ByteRef after,
                                Assumption before_assumed, Assumption after_assumed);
  // Notes the upheld objections, and drops the others.
  void keep_upheld(std::vector<std::uint32_t>& elements, ReadByte at, bool are_additions);
  void keep_seen(std::vector<std::uint32_t>& elements, GuardedWalk& walk, ByteRef from, Assumption assumed);
  [[nodiscard]] SetId set_with(const std::vector<std::uint32_t>& elements);

  [[nodiscard]] OperandMismatch explain();
  [[nodiscard]] bool has_any(SetId set, const std::vector<std::uint32_t>& elements) const;
  [[nodiscard]] bool shares_definition(SetId a, SetId b);
  void explain_extraction(const Difference& d, State extracted, const std::vector<GuardedWalk::Visit>& visits,
                          OperandMismatch& best);
  void propose(OperandMismatch& best, MemcheckCode code, ir::InstId other) const;
  [[nodiscard]] bool is_narrow(std::uint32_t element) const;
  [[nodiscard]] bool is_above_an_extra_def(const Leaf& above) const;
  [[nodiscard]] std::vector<Producer> producers(ReachingSets& in, const std::vector<ByteRef>& bytes,
                                                const std::vector<std::uint32_t>& unexplained);
  void list_producers(OperandMismatch& m, const std::vector<ByteRef>& before, const std::vector<ByteRef>& after);

  const Case& c_;
  Definitions& defs_;
  DefSets sets_;
  FastAnswer known_;
  MemcheckScope scope_;
  const Objections* upheld_;
  Objections objections_;
  const ir::Cfg after_cfg_;
  ValueGraph before_graph_, after_graph_;
  ReachingSets before_, after_;
  GuardedWalk before_walk_, after_walk_;
  std::vector<Difference> differences_;                   // of the operand at hand
  std::vector<signed char> has_defined_, has_undefined_;  // memos of DefSets::any_of
  MemcheckDetails details_;
};

}  // namespace regduel::oracles
