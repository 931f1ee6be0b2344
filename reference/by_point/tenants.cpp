#include "reference/by_point/tenants.h"

#include <algorithm>
#include <utility>

namespace regduel::reference {

int again_align_log2(const Problem& problem, std::uint32_t inst) {
  const ir::Function& f = problem.program();
  return problem.values()[f.root(f.operands_of(f.insts[inst])[0].vreg()).index()].align_log2;
}

bool Tenancy::writes_early(const Point& point) const {
  const CodeInst& inst = code_.insts[point.inst];
  return inst.kind == CodeKind::Original &&
         std::ranges::any_of(p_.shape(inst.source).items, [](const Item& item) { return item.early; });
}

UnitSet Tenancy::available(ir::RegFile file, const std::vector<bool>& is_taken) const {
  UnitSet units = m_.free[ir::index(file)];
  for (const ByPointModel::Saved& s : m_.saved)
    if (s.file == file && is_taken[s.element]) units.set(s.unit);
  return units;
}

PointTenants Tenancy::at(const Point& point, ir::RegFile file, const std::vector<bool>& is_taken,
                         const std::function<int(std::uint32_t)>& preferred) const {
  const CodeInst& inst = code_.insts[point.inst];
  const auto out = [&](Element e) { return e == kNoElement || is_taken[e]; };
  PointTenants result;
  result.of_operand.assign(point.operands.size(), -1);
  result.of_held.assign(point.held.size(), -1);
  const std::size_t at = ir::index(file);
  UnitSet all = available(file, is_taken), lost, clobbered;
  if (inst.kind == CodeKind::Original) {
    if (const Shape& shape = p_.shape(inst.source); shape.has_clobbers()) clobbered = (*shape.clobbers)[at];
    if (p_.program().insts[inst.source].op == ir::Op::Ret) all -= p_.callee_saved()[at];
  }
  lost = clobbered;
  for (const PointOperand& o : point.operands)
    if (const Temp& t = code_.temps[o.temp]; o.at_writes && t.fixed.is_valid() && t.file == file) lost |= units_of(t.fixed);
  const auto add = [&](TempId temp, const UnitSet& room, bool at_reads, bool at_writes, int prefers) {
    const Temp& t = code_.temps[temp];
    result.tenants.push_back({t.units, t.align_log2, room, at_reads, at_writes, prefers});
    return static_cast<int>(result.tenants.size() - 1);
  };

  const auto add_written = [&](std::size_t o) {
    const PointOperand& operand = point.operands[o];
    const Temp& t = code_.temps[operand.temp];
    const UnitSet room = t.fixed.is_valid() ? units_of(t.fixed) : operand.partial ? all - clobbered : all;
    const int prefers = operand.held == kNoIndex ? -1 : preferred(point.held[operand.held].content);
    result.of_operand[o] = add(operand.temp, room, operand.at_reads, true, prefers);
    return result.of_operand[o];
  };
  const auto has_no_whole = [&](const PointOperand& o) { return o.no_whole != kNoElement && is_taken[o.no_whole]; };

  // An operand that writes over the content and holds it before, where all that only read it may stand, too.
  const auto written_in_place = [&](std::uint32_t k) {
    const Held& h = point.held[k];
    if (writes_early(point)) return -1;
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      const Temp& t = code_.temps[operand.temp];
      if (operand.held == k && operand.at_writes && operand.at_reads && !point.is_move && !has_no_whole(operand) &&
          t.file == file && t.align_log2 >= h.align_log2)
        return static_cast<int>(o);
    }
    return -1;
  };

  for (std::uint32_t k = 0; k < point.held.size(); ++k) {
    const Held& h = point.held[k];
    if (code_.temps[h.temp].file != file || (h.before == kNoElement && h.again == kNoSource)) continue;
    const bool stays = h.lives_on && h.after != kNoElement && !is_taken[h.after];
    const bool is_again = h.before == kNoElement;
    // What computes it again asks for its own alignment.
    const auto aligned = [&](int tenant) {
      int& align_log2 = result.tenants[static_cast<std::size_t>(tenant)].align_log2;
      align_log2 = std::max(h.align_log2, h.again == kNoSource ? 0 : again_align_log2(p_, h.again));
      return tenant;
    };
    int fixed = -1, kept = -1;
    bool is_read = false;
    for (std::size_t o = 0; o < point.operands.size(); ++o) {
      const PointOperand& operand = point.operands[o];
      if (operand.held != k || operand.at_writes) continue;
      const ir::PReg r = code_.temps[operand.temp].fixed;
      if (!r.is_valid()) {
        is_read = is_read || !point.is_move || is_again || !out(h.before);
        continue;
      }
      fixed = result.of_operand[o] = add(operand.temp, units_of(r), true, false, r.first);
      if (!units_of(r).intersects(lost)) kept = fixed;
    }
    int& tenant = result.of_held[k];
    if (stays && kept >= 0) {
      tenant = kept;
      result.tenants[static_cast<std::size_t>(kept)].at_writes = true;
    } else if (stays) {
      tenant = aligned(add(h.temp, all - lost, true, true, preferred(h.content)));
    } else if (is_read && fixed >= 0) {
      tenant = fixed;
    } else if (const int written = is_read ? written_in_place(k) : -1; written >= 0) {
      tenant = add_written(static_cast<std::size_t>(written));
    } else if (is_read) {
      tenant = aligned(add(h.temp, all, true, false, preferred(h.content)));
    }
    for (std::size_t o = 0; o < point.operands.size(); ++o)
      if (point.operands[o].held == k && !point.operands[o].at_writes && result.of_operand[o] < 0) result.of_operand[o] = tenant;
  }

