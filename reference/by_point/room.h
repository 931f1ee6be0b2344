// What each instruction, and the head of each block, demands of a set of elements (model.h): that the units of all that is in registers are
// no more than there are, for each alignment.
#pragma once

#include <vector>

#include "reference/by_point/points.h"

namespace regduel::reference {

class RoomDemands {
 public:
  RoomDemands(const Problem& problem, const Code& code, const ir::PerFile<UnitSet>& free,
              const std::vector<ByPointModel::Saved>& saved)
      : p_(problem), code_(code), free_(free), saved_(saved) {}

  // is_loose: what is written may share a register with what lives on.
  void demand(const Point& point, bool is_loose, SetQuestion& q) const;
  void demand(const BlockModel& head, SetQuestion& q) const;

 private:
  struct Room {
    int units, align_log2;
    Element out;  // none: it is there in any case
  };
  void add(std::vector<Room>& in, ir::RegFile file, TempId t, Element out, int align_log2 = -1) const;
  void demand(ir::RegFile file, const std::vector<Room>& in, const UnitSet& units, SetQuestion& q) const;

  const Problem& p_;
  const Code& code_;
  const ir::PerFile<UnitSet>& free_;
  const std::vector<ByPointModel::Saved>& saved_;
};

}  // namespace regduel::reference
