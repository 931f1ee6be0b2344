// Who is in registers around one instruction under a set of elements (model.h), as tenants for point_packing.h.
#pragma once

#include <functional>
#include <vector>

#include "reference/by_point/point_packing.h"
#include "reference/by_point/points.h"

namespace regduel::reference {

struct PointTenants {
  std::vector<Tenant> tenants;
  std::vector<int> of_operand, of_held;  // by index into Point: the tenant; -1 = none
};

// Reads of what is undefined are no tenants: they may stand where anything else does.
[[nodiscard]] inline bool is_undefined(const Point& point, const PointOperand& o) {
  if (o.held == kNoIndex) return true;
  const Held& h = point.held[o.held];
  return h.before == kNoElement && h.again == kNoSource;
}

// Of what the instruction computes.
[[nodiscard]] int again_align_log2(const Problem& problem, std::uint32_t inst);

class Tenancy {
 public:
  Tenancy(const Problem& problem, const Code& code, const ByPointModel& model) : p_(problem), code_(code), m_(model) {}

  // Of one file. preferred(content) is a unit, or -1.
  [[nodiscard]] PointTenants at(const Point& point, ir::RegFile file, const std::vector<bool>& is_taken,
                                const std::function<int(std::uint32_t)>& preferred) const;
  // Of what is live at the head of a block, by index into BlockModel::head.
  [[nodiscard]] PointTenants at_head(const BlockModel& block, ir::RegFile file, const std::vector<bool>& is_taken,
                                     const std::function<int(std::uint32_t)>& preferred) const;

  // At some points what is in registers does not fit: at least one of the elements of each of these has to be taken as well. Empty
  // where all fit. `is_known` is false where that was not found out.
  [[nodiscard]] std::vector<std::vector<Element>> misfits(const std::vector<bool>& is_taken, bool& is_known) const;

  // Whether the instruction writes something before it reads.
  [[nodiscard]] bool writes_early(const Point& point) const;
  [[nodiscard]] UnitSet available(ir::RegFile file, const std::vector<bool>& is_taken) const;

 private:
  template <class Build>
  void find_misfit(ir::RegFile file, std::vector<Element> may_be_taken, const std::vector<bool>& is_taken, Build&& build,
                   std::vector<std::vector<Element>>& misfits, bool& is_known) const;

  const Problem& p_;
  const Code& code_;
  const ByPointModel& m_;
};

}  // namespace regduel::reference
