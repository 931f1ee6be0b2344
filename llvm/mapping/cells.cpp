#include "llvm/mapping/cells.h"

#include <algorithm>

#include <fmt/format.h>

namespace regduel::llvm {
namespace {

constexpr int kMaxNamed = 480;  // the file has 512; some are for folded spill code

template <class Use>
void for_each_operand(const Dump& d, const Use& use) {
  for (const Block& b : d.blocks)
    for (const Inst& i : b.insts)
      for (const Operand& o : i.ops) use(o);
}

}  // namespace

std::string Part::text() const { return is_whole() ? "" : fmt::format(".{}{}", bits == 8 ? 'b' : 'h', index); }

Cells::Cells(const Tables& tables, const Dump& before, const Dump& after) : tables_(tables), reserved_(before.reserved) {
  reserved_.insert(after.reserved.begin(), after.reserved.end());
  for_each_operand(after, [&](const Operand& o) {
    if (o.vreg >= 0 && after.vregs[o.vreg] >= 0) left_virtual_.insert(file_of_class(after.vregs[o.vreg]));
  });
  left_virtual_.erase("");
  std::set<int> atoms;
  const auto add = [&](int r) {
    if (r >= 0 && !reserved_.contains(r))
      for (const Piece& p : tables_.registers[r].pieces)
        if (!reserved_.contains(p.atom) && !left_virtual_.contains(tables_.registers[p.atom].file)) atoms.insert(p.atom);
  };
  for (const Dump* d : {&before, &after}) {
    for_each_operand(*d, [&](const Operand& o) { add(o.preg); });
    for (const Block& b : d->blocks)
      for (const int r : b.live_in) add(r);
  }
  find_cuts(before, after, atoms);
  name_units(atoms);
}

void Cells::find_cuts(const Dump& before, const Dump& after, const std::set<int>& atoms) {
  std::set<int> masks;
  for (const Dump* d : {&before, &after})
    for_each_operand(*d, [&](const Operand& o) {
      if (o.kind == OperandKind::Mask) masks.insert(static_cast<int>(o.value));
    });
  std::map<int, int> low;  // atom: bits that some mask keeps of it
  for (const int m : masks) {
    std::map<int, int> kept;
    for (std::size_t r = 0; r < tables_.registers.size(); ++r) {
      const auto& pieces = tables_.registers[r].pieces;
      if (pieces.size() != 1 || pieces[0].offset != 0 || pieces[0].bits < 32) continue;
      const int atom = pieces[0].atom;
      if (atom == static_cast<int>(r) || !atoms.contains(atom) || !tables_.masks[m].contains(atom)) continue;
      if (!tables_.masks[m].contains(static_cast<int>(r)) && !tables_.registers[atom].file.empty())
        kept[atom] = std::max(kept[atom], pieces[0].bits);
    }
    for (const auto& [atom, bits] : kept) {
      int& cut = cuts_[tables_.registers[atom].file];
      if (cut != 0 && cut != bits) throw Refusal{"two-cuts", "calls preserve different low parts of registers of one file"};
      cut = bits;
    }
  }
}

void Cells::name_units(const std::set<int>& atoms) {
  for (const int atom : atoms) {
    const Register& r = tables_.registers[atom];
    const int cut = cut_of(atom);
    const int bits = r.pieces.empty() ? 0 : r.pieces[0].bits;
    for (int cell = 0; cell < (cut > 0 ? 2 : 1); ++cell) {
      at_[{atom, cell}] = size();
      names_.push_back(cut == 0    ? r.name
                       : cell == 0 ? fmt::format("{}[{}:0]", r.name, cut - 1)
                                   : fmt::format("{}[:{}]", r.name, cut));
      files_.push_back(r.file);
      bytes_.push_back(((cut == 0 ? bits : cell == 0 ? cut : bits - cut) + 7) / 8);
    }
  }
  if (size() > kMaxNamed) throw Refusal{"too-many-registers", fmt::format("{} registers in one function", size())};
}

const std::string& Cells::file_of_class(int cls) const {
  static const std::string none;
  const int member = cls >= 0 ? tables_.classes[cls].member : -1;
  return member >= 0 && !tables_.registers[member].pieces.empty() ? tables_.registers[tables_.registers[member].pieces[0].atom].file
                                                                  : none;
}

int Cells::cut_of(int atom) const {
  const auto it = cuts_.find(tables_.registers[atom].file);
  return it == cuts_.end() || tables_.registers[atom].file.empty() ? 0 : it->second;
}

bool Cells::sees_register(int preg) const {
  if (preg < 0 || reserved_.contains(preg)) return false;
  const auto& pieces = tables_.registers[preg].pieces;
  return !pieces.empty() && std::ranges::all_of(pieces, [&](const Piece& p) { return at_.contains({p.atom, 0}); });
}

bool Cells::sees_class(int cls) const { return cls >= 0 && !left_virtual_.contains(file_of_class(cls)); }

bool Cells::sees(const Operand& o, const Dump& dump) const {
  return o.is_register() && (o.vreg >= 0 ? sees_class(dump.vregs[o.vreg]) : sees_register(o.preg));
}

std::vector<int> Cells::cells(const Piece& p) const {
  const int cut = cut_of(p.atom);
  if (cut == 0 || p.offset + p.bits <= cut) return {0};
  if (p.offset >= cut) return {1};
  return {0, 1};
}

Part Cells::part_of(const Piece& p) const {
  const int cut = cut_of(p.atom);
  const int begin = cut > 0 && p.offset >= cut ? cut : 0;
  const int offset = p.offset - begin;
  const int atom_bits = tables_.registers[p.atom].pieces.empty() ? 0 : tables_.registers[p.atom].pieces[0].bits;
  if (offset == 0 && (p.bits >= 32 || p.bits >= atom_bits)) return {};
  if ((p.bits == 8 || p.bits == 16) && offset % p.bits == 0 && offset + p.bits <= 32) return {p.bits, offset / p.bits};
  throw Refusal{"sub-register", fmt::format("bits {} to {} of {}", p.offset, p.offset + p.bits, tables_.registers[p.atom].name)};
}

std::vector<Cells::Place> Cells::places(const Piece& p) const {
  const std::vector<int> cs = cells(p);
  std::vector<Place> list;
  for (const int c : cs) list.push_back({at_.at({p.atom, c}), cs.size() > 1 ? Part{} : part_of(p), p.offset, p.bits});
  return list;
}

std::vector<Cells::Place> Cells::places_of_register(int preg) const {
  std::vector<Place> list;
  for (const Piece& p : tables_.registers[preg].pieces)
    for (const Place& at : places(p)) list.push_back(at);
  return list;
}

const std::vector<SubPiece>& Cells::sub_pieces(int cls, const std::string& sub) const {
  const auto& subs = tables_.classes[cls].subs;
  const auto it = subs.find(sub);
  if (it == subs.end() || it->second.empty())
    throw Refusal{"sub-register", fmt::format("{} of {}", sub, tables_.classes[cls].name)};
  return it->second;
}

int Cells::lane_count(int cls) const {
  const int member = tables_.classes[cls].member;
  if (member < 0) throw Refusal{"class", fmt::format("class {} has no register", tables_.classes[cls].name)};
  int n = 0;
  for (const Piece& p : tables_.registers[member].pieces) n += static_cast<int>(cells(p).size());
  return n;
}

std::set<int> Cells::undefined_lanes(const Operand& o, const Dump& dump) const {
  std::set<int> lanes;
  if (o.vreg < 0 || o.undefined_pieces.empty()) return lanes;
  const auto& whole = tables_.registers[tables_.classes[dump.vregs[o.vreg]].member].pieces;
  int lane = 0;
  for (int k = 0; k < std::ssize(whole); ++k)
    for (std::size_t c = 0; c < cells(whole[k]).size(); ++c, ++lane)
      if (std::ranges::find(o.undefined_pieces, k) != o.undefined_pieces.end()) lanes.insert(lane);
  return lanes;
}

std::set<int> Cells::lanes_of_atoms(int cls, const std::string& sub) const {
  const auto& whole = tables_.registers[tables_.classes[cls].member].pieces;
  std::set<int> pieces, lanes;
  for (const SubPiece& s : sub_pieces(cls, sub)) pieces.insert(s.piece);
  int lane = 0;
  for (int k = 0; k < std::ssize(whole); ++k)
    for (std::size_t c = 0; c < cells(whole[k]).size(); ++c, ++lane)
      if (pieces.contains(k)) lanes.insert(lane);
  return lanes;
}

std::vector<LaneOperand> Cells::lanes(const Operand& o, const Dump& dump) const {
  std::vector<LaneOperand> list;
  if (o.vreg < 0) {
    for (const Place& p : places_of_register(o.preg)) list.push_back({{-1, p.unit}, p.part, false});
    return list;
  }
  const int cls = dump.vregs[o.vreg];
  const int count = lane_count(cls);
  const auto& whole = tables_.registers[tables_.classes[cls].member].pieces;
  if (o.sub.empty()) {  // a narrow vreg is read and copied as the part that it is
    for (int k = 0; k < count; ++k) list.push_back({{o.vreg, k}, count == 1 ? part_of(whole.at(0)) : Part{}, false});
    return list;
  }
  for (const SubPiece& s : sub_pieces(cls, o.sub)) {
    const Piece& p = whole.at(static_cast<std::size_t>(s.piece));
    int first = 0;
    for (int k = 0; k < s.piece; ++k) first += static_cast<int>(cells(whole[k]).size());
    const std::vector<int> of_piece = cells(p);
    const Piece sub{p.atom, s.offset, s.bits};
    const std::vector<int> cs = cells(sub);
    const bool is_all = s.offset == p.offset && s.bits >= p.bits;
    for (const int c : cs) {
      const auto at = std::ranges::find(of_piece, c);
      if (at == of_piece.end()) throw Refusal{"sub-register", fmt::format("{} of {}", o.sub, tables_.classes[cls].name)};
      const Part part = is_all || cs.size() > 1 ? Part{} : part_of(sub);
      const int cut = cut_of(p.atom);
      const bool fills_cell = cut > 0 && (c == 1 || s.bits >= cut);
      list.push_back({{o.vreg, first + static_cast<int>(at - of_piece.begin())}, part, part.is_whole() && !is_all && !fills_cell});
    }
  }
  return list;
}

std::vector<int> Cells::homes(const Operand& o, const Dump& before, int preg) const {
  const std::vector<LaneOperand> want = lanes(o, before);
  const std::vector<Place> have = places_of_register(preg);
  if (want.size() != have.size())
    throw Refusal{"shape",
                  fmt::format("%{} has {} lanes, {} has {}", o.vreg, want.size(), tables_.registers[preg].name, have.size())};
  const Piece& member = tables_.registers[tables_.classes[before.vregs[o.vreg]].member].pieces.at(0);
  std::vector<int> units;
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (o.sub.empty() && have[k].bits < 32 && have[k].offset != member.offset)
      throw Refusal{"upper-part", fmt::format("%{} is in {}, the upper part of a register", o.vreg, tables_.registers[preg].name)};
    if (!want[k].part.is_whole() && want[k].part != have[k].part)
      throw Refusal{"upper-part", fmt::format("%{}.{} is in {}", o.vreg, o.sub, tables_.registers[preg].name)};
    units.push_back(have[k].unit);
  }
  return units;
}

std::vector<int> Cells::units(int preg) const {
  std::vector<int> list;
  for (const Place& p : places_of_register(preg)) list.push_back(p.unit);
  return list;
}

std::set<int> Cells::mask(int mask) const {
  std::set<int> units;
  for (const auto& [key, unit] : at_) {
    const auto [atom, cell] = key;
    if (!tables_.masks[mask].contains(atom)) continue;
    bool is_kept = false;
    if (const int cut = cut_of(atom); cut > 0 && cell == 0)
      for (std::size_t r = 0; r < tables_.registers.size() && !is_kept; ++r)
        is_kept =
            tables_.registers[r].pieces == std::vector{Piece{atom, 0, cut}} && !tables_.masks[mask].contains(static_cast<int>(r));
    if (!is_kept) units.insert(unit);
  }
  return units;
}

}  // namespace regduel::llvm
