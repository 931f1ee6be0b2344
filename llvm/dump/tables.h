// The tables at the end of a dump: the registers, classes and masks that dumps name, and what registers are made of (llvm/JSON.md).
//
// Of the many thousand registers of a target, those are written that a function names, and the sub-registers of their atoms.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineOperand.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Support/JSON.h>

#include "llvm/dump/versions.h"

namespace regduel_dump {

using namespace llvm;

// Pieces of a register: bits [offset, offset + bits) of an atom. An atom is a widest register that is not a tuple: RAX, ZMM3, VGPR7, X0.
struct Piece {
  unsigned atom, offset, bits;
};

// The tables at the end of the file; registers and classes that no dump mentions are left out.
class Tables {
 public:
  void start(const MachineFunction& function) {
    const TargetRegisterInfo* now = function.getSubtarget().getRegisterInfo();
    if (tri_ == nullptr) find_atoms(*(tri_ = now));
  }
  // Registers and classes that earlier dumps named.
  void forget_names() { registers_.clear(), subs_.clear(), classes_.clear(), masks_.clear(); }
  std::string name(MCRegister r) {
    if (!r.isValid()) return "";
    registers_.insert(r);
    return tri_->getName(r);
  }
  std::string class_name(const TargetRegisterClass* c) {
    if (c == nullptr) return "";
    classes_.insert(c);
    return tri_->getRegClassName(c);
  }
  std::string sub_name(unsigned index) {
    subs_.insert(index);
    return tri_->getSubRegIndexName(index);
  }
  // Masks by what is in them: those of interprocedural allocation are gone when the tables are written.
  std::size_t mask(const uint32_t* m) {
    std::vector<uint32_t> bits(m, m + MachineOperand::getRegMaskSize(tri_->getNumRegs()));
    return masks_.emplace(std::move(bits), masks_.size()).first->second;
  }

  // Pieces of a register of class c that have no lane in `live`.
  std::vector<int> undefined_pieces(const TargetRegisterClass& c, LaneBitmask live) const {
    std::vector<int> list;
    const MCPhysReg m = member(c);
    const std::vector<Piece> whole = m == 0 ? std::vector<Piece>() : pieces(m);
    for (std::size_t k = 0; whole.size() > 1 && k < whole.size(); ++k) {
      const unsigned index = tri_->getSubRegIndex(m, whole[k].atom);
      if (index != 0 && (tri_->getSubRegIndexLaneMask(index) & live).none()) list.push_back(int(k));
    }
    return list;
  }

  void write(json::OStream& json) {
    if (tri_ == nullptr) return;
    const TargetRegisterInfo& tri = *tri_;
    std::set<unsigned> all;
    for (unsigned r : registers_)
      for (const Piece& p : pieces(r)) all.insert(p.atom);
    for (const auto* c : classes_)
      if (const MCPhysReg m = member(*c); m != 0) {
        registers_.insert(m);
        for (const Piece& p : pieces(m)) all.insert(p.atom);
      }
    const std::set<unsigned> atoms = all;
    all.insert(registers_.begin(), registers_.end());
    for (unsigned a : atoms)
      for (MCPhysReg s : tri.subregs(a)) all.insert(s);
    json.attributeObject("registers", [&] {
      for (unsigned r : all)
        json.attributeObject(tri.getName(r), [&] {
          json.attributeArray("pieces", [&] { write_pieces(json, pieces(r)); });
          json.attributeArray("units", [&] {
            for (auto u : versions::units(tri, r)) json.value(int64_t(u));
          });
          if (atoms.count(r)) json.attribute("file", file_of(r));
        });
    });
    json.attributeObject("classes", [&] {
      for (const auto* c : classes_)
        json.attributeObject(tri.getRegClassName(c), [&] {
          json.attribute("bits", int64_t(versions::bits(tri.getRegSizeInBits(*c))));
          json.attribute("spill_bytes", int64_t(tri.getSpillSize(*c)));
          const MCPhysReg m = member(*c);
          if (m == 0) return;
          json.attribute("member", tri.getName(m));
          json.attributeObject("subs", [&] {
            for (unsigned s : subs_) write_sub(json, *c, s);
          });
        });
    });
    json.attributeArray("masks", [&] {
      std::vector<const uint32_t*> in_order(masks_.size());
      for (const auto& [bits, k] : masks_) in_order[k] = bits.data();
      for (const uint32_t* m : in_order)
        json.array([&] {
          for (unsigned r : all)
            if (MachineOperand::clobbersPhysReg(m, r)) json.value(tri.getName(r));
        });
    });
  }

