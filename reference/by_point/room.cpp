#include "reference/by_point/room.h"

#include <algorithm>
#include <utility>

namespace regduel::reference {

void RoomDemands::add(std::vector<Room>& in, ir::RegFile file, TempId t, Element out, int align_log2) const {
  const Temp& temp = code_.temps[t];
  if (temp.file == file) in.push_back({temp.units, align_log2 < 0 ? temp.align_log2 : align_log2, out});
}

void RoomDemands::demand(const BlockModel& block, SetQuestion& q) const {
  for (const ir::RegFile file : ir::kAllFiles) {
    std::vector<Room> in;
    for (const BlockModel::AtHead& h : block.head)
      if (h.head != kNoElement) add(in, file, h.temps[0], h.head);
    demand(file, in, p_.allocatable()[ir::index(file)], q);
  }
}

void RoomDemands::demand(const Point& point, bool is_loose, SetQuestion& q) const {
  const CodeInst& inst = code_.insts[point.inst];
  const Shape* const shape = inst.kind == CodeKind::Original ? &p_.shape(inst.source) : nullptr;
  for (const ir::RegFile file : ir::kAllFiles) {
    const std::size_t at = ir::index(file);
    UnitSet lost;  // what lives on cannot be there
    if (shape != nullptr && shape->has_clobbers()) lost |= (*shape->clobbers)[at];
    for (const PointOperand& o : point.operands)
      if (o.at_writes && code_.temps[o.temp].fixed.is_valid() && code_.temps[o.temp].file == file)
        lost |= units_of(code_.temps[o.temp].fixed);
    std::vector<Room> reads, writes, through;
    for (const PointOperand& o : point.operands) {
      if (o.at_writes && !is_loose) add(writes, file, o.temp, kNoElement);
      if (o.at_reads && o.at_writes) add(reads, file, o.temp, kNoElement);
    }
    for (std::uint32_t k = 0; k < point.held.size(); ++k) {
      const Held& h = point.held[k];
      if (code_.temps[h.temp].file != file || (h.before == kNoElement && h.again == kNoSource)) continue;
      int fixed = 0;
      bool is_kept = false, is_written = false;
      for (const PointOperand& o : point.operands) {
        if (o.held != k) continue;
        if (o.at_writes) {
          is_written = true;
        } else if (const ir::PReg r = code_.temps[o.temp].fixed; r.is_valid()) {
          add(reads, file, o.temp, kNoElement);
          ++fixed;
          is_kept = is_kept || !units_of(r).intersects(lost);
        }
      }
      const bool is_optional = h.lives_on && h.after != kNoElement;
      if (fixed == 0 && !is_written) {
        if (h.is_read) add(reads, file, h.temp, kNoElement, h.align_log2);
        else if (h.before != kNoElement) add(reads, file, h.temp, h.before);
      } else if (!is_kept && is_optional) {
        add(reads, file, h.temp, h.after);
      }
      if (is_optional) {
        add(writes, file, h.temp, h.after);
        add(through, file, h.temp, h.after);
      }
    }
    UnitSet units = p_.allocatable()[at];
    if (shape != nullptr && p_.program().insts[inst.source].op == ir::Op::Ret)
      demand(file, reads, units - p_.callee_saved()[at], q);
    else demand(file, reads, units, q);
    demand(file, writes, units, q);
    if (lost.any()) demand(file, through, units - lost, q);
  }
}

// For each alignment: the places where those so aligned, or better, begin.
void RoomDemands::demand(ir::RegFile file, const std::vector<Room>& in, const UnitSet& units, SetQuestion& q) const {
  int widest = 0;
  for (const Room& r : in) widest = std::max(widest, r.align_log2);
  for (int align = 0; align <= widest; ++align) {
    const int width = 1 << align;
    int all = 0, narrowest = width;
    std::vector<SetQuestion::Portion> portions;
    for (const Room& r : in) {
      if (r.align_log2 < align) continue;
      const int places = (r.units + width - 1) / width;
      all += places;
      narrowest = std::min(narrowest, (r.units - 1) % width + 1);  // of the last place that it takes
      if (r.out != kNoElement) portions.push_back({r.out, places});
    }
    const int room = (units & free_[ir::index(file)]).positions(narrowest, align).count();
    if (all <= room) continue;
    for (const ByPointModel::Saved& s : saved_)
      if (s.file == file && units.has(s.unit)) portions.push_back({s.element, 1});
    std::ranges::sort(portions, {}, &SetQuestion::Portion::element);
    q.demands.push_back({std::move(portions), all - room});
  }
}

}  // namespace regduel::reference