  for (std::size_t o = 0; o < point.operands.size(); ++o) {
    const PointOperand& operand = point.operands[o];
    const Temp& t = code_.temps[operand.temp];
    if (t.file != file || (operand.temp < code_.num_values && t.fixed.is_valid())) continue;
    if (!operand.at_writes) continue;
    if (point.is_move && (operand.content == kNoIndex || has_no_whole(operand) || (!operand.keeps && out(operand.after)))) continue;
    if (result.of_operand[o] < 0) add_written(o);
  }
  return result;
}

PointTenants Tenancy::at_head(const BlockModel& block, ir::RegFile file, const std::vector<bool>& is_taken,
                              const std::function<int(std::uint32_t)>& preferred) const {
  PointTenants result;
  const UnitSet all = available(file, is_taken);
  for (const BlockModel::AtHead& h : block.head) {
    result.of_held.push_back(-1);
    const Temp& t = code_.temps[h.temps[0]];
    if (t.file != file || h.head == kNoElement || is_taken[h.head]) continue;
    result.of_held.back() = static_cast<int>(result.tenants.size());
    result.tenants.push_back({t.units, t.align_log2, all, true, true, preferred(h.content)});
  }
  return result;
}

// Takes more while it does not fit: one of those that are left has to be taken.
template <class Build>
void Tenancy::find_misfit(ir::RegFile file, std::vector<Element> may_be_taken, const std::vector<bool>& is_taken, Build&& build,
                          std::vector<std::vector<Element>>& misfits, bool& is_known) const {
  std::vector<int> units;
  const auto packing = [&](const std::vector<bool>& taken) { return pack_point(build(taken), units); };
  switch (packing(is_taken)) {
    case Packing::Fits: return;
    case Packing::Unknown: is_known = false; return;
    case Packing::Impossible: break;
  }
  for (const ByPointModel::Saved& s : m_.saved)
    if (s.file == file) may_be_taken.push_back(s.element);
  std::vector<bool> more = is_taken;
  std::vector<Element> one_of;
  for (const Element e : may_be_taken) {
    if (e == kNoElement || more[e]) continue;
    more[e] = true;
    if (packing(more) == Packing::Impossible) continue;
    more[e] = false;
    one_of.push_back(e);
  }
  std::ranges::sort(one_of);
  misfits.push_back(std::move(one_of));
}

std::vector<std::vector<Element>> Tenancy::misfits(const std::vector<bool>& is_taken, bool& is_known) const {
  std::vector<std::vector<Element>> result;
  const auto nowhere = [](std::uint32_t) { return -1; };
  for (const Point& point : m_.points)
    for (const ir::RegFile file : ir::kAllFiles) {
      std::vector<Element> elements;
      for (const Held& h : point.held) {
        if (code_.temps[h.temp].file != file) continue;
        elements.push_back(h.before);
        if (h.after != h.before) elements.push_back(h.after);
      }
      find_misfit(
          file, std::move(elements), is_taken,
          [&](const std::vector<bool>& taken) { return at(point, file, taken, nowhere).tenants; }, result, is_known);
    }
  for (const BlockModel& block : m_.blocks)
    for (const ir::RegFile file : ir::kAllFiles) {
      std::vector<Element> elements;
      for (const BlockModel::AtHead& h : block.head)
        if (code_.temps[h.temps[0]].file == file) elements.push_back(h.head);
      find_misfit(
          file, std::move(elements), is_taken,
          [&](const std::vector<bool>& taken) { return at_head(block, file, taken, nowhere).tenants; }, result, is_known);
    }
  return result;
}

}  // namespace regduel::reference