 private:
  bool is_tuple(unsigned r) const {  // of registers of 32 bits or more that have nothing in common
    for (MCPhysReg a : tri_->subregs(r))
      if (bits_[a] >= 32)
        for (MCPhysReg b : tri_->subregs(r))
          if (bits_[b] >= 32 && a < b && !tri_->regsOverlap(a, b)) return true;
    return false;
  }
  void find_atoms(const TargetRegisterInfo& tri) {
    // Registers without a name in assembly (HAX, Z0_HI) are in no class that can be allocated: they have no width.
    bits_.assign(tri.getNumRegs(), 0);
    for (const auto* c : tri.regclasses())
      if (c->isAllocatable())
        for (MCPhysReg r : *c) bits_[r] = std::max<unsigned>(bits_[r], versions::bits(tri.getRegSizeInBits(*c)));
    atom_of_unit_.assign(tri.getNumRegUnits(), 0);
    std::vector<unsigned> width(tri.getNumRegUnits(), 0);
    for (unsigned r = 1; r < tri.getNumRegs(); ++r) {
      if (is_tuple(r)) continue;
      unsigned parts = 1;
      for (MCPhysReg s : tri.subregs(r)) (void)s, ++parts;
      for (auto u : versions::units(tri, r))
        if (parts > width[u]) width[u] = parts, atom_of_unit_[u] = r;
    }
  }
  std::vector<Piece> pieces(unsigned r) const {
    std::vector<Piece> result;
    for (auto u : versions::units(*tri_, r)) {
      const unsigned atom = atom_of_unit_[u];
      bool seen = false;
      for (const Piece& p : result) seen = seen || p.atom == atom;
      if (seen || atom == 0) continue;
      Piece p{atom, 0, bits_of(atom)};
      if (r != atom)
        if (const unsigned index = tri_->getSubRegIndex(atom, r)) {
          p.offset = tri_->getSubRegIdxOffset(index);
          p.bits = tri_->getSubRegIdxSize(index);
        }
      result.push_back(p);
    }
    return result;
  }
  unsigned bits_of(unsigned r) const {
    unsigned bits = bits_[r];
    for (const auto* c : tri_->regclasses())
      if (bits_[r] == 0 && c->contains(r)) bits = std::max<unsigned>(bits, versions::bits(tri_->getRegSizeInBits(*c)));
    return bits;
  }
  MCPhysReg member(const TargetRegisterClass& c) const {
    for (MCPhysReg r : c)
      if (!pieces(r).empty()) return r;
    return 0;
  }
  std::string file_of(unsigned atom) const {
    const TargetRegisterClass* best = nullptr;
    for (const auto* c : tri_->regclasses())
      if (c->isAllocatable() && c->contains(atom) && (best == nullptr || c->getNumRegs() > best->getNumRegs())) best = c;
    return best ? tri_->getRegClassName(best) : "";
  }
  void write_pieces(json::OStream& json, const std::vector<Piece>& list) const {
    for (const Piece& p : list)
      json.array([&] { json.value(tri_->getName(p.atom)), json.value(int64_t(p.offset)), json.value(int64_t(p.bits)); });
  }
  // Where in the atoms of a register of class c its sub-register lies: [atom of the register, offset, bits] each.
  void write_sub(json::OStream& json, const TargetRegisterClass& c, unsigned index) const {
    for (MCPhysReg r : c) {
      const MCRegister s = tri_->getSubReg(r, index);
      if (!s.isValid()) continue;
      const std::vector<Piece> whole = pieces(r);
      json.attributeArray(tri_->getSubRegIndexName(index), [&] {
        for (const Piece& p : pieces(s))
          json.array([&] {
            for (std::size_t k = 0; k < whole.size(); ++k)
              if (whole[k].atom == p.atom) json.value(int64_t(k));
            json.value(int64_t(p.offset)), json.value(int64_t(p.bits));
          });
      });
      return;
    }
  }

  const TargetRegisterInfo* tri_ = nullptr;
  std::vector<unsigned> bits_, atom_of_unit_;
  std::set<unsigned> registers_, subs_;
  std::set<const TargetRegisterClass*> classes_;
  std::map<std::vector<uint32_t>, std::size_t> masks_;
};

}  // namespace regduel_dump
